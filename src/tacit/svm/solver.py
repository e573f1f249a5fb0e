"""`solve`: sequential minimal optimisation on the coordinates that move, checked on all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..kernels import lazy
from .gram import Gram
from .problem import Problem, Solution

__all__ = ["UnboundedError", "solve"]

smo = lazy("smo")

ROUND = 200_000  # steps between looks at whether the user, or a check, ends the search
LEAST = 2000  # rows from which it pays to leave out coordinates that rest
MOST = 10_000_000  # steps, or 100 a row, after which a search without limit ends


class UnboundedError(ValueError):
    """The objective has no maximum along the line between two rows, `pair`."""

    def __init__(self, pair: tuple[int, int]) -> None:
        super().__init__("the dual objective has no maximum")
        self.pair = pair


def solve(
    problem: Problem, gram: Gram, tol: float, max_iter: int = -1, shrinking: bool = True,
    check: Callable[[int], None] | None = None,
) -> Solution:  # fmt: skip
    """Solve a problem.

    Parameters
    ----------
    problem : Problem
    gram : Gram
        Rows of K; its memory is used up.
    tol : float
        The gap below which a solution is one.
    max_iter : int
        Most steps; −1 for no limit but one that no sound problem meets.
    shrinking : bool
        Whether coordinates that rest at an end are left out for a while.
    check : callable, optional
        Called with the number of steps every so many of them; it may raise.
    """
    n = len(problem.linear)
    limit = max(MOST, 100 * n) if max_iter < 0 else max_iter
    shrinking = shrinking and gram.shrinks and n >= LEAST
    positive, negative = problem.positive.copy(), problem.negative.copy()
    beta = positive + negative
    force = problem.linear - gram.product(beta) if beta.any() else problem.linear.copy()
    tube = np.zeros(2) if problem.grouped else np.array([problem.tube])
    active, part, n_iter = np.arange(n), gram, 0
    while True:
        state = positive[active], negative[active], force[active]
        rests = np.zeros(len(active), dtype=bool)
        status, steps, gap, i, j = smo.smo(
            *part.arguments(), tube, problem.high[active], problem.low[active], tol,
            min(ROUND, limit - n_iter), shrinking, *state, rests,
        )  # fmt: skip
        positive[active], negative[active], force[active] = state
        n_iter += int(steps)
        if status == smo.UNBOUNDED:
            raise UnboundedError((int(active[i]), int(active[j])))
        if status == smo.SHRINKS:
            kept = np.flatnonzero(~rests)
            active, part = active[kept], part.compacted(kept)
            continue
        if status == smo.STOPPED and n_iter < limit:
            if check is not None:
                check(n_iter)
            continue
        if len(active) < n:
            rest = np.setdiff1d(np.arange(n), active)
            force[rest] = problem.linear[rest] - gram.product(positive + negative, rest)
            gap, moving = _violators(problem, positive, negative, force, tol)
            if status == smo.CONVERGED and len(moving := np.union1d(active, moving)) > len(active):
                active, part = moving, gram.renewed(moving)
                continue
        return Solution(problem, positive, negative, force, float(gap), n_iter, status == smo.CONVERGED)


def _violators(
    problem: Problem, positive: np.ndarray, negative: np.ndarray, force: np.ndarray, tol: float
) -> tuple[float, np.ndarray]:
    """The gap over all coordinates, and those of which a slope is beyond the others by `tol`."""
    up = np.where(positive < problem.high, force - problem.tube, -np.inf)
    down = np.where(negative > problem.low, force + problem.tube, np.inf)
    back, forth = (
        np.where(negative < 0, force + problem.tube, -np.inf),
        np.where(positive > 0, force - problem.tube, np.inf),
    )
    groups = [(up, forth), (back, down)] if problem.grouped else [(np.maximum(up, back), np.minimum(down, forth))]
    gap = max(float(rise.max() - fall.min()) for rise, fall in groups)
    moving = [np.flatnonzero((rise > fall.min() + tol) | (fall < rise.max() - tol)) for rise, fall in groups]
    return gap, np.concatenate(moving)
