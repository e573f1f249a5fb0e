"""`LoadingsDisplay`: a heat map of loadings, and of the share of each column that the components leave unexplained."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from ..checks import check_choice
from .display import Display
from .linear import loadings_of, titles, uniquenesses_of
from .rows import column_names
from .style import Axes, cell_texts

__all__ = ["LoadingsDisplay"]

MOST_TEXTS = 400
GAP = 0.35  # between loadings and uniquenesses, in columns


class LoadingsDisplay(Display):
    """Loadings of columns on components; colours run from negative over white at 0 to positive.

    A loading is what a column gains per standard deviation of a score: where columns are standardised, their correlation.

    Parameters
    ----------
    loadings : (columns, components) array
    names : list of str
        Names of the columns.
    titles : list of str, optional
        Names of the components.
    uniquenesses : (columns,) array, optional
        Share of each column's variance that is noise of its own; drawn beside.
    order : {"sorted", "given"}, default="sorted"
        Columns under the component they load on most, by falling size, or as they come.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    image_ : artist
        The heat map.
    uniqueness_ : artist or None
        The column of uniquenesses.
    texts_ : list of artists
        The numbers; none where there are too many to read.
    order_ : int array
        Numbers of the columns from top to bottom.

    Examples
    --------
    >>> from tacit.plot import LoadingsDisplay
    >>> display = LoadingsDisplay.from_estimator(fitted)  # doctest: +SKIP
    """

    def __init__(
        self, loadings: Any, names: Iterable[str], *, titles: Sequence[str] | None = None, uniquenesses: Any = None,
        order: str = "sorted",
    ) -> None:  # fmt: skip
        check_choice("order", order, ("sorted", "given"))
        self.loadings, self.names, self.order = np.asarray(loadings, dtype=float), list(names), order
        n_columns, n_components = self.loadings.shape
        self.titles = list(titles or (f"component {k + 1}" for k in range(n_components)))
        self.uniquenesses = None if uniquenesses is None else np.asarray(uniquenesses, dtype=float)
        if self.uniquenesses is not None and self.uniquenesses.shape != (n_columns,):
            raise ValueError(
                f"uniquenesses have shape {self.uniquenesses.shape}, but there are {n_columns} columns; give one per column."
            )
        self._figsize = (3.4 + 0.7 * min(n_components, 14), 1.6 + 0.3 * min(n_columns, 40))

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, order: str = "sorted", feature_names: Sequence[str] | None = None, ax: Axes | None = None,
    ) -> Self:  # fmt: skip
        """Draw the loadings of a fitted model.

        Parameters
        ----------
        estimator : fitted estimator
            With `components_`, or a pipeline that ends in one; where it has a `noise_variance_`, uniquenesses are drawn too.
        order
            As in the class.
        feature_names : list of str, optional
            Default: those seen at fit.
        ax : matplotlib axes, optional

        Returns
        -------
        LoadingsDisplay
        """
        loadings = loadings_of(estimator)
        names = column_names(estimator, len(loadings), given=feature_names)
        heads, rest = titles(estimator, range(loadings.shape[1])), uniquenesses_of(estimator)
        return cls(loadings, names, titles=heads, uniquenesses=rest, order=order).plot(ax)

    def _draw(self, ax: Axes) -> None:
        n_columns, n_components = self.loadings.shape
        self.order_ = _sorted(self.loadings) if self.order == "sorted" else np.arange(n_columns)
        drawn = self.loadings[self.order_]
        largest = max(float(np.abs(drawn).max(initial=0.0)), 1e-12)
        self.image_ = ax.imshow(
            drawn, aspect="auto", cmap="PuOr_r", vmin=-largest, vmax=largest, interpolation="nearest",
            extent=(-0.5, n_components - 0.5, n_columns - 0.5, -0.5),
        )  # fmt: skip
        self.figure_.colorbar(self.image_, ax=ax, label="loading")
        self._uniquenesses()
        self._ticks()
        self.texts_ = self._texts(drawn, largest) if self.loadings.size <= MOST_TEXTS else []

    def _uniquenesses(self) -> None:
        self.uniqueness_ = None
        if self.uniquenesses is None:
            return
        n_columns, n_components = self.loadings.shape
        left = n_components - 0.5 + GAP
        self.uniqueness_ = self.ax_.imshow(
            self.uniquenesses[self.order_, None], aspect="auto", cmap="Greys", vmin=0, vmax=1, interpolation="nearest",
            extent=(left, left + 1.0, n_columns - 0.5, -0.5),
        )  # fmt: skip
        self.ax_.set_xlim(-0.5, left + 1.0)

    def _ticks(self) -> None:
        n_columns, n_components = self.loadings.shape
        places, texts = list(range(n_components)), self.titles
        if self.uniqueness_ is not None:
            places, texts = [*places, n_components + GAP], [*texts, "unexplained"]
        self.ax_.set_xticks(places, texts, rotation=35, ha="right", rotation_mode="anchor")
        step = max(1, -(-n_columns // 60))
        names = [self.names[j] for j in self.order_[::step]]
        self.ax_.set_yticks(range(0, n_columns, step), names, fontsize="medium" if n_columns <= 30 else "x-small")
        self.ax_.tick_params(length=0)
        self.ax_.spines[:].set_visible(False)

    def _texts(self, drawn: np.ndarray, largest: float) -> list:
        cells: list = [(k, i, _number(value), abs(value) > 0.6 * largest) for (i, k), value in np.ndenumerate(drawn)]
        if self.uniquenesses is not None:
            place = drawn.shape[1] + GAP
            cells += [(place, i, _number(value), value > 0.6) for i, value in enumerate(self.uniquenesses[self.order_])]
        return cell_texts(self.ax_, cells, "small" if len(drawn) <= 30 else "x-small")


def _sorted(loadings: np.ndarray) -> np.ndarray:
    """Columns under the component they load on most, by falling size."""
    size = np.abs(loadings)
    return np.lexsort((-size.max(axis=1), size.argmax(axis=1)))


def _number(value: float) -> str:
    """Two decimals, or as few digits as tell the size; no minus before a zero."""
    text = f"{value:.2f}" if abs(value) < 100 else f"{value:.3g}"
    return text.replace("-", "\N{MINUS SIGN}") if float(text) else text.lstrip("-")
