"""`ImputationDisplay`: a table before and after its missing cells were filled."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .display import Display
from .linear import numbers_of
from .missingness import MOST_LINES
from .rows import column_names, imputed
from .style import Axes, name_columns

__all__ = ["ImputationDisplay"]

MISSING = "#444444"
MOST_MARKS = 500  # beyond, a mark in every imputed cell would hide the picture


class ImputationDisplay(Display):
    """The cells of a table as two heat maps: with its missing values, and with what stands in for them.

    Colours tell how far a cell is from the mean of its column, in standard deviations of the observed cells; missing
    cells are dark, and imputed cells are dotted where there are few.

    Parameters
    ----------
    X : (rows, columns) array
        Cells; NaN is missing.
    filled : (rows, columns) array
        The same, filled.
    names : list of str
        Names of the columns.
    limit : float, default=2.5
        Standard deviations at which colours end.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        The axes are those of the left map.
    after_ax_ : matplotlib axes
        Those of the right map.
    before_, after_ : artists
        The heat maps; of at most 400 rows, evenly spaced.
    marks_ : artist or None
        The dots of imputed cells.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.impute import GaussianImputer
    >>> from tacit.plot import ImputationDisplay
    >>> X = np.array([[1.0, 2.0], [2.0, 4.1], [3.0, 5.9], [4.0, np.nan]])
    >>> display = ImputationDisplay.from_estimator(GaussianImputer().fit(X), X)  # doctest: +SKIP
    """

    def __init__(self, X: Any, filled: Any, names: Iterable[str], *, limit: float = 2.5) -> None:
        self.X, self.filled = numbers_of(X), numbers_of(filled)
        if self.X.ndim != 2 or self.X.shape != self.filled.shape or not self.X.size:
            raise ValueError(
                f"X has shape {self.X.shape} and filled {self.filled.shape}; give one table of numbers, before and after."
            )
        self.names, self.limit = list(names), limit
        self._figsize = (2.4 + 2.0 * float(np.clip(0.32 * self.X.shape[1], 2.0, 5.0)), 4.8)

    @classmethod
    def from_data(cls, X: Any, filled: Any, *, ax: Axes | None = None) -> Self:
        """Draw a table of numbers before and after."""
        return cls(X, filled, column_names(None, np.shape(X)[1], X)).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, ax: Axes | None = None) -> Self:
        """Draw X, and X as a fitted estimator fills it: with `impute` (mixtures, ProbabilisticPCA) or `transform` (imputers)."""
        check_is_fitted(estimator)
        names = column_names(estimator, np.shape(X)[1], X)
        if hasattr(estimator, "impute"):
            cells = estimator._validate(X, reset=False) if hasattr(estimator, "schema_") else X  # levels as codes
            return cls(cells, imputed(estimator, X)[0], names).plot(ax)
        if hasattr(estimator, "transform"):
            filled = estimator.transform(X)
            if np.shape(filled) == np.shape(X):
                return cls(X, filled, names).plot(ax)
        raise TypeError(
            f"{type(estimator).__name__} does not fill the cells of X; use an imputer, or ImputationDisplay.from_data."
        )

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw; returns self. Given axes are filled with the two maps."""
        return super().plot(ax)

    def _draw(self, ax: Axes) -> None:
        ax.set_axis_off()  # only its place is used
        n = len(self.X)
        self.ax_ = ax.inset_axes((0.0, 0.0, 0.44, 1.0))
        self.after_ax_ = ax.inset_axes((0.47, 0.0, 0.44, 1.0), sharex=self.ax_, sharey=self.ax_)
        bar = ax.inset_axes((0.935, 0.0, 0.025, 1.0))
        rows = np.linspace(0, n - 1, min(n, MOST_LINES)).round().astype(int)
        middle, scale = _scale(self.X)
        missing = np.isnan(self.X[rows])
        self.before_ = self._map(self.ax_, (self.X[rows] - middle) / scale)
        self.after_ = self._map(self.after_ax_, (self.filled[rows] - middle) / scale)
        self.figure_.colorbar(self.after_, cax=bar, label="standard deviations from the column's mean", extend="both")
        self._mark(missing, n)
        name_columns(self.ax_, self.names)
        name_columns(self.after_ax_, self.names)
        self.ax_.set_ylabel("row")
        self.after_ax_.tick_params(labelleft=False)
        left = np.isnan(self.filled).mean()
        self._title(f"before: {np.isnan(self.X).mean():.1%} missing", self.ax_)
        self._title("after: all filled" if left == 0 else f"after: {left:.1%} missing", self.after_ax_)

    def _map(self, ax: Axes, cells: np.ndarray) -> Any:
        from matplotlib import colormaps

        n, d = self.X.shape
        return ax.imshow(
            np.ma.masked_invalid(cells), aspect="auto", interpolation="nearest", vmin=-self.limit, vmax=self.limit,
            cmap=colormaps["PuOr_r"].with_extremes(bad=MISSING), extent=(-0.5, d - 0.5, n - 0.5, -0.5),
        )  # fmt: skip

    def _mark(self, missing: np.ndarray, n: int) -> None:
        """A dot in every cell that was filled, where each row has a line of its own."""
        self.marks_ = None
        if len(missing) == n and 0 < missing.sum() <= MOST_MARKS:
            row, column = np.nonzero(missing)
            (self.marks_,) = self.after_ax_.plot(column, row, ".", color="black", markersize=2.5)


def _scale(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations of the observed cells; 0 and 1 where there are none, or all are equal."""
    seen = ~np.isnan(X)
    count = np.maximum(seen.sum(axis=0), 1)
    middle = np.where(seen, X, 0.0).sum(axis=0) / count
    spread = np.sqrt((np.where(seen, X - middle, 0.0) ** 2).sum(axis=0) / count)
    return middle, np.where(spread > 0, spread, 1.0)
