"""What displays share: axes, colours that the colour-blind can tell apart, names of columns, rows in memory."""

import numpy as np
from sklearn.base import is_clusterer
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from ..base.missing import impute_cells
from ..frames import is_table
from ..source import is_streamed

__all__ = ["MARKERS", "MUTED", "axes", "colours", "column_names", "imputed", "levels_of", "memory_rows", "pyplot"]

# Okabe and Ito's palette, in an order that keeps neighbours apart.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000", "#F0E442")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
MUTED = "#767676"


def pyplot():
    """matplotlib.pyplot, or an error that says how to get it."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib; install it with: pip install 'tacit[plot]'") from error
    return pyplot


def axes(ax, **figure):
    """The axes given, or those of a new figure."""
    plt = pyplot()
    if ax is None:
        _, ax = plt.subplots(layout="constrained", **figure)
    return ax


def colours(n):
    """One colour per class: a fixed palette for up to eight, else evenly spaced on a map of growing lightness."""
    if n <= len(PALETTE):
        return list(PALETTE[:n])
    pyplot()
    from matplotlib import colormaps

    return [colormaps["viridis"](value) for value in np.linspace(0.0, 0.95, n)]


def column_names(estimator, X):
    """Names of the columns: those seen at fit, those of a frame, or numbers."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        names = getattr(X, "columns", None)
    if names is None or len(names) != np.shape(X)[1]:
        names = [f"column {j}" for j in range(np.shape(X)[1])]
    return [str(name) for name in names]


def memory_rows(estimator, X):
    """Rows of X as the fitted estimator sees them."""
    check_is_fitted(estimator)
    if not hasattr(estimator, "_validate") and not is_clusterer(estimator):
        raise TypeError(f"{type(estimator).__name__} has no classes to draw; use a mixture, such as GaussianMixture().")
    if is_streamed(X) and not is_table(X):
        raise ValueError("plots show rows in memory; read the rows you want to see first.")
    if hasattr(estimator, "_validate"):
        rows = estimator._validate(X, reset=False)
        return rows.toarray() if hasattr(rows, "toarray") else rows
    if getattr(estimator, "schema_", None) is not None:
        return estimator.schema_.encode(X)
    return check_array(X, dtype=np.float64, ensure_all_finite="allow-nan")


def imputed(estimator, X, what="std"):
    """The rows of X as numbers with missing cells filled, and how sure each is: its "std", or its interval at a level."""
    return impute_cells(estimator, estimator._validate(X, reset=False), what)


def levels_of(estimator, n_columns):
    """For each column, the levels of its codes; none where it holds numbers."""
    schema = getattr(estimator, "schema_", None)
    return [()] * n_columns if schema is None else [column.levels for column in schema.columns]
