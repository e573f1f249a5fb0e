"""`LoadingsDisplay`: a heat map of loadings, and of the share of each column that the components leave unexplained."""

import numpy as np

from ..checks import check_choice
from .linear import loadings_of, named, titles, uniquenesses_of
from .style import axes

__all__ = ["LoadingsDisplay"]

MOST_TEXTS = 400
GAP = 0.35  # between loadings and uniquenesses, in columns


class LoadingsDisplay:
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

    def __init__(self, loadings, names, *, titles=None, uniquenesses=None, order="sorted"):
        check_choice("order", order, ("sorted", "given"))
        self.loadings, self.names, self.order = np.asarray(loadings, dtype=float), list(names), order
        n_columns, n_components = self.loadings.shape
        self.titles = list(titles or (f"component {k + 1}" for k in range(n_components)))
        self.uniquenesses = None if uniquenesses is None else np.asarray(uniquenesses, dtype=float)
        if self.uniquenesses is not None and self.uniquenesses.shape != (n_columns,):
            raise ValueError(
                f"uniquenesses have shape {self.uniquenesses.shape}, but there are {n_columns} columns; give one per column."
            )

    @classmethod
    def from_estimator(cls, estimator, *, order="sorted", feature_names=None, ax=None):
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
        names = named(estimator, feature_names, len(loadings))
        return cls(
            loadings, names, titles=titles(estimator, loadings.shape[1]), order=order,
            uniquenesses=uniquenesses_of(estimator),
        ).plot(ax)  # fmt: skip

    def plot(self, ax=None):
        """Draw; returns self."""
        n_columns, n_components = self.loadings.shape
        ax = axes(ax, figsize=(3.4 + 0.7 * min(n_components, 14), 1.6 + 0.3 * min(n_columns, 40)))
        self.ax_, self.figure_ = ax, ax.figure
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
        return self

    def _uniquenesses(self):
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

    def _ticks(self):
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

    def _texts(self, drawn, largest):
        """The numbers in their cells, white on dark."""
        cells = [(k, i, value, abs(value) > 0.6 * largest) for (i, k), value in np.ndenumerate(drawn)]
        if self.uniquenesses is not None:
            place = drawn.shape[1] + GAP
            cells += [(place, i, value, value > 0.6) for i, value in enumerate(self.uniquenesses[self.order_])]
        size = "small" if len(drawn) <= 30 else "x-small"
        return [
            self.ax_.text(
                x, y, _number(value), ha="center", va="center", fontsize=size, color="white" if dark else "black"
            )
            for x, y, value, dark in cells
        ]


def _sorted(loadings):
    """Columns under the component they load on most, by falling size."""
    size = np.abs(loadings)
    return np.lexsort((-size.max(axis=1), size.argmax(axis=1)))


def _number(value):
    """Two decimals, or as few digits as tell the size; no minus before a zero."""
    text = f"{value:.2f}" if abs(value) < 100 else f"{value:.3g}"
    return text.replace("-", "\N{MINUS SIGN}") if float(text) else text.lstrip("-")
