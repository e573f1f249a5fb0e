"""`TraceDisplay`: the objective after every step of a fit."""

from sklearn.utils.validation import check_is_fitted

from .style import MUTED, axes, colours

__all__ = ["TraceDisplay"]


class TraceDisplay:
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

    def __init__(self, objectives, reason=None):
        self.objectives, self.reason = list(objectives), reason

    @classmethod
    def from_estimator(cls, estimator, *, ax=None):
        """Draw how a fitted estimator was learned, and say why it stopped."""
        check_is_fitted(estimator)
        return cls(estimator.lower_bounds_, estimator.fit_.reason).plot(ax)

    @classmethod
    def from_trace(cls, trace, *, ax=None):
        """Draw a :class:`tacit.engine.Trace`."""
        return cls([value / trace.weight for value in trace.objectives]).plot(ax)

    def plot(self, ax=None):
        """Draw; returns self."""
        ax = axes(ax)
        self.ax_, self.figure_ = ax, ax.figure
        steps = range(1, len(self.objectives) + 1)
        (self.line_,) = ax.plot(steps, self.objectives, marker=".", color=colours(1)[0])
        ax.set(xlabel="step", ylabel="objective per row")
        ax.xaxis.get_major_locator().set_params(integer=True)
        if self.reason:
            ax.set_title(self.reason, fontsize="small", color=MUTED)
        return self
