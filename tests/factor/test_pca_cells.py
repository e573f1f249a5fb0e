"""PCA of rows with missing cells: the limit of probabilistic PCA, and continuous with the complete case."""

import itertools
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris, load_wine

from tacit.factor import PCA, ProbabilisticPCA

from ..zoo import some, with_missing


def rows(n=300, d=8, k=2, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, k)) @ rng.normal(size=(k, d)) * 2.0 + noise * rng.normal(size=(n, d)) + 3.0


def angle(A, B):
    """Sine of the greatest angle between the spans of orthonormal rows."""
    return np.sqrt(max(0.0, 1.0 - np.linalg.svd(A @ B.T, compute_uv=False).min() ** 2))


@pytest.mark.parametrize("scale", [False, True])
def test_axes_are_those_of_the_whole_rows(scale):
    X = rows()
    whole, incomplete = PCA(2, scale=scale).fit(X), PCA(2, scale=scale).fit(with_missing(X, 0.2))
    assert angle(whole.components_, incomplete.components_) < 0.04
    np.testing.assert_allclose(incomplete.explained_variance_, whole.explained_variance_, rtol=0.05)
    assert incomplete.noise_variance_ == pytest.approx(whole.noise_variance_, rel=0.25)
    np.testing.assert_allclose(incomplete.transform(X), whole.transform(X), atol=0.3)
    filled = incomplete.reconstruct(with_missing(X, 0.2))
    assert np.sqrt(np.mean((filled - X) ** 2)) < 0.2


@pytest.mark.parametrize("scale", [False, True])
def test_they_are_those_of_probabilistic_pca(scale):
    X = with_missing(rows(), 0.15)
    ours, theirs = PCA(2, scale=scale).fit(X), ProbabilisticPCA(2, scale=scale, parameter_draws=0).fit(X)
    np.testing.assert_allclose(np.abs(ours.components_), np.abs(theirs.components_), atol=1e-12)
    n = len(X)
    np.testing.assert_allclose(ours.get_covariance() * (n - 1) / n, theirs.get_covariance(), rtol=1e-9)
    filled = theirs.impute(X)
    scores = (filled - ours.mean_) / (1.0 if ours.scale_ is None else ours.scale_) @ ours.components_.T
    np.testing.assert_allclose(ours.transform(X), scores, atol=1e-6)  # the divisor of variances moves no expectation


@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh", "randomized"])
def test_one_hole_changes_little(solver):
    X = rows()
    whole = PCA(3, svd_solver=solver, random_state=0).fit(X)
    X[5, 1] = np.nan
    incomplete = PCA(3, svd_solver=solver, random_state=0).fit(X)
    np.testing.assert_allclose(incomplete.explained_variance_, whole.explained_variance_, rtol=0.01)
    np.testing.assert_allclose(incomplete.explained_variance_ratio_, whole.explained_variance_ratio_, rtol=0.01)
    assert angle(whole.components_[:2], incomplete.components_[:2]) < 0.01


def test_complete_rows_are_projected_as_always():
    X = rows()
    pca = PCA(2).fit(with_missing(X, 0.2))
    np.testing.assert_allclose(pca.transform(X), (X - pca.mean_) @ pca.components_.T, atol=1e-12)


@pytest.mark.parametrize("k", [0, 2, 8])
def test_a_model_of_complete_rows_takes_incomplete_ones(k):
    X = rows()
    pca = PCA(k).fit(X)
    row = X[:40].copy()
    row[:, 3] = np.nan
    row[0] = np.nan  # nothing is known: the mean
    scores = pca.transform(row)
    np.testing.assert_allclose(scores[0], 0.0, atol=1e-9)
    if k:
        assert np.abs(scores[1:, :2] - pca.transform(X[1:40])[:, :2]).max() < 0.4
    covariance, seen = pca.get_covariance(), np.arange(8) != 3
    from scipy.stats import multivariate_normal

    expected = multivariate_normal(pca.mean_[seen], covariance[np.ix_(seen, seen)]).logpdf(row[1:, seen])
    np.testing.assert_allclose(pca.score_samples(row)[1:], expected, rtol=1e-6)
    assert pca.score_samples(row)[0] == pytest.approx(0.0, abs=1e-9)


def test_all_components_and_shares():
    X = with_missing(rows(), 0.1)
    every = PCA().fit(X)
    assert every.n_components_ == 8
    np.testing.assert_allclose(every.components_ @ every.components_.T, np.eye(8), atol=1e-10)
    assert every.explained_variance_ratio_.sum() == pytest.approx(1.0)
    assert every.noise_variance_ == 0.0
    share = PCA(0.9).fit(X)
    assert share.explained_variance_ratio_.sum() > 0.9
    assert share.n_components_ <= 2


def test_rows_and_columns_without_cells():
    X = with_missing(rows(), 0.1)
    X[7] = np.nan
    pca = PCA(2).fit(X)
    np.testing.assert_allclose(pca.transform(X)[7], 0.0, atol=1e-9)
    assert np.isfinite(pca.transform(X)).all()
    X[:, 4] = np.nan
    with pytest.raises(ValueError, match="column 4 has no observed value; drop it before fitting"):
        PCA(2).fit(X)


def test_a_constant_column_with_holes_cannot_be_scaled():
    X = with_missing(rows(), 0.1)
    X[:, 4] = np.where(np.isnan(X[:, 4]), np.nan, 0.1)
    with pytest.raises(ValueError, match="column 4 is constant, so it cannot be scaled"):
        PCA(2, scale=True).fit(X)
    assert np.isfinite(PCA(2).fit(X).components_).all()


def test_weights_count_rows_with_holes():
    X = with_missing(rows(150), 0.1)
    weight = np.random.default_rng(0).integers(0, 3, 150).astype(float)
    weighted = PCA(2).fit(X, sample_weight=weight)
    again = PCA(2).fit(np.repeat(X, weight.astype(int), axis=0))
    np.testing.assert_allclose(weighted.explained_variance_, again.explained_variance_, rtol=1e-3)
    assert angle(weighted.components_, again.components_) < 1e-3


def test_fewer_rows_than_columns_with_holes():
    X = with_missing(rows(20, 40), 0.1)
    for k in (2, None, 0.8, "parallel", "bic", "cv"):
        pca = PCA(k, random_state=0).fit(X)
        assert np.isfinite(pca.transform(X)).all(), k
        assert 1 <= pca.n_components_ <= 20


def test_holes_in_a_stream(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = with_missing(rows(), 0.1)
    path = tmp_path / "rows.parquet"
    pandas.DataFrame(X, columns=list("abcdefgh")).to_parquet(path)
    ours, theirs = PCA(2).fit(path), PCA(2).fit(X)
    np.testing.assert_allclose(ours.components_, theirs.components_, atol=1e-6)
    np.testing.assert_allclose(ours.transform(path), theirs.transform(X), atol=1e-5)


@pytest.mark.parametrize("k", [None, 0, 1, 0.5, "bic", "cv", "parallel"])
def test_one_column_with_holes(k):
    X = np.array([[1.0], [2.0], [np.nan], [4.0], [5.5]])
    pca = PCA(k, random_state=0).fit(X)
    assert pca.n_components_ in (0, 1)
    assert np.isfinite(pca.transform(X)).all()
    assert pca.mean_ == pytest.approx(3.125)


@pytest.mark.parametrize("k", ["bic", "cv"])
def test_cells_that_are_all_the_same(k):
    X = np.full((6, 3), 2.0)
    X[1, 1] = np.nan
    pca = PCA(k).fit(X)
    np.testing.assert_allclose(pca.reconstruct(X), 2.0)


def test_rows_all_alike_have_scores_of_zero():
    pca = PCA(2).fit(np.ones((10, 4)))
    np.testing.assert_allclose(pca.transform([[np.nan, 1.0, 1.0, 1.0]]), 0.0, atol=1e-12)


def test_no_word_of_ranks_that_were_only_tried():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1)) @ rng.normal(size=(1, 6)) + 0.1 * rng.normal(size=(60, 6))
    X[:, 5] = X[:, 4]
    X[rng.random(X.shape) < 0.1] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert PCA("parallel", random_state=0).fit(X).n_components_ == 1


def test_missing_cells_are_filled_and_frames_come_back_as_frames():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(rows(), columns=list("abcdefgh"), index=np.arange(300) + 7)
    incomplete = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    for model in (PCA(2), ProbabilisticPCA(2)):
        filled, std = model.fit(incomplete).impute(incomplete, return_std=True)
        assert list(filled.columns) == list("abcdefgh")
        assert (filled.index == X.index).all()
        lost = incomplete.isna().to_numpy()
        assert np.sqrt(np.mean((filled - X).to_numpy()[lost] ** 2)) < 0.3
        assert (std[lost] > 0).all()
        assert (filled.to_numpy()[~lost] == X.to_numpy()[~lost]).all()


def test_the_spectrum_of_holed_rows_is_that_of_their_gaussian():
    from tacit.mixture import GaussianMixture

    X = with_missing(rows(), 0.2)
    gaussian = GaussianMixture(1, tol=1e-9, max_iter=500).fit(X).covariances_[0]
    np.testing.assert_allclose(
        PCA().fit(X).explained_variance_, np.linalg.eigvalsh(gaussian)[::-1] * 300 / 299, rtol=1e-3
    )


def test_ranks_at_the_floor_are_not_chosen():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 6)) + 0.5 * rng.normal(size=(60, 6))
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    X[rng.random(X.shape) < 0.1] = np.nan
    model = ProbabilisticPCA("bic", scale=True).fit(X)
    assert model.noise_variance_ > 1e-4


@pytest.mark.parametrize("estimator", [PCA, ProbabilisticPCA])
def test_fits_without_a_seed_agree(estimator):
    """With more rows than starts are made of, and axes that hardly stand out."""
    X = with_missing(np.random.default_rng(0).normal(size=(6000, 6)) * [1.4, 1.3, 1.2, 1.0, 1.0, 1.0])
    first, second = (estimator(3).fit(X).components_ for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("share", some([0.1, 0.2, 0.3], [0.1]))
@pytest.mark.parametrize("load", [load_wine, load_iris, load_diabetes])
def test_axes_are_those_of_the_limit_to_a_tenth_of_a_degree(load, share):
    X = with_missing(load().data, share)
    for scale, k in itertools.product([False, True], [2, 3, 4]):
        if k < X.shape[1]:
            axes = [ProbabilisticPCA(k, scale=scale, **tol).fit(X).components_ for tol in ({}, {"tol": 1e-12})]
            between = np.degrees(np.arccos(np.clip(np.abs((axes[0] * axes[1]).sum(axis=1)), 0.0, 1.0)))
            assert between.max() < 0.1
