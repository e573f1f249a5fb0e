"""Quantiles that a further value, exchangeable with those at hand, does not exceed with a probability that is exact for any n.

P(s_{n+1} ≤ s_(⌈level (n + 1)⌉)) ≥ level,  infinite where ⌈level (n + 1)⌉ > n;  weighted: the least s with
Σ_{s_i ≤ s} w_i ≥ level (Σ w_i + w_{n+1})

References
----------
Vovk, Gammerman and Shafer (2005), Algorithmic learning in a random world.
Tibshirani, Barber, Candès and Ramdas (2019), Conformal prediction under covariate shift, NeurIPS 32.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..frames import package
from .scoring import check_level

__all__ = ["Grouping", "fewest", "finite_quantile", "limits", "rank_of", "warn_of_few", "weighted_quantile"]

SLACK = 1e-9
"""What products of levels and counts may be off by rounding."""


def rank_of(n: int, level: float) -> int:
    """Which of n ordered values a further one does not exceed with a probability of `level`; n + 1 where none does."""
    return math.ceil(level * (n + 1) - SLACK)


def fewest(level: float) -> int:
    """The fewest values of which one does."""
    return math.ceil(level / (1.0 - level) - SLACK)


def finite_quantile(values: np.ndarray, level: float) -> float:
    """The value of that rank; infinite where there are too few."""
    rank = rank_of(len(values), level)
    return float(np.partition(values, rank - 1)[rank - 1]) if rank <= len(values) else float("inf")


def weighted_quantile(values: np.ndarray, weight: np.ndarray, own: np.ndarray, level: float) -> np.ndarray:
    """The same for values of which some count more, and further ones of weights `own`; one for each of these."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weight[order])
    whole = total[-1] if len(total) else 0.0
    place = np.searchsorted(total, level * (whole + own) * (1 - SLACK))
    return np.append(values[order], np.inf)[place]


def limits(errors: np.ndarray, level: float) -> tuple[float, float]:
    """Ends between which a further error lies with a probability of `level` at least, were it one of these.

    Parameters
    ----------
    errors : ndarray of shape (n,)
        Sorted.
    level : float
    """
    n, tail = len(errors), 0.5 * (1.0 - check_level(level))
    rank = math.floor(tail * (n + 1) + SLACK)
    return (-math.inf, math.inf) if rank < 1 else (float(errors[rank - 1]), float(errors[n - rank]))


class Grouping:
    """Which group each row is of, as `by` says: one for all, a column, or what a function of rows tells."""

    def __init__(self, by: Any):
        self.by = by

    def __call__(self, X: Any) -> np.ndarray:
        """The group of each row."""
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if self.by is None:
            return np.zeros(n, dtype=int)
        if isinstance(self.by, Callable):  # type: ignore[arg-type]
            found = np.asarray(self.by(X))
        elif package(X) in ("pandas", "polars"):
            if self.by not in list(X.columns):
                raise ValueError(f"by={self.by!r} is no column of X; it has {', '.join(map(str, X.columns))}.")
            found = np.asarray(X[self.by])
        else:
            cells = np.asarray(X)
            if not isinstance(self.by, (int, np.integer)) or not -cells.shape[1] <= self.by < cells.shape[1]:
                raise ValueError(f"by={self.by!r} is no column of X; it has 0 to {cells.shape[1] - 1}.")
            found = cells[:, self.by]
        if found.shape != (n,):
            raise ValueError(f"by gives groups of shape {found.shape} for {n} rows; give one for each.")
        return found


def warn_of_few(n: float, level: float, what: str, group: Any = None) -> None:
    """Say that no interval, or set, can be told."""
    where = "" if group is None else f" of group {getattr(group, 'item', lambda: group)()!r}"
    warnings.warn(
        f"{n:g} calibration rows{where} are too few for level={level:g}, so that {what}; {fewest(level)} are needed: give more "
        "rows, or ask for a lower level.",
        UserWarning, stacklevel=4,
    )  # fmt: skip
