"""What KernelPCA refuses, and what it warns of: each message names the value and the remedy."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import pairwise_distances

from tacit.factor import KernelPCA

X = np.random.default_rng(0).normal(size=(30, 4))

SETTINGS = [
    ({"gamma": -0.5, "kernel": "rbf"}, r"gamma=-0\.5 is not a number of at least 0"),
    ({"gamma": np.nan, "kernel": "rbf"}, r"gamma=nan is not a number"),
    ({"n_components": 0}, r"n_components=0 is not a whole number of at least 1"),
    ({"n_components": 2.5}, r"n_components=2\.5 is not a whole number"),
    ({"kernel": "gaussian"}, r"kernel='gaussian' is unknown; use one of .*'rbf'"),
    ({"kernel": None}, r"kernel=None is unknown"),
    ({"eigen_solver": "lanczos"}, r"eigen_solver='lanczos' is unknown; use one of 'auto', 'dense'"),
    ({"preimage": "magic"}, r"preimage='magic' is unknown; use one of 'ridge', 'fixed_point'"),
    ({"degree": -1, "kernel": "poly"}, r"degree=-1 is not a number of at least 0"),
    ({"coef0": np.inf, "kernel": "poly"}, r"coef0=inf is not a number"),
    ({"alpha": -1.0}, r"alpha=-1\.0 is not a number of at least 0"),
    ({"tol": -1e-3}, r"tol=-0\.001 is not a number of at least 0"),
    ({"max_iter": 0}, r"max_iter=0 is not a whole number of at least 1"),
    ({"iterated_power": -1}, r"iterated_power=-1 is not a whole number of at least 0"),
    ({"n_jobs": 0}, r"n_jobs=0 is not a whole number of at least 1"),
    ({"n_landmarks": 0}, r"n_landmarks=0 is not a whole number of at least 1"),
    ({"kernel_params": 3}, r"kernel_params=3 is not a dictionary"),
    (
        {"n_landmarks": 5, "eigen_solver": "dense"},
        r"n_landmarks=5 has no meaning with eigen_solver='dense'; use 'nystrom'",
    ),
    ({"n_landmarks": 5, "kernel": "precomputed"}, r"kernel='precomputed' has already; use eigen_solver='arpack'"),
    ({"eigen_solver": "nystrom", "kernel": "precomputed"}, r"kernel='precomputed' has already"),
    ({"n_landmarks": 3, "n_components": 5}, r"n_components=5 exceeds n_landmarks=3"),
    (
        {"fit_inverse_transform": True, "kernel": "precomputed"},
        r"Cannot fit_inverse_transform with a precomputed kernel",
    ),
    (
        {"fit_inverse_transform": True, "kernel": "poly", "preimage": "fixed_point"},
        r"preimage='fixed_point' is for kernel='rbf', not 'poly'; use preimage='ridge'",
    ),
    (
        {"fit_inverse_transform": True, "kernel": "rbf", "gamma": 0.0, "preimage": "fixed_point"},
        r"gamma=0 makes all rows alike, .*; preimage='fixed_point' needs gamma above 0",
    ),
    (
        {"fit_inverse_transform": True, "kernel": "chi2"},
        r"kernel='chi2' takes no negative numbers, and scores are negative",
    ),
    ({"fit_inverse_transform": True, "alpha": 0.0}, r"alpha=0 leaves the regression .* singular .*; raise alpha"),
    ({"kernel": "precomputed"}, r"must be square, but X has shape \(30, 4\); for rows of features use kernel='rbf'"),
    ({"kernel": "chi2"}, r"[Nn]egative"),
    ({"kernel": lambda x, y: np.nan}, r"gives nan between rows of X; kernel values must be finite"),
    (
        {"kernel": lambda x, y: "much"},
        r"returns no number for two rows of X \(ValueError: could not convert string to float",
    ),
    ({"kernel": lambda x, y: None}, r"gives nan between rows of X"),
    ({"kernel": lambda x, y: x * y}, r"returns no number for two rows of X"),
    ({"kernel": lambda x: 1.0}, r"returns no number for two rows of X \(TypeError"),
    ({"kernel": lambda x, y: x[0]}, r"but .* for rows .*; a kernel must not depend on the order"),
]


@pytest.mark.parametrize(("settings", "message"), SETTINGS, ids=[m[:40] for _, m in SETTINGS])
def test_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        KernelPCA(**settings).fit(X)


def test_missing_cells():
    holes = X.copy()
    holes[3, 1] = np.nan
    with pytest.raises(
        ValueError,
        match=r"contains NaN .row 3, column 1., and a kernel needs every cell: .*GaussianImputer.*ProbabilisticPCA",
    ):
        KernelPCA(2, kernel="rbf").fit(holes)
    with pytest.raises(ValueError, match=r"contains NaN .row 0, column 3., and a kernel matrix needs every pair"):
        KernelPCA(2, kernel="precomputed").fit(holes @ holes.T)
    with pytest.raises(ValueError, match=r"contains NaN .row 3, column 1., and a kernel needs every cell"):
        KernelPCA(2, kernel="rbf").fit(X).transform(holes)
    with pytest.raises(ValueError, match=r"contains NaN"):
        KernelPCA(2, kernel="rbf").fit(np.ma.masked_invalid(holes))


@pytest.mark.parametrize("settings", [{}, {"n_landmarks": 20}], ids=["exact", "landmarks"])
def test_overflow(settings):
    with pytest.raises(ValueError, match=r"kernel='poly' gives inf between rows of X; .*StandardScaler"):
        KernelPCA(2, kernel="poly", degree=9, **settings).fit(X * 1e60)
    model = KernelPCA(2, kernel="poly", degree=9, **settings).fit(X)
    with pytest.raises(ValueError, match=r"kernel='poly' gives -?inf|kernel='poly' gives nan"):
        model.transform(X * 1e80)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine", "laplacian"])
@pytest.mark.parametrize(
    "settings", [{}, {"n_landmarks": 10}, {"eigen_solver": "arpack"}, {"eigen_solver": "randomized"}]
)
def test_rows_that_are_all_the_same(kernel, settings):
    with pytest.warns(UserWarning, match=rf"kernel='{kernel}' gives all rows the same values .* all scores are 0"):
        model = KernelPCA(2, kernel=kernel, **settings).fit(np.full((40, 3), 0.1))
    assert (model.transform(np.full((5, 3), 0.1)) == 0).all()
    assert (model.explained_variance_ratio_ == 0).all()
    with pytest.warns(UserWarning, match="all scores are 0"):
        assert KernelPCA(kernel=kernel).fit_transform(np.full((40, 3), 0.1)).shape == (40, 0)


def test_gamma_of_zero_and_constant_columns():
    with pytest.warns(UserWarning, match="gamma is too small"):
        KernelPCA(2, kernel="rbf", gamma=0.0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = KernelPCA(2, kernel="rbf", gamma=0.3).fit(np.column_stack([X, np.full(30, 5.0)]))
    np.testing.assert_allclose(one.eigenvalues_, KernelPCA(2, kernel="rbf", gamma=0.3).fit(X).eigenvalues_)


def test_more_components_than_rows():
    with pytest.warns(UserWarning, match=r"n_components=50 exceeds the 30 rows of X; 30 components are made"):
        assert KernelPCA(50, kernel="rbf").fit_transform(X).shape == (30, 30)
    with pytest.warns(UserWarning, match="n_components=50 exceeds"):
        assert KernelPCA(50, kernel="rbf", remove_zero_eig=True, eigen_solver="arpack").fit_transform(X).shape == (
            30,
            29,
        )


def test_one_row():
    with pytest.warns(UserWarning, match="all scores are 0"):
        assert KernelPCA(1, kernel="rbf").fit_transform(X[:1]).tolist() == [[0.0]]


def test_a_matrix_that_is_not_symmetric():
    K = X @ X.T
    K[0, 1] += 0.5
    with pytest.warns(UserWarning, match=r"not symmetric \(entries differ by up to 0\.5\); it is averaged"):
        model = KernelPCA(2, kernel="precomputed").fit(K)
    np.testing.assert_allclose(model.eigenvalues_, KernelPCA(2, kernel="precomputed").fit(0.5 * (K + K.T)).eigenvalues_)


class TestKernelsThatAreNotPositive:
    def test_components_asked_for(self):
        K = np.diag([5.0, 3.0, -2.0, 1.0, 0.5]) + 0.0
        with pytest.raises(
            ValueError, match=r"significant negative eigenvalues: the least is -1\.\d+, and the largest 4\.\d+.*'rbf'"
        ):
            KernelPCA(kernel="precomputed").fit(K)
        with pytest.raises(ValueError, match=r"ask for at most n_components=3"):
            KernelPCA(5, kernel="precomputed").fit(K)
        with pytest.raises(ValueError, match="significant negative eigenvalues"):
            KernelPCA(3, kernel="precomputed", eigen_solver="randomized").fit(K)

    def test_others(self):
        K = np.diag([5.0, 3.0, -2.0, 1.0, 0.5])
        with pytest.warns(UserWarning, match=r"among the eigenvalues that were not asked for the least is -1\.\d+"):
            model = KernelPCA(2, kernel="precomputed").fit(K)
        assert model.explained_variance_ratio_.sum() <= 1
        with pytest.warns(UserWarning, match="that were not asked for some are negative"):
            KernelPCA(2, kernel="precomputed", eigen_solver="arpack").fit(K - 2 * np.eye(5))

    def test_distances_given_as_a_kernel(self):
        with pytest.raises(ValueError, match=r"significant negative .* seems to hold distances D: give -D\*\*2 / 2"):
            KernelPCA(2, kernel="precomputed").fit(pairwise_distances(X))
        with pytest.warns(
            UserWarning, match=r"no eigenvalue .* is positive .* all scores are 0; it seems to hold distances"
        ):
            KernelPCA(1, kernel="precomputed").fit(pairwise_distances(X))
        D = pairwise_distances(X)
        np.testing.assert_allclose(
            KernelPCA(2, kernel="precomputed").fit(-(D**2) / 2).eigenvalues_, KernelPCA(2).fit(X).eigenvalues_
        )

    def test_landmarks(self):
        with pytest.raises(ValueError, match=r"significant negative eigenvalues: .*kernel='sigmoid'"):
            KernelPCA(2, kernel="sigmoid", gamma=5.0, coef0=-1.0, n_landmarks=25, random_state=0).fit(X)


def test_arpack_that_gives_up():
    rows = np.random.default_rng(0).normal(size=(400, 30))
    with pytest.warns(
        ConvergenceWarning, match=r"ARPACK found no 5 eigenvectors .*LAPACK is used instead. Raise max_iter=1"
    ):
        model = KernelPCA(5, kernel="rbf", eigen_solver="arpack", max_iter=1).fit(rows)
    np.testing.assert_allclose(
        model.eigenvalues_, KernelPCA(5, kernel="rbf", eigen_solver="dense").fit(rows).eigenvalues_
    )


def test_inverse_transform():
    with pytest.raises(NotFittedError, match="fit_inverse_transform"):
        KernelPCA(2).fit(X).inverse_transform(np.zeros((1, 2)))
    with pytest.raises(NotFittedError, match="not fitted"):
        KernelPCA(2, fit_inverse_transform=True).inverse_transform(np.zeros((1, 2)))
    model = KernelPCA(2, kernel="rbf", fit_inverse_transform=True).fit(X)
    with pytest.raises(ValueError, match=r"X has 3 columns, but there are 2 scores per row"):
        model.inverse_transform(np.zeros((1, 3)))
    with pytest.raises(
        TypeError, match=r"X is sparse, and the inverse transform is learned from dense rows; give X\.toarray"
    ):
        model.fit(sparse.csr_matrix(X))


def test_what_is_no_rows():
    with pytest.raises(ValueError, match=r"X='rows\.csv' is a path, but KernelPCA takes rows in memory"):
        KernelPCA(2).fit("rows.csv")
    with pytest.raises(ValueError, match="X has 3 features, but KernelPCA is expecting 4"):
        KernelPCA(2).fit(X).transform(X[:, :3])
    with pytest.raises(ValueError, match="infinity"):
        KernelPCA(2).fit(np.where(X > 2, np.inf, X))


@pytest.mark.parametrize("kernel", ["chi2", "additive_chi2"])
def test_kernels_without_sparse_rows(kernel):
    with pytest.raises(TypeError, match=rf"kernel='{kernel}' takes no sparse rows; give X\.toarray\(\)"):
        KernelPCA(2, kernel=kernel).fit(sparse.csr_matrix(np.abs(X)))
