"""How many components: known ranks are found, Minka's evidence is scikit-learn's, curves are what they say."""

import warnings

import numpy as np
import pytest
from sklearn.decomposition._pca import _assess_dimension

from tacit.factor import PCA, choose_rank
from tacit.factor.principal import rank

from ..zoo import with_missing


def rows(n=300, d=12, k=3, noise=0.5, seed=0):
    """Columns of the same variance, so that noise is as great in all of them before and after scaling."""
    rng = np.random.default_rng(seed)
    loadings = rng.normal(size=(k, d))
    return rng.normal(size=(n, k)) @ (loadings / np.linalg.norm(loadings, axis=0)) + noise * rng.normal(size=(n, d))


def spectrum(X, scale=False):
    matrix = np.corrcoef(X.T) if scale else np.cov(X.T)
    return rank.Spectrum(np.linalg.eigvalsh(matrix)[::-1], len(X), X.shape[1], None if scale else np.diag(matrix))


@pytest.mark.parametrize("method", rank.METHODS)
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("k", [1, 3, 5])
def test_a_known_rank_is_found(method, scale, k):
    found = [choose_rank(rows(500, 20, k, 0.4, seed), method, scale=scale, random_state=0).rank for seed in range(3)]
    assert sorted(found)[1] == k


@pytest.mark.parametrize("method", ["bic", "parallel", "cv"])
def test_a_known_rank_is_found_with_fewer_rows_than_columns(method):
    assert choose_rank(rows(60, 150, 3, 0.4), method, random_state=0).rank == 3


@pytest.mark.parametrize("method", ["bic", "parallel", "cv"])
def test_pure_noise_has_no_components(method):
    X = np.random.default_rng(0).normal(size=(400, 8))
    assert choose_rank(X, method, random_state=0).rank == 0
    with pytest.warns(
        UserWarning, match=f"n_components='{method}' finds no component beyond noise, so that scores have no"
    ):
        pca = PCA(method, random_state=0).fit(X)
    assert pca.transform(X).shape == (400, 0)
    assert pca.score(X) == pytest.approx(-0.5 * 8 * (np.log(2 * np.pi * X.var()) + 1), rel=1e-2)


def test_the_evidence_is_scikit_learns():
    for seed in range(3):
        known = spectrum(rows(80, 7, 2, seed=seed))
        choice = rank.minka(known)
        expected = [_assess_dimension(known.eigenvalues, k, known.n_rows) for k in range(1, 7)]
        # Ours are in units of the greatest eigenvalue.
        np.testing.assert_allclose(choice.values - choice.values[0], np.subtract(expected, expected[0]), rtol=1e-9)
        assert choice.rank == 1 + int(np.argmax(expected))
    assert rank.minka(rank.Spectrum(np.array([1.0, 1e-30, 1e-30]), 10, 3)).rank == 1
    assert rank.minka(rank.Spectrum(np.ones(4), 50, 4)).rank == 1
    assert rank.minka(rank.Spectrum(np.array([9.0, 5.0, 1.0, 1.0, 1.0]), 200, 5)).rank == 2


def test_the_evidence_does_not_depend_on_units_or_on_columns_beyond_those_that_can_be_told():
    X = rows(300, 70, 3)
    assert [choose_rank(unit * X, "mle").rank for unit in (1.0, 1e-8, 1e8)] == [3, 3, 3]
    X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    assert choose_rank(X, "mle").rank == 3


def test_holes_make_no_components_of_noise():
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        noise = rng.normal(size=(100, 10))
        noise[rng.random(noise.shape) < 0.3] = np.nan
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a choice has no scores to warn about
            found.append(choose_rank(noise, "parallel", random_state=0).rank)
    # One in twenty tables of noise may exceed a quantile of 95 %.
    assert max(found) <= 1
    assert sum(found) <= 1
    X = 3.0 * rng.normal(size=(100, 2)) @ rng.normal(size=(2, 10)) + rng.normal(size=(100, 10))
    X[rng.random(X.shape) < 0.3] = np.nan
    assert choose_rank(X, "parallel", scale=True, random_state=0).rank == 2


def test_bic_is_that_of_the_likelihood():
    X = rows(90, 6, 2)
    choice = choose_rank(X, "bic")
    for k in (1, 2, 4):
        values, vectors = np.linalg.eigh(np.cov(X.T, ddof=0))
        values, vectors = values[::-1], vectors[:, ::-1]
        noise = values[k:].mean()
        covariance = noise * np.eye(6) + (vectors[:, :k] * (values[:k] - noise)) @ vectors[:, :k].T
        from scipy.stats import multivariate_normal

        loglik = multivariate_normal(X.mean(axis=0), covariance).logpdf(X).sum()
        expected = -2 * loglik + np.log(90) * (6 + 6 * k - k * (k - 1) / 2 + 1)
        assert choice.values[k] == pytest.approx(expected)


def test_the_error_of_cells_is_what_is_left_over_the_degrees_of_freedom_left():
    X = rows(60, 8, 2, 0.5)
    choice = choose_rank(X, "cv")
    U, s, V = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    for k in (0, 2, 4):
        square = ((X - X.mean(axis=0) - (U[:, :k] * s[:k]) @ V[:k]) ** 2).sum()
        free = 59 * 8 - k * (60 + 8 - k - 1)
        assert choice.values[k] == pytest.approx(60 * 8 * square / free**2)


def test_simulated_eigenvalues_are_those_of_rows():
    """Bartlett's draws, which cost nothing per row, have the law of covariances of rows."""
    rng, n, d = np.random.default_rng(0), 40, 5
    variances = np.arange(1.0, 6.0)
    for known, make in ((variances, np.cov), (None, np.corrcoef)):
        table = rank.Spectrum(np.ones(d), n, d, known)
        drawn = np.mean([rank._simulated(table, rng) for _ in range(1500)], axis=0)
        scale = np.sqrt(variances)
        rows = [np.linalg.eigvalsh(make((rng.normal(size=(n, d)) * scale).T))[::-1] for _ in range(1500)]
        np.testing.assert_allclose(drawn, np.mean(rows, axis=0), rtol=0.03)
    wide = rank.Spectrum(np.ones(10), 10, 30, np.ones(30))
    assert rank._simulated(wide, rng).sum() == pytest.approx(30, rel=0.2)


def test_a_share_of_the_variance():
    choice = rank.share(rank.Spectrum(np.array([5.0, 3.0, 2.0]), 10, 3), 0.8)
    assert (choice.rank, choice.threshold, choice.method) == (3, 0.8, "share")
    np.testing.assert_allclose(choice.values, [0.5, 0.8, 1.0])
    assert choose_rank(rows(), 0.5).rank == PCA(0.5).fit(rows()).n_components_


def test_parallel_analysis_is_seeded_and_tells_its_curve():
    first, again = (choose_rank(rows(), "parallel", random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first.threshold, again.threshold)
    assert (first.values[: first.rank] > first.threshold[: first.rank]).all()
    assert first.values[first.rank] <= first.threshold[first.rank]
    looser = choose_rank(rows(), "parallel", quantile=0.05, random_state=3)
    assert (looser.threshold < first.threshold).all()


@pytest.mark.parametrize("method", [*rank.METHODS, 0.8])
def test_a_known_rank_is_found_with_missing_cells(method):
    X = with_missing(rows(250, 8, 2, 0.3), 0.1)
    choice = choose_rank(X, method, random_state=0)
    assert choice.rank == 2
    assert len(choice.ranks) == len(choice.values)


@pytest.mark.parametrize("method", ["bic", "cv"])
def test_a_hole_changes_the_curve_little(method):
    X = rows(200, 6, 2, 0.4)
    whole = choose_rank(X, method)
    X[0, 0] = np.nan
    incomplete = choose_rank(X, method)
    m = len(incomplete.values)
    assert m >= 4
    np.testing.assert_allclose(incomplete.values, whole.values[:m], rtol=0.02)


def test_bad_questions():
    with pytest.raises(ValueError, match="method=3 does not choose; use a share between 0 and 1"):
        choose_rank(rows(), 3)
    with pytest.raises(ValueError, match="n_components='elbow' is unknown"):
        choose_rank(rows(), "elbow")
    with pytest.raises(ValueError, match="n_simulations=0 is not a whole number of at least 1"):
        choose_rank(rows(), n_simulations=0)
    with pytest.raises(ValueError, match="quantile=2 is not a number of at least 0 and at most 1"):
        choose_rank(rows(), quantile=2)
