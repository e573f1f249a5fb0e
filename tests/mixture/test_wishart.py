"""Beliefs about precisions, against draws from SciPy's Wishart distribution."""

import numpy as np
import pytest
from scipy.stats import wishart

from tacit.families import GAUSSIANS
from tacit.mixture.wishart import SHAPES, expected_log_det, wishart_divergence


def test_expected_log_determinant():
    degrees, scale = np.array([5.5]), np.array([[2.0, 0.3], [0.3, 1.0]])
    draws = wishart(degrees[0], scale).rvs(100_000, random_state=0)
    expected = np.linalg.slogdet(draws)[1].mean() - np.linalg.slogdet(degrees[0] * scale)[1]
    assert expected_log_det(degrees, 2)[0] == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_divergence_is_the_mean_log_ratio(kind):
    rng, n_classes, d = np.random.default_rng(0), 3, 2
    family, root = GAUSSIANS[kind](), rng.normal(size=(n_classes, d, d))
    dense = root @ root.transpose(0, 2, 1) + np.eye(d)
    covariance = {"full": dense, "tied": dense[0], "diag": dense[:, [0, 1], [0, 1]], "spherical": dense[:, 0, 0]}[kind]
    prior = {"full": dense[1], "tied": dense[1], "diag": np.array([1.0, 2.0]), "spherical": np.array(1.5)}[kind]
    components = family.params(rng.normal(size=(n_classes, d)), covariance, np.zeros(d), np.ones(d))
    shape, degrees = SHAPES[type(family)], np.full(n_classes, 7.0)
    found = wishart_divergence(
        degrees, shape.log_det(components), shape.trace(prior, components), 3.5, shape.prior_log_det(prior, d), d
    )
    prior_matrix = np.broadcast_to(prior, (d, d)) if kind in ("full", "tied") else prior * np.eye(d)
    before = wishart(3.5, np.linalg.inv(prior_matrix))
    for k in range(n_classes):
        after = wishart(7.0, np.linalg.inv(7.0 * components.dense[k]))
        ratio = [after.logpdf(draw) - before.logpdf(draw) for draw in after.rvs(3000, random_state=k)]
        assert abs(np.mean(ratio) - found[k]) < 5 * np.std(ratio) / np.sqrt(3000)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_shapes_measure_as_dense_matrices_do(kind):
    rng, n_classes, d = np.random.default_rng(1), 3, 4
    family, root = GAUSSIANS[kind](), rng.normal(size=(n_classes, d, d))
    dense = root @ root.transpose(0, 2, 1) + np.eye(d)
    variance = np.diagonal(dense, axis1=1, axis2=2)
    covariance = {"full": dense, "tied": dense[0], "diag": variance, "spherical": variance[:, 0]}[kind]
    components = family.params(np.zeros((n_classes, d)), covariance, np.zeros(d), np.ones(d))
    shape, x, weight = SHAPES[type(family)], rng.normal(size=(n_classes, d)), rng.uniform(1, 2, n_classes)
    precision = np.linalg.inv(components.dense)
    np.testing.assert_allclose(shape.distance(x, components), np.einsum("ki,kij,kj->k", x, precision, x))
    np.testing.assert_allclose(np.broadcast_to(shape.log_det(components), 3), np.linalg.slogdet(components.dense)[1])
    outer = np.einsum("k,ki,kj->kij", weight, x, x)
    diagonal = np.diagonal(outer, axis1=1, axis2=2)
    views = {"full": outer, "tied": outer.mean(axis=0), "diag": diagonal, "spherical": diagonal.mean(axis=1)}
    np.testing.assert_allclose(shape.square(weight, x), views[kind])
