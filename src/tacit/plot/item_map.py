"""`ItemMapDisplay`: items that the same users are expected to like lie close together."""

from typing import Any, Self

import numpy as np

from .display import Display
from .style import Axes, colours

__all__ = ["ItemMapDisplay"]


class ItemMapDisplay(Display, figsize=(7.4, 6.0)):
    """Items on the plane that keeps most of how users differ in what they are expected to rate them.

    Parameters
    ----------
    places : array of shape (n_items, 2)
    counts : array of shape (n_items,)
        Ratings of each item: the area of its mark.
    names : list of str
        What items are called; the most rated ones are named.
    kept : float
        Share of the variance of expected ratings that the plane keeps.
    types : array of int, optional
        Types of the items, from 1: the colour of their marks.
    n : int, default=15
        How many are named.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    marks_ : artist
    names_ : list of artists

    Examples
    --------
    >>> from tacit.plot import ItemMapDisplay
    >>> display = ItemMapDisplay.from_estimator(fitted)  # doctest: +SKIP
    """

    def __init__(self, places: Any, counts: Any, names: Any, kept: float, types: Any = None, n: int = 15) -> None:
        self.places, self.counts = np.asarray(places, dtype=float), np.asarray(counts, dtype=float)
        self.names, self.kept, self.n = [str(name) for name in names], float(kept), n
        self.types = np.ones(len(self.places), int) if types is None else np.asarray(types)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        names: Any = None,
        types: Any = None,
        n: int = 15,
        most: int = 400,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the most rated items of a fitted recommender.

        Parameters
        ----------
        estimator : Recommender
            Fitted.
        names : dict or array, optional
            What items are called, by id or in the order of ``items_``.
        types : array of int, optional
            Types of the items, in the order of ``items_``.
        n : int, default=15
            How many are named.
        most : int, default=400
            How many are drawn.
        ax : matplotlib axes, optional

        Returns
        -------
        ItemMapDisplay
        """
        from ..recommend.ratings import as_ratings
        from ..study.recommend import called_items, item_places

        counts = np.bincount(estimator.seen_.indices, minlength=len(estimator.items_))
        chosen = np.argsort(-counts, kind="stable")[:most]
        chosen = chosen[counts[chosen] > 0]
        places, kept = item_places(estimator, as_ratings(estimator.seen_), chosen)
        called = called_items(names, estimator.items_)[chosen]
        return cls(places, counts[chosen], called, kept, None if types is None else np.asarray(types)[chosen], n).plot(
            ax
        )

    def _draw(self, ax: Axes) -> None:
        from .labels import spread_labels

        kinds = np.unique(self.types)
        shade = dict(zip(kinds.tolist(), colours(len(kinds))))
        size = 6.0 + 90.0 * self.counts / max(float(self.counts.max(initial=0.0)), 1.0)
        self.marks_ = ax.scatter(
            self.places[:, 0],
            self.places[:, 1],
            s=size,
            c=[shade[kind] for kind in self.types.tolist()],
            alpha=0.55,
            linewidths=0,
        )
        ax.set(xticks=[], yticks=[])
        ax.margins(0.1)
        first = np.argsort(-self.counts, kind="stable")[: self.n]
        names = [self.names[k] if len(self.names[k]) <= 26 else self.names[k][:25] + "…" for k in first]
        self.names_ = spread_labels(ax, self.places[first], names)
        self._title(
            f"near items are liked by the same users; the plane keeps {100 * self.kept:.0f} % of how users differ"
        )
