"""`Trace`: the objective after every E-step, and when it has settled."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["CRITERIA", "Trace"]

CRITERIA = ("relative", "aitken")


class Trace:
    """Objectives in the order they were measured.

    Parameters
    ----------
    criterion : {"relative", "aitken"}
        ``relative``: settled when the objective gains less than `tol` per unit of weight (nats per row) and the gains
        are not growing, as they do while EM leaves a saddle. ``aitken``: settled when the limit extrapolated from the
        last three objectives is less than `tol` per unit of weight away.
    previous : float, optional
        Objective per unit of weight where an earlier run stopped.
    led : int
        Steps of the short run that led to the start.
    """

    def __init__(self, criterion: str = "relative", previous: float | None = None, led: int = 0):
        if criterion not in CRITERIA:
            raise ValueError(f"criterion={criterion!r} is unknown; use one of {', '.join(CRITERIA)}.")
        self.criterion = criterion
        self.previous, self.led = previous, led
        self.objectives: list[float] = []
        self.weight = 1.0
        self.passes = 0

    def record(self, objective: float, weight: float) -> None:
        """Add an objective measured on rows of total `weight`."""
        self.objectives.append(float(objective))
        self.weight = float(weight)

    @property
    def n_steps(self) -> int:
        """Steps from the first seeds on, those of the short run included."""
        return self.led + len(self)

    @property
    def per_weight(self) -> list[float]:
        """Objectives per unit of weight, the earlier run's last one first."""
        before = [] if self.previous is None else [self.previous]
        return before + [objective / self.weight for objective in self.objectives]

    def _last(self, n: int) -> list[float]:
        """The last few of `per_weight`, at most n."""
        before = [] if self.previous is None else [self.previous]
        return (before + [objective / self.weight for objective in self.objectives[-n:]])[-n:]

    @property
    def gain(self) -> float:
        """Last improvement per unit of weight."""
        values = self._last(2)
        return values[1] - values[0] if len(values) == 2 else math.inf

    def steps_left(self, tol: float) -> int | None:
        """A guess at how many steps remain, from the rate at which gains shrink; None where they do not."""
        values = self._last(3)
        if len(values) < 3 or tol <= 0:
            return None
        before, gain = values[1] - values[0], values[2] - values[1]
        if not 0 < gain < before:
            return None
        return max(math.ceil(math.log(tol / gain) / math.log(gain / before)), 0)

    def settled(self, tol: float) -> bool:
        """Whether the objective has stopped improving."""
        values = self._last(3)
        if len(values) < 2:
            return False
        gain = values[-1] - values[-2]
        before = values[-2] - values[-3] if len(values) > 2 else math.inf
        if self.criterion == "aitken":
            rate = gain / before if 0 < before < math.inf else 1.0
            return abs(gain) <= 0.0 < tol or (0.0 <= rate < 1.0 and gain * rate / (1.0 - rate) < tol)
        rounding = 1e-13 * abs(values[-1])
        return abs(gain) < tol and (gain <= before or gain <= rounding)

    def plot(self, ax: Any = None) -> Any:
        """Draw the objective per unit of weight against the step, and return the axes; needs matplotlib."""
        from ..plot.trace import TraceDisplay

        return TraceDisplay.from_trace(self, ax=ax).ax_

    def __len__(self) -> int:
        return len(self.objectives)

    def __repr__(self) -> str:
        last = f", last {self.objectives[-1]:.6g}" if self.objectives else ""
        return f"Trace({len(self)} objectives{last})"
