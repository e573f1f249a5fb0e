"""`Orthant`: limited-memory BFGS for f(x) − c ‖x‖₁, which has no gradient where an entry of x is 0.

    direction:  d = H ∇,  ∇ the steepest slope of f − c ‖·‖₁ to either side of 0, entries of d that point against ∇ being 0
    step:       x' = π(x + t d),  π making entries 0 that left the orthant of x (of ∇ where x is 0)

H is made of the last few changes of x and of the slope of f. With c = 0 this is plain L-BFGS.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import daxpy, ddot

from ..notes import Note

__all__ = ["Orthant"]

ENOUGH, STEEP = 1e-4, 0.9


@dataclass(frozen=True)
class Orthant:
    """How `climb` goes up an objective with a penalty c ‖x‖₁, when given as its `method`.

    Parameters
    ----------
    penalty : float or ndarray
        c per unit of weight, one for all or one for each entry of x. The objective that the model tells includes it, its
        gradient does not.
    memories : int
        How many changes H is made of.
    epsilon : float
        The fit has settled when ‖∇‖ is at most this times the larger of 1 and ‖x‖, for all rows together.
    period, delta : int, float
        It has also settled when the last `period` steps improved the objective by less than `delta` of itself; 0 steps never ask.
    max_search : int
        Most evaluations to find a step.
    strong : bool
        Whether a step must flatten the slope in either direction (strong Wolfe conditions); without a penalty only.
    """

    penalty: float | np.ndarray = 0.0
    memories: int = 6
    epsilon: float = 1e-5
    period: int = 10
    delta: float = 1e-5
    max_search: int = 20
    strong: bool = True

    @property
    def _penalised(self) -> bool:
        return bool(np.any(self.penalty))

    def __call__(
        self, evaluate: Callable, x: np.ndarray, max_iter: int, told: Callable, weight: Callable[[], float]
    ) -> tuple[np.ndarray, Note]:
        """Where it leads from x, and why it ended.

        Parameters
        ----------
        evaluate : callable
            Value and slope of the objective per unit of weight; they are turned over here, so that a loss is made small.
        x : ndarray
        max_iter : int
            Most steps.
        told : callable
            Is called with every point that is reached.
        weight : callable
            The weight of all rows, once they were gone over.
        """
        pairs: deque[tuple] = deque(maxlen=self.memories)
        loss, slope = self._loss(evaluate, x)
        losses = [loss]
        for step in range(max_iter):
            steepest = self._steepest(x, slope)
            flat = float(np.linalg.norm(steepest)) * weight() / max(1.0, float(np.linalg.norm(x)))
            if flat <= self.epsilon:
                return x, Note("gradient", "the gradient fell below epsilon={epsilon:g}", epsilon=self.epsilon)
            if self.period and step >= self.period and _gained(losses[-1 - self.period], loss) < self.delta:
                return x, Note(
                    "period", "{period} steps improved the objective by less than delta={delta:g} of itself",
                    period=self.period, delta=self.delta,
                )  # fmt: skip
            way = _newton(pairs, steepest)
            if self._penalised:
                way[way * steepest >= 0.0] = 0.0
            found = self._search(evaluate, x, loss, slope, steepest, way, 1.0 if pairs else _unit(steepest))
            if found is None and pairs:  # the memory may be at fault
                pairs.clear()
                found = self._search(evaluate, x, loss, slope, steepest, -steepest, _unit(steepest))
            if found is None:
                return x, Note("no_better", "no step improves any more, at a gradient of {gradient:.3g}", gradient=flat)
            new, loss, steeper = found
            change, turn = new - x, steeper - slope
            if ddot(change, turn) > 1e-10 * ddot(turn, turn):
                pairs.append((change, turn, 1.0 / ddot(change, turn)))
            x, slope = new, steeper
            losses.append(loss)
            told(x)
        return x, Note("max_iter", "max_iter={max_iter} steps were taken", max_iter=max_iter)

    def _loss(self, evaluate: Callable, x: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope, _ = evaluate(x)
        return -value, -slope

    def _steepest(self, x: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """The slope of the loss with the penalty; where x is 0, that of the side on which it falls, or 0."""
        if not self._penalised:
            return slope
        up, down = slope + self.penalty, slope - self.penalty
        at_zero = np.where(up < 0.0, up, np.where(down > 0.0, down, 0.0))
        return np.where(x > 0.0, up, np.where(x < 0.0, down, at_zero))

    def _search(
        self, evaluate: Callable, x: np.ndarray, loss: float, slope: np.ndarray, steepest: np.ndarray, way: np.ndarray, t: float
    ) -> tuple[np.ndarray, float, np.ndarray] | None:  # fmt: skip
        """A step along `way` that improves enough, with the loss and slope there; None where there is none.

        Without a penalty the step must also be long enough that the slope has flattened; lengths are found by bisection.
        """
        down, low, high = ddot(steepest, way), 0.0, np.inf
        if not down < 0.0:
            return None
        # An entry without a penalty may go through 0.
        orthant = np.where(x != 0.0, np.sign(x), -np.sign(steepest)) * (self.penalty > 0) if self._penalised else None
        best = None
        for _ in range(self.max_search):
            new = x + t * way
            gain = t * down
            if orthant is not None:
                new[(new * orthant <= 0.0) & (self.penalty > 0)] = 0.0
                gain = ddot(steepest, new - x)
            value, steeper = self._loss(evaluate, new)
            along = ddot(steeper, way)
            beyond = self.strong and not self._penalised and along > -STEEP * down
            if beyond or not value < loss or not value <= loss + ENOUGH * gain:
                best = (new, value, steeper) if value < loss + ENOUGH * gain else best
                high = t
            elif self._penalised or along >= STEEP * down:
                return new, value, steeper
            else:
                best, low = (new, value, steeper), t
            t = 0.5 * (low + high) if high < np.inf else 2.0 * t
        return best


def _gained(before: float, now: float) -> float:
    """What was gained, as a share of what is left."""
    return (before - now) / max(abs(now), np.finfo(float).tiny)


def _unit(steepest: np.ndarray) -> float:
    """Length of a first step, which moves by 1."""
    return 1.0 / max(float(np.linalg.norm(steepest)), np.finfo(float).tiny)


def _newton(pairs: deque, steepest: np.ndarray) -> np.ndarray:
    """−H ∇, by two loops over the changes that were kept."""
    way, shares = -steepest, []
    for change, turn, inverse in reversed(pairs):
        shares.append(inverse * ddot(change, way))
        way = daxpy(turn, way, a=-shares[-1])
    if pairs:
        change, turn, inverse = pairs[-1]
        way *= 1.0 / (inverse * ddot(turn, turn))
    for (change, turn, inverse), share in zip(pairs, reversed(shares)):
        way = daxpy(change, way, a=share - inverse * ddot(turn, way))
    return way
