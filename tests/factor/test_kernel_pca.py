"""KernelPCA: against scikit-learn's, its own other routes, what the mathematics says, and on other inputs."""

import pickle
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_circles
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as Rival
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel

import tacit
from tacit.factor import KernelPCA
from tacit.factor.kernel import nystrom
from tacit.factor.kernel.function import KERNELS, Kernel
from tacit.factor.kernel.spectrum import leading

SHARED = ("linear", "poly", "rbf", "sigmoid", "cosine")


def rows(n=120, d=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) / d


def histogram(x, y, scale=1.0):
    return scale * np.minimum(x, y).sum()


def same_up_to_sign(scores, others, tolerance=1e-8):
    np.testing.assert_allclose(np.abs(scores), np.abs(others), atol=tolerance * np.abs(others).max())


@pytest.mark.parametrize("kernel", SHARED)
@pytest.mark.parametrize("solver", ["auto", "dense", "arpack", "randomized"])
def test_equals_scikit_learn(kernel, solver):
    X, new = rows(), rows(20, seed=0)[:20] * 1.1
    settings = {"kernel": kernel, "gamma": 0.2, "coef0": 0.5, "eigen_solver": solver, "random_state": 0}
    with np.errstate(all="ignore"):
        ours, theirs = KernelPCA(3, **settings).fit(X), Rival(3, **settings).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-7)
    same_up_to_sign(ours.fit_transform(X), theirs.fit_transform(X), 1e-6)
    same_up_to_sign(ours.transform(new), theirs.transform(new), 1e-6)


@pytest.mark.parametrize(
    ("kernel", "container"),
    [(k, np.asarray) for k in KERNELS] + [(k, sparse.csr_matrix) for k in KERNELS if "chi2" not in k],
)
def test_every_kernel_is_that_of_scikit_learn(kernel, container):
    X = np.abs(rows(500, 4))
    K = pairwise_kernels(X, metric=kernel, filter_params=True, gamma=0.3, degree=2.5, coef0=2.0)
    rule = Kernel(kernel, 0.3, 2.5, 2.0, {})
    np.testing.assert_allclose(rule.square(container(X)), K, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(rule.diagonal(rule.rows(container(X))), np.diag(K), rtol=1e-12, atol=1e-13)
    model = KernelPCA(2, kernel=kernel, gamma=0.3, degree=2.5, coef0=2.0).fit(container(X))
    given = KernelPCA(2, kernel="precomputed").fit(K)
    np.testing.assert_allclose(model.eigenvalues_, given.eigenvalues_, rtol=1e-9)
    same_up_to_sign(model.transform(container(X[:9])), given.transform(K[:9]))


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 4, 7])
def test_powers(degree):
    X = rows(40)
    expected = pairwise_kernels(X, metric="poly", gamma=0.7, degree=degree, coef0=1.0)
    np.testing.assert_allclose(Kernel("poly", 0.7, degree, 1.0, {}).square(X), expected, rtol=1e-12)


def test_linear_kernel_is_pca():
    X = load_iris().data + 1e5
    model, pca = KernelPCA().fit(X), PCA(svd_solver="full").fit(X)
    np.testing.assert_allclose(model.eigenvalues_, pca.explained_variance_ * (len(X) - 1), rtol=1e-8)
    np.testing.assert_allclose(model.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=1e-8)
    same_up_to_sign(model.transform(X[:10]), pca.transform(X[:10]))


def test_the_place_of_the_origin_does_not_matter():
    X = rows()
    for kernel in ("linear", "rbf", "laplacian"):
        near, far = (KernelPCA(3, kernel=kernel).fit(X + shift) for shift in (0.0, 2.0**20))
        np.testing.assert_allclose(far.eigenvalues_, near.eigenvalues_, rtol=1e-8)


def test_groups_that_are_far_apart_keep_the_digits_within():
    X = np.round(64 * rows()) / 64  # exact far away too
    apart = X + np.where(np.arange(len(X)) < len(X) // 2, -1, 1)[:, None] * 2.0**27
    K = rbf_kernel(X, gamma=0.5)
    K[: len(X) // 2, len(X) // 2 :] = K[len(X) // 2 :, : len(X) // 2] = 0.0
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    model = KernelPCA(3, kernel="rbf", gamma=0.5).fit(apart)
    np.testing.assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(centred)[::-1][:3], rtol=1e-8)


def test_scores_have_the_variance_of_their_eigenvalues_and_add_up_to_the_trace():
    X = rows()
    model = KernelPCA(kernel="rbf").fit(X)
    scores = model.transform(X)
    np.testing.assert_allclose(scores, model.fit_transform(X), atol=1e-6)
    np.testing.assert_allclose(scores.mean(axis=0), 0, atol=1e-8)
    np.testing.assert_allclose((scores[:, :9] ** 2).sum(axis=0), model.eigenvalues_[:9])
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1.0)
    K = rbf_kernel(X)
    np.testing.assert_allclose(scores @ scores.T, K - K.mean(0) - K.mean(1)[:, None] + K.mean(), atol=1e-9)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_threads_do_not_matter(n_jobs):
    X = rows(900)
    for settings in ({"eigen_solver": "randomized"}, {"n_landmarks": 60}):
        models = [KernelPCA(3, kernel="rbf", random_state=0, n_jobs=n, **settings).fit(X) for n in (1, n_jobs)]
        np.testing.assert_array_equal(models[1].K_fit_rows_, models[0].K_fit_rows_)
        np.testing.assert_allclose(models[1].eigenvectors_, models[0].eigenvectors_, atol=1e-12)


@pytest.mark.parametrize("k", [1, 4, 24, 25, 90, 99, 100])
@pytest.mark.parametrize("solver", ["dense", "arpack", "randomized", "auto"])
def test_eigenvectors(k, solver):
    A = rows(100, 30)
    K = A @ A.T
    found = leading(K.copy(), k, solver, random_state=0)
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(K)[::-1][:k], atol=1e-12 * K.max() * 100)
    np.testing.assert_allclose(K @ found.vectors, found.vectors * found.values, atol=1e-6 * K.max())
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(k), atol=1e-10)


@pytest.mark.parametrize("solver", ["arpack", "randomized"])
def test_equal_eigenvalues_are_all_found(solver):
    levels = np.r_[np.full(6, 10.0), np.full(20, 9.0), np.linspace(0, 1, 374)]
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(400, 400)))[0]
    K = (Q * levels) @ Q.T
    for k in (4, 10, 26):
        found = leading(0.5 * (K + K.T), k, solver, random_state=0)
        np.testing.assert_allclose(found.values, np.sort(levels)[::-1][:k], rtol=1e-9)


def test_a_given_number_of_products():
    X = rows(400, 12)
    exact = KernelPCA(3, kernel="rbf", eigen_solver="dense").fit(X).eigenvalues_
    gaps = [
        np.abs(
            KernelPCA(3, kernel="rbf", eigen_solver="randomized", iterated_power=p, random_state=0).fit(X).eigenvalues_
            - exact
        ).max()
        for p in (0, 2, 5)
    ]
    assert 0.1 * exact[0] > gaps[0] > gaps[1] > gaps[2]


class TestLandmarks:
    def test_all_rows_as_landmarks_are_exact(self):
        X = rows()
        for kernel in ("rbf", "linear", "poly", "laplacian", "cosine"):
            exact = KernelPCA(3, kernel=kernel, eigen_solver="dense").fit(X)
            model = KernelPCA(3, kernel=kernel, n_landmarks=len(X)).fit(X)
            assert (model.eigen_solver_, exact.eigen_solver_) == ("nystrom", "exact")
            np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-5)
            np.testing.assert_allclose(model.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=1e-5)
            assert model.approximation_error_ < 1e-5
            same_up_to_sign(model.transform(X), exact.transform(X), 1e-4)

    def test_equals_nystroem_and_pca(self):
        X, new = rows(500), rows(30, seed=1)
        features = Nystroem(gamma=0.3, n_components=60, random_state=0).fit(X)
        pca = PCA(4).fit(features.transform(X))
        model = KernelPCA(4, kernel="rbf", gamma=0.3, n_landmarks=60, random_state=0).fit(X)
        np.testing.assert_allclose(model.eigenvalues_, pca.explained_variance_ * 499, rtol=1e-6)
        same_up_to_sign(model.transform(new), pca.transform(features.transform(new)), 1e-5)
        np.testing.assert_allclose(model.fit_transform(X), model.transform(X))
        np.testing.assert_array_equal(model.landmarks_, X[model.landmark_indices_])

    def test_the_error_bounds_what_eigenvalues_lack(self):
        X = rows(400, 8)
        exact = KernelPCA(kernel="rbf", gamma=0.2, eigen_solver="dense").fit(X)
        total = exact.eigenvalues_.sum()
        errors = []
        for m in (10, 40, 160):
            model = KernelPCA(8, kernel="rbf", gamma=0.2, n_landmarks=m, random_state=0).fit(X)
            lacking = exact.eigenvalues_[:8] - model.eigenvalues_
            assert (lacking > -1e-9 * total).all()
            assert lacking.sum() <= model.approximation_error_ * total * 1.01
            errors.append(model.approximation_error_)
        assert errors[0] > errors[1] > errors[2] > 0

    def test_memory_stays_bounded(self):
        X = rows(20_000, 3)
        KernelPCA(2, kernel="rbf", n_landmarks=20, random_state=0).fit(X[:100])
        tracemalloc.start()
        model = KernelPCA(2, kernel="rbf", n_landmarks=100, random_state=0, n_jobs=1, copy_X=False).fit(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert model.eigenvectors_.shape == (20_000, 2)
        assert peak < 32e6  # n × m values would take 16 MB and n × n 3.2 GB; blocks of 4 MB and copies of them

    def test_many_rows_take_landmarks_by_themselves(self, monkeypatch):
        monkeypatch.setattr(nystrom, "EXACT_ROWS", 200)
        X = rows(1100, 4)
        with pytest.warns(UserWarning, match=r"1100 rows of X .* 1000 landmarks .* lies 0\.\d+%"):
            model = KernelPCA(2, kernel="rbf", random_state=0).fit(X)
        assert len(model.landmarks_) == 1000
        assert KernelPCA(2, kernel="rbf", eigen_solver="arpack").fit(X).eigen_solver_ == "exact"
        assert KernelPCA(2, kernel="precomputed").fit(rbf_kernel(X)).eigen_solver_ == "exact"

    def test_sparse_rows_copies_and_a_nearly_constant_kernel(self):
        X = np.repeat(rows(60), 3, axis=0)
        dense, other = (
            KernelPCA(2, kernel="rbf", n_landmarks=50, random_state=0).fit(c) for c in (X, sparse.csr_matrix(X))
        )
        np.testing.assert_allclose(other.eigenvalues_, dense.eigenvalues_)
        flat, exact = (
            KernelPCA(2, kernel="rbf", gamma=1e-7, eigen_solver=s, random_state=0).fit(X) for s in ("nystrom", "dense")
        )
        np.testing.assert_allclose(flat.eigenvalues_, exact.eigenvalues_, rtol=1e-5)

    def test_components_beyond_the_rank_are_zero(self):
        X = rows(50, 2)
        model = KernelPCA(5, n_landmarks=20, random_state=0).fit(X)
        assert model.transform(X).shape == (50, 5)
        assert (model.eigenvalues_[2:] == 0).all()
        assert (model.transform(X)[:, 2:] == 0).all()
        assert KernelPCA(5, n_landmarks=20, remove_zero_eig=True, random_state=0).fit_transform(X).shape == (50, 2)
        assert KernelPCA(n_landmarks=20, random_state=0).fit_transform(X).shape == (50, 2)


class TestPreimages:
    def test_ridge_is_that_of_scikit_learn(self):
        X = rows()
        for kernel in ("rbf", "poly", "linear"):
            settings = {"kernel": kernel, "fit_inverse_transform": True, "alpha": 0.1}
            ours, theirs = KernelPCA(3, **settings).fit(X), Rival(3, **settings).fit(X)
            scores = theirs.transform(X) * np.sign((theirs.eigenvectors_ * ours.eigenvectors_).sum(axis=0))
            np.testing.assert_allclose(
                ours.inverse_transform(ours.transform(X)), theirs.inverse_transform(theirs.transform(X)), atol=1e-6
            )
            np.testing.assert_allclose(ours.transform(X), scores, atol=1e-6)

    def test_ridge_on_landmarks_is_ridge_where_all_rows_are_landmarks(self):
        X = rows(60)
        settings = {"kernel": "rbf", "fit_inverse_transform": True, "alpha": 0.1}
        exact = KernelPCA(3, **settings).fit(X)
        model = KernelPCA(3, n_landmarks=60, **settings).fit(X)
        expected = exact.inverse_transform(exact.transform(X))
        np.testing.assert_allclose(model.inverse_transform(model.transform(X)), expected, atol=1e-4)
        few = KernelPCA(3, n_landmarks=30, random_state=0, **settings).fit(X)
        assert few.dual_coef_.shape == (30, 5)
        assert np.abs(few.inverse_transform(few.transform(X)) - expected).mean() < 0.05

    @pytest.mark.parametrize("n_landmarks", [None, 200])
    def test_fixed_points_give_rows_back_and_take_noise_away(self, n_landmarks):
        X, ring = make_circles(400, factor=0.35, noise=0.07, random_state=0)
        settings = {"kernel": "rbf", "gamma": 5.0, "fit_inverse_transform": True, "preimage": "fixed_point"}
        settings |= {"n_landmarks": n_landmarks, "random_state": 0}
        whole = KernelPCA(60, **settings).fit(X)
        np.testing.assert_allclose(whole.inverse_transform(whole.transform(X[:50])), X[:50], atol=0.03)
        few = KernelPCA(16, **settings).fit(X)
        cleaned = few.inverse_transform(few.transform(X))
        radius = np.where(ring == 1, 0.35, 1.0)
        before, after = (np.sqrt(np.mean((np.linalg.norm(Z, axis=1) - radius) ** 2)) for Z in (X, cleaned))
        assert after < 0.6 * before

    def test_fixed_points_are_fixed_and_no_nearby_row_is_nearer(self, rng):
        X = rows(80, 3)
        settings = {"kernel": "rbf", "gamma": 0.5, "fit_inverse_transform": True, "preimage": "fixed_point"}
        model = KernelPCA(4, **settings).fit(X)
        scores = model.transform(X[:6])
        z = model.inverse_transform(scores)
        weights = scores @ model._coefficients().T + 1 / len(X)

        def height(points):
            return (weights * rbf_kernel(points, X, gamma=0.5)).sum(axis=1)

        for _ in range(20):
            assert (height(z) >= height(z + 1e-2 * rng.normal(size=z.shape)) - 1e-12).all()

    def test_scores_far_from_all_rows_give_a_fitted_row_not_nonsense(self):
        X = rows(60)
        model = KernelPCA(2, kernel="rbf", fit_inverse_transform=True, preimage="fixed_point").fit(X)
        far = model.inverse_transform(np.array([[1e3, -1e3], [-50.0, 0.0]]))
        assert np.isfinite(far).all()
        assert np.abs(far).max() < 10 * np.abs(X).max()


class TestInputs:
    @pytest.mark.parametrize("settings", [{}, {"n_landmarks": 40}], ids=["exact", "landmarks"])
    def test_single_precision_stays(self, settings):
        X = rows(100)
        model = KernelPCA(3, kernel="rbf", random_state=0, fit_inverse_transform=True, **settings)
        single, double = model.fit(X.astype(np.float32)), KernelPCA(3, kernel="rbf", random_state=0, **settings).fit(X)
        scores = single.transform(X.astype(np.float32))
        assert scores.dtype == single.fit_transform(X.astype(np.float32)).dtype == np.float32
        assert single.inverse_transform(scores).dtype == np.float32
        assert single.transform(X).dtype == np.float64
        same_up_to_sign(scores, double.transform(X), 1e-4)

    def test_frames(self):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(rows(30), columns=list("abcde"))
        out = KernelPCA(2, kernel="rbf").set_output(transform="pandas").fit_transform(frame)
        assert list(out.columns) == ["kernelpca0", "kernelpca1"]
        polars = pytest.importorskip("polars")
        other = KernelPCA(2, kernel="rbf").fit(polars.DataFrame(frame.to_dict("list")))
        np.testing.assert_allclose(other.transform(frame), out)
        assert list(other.feature_names_in_) == list("abcde")

    def test_callables_with_parameters_and_kernels_of_gaussian_processes(self):
        X = np.abs(rows(30))
        model = KernelPCA(2, kernel=histogram, kernel_params={"scale": 2.0}).fit(X)
        np.testing.assert_allclose(model.eigenvalues_, 2 * KernelPCA(2, kernel=histogram).fit(X).eigenvalues_)
        same_up_to_sign(
            KernelPCA(2, kernel=histogram, n_landmarks=30).fit_transform(X),
            KernelPCA(2, kernel=histogram).fit_transform(X),
        )
        np.testing.assert_allclose(
            KernelPCA(2, kernel=RBF(1.0)).fit(X).eigenvalues_, KernelPCA(2, kernel="rbf", gamma=0.5).fit(X).eigenvalues_
        )

    def test_a_copy_is_kept_and_given_kernels_are_not_changed(self):
        X = rows(30)
        K = rbf_kernel(X)
        before = K.copy()
        KernelPCA(2, kernel="precomputed").fit(K)
        np.testing.assert_array_equal(K, before)
        model = KernelPCA(2, kernel="rbf").fit(X)
        expected = model.transform(X[:3])
        new = X[:3].copy()
        X[:] = 7.0
        np.testing.assert_array_equal(model.transform(new), expected)

    def test_a_second_fit_forgets_the_first(self):
        X = rows(40)
        model = KernelPCA(2, kernel="rbf", n_landmarks=20, fit_inverse_transform=True).fit(X)
        model.set_params(n_landmarks=None, fit_inverse_transform=False).fit(X)
        assert not hasattr(model, "landmarks_")
        assert not hasattr(model, "dual_coef_")
        same_up_to_sign(model.transform(X), KernelPCA(2, kernel="rbf").fit_transform(X))

    def test_saving(self, tmp_path):
        X = rows(40)
        for settings in ({}, {"n_landmarks": 20}, {"preimage": "fixed_point"}):
            model = KernelPCA(2, kernel="rbf", fit_inverse_transform=True, random_state=0, **settings).fit(X)
            tacit.save(model, tmp_path / "model.tacit")
            for again in (tacit.load(tmp_path / "model.tacit"), pickle.loads(pickle.dumps(model))):
                scores = again.transform(X)
                np.testing.assert_array_equal(scores, model.transform(X))
                np.testing.assert_array_equal(again.inverse_transform(scores), model.inverse_transform(scores))
        with pytest.raises(
            TypeError, match=r"kernel=<function histogram .* is a function, which a model file cannot hold"
        ):
            tacit.save(KernelPCA(2, kernel=histogram).fit(np.abs(X)), tmp_path / "model.tacit")
