"""What support vector machines say of input that no machine can be learned from."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import tacit
from tacit.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

X = np.random.default_rng(0).normal(size=(60, 3))
Y = np.arange(60) % 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SVC().fit(X, np.zeros(60)), r"greater than one; got 1 class, .*0\.0.*OneClassSVM"),
        (lambda: SVC(kernel="tanh").fit(X, Y), "kernel='tanh' is unknown; use one of 'linear'"),
        (lambda: SVC(C=0).fit(X, Y), "C=0 must be above 0"),
        (lambda: SVC(C=np.nan).fit(X, Y), "C=nan is not a number"),
        (lambda: SVC(gamma="wide").fit(X, Y), "gamma='wide' is unknown; use one of 'scale', 'auto'"),
        (lambda: SVC(probability="yes").fit(X, Y), "probability='yes' must be True or False"),
        (lambda: NuSVC(nu=1.5).fit(X, Y), "nu=1.5 is not a number of at least 0 and at most 1"),
        (lambda: NuSVC(nu=0.9).fit(X, np.arange(60) > 50), r"nu=0.9 asks for more .*; use at most 0\.3"),
        (lambda: SVR().fit(X, np.where(Y, np.nan, 1.0)), r"Input y contains NaN \(row 1\); .* leave out the 30 rows"),
        (lambda: SVR(epsilon=-1).fit(X, Y), "epsilon=-1 is not a number of at least 0"),
        (lambda: NuSVR(C=np.inf).fit(X, Y), "C=inf leaves NuSVR no share"),
        (lambda: SVC().fit(np.where(X > 2, np.nan, X), Y), r"contains NaN \(row \d+, column .*GaussianImputer"),
        (
            lambda: SVC().fit(X, Y, sample_weight=-np.ones(60)),
            r"zero or negative weights. The largest of sample_weight is -1",
        ),
        (lambda: SVC().fit(X, Y, sample_weight=np.ones(5)), r"sample_weight has shape \(5,\), but X has 60 rows"),
        (lambda: SVC(kernel="precomputed").fit(X, Y), "square matrix. Input is a 60x3 matrix"),
        (lambda: SVC(kernel=lambda a, b: a).fit(X, Y), r"a kernel takes two tables .* or takes two rows"),
        (lambda: SVC(kernel=lambda a, b: np.inf).fit(X, Y), "gives inf between rows"),
        (lambda: OneClassSVM().fit(X[:0]), "minimum of 1 is required"),
    ],
)
def test_input_is_refused_with_its_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_a_hard_margin_that_does_not_exist(kernel):
    rows = np.random.default_rng(0).normal(size=(200, 2))
    with pytest.raises(
        ValueError, match=r"C=inf allows no row on the wrong side, but the classes 0 and 1 cannot .* finite C"
    ):
        SVC(kernel=kernel, C=np.inf).fit(rows, np.arange(200) % 2)
    with pytest.raises(ValueError, match=r"C=inf allows no target outside the tube of ±0.1"):
        SVR(kernel=kernel, C=np.inf).fit(rows, np.random.default_rng(1).normal(size=200))


def test_equal_rows_of_two_classes_have_no_hard_margin():
    with pytest.raises(ValueError, match=r"cannot be separated .* Rows . and . of those contradict each other"):
        SVC(C=np.inf).fit([[0.0], [0.0], [1.0]], [0, 1, 1])


def test_kernels_that_are_not_positive_definite_end():
    K = -np.abs(X[:, :1] - X[:, 0])
    for half in (K, K + np.eye(60), np.random.default_rng(0).normal(size=(60, 60))):
        matrix = half + half.T
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            for model in (SVC(kernel="precomputed", max_iter=100_000), SVR(kernel="precomputed", max_iter=100_000)):
                assert np.isfinite(model.fit(matrix, Y).dual_coef_).all()
    assert np.isfinite(SVC(kernel="sigmoid", coef0=-2.0).fit(X, Y).dual_coef_).all()


def test_constant_columns_and_single_rows():
    constant = np.ones((20, 2))
    assert set(SVC().fit(constant, Y[:20]).predict(constant)) <= {0, 1}
    np.testing.assert_allclose(SVR().fit(constant, Y[:20]).predict(constant), 0.5, atol=0.11)
    assert SVR().fit([[1.0]], [3.0]).predict([[5.0]]) == pytest.approx(3.0, abs=0.11)
    assert OneClassSVM().fit([[1.0]]).predict([[50.0]]) == [-1]
    assert len(SVR(epsilon=9.0).fit(X, Y).support_) == 0
    assert np.isfinite(SVR(epsilon=9.0).fit(X, Y).predict(X)).all()


def test_a_limit_of_steps_is_told():
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3.*The optimality gap is .*, not below tol=0.001"):
        model = SVC(max_iter=3).fit(X, Y)
    assert model.fit_status_ == 1
    assert model.n_iter_ == [3]


def test_a_function_is_not_saved(tmp_path):
    with pytest.raises((TypeError, ValueError), match="kernel"):
        tacit.save(SVC(kernel=lambda a, b: a @ b.T).fit(X, Y), tmp_path / "model.tacit")
