"""Coordinates are one to one, with the volumes of finite differences, and gradients from statistics are the objective's."""

from functools import partial

import numpy as np
import pytest

from tacit.engine import coordinates as charts
from tacit.families import (
    Bernoulli,
    Beta,
    BetaPrior,
    Binomial,
    Categorical,
    DiagonalGaussian,
    DirichletPrior,
    Exponential,
    FactorGaussian,
    FullGaussian,
    Gamma,
    GammaPrior,
    Geometric,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
    Product,
    SphericalGaussian,
    StudentT,
    TiedGaussian,
)
from tacit.mixture.model import MixtureModel
from tacit.sequence.model import ChainModel
from tacit.sequence.structure import Structure
from tacit.source import ArraySource

RNG = np.random.default_rng(0)


def definite(n, d):
    half = RNG.normal(size=(n, d, d))
    return half @ half.transpose(0, 2, 1) + np.eye(d)


def half_of(matrices):
    i, j = np.tril_indices(matrices.shape[-1])
    return matrices[..., i, j].ravel()


def chosen_shares(mask):
    """The shares that can be chosen: all of each row that are possible but one."""
    at = np.concatenate([np.flatnonzero(row)[:-1] + n * mask.shape[1] for n, row in enumerate(mask)])
    return lambda value: value.ravel()[at]


MASK = np.array([[True, True, True, False], [True, True, False, True], [False, True, False, False]])
VIEWS = {
    "real": (charts.Real((2, 3), [1.0, 2.0, 3.0], [0.5, 1.0, 7.0]), RNG.normal(size=(2, 3)), np.ravel),
    "positive": (charts.Positive((2, 3), [0.5, 1.0, 7.0]), RNG.exponential(size=(2, 3)), np.ravel),
    "probability": (charts.Probability((2, 3)), RNG.uniform(size=(2, 3)), np.ravel),
    "shared": (charts.Shared(np.array([[1.0, 3.0]])), np.array([[0.4, 1.2]]), lambda value: value[:, 0]),
    "definite": (charts.Definite((2, 3, 3), np.array([1.0, 2.0, 5.0])), definite(2, 3), half_of),
    "simplex": (charts.Simplex(np.ones((2, 4)) / 4), RNG.dirichlet(np.ones(4), 2), chosen_shares(np.ones((2, 4), bool))),
}  # fmt: skip
zeros = np.where(MASK, RNG.exponential(size=MASK.shape), 0.0)
zeros /= zeros.sum(axis=1, keepdims=True)
VIEWS["simplex with zeros"] = charts.Simplex(zeros), zeros, chosen_shares(MASK)
levels = np.hstack([RNG.dirichlet(np.ones(3), 2), RNG.dirichlet(np.ones(2), 2)])
VIEWS["levels"] = charts.Simplex(levels, [slice(0, 3), slice(3, 5)]), levels, lambda value: value[:, [0, 1, 3]].ravel()


def slopes(function, x, step=1e-6):
    return np.array([(function(x + h) - function(x - h)) / (2 * step) for h in step * np.eye(len(x))])


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_one_to_one_and_its_volume_is_that_of_finite_differences(name):
    view, value, chosen = VIEWS[name]
    vector = view.free(value)
    assert vector.shape == (view.size,) == view.proper.shape
    np.testing.assert_allclose(view.bound(vector), value, rtol=1e-12)
    other = vector + RNG.normal(size=view.size)
    np.testing.assert_allclose(view.free(view.bound(other)), other, atol=1e-9)
    jacobian = slopes(lambda v: chosen(view.bound(v)), other)
    assert jacobian.shape == (view.size, view.size)
    log_volume, gradient = view.log_volume(other)
    assert log_volume == pytest.approx(np.linalg.slogdet(jacobian)[1], abs=1e-6)
    np.testing.assert_allclose(gradient, slopes(lambda v: view.log_volume(v)[0], other), atol=1e-6)
    weight = RNG.normal(size=value.shape)
    weight = weight + np.swapaxes(weight, -1, -2) if name == "definite" else weight
    pulled = slopes(lambda v: (weight * view.bound(v)).sum(), other)
    np.testing.assert_allclose(view.pull(other, weight), pulled, atol=1e-6 * np.abs(pulled).max())


def test_a_dirichlet_whose_normaliser_is_left_out_is_part_of_the_volume():
    from scipy.stats import dirichlet

    alpha = np.array([1.0, 2.5, 4.0])
    share = np.array([0.2, 0.3, 0.5])
    view, plain = charts.Simplex(share, alpha=alpha), charts.Simplex(share)
    vector = view.free(share)
    found = view.log_volume(vector)[0] + (alpha - 1) @ np.log(share)
    assert found == pytest.approx(dirichlet(alpha).logpdf(share) + plain.log_volume(vector)[0])


wishart = NormalInverseWishart(np.zeros(3), 0.5, 6.0, definite(1, 3)[0])
gamma = NormalInverseGamma(np.zeros(3), 0.5, 2.0, 3.0)
real = RNG.normal(size=(60, 3)) @ RNG.normal(size=(3, 3)) + 2.0
FAMILIES = {
    "full": (FullGaussian(prior=wishart), real),
    "full without prior": (FullGaussian(), real),
    "tied": (TiedGaussian(prior=wishart), real),
    "diag": (DiagonalGaussian(prior=gamma), real),
    "spherical": (SphericalGaussian(prior=gamma), real),
    "factors": (FactorGaussian(2, "diagonal"), np.hstack([real, real[:, :1] + RNG.normal(size=(60, 1))])),
    "principal": (FactorGaussian(1), real),
    "student": (StudentT(), real),
    "poisson": (Poisson(prior=GammaPrior(2.0, 0.5)), RNG.poisson(3.0, (60, 2)).astype(float)),
    "exponential": (Exponential(prior=GammaPrior(2.0, 0.5)), RNG.exponential(size=(60, 2))),
    "gamma": (Gamma(), RNG.gamma(2.0, size=(60, 2))),
    "beta": (Beta(), RNG.beta(2.0, 3.0, size=(60, 2))),
    "bernoulli": (Bernoulli(prior=BetaPrior(2.0, 3.0)), RNG.integers(0, 2, (60, 3)).astype(float)),
    "binomial": (Binomial(5), RNG.binomial(5, 0.3, (60, 2)).astype(float)),
    "geometric": (Geometric(), RNG.geometric(0.3, (60, 2)).astype(float)),
    "categorical": (
        Categorical([3, 2], prior=DirichletPrior(2.0)),
        np.column_stack([RNG.integers(0, m, 60) for m in (3, 2)]).astype(float),
    ),
    "product": (
        Product([(FullGaussian(prior=wishart), (0, 1, 2)), (Poisson(), (3,))]),
        np.hstack([real, RNG.poisson(3.0, (60, 1))]),
    ),
}  # fmt: skip


def check_gradient(model, X, units=None):
    X = X.copy()
    X[RNG.random(X.shape) < 0.1] = np.nan
    source = ArraySource(X, offsets=units) if units is not None else ArraySource(X)
    sample = source.sample(len(X), RNG)
    params = model.init(sample, np.random.default_rng(1))
    view = model.coordinates(params)
    vector = view.free(params) + 0.1 * RNG.normal(size=view.size)

    def loglik(v):
        return source.sum(partial(model.e_step, view.bound(v))).loglik

    at = view.bound(vector)
    found = view.pull(vector, model.score(source.sum(partial(model.e_step, at)), at))
    wanted = slopes(loglik, vector)
    np.testing.assert_allclose(found, wanted, atol=2e-6 * max(np.abs(wanted).max(), 1.0))
    prior = slopes(lambda v: model.log_prior(view.bound(v)), vector)
    np.testing.assert_allclose(
        view.pull(vector, model.prior_score(at)), prior, atol=2e-6 * max(np.abs(prior).max(), 1.0)
    )


@pytest.mark.parametrize("name", FAMILIES)
def test_statistics_give_the_gradient_of_a_mixture(name):
    family, X = FAMILIES[name]
    check_gradient(MixtureModel(family, 2, weight_prior=2.0), X)


def test_statistics_give_the_gradient_of_a_hidden_markov_model():
    structure = Structure(3, allowed=np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]]), move_prior=2.0, start_prior=1.5)
    check_gradient(ChainModel(FullGaussian(prior=wishart), structure), real)
