"""`Problem` and `Solution`: the one quadratic programme behind all support vector machines.

max bᵀβ − ε‖β‖₁ − ½ βᵀKβ  where  l ≤ β ≤ h and Σβ is given,    F = b − Kβ

A machine's decision function is f(x) = Σ β_i k(x_i, x) + level: the level is the slope F ∓ ε of the coordinates that are free.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Problem", "Solution"]


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be solved; β = `positive` + `negative`, the first not below 0 and the second not above.

    Attributes
    ----------
    linear : ndarray of shape (n,)
        b.
    high, low : ndarray of shape (n,)
        h ≥ 0 and l ≤ 0.
    tube : float
        ε.
    grouped : bool
        Whether the sums of the positive and the negative parts are held apart, as ν-machines ask.
    positive, negative : ndarray of shape (n,)
        Where to start.
    """

    linear: np.ndarray
    high: np.ndarray
    low: np.ndarray
    positive: np.ndarray
    negative: np.ndarray
    tube: float = 0.0
    grouped: bool = False


@dataclass(frozen=True, eq=False)
class Solution:
    """What the solver found.

    Attributes
    ----------
    problem : Problem
    positive, negative, force : ndarray of shape (n,)
        The parts of β, and F.
    gap : float
        By how much the optimality conditions are violated: the largest slope between two coordinates.
    n_iter : int
        Steps.
    converged : bool
    """

    problem: Problem
    positive: np.ndarray
    negative: np.ndarray
    force: np.ndarray
    gap: float
    n_iter: int
    converged: bool

    @property
    def beta(self) -> np.ndarray:
        return self.positive + self.negative

    @property
    def square(self) -> float:
        """‖w‖² = βᵀKβ."""
        return max(float(self.beta @ (self.problem.linear - self.force)), 0.0)

    @property
    def objective(self) -> float:
        """The dual objective, which is maximised."""
        paid = self.problem.tube * float(self.positive.sum() - self.negative.sum())
        return float(self.beta @ self.problem.linear) - paid - 0.5 * self.square

    @property
    def level(self) -> float:
        """The constant of the decision function."""
        tube, problem = self.problem.tube, self.problem
        free = ((self.positive > 0) & (self.positive < problem.high)) | (
            (self.negative < 0) & (self.negative > problem.low)
        )
        if free.any():
            shift = np.where(self.positive > 0, -tube, tube) if tube else 0.0
            return float((self.force + shift)[free].mean())
        up = self._slopes(self.positive < problem.high, -tube), self._slopes(self.negative < 0, tube)
        down = self._slopes(self.positive > 0, -tube), self._slopes(self.negative > problem.low, tube)
        p, q = problem.high > 0, problem.low < 0
        return _level(np.concatenate([up[0][p], up[1][q]]), np.concatenate([down[0][p], down[1][q]]))

    def levels(self) -> tuple[float, float]:
        """The slopes of the free coordinates of the positive parts and of the negative parts."""
        problem = self.problem
        p, q = problem.high > 0, problem.low < 0
        above = _level(self._slopes(self.positive < problem.high)[p], self._slopes(self.positive > 0)[p])
        below = _level(self._slopes(self.negative < 0)[q], self._slopes(self.negative > problem.low)[q])
        return above, below

    def _slopes(self, movable: np.ndarray, shift: float = 0.0) -> np.ndarray:
        """F + shift where a coordinate can move, NaN elsewhere."""
        return np.where(movable, self.force + shift, np.nan)


def _level(up: np.ndarray, down: np.ndarray) -> float:
    """The mean slope of coordinates that can move both ways; without any, the middle between the steepest of each kind."""
    free = up[~np.isnan(up) & ~np.isnan(down)]
    if len(free):
        return float(free.mean())
    ends = [np.nanmax(up, initial=-np.inf), np.nanmin(down, initial=np.inf)]
    ends = [end for end in ends if np.isfinite(end)]
    return float(np.mean(ends)) if ends else 0.0
