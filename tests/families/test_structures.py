"""Covariance structures: what the letters promise, maxima, nesting, one class, one column, empty classes and floors."""

import numpy as np
import pytest
from scipy.optimize import minimize

from tacit.engine import fit
from tacit.families import GAUSSIANS, STRUCTURES
from tacit.families.gaussian import _whitened_wide
from tacit.families.structures import covariances, deviance, n_covariance_parameters
from tacit.mixture import GaussianMixture, MixtureModel
from tacit.mixture.starts import _longest
from tacit.source import ArraySource, Block

from ..zoo import STRUCTURED, gaussian_rows, some, with_missing


def scatters(n_classes=3, d=3, seed=0):
    """Scatter matrices of classes that have nothing in common, and counts."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n_classes, d, d)) + np.eye(d)
    count = rng.uniform(20, 80, n_classes)
    return count[:, None, None] * root @ root.transpose(0, 2, 1), count


def pooled(W, count):
    return np.repeat(W.sum(axis=0)[None] / count.sum(), len(W), axis=0)


def parts(covariance):
    """Volumes and sorted shapes."""
    volume = np.exp(np.linalg.slogdet(covariance)[1] / covariance.shape[1])
    return volume, np.linalg.eigvalsh(covariance) / volume[:, None]


def assert_structure(name, covariance, rtol=1e-7):
    volume, shape = parts(covariance)
    if name[0] == "E":
        np.testing.assert_allclose(volume, volume[0], rtol=rtol)
    if name[1] == "E":
        np.testing.assert_allclose(shape, np.broadcast_to(shape[0], shape.shape), rtol=rtol)
    if name[1] == "I":
        np.testing.assert_allclose(shape, 1.0, rtol=rtol)
    if name[2] == "I":
        np.testing.assert_array_equal(covariance * (1 - np.eye(covariance.shape[1])), 0.0)
    if name[2] == "E":
        # Symmetric matrices have common axes where they commute.
        for other in covariance[1:]:
            product = covariance[0] @ other
            np.testing.assert_allclose(product, product.T, atol=rtol * np.abs(product).max())


@pytest.mark.parametrize("name", STRUCTURES)
def test_covariances_have_the_structure_and_vary_where_they_may(name):
    W, count = scatters()
    found = covariances(name, W, count, pooled(W, count))
    assert_structure(name, found)
    volume, shape = parts(found)
    if name[0] == "V":
        assert np.ptp(np.log(volume)) > 0.05
    if name[1] == "V":
        assert np.ptp(np.log(shape), axis=0).max() > 0.05
    if name[2] == "V":
        product = found[0] @ found[1]
        assert np.abs(product - product.T).max() > 0.01 * np.abs(product).max()


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_second_m_step_changes_nothing(name):
    W, count = scatters(4, 5)
    once = covariances(name, W, count, pooled(W, count))
    np.testing.assert_allclose(covariances(name, W, count, once), once, rtol=1e-8, atol=1e-9)


def assemble(name, vector, n_classes, d):
    """Covariances of a structure from any vector: logarithms of volumes and shapes, and skew matrices."""
    numbers = iter(vector)

    def take(letter, size):
        each = [[next(numbers) for _ in range(size)] for _ in range(n_classes if letter == "V" else 1)]
        return np.zeros((n_classes, size)) if letter == "I" else np.broadcast_to(each, (n_classes, size))

    volume, shape, turn = (take(*part) for part in zip(name, (1, d, d * (d - 1) // 2)))
    values = np.exp(volume + shape - shape.mean(axis=1, keepdims=True))
    out = np.empty((n_classes, d, d))
    for k in range(n_classes):
        skew = np.zeros((d, d))
        skew[np.triu_indices(d, 1)] = turn[k]
        axes = np.linalg.solve(np.eye(d) - skew + skew.T, np.eye(d) + skew - skew.T)
        out[k] = (axes * values[k]) @ axes.T
    return out


@pytest.mark.parametrize("seed", some(range(3), [0]))
@pytest.mark.parametrize("name", STRUCTURES)
def test_no_search_finds_anything_likelier(name, seed):
    W, count = scatters(seed=seed)
    best = covariances(name, W, count, pooled(W, count))
    found = deviance(W, count, best)
    rng = np.random.default_rng(seed)
    away = 0.3
    if name in ("EVE", "VVE"):  # common axes may have several maxima: search around the one that was found
        axes, away = np.linalg.eigh(best[0])[1], 0.03
        W = axes.T @ W @ axes
    size = n_covariance_parameters(name, 3, 3) + 9
    searched = [
        minimize(lambda v: deviance(W, count, assemble(name, v, 3, 3)), away * rng.normal(size=size), method="BFGS").fun
        for _ in range(2)
    ]
    assert found <= min(searched) + 1e-6 * abs(found)


def test_free_parameters_are_those_of_the_literature():
    K, d = 3, 4
    p = d * (d + 1) // 2
    expected = {
        "EII": 1, "VII": K, "EEI": d, "VEI": K + d - 1, "EVI": 1 + K * (d - 1), "VVI": K * d, "EEE": p, "VEE": p + K - 1,
        "EVE": p + (K - 1) * (d - 1), "VVE": p + (K - 1) * d, "EEV": K * p - (K - 1) * d,
        "VEV": K * p - (K - 1) * (d - 1), "EVV": K * p - (K - 1), "VVV": K * p,
    }  # fmt: skip
    assert {name: n_covariance_parameters(name, K, d) for name in STRUCTURES} == expected
    X = gaussian_rows(100, d)
    for name in STRUCTURES:
        family = GAUSSIANS[name]()
        params = family.start(Block.of(X), np.eye(K)[np.arange(100) % K])
        assert family.n_parameters(params) == K * d + expected[name]


@pytest.mark.parametrize("holes", [0.0, 0.2])
@pytest.mark.parametrize("name", STRUCTURES)
def test_a_fitted_mixture_has_the_structure(name, holes):
    X = with_missing(gaussian_rows(), holes)
    mixture = GaussianMixture(3, covariance_type=name, random_state=0).fit(X)
    dense = mixture._params().components.dense
    assert_structure(name, dense)
    family = GAUSSIANS[name]()
    assert mixture.covariances_.shape == mixture.precisions_.shape == family.shape(3, 4)
    found = mixture.precisions_ if family.matrices else 1.0 / mixture.covariances_
    expected = np.linalg.inv(mixture.covariances_) if family.matrices else mixture.precisions_
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_no_structure_is_likelier_than_the_one_that_holds_it(holes):
    source = ArraySource(with_missing(gaussian_rows(), holes))
    settings = {"max_iter": 3000, "tol": 1e-9}

    def learn(name, start=None):
        model = MixtureModel(GAUSSIANS[name](), 3)
        if start is None:
            start = model.init(source.sample(240, np.random.default_rng(0)), np.random.default_rng(0))
        return fit(model, source, start, **settings)

    for name in STRUCTURED:
        held = learn(name)
        # From the maximum of the structure, the one without constraints can only go up.
        params = held.params.components
        full = GAUSSIANS["VVV"]().params(params.mean, params.dense, params.origin, params.scale)
        start = type(held.params)(held.params.weight, full)
        free = learn("VVV", start)
        assert free.trace.objectives[0] == pytest.approx(held.trace.objectives[-1], rel=1e-7)
        assert free.trace.objectives[-1] > held.trace.objectives[-1]


@pytest.mark.parametrize("name", STRUCTURES)
def test_one_class_or_one_column_is_the_plain_estimate(name):
    X = gaussian_rows()
    one = GaussianMixture(1, covariance_type=name).fit(X)
    expected = np.cov(X.T, ddof=0)
    if name.endswith("I"):
        expected = np.diag(np.diag(expected))
    if name.endswith("II"):
        expected = np.eye(4) * np.trace(expected) / 4
    np.testing.assert_allclose(one._params().components.dense[0], expected, rtol=1e-9, atol=1e-10)
    column = GaussianMixture(2, covariance_type=name, random_state=0, tol=1e-9, max_iter=1000).fit(X[:, :1])
    same = GaussianMixture(
        2, covariance_type="tied" if name[0] == "E" else "full", random_state=0, tol=1e-9, max_iter=1000
    )
    assert column.score(X[:, :1]) == pytest.approx(same.fit(X[:, :1]).score(X[:, :1]), abs=1e-6)


@pytest.mark.parametrize("holes", [0.0, 0.3])
@pytest.mark.parametrize("name", STRUCTURED)
def test_an_empty_class_stays_inside_the_structure_and_moves_nothing(name, holes):
    X = with_missing(gaussian_rows(120), holes)
    family, block = GAUSSIANS[name](), Block.of(X)
    resp = np.random.default_rng(0).dirichlet(np.ones(3), 120)
    params = family.start(block, resp)
    for _ in range(3):
        params = family.m_step(family.stats(params, block, resp), params)
    resp[:, 1] = 0.0
    after = family.m_step(family.stats(params, block, resp), params)
    assert_structure(name, after.dense)
    two = family.params(params.mean[[0, 2]], params.covariance[[0, 2]], params.origin, params.scale)
    alone = family.m_step(family.stats(two, block, resp[:, [0, 2]]), two)
    np.testing.assert_allclose(after.covariance[[0, 2]], alone.covariance, rtol=1e-6, atol=1e-8)
    if name[0] == "V":
        np.testing.assert_allclose(parts(after.dense)[0][1], parts(params.dense)[0][1], rtol=0.1)


@pytest.mark.parametrize("name", STRUCTURED)
def test_covariances_stay_above_the_floor_and_the_likelihood_never_falls(name):
    X = gaussian_rows(60)
    X[:12] = X[0]
    X[12:15] = X[12]
    family = GAUSSIANS[name](floor=1e-2)
    model, source = MixtureModel(family, 4), ArraySource(X)
    start = model.init(source.sample(60, np.random.default_rng(0)), np.random.default_rng(0))
    found = fit(model, source, start, max_iter=100, tol=0.0)
    assert np.diff(found.trace.objectives).min() >= -1e-8
    params = found.params.components
    assert_structure(name, params.dense)
    unit = np.sqrt(np.multiply.outer(params.scale, params.scale)) if name != "EII" else params.scale.mean()
    assert np.linalg.eigvalsh(params.dense / unit).min() >= 1e-2 * (1 - 1e-6)


@pytest.mark.parametrize("name", STRUCTURED)
def test_starting_precisions_are_brought_into_the_structure(name):
    X = gaussian_rows()
    family = GAUSSIANS[name]()
    rng = np.random.default_rng(0)
    root = np.eye(4) + 0.3 * rng.normal(size=(2, 4, 4))
    given = root @ root.transpose(0, 2, 1) if family.matrices else rng.uniform(0.5, 2.0, family.shape(2, 4))
    settings = {"weights_init": [0.5, 0.5], "means_init": X[:2], "precisions_init": given, "max_iter": 0}
    started = GaussianMixture(2, covariance_type=name, **settings).fit(X)
    assert_structure(name, started._params().components.dense)
    inside = GaussianMixture(2, covariance_type=name, **{**settings, "precisions_init": started.precisions_}).fit(X)
    np.testing.assert_allclose(inside.covariances_, started.covariances_, rtol=1e-8, atol=1e-9)


def test_wrong_shapes_of_starting_precisions_are_refused():
    X = gaussian_rows()
    with pytest.raises(ValueError, match=r"'VEV precision' should have the shape of \(2, 4, 4\), but got \(2, 4\)"):
        GaussianMixture(2, covariance_type="VEV", precisions_init=np.ones((2, 4))).fit(X)
    with pytest.raises(ValueError, match="'VEI precision' should be positive"):
        GaussianMixture(2, covariance_type="VEI", precisions_init=-np.ones((2, 4))).fit(X)


@pytest.mark.parametrize("name", ["full", "tied", "diag", "spherical"])
def test_collapse_is_what_eigenvalues_say(name):
    """The quick test agrees with all eigenvalues of the classes and of the mixture as a whole."""
    family, rng, said = GAUSSIANS[name](), np.random.default_rng(0), set()
    for _ in range(60):
        k, d = int(rng.integers(1, 4)), int(rng.integers(1, 5))
        scale, mean = rng.uniform(0.5, 2.0, d), rng.normal(size=(k, d)) * rng.integers(0, 2, (1, d))
        variance = rng.choice([1e-7, 1.0], (k, d) if name != "spherical" else (k, 1), p=[0.2, 0.8]) * np.ones((k, d))
        covariance = {
            "full": variance[:, :, None] * np.eye(d), "tied": variance[0] * np.eye(d), "diag": variance,
            "spherical": variance[:, 0],
        }[name]  # fmt: skip
        params, weight = family.params(mean, covariance, mean[0], scale), rng.dirichlet(np.ones(k))
        root, shift = np.sqrt(scale), mean - weight @ mean
        total = np.einsum("k,kij->ij", weight, params.dense) + (shift * weight[:, None]).T @ shift
        narrow, whole = (np.linalg.eigvalsh(each / (root[:, None] * root)).min() for each in (params.dense, total))
        expected = bool(narrow <= 2e-6 < whole)
        assert bool(family.collapsed(params, weight)) == expected
        said.add(expected)
    assert said == {False, True}


def test_wide_rows_are_whitened_as_by_all_their_columns():
    X = np.random.default_rng(0).normal(size=(6, 9))
    weight = np.full(6, 1 / 6)
    X -= weight @ X
    value, vector = np.linalg.eigh((X * weight[:, None]).T @ X)
    kept = value > 1e-10 * value[-1]
    expected = X @ vector[:, kept] / np.sqrt(value[kept])
    found = _whitened_wide(X, weight)
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-8)
    spread, place = _longest(X, weight)
    assert spread == pytest.approx(value[-1])
    axis = X @ vector[:, -1]
    assert abs(np.corrcoef(place, axis)[0, 1]) == pytest.approx(1.0)
