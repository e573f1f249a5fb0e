"""`DendrogramDisplay`: the tree of merges of a hierarchical clustering, cut into clusters."""

from typing import Any, Self

import numpy as np
from scipy.cluster.hierarchy import dendrogram
from sklearn.utils.validation import check_is_fitted

from .display import Display
from .style import MUTED, Axes, colours

__all__ = ["DendrogramDisplay"]

MOST_LEAVES = 60


class DendrogramDisplay(Display, figsize=(7.2, 4.0)):
    """Merges of clusters by how far apart they were; branches below the cut have the colours of their clusters.

    Parameters
    ----------
    tree : (n_rows - 1, 4) array
        SciPy's linkage matrix.
    labels : (n_rows,) int array
        Cluster of each row.
    names : list of str, optional
        Names of the rows; default their numbers.
    max_leaves : int, default=60
        Beyond so many rows the lowest branches are drawn as leaves, with the number of their rows in brackets.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    cut_ : artist or None
        The line between the merges that were made and those that were not.
    leaves_ : list of str
        Names below the tree, from left to right.

    Examples
    --------
    >>> from tacit.plot import DendrogramDisplay
    >>> display = DendrogramDisplay.from_estimator(fitted)  # doctest: +SKIP
    """

    def __init__(self, tree: Any, labels: Any, names: Any = None, max_leaves: int = MOST_LEAVES) -> None:
        self.tree, self.labels = np.asarray(tree, dtype=float), np.asarray(labels)
        self.names, self.max_leaves = None if names is None else [str(name) for name in names], max_leaves
        if self.names is not None and len(self.names) != len(self.labels):
            raise ValueError(
                f"names has {len(self.names)} entries, but the tree has {len(self.labels)} rows; give one per row."
            )

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, names: Any = None, max_leaves: int = MOST_LEAVES, ax: Axes | None = None
    ) -> Self:
        """Draw the tree of a fitted `AgglomerativeClustering`."""
        check_is_fitted(estimator)
        if not hasattr(estimator, "linkage_matrix_"):
            raise TypeError(
                f"{type(estimator).__name__} has no linkage_matrix_; use a fitted tacit.cluster.AgglomerativeClustering."
            )
        return cls(estimator.linkage_matrix_, estimator.labels_, names, max_leaves).plot(ax)

    def _draw(self, ax: Axes) -> None:
        n, n_clusters = len(self.labels), int(self.labels.max()) + 1
        palette, cluster = colours(n_clusters), np.append(self.labels, np.full(n - 1, -1))
        for i, (a, b) in enumerate(self.tree[:, :2].astype(int), n):  # −1 where clusters were not merged
            cluster[i] = cluster[a] if cluster[a] == cluster[b] else -1
        few = n <= self.max_leaves
        drawn = dendrogram(
            self.tree, ax=ax, labels=self.names if few else None, truncate_mode=None if few else "lastp", p=self.max_leaves,
            link_color_func=lambda i: palette[cluster[i]] if cluster[i] >= 0 else MUTED,
        )  # fmt: skip
        self.leaves_ = drawn["ivl"]
        ax.set(ylabel="distance between merged clusters")
        ax.tick_params(axis="x", rotation=90, labelsize="x-small")
        self.cut_ = None
        if n_clusters > 1:
            last = self.tree[n - n_clusters - 1, 2] if n_clusters < n else 0.0
            height = 0.5 * (last + self.tree[n - n_clusters, 2])
            self.cut_ = ax.axhline(height, color=MUTED, linestyle="--", linewidth=0.9)
            self._title(f"{n_clusters} clusters, cut at {height:.3g}")
