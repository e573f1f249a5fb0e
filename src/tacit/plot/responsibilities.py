"""`ResponsibilitiesDisplay`: how sure a mixture is of each row's class."""

from typing import Any, Self

import numpy as np

from ..checks import check_choice
from .display import Display
from .rows import memory_rows
from .style import Axes, colours

__all__ = ["ResponsibilitiesDisplay"]

MOST_BARS = 1000


class ResponsibilitiesDisplay(Display, figsize=(7.0, 3.2)):
    """Probabilities of the classes of every row, rows sorted by class and, within it, from sure to unsure.

    Parameters
    ----------
    probabilities : (rows, classes) array
    unsure : float
        Rows whose most probable class has less than this are marked.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    order_ : (rows,) int array
        Row numbers in the order drawn.
    bands_ : list of artists
        One per class, or the single image of a heat map.
    unsure_ : artist or None
        Marks over the rows that are unsure.

    Examples
    --------
    >>> from tacit.plot import ResponsibilitiesDisplay
    >>> display = ResponsibilitiesDisplay.from_estimator(fitted, X)  # doctest: +SKIP
    """

    def __init__(self, probabilities: Any, unsure: float = 0.8) -> None:
        self.probabilities, self.unsure = np.asarray(probabilities, dtype=float), unsure

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, unsure: float = 0.8, kind: str = "stacked", ax: Axes | None = None
    ) -> Self:
        """Draw the memberships of the rows of X under a fitted mixture.

        Parameters
        ----------
        estimator : fitted mixture
        X : array-like of shape (n_samples, n_features)
        unsure : float, default=0.8
            Rows whose most probable class has less than this are marked.
        kind : {"stacked", "heatmap"}, default="stacked"
            Bands of probability that add up to one, or one shaded line per class, which serves many classes better.
        ax : matplotlib axes, optional

        Returns
        -------
        ResponsibilitiesDisplay
        """
        memory_rows(estimator, X)
        return cls(estimator.predict_proba(X), unsure).plot(ax, kind=kind)

    def plot(self, ax: Axes | None = None, *, kind: str = "stacked") -> Self:
        """Draw; returns self."""
        check_choice("kind", kind, ("stacked", "heatmap"))
        self._place(ax)
        sure, classes = self.probabilities.max(axis=1), self.probabilities.argmax(axis=1)
        self.order_ = np.lexsort((-sure, classes))
        n = len(sure)
        shown = np.linspace(0, n - 1, min(n, MOST_BARS)).round().astype(int)  # as many as can be told apart
        drawn = self.probabilities[self.order_[shown]]
        self.bands_ = self._stack(drawn) if kind == "stacked" else self._heat(drawn)
        self._mark(sure[self.order_], top=1.0 if kind == "stacked" else drawn.shape[1] - 0.5)
        self.ax_.set(xlim=(0, n), xlabel="rows, by class and certainty")
        return self

    def _stack(self, drawn: np.ndarray) -> list:
        edges = np.linspace(0, len(self.order_), len(drawn) + 1)
        below, bands = np.zeros(len(drawn)), []
        for k, colour in enumerate(colours(drawn.shape[1])):
            above = below + drawn[:, k]
            look = {"fill": True, "color": colour, "linewidth": 0}
            bands.append(self.ax_.stairs(above, edges, baseline=below, label=f"class {k}", **look))
            below = above
        self.ax_.set(ylim=(0, 1.06), ylabel="probability")
        columns = 1 if drawn.shape[1] <= 12 else 2
        self.ax_.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.01, 0.5), ncols=columns)
        return bands

    def _heat(self, drawn: np.ndarray) -> list:
        n_classes = drawn.shape[1]
        extent = (0, len(self.order_), n_classes - 0.5, -0.5)
        image = self.ax_.imshow(
            drawn.T, aspect="auto", interpolation="nearest", cmap="viridis", vmin=0, vmax=1, extent=extent
        )
        self.ax_.set(ylim=(n_classes - 0.5 + 0.06 * n_classes, -0.5), ylabel="class")
        self.ax_.set_yticks(range(n_classes))
        self.figure_.colorbar(image, ax=self.ax_, label="probability")
        return [image]

    def _mark(self, sure: np.ndarray, top: float) -> None:
        rows = np.flatnonzero(sure < self.unsure)
        self.unsure_ = None
        share = len(rows) / max(len(sure), 1)
        if len(rows):
            offset = 0.03 * (top if top <= 1.0 else top + 0.5)
            (self.unsure_,) = self.ax_.plot(
                rows + 0.5, np.full(len(rows), top + offset), "|", color="black", markersize=5, clip_on=False
            )
        self._title(f"{len(rows)} of {len(sure)} rows ({share:.0%}) are less than {self.unsure:.0%} sure")
