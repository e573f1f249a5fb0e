"""`CurveDisplay`: a measure along the number of rows, or along a setting, with its band."""

from typing import Any, Self

import numpy as np

from .display import Display
from .style import MUTED, Axes, colours, ring

__all__ = ["CurveDisplay"]


class CurveDisplay(Display, figsize=(5.6, 3.8)):
    """Means over rows held out with their intervals, and means over the rows learned from.

    Parameters
    ----------
    curve : tacit.assess.Curve

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    line_, band_, train_ : artists

    Examples
    --------
    >>> from tacit.plot import CurveDisplay
    >>> display = CurveDisplay.from_estimator(model, X, y)  # doctest: +SKIP
    """

    def __init__(self, curve: Any) -> None:
        self.curve = curve

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, setting: str | None = None, values: Any = 5, ax: Axes | None = None,
        **how: Any,
    ) -> Self:  # fmt: skip
        """Judge a model on rows held out, and draw the curve.

        Parameters
        ----------
        estimator : estimator
        X, y : array-like
        setting : str, optional
            Which setting to change; default the number of rows.
        values : sequence
            Of the setting, or numbers of rows.
        ax : matplotlib axes, optional
        **how
            As `tacit.assess.learning_curve` and `validation_curve` take it.

        Returns
        -------
        CurveDisplay
        """
        from ..assess import learning_curve, validation_curve

        if setting is None:
            return cls(learning_curve(estimator, X, y, values, **how)).plot(ax)
        return cls(validation_curve(estimator, X, y, setting=setting, values=values, **how)).plot(ax)

    def _draw(self, ax: Axes) -> None:
        curve, found = self.curve, self.curve.estimates
        named = not all(
            isinstance(value, (int, float, np.number)) and not isinstance(value, bool) for value in curve.values
        )
        x = np.arange(len(curve.values)) if named else np.asarray(curve.values, dtype=float)
        middle, low, high = (np.array([getattr(each, end) for each in found]) for end in ("value", "low", "high"))
        held, learned = colours(2)
        self.band_ = ax.fill_between(x, low, high, color=held, alpha=0.2, linewidth=0)
        (self.line_,) = ax.plot(x, middle, color=held, marker="o", markersize=4, label="rows held out")
        (self.train_,) = ax.plot(
            x, curve.train, color=learned, linestyle="--", marker="s", markersize=4, label="rows learned from"
        )
        if named:
            ax.set_xticks(x, [str(value) for value in curve.values], fontsize="small")
        elif len(x) > 2 and x.min() > 0 and x.max() / x.min() > 20:
            ax.set_xscale("log")
        if curve.along not in ("rows", "sequences"):
            best = curve.values.index(curve.best)
            ring(ax, x[best], middle[best])
        ax.set(xlabel=curve.along, ylabel=curve.measure.words)
        ax.grid(True, color=MUTED, alpha=0.2, linewidth=0.6)
        ax.legend(fontsize="small", frameon=False)
        self._title(f"{curve.level:.0%} intervals", ax)
