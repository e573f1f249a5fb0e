"""`Newton`: few steps to the maximum, with and without absolute values taken off; singular curvature; what it refuses."""

import numpy as np
import pytest

from tacit.engine import Constraint, Newton, Orthant, climb
from tacit.engine.newton import solve_definite
from tacit.source import ArraySource

from .test_climb import Coefficients, rows
from .test_orthant import Sparse


def learned(c, method, **settings):
    X, y = rows()
    return climb(
        Sparse(c), ArraySource(X, targets=y, block_rows=50), Coefficients(np.zeros(4)), method=method, **settings
    )


@pytest.mark.parametrize("c", [0.0, 3.0, 40.0, 1e4])
def test_the_maximum(c):
    each = c / len(rows()[0])
    found, other = learned(c, Newton(each, 1e-10)), learned(c, Orthant(each, epsilon=1e-10, period=0))
    assert (np.diff(found.trace.objectives) > 0).all()
    assert found.reason.code in ("gradient", "no_better")
    assert len(found.trace.objectives) < 12
    np.testing.assert_allclose(found.params.value, other.params.value, atol=1e-6)
    assert ((found.params.value == 0.0) == (other.params.value == 0.0)).all()


def test_steps_run_out():
    assert learned(0.0, Newton(epsilon=1e-10), max_iter=1).reason.code == "max_iter"


def test_the_shortest_solution_where_there_are_many():
    A, b = np.diag([4.0, 0.0, 1.0]) + np.outer([0, 0, 1.0], [0, 0, 1.0]), np.array([2.0, 0.0, 6.0])
    np.testing.assert_allclose(solve_definite(A, b), [0.5, 0.0, 3.0], atol=1e-12)
    twice = np.ones((2, 2))
    np.testing.assert_allclose(solve_definite(twice, np.array([2.0, 2.0])), [1.0, 1.0], atol=1e-12)


def test_constraints_are_refused():
    constraint = Constraint(lambda params: params.value[:1], lambda params: np.eye(4)[:1])
    with pytest.raises(ValueError, match=r"a Newton meets no constraints; use method='lbfgs'\."):
        learned(0.0, Newton(), constraints=[constraint])
