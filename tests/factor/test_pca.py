"""PCA: routes agree, sources agree, published numbers, bad input."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA as Rival

import tacit
from tacit.factor import PCA, TruncatedSVD
from tacit.factor.principal import routes
from tacit.source import ArraySource, Block, OneBlock

ROUTES = ("full", "covariance_eigh", "randomized", "arpack")


def rows(n=120, d=9, rank=3, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, rank)) * np.linspace(3, 1, rank) @ np.linalg.qr(rng.normal(size=(d, rank)))[0].T
    return X + noise * rng.normal(size=(n, d)) + rng.normal(size=d)


def archive(name):
    folder = os.environ.get("TACIT_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("TACIT_DATA does not name the folder of published data sets")
    return np.load(Path(folder) / name)


# Routes


@pytest.mark.parametrize("solver", ROUTES)
@pytest.mark.parametrize("settings", [{}, {"scale": True}, {"whiten": True}], ids=str)
def test_all_routes_agree(solver, settings):
    X = rows()
    ours = PCA(3, svd_solver=solver, random_state=0, **settings).fit(X)
    theirs = PCA(3, svd_solver="full", **settings).fit(X)
    np.testing.assert_allclose(ours.components_, theirs.components_, atol=1e-9)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-9)
    assert ours.noise_variance_ == pytest.approx(theirs.noise_variance_, rel=1e-8)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-8)
    assert ours.score(X) == pytest.approx(theirs.score(X))


@pytest.mark.parametrize("k", [None, 5, 0.9])
def test_products_of_rows_give_what_a_full_decomposition_gives(k):
    X = rows(40, 300, rank=6)
    ours, theirs = PCA(k, svd_solver="gram").fit(X), Rival(k, svd_solver="full").fit(X)
    assert ours.n_components_ == theirs.n_components_
    sound = theirs.singular_values_ > 1e-9
    np.testing.assert_allclose(ours.components_[sound], theirs.components_[sound], atol=1e-9)
    np.testing.assert_allclose(ours.singular_values_, theirs.singular_values_, atol=1e-10)
    np.testing.assert_allclose(ours.components_ @ ours.components_.T, np.eye(len(ours.components_)), atol=1e-12)


@pytest.mark.parametrize(("dtype", "digits"), [(np.float64, 1e-14), (np.float32, 1e-6)])
def test_products_of_rows_keep_small_singular_values(dtype, digits):
    """Squares of singular values that span 12 digits would span 24."""
    rng = np.random.default_rng(0)
    values = 10.0 ** -np.linspace(0, 12 if dtype == np.float64 else 5, 13)
    left, right = (np.linalg.qr(rng.normal(size=(n, 13)))[0] for n in (20, 60))
    A = ((left * values) @ right.T).astype(dtype)
    found, axes = routes.gram(A, 13)
    np.testing.assert_allclose(found[:13], values, atol=5 * digits)
    np.testing.assert_allclose(axes @ axes.T, np.eye(13), atol=1e-6 if dtype == np.float32 else 1e-11)
    np.testing.assert_allclose(np.linalg.norm(A @ axes.T, axis=0), values, atol=5 * digits)


def test_a_krylov_space_beats_a_power_method_at_the_same_cost():
    rng = np.random.default_rng(0)
    left, right = np.linalg.qr(rng.normal(size=(400, 150)))[0], np.linalg.qr(rng.normal(size=(150, 150)))[0]
    values = np.arange(1.0, 151.0) ** -0.3
    X = (left * values) @ right.T
    X -= X.mean(axis=0)
    best = np.sort(np.linalg.svd(X, compute_uv=False))[::-1][:10]
    lost = []
    for make in (PCA, Rival):
        pca = make(10, svd_solver="randomized", iterated_power=3, random_state=0).fit(X)
        lost.append((best**2).sum() - (np.linalg.norm(X @ pca.components_.T) ** 2))
    assert 0 <= lost[0] < 0.2 * lost[1]


def test_a_krylov_space_that_is_all_there_is():
    X = rows(30, 12, rank=2, noise=0.0)
    pca = PCA(5, svd_solver="randomized", random_state=0).fit(X)
    np.testing.assert_allclose(pca.components_ @ pca.components_.T, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(pca.singular_values_[2:], 0.0, atol=1e-12)
    np.testing.assert_allclose(pca.reconstruct(X), X, atol=1e-12)
    assert routes.krylov(np.zeros((6, 4)), 2)[0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("shape", "k", "sparse", "route"),
    [
        ((2000, 100), 5, False, "covariance_eigh"), ((400, 300), None, False, "full"), ((500, 5000), 5, False, "gram"),
        ((500, 5000), "bic", False, "gram"), ((5000, 2000), 5, False, "randomized"), ((5000, 2000), 1500, False, "full"),
        ((5000, 2000), "cv", False, "full"), ((5000, 900), 5, True, "covariance_eigh"), ((5000, 4000), 5, True, "arpack"),
    ],
)  # fmt: skip
def test_the_route_goes_by_shape(shape, k, sparse, route):
    assert routes.choose_route(*shape, min(shape) if k is None else k, sparse) == route


# Sources


def written(X, tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "rows.parquet"
    pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).to_parquet(path)
    return path


@pytest.mark.parametrize("k", [3, "bic"])
def test_every_source_gives_the_same(k, tmp_path):
    X = rows(3000, 6)
    memory = np.memmap(tmp_path / "rows.bin", np.float64, "w+", shape=X.shape)
    memory[:] = X
    pa = pytest.importorskip("pyarrow")
    path = written(X, tmp_path)
    names = [f"x{j}" for j in range(6)]
    others = [path, str(path), pa.table(dict(zip(names, X.T))), memory, ArraySource(X, block_rows=700)]
    expected = PCA(k).fit(X)
    for other in others:
        found = PCA(k).fit(other)
        np.testing.assert_allclose(found.components_, expected.components_, atol=1e-10)
        assert (found.n_samples_, found.n_components_) == (3000, expected.n_components_)
        np.testing.assert_allclose(found.transform(other), expected.transform(X), atol=1e-10)
        np.testing.assert_allclose(found.score_samples(other), expected.score_samples(X), atol=1e-8)
    out = tmp_path / "scores.parquet"
    PCA(3).fit(path).transform(path, out=out)
    assert pa.parquet.read_table(out).column_names == ["pca0", "pca1", "pca2"]


def test_rows_on_a_cluster_and_in_tensors():
    X = rows(400, 5)
    expected = PCA(2).fit(X)
    torch = pytest.importorskip("torch")
    dask = pytest.importorskip("dask.array")
    from tacit.source.torch import TorchSource

    for other in (torch.as_tensor(X), TorchSource(X), dask.from_array(X, chunks=(150, 5))):
        found = PCA(2).fit(other)
        np.testing.assert_allclose(found.components_, expected.components_, atol=1e-10)
        np.testing.assert_allclose(found.transform(other), expected.transform(X), atol=1e-10)
    X[::7, 2] = np.nan
    incomplete = PCA(2).fit(TorchSource(X))
    np.testing.assert_allclose(incomplete.transform(TorchSource(X)), PCA(2).fit(X).transform(X), atol=1e-6)


@pytest.mark.parametrize("solver", ["auto", "covariance_eigh", "randomized", "arpack"])
@pytest.mark.parametrize("scale", [False, True])
def test_sparse_rows_stay_sparse_and_give_the_same(solver, scale, monkeypatch):
    X = sparse.random_array((200, 30), density=0.2, rng=np.random.default_rng(0), format="csr")
    weight = np.random.default_rng(1).integers(0, 3, 200).astype(float)
    settings = {"svd_solver": solver, "scale": scale, "random_state": 0, "iterated_power": 9}
    dense = PCA(4, **settings | {"svd_solver": "full"}).fit(X.toarray(), sample_weight=weight)
    expected = dense.transform(X.toarray())
    monkeypatch.setattr(sparse.csr_array, "toarray", None)
    if solver in ("randomized", "arpack"):
        monkeypatch.setattr(sparse.csr_array, "todense", None)
    found = PCA(4, **settings).fit(X, sample_weight=weight)
    np.testing.assert_allclose(found.components_, dense.components_, atol=1e-9)
    assert found.noise_variance_ == pytest.approx(dense.noise_variance_)
    np.testing.assert_allclose(found.transform(X), expected, atol=1e-9)


@pytest.mark.parametrize("solver", [*ROUTES, "gram"])
def test_a_weight_of_two_is_a_row_given_twice(solver):
    X = rows(14, 20) if solver == "gram" else rows(40, 6)
    weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    twice = np.repeat(X, weight.astype(int), axis=0)
    ours = PCA(2, svd_solver=solver, scale=True, random_state=0).fit(X, sample_weight=weight)
    again = PCA(2, svd_solver="full", scale=True).fit(twice)
    np.testing.assert_allclose(ours.components_, again.components_, atol=1e-9)
    np.testing.assert_allclose(ours.explained_variance_, again.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(ours.scale_, again.scale_, rtol=1e-10)


def test_far_from_zero_no_digit_is_lost():
    X = rows(2000, 8)
    near, far = PCA(3).fit(X), PCA(3).fit(X + 1e6)
    assert near._fit_svd_solver == "covariance_eigh"
    np.testing.assert_allclose(far.explained_variance_, near.explained_variance_, rtol=1e-8)
    np.testing.assert_allclose(far.transform(X + 1e6), near.transform(X), atol=1e-6)


def test_single_precision_stays():
    X = rows(3000, 8).astype(np.float32)
    pca, double = PCA(3, scale=True).fit(X), PCA(3, scale=True).fit(X.astype(np.float64))
    for name in ("components_", "explained_variance_", "mean_", "scale_", "singular_values_"):
        assert getattr(pca, name).dtype == np.float32
        np.testing.assert_allclose(getattr(pca, name), getattr(double, name), rtol=1e-3, atol=1e-4)
    for found in (pca.transform(X), pca.reconstruct(X), pca.get_covariance(), pca.score_samples(X)):
        assert found.dtype == np.float32


# What is made of the axes


def test_approximations_are_in_the_units_of_the_columns():
    X = rows(200, 6) * [1.0, 10.0, 100.0, 1e3, 1e-2, 1.0] + [5.0, -1.0, 0.0, 9.0, 3.0, 0.0]
    for settings in ({}, {"scale": True}, {"scale": True, "whiten": True}):
        pca = PCA(4, **settings).fit(X)
        np.testing.assert_allclose(pca.reconstruct(X), pca.inverse_transform(pca.transform(X)), rtol=1e-9)
        errors = [(((pca.reconstruct(X, k) - X) / X.std(axis=0)) ** 2).sum() for k in range(5)]
        assert np.all(np.diff(errors) < 0) or not settings
        np.testing.assert_allclose(pca.reconstruct(X, 0), np.tile(X.mean(axis=0), (200, 1)), rtol=1e-9)
    np.testing.assert_allclose(PCA(scale=True).fit(X).reconstruct(X), X, rtol=1e-8)


def test_scaled_components_are_those_of_standard_columns():
    X = rows(150, 5) * np.arange(1.0, 6.0)
    pca = PCA(2, scale=True).fit(X)
    theirs = Rival(2).fit((X - X.mean(axis=0)) / X.std(axis=0, ddof=1))
    np.testing.assert_allclose(pca.components_, theirs.components_, atol=1e-10)
    assert pca.explained_variance_ratio_.sum() == pytest.approx(pca.explained_variance_.sum() / 5)
    np.testing.assert_allclose(pca.get_covariance() @ pca.get_precision(), np.eye(5), atol=1e-10)
    from scipy.stats import multivariate_normal

    expected = multivariate_normal(pca.mean_, pca.get_covariance()).logpdf(X)
    np.testing.assert_allclose(pca.score_samples(X), expected, rtol=1e-9)


def test_tables_keep_their_names():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(rows(50, 3), columns=["a", "b", "c"])
    scores = PCA(2).set_output(transform="pandas").fit_transform(table)
    assert scores.columns.tolist() == ["pca0", "pca1"]
    assert PCA(1).fit(table).feature_names_in_.tolist() == ["a", "b", "c"]


def test_a_saved_model_keeps_the_choice_of_rank(tmp_path):
    pca = PCA("parallel", random_state=0).fit(rows(seed=3))
    tacit.save(pca, tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    assert again.rank_choice_.rank == pca.rank_choice_.rank == again.n_components_
    np.testing.assert_array_equal(again.rank_choice_.threshold, pca.rank_choice_.threshold)


# Published numbers


def test_cars(table):
    cars = table("cars04/cars04_387.csv").iloc[:, 8:]
    pca = PCA(scale=True).fit(cars)
    np.testing.assert_allclose(np.sqrt(pca.explained_variance_[:3]), [2.6655, 1.3726, 0.9218], atol=5e-5)
    np.testing.assert_allclose(pca.explained_variance_ratio_.cumsum()[:3], [0.6459, 0.8171, 0.8944], atol=1e-4)
    first = [
        0.2637504, 0.2623186, 0.3470805, 0.3341888, 0.3186023, -0.3104817, -0.3065886, 0.3363294, 0.2662100, 0.2567902,
        0.2960546,
    ]  # fmt: skip
    np.testing.assert_allclose(pca.components_[0], first, atol=1e-7)


def test_threes():
    digits = archive("usps/usps.npz")
    threes = digits["X_train"][digits["y_train"] == 3] / 1000.0
    share = PCA(50).fit(threes).explained_variance_ratio_.cumsum()
    np.testing.assert_allclose(share[[0, 1, 11, 49]], [0.1267, 0.2146, 0.6340, 0.8973], atol=5e-5)


def test_faces():
    faces = archive("faces/olivetti.npz")["X"].reshape(400, -1).astype(np.float32)
    pca = PCA(50).fit(faces)
    assert pca._fit_svd_solver == "gram"
    share = pca.explained_variance_ratio_.cumsum()
    np.testing.assert_allclose(share[[0, 5, 49]], [0.2381, 0.5754, 0.8738], atol=5e-5)


# Bad input


def spoiled(at, value):
    X = rows(30, 4)
    X[at] = value
    return X


COLUMN = slice(None), 2


@pytest.mark.parametrize(
    ("settings", "X", "error", "message"),
    [
        ({"scale": True}, spoiled(COLUMN, 0.1), ValueError, "column 2 is constant, so it cannot be scaled to unit variance"),
        ({}, spoiled((3, 1), np.inf), ValueError, "infinity"),
        ({}, spoiled((3, 1), 1e200), ValueError, "column 1 holds 1e\\+200, and sums of squares of cells beyond"),
        ({}, spoiled(COLUMN, np.nan), ValueError, "column 2 has no observed value; drop it before fitting"),
        ({}, rows(1, 4), ValueError, "1 sample"),
        ({"svd_solver": "full"}, OneBlock(Block.of(rows())), ValueError, "'full' needs all rows in memory"),
        ({"svd_solver": "full"}, sparse.csr_array(rows()), TypeError, "'full' would make sparse rows dense; use 'auto'"),
        ({}, sparse.csr_array(spoiled((3, 1), np.nan)), ValueError, "holds NaN in row 3, column 1"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_bad_rows(settings, X, error, message):
    with pytest.raises(error, match=message):
        PCA(**settings).fit(X)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 9}, r"n_components=9 must be between 0 and min\(n_samples, n_features\)=4 with svd_solver='full'"),
        ({"n_components": "most"}, "n_components='most' is unknown; use None, a whole number"),
        ({"n_components": -1}, "n_components=-1 is unknown"),
        ({"n_components": 1.5}, "n_components=1.5 is unknown"),
        ({"n_components": True}, "n_components=True is unknown"),
        ({"svd_solver": "lapack"}, "svd_solver='lapack' is unknown; use one of 'auto', 'full'"),
        ({"svd_solver": "gram"}, "for fewer rows than columns, but X has 30 rows and 4 columns; use 'covariance_eigh'"),
        ({"iterated_power": -1}, "iterated_power=-1 is not a whole number of at least 0"),
    ],
)  # fmt: skip
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        PCA(**settings).fit(rows(30, 4))


def test_more_bad_input():
    X = rows(30, 4)
    with pytest.raises(ValueError, match="the rows weigh 1 together, but weights count rows"):
        PCA().fit(X, sample_weight=np.full(30, 1 / 30))
    pca = PCA(2).fit(X)
    with pytest.raises(ValueError, match="X has 3 columns, but there are 2 scores per row"):
        pca.inverse_transform(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="k=3 is not a whole number of at least 0 and at most 2"):
        pca.reconstruct(X, 3)
    with pytest.raises(ValueError, match="n_components=None of sparse rows takes a matrix of 30000 × 30000 products"):
        PCA().fit(sparse.random_array((50, 30_000), density=1e-3, rng=np.random.default_rng(0), format="csr"))
    with pytest.raises(
        ValueError, match="n_components=4 is more than algorithm='arpack' finds in 30 rows of 4 columns"
    ):
        TruncatedSVD(4, algorithm="arpack").fit(X)
    with pytest.raises(ValueError, match="X has 3 columns, but there are 2 scores per row"):
        TruncatedSVD(2).fit(X).inverse_transform(np.zeros((2, 3)))


def test_what_has_no_variance():
    X = np.full((20, 3), 0.1)
    for solver in ("auto", "full", "randomized"):
        pca = PCA(2, svd_solver=solver, random_state=0).fit(X)
        np.testing.assert_allclose(pca.explained_variance_, 0.0, atol=1e-30)
        assert np.isfinite(pca.transform(X)).all()
        assert np.isfinite(pca.explained_variance_ratio_).all()
    pca = PCA(2, whiten=True).fit(X)
    assert np.isfinite(pca.transform(X)).all()


def test_fewer_rows_than_columns_and_rank_deficiency():
    X = rows(10, 40, rank=2, noise=0.0)
    pca = PCA().fit(X)
    assert pca.n_components_ == 10
    assert (pca.explained_variance_[2:] < 1e-20).all()
    np.testing.assert_allclose(pca.reconstruct(X, 2), X, atol=1e-10)
    with pytest.warns(UserWarning, match="the model has no noise outside of its 10 axes"):
        assert np.isfinite(pca.score_samples(X)).all()
    np.testing.assert_allclose(pca.get_covariance(), np.cov(X.T), atol=1e-10)


def test_drop_in_on_iris():
    X = load_iris().data
    ours, theirs = PCA(3).fit(X), Rival(3).fit(X)
    for name in ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-9, atol=1e-10)
    assert ours.noise_variance_ == pytest.approx(theirs.noise_variance_)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-8)
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), rtol=1e-9)


def test_truncated_svd_names_who_takes_missing_cells():
    with pytest.raises(
        ValueError,
        match=r"Input X contains NaN .row 0, column 1., which TruncatedSVD does not take; tacit\.factor\.PCA and",
    ):
        TruncatedSVD(1).fit([[1.0, np.nan], [2.0, 3.0], [0.0, 1.0]])
