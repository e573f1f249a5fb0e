"""`MissingnessDisplay`: which cells are missing, how many per column, and what stands in for them."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from ..frames import read_columns
from .display import Display
from .rows import column_names, imputed, levels_of, memory_rows
from .style import MUTED, Axes, colours, name_columns

__all__ = ["MissingnessDisplay"]

MOST_LINES = 400


class MissingnessDisplay(Display):
    """A map of missing cells with the share per column, and imputed values with intervals for chosen columns.

    Parameters
    ----------
    X : (rows, d) array
        Cells; NaN is missing.
    names : list of str
        Names of the columns.
    filled, low, high : (rows, d) arrays, optional
        Imputed cells and their intervals.
    columns : list of int
        Columns of which imputed values are drawn.
    level : float
        Of their intervals.
    levels : list of tuple, optional
        For each column the levels of its codes, where it is a category; these are drawn without intervals.

    Attributes
    ----------
    figure_ : matplotlib figure
    ax_ : matplotlib axes
        The map.
    share_ax_ : matplotlib axes
        The bars above it.
    imputed_axes_ : list of matplotlib axes
        One per chosen column.
    image_, bars_ : artists

    Examples
    --------
    >>> from tacit.plot import MissingnessDisplay
    >>> display = MissingnessDisplay.from_estimator(fitted, X, columns=[0])  # doctest: +SKIP
    """

    def __init__(
        self, X: np.ndarray, names: Iterable[str], *, filled: np.ndarray | None = None, low: np.ndarray | None = None,
        high: np.ndarray | None = None, columns: Iterable[int] = (), level: float = 0.9, levels: list[tuple] | None = None,
    ) -> None:  # fmt: skip
        self.X, self.names, self.filled, self.low, self.high = X, list(names), filled, low, high
        self.columns, self.level = list(columns), level
        self.levels = levels or [()] * len(self.names)
        self._figsize = (6.4 + 2.2 * len(self.columns), 4.8)

    @classmethod
    def from_data(cls, X: Any, *, ax: Axes | None = None) -> Self:
        """Draw the missing cells of an array or a table, whatever its columns hold."""
        if np.ndim(X) != 2:
            raise ValueError(f"X has {np.ndim(X)} dimension(s), but rows and columns are drawn; give it as a table.")
        columns = read_columns(X)
        missing = np.column_stack([np.where(cells.missing, np.nan, 0.0) for cells in columns.values()])
        names = [f"column {name}" if isinstance(name, int) else str(name) for name in columns]
        return cls(missing, names).plot(ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, columns: Iterable | None = None, level: float = 0.9, ax: Axes | None = None
    ) -> Self:
        """Draw the missing cells of X, and what a fitted estimator imputes for them.

        Parameters
        ----------
        estimator : fitted estimator with ``impute(X, interval=level)``
        X : array-like of shape (n_samples, n_features)
        columns : list of int or str, optional
            Columns of which imputed values are drawn; default the two with most missing cells.
        level : float, default=0.9
            Of the intervals.
        ax : matplotlib axes, optional

        Returns
        -------
        MissingnessDisplay
        """
        rows = memory_rows(estimator, X)
        if not hasattr(estimator, "impute"):
            raise TypeError(f"{type(estimator).__name__} does not impute; use MissingnessDisplay.from_data.")
        names = column_names(estimator, rows.shape[1], X)
        filled, low, high, _ = imputed(estimator, X, level)
        chosen, levels = _chosen(columns, names, rows), levels_of(estimator, len(names))
        return cls(rows, names, filled=filled, low=low, high=high, columns=chosen, level=level, levels=levels).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw; returns self. Given axes are filled with the panels of the display."""
        return super().plot(ax)

    def _draw(self, ax: Axes) -> None:
        ax.set_axis_off()  # only its place is used
        n_panels = len(self.columns)
        width = 1.0 if not n_panels else 0.55
        self.ax_ = ax.inset_axes((0.0, 0.0, width, 0.78))
        self.share_ax_ = ax.inset_axes((0.0, 0.81, width, 0.19), sharex=self.ax_)
        self._map()
        self._shares()
        self.imputed_axes_ = []
        for i, column in enumerate(self.columns):
            step = (1.0 - width) / n_panels
            panel = ax.inset_axes((width + i * step + 0.35 * step, 0.0, 0.62 * step, 0.78))
            self._imputed(panel, column)
            self.imputed_axes_.append(panel)

    def _map(self) -> None:
        """Cells, many rows to a line where there are more rows than lines."""
        missing = np.isnan(self.X).astype(float)
        n, d = missing.shape
        n_lines = min(n, MOST_LINES)
        starts = np.linspace(0, n, n_lines, endpoint=False).astype(int)
        lines = np.add.reduceat(missing, starts, axis=0) / np.diff(np.append(starts, n))[:, None]
        self.image_ = self.ax_.imshow(
            lines, aspect="auto", interpolation="nearest", cmap="Blues", vmin=0, vmax=1, extent=(-0.5, d - 0.5, n, 0)
        )
        self.ax_.set_ylabel("row")
        name_columns(self.ax_, self.names)

    def _shares(self) -> None:
        share = np.isnan(self.X).mean(axis=0)
        self.bars_ = self.share_ax_.bar(range(len(share)), share, color=colours(1)[0], width=0.8)
        self.share_ax_.tick_params(labelbottom=False)
        top = max(share.max(), 0.01)
        self.share_ax_.set_ylim(0, 1.3 * top)
        self.share_ax_.set_yticks([0, top], ["0%", f"{top:.0%}"], fontsize="small")
        self._title(f"{np.isnan(self.X).mean():.1%} of the cells are missing (dark)", self.share_ax_)
        self.share_ax_.spines[["top", "right"]].set_visible(False)

    def _imputed(self, ax: Axes, column: int) -> None:
        """Observed values on the left, imputed ones with intervals on the right, from small to large."""
        missing = np.isnan(self.X[:, column])
        observed = self.X[~missing, column]
        spread = np.linspace(0.0, 0.3, len(observed))
        ax.plot(np.random.default_rng(0).permutation(spread), observed, ".", color=MUTED, markersize=3, alpha=0.5)
        parts = [np.asarray(part)[missing, column] for part in (self.filled, self.low, self.high)]
        value, low, high = (part[np.argsort(parts[0])] for part in parts)
        levels = self.levels[column]
        ends = np.zeros((2, len(value))) if levels else np.maximum([value - low, high - value], 0.0)
        at = np.linspace(0.5, 1.0, len(value)) if len(value) > 1 else np.full(len(value), 0.75)
        ax.errorbar(at, value, yerr=ends, fmt="o", color=colours(2)[1], markersize=3, linewidth=0.9)
        ax.set_xlim(-0.1, 1.1)
        ax.set_xticks([0.15, 0.75], ["observed", "imputed"], fontsize="small", rotation=45, ha="right")
        if levels:
            ax.set_yticks(range(len(levels)), [str(level) for level in levels], fontsize="small")
        subtitle = "most probable level" if levels else f"{self.level:.0%} intervals"
        ax.set_title(f"{self.names[column]}\n{subtitle}", fontsize="small")


def _chosen(columns: Iterable | None, names: list[str], X: np.ndarray) -> list[int]:
    """Numbers of columns; by default the two with most missing cells."""
    if columns is None:
        share = np.isnan(X).mean(axis=0)
        order = np.argsort(-share, kind="stable")[:2]
        return [int(j) for j in order if share[j] > 0]
    found = [names.index(each) if each in names else each for each in columns]
    for each in found:
        if not isinstance(each, (int, np.integer)) or not 0 <= each < len(names):
            raise ValueError(
                f"columns holds {each!r}, which is no column; use names of {', '.join(names)}, or numbers."
            )
    return found
