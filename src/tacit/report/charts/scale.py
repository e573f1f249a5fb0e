"""`Scale`: numbers to places on a chart, y = start + (x − low) / (high − low) · (end − start), with round ticks."""

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

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
        step = ticks[1] - ticks[0] if len(ticks) > 1 else abs(self.high) or 1.0
        largest = max(map(abs, ticks), default=1.0) or 1.0
        # One digit more for steps of 2.5.
        decimals = 1 - math.floor(math.log10(step) + 1e-9)
        if not 1e-4 <= largest < 1e7:
            digits = int(min(max(math.log10(largest) + decimals, 0), 12))
            texts = [f"{tick:.{digits}e}" for tick in ticks]
            texts = [re.sub(r"\.?0*e([+-])0*(\d+)", r"e\1\2", words).replace("e+", "e") for words in texts]
        else:
            texts = [f"{tick:,.{max(decimals, 0)}f}" for tick in ticks]
            while decimals > 0 and all(words.endswith("0") for words in texts):
                texts, decimals = [words[:-1].rstrip(".") for words in texts], decimals - 1
        return [(tick, "0" if tick == 0 else words.replace("-", "−")) for tick, words in zip(ticks, texts)]


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
