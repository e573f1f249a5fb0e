"""Student t classes: hidden weights, degrees of freedom, expansion, draws and covariances of missing cells."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import digamma, polygamma

from tacit.engine import fit
from tacit.families import FullGaussian, StudentT
from tacit.families.roots import gamma_shape
from tacit.families.student import _log_gamma_ratio
from tacit.mixture import MixtureModel, StudentTMixture
from tacit.source import ArraySource, Block

from ..zoo import gaussian_rows, heavy_rows, with_missing
from .test_structures import assert_structure


def learned(X, family=None, n_classes=3, steps=3):
    family = family or StudentT()
    block, resp = Block.of(X), np.random.default_rng(0).dirichlet(np.ones(n_classes), len(X))
    params = family.start(block, resp)
    for _ in range(steps):
        params = family.m_step(family.stats(params, block, resp), params)
    return family, params, block, resp


@pytest.mark.parametrize("excess", [1e-8, 1e-4, 0.01, 0.5, 3.0, 40.0])
def test_the_shape_of_a_gamma_solves_its_equation(excess):
    x = gamma_shape(excess, 1e12)
    assert np.log(x) - digamma(x) == pytest.approx(excess, rel=1e-6)
    assert gamma_shape(0.0, 1e12) == gamma_shape(-1e-12, 1e12) == pytest.approx(1e12)


@pytest.mark.parametrize("holes", [0.0, 0.4])
def test_distances_are_those_of_the_observed_cells(holes):
    X = with_missing(heavy_rows(60), holes)
    X[3] = np.nan
    family, params, block, _ = learned(X)
    square = family.distance(params, block)[0]
    for i, seen in enumerate(~np.isnan(X)):
        for k in range(3):
            z = X[i, seen] - params.mean[k, seen]
            expected = z @ np.linalg.solve(params.covariance[k][np.ix_(seen, seen)], z)
            assert square[i, k] == pytest.approx(expected, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("holes", [0.0, 0.3])
def test_statistics_are_expectations_over_the_hidden_weight(holes):
    X = with_missing(heavy_rows(80), holes)
    family, params, block, resp = learned(X)
    found = family.stats(params, block, resp)
    square, n_seen = family.distance(params, block)[0], (~np.isnan(X)).sum(axis=1)[:, None]
    shape, rate = 0.5 * (params.df + n_seen), 0.5 * (params.df + square)  # u | x is a Gamma
    np.testing.assert_allclose(found.count, resp.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.pull, (resp * shape / rate).sum(axis=0), rtol=1e-10)
    np.testing.assert_allclose(found.log_u, (resp * (digamma(shape) - np.log(rate))).sum(axis=0), rtol=1e-9)
    for k in range(3):
        filled, cov = FullGaussian().complete(params, block, np.eye(3)[np.full(80, k)], return_cov=True)
        z, r_u = filled - params.origin, resp[:, k] * (shape / rate)[:, k]
        np.testing.assert_allclose(found.first[k], r_u @ z, rtol=1e-9, atol=1e-9)
        expected = (z * r_u[:, None]).T @ z + np.einsum("n,nij->ij", resp[:, k], cov)
        np.testing.assert_allclose(found.second[k], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("structure", ["VVV", "VEV", "EVE", "EEE", "VII", "EII", "EVI"])
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_scale_matrices_have_the_structure(structure, holes):
    _, params, _, _ = learned(with_missing(heavy_rows(), holes), StudentT(structure))
    assert_structure(structure, params.covariance)


def test_dividing_by_the_mean_weight_takes_fewer_steps():
    class PlainEM(StudentT):
        def _expansion(self, alive, mean, covariance, scale):
            return np.ones(len(mean))

    source = ArraySource(heavy_rows())
    rng = np.random.default_rng(0)
    start = MixtureModel(StudentT(df=1.5), 1).init(source.sample(240, rng), rng)
    expanded, plain = (
        fit(MixtureModel(kind(df=1.5), 1), source, start, max_iter=2000, tol=1e-9) for kind in (StudentT, PlainEM)
    )
    assert expanded.trace.objectives[-1] == pytest.approx(plain.trace.objectives[-1], rel=1e-6)
    assert len(expanded.trace) < 0.7 * len(plain.trace)


def test_shared_degrees_of_freedom_are_shared_and_fixed_ones_stay():
    X = heavy_rows()
    assert np.ptp(learned(X, StudentT(df="free"))[1].df) > 0.01
    shared = learned(X, StudentT(df="shared"))[1].df
    assert np.ptp(shared) == 0.0
    assert shared[0] != 10.0
    np.testing.assert_array_equal(learned(X, StudentT(df=3.5))[1].df, 3.5)
    counts = {df: StudentT("VEV", df=df).n_parameters(learned(X)[1]) for df in ("free", "shared", 5.0)}
    covariances = 3 * 10 - 2 * 3
    assert counts == {"free": 12 + covariances + 3, "shared": 12 + covariances + 1, 5.0: 12 + covariances}


def test_missing_cells_are_drawn_from_their_conditional_distribution():
    covariance = np.array([[[2.0, 0.8, 0.3], [0.8, 1.0, -0.2], [0.3, -0.2, 1.5]]])
    family = StudentT()
    params = family.params(np.zeros((1, 3)), covariance, np.zeros(3), np.ones(3), np.array([6.0]))
    block = Block.of(np.array([[1.5, np.nan, np.nan]]))
    draws = family.draw(params, block, np.ones((1, 1)), 200_000, np.random.default_rng(0))[:, 0, 1:]
    C = covariance[0]
    mean = C[1:, 0] / C[0, 0] * 1.5
    spread = C[1:, 1:] - np.outer(C[1:, 0], C[1:, 0]) / C[0, 0]
    scale = (6.0 + 1.5**2 / C[0, 0]) / 7.0
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=0.01)
    np.testing.assert_allclose(np.cov(draws.T), spread * scale * 7.0 / 5.0, rtol=0.05, atol=0.02)
    z = (draws[:, 0] - mean[0]) / np.sqrt(spread[0, 0] * scale)
    assert stats.kstest(z, stats.t(7.0).cdf).pvalue > 1e-3
    filled, cov = family.complete(params, block, np.ones((1, 1)), return_cov=True)
    np.testing.assert_allclose(filled[0], [1.5, *mean], rtol=1e-12)
    np.testing.assert_allclose(cov[0, 1:, 1:], spread * scale * 7.0 / 5.0, rtol=1e-9)
    assert (cov[0, 0] == 0).all()


def test_without_two_degrees_of_freedom_left_covariances_are_infinite():
    family = StudentT(df=0.5)
    params = family.params(np.zeros((1, 2)), np.eye(2)[None], np.zeros(2), np.ones(2))
    _, cov = family.complete(params, Block.of(np.array([[1.0, np.nan]])), np.ones((1, 1)), return_cov=True)
    np.testing.assert_array_equal(cov[0], [[0.0, 0.0], [0.0, np.inf]])


def test_samples_have_the_tails_of_their_class():
    family = StudentT()
    df = np.array([3.0, 50.0])
    params = family.params(np.zeros((2, 1)), np.full((2, 1, 1), 4.0), np.zeros(1), np.ones(1), df)
    for k in range(2):
        X = family.sample(params, np.full(20_000, k), np.random.default_rng(k))
        assert stats.kstest(X[:, 0] / 2.0, stats.t(df[k]).cdf).pvalue > 1e-3


def test_a_light_tail_is_a_gaussian():
    X = gaussian_rows(100)
    block = Block.of(with_missing(X))
    family = StudentT(df=1e8)
    _, params, _, _ = learned(X, family)
    gaussian = FullGaussian().params(params.mean, params.covariance, params.origin, params.scale)
    expected = FullGaussian().log_prob(gaussian, block)
    np.testing.assert_allclose(family.log_prob(params, block), expected, rtol=1e-5, atol=1e-5)
    assert polygamma(1, 0.5e8) < 1e-7  # the hidden weight hardly varies


def test_normalisers_keep_their_digits_near_the_gaussian():
    for half in (0.05, 3.0, 19.0, 21.0, 5e2, 5e5, 5e8):
        found = _log_gamma_ratio(np.array([[half]]), np.array([0.0, 1.0, 2.0]))[0]
        np.testing.assert_allclose(found, [0.0, 0.0, np.log1p(1.0 / half)], rtol=1e-13, atol=3e-14)


def test_gaussian_rows_in_single_precision_have_no_tails():
    X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(200, 2)).astype(np.float32)
    found = StudentTMixture(1, max_iter=300).fit(X)
    assert found.df_[0] == 1e6
