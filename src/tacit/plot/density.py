"""`DensityDisplay`: the density of one column under a mixture, over a histogram of its cells."""

from typing import Any, Self

import numpy as np

from ..checks import check_columns
from ..families.distribution import possible
from ..source import Block
from .display import Display
from .rows import column_names, levels_of, memory_rows
from .style import MUTED, PALETTE, Axes, colours, key

__all__ = ["DensityDisplay"]

N_POINTS = 400


class DensityDisplay(Display, figsize=(6.4, 4.0)):
    """The density of a column under a mixture, its components, and a histogram of the observed cells.

    Parameters
    ----------
    x : ndarray of shape (n_points,)
        Where densities are drawn.
    parts : ndarray of shape (n_points, n_classes)
        Densities of the components, times their weights; their sum is the density.
    cells : ndarray
        Observed cells.
    name : str
        Of the column.
    whole : bool
        Whether cells are whole numbers, of which probabilities are drawn.
    noise : bool
        Whether the last class is noise.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    lines_ : list of artists
        Lines of the components, and then of their sum.
    bars_ : artist
        The histogram.

    Examples
    --------
    >>> from tacit.plot import DensityDisplay
    >>> display = DensityDisplay.from_estimator(mixture, X)  # doctest: +SKIP
    """

    def __init__(
        self, x: np.ndarray, parts: np.ndarray, cells: np.ndarray, *, name: str = "", whole: bool = False, noise: bool = False
    ) -> None:  # fmt: skip
        self.x, self.parts, self.cells, self.name, self.whole, self.noise = x, parts, cells, name, whole, noise

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, feature: Any = 0, bins: Any = "auto", ax: Axes | None = None
    ) -> Self:
        """Draw a column of a fitted mixture; of several columns the others are integrated out.

        Parameters
        ----------
        estimator : fitted mixture
        X : array-like of shape (n_samples, n_features) or table
            Rows; missing cells are left out of the histogram.
        feature : int or str, default=0
            Which column, of numbers.
        bins : int or str, default="auto"
            Of the histogram, as in :func:`numpy.histogram_bin_edges`.
        ax : matplotlib axes, optional

        Returns
        -------
        DensityDisplay
        """
        rows = memory_rows(estimator, X)
        names = column_names(estimator, rows.shape[1], X)
        (j,) = check_columns("feature", [feature], rows.shape[1], names)
        if levels_of(estimator, rows.shape[1])[j]:
            raise ValueError(f"feature={feature!r} is a category, which has no density; name a column of numbers.")
        cells = rows[~np.isnan(rows[:, j]), j]
        family = estimator._family()
        parts = getattr(family, "parts", [(family, range(rows.shape[1]))])
        whole = next(part.whole for part, columns in parts if j in columns)
        low, high = cells.min(), cells.max()
        margin = 0.05 * (high - low)
        x = np.arange(low, high + 1.0) if whole else np.linspace(low - margin, high + margin, N_POINTS)
        grid = np.full((len(x), rows.shape[1]), np.nan)
        grid[:, j] = x
        inside = possible(family, grid)  # not beyond what the family describes
        x, grid = x[inside], grid[inside]
        model, params = estimator._model(), estimator._params()
        found = np.exp(model.family.log_prob(params.components, Block.of(grid)) + params.log_weight)
        display = cls(x, found, cells, name=names[j], whole=whole, noise=bool(estimator.noise))
        display._bins = bins
        return display.plot(ax)

    _bins: Any = "auto"

    def _draw(self, ax: Axes) -> None:
        edges: Any = (
            np.append(self.x - 0.5, self.x[-1] + 0.5) if self.whole else np.histogram_bin_edges(self.cells, self._bins)
        )
        look: dict = {"color": MUTED, "alpha": 0.3, "linewidth": 0}
        self.bars_ = ax.hist(self.cells, edges, density=True, **look)[2]
        self.lines_: list = []
        style: dict[str, Any] = {"marker": "o", "markersize": 3} if self.whole else {}
        n = self.parts.shape[1]
        palette = colours(n)
        handles = []
        for k, colour in enumerate(palette if n > 1 else ()):
            told = "noise" if self.noise and k == n - 1 else f"component {k}"
            (line,) = ax.plot(self.x, self.parts[:, k], color=colour, linewidth=1.4, linestyle="--", **style)
            self.lines_.append(line)
            handles.append(key(told, colour, linestyle="--"))
        total = "black" if n > 1 else PALETTE[0]
        self.lines_ += ax.plot(self.x, self.parts.sum(axis=1), color=total, linewidth=1.8, zorder=1.9, **style)
        ax.set(xlabel=self.name, ylabel="probability" if self.whole else "density")
        if n > 1:
            ax.legend(handles=[key("mixture", total), *handles], fontsize="small")
