"""Statistics that are functions of rows, of one sample or several: their replicates, standard errors and jackknife."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .drawing import Drawing
from .named import NAMED, Moment

__all__ = ["Function", "as_function"]

INNER = 25
"""Samples of a sample, for its standard error."""


def as_function(statistic: Any) -> Callable:
    """The function that a statistic is."""
    if callable(statistic):
        return statistic
    if isinstance(statistic, (float, np.floating)) and 0 < statistic < 1:
        return lambda x: np.quantile(x, statistic, axis=0)
    if statistic == "median":
        return lambda x: np.median(x, axis=0)
    if not isinstance(statistic, str) or statistic not in NAMED:
        known = ", ".join(map(repr, (*NAMED, "median")))
        raise ValueError(
            f"statistic={statistic!r} is unknown; use one of {known}, a quantile such as 0.9, or a function."
        )

    def of_columns(x: np.ndarray) -> Any:
        columns = x.reshape(len(x), -1).T
        values = np.concatenate([Moment(statistic, np.ascontiguousarray(column), 0).estimate() for column in columns])
        return values if x.ndim > 1 else values[0]

    return of_columns


class Function:
    """A statistic that is a function of rows."""

    def __init__(
        self, function: Callable, samples: list[np.ndarray], drawing: Drawing, paired: bool, error: Callable | None
    ):
        self.function, self.samples, self.drawing, self.paired, self.error = function, samples, drawing, paired, error
        others = [Drawing(len(rows), int(drawing.seed)) for rows in samples[1:]]
        self.drawings = [drawing] * len(samples) if paired else [drawing, *others]
        self.shape = np.asarray(function(*samples), dtype=float).shape

    def estimate(self) -> np.ndarray:
        """The statistic of the data."""
        return self._value(self.samples)

    def _value(self, samples: list[np.ndarray]) -> np.ndarray:
        return np.asarray(self.function(*samples), dtype=float).ravel()

    def _drawn(self, b: int) -> list[np.ndarray]:
        numbers_ = [0] * len(self.samples) if self.paired else range(len(self.samples))
        return [rows[each.rows(b, k)] for rows, each, k in zip(self.samples, self.drawings, numbers_)]

    def block(self, first: int, count: int, spreads: bool = False) -> tuple[np.ndarray, np.ndarray | None]:
        """Replicates from `first` on, and their standard errors if asked for."""
        drawn = [self._drawn(b) for b in range(first, first + count)]
        values = np.array([self._value(samples) for samples in drawn])
        return values, np.array(
            [self._error(samples, first + i) for i, samples in enumerate(drawn)]
        ) if spreads else None

    def _error(self, samples: list[np.ndarray], b: int) -> np.ndarray:
        if self.error is not None:
            return np.asarray(self.error(*samples), dtype=float).ravel()
        rng, values = np.random.default_rng([int(self.drawing.seed), b]), []
        for _ in range(INNER):
            rows = [rng.integers(len(each), size=len(each)) for each in samples]
            rows = [rows[0]] * len(rows) if self.paired else rows
            values.append(self._value([each[some] for each, some in zip(samples, rows)]))
        return np.std(values, axis=0, ddof=1)

    def spread(self) -> np.ndarray:
        """The standard error of the statistic of the data."""
        if self.error is not None:
            return np.asarray(self.error(*self.samples), dtype=float).ravel()
        return np.std([self._value(self._drawn(b)) for b in range(200)], axis=0, ddof=1)

    def jackknife(self) -> np.ndarray:
        """The statistic without each row in turn, sample by sample."""
        kept = []
        for k, each in enumerate(self.drawings[:1] if self.paired else self.drawings):
            for part in each.parts():
                samples = enumerate(self.samples)
                left = [np.delete(rows, part, axis=0) if self.paired or j == k else rows for j, rows in samples]
                kept.append(self._value(left))
        return np.array(kept)
