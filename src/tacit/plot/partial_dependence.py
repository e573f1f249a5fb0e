"""`PartialDependenceDisplay`: how predictions go with one column while the others stay as they are in rows.

f̄(v) = (1/n) Σ_i f(v, x_i without the column)
"""

from typing import Any, Self

import numpy as np

from ..frames import as_numbers, as_objects, columns_of, is_missing, with_columns
from .display import Display
from .style import MUTED, Axes, colours

__all__ = ["PartialDependenceDisplay"]


class PartialDependenceDisplay(Display, figsize=(4.8, 3.6)):
    """The mean prediction along a column, with its 95 % interval over rows and the band of most rows' own curves.

    The interval tells how well so many rows tell the mean, not how well the model tells the truth.

    Parameters
    ----------
    grid : array-like of shape (n_values,)
        Values of the column, or texts: its levels.
    curves : array-like of shape (n_rows, n_values)
        Predictions of each row with these values.
    name : str
        Of the column.
    share : float, default=0.8
        Share of rows in the band, whose curves are moved to the same mean.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    line_ : artist
    mean, error : ndarray of shape (n_values,)
        The mean and its standard error.
    low, high : ndarray of shape (n_values,)
        The band.

    References
    ----------
    Friedman (2001), Greedy function approximation: a gradient boosting machine. Annals of Statistics 29.
    Goldstein, Kapelner, Bleich and Pitkin (2015), Peeking inside the black box. JCGS 24.

    Examples
    --------
    >>> from tacit.plot import PartialDependenceDisplay
    >>> display = PartialDependenceDisplay.from_estimator(fitted, X, "age")  # doctest: +SKIP
    """

    def __init__(self, grid: Any, curves: Any, name: str = "", share: float = 0.8) -> None:
        given, curves = np.asarray(grid), np.asarray(curves, dtype=np.float64)
        self.levels = given.tolist() if given.dtype.kind in "OUS" else []
        self.grid = np.arange(float(len(given))) if self.levels else given.astype(np.float64)
        if curves.ndim != 2 or curves.shape[1] != len(self.grid) or len(curves) < 2:
            raise ValueError(f"curves have shape {curves.shape}; give at least 2 rows of {len(self.grid)} values.")
        self.name, self.share, self.n_rows = name, share, len(curves)
        self.mean = curves.mean(axis=0)
        own = curves - curves.mean(axis=1, keepdims=True)
        # Rows differ most by what the column has nothing to do with.
        self.error = own.std(axis=0, ddof=1) / np.sqrt(len(curves))
        self.low, self.high = np.quantile(own, [0.5 - share / 2, 0.5 + share / 2], axis=0) + self.mean.mean()

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, column: Any, *, label: Any = None, n_values: int = 40, most_rows: int = 500,
        seed: int = 0, ax: Axes | None = None,
    ) -> Self:  # fmt: skip
        """Predict rows with the values of a column one after the other, and draw the curves.

        Parameters
        ----------
        estimator : object
            Any fitted regressor, or classifier with `predict_proba`.
        X : array-like of shape (n_samples, n_features)
            Numbers, or a data frame of any columns; missing cells of the column are left out of its values.
        column : int or str
        label : object, optional
            The class whose probability is drawn; default the last of ``classes_``.
        n_values : int, default=40
            Most values, at equal shares of the rows.
        most_rows : int, default=500
            Rows that curves are made of, drawn where there are more.
        seed : int, default=0
        ax : matplotlib axes, optional

        Returns
        -------
        PartialDependenceDisplay
        """
        names = [str(name) for name in X.columns] if hasattr(X, "columns") else []
        if isinstance(column, str) and column not in names:
            raise ValueError(f"column={column!r} is none of X; there are {', '.join(names) or 'no names'}.")
        j = names.index(column) if isinstance(column, str) else int(column)
        frame = X if hasattr(X, "columns") else None
        if frame is not None and any(as_numbers(each) is None for _, each in columns_of(frame)):
            return cls._of_mixed(estimator, frame, column, j, label, n_values, most_rows, seed).plot(ax)
        cells = np.asarray(X, dtype=np.float64)
        if not 0 <= j < cells.shape[1]:
            raise ValueError(f"column={column!r} is none of X, which has {cells.shape[1]} columns.")
        seen = cells[~np.isnan(cells[:, j]), j]
        if not len(seen):
            raise ValueError(f"column={column!r} has no value.")
        grid = _spread(seen, n_values)
        rows = np.random.default_rng(seed).permutation(len(cells))[:most_rows]
        curves = []
        for value in grid:
            moved = cells[rows].copy()
            moved[:, j] = value
            curves.append(_predicted(estimator, moved if frame is None else type(frame)(moved, columns=names), label))
        return cls(grid, np.array(curves).T, names[j] if names else f"x{j}").plot(ax)

    @classmethod
    def _of_mixed(
        cls, estimator: Any, frame: Any, column: Any, j: int, label: Any, n_values: int, most_rows: int, seed: int
    ) -> Self:
        """Of a data frame with columns of categories or text, which stay of their types."""
        columns = columns_of(frame)
        if not 0 <= j < len(columns):
            raise ValueError(f"column={column!r} is none of X, which has {len(columns)} columns.")
        name, cells = columns[j]
        grid: Any = []
        numbers = as_numbers(cells)
        if numbers is not None:
            seen = numbers[0][~np.isnan(numbers[0])]
            grid = _spread(seen, n_values) if len(seen) else grid
        else:
            found = {cell for cell in as_objects(cells) if not is_missing(cell)}
            grid = sorted(found, key=lambda cell: (isinstance(cell, str), cell))
        if not len(grid):
            raise ValueError(f"column={column!r} has no value.")
        rows = np.random.default_rng(seed).permutation(len(frame))[:most_rows]
        some = frame.iloc[rows] if hasattr(frame, "iloc") else frame[rows]
        curves = [_predicted(estimator, _with_value(some, name, value), label) for value in grid]
        return cls(grid if numbers is not None else [str(each) for each in grid], np.array(curves).T, str(name))

    def _draw_levels(self, ax: Axes) -> None:
        ax.vlines(self.grid, self.low, self.high, color=MUTED, alpha=0.3, linewidth=6)
        drawn = ax.errorbar(self.grid, self.mean, 1.96 * self.error, fmt="o", color=colours(1)[0], markersize=4)
        self.line_ = drawn.lines[0]
        ax.set_xticks(self.grid, self.levels)
        ax.set_xlim(-0.5, len(self.grid) - 0.5)

    def _draw(self, ax: Axes) -> None:
        if self.levels:
            self._draw_levels(ax)
        else:
            self._draw_curve(ax)
        ax.set(xlabel=self.name, ylabel="mean prediction")
        self._title(f"{self.n_rows:,} rows; grey: {self.share:.0%} of their own curves", ax)

    def _draw_curve(self, ax: Axes) -> None:
        colour = colours(1)[0]
        ax.fill_between(self.grid, self.low, self.high, color=MUTED, alpha=0.2, linewidth=0)
        ax.fill_between(
            self.grid,
            self.mean - 1.96 * self.error,
            self.mean + 1.96 * self.error,
            color=colour,
            alpha=0.3,
            linewidth=0,
        )
        (self.line_,) = ax.plot(self.grid, self.mean, color=colour, linewidth=1.6)


def _spread(seen: np.ndarray, n_values: int) -> np.ndarray:
    """Values at equal shares of the rows."""
    return np.unique(np.quantile(seen, np.linspace(0.02, 0.98, n_values), method="inverted_cdf"))


def _with_value(frame: Any, name: Any, value: Any) -> Any:
    """A data frame with one value in all cells of a column, whose type stays."""
    column = frame[name]
    cells = [value] * len(frame)
    if hasattr(frame, "iloc"):
        return with_columns(frame, {name: type(column)(cells, index=column.index, dtype=column.dtype)})
    return frame.with_columns(type(column)(name, cells, dtype=column.dtype))


def _predicted(estimator: Any, X: Any, label: Any) -> np.ndarray:
    if not hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict(X), dtype=np.float64)
    classes = np.asarray(estimator.classes_).tolist()
    label = classes[-1] if label is None else label
    if label not in classes:
        raise ValueError(f"label={label!r} is no class of the estimator; use one of {', '.join(map(repr, classes))}.")
    return np.asarray(estimator.predict_proba(X))[:, classes.index(label)]
