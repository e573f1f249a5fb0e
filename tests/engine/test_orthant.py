"""`Orthant`: the maximum with absolute values taken off, whichever way it searches; why it ends; what it refuses."""

import numpy as np
import pytest
from scipy.optimize import minimize

from tacit.engine import Constraint, Orthant, climb
from tacit.source import ArraySource

from .test_climb import Coefficients, Logistic, rows


class Sparse(Logistic):
    """As the other, less c ‖β‖₁, of which the slope does not tell."""

    def __init__(self, c):
        super().__init__(0.1)
        self.c = c

    def log_prior(self, params):
        return super().log_prior(params) - self.c * float(np.abs(params.value).sum())


def learned(c, start=None, **settings):
    X, y = rows()
    method = Orthant(c / len(X), **{"epsilon": 1e-9, "period": 0} | settings)
    return climb(Sparse(c), ArraySource(X, targets=y, block_rows=50), start or Coefficients(np.zeros(4)), method=method)


def best(c):
    """By SciPy, of halves that are not negative, for which absolute values are sums."""
    X, y = rows()
    sign = 2.0 * y[:, 0] - 1.0

    def loss(halves):
        beta = halves[:4] - halves[4:]
        return np.logaddexp(0.0, -sign * (X @ beta)).sum() + 0.05 * beta @ beta + c * halves.sum()

    return minimize(
        loss, np.full(8, 0.1), bounds=[(0, None)] * 8, options={"ftol": 1e-15, "gtol": 1e-10, "maxfun": 10**5}
    )


@pytest.mark.parametrize("c", [0.0, 3.0, 40.0])
@pytest.mark.parametrize("strong", [True, False])
def test_the_maximum(c, strong):
    found = learned(c, strong=strong)
    assert (np.diff(found.trace.objectives) >= 0).all()
    expected = best(c)
    np.testing.assert_allclose(found.trace.objectives[-1], -expected.fun, rtol=1e-9)
    np.testing.assert_allclose(found.params.value, expected.x[:4] - expected.x[4:], atol=1e-4)
    if c:
        assert (found.params.value == 0.0).any()


def test_so_large_a_penalty_that_nothing_is_left():
    found = learned(1e4)
    assert found.reason.code == "gradient"
    assert not found.params.value.any()
    away = learned(1e4, Coefficients(np.array([1.0, -2.0, 0.5, 0.1])))
    assert not away.params.value.any()


def test_reasons():
    assert str(learned(0.0, epsilon=0.1).reason) == "the gradient fell below epsilon=0.1"
    found = learned(1.0, period=3, delta=0.01, epsilon=0.0)
    assert str(found.reason) == "3 steps improved the objective by less than delta=0.01 of itself"
    assert found.converged
    exact = learned(1.0, epsilon=0.0)
    assert exact.reason.code == "no_better"
    X, y = rows()
    short = climb(Sparse(0.0), ArraySource(X, targets=y), Coefficients(np.zeros(4)), method=Orthant(), max_iter=2)
    assert str(short.reason) == "max_iter=2 steps were taken"
    assert not short.converged


def test_constraints_are_refused():
    X, y = rows()
    told = Constraint(lambda params: params.value[:1], lambda params: np.eye(4)[:1])
    with pytest.raises(ValueError, match=r"an Orthant meets no constraints; use method='lbfgs'\."):
        climb(Logistic(), ArraySource(X, targets=y), Coefficients(np.zeros(4)), method=Orthant(), constraints=[told])
