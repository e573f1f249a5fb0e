"""`Newton`: Newton's method for concave f(x) − Σ_j c_j |x_j|, by the quadratic that touches f.

direction:  d = argmax_d ∇f·d − ½ dᵀ A d − Σ_j c_j |x_j + d_j|,    A = −∇²f        (d = A⁻¹ ∇f where c = 0)
step:       x' = x + t d, t halved until the objective rises as the direction promises
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq

from ..kernels import lazy
from ..notes import Note

__all__ = ["Newton", "solve_definite"]

ENOUGH, HALVINGS = 1e-4, 40
DEPENDENT = 1e-12  # share of the largest curvature below which there is none

descent = lazy("descent")


@dataclass(frozen=True)
class Newton:
    """How `climb` goes up a concave objective, when given as its `method`.

    Parameters
    ----------
    penalty : float or ndarray
        c per unit of weight, one for all or one for each entry of x. The objective that the model tells includes it, its
        gradient does not.
    epsilon : float
        The fit has settled when no entry of the steepest slope, per unit of weight, is larger, and when what the next step
        gains, for all rows together, is at most the square of it.
    """

    penalty: float | np.ndarray = 0.0
    epsilon: float = 1e-6

    def __call__(
        self, evaluate: Callable, x: np.ndarray, max_iter: int, told: Callable, weight: Callable[[], float]
    ) -> tuple[np.ndarray, Note]:
        """Where it leads from x, and why it ended; see `Orthant`."""
        value, slope, curvature = evaluate(x)
        for _ in range(max_iter):
            steepest = float(np.abs(self._steepest(x, slope)).max(initial=0.0))
            way = self._direction(x, slope, -curvature)
            gain = float(slope @ way) - self._more(x, way)
            if steepest <= self.epsilon and gain * weight() <= self.epsilon**2:
                return x, Note("gradient", "the gradient fell below tol={tol:g}", tol=self.epsilon)
            found = self._search(evaluate, x, value, way, gain)
            if found is None:
                return x, Note(
                    "no_better", "no step improves any more, at a gradient of {gradient:.3g}", gradient=steepest
                )
            x, (value, slope, curvature) = found
            told(x)
        if float(np.abs(self._steepest(x, slope)).max(initial=0.0)) <= self.epsilon:
            return x, Note("gradient", "the gradient fell below tol={tol:g}", tol=self.epsilon)
        return x, Note("max_iter", "max_iter={max_iter} steps were taken", max_iter=max_iter)

    def _steepest(self, x: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """The slope with the penalty; where x is 0, what the penalty does not hold."""
        held = np.sign(slope) * np.maximum(np.abs(slope) - self.penalty, 0.0)
        return np.where(x == 0.0, held, slope - self.penalty * np.sign(x))

    def _direction(self, x: np.ndarray, slope: np.ndarray, A: np.ndarray) -> np.ndarray:
        """Where the quadratic is largest."""
        if not np.any(self.penalty):
            return solve_definite(A, slope)
        A = A + DEPENDENT * max(float(A.diagonal().max(initial=0.0)), 1e-300) * np.eye(len(A))
        c = np.broadcast_to(self.penalty, x.shape)
        held, free = np.flatnonzero(c > 0), np.flatnonzero(c == 0)
        # Entries without a penalty follow the others, so that columns far from 0 do not hinder one another.
        follow = np.linalg.solve(A[np.ix_(free, free)], np.column_stack([A[np.ix_(free, held)], slope[free]]))
        inner = A[np.ix_(held, held)] - A[np.ix_(held, free)] @ follow[:, :-1]
        way = np.empty_like(x)
        way[held] = descent.shrunken_step(
            np.ascontiguousarray(inner), slope[held] - A[np.ix_(held, free)] @ follow[:, -1], x[held], c[held] * 1.0
        )
        way[free] = follow[:, -1] - follow[:, :-1] @ way[held]
        return way

    def _more(self, x: np.ndarray, way: np.ndarray) -> float:
        """By how much the penalty grows along the way."""
        return float((self.penalty * (np.abs(x + way) - np.abs(x))).sum()) if np.any(self.penalty) else 0.0

    def _search(
        self, evaluate: Callable, x: np.ndarray, value: float, way: np.ndarray, gain: float
    ) -> tuple[np.ndarray, tuple] | None:
        """The first of steps 1, ½, ¼ … that gains enough, and what the objective is there."""
        if not gain > 0.0:
            return None
        t = 1.0
        for _ in range(HALVINGS):
            found = evaluate(x + t * way)
            if found[0] > value and found[0] >= value + ENOUGH * t * gain:
                return x + t * way, found
            t *= 0.5
            if t * gain < np.finfo(float).eps * abs(value):
                return None
        return None


def solve_definite(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A⁻¹ b; the shortest solution where A is singular.

    Parameters
    ----------
    A : (p, p) array
        Symmetric, with no negative eigenvalue.
    b : (p,) array
    """
    scale = np.sqrt(np.maximum(A.diagonal(), 0.0))
    scale[scale == 0.0] = 1.0
    unit = A / np.outer(scale, scale)
    try:
        factor = cho_factor(unit, check_finite=False)
        if factor[0].diagonal().min(initial=1.0) ** 2 > DEPENDENT:
            return cho_solve(factor, b / scale, check_finite=False) / scale
    except LinAlgError:
        pass
    return lstsq(unit, b / scale, cond=DEPENDENT, check_finite=False)[0] / scale
