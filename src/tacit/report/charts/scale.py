"""`Scale`: numbers to places on a chart, y = start + (x − low) / (high − low) · (end − start), with round ticks."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import words
from ..markup import true_minus

__all__ = ["Scale", "spanning"]


@dataclass(frozen=True)
class Scale:
    """A line from `low` to `high`, drawn from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: Any) -> Any:
        """Where a number lies."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, n: int = 5) -> list[float]:
        """Round numbers on the line, about n of them."""
        step = _round_step((self.high - self.low) / max(n, 1))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [k * step for k in range(first, last + 1)][: 4 * n + 4]

    def labels(self, n: int = 5) -> list[tuple[float, str]]:
        """Ticks with their texts, which have as many decimals as tell them apart."""
        ticks = self.ticks(n)
        return list(zip(ticks, map(true_minus, words.ticks(ticks))))


def _round_step(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return next(power * nice for nice in (1, 2, 2.5, 5, 10) if power * nice >= step * (1 - 1e-9))


def spanning(values: Any, start: float, end: float, margin: float = 0.05) -> Scale:
    """The scale on which all finite values lie, with a margin at both ends."""
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    room = margin * (high - low)
    # Numbers that are all but equal get a line around them that their digits can resolve.
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        room = 0.5 * abs(low) or 0.5
    return Scale(low - room, high + room, start, end)
