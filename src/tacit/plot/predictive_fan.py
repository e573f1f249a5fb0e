"""`PredictiveFanDisplay`: what a regression expects along a feature, and how wide its intervals are there."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from .display import Display
from .style import MUTED, Axes, colours

__all__ = ["PredictiveFanDisplay"]

MARGIN = 0.1
"""Share of the rows' range that the picture extends beyond them."""


class PredictiveFanDisplay(Display, figsize=(6.0, 4.0)):
    """Expectation and predictive intervals along one feature, the others being at their medians.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Values of the feature.
    mean : ndarray of shape (n,)
        Expectations.
    bands : dict of float to (low, high)
        Ends of the intervals by their probability.
    rows, targets : ndarray of shape (r,), optional
        Rows to be drawn.
    name : str
        What the feature is called.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    line_, bands_, rows_ : artists

    Examples
    --------
    >>> from tacit.plot import PredictiveFanDisplay
    >>> display = PredictiveFanDisplay.from_estimator(fitted, X, y)  # doctest: +SKIP
    """

    def __init__(
        self, x: np.ndarray, mean: np.ndarray, bands: dict[float, tuple[np.ndarray, np.ndarray]],
        rows: np.ndarray | None = None, targets: np.ndarray | None = None, name: str = "x",
    ) -> None:  # fmt: skip
        self.x, self.mean, self.bands, self.rows, self.targets, self.name = x, mean, bands, rows, targets, name

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, column: int = 0, levels: Sequence[float] = (0.5, 0.8, 0.95),
        resolution: int = 200, ax: Axes | None = None,
    ) -> Self:  # fmt: skip
        """Ask a regression along a feature, and draw what it says.

        Parameters
        ----------
        estimator : object
            Fitted, with `predict` and `predict_interval(X, level)`.
        X : array-like of shape (n_samples, n_features)
            Rows that the picture holds; missing cells are left out of medians.
        y : array-like of shape (n_samples,), optional
            Their targets; the rows are drawn where they are given.
        column : int, default=0
            The feature.
        levels : sequence of float, default=(0.5, 0.8, 0.95)
            Probabilities of the intervals.
        resolution : int, default=200
            Points along the feature.
        ax : matplotlib axes, optional

        Returns
        -------
        PredictiveFanDisplay
        """
        names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or not -rows.shape[1] <= column < rows.shape[1]:
            raise ValueError(
                f"column={column} is none of X, which has shape {rows.shape}; give the number of a column."
            )
        low, high = np.nanmin(rows[:, column]), np.nanmax(rows[:, column])
        wide = MARGIN * (high - low) if high > low else 1.0
        grid = np.tile(np.nanmedian(rows, axis=0), (resolution, 1))
        grid[:, column] = np.linspace(low - wide, high + wide, resolution)
        asked = type(X)(grid, columns=X.columns) if names is not None else grid
        bands = {level: estimator.predict_interval(asked, level) for level in sorted(levels)}
        targets = None if y is None else np.asarray(y, dtype=np.float64)
        name = f"x{column % rows.shape[1]}" if names is None else names[column]
        return cls(grid[:, column], np.asarray(estimator.predict(asked)), bands, rows[:, column], targets, name).plot(
            ax
        )

    def _draw(self, ax: Axes) -> None:
        colour = colours(1)[0]
        self.bands_ = [
            ax.fill_between(self.x, low, high, color=colour, alpha=0.16, linewidth=0, label=f"{100 * level:g} %")
            for level, (low, high) in sorted(self.bands.items(), reverse=True)
        ]
        (self.line_,) = ax.plot(self.x, self.mean, color=colour, linewidth=1.6)
        self.rows_ = None
        if self.targets is not None and self.rows is not None:
            self.rows_ = ax.scatter(self.rows, self.targets, s=10, color=MUTED, zorder=3)
        ax.set(xlabel=self.name, ylabel="predicted", xlim=(self.x[0], self.x[-1]))
        ax.legend(frameon=False, fontsize="small")
