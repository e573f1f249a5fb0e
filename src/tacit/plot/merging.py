"""`MergesDisplay`: how components of a mixture become clusters."""

from typing import Any

import numpy as np

from .display import Display
from .style import MUTED, PALETTE, Axes, ring

__all__ = ["MergesDisplay"]


class MergesDisplay(Display, figsize=(6.0, 4.2)):
    """The entropy of merged components against the number of clusters, or the tree of merges.

    Parameters
    ----------
    tree : tacit.mixture.MergeTree
        What :func:`tacit.mixture.merge_components` returned.
    kind : {"entropy", "tree"}
        What to draw. Two lines fit the entropy and meet at the elbow, which is marked.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    lines_ : list of artists
        The entropy and the two lines; of a tree none.
    elbow_ : artist or None
        The mark at the number of clusters.

    Examples
    --------
    >>> from tacit.plot import MergesDisplay
    >>> display = MergesDisplay(tree, "tree").plot()  # doctest: +SKIP
    """

    def __init__(self, tree: Any, kind: str = "entropy") -> None:
        self.tree, self.kind = tree, kind

    def _draw(self, ax: Axes) -> None:
        self.lines_: list = []
        self.elbow_ = None
        (self._draw_tree if self.kind == "tree" else self._draw_entropy)(ax)

    def _draw_entropy(self, ax: Axes) -> None:
        entropy, n = self.tree.entropy, self.tree.n_clusters
        x = np.arange(1, len(entropy) + 1)
        self.lines_ += ax.plot(x, entropy, "o", color=PALETTE[0], markersize=6)
        for line, (first, last) in zip(self.tree.elbow, ((1, n), (n, len(entropy)))):
            ends = np.array([first, last])
            self.lines_ += ax.plot(ends, np.polyval(line, ends), color=MUTED, linewidth=1.4)
        self.elbow_ = ring(ax, n, entropy[n - 1])
        ax.annotate(
            f"{n} clusters",
            (n, entropy[n - 1]),
            xytext=(0, 14),
            textcoords="offset points",
            ha="center",
            fontsize="small",
        )
        ax.set(xlabel="number of clusters", ylabel="entropy of the memberships", xticks=x)

    def _draw_tree(self, ax: Axes) -> None:
        from scipy.cluster.hierarchy import dendrogram

        n = self.tree.n_clusters
        heights = np.append(self.tree.linkage[:, 2], np.inf)
        cut = 0.5 * (heights[len(heights) - n] + (heights[len(heights) - n - 1] if n < len(heights) else 0.0))
        dendrogram(self.tree.linkage, ax=ax, color_threshold=0.0, above_threshold_color=PALETTE[0])
        if np.isfinite(cut):
            self.lines_.append(ax.axhline(cut, color=MUTED, linestyle="--", linewidth=1.2))
        ax.set(xlabel="component", ylabel="entropy lost by merging")
