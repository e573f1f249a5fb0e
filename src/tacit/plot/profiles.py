"""`ProfilesDisplay`: what clusters are like, column by column."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from .display import Display
from .style import Axes, cell_texts

__all__ = ["ProfilesDisplay"]

MOST_TEXTS = 300


class ProfilesDisplay(Display):
    """A heat map of columns against clusters: numbers are means, colours tell how far they are from those of the other rows.

    Parameters
    ----------
    differences : (features, clusters) array
        Standardised differences.
    values : (features, clusters) array
        Means, or shares of a level.
    names : list of str
        Names of the features.
    labels : list
        Names of the clusters.
    is_share : (features,) bool array
        Which features are shares, to be told in per cent.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    image_ : artist
        The heat map.
    texts_ : list of artists
        The numbers; none where there are too many to read.

    Examples
    --------
    >>> from tacit.plot import ProfilesDisplay
    >>> display = ProfilesDisplay.from_estimator(fitted, X)  # doctest: +SKIP
    """

    def __init__(self, differences: Any, values: Any, names: Iterable[str], labels: Iterable, is_share: Any) -> None:
        self.differences, self.values = np.asarray(differences, dtype=float), np.asarray(values, dtype=float)
        self.names, self.labels, self.is_share = list(names), list(labels), np.asarray(is_share, dtype=bool)
        n_features, n_clusters = self.differences.shape
        self._figsize = (2.8 + 0.9 * min(n_clusters, 14), 1.4 + 0.36 * n_features)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, max_features: int = 30, ax: Axes | None = None, **settings: Any
    ) -> Self:
        """Draw the clusters that a fitted estimator finds in X.

        Parameters
        ----------
        estimator : fitted estimator
        X : table or array-like of shape (n_samples, n_features)
        max_features : int, default=30
            Numbers and levels to draw at most: those that set a cluster apart most.
        ax : matplotlib axes, optional
        **settings
            Settings of :func:`tacit.cluster.cluster_report`, such as `feature_names`.

        Returns
        -------
        ProfilesDisplay
        """
        from ..cluster import cluster_report

        report = cluster_report(X, estimator, **{"silhouette": "auto", "max_rows": 200, **settings})
        return cls.from_report(report, max_features=max_features, ax=ax)

    @classmethod
    def from_labels(
        cls, X: Any, labels: Any, *, max_features: int = 30, ax: Axes | None = None, **settings: Any
    ) -> Self:
        """Draw the clusters that labels name; arguments as in `from_estimator`."""
        return cls.from_estimator(labels, X, max_features=max_features, ax=ax, **settings)

    @classmethod
    def from_report(cls, report: Any, *, max_features: int = 30, ax: Axes | None = None) -> Self:
        """Draw the profiles of a :class:`tacit.cluster.ClusterReport`."""
        if not report.profiles:
            raise ValueError("the report is of a matrix of dissimilarities, which has no columns; give the table as X.")
        found = [each for each in report.profiles if not each["is_missing"]]
        strongest = sorted(range(len(found)), key=lambda i: -np.abs(found[i]["difference"]).max())[:max_features]
        found = [found[i] for i in sorted(strongest)]
        names = [each["column"] if each["level"] is None else f"{each['column']} = {each['level']}" for each in found]
        return cls(
            [each["difference"] for each in found], [each["value"] for each in found], names, report.labels,
            [each["level"] is not None for each in found],
        ).plot(ax)  # fmt: skip

    def _draw(self, ax: Axes) -> None:
        n_features, n_clusters = self.differences.shape
        largest = max(float(np.abs(self.differences).max(initial=0.0)), 0.5)
        self.image_ = ax.imshow(self.differences, aspect="auto", cmap="PuOr_r", vmin=-largest, vmax=largest)
        ax.set_xticks(range(n_clusters), [str(label) for label in self.labels])
        ax.set_yticks(range(n_features), self.names)
        ax.set(xlabel="cluster")
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        self.figure_.colorbar(self.image_, ax=ax, label="difference from all rows (standard deviations)")
        dark = np.abs(self.differences) > 0.6 * largest
        cells = [(k, i, self._number(i, k), dark[i, k]) for i, k in np.ndindex(dark.shape)]
        self.texts_ = cell_texts(ax, cells) if len(cells) <= MOST_TEXTS else []

    def _number(self, i: int, k: int) -> str:
        value = self.values[i, k]
        if np.isnan(value):
            return "–"
        if self.is_share[i]:
            return f"{100.0 * value:.0f} %"
        return f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"
