"""`RatingsDisplay`: how ratings are distributed, and how many of them users and items have."""

from typing import Any, Self

import numpy as np

from .display import Display
from .style import MUTED, Axes, colours, pyplot

__all__ = ["RatingsDisplay"]


class RatingsDisplay(Display, figsize=(10.0, 3.4)):
    """Ratings by level, and how many ratings users and items have: the n-th most active against its number, both logarithmic.

    Parameters
    ----------
    values, shares : array of shape (n,)
        Levels, or middles of bins, and shares of the ratings.
    by_user, by_item : array
        Ratings of each user and of each item.

    Attributes
    ----------
    axes_ : list of matplotlib axes
        Of the distribution and of the two tails; only the first is drawn where axes are given.
    ax_, figure_ : matplotlib axes and figure
    bars_, tails_ : artists

    Examples
    --------
    >>> from tacit.plot import RatingsDisplay
    >>> display = RatingsDisplay.from_ratings(ratings)  # doctest: +SKIP
    """

    def __init__(self, values: Any, shares: Any, by_user: Any, by_item: Any) -> None:
        self.values, self.shares = np.asarray(values, dtype=float), np.asarray(shares, dtype=float)
        self.by_user, self.by_item = np.asarray(by_user), np.asarray(by_item)

    @classmethod
    def from_ratings(cls, ratings: Any, *, ax: Axes | None = None) -> Self:
        """Draw ratings.

        Parameters
        ----------
        ratings : Ratings or table
            As `fit` of a recommender takes them.
        ax : matplotlib axes, optional
            For the distribution alone.

        Returns
        -------
        RatingsDisplay
        """
        from ..recommend.ratings import as_ratings

        found = as_ratings(ratings)
        if found.levels is not None:
            counts, values = (
                np.bincount(np.searchsorted(found.levels, found.rating), minlength=len(found.levels)),
                found.levels,
            )
        else:
            counts, edges = np.histogram(found.rating, 20)
            values = (edges[1:] + edges[:-1]) / 2
        sides = [
            np.bincount(code, minlength=n) for code, n in ((found.user, found.n_users), (found.item, found.n_items))
        ]
        return cls(values, counts / max(len(found), 1), *sides).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> Self:
        """Draw the ratings that a fitted recommender was learned from.

        Parameters
        ----------
        estimator : Recommender
            Fitted.
        ax : matplotlib axes, optional
            For the distribution alone.

        Returns
        -------
        RatingsDisplay
        """
        return cls.from_ratings(estimator.seen_, ax=ax)

    def _place(self, ax: Axes | None) -> None:
        if ax is not None:
            self.axes_ = [ax]
        else:
            self.axes_ = list(pyplot().subplots(1, 3, layout="constrained", figsize=self._figsize)[1])
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure

    def _draw(self, ax: Axes) -> None:
        step = float(np.diff(self.values).min()) if len(self.values) > 1 else 1.0
        self.bars_ = ax.bar(self.values, self.shares, 0.8 * step, color=colours(1)[0])
        ax.set(xlabel="rating", ylabel="share of ratings")
        if len(self.values) <= 12:
            ax.set_xticks(self.values)
        self.tails_ = []
        for place, counts, noun, colour in zip(
            self.axes_[1:], (self.by_user, self.by_item), ("user", "item"), colours(3)[1:]
        ):
            ranked = np.sort(counts[counts > 0])[::-1]
            self.tails_ += place.loglog(np.arange(1, len(ranked) + 1), ranked, color=colour)
            place.axhline(5, color=MUTED, linewidth=0.8, linestyle="--")
            place.set(xlabel=f"{noun}s, those with the most ratings first", ylabel="ratings")
            few = (ranked < 5).mean()
            self._title(f"{100 * few:.0f} % of {noun}s have fewer than 5 ratings", place)
