"""`KSelectionDisplay`: loss and silhouette against the number of clusters."""

from typing import Any, Self

import numpy as np

from .display import Display
from .style import DARK_ORANGE, MARKERS, Axes, colours, ring

__all__ = ["KSelectionDisplay"]

SCORES = {"silhouette": "mean silhouette", "medoid_silhouette": "medoid silhouette"}


class KSelectionDisplay(Display, figsize=(6.4, 4.0)):
    """Loss (left) and silhouette (right) against the number of clusters; the largest silhouette is marked.

    Parameters
    ----------
    n_clusters : list of int
    losses : list of float or None
        Losses; where they are unknown, only silhouettes are drawn.
    silhouettes : list of float
        None or NaN where one is not defined.
    name : str
        What the silhouettes are called.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    right_ : matplotlib axes
        Those of the silhouettes; `ax_` where no losses are drawn.
    loss_, silhouette_ : artists
        The lines.
    best_ : artist or None
        The mark of the largest silhouette.
    best_n_clusters : int or None

    Examples
    --------
    >>> from tacit.plot import KSelectionDisplay
    >>> display = KSelectionDisplay.from_curve(k_curve(KMeans(), X))  # doctest: +SKIP
    """

    def __init__(self, n_clusters: Any, losses: Any, silhouettes: Any, name: str = "mean silhouette") -> None:
        order = np.argsort(n_clusters)
        self.n_clusters, self.name = np.asarray(n_clusters)[order], name
        self.losses = None if losses is None else np.array(losses, dtype=float)[order]
        self.silhouettes = np.array(silhouettes, dtype=float)[order]
        known = ~np.isnan(self.silhouettes)
        self.best_n_clusters = int(self.n_clusters[np.nanargmax(self.silhouettes)]) if known.any() else None

    @classmethod
    def from_curve(cls, table: Any, *, ax: Axes | None = None) -> Self:
        """Draw the table that :func:`tacit.cluster.k_curve` made, or `silhouettes_` of a `KMedoids`."""
        score = next((name for name in SCORES if name in table.columns), None)
        if score is None or "n_clusters" not in table.columns:
            raise ValueError(
                f"the table has the columns {', '.join(table.columns)}; n_clusters and silhouette are needed, as k_curve gives."
            )
        losses = table["loss"] if "loss" in table.columns and None not in table["loss"] else None
        return cls(table["n_clusters"], losses, table[score], SCORES[score]).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> Self:
        """Draw what a fitted `KMedoids` tried: give it several `n_clusters`, or "auto"."""
        if not hasattr(estimator, "silhouettes_"):
            raise TypeError(
                f"{type(estimator).__name__} has no silhouettes_; use a fitted KMedoids, or k_curve and from_curve for others."
            )
        return cls.from_curve(estimator.silhouettes_, ax=ax)

    def _draw(self, ax: Axes) -> None:
        self.loss_, self.right_ = None, ax
        blue, orange = colours(2)
        if self.losses is not None:
            look = {"color": blue, "marker": MARKERS[0], "markersize": 5}
            (self.loss_,) = ax.plot(self.n_clusters, self.losses, label="loss", **look)
            ax.set_ylabel("loss", color=blue)
            ax.set_ylim(bottom=0.0)
            ax.tick_params(axis="y", colors=blue)
            self.right_ = ax.twinx()
        look = {"color": orange, "marker": MARKERS[1], "markersize": 5, "linestyle": "--"}
        (self.silhouette_,) = self.right_.plot(self.n_clusters, self.silhouettes, label=self.name, **look)
        self.right_.set_ylabel(self.name, color=DARK_ORANGE)
        self.right_.tick_params(axis="y", colors=DARK_ORANGE)
        self.right_.margins(y=0.15)
        ax.set(xlabel="number of clusters")
        if len(self.n_clusters) <= 20:
            ax.set_xticks(self.n_clusters)
        self.best_ = None
        if self.best_n_clusters is not None:
            height = np.nanmax(self.silhouettes)
            self.best_ = ring(self.right_, self.best_n_clusters, height)
            self._title(f"largest silhouette {height:.2g}: {self.best_n_clusters} clusters")
