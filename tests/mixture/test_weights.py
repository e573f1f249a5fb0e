"""Beliefs about class weights, against SciPy and numerical integrals."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, dirichlet

from tacit.mixture.weights import Dirichlet, Sticks


def test_sizes_add_to_the_concentration():
    np.testing.assert_array_equal(Dirichlet(np.array([1.0, 2.0])).after(np.array([3.0, 5.0])).concentration, [4.0, 7.0])
    sticks = Sticks(np.ones(3), np.full(3, 0.5)).after(np.array([4.0, 2.0, 1.0]))
    np.testing.assert_array_equal(sticks.taken, [5.0, 3.0, 2.0])
    np.testing.assert_array_equal(sticks.left, [3.5, 1.5, 0.5])


def test_expectations_of_a_dirichlet():
    belief = Dirichlet(np.array([0.7, 2.0, 5.0]))
    draws = np.random.default_rng(0).dirichlet(belief.concentration, 200_000)
    np.testing.assert_allclose(belief.expected, dirichlet.mean(belief.concentration))
    np.testing.assert_allclose(belief.expected_log, np.log(draws).mean(axis=0), atol=0.02)


def test_expectations_of_sticks():
    belief, rng = Sticks(np.array([3.0, 2.0, 1.5]), np.array([4.0, 1.0, 0.8])), np.random.default_rng(0)
    share = rng.beta(belief.taken, belief.left, size=(200_000, 3))
    weight = share * np.cumprod(np.column_stack([np.ones(len(share)), 1 - share[:, :-1]]), axis=1)
    mean = weight.mean(axis=0)
    np.testing.assert_allclose(belief.expected, mean / mean.sum(), atol=2e-3)
    np.testing.assert_allclose(belief.expected_log, np.log(weight).mean(axis=0), atol=0.02)
    assert belief.expected.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(("new", "old"), [((2.0, 3.5), (1.0, 0.4)), ((1.0, 9.0), (1.0, 2.0))])
def test_divergence_is_the_integral(new, old):
    q, p = beta(*new), beta(*old)
    expected = quad(lambda v: q.pdf(v) * (q.logpdf(v) - p.logpdf(v)), 0, 1)[0]
    assert Dirichlet(np.array(new)).divergence(Dirichlet(np.array(old))) == pytest.approx(expected, rel=1e-6)
    one, other = (Sticks(np.array([a, a]), np.array([b, b])) for a, b in (new, old))
    assert one.divergence(other) == pytest.approx(2 * expected, rel=1e-6)
    assert one.divergence(one) == 0.0
