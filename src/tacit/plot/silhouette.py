"""`SilhouetteDisplay`: how much nearer each row is to its own cluster than to the next."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from .display import Display
from .style import MUTED, Axes, colours

__all__ = ["SilhouetteDisplay"]

MOST_ROWS = 2000


class SilhouetteDisplay(Display, figsize=(6.4, 4.8)):
    """Silhouettes of all rows, sorted within their clusters, which stand one below the other; the line is the mean.

    A cluster whose blade is long and wide is tight and apart; rows to the left of 0 are nearer to another cluster.

    Parameters
    ----------
    values : (rows,) array
        Silhouettes; rows without one (NaN) are left out.
    codes : (rows,) int array
        Number of each row's cluster.
    labels : list, optional
        Names of the clusters; default their numbers.
    mean : float, optional
        The mean to mark; default that of the values.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    blades_ : list of artists
        One per cluster that has rows.
    mean_ : artist
        The line of the mean.

    Examples
    --------
    >>> from tacit.plot import SilhouetteDisplay
    >>> display = SilhouetteDisplay.from_estimator(fitted, X)  # doctest: +SKIP
    """

    def __init__(self, values: Any, codes: Any, labels: Iterable | None = None, mean: float | None = None) -> None:
        values, codes = np.asarray(values, dtype=float), np.asarray(codes)
        seen = ~np.isnan(values) & (codes >= 0)
        if not seen.any():
            raise ValueError("no row has a silhouette; at least two clusters are needed.")
        self.values, self.codes = values[seen], codes[seen]
        self.labels = list(labels) if labels is not None else list(range(int(self.codes.max()) + 1))
        self.mean = float(self.values.mean()) if mean is None else mean

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, ax: Axes | None = None, **settings: Any) -> Self:
        """Draw the clusters that a fitted estimator finds in X.

        Parameters
        ----------
        estimator : fitted estimator
        X : table or array-like of shape (n_samples, n_features)
        ax : matplotlib axes, optional
        **settings
            Settings of :func:`tacit.cluster.cluster_report`, such as `metric` and `max_rows`.

        Returns
        -------
        SilhouetteDisplay
        """
        from ..cluster import cluster_report

        return cls.from_report(cluster_report(X, estimator, **settings), ax=ax)

    @classmethod
    def from_labels(cls, X: Any, labels: Any, *, ax: Axes | None = None, **settings: Any) -> Self:
        """Draw the clusters that labels name; arguments as in `from_estimator`."""
        return cls.from_estimator(labels, X, ax=ax, **settings)

    @classmethod
    def from_report(cls, report: Any, *, ax: Axes | None = None) -> Self:
        """Draw the silhouettes of a :class:`tacit.cluster.ClusterReport`."""
        return cls(report.silhouette_samples, report.codes, report.labels, report.scores["silhouette"]).plot(ax)

    def _draw(self, ax: Axes) -> None:
        self.blades_, ticks = [], []
        base, gap = 0.0, 0.02 * len(self.values)
        for k, colour in enumerate(colours(len(self.labels))):
            mine = -np.sort(-self.values[self.codes == k])
            if not len(mine):
                continue
            self.blades_.append(self._blade(mine, base, colour))
            ticks.append((base + 0.5 * len(mine), str(self.labels[k])))
            base += len(mine) + gap
        self.mean_ = ax.axvline(self.mean, color="black", linestyle="--", linewidth=1.0)
        ax.axvline(0.0, color=MUTED, linewidth=0.8)
        ax.set_yticks([place for place, _ in ticks], [name for _, name in ticks])
        ax.set(xlabel="silhouette", ylabel="cluster")
        ax.set(ylim=(base, -gap), xlim=(min(-0.1, 1.05 * self.values.min()), 1.0))
        self._title(f"mean silhouette {self.mean:.2f}")

    def _blade(self, values: np.ndarray, base: float, colour: Any) -> Any:
        heights = base + np.arange(len(values) + 1.0)
        if len(values) > MOST_ROWS:
            drawn = np.linspace(0, len(values) - 1, MOST_ROWS).round().astype(int)
            heights = base + np.linspace(0.0, len(values), MOST_ROWS + 1)
            values = values[drawn]
        look = {"fill": True, "color": colour, "linewidth": 0}
        return self.ax_.stairs(values, heights, orientation="horizontal", baseline=0.0, **look)
