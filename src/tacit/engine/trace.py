"""`Trace`: the objective after every E-step, and when it has settled."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["CRITERIA", "Trace"]

CRITERIA = ("relative", "aitken")
FEW = 1000.0
"""Weight of rows up to which steps cost next to nothing, so that a fit goes on to its maximum."""
FINISHED = 1e-3
"""What such a fit may miss of its maximum, in nats, for all rows together."""
NOTHING = 3e-3
"""A last gain below this share of it ends the fit whatever the rate, of which gains near rounding tell nothing."""


class Trace:
    """Objectives in the order they were measured.

    Parameters
    ----------
    criterion : {"relative", "aitken"}
        ``relative``: settled when the objective gains less than `tol` per unit of weight (nats per row) and the gains
        are not growing, as they do while EM leaves a saddle; where rows are few, also the limit extrapolated from the last
        steps must be near, so that slow parameters are not left half-way. ``aitken``: settled when the limit extrapolated
        from the last three objectives is less than `tol` per unit of weight away.
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
        self.leapt = 0
        self.last = False

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

    @property
    def steady(self) -> int:
        """Plain steps since the last extrapolation; the loop says in `leapt` when that was."""
        return len(self) - self.leapt

    def settled(self, tol: float) -> bool:
        """Whether the objective has stopped improving."""
        return self.rests(tol) and self.finished(tol)

    def finished(self, tol: float) -> bool:
        """Whether, where rows are few, what further steps would gain is next to nothing; the loop says which is the `last`."""
        if self.criterion == "aitken" or self.weight > FEW or self.last:
            return True
        least = max(FINISHED, tol) / self.weight
        if self.gain <= NOTHING * least:
            return True
        values = self._last(3)
        if len(values) < 3 or self.steady < 2:
            return self.previous is not None and len(self) == 1  # an earlier run was finished
        rate = self.gain / (values[1] - values[0]) if values[1] > values[0] else 1.0
        return rate < 1.0 and self.gain * rate / (1.0 - rate) <= least

    def rests(self, tol: float) -> bool:
        """Whether the last step gained next to nothing."""
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
