"""`TraceDisplay`: the objective after every step of a fit."""

from collections.abc import Iterable
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from .display import Display
from .style import Axes, colours

__all__ = ["TraceDisplay"]


class TraceDisplay(Display):
    """The objective per row after every step.

    Parameters
    ----------
    objectives : list of float
        Objectives per row.
    reason : str, optional
        Why the fit stopped.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    line_ : artist

    Examples
    --------
    >>> from tacit.plot import TraceDisplay
    >>> display = TraceDisplay.from_estimator(fitted)  # doctest: +SKIP
    """

    def __init__(self, objectives: Iterable[float], reason: str | None = None) -> None:
        self.objectives, self.reason = list(objectives), reason

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> Self:
        """Draw how a fitted estimator was learned, and say why it stopped."""
        check_is_fitted(estimator)
        return cls(estimator.lower_bounds_, estimator.fit_.reason).plot(ax)

    @classmethod
    def from_trace(cls, trace: Any, *, ax: Axes | None = None) -> Self:
        """Draw a :class:`tacit.engine.Trace`."""
        return cls([value / trace.weight for value in trace.objectives]).plot(ax)

    def _draw(self, ax: Axes) -> None:
        steps = range(1, len(self.objectives) + 1)
        (self.line_,) = ax.plot(steps, self.objectives, marker=".", color=colours(1)[0])
        ax.set(xlabel="step", ylabel="objective per row")
        ax.locator_params(axis="x", integer=True)
        if self.reason:
            self._title(self.reason)
