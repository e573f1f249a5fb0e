"""`CalibrationDisplay`: whether ratings are as predicted, and intervals hold as many of them as they should."""

from typing import Any, Self

import numpy as np

from .display import Display
from .style import MUTED, Axes, colours, pyplot

__all__ = ["CalibrationDisplay"]


class CalibrationDisplay(Display, figsize=(8.0, 3.8)):
    """Mean ratings against mean predictions, and shares of ratings inside intervals against what they should be.

    Parameters
    ----------
    check : HeldOut
        Ratings held out and what was predicted, as `tacit.recommend.choose_recommender` has them in ``check``.
    n : int, default=10
        Parts of equal size that ratings are divided into by what was predicted.

    Attributes
    ----------
    axes_ : list of matplotlib axes
        Of predictions and of intervals; only the first is drawn where axes are given, or where no intervals are told.
    ax_, figure_ : matplotlib axes and figure
    curve_, inside_ : artists

    Examples
    --------
    >>> from tacit.plot import CalibrationDisplay
    >>> display = CalibrationDisplay.from_estimator(fitted, ratings)  # doctest: +SKIP
    """

    def __init__(self, check: Any, n: int = 10) -> None:
        self.points, self.inside = check.curve(n), dict(check.inside)
        self.n_ratings, self.error = len(check), check.rmse()

    @classmethod
    def from_estimator(
        cls, estimator: Any, ratings: Any, *, seed: int = 0, n: int = 10, ax: Axes | None = None
    ) -> Self:
        """Hold ratings out, learn a recommender like this one from the others, and draw how its predictions hold.

        Parameters
        ----------
        estimator : Recommender
            Fitted or not; it is cloned.
        ratings : Ratings or table
        seed : int, default=0
            Draws the ratings that are held out.
        n : int, default=10
            Parts of equal size.
        ax : matplotlib axes, optional
            For predictions alone.

        Returns
        -------
        CalibrationDisplay
        """
        from ..recommend.ratings import as_ratings
        from ..recommend.trial import try_recommender

        return cls(try_recommender(estimator, as_ratings(ratings), seed=seed), n).plot(ax)

    def _place(self, ax: Axes | None) -> None:
        if ax is not None:
            self.axes_ = [ax]
        else:
            made = pyplot().subplots(
                1, 2 if self.inside else 1, layout="constrained", figsize=self._figsize, squeeze=False
            )
            self.axes_ = list(made[1][0])
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure

    def _draw(self, ax: Axes) -> None:
        told, rated = (np.array([point[name] for point in self.points]) for name in ("predicted", "rated"))
        self.curve_ = self._line(ax, told, rated, "mean prediction", "mean rating")
        self._title(f"{self.n_ratings:,} ratings held out, error {self.error:.3f}", ax)
        if len(self.axes_) > 1:
            meant, found = np.array(list(self.inside)), np.array(list(self.inside.values()))
            self.inside_ = self._line(
                self.axes_[1], meant, found, "share that should be inside", "share of ratings inside"
            )
            self._title("intervals", self.axes_[1])

    def _line(self, ax: Axes, x: np.ndarray, y: np.ndarray, across: str, upward: str) -> Any:
        ends = [float(min(x.min(), y.min())), float(max(x.max(), y.max()))]
        ax.plot(ends, ends, color=MUTED, linewidth=1, linestyle="--")
        ax.set(xlabel=across, ylabel=upward)
        return ax.plot(x, y, color=colours(1)[0], marker="o", markersize=5)[0]
