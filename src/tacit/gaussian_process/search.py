"""Hyperparameters that maximise a marginal likelihood, from one start or several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.utils.optimize import _check_optimize_result

from ..checks import check_choice

__all__ = ["best_of", "check_optimizer"]


def check_optimizer(optimizer: Any) -> None:
    """Raise where a setting is no optimiser."""
    if optimizer is not None and not callable(optimizer):
        check_choice("optimizer", optimizer, ("fmin_l_bfgs_b",))


def best_of(
    objective: Callable, start: np.ndarray, bounds: np.ndarray, optimizer: Any, n_restarts: int, rng: Any
) -> tuple[np.ndarray, float]:
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
    """
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
