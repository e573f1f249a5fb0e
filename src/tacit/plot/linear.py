"""What displays of linear models share: scores, loadings, and names of columns, components and groups.

x ≈ μ + W z: a row of `components_` is a column of W, and `transform` gives z.
"""

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..frames import is_table
from ..source import is_streamed
from .style import MARKERS, MUTED, colours

__all__ = [
    "DARK_ORANGE", "final", "groups_of", "loadings_of", "named", "numbers_of", "pair_of", "scatter_groups", "scores_of",
    "titles", "uniquenesses_of",
]  # fmt: skip

DARK_ORANGE = "#9A6A00"  # the palette's orange, dark enough for letters


def final(estimator):
    """The linear model itself: the last step of a pipeline, or the estimator."""
    check_is_fitted(estimator)
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def loadings_of(estimator):
    """What each column, in the units that axes were sought in, gains per standard deviation of a score: (columns, components)."""
    model = final(estimator)
    if getattr(model, "components_", None) is None:
        raise TypeError(
            f"{type(model).__name__} has no components_; use a fitted linear model, such as tacit.factor.PCA()."
        )
    if hasattr(model, "loadings_"):
        return np.asarray(model.loadings_, dtype=float) / _unit(model)[:, None]
    # Axes have unit length and scores a variance of their own; loadings of factors are for scores of unit variance.
    spread = np.sqrt(getattr(model, "explained_variance_", np.ones(len(model.components_))))
    return np.asarray(model.components_, dtype=float).T * spread


def uniquenesses_of(estimator):
    """Share of each column's variance that is noise of its own; none where the model knows no noise."""
    model = final(estimator)
    if hasattr(model, "uniqueness_"):
        return np.asarray(model.uniqueness_, dtype=float)
    noise = getattr(model, "noise_variance_", None)
    if noise is None or not np.any(np.asarray(noise) > 0) or not hasattr(model, "get_covariance"):
        return None
    variance = np.diag(np.asarray(model.get_covariance(), dtype=float))
    return np.divide(noise * _unit(model) ** 2, variance, out=np.ones(len(variance)), where=variance > 0)


def _unit(model):
    """What the columns were divided by before axes were sought."""
    unit = getattr(model, "scale_", None)
    return np.ones(np.shape(model.components_)[1]) if unit is None else np.asarray(unit, dtype=float)


def numbers_of(X):
    """The cells of a table of numbers in memory; missing ones are NaN."""
    if is_streamed(X) and not is_table(X):
        raise ValueError("plots show rows in memory; read the rows you want to see first.")
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.filled(X.astype(float), np.nan)
    return np.asarray(X, dtype=float)


def scores_of(estimator, X):
    """Scores of the rows, (rows, components)."""
    if is_streamed(X) and not is_table(X):
        raise ValueError("plots show rows in memory; read the rows you want to see first.")
    return np.asarray(estimator.transform(X), dtype=float)


def named(estimator, given, n_columns, X=None):
    """Names of the columns: those given, those seen at fit, those of a frame, or numbers."""
    if given is not None and len(given) != n_columns:
        raise ValueError(f"feature_names holds {len(given)} names, but there are {n_columns} columns; give one each.")
    first = estimator[0] if isinstance(estimator, Pipeline) else estimator
    for names in (given, getattr(first, "feature_names_in_", None), getattr(X, "columns", None)):
        if names is not None and len(names) == n_columns:
            return [str(name) for name in names]
    return [f"column {j}" for j in range(n_columns)]


def titles(estimator, n_components):
    """Names of the components, with their shares of the variance where they are known."""
    model = final(estimator)
    noun = "factor" if "Factor" in type(model).__name__ else "component"
    share = getattr(model, "explained_variance_ratio_", None)
    told = [""] * n_components if share is None else [f" ({each:.1%})" for each in share]
    return [f"{noun} {k + 1}{told[k]}" for k in range(n_components)]


def pair_of(components, n_components):
    """Numbers of the two components to draw."""
    pair = list(components)
    if (
        len(set(pair)) != 2
        or len(pair) != 2
        or not all(isinstance(k, (int, np.integer)) and 0 <= k < n_components for k in pair)
    ):
        raise ValueError(
            f"components={components!r} are not two of 0 to {n_components - 1}; the model has {n_components}, of which two are "
            "drawn against each other."
        )
    return [int(k) for k in pair]


def groups_of(groups, n_rows):
    """The group of each row as a number, and the names of the groups; without groups, one without a name."""
    if groups is None:
        return np.zeros(n_rows, dtype=int), [None]
    values = np.asarray(groups)
    if values.shape != (n_rows,):
        raise ValueError(f"groups have shape {values.shape}, but X has {n_rows} rows; give one group per row.")
    try:
        found, codes = np.unique(values, return_inverse=True)
    except TypeError:  # of several kinds, which have no order
        found, codes = np.unique(values.astype(str), return_inverse=True)
    return codes, [str(each) for each in found]


def scatter_groups(ax, points, groups, hollow=None):
    """Draw rows by group, some of them hollow; returns the artists and the handles of a legend."""
    from matplotlib.lines import Line2D

    codes, names = groups
    hollow = np.zeros(len(points), dtype=bool) if hollow is None else hollow
    size = float(np.clip(4000 / max(len(points), 1), 4, 28))
    artists, handles = [], []
    for k, (name, colour) in enumerate(zip(names, colours(len(names)))):
        marker = MARKERS[k % len(MARKERS)]
        for rows in ((codes == k) & ~hollow, (codes == k) & hollow):
            if rows.any():
                look = {"c": [colour], "linewidths": 0, "alpha": 0.65}
                if hollow[rows].any():
                    look = {"edgecolors": [colour], "facecolors": "none", "linewidths": 1.1}
                artists.append(ax.scatter(*points[rows].T, s=size, marker=marker, **look))
        if name is not None:
            handles.append(Line2D([], [], color=colour, marker=marker, linestyle="none", label=name))
    if hollow.any():
        handles.append(
            Line2D([], [], color=MUTED, marker="o", fillstyle="none", linestyle="none", label="a cell missing")
        )
    return artists, handles
