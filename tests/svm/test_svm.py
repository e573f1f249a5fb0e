"""What support vector machines must hold to, whatever their rows."""

import os
from pathlib import Path

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel

from tacit.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM


def clouds(n=300, d=6, seed=0):
    X, y = make_classification(n, d, n_informative=4, class_sep=0.8, flip_y=0.1, random_state=seed)
    return X, y


def kernel_values(model, A, B):
    settings = {"gamma": model.gamma_, "degree": model.degree, "coef0": model.coef0}
    named = {"linear": "linear", "poly": "poly", "rbf": "rbf", "sigmoid": "sigmoid"}[model.kernel]
    return sklearn.metrics.pairwise.pairwise_kernels(A, B, metric=named, filter_params=True, **settings)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("size", [300, 2600])
def test_the_optimum_of_a_classifier(kernel, C, size):
    """Below and above the size from which rows of K are made one by one and coordinates rest."""
    X, y = clouds(size)
    model = SVC(kernel=kernel, C=C, tol=1e-4).fit(X, y)
    K = kernel_values(model, model.support_vectors_, model.support_vectors_)
    beta, f = model.dual_coef_[0], model.decision_function(X)
    dual = np.abs(beta).sum() - 0.5 * beta @ K @ beta
    primal = 0.5 * beta @ K @ beta + C * np.maximum(0, 1 - np.where(y == 1, 1, -1) * f).sum()
    assert 0 < model.kkt_gap_[0] < 1e-4
    assert np.abs(beta).max() <= C * (1 + 1e-12)
    assert abs(beta.sum()) < 1e-9 * C * size
    np.testing.assert_allclose(model.dual_objective_[0], dual, rtol=1e-5)
    assert -1e-6 * primal < primal - dual < 1e-3 * primal
    theirs = sklearn.svm.SVC(kernel=kernel, C=C, tol=1e-4).fit(X, y)
    K = kernel_values(model, theirs.support_vectors_, theirs.support_vectors_)
    other = np.abs(theirs.dual_coef_[0]).sum() - 0.5 * theirs.dual_coef_[0] @ K @ theirs.dual_coef_[0]
    np.testing.assert_allclose(dual, other, rtol=1e-5)
    np.testing.assert_allclose(model.margin_[0], 1 / np.sqrt(beta @ K_of(model) @ beta), rtol=1e-4)


def K_of(model):
    return kernel_values(model, model.support_vectors_, model.support_vectors_)


def test_rows_out_of_the_store_and_back():
    """A store of few rows, sparse rows and double precision give the same machine."""
    X, y = clouds(2600)
    X[np.abs(X) < 0.5] = 0.0
    model = SVC(tol=1e-4).fit(X, y)
    expected = model.decision_function(X[:50])
    for other, rows in (
        (SVC(tol=1e-4, cache_size=1.0), X),
        (SVC(tol=1e-4, shrinking=False), X),
        (SVC(tol=1e-4, cache_size=1.0), sparse.csr_matrix(X)),
        (SVC(tol=1e-4, gamma=float(model.gamma_)), X + 1e3),
    ):
        found = other.fit(rows, y).decision_function(rows[:50])
        np.testing.assert_allclose(found, expected, atol=2e-3)
        np.testing.assert_allclose(other.dual_objective_, model.dual_objective_, rtol=1e-5)


@pytest.mark.parametrize("model", [SVC(), NuSVC(nu=0.3), SVR(), NuSVR(), OneClassSVM(nu=0.2)], ids=repr)
def test_weight_two_is_a_row_twice_and_order_does_not_matter(model):
    X, y = clouds(200)
    weight = np.random.default_rng(1).integers(0, 3, len(X))
    model.set_params(tol=1e-8, gamma=0.2)
    given = {} if isinstance(model, OneClassSVM) else {"y": y}
    told = "decision_function" if hasattr(model, "decision_function") else "predict"
    once = getattr(model.fit(X, sample_weight=weight, **given), told)(X)
    twice = getattr(
        model.fit(np.repeat(X, weight, axis=0), **{k: np.repeat(v, weight) for k, v in given.items()}), told
    )(X)
    np.testing.assert_allclose(once, twice, atol=1e-6)
    order = np.random.default_rng(0).permutation(len(X))
    given = {} if isinstance(model, OneClassSVM) else {"y": y[order]}
    np.testing.assert_allclose(
        getattr(model.fit(X[order], sample_weight=weight[order], **given), told)(X), once, atol=1e-6
    )


@pytest.mark.parametrize("nu", [0.3, 0.45])
def test_nu_lies_between_shares(nu):
    X, y = clouds(500)
    slack = 1 / len(X)
    model = NuSVC(nu=nu, tol=1e-7).fit(X, y)
    # The scale of f is such that the margin is at 1.
    inside = (np.where(y == 1, 1, -1) * model.decision_function(X) < 1 - 1e-3).mean()
    assert inside <= nu + slack
    assert len(model.support_) / len(X) >= nu - slack
    model = OneClassSVM(nu=nu, tol=1e-6).fit(X)
    assert (model.decision_function(X) < -1e-4).mean() <= nu + slack <= len(model.support_) / len(X) + 2 * slack
    y = X[:, 0] + np.random.default_rng(0).normal(size=len(X))
    model = NuSVR(nu=nu, tol=1e-6).fit(X, y)
    outside = (np.abs(model.predict(X) - y) > model.epsilon_ + 1e-4).mean()
    assert outside <= nu + slack
    assert len(model.support_) / len(X) >= nu - slack
    # The same function is that of SVR with this tube.
    same = SVR(epsilon=model.epsilon_, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(same.predict(X), model.predict(X), atol=1e-3)


@pytest.mark.parametrize("size", [400, 2500])
def test_the_optimum_of_a_regression(size):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(size, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=size)
    model = SVR(C=3.0, epsilon=0.1, tol=1e-4).fit(X, y)
    beta, K = model.dual_coef_[0], K_of(model)
    dual = beta @ y[model.support_] - 0.1 * np.abs(beta).sum() - 0.5 * beta @ K @ beta
    primal = 0.5 * beta @ K @ beta + 3.0 * np.maximum(0, np.abs(y - model.predict(X)) - 0.1).sum()
    np.testing.assert_allclose(model.dual_objective_, dual, rtol=1e-5)
    assert model.kkt_gap_ < 1e-4
    assert -1e-6 * primal < primal - dual < 1e-3 * primal
    theirs = sklearn.svm.SVR(C=3.0, epsilon=0.1, tol=1e-4).fit(X, y)
    np.testing.assert_allclose(model.predict(X), theirs.predict(X), atol=2e-3)


def test_a_hard_margin_separates_and_is_the_limit_of_large_prices():
    X, y = load_iris(return_X_y=True)
    X, y = X[y < 2], y[y < 2]
    hard = SVC(kernel="linear", C=np.inf, tol=1e-6).fit(X, y)
    signed = np.where(y == 1, 1, -1) * hard.decision_function(X)
    assert abs(signed.min() - 1) < 1e-4
    assert hard.score(X, y) == 1
    np.testing.assert_allclose(hard.margin_[0], 1 / np.linalg.norm(hard.coef_), rtol=1e-5)
    large = SVC(kernel="linear", C=1e6, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(hard.coef_, large.coef_, atol=1e-4)


def test_functions_of_two_rows_and_of_tables_are_the_named_kernel():
    X, y = clouds(120)
    named = SVC(gamma=0.3).fit(X, y)
    for kernel in (
        lambda A, B: rbf_kernel(A, B, gamma=0.3),
        lambda a, b: np.exp(-0.3 * np.sum((a - b) ** 2)),
        lambda a, b: float(rbf_kernel([a], [b], gamma=0.3)[0, 0]),  # numba cannot compile it
    ):
        model = SVC(kernel=kernel).fit(X, y)
        np.testing.assert_allclose(model.decision_function(X), named.decision_function(X), atol=1e-6)
    given = SVC(kernel="precomputed").fit(rbf_kernel(X, gamma=0.3), y)
    np.testing.assert_allclose(given.decision_function(rbf_kernel(X, gamma=0.3)), named.decision_function(X), atol=1e-6)


def test_probabilities_are_calibrated_and_follow_the_seed():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(0)) / X.std(0)
    part = np.random.default_rng(0).permutation(len(X))
    seen, new = part[:300], part[300:]
    model = SVC(probability=True, random_state=3).fit(X[seen], y[seen])
    told = model.predict_proba(X[new])
    np.testing.assert_allclose(told.sum(axis=1), 1.0)
    assert log_loss(y[new], told) < 0.12
    np.testing.assert_array_equal(model.fit(X[seen], y[seen]).predict_proba(X[new]), told)
    assert (np.diff(told[np.argsort(model.decision_function(X[new])), 1]) >= 0).all()
    # Where columns tell nothing of the class, probabilities say so.
    rng = np.random.default_rng(1)
    noise = SVC(probability=True, random_state=0).fit(rng.normal(size=(100, 3)), np.arange(100) % 4 == 0)
    assert np.abs(noise.predict_proba(rng.normal(size=(50, 3)))[:, 1] - 0.25).max() < 0.2


def test_several_classes_agree_with_scikit_learn():
    X, y = load_iris(return_X_y=True)
    y = np.array(["setosa", "versicolor", "virginica"])[y]
    for shape in ("ovo", "ovr"):
        for ours, theirs in ((SVC, sklearn.svm.SVC), (NuSVC, sklearn.svm.NuSVC)):
            options = {"decision_function_shape": shape, "tol": 1e-6}
            model, other = ours(**options).fit(X, y), theirs(**options).fit(X, y)
            np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=1e-4)
            assert (model.predict(X) == other.predict(X)).mean() > 0.99
            np.testing.assert_allclose(model.intercept_, other.intercept_, atol=1e-4)


def test_regression_of_diabetes_agrees_with_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    for ours, theirs in ((SVR, sklearn.svm.SVR), (NuSVR, sklearn.svm.NuSVR)):
        for kernel in ("linear", "rbf", "poly"):
            model, other = (cls(kernel=kernel, C=50.0, tol=1e-5).fit(X, y) for cls in (ours, theirs))
            np.testing.assert_allclose(model.predict(X), other.predict(X), atol=1e-2)


def test_the_mixture_of_the_elements_of_statistical_learning(table):
    """The exact error of a Gaussian kernel with γ = 1 and C = 1 under the true distribution is .2182."""
    rows = table("esl/mixture_train.csv").to_numpy()
    grid = np.load(Path(os.environ["TACIT_DATA"]) / "esl" / "mixture_grid.npz")
    told = SVC(C=1.0, gamma=1.0).fit(rows[:, :2], rows[:, 2]).predict(grid["x"])
    weight = grid["marginal"] / grid["marginal"].sum()
    error = weight @ np.where(told == 1, 1 - grid["prob"], grid["prob"])
    assert round(float(error), 4) == 0.2182
