"""`ForecastDisplay`: the last steps of a sequence, and those ahead with their intervals."""

from typing import Any, Self

import numpy as np

from .display import Display
from .regimes import dated, sequence_of, set_dates
from .style import MUTED, Axes, colours

__all__ = ["ForecastDisplay"]

LEVELS = (0.5, 0.9)


class ForecastDisplay(Display, figsize=(8.0, 3.4)):
    """A fan: intervals of several levels around the expectation of each step ahead.

    Parameters
    ----------
    time, values : arrays of shape (n_steps,)
        The steps that are known.
    ahead, mean : arrays of shape (n_ahead,)
        When steps ahead are, and their expectations.
    intervals : dict of float to (low, high)
        Arrays of shape (n_ahead,) by level.
    label : str
        What the column is called.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    line_, mean_ : artists
    fans_ : list of artists
        The widest interval first.

    Examples
    --------
    >>> from tacit.plot import ForecastDisplay
    >>> display = ForecastDisplay.from_estimator(fitted, X, 12)  # doctest: +SKIP
    """

    def __init__(self, time: Any, values: Any, ahead: Any, mean: Any, intervals: dict, label: str = "") -> None:
        self.time, self.values = np.asarray(time), np.asarray(values, dtype=float)
        self.ahead, self.mean = np.asarray(ahead), np.asarray(mean, dtype=float)
        self.intervals, self.label = intervals, label

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, n_steps: int = 12, *, lengths: Any = None, column: Any = 0, sequence: int = 0,
        levels: Any = LEVELS, last: int = 60, ax: Axes | None = None,
    ) -> Self:  # fmt: skip
        """Draw the forecast of a sequence.

        Parameters
        ----------
        estimator : HiddenMarkovModel
            Fitted.
        X : array-like, list of arrays, or table
            Steps, as `predict` takes them.
        n_steps : int, default=12
            How many steps ahead.
        lengths : array-like of int, optional
            How many rows of an array each sequence has.
        column : int or str, default=0
            The column of numbers to draw, by position or name.
        sequence : int, default=0
            Which sequence, by position.
        levels : sequence of float, default=(0.5, 0.9)
            Probabilities of the intervals.
        last : int, default=60
            How many known steps to draw.
        ax : matplotlib axes, optional

        Returns
        -------
        ForecastDisplay
        """
        found, steps, time = sequence_of(estimator, X, lengths, sequence)
        j = found.columns.index(str(column)) if isinstance(column, str) else int(column)
        made = {level: estimator.forecast(X, n_steps, lengths=lengths, interval=level) for level in levels}
        first = next(iter(made.values()))
        ahead = time[-1] + np.arange(1, n_steps + 1) if first.time is None else dated(first.time[sequence], found.dated)
        intervals = {level: (each.low[sequence, :, j], each.high[sequence, :, j]) for level, each in made.items()}
        values = found.cells[steps, j][-last:]
        return cls(time[-last:], values, ahead, first.mean[sequence, :, j], intervals, found.columns[j]).plot(ax)

    def _draw(self, ax: Axes) -> None:
        (shade,) = colours(1)
        (self.line_,) = ax.plot(self.time, self.values, color=MUTED, linewidth=1.2)
        self.fans_ = [
            ax.fill_between(self.ahead, low, high, color=shade, alpha=0.22, linewidth=0, label=f"{level:.0%}")
            for level, (low, high) in sorted(self.intervals.items(), reverse=True)
        ]
        (self.mean_,) = ax.plot(self.ahead, self.mean, color=shade, linewidth=1.6, linestyle="--", label="expected")
        ax.set(ylabel=self.label)
        set_dates(ax, self.time)
        ax.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.01, 0.5), title="ahead")
