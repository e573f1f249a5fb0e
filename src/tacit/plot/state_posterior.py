"""`StatePosteriorDisplay`: the probabilities of the states of a sequence over time."""

from typing import Any, Self

import numpy as np

from .display import Display
from .regimes import sequence_of, set_dates
from .style import Axes, colours

__all__ = ["StatePosteriorDisplay"]


class StatePosteriorDisplay(Display, figsize=(8.0, 2.4)):
    """Probabilities of the states of each step, one upon the other.

    Parameters
    ----------
    time : array of shape (n_steps,)
        Numbers or dates.
    probability : array of shape (n_steps, n_components)

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    areas_ : list of artists
        One for each state.

    Examples
    --------
    >>> from tacit.plot import StatePosteriorDisplay
    >>> display = StatePosteriorDisplay.from_estimator(fitted, X)  # doctest: +SKIP
    """

    def __init__(self, time: Any, probability: Any) -> None:
        self.time, self.probability = np.asarray(time), np.asarray(probability, dtype=float)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, lengths: Any = None, sequence: int = 0, ax: Axes | None = None
    ) -> Self:
        """Draw the probabilities of a sequence given all its steps.

        Parameters
        ----------
        estimator : HiddenMarkovModel
            Fitted.
        X : array-like, list of arrays, or table
            Steps, as `predict` takes them.
        lengths : array-like of int, optional
            How many rows of an array each sequence has.
        sequence : int, default=0
            Which sequence, by position.
        ax : matplotlib axes, optional

        Returns
        -------
        StatePosteriorDisplay
        """
        found, steps, time = sequence_of(estimator, X, lengths, sequence)
        return cls(time, found.probability[steps]).plot(ax)

    def _draw(self, ax: Axes) -> None:
        k = self.probability.shape[1]
        names = [str(state) for state in range(k)]
        self.areas_ = ax.stackplot(self.time, self.probability.T, colors=colours(k), labels=names, linewidth=0)
        ax.set(ylabel="probability", ylim=(0, 1))
        ax.margins(x=0)
        set_dates(ax, self.time)
        ax.legend(title="state", fontsize="small", loc="center left", bbox_to_anchor=(1.01, 0.5))
