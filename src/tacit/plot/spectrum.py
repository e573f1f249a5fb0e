"""`SpectrumDisplay`: the lowest eigenvalues of a graph's Laplacian, and the gap that tells the number of clusters."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..cluster.spectral.gap import relative_gaps
from .display import Display
from .style import MUTED, Axes, colours

__all__ = ["SpectrumDisplay"]


class SpectrumDisplay(Display, figsize=(5.6, 3.8)):
    """Eigenvalues of a graph's Laplacian in rising order; the gap that tells the number of clusters is marked.

    As many eigenvalues are near 0 as the graph has parts between which few edges run.

    Parameters
    ----------
    eigenvalues : (n,) array
        Lowest eigenvalues, rising.
    n_clusters : int, optional
        Clusters that were sought; their eigenvalues are filled.
    n_gap : int, optional
        Number of eigenvalues before the gap to mark; default that before the gap which is largest relative to its end, at
        least 2.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    points_ : artist
        The eigenvalues of the clusters.
    others_ : artist or None
        The eigenvalues beyond.
    gap_ : artist or None
        The mark of the gap; none where no eigenvalues beyond those of the clusters are known, or all are equal.
    n_gap_ : int or None
        The number of eigenvalues before it.

    Examples
    --------
    >>> from tacit.plot import SpectrumDisplay
    >>> display = SpectrumDisplay.from_estimator(fitted)  # doctest: +SKIP
    """

    def __init__(self, eigenvalues: Any, n_clusters: int | None = None, n_gap: int | None = None) -> None:
        self.eigenvalues = np.asarray(eigenvalues, dtype=float)
        if self.eigenvalues.ndim != 1 or not len(self.eigenvalues):
            raise ValueError(f"eigenvalues have shape {self.eigenvalues.shape}; give a list of at least one.")
        self.n_clusters = len(self.eigenvalues) if n_clusters is None else n_clusters
        self.n_gap = n_gap

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> Self:
        """Draw the spectrum of a fitted `SpectralClustering`.

        Where `n_clusters` was given, eigenvalues beyond it are only known if `n_components` asked for them;
        ``n_clusters="auto"`` knows one more than `max_clusters`.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "eigenvalues_"):
            raise TypeError(
                f"{type(estimator).__name__} has no eigenvalues_; use a fitted tacit.cluster.SpectralClustering."
            )
        n_gap = estimator.n_clusters_ if estimator.n_clusters == "auto" else None
        return cls(estimator.eigenvalues_, estimator.n_clusters_, n_gap).plot(ax)

    def _draw(self, ax: Axes) -> None:
        numbers, inside = np.arange(1, len(self.eigenvalues) + 1), self.n_clusters
        blue = colours(1)[0]
        (self.points_,) = ax.plot(numbers[:inside], self.eigenvalues[:inside], "o", color=blue)
        self.others_ = None
        if len(numbers) > inside:
            (self.others_,) = ax.plot(numbers[inside:], self.eigenvalues[inside:], "o", color=blue, fillstyle="none")
        ax.set(xlabel="number", ylabel="eigenvalue")
        ax.locator_params(axis="x", integer=True)
        ax.set_ylim(bottom=min(0.0, float(self.eigenvalues.min())) - 0.04 * max(float(np.ptp(self.eigenvalues)), 1e-12))
        self._mark()

    def _mark(self) -> None:
        gaps = np.diff(self.eigenvalues)
        self.gap_ = self.n_gap_ = None
        if self.others_ is None:
            self._title("eigenvalues beyond n_clusters are unknown; n_clusters='auto' finds the gap")
        if self.others_ is None or gaps.max() <= 0:
            return
        self.n_gap_ = self.n_gap or (2 + int(relative_gaps(self.eigenvalues)[1:].argmax()) if len(gaps) > 1 else 1)
        low, high = self.eigenvalues[self.n_gap_ - 1 : self.n_gap_ + 1]
        middle = self.n_gap_ + 0.5
        arrow = {"arrowstyle": "<->", "color": "black", "shrinkA": 0, "shrinkB": 0}
        self.gap_ = self.ax_.annotate("", (middle, high), xytext=(middle, low), arrowprops=arrow)
        self.ax_.hlines(
            [low, high], [self.n_gap_, middle - 0.1], [middle + 0.1, self.n_gap_ + 1], color=MUTED, linewidth=0.8
        )
        noun = "cluster" if self.n_gap_ == 1 else "clusters"
        told = "gap" if self.n_gap else "largest gap, relative to its end,"
        self._title(f"{told} {high - low:.3g} after {self.n_gap_}: {self.n_gap_} {noun}")
