"""`LogisticRegression`: one maximum whatever the solver, the source and the threads; what has no maximum; what it refuses."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Theirs

from tacit.linear_model import LogisticRegression
from tacit.source import ArraySource

from ..zoo import gaussian_rows

SMOOTH = ["auto", "newton", "bfgs", "cg", "gradient", "lbfgs", "newton-cg", "newton-cholesky", "sag", "saga"]


def some_rows(n=300, d=4, n_classes=3, seed=0):
    """Rows, and classes that are drawn given them."""
    rng = np.random.default_rng(seed)
    X = gaussian_rows(n, d)
    return X, (X @ rng.normal(size=(d, n_classes)) + rng.gumbel(size=(n, n_classes))).argmax(axis=1)


def same(a, b, atol=1e-7):
    np.testing.assert_allclose(a.coef_, b.coef_, atol=atol, rtol=0)
    np.testing.assert_allclose(a.intercept_, b.intercept_, atol=atol, rtol=0)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("C", [0.1, np.inf])
def test_every_solver_finds_the_maximum_and_never_goes_down(C, n_classes):
    X, y = some_rows(n_classes=n_classes)
    settings = {"C": C, "tol": 1e-8, "max_iter": 2000}
    expected = LogisticRegression(solver="newton", **settings).fit(X, y)
    theirs = Theirs(C=C, tol=1e-12, max_iter=10000, solver="newton-cholesky").fit(X, y)
    same(expected, theirs, 1e-6)
    for solver in SMOOTH:
        found = LogisticRegression(solver=solver, **settings).fit(X, y)
        same(found, expected, 1e-4)
        assert (np.diff(found.fit_.trace.objectives) >= -1e-9).all()
        assert found.has_maximum_


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
def test_penalties_of_absolute_values(l1_ratio, n_classes):
    X, y = some_rows(n_classes=n_classes)
    settings = {"C": 0.05, "l1_ratio": l1_ratio, "tol": 1e-9, "max_iter": 1000}
    found = LogisticRegression(**settings).fit(X, y)
    theirs = Theirs(solver="saga", random_state=0, **(settings | {"max_iter": 20000})).fit(X, y)
    same(found, theirs, 1e-4)
    np.testing.assert_array_equal(found.coef_ == 0, theirs.coef_ == 0)
    # Columns far from 0, which all say much what the intercept says.
    far = LogisticRegression(**settings).fit(X + 100.0, y)
    np.testing.assert_allclose(far.coef_, found.coef_, atol=1e-5)
    assert far.n_iter_[0] < 20
    # Many columns are learned by an Orthant.
    wide = np.random.default_rng(1).normal(size=(60, 2000))
    label = wide[:, 0] + 0.3 * wide[:, 1] > 0
    sparse = LogisticRegression(C=0.3, l1_ratio=1.0, max_iter=1000).fit(wide, label)
    slope = wide.T @ (label - sparse.predict_proba(wide)[:, 1])
    assert np.abs(slope).max() < 1 / 0.3 + 0.01
    assert 0 < (sparse.coef_ != 0).sum() < 40


def test_rows_anywhere_teach_the_same(tmp_path):
    X, y = some_rows(700)
    weight = np.random.default_rng(0).integers(0, 3, size=len(X)).astype(float)
    expected = LogisticRegression(tol=1e-9).fit(X, y, weight)
    same(
        LogisticRegression(tol=1e-9).fit(np.repeat(X, weight.astype(int), axis=0), np.repeat(y, weight.astype(int))),
        expected,
    )
    one, two = (LogisticRegression(tol=1e-9, n_jobs=n).fit(X, y, weight) for n in (1, 3))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    source = ArraySource(X, weight, targets=y[:, None].astype(float), block_rows=60)
    same(LogisticRegression(tol=1e-9).fit(source), expected)
    same(LogisticRegression(tol=1e-9).fit(csr_array(X), y, weight), expected)
    path = tmp_path / "rows.parquet"
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y, w=weight)
    frame.to_parquet(path)
    stored = LogisticRegression(tol=1e-9).fit(str(path), "y", "w")
    same(stored, expected)
    np.testing.assert_allclose(stored.predict_proba(str(path)), expected.predict_proba(X), atol=1e-6)
    for solver in ("lbfgs", "newton"):
        torch = pytest.importorskip("torch")
        tensors = LogisticRegression(solver=solver, tol=1e-9).fit(torch.as_tensor(X), y, weight)
        same(tensors, expected, 1e-6)
        np.testing.assert_allclose(tensors.predict_proba(torch.as_tensor(X)), expected.predict_proba(X), atol=1e-6)


def test_dask(tmp_path):
    dask = pytest.importorskip("dask.dataframe")
    X, y = some_rows(400)
    frame = dask.from_pandas(pd.DataFrame(X, columns=list("abcd")).assign(y=y), npartitions=3)
    same(LogisticRegression(tol=1e-9).fit(frame, "y"), LogisticRegression(tol=1e-9).fit(X, y))


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_columns_need_not_be_scaled(load):
    X, y = load(return_X_y=True)
    for solver in ("auto", "lbfgs", "bfgs"):
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            found = LogisticRegression(solver=solver).fit(X, y)
        same(found, Theirs(solver="newton-cholesky", tol=1e-12, max_iter=1000).fit(X, y), 2e-3)


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_separable_classes_have_no_maximum_of_the_likelihood(solver):
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    part = np.column_stack([rng.normal(size=60), np.repeat([0.0, 1.0], 30)])
    overlap = rng.random(60) < np.where(part[:, 1] > 0, 1.0, 0.5)  # all rows of one kind are of one class
    cases = {"complete": (X, y == 0), "of one class of three": (X, y), "partial": (part, overlap)}
    for what, (rows, classes) in cases.items():
        with pytest.warns(ConvergenceWarning, match="the likelihood has no maximum .* give a finite C"):
            found = LogisticRegression(C=np.inf, solver=solver, max_iter=500).fit(rows, classes)
        assert not found.has_maximum_, what
        assert LogisticRegression(C=10.0, solver=solver, max_iter=500).fit(rows, classes).has_maximum_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert LogisticRegression(C=np.inf, solver=solver).fit(X[50:], y[50:]).has_maximum_


def test_collinear_and_constant_columns():
    X, y = some_rows(200)
    twice = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(len(X))])
    for C in (np.inf, 1e10):
        found, expected = (LogisticRegression(C=C, tol=1e-8).fit(rows, y) for rows in (twice, X))
        np.testing.assert_allclose(found.predict_proba(twice), expected.predict_proba(X), atol=1e-6)


def test_few_rows_and_single_precision():
    two = LogisticRegression().fit([[0.0], [1.0]], ["no", "yes"])
    assert two.predict([[-1.0], [2.0]]).tolist() == ["no", "yes"]
    X, y = some_rows()
    found = LogisticRegression().fit(X.astype(np.float32), y)
    assert found.coef_.dtype == found.predict_proba(X.astype(np.float32)).dtype == np.float32
    same(found, LogisticRegression().fit(X, y), 1e-4)


BAD = {
    "C=0 is not above 0": {"C": 0},
    "C='strong' is not a number": {"C": "strong"},
    "l1_ratio=2 is not a number of at least 0 and at most 1": {"l1_ratio": 2},
    "solver='sgd' is unknown; use one of 'auto'": {"solver": "sgd"},
    "Solver cg needs a gradient, which a l1 penalty does not have": {"solver": "cg", "l1_ratio": 1.0},
    "class_weight='even' is unknown": {"class_weight": "even"},
    "class_weight gives 0 the weight -1": {"class_weight": {0: -1}},
    "leave no row any weight": {"class_weight": {0: 0, 1: 0, 2: 0}},
    "max_iter=-1": {"max_iter": -1},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_settings(message):
    X, y = some_rows(50)
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        LogisticRegression(**BAD[message]).fit(X, y)


def test_bad_rows():
    X, y = some_rows(50)
    hole = X.copy()
    hole[3, 1] = np.nan
    with pytest.raises(
        ValueError, match=r"NaN \(row 3, column 1\), and LogisticRegression takes no missing values.*Imputer"
    ):
        LogisticRegression().fit(hole, y)
    with pytest.raises(ValueError, match="y holds one class, 1; LogisticRegression needs at least two classes"):
        LogisticRegression().fit(X, np.ones(50, dtype=int))
    with pytest.raises(ValueError, match="y has no label in row 2"):
        LogisticRegression().fit(X, np.where(np.arange(50) == 2, np.nan, y))
    with pytest.raises(ValueError, match="'liblinear' solver does not support multiclass"):
        LogisticRegression(solver="liblinear").fit(X, y)
    with pytest.warns(ConvergenceWarning, match=r"auto failed to converge after 1 iteration.*max_iter=1 steps"):
        LogisticRegression(max_iter=1).fit(X, y)


def test_columns_far_from_0_are_learned():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X @ [1.0, 2.0, 3.0] > 0).astype(int)
    near = LogisticRegression().fit(X, y)
    far = LogisticRegression().fit(X + 1e6, y)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-3, atol=1e-3)
    assert far.score(X + 1e6, y) == near.score(X, y)


def test_missing_values_of_nullable_columns_are_told():
    table = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "c": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match=r"row 1, column 0 \('a'\)"):
        LogisticRegression().fit(table, [0, 1, 1])
