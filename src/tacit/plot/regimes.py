"""`RegimeDisplay`: a series over time in the colours of its regimes."""

from itertools import pairwise
from typing import Any, Self

import numpy as np

from .display import Display
from .style import Axes, colours, key

__all__ = ["RegimeDisplay", "sequence_of", "set_dates"]


class RegimeDisplay(Display, figsize=(8.0, 3.4)):
    """One column of a sequence over time, each stretch in the colour of its state.

    Parameters
    ----------
    time : array of shape (n_steps,)
        Numbers or dates.
    values : array of shape (n_steps,)
        NaN where missing.
    states : array of int of shape (n_steps,)
    label : str
        What the column is called.
    n_states : int, optional
        How many states there are; default those that occur.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    lines_ : list of artists
        One for each state.
    bands_ : list of artists
        One for each segment.

    Examples
    --------
    >>> from tacit.plot import RegimeDisplay
    >>> display = RegimeDisplay.from_estimator(fitted, X)  # doctest: +SKIP
    """

    def __init__(self, time: Any, values: Any, states: Any, label: str = "", n_states: int | None = None) -> None:
        self.time, self.values = np.asarray(time), np.asarray(values, dtype=float)
        self.states, self.label = np.asarray(states, dtype=int), label
        self.n_states = n_states or int(self.states.max()) + 1

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, lengths: Any = None, column: Any = 0, sequence: int = 0, ax: Axes | None = None
    ) -> Self:
        """Draw a sequence under a fitted model.

        Parameters
        ----------
        estimator : HiddenMarkovModel
            Fitted.
        X : array-like, list of arrays, or table
            Steps, as `predict` takes them.
        lengths : array-like of int, optional
            How many rows of an array each sequence has.
        column : int or str, default=0
            The column of numbers to draw, by position or name.
        sequence : int, default=0
            Which sequence, by position.
        ax : matplotlib axes, optional

        Returns
        -------
        RegimeDisplay
        """
        found, steps, time = sequence_of(estimator, X, lengths, sequence)
        j = found.columns.index(str(column)) if isinstance(column, str) else int(column)
        return cls(time, found.cells[steps, j], found.states[steps], found.columns[j], estimator.n_components).plot(ax)

    def _draw(self, ax: Axes) -> None:
        at = self.time
        edges = np.append(np.flatnonzero(np.diff(self.states, prepend=-1)), len(at))
        shades = colours(self.n_states)
        self.bands_ = [
            ax.axvspan(at[a], at[min(z, len(at) - 1)], color=shades[self.states[a]], alpha=0.12, linewidth=0)
            for a, z in pairwise(edges)
        ]
        self.lines_ = []
        for k, shade in enumerate(shades):
            own = self.states == k
            # Up to the next step, so that the line goes on.
            shown = np.where(own | np.append(False, own[:-1]), self.values, np.nan)
            self.lines_ += ax.plot(
                at, shown, color=shade, linewidth=1.2, marker="." if len(at) < 100 else "", markersize=4
            )
        ax.set(ylabel=self.label)
        set_dates(ax, at)
        handles = [key(str(k), shade) for k, shade in enumerate(shades)]
        ax.legend(handles=handles, title="state", fontsize="small", loc="center left", bbox_to_anchor=(1.01, 0.5))


def sequence_of(estimator: Any, X: Any, lengths: Any, sequence: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """The segmentation of all sequences, the steps of one, and their times as matplotlib takes them."""
    from ..sequence.segmentation import segment

    found = segment(estimator, X, lengths)
    if not 0 <= sequence < found.n_sequences:
        raise ValueError(f"sequence={sequence!r} is none of the {found.n_sequences}; count from 0.")
    steps = np.arange(found.offsets[sequence], found.offsets[sequence + 1])
    return found, steps, times_of(found, steps)


def times_of(found: Any, steps: np.ndarray) -> np.ndarray:
    """Times of steps: dates, numbers, or their numbers in the sequence."""
    if found.time is None:
        return steps - steps[0]
    return dated(found.time[steps], found.dated)


def dated(times: np.ndarray, is_date: bool) -> np.ndarray:
    """Days since 1970 as dates, where they are that."""
    return np.round(times * 86400.0).astype("datetime64[s]") if is_date else times


def set_dates(ax: Axes, times: np.ndarray) -> None:
    """Write dates below an axis briefly."""
    if times.dtype.kind == "M":
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        locator = AutoDateLocator()
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    else:
        ax.set(xlabel="time" if times.dtype.kind == "f" else "step")
