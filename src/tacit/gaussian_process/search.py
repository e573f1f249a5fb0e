"""Hyperparameters that maximise a marginal likelihood, from one start or several.

Of many rows, some are enough to come near: what they say best, with the curvature there, is where all rows go on from by a few
steps of Newton's method, whose curvature is brought up to date by every step (BFGS).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.utils.optimize import _check_optimize_result

from ..checks import check_choice

__all__ = ["best_of", "check_optimizer", "sampled"]

MANY, LEAST, SHARE = 1000, 300, 6  # rows from which a sample comes first, of so many rows at least, and one in so many
STEP, FURTHEST, STEPS = 1e-4, 2.0, 25
SETTLED = 1e-9  # what a step may still gain, as a share of the value; L-BFGS stops at twice that


def check_optimizer(optimizer: Any) -> None:
    """Raise where a setting is no optimiser."""
    if optimizer is not None and not callable(optimizer):
        check_choice("optimizer", optimizer, ("fmin_l_bfgs_b",))


def best_of(
    objective: Callable, start: np.ndarray, bounds: np.ndarray, optimizer: Any, n_restarts: int, rng: Any,
    sample: tuple[Callable, float] | None = None,
) -> tuple[np.ndarray, float]:  # fmt: skip
    """The best θ found and its value, of runs from a start and from places drawn evenly within the bounds.

    Parameters
    ----------
    objective : callable
        Given θ and whether a gradient is wanted, the value to be minimised, and its gradient.
    start, bounds : (p,) and (p, 2) arrays
        Logarithms.
    optimizer : "fmin_l_bfgs_b" or callable
        A callable is given `objective`, a start and the bounds, and returns θ and its value.
    n_restarts : int
        Runs beside the first.
    rng : RandomState
    sample : (callable, float), optional
        The objective of a sample of the rows, and how many times as many there are; see `sampled`. Starts are compared by it.
    """
    if sample is not None and optimizer == "fmin_l_bfgs_b":
        fewer, times = sample
        near, value = best_of(fewer, start, bounds, optimizer, n_restarts, rng)
        if np.isfinite(value):
            reached = _finished(objective, near, bounds, times * _curvature(fewer, near, bounds))
            if reached is not None:
                return reached
    if n_restarts and not np.isfinite(bounds).all():
        raise ValueError(
            "Multiple optimizer restarts (n_restarts_optimizer>0) requires that all bounds are finite; give the kernel finite "
            "bounds, or n_restarts_optimizer=0."
        )
    starts = [start, *(rng.uniform(bounds[:, 0], bounds[:, 1]) for _ in range(n_restarts))]
    found = [_run(objective, each, bounds, optimizer) for each in starts]
    return min(found, key=lambda each: each[1])


def _run(objective: Callable, start: np.ndarray, bounds: np.ndarray, optimizer: Any) -> tuple[np.ndarray, float]:
    if callable(optimizer):
        return optimizer(objective, start, bounds=bounds)
    found = minimize(objective, start, method="L-BFGS-B", jac=True, bounds=bounds)
    _check_optimize_result("lbfgs", found)
    return found.x, float(found.fun)


def sampled(n_rows: int) -> np.ndarray | None:
    """Numbers of rows that come near the best hyperparameters at next to no cost; None where all rows are few."""
    if n_rows < MANY:
        return None
    return np.sort(np.random.default_rng(0).choice(n_rows, max(LEAST, n_rows // SHARE), replace=False))


def _curvature(objective: Callable, theta: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Second derivatives, by differences, made positive definite."""
    low, high = bounds.T
    rows = []
    for axis in np.eye(len(theta)):
        ends = [np.clip(theta + sign * STEP * axis, low, high) for sign in (1.0, -1.0)]
        (_, up), (_, down) = (objective(end) for end in ends)
        rows.append((up - down) / max(float((ends[0] - ends[1]) @ axis), 1e-300))
    values, vectors = np.linalg.eigh(0.5 * (np.array(rows) + np.array(rows).T))
    return (vectors * np.maximum(np.abs(values), 1e-3 * np.abs(values).max(initial=1e-300))) @ vectors.T


def _finished(
    objective: Callable, theta: np.ndarray, bounds: np.ndarray, curvature: np.ndarray
) -> tuple[np.ndarray, float] | None:
    """The minimum within bounds from a place near it, by steps with curvature; None where they lead nowhere."""
    low, high = bounds.T
    value, slope = objective(theta)
    for _ in range(STEPS):
        if not np.isfinite(value):
            return None
        free = ~(((theta <= low + 1e-8) & (slope > 0)) | ((theta >= high - 1e-8) & (slope < 0)))
        way = np.zeros(len(theta))
        way[free] = -np.linalg.solve(curvature[np.ix_(free, free)], slope[free])
        if -0.5 * float(slope @ way) <= SETTLED * max(abs(value), 1.0):
            return theta, float(value)
        share = min(1.0, FURTHEST / np.abs(way).max())
        while True:
            ahead = np.clip(theta + share * way, low, high)
            new, steep = objective(ahead)
            if new <= value + 1e-4 * float(slope @ (ahead - theta)):
                break
            share *= 0.25
            if share < 1e-4:
                return None
        moved, bent = ahead - theta, steep - slope
        along = curvature @ moved
        if moved @ bent > 1e-8 * float(np.sqrt((moved @ moved) * (bent @ bent))):
            curvature = curvature - np.outer(along, along) / (moved @ along) + np.outer(bent, bent) / (moved @ bent)
        theta, value, slope = ahead, new, steep
    return None
