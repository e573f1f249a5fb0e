"""What displays of linear models share: scores, loadings, and names of columns, components and groups.

x ≈ μ + W z: a row of `components_` is a column of W, and `transform` gives z.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .rows import check_memory
from .style import MARKERS, MUTED, Axes, colours, key, scatter_rows

__all__ = [
    "final", "groups_of", "inner_rows", "loadings_of", "numbers_of", "pair_of", "scatter_groups", "scores_of", "titles",
    "uniquenesses_of",
]  # fmt: skip


def final(estimator: Any) -> Any:
    """The linear model itself: the last step of a pipeline, or the estimator."""
    check_is_fitted(estimator)
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def inner_rows(estimator: Any, X: Any) -> Any:
    """Rows as the linear model itself takes them."""
    return estimator[:-1].transform(X) if isinstance(estimator, Pipeline) and len(estimator) > 1 else X


def loadings_of(estimator: Any) -> np.ndarray:
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


def uniquenesses_of(estimator: Any) -> np.ndarray | None:
    """Share of each column's variance that is noise of its own; none where the model knows no noise."""
    model = final(estimator)
    if hasattr(model, "uniqueness_"):
        return np.asarray(model.uniqueness_, dtype=float)
    noise = getattr(model, "noise_variance_", None)
    if noise is None or not np.any(np.asarray(noise) > 0) or not hasattr(model, "get_covariance"):
        return None
    variance = np.diag(np.asarray(model.get_covariance(), dtype=float))
    return np.divide(noise * _unit(model) ** 2, variance, out=np.ones(len(variance)), where=variance > 0)


def _unit(model: Any) -> np.ndarray:
    """What the columns were divided by before axes were sought."""
    unit = getattr(model, "scale_", None)
    return np.ones(np.shape(model.components_)[1]) if unit is None else np.asarray(unit, dtype=float)


def numbers_of(X: Any) -> np.ndarray:
    """The cells of a table of numbers in memory; missing ones are NaN."""
    check_memory(X)
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.filled(X.astype(float), np.nan)
    return np.asarray(X, dtype=float)


def scores_of(estimator: Any, X: Any) -> np.ndarray:
    """Scores of the rows, (rows, components)."""
    check_memory(X)
    return np.asarray(estimator.transform(X), dtype=float)


def titles(estimator: Any, components: Iterable[int]) -> list[str]:
    """Names of components, with their shares of the variance where they are known."""
    model = final(estimator)
    noun = "factor" if "Factor" in type(model).__name__ else "component"
    share = getattr(model, "explained_variance_ratio_", None)
    return [f"{noun} {k + 1}" + ("" if share is None else f" ({share[k]:.1%})") for k in components]


def pair_of(components: Sequence[int], n_components: int) -> list[int]:
    """Numbers of the two components to draw."""
    pair = list(components)
    known = all(isinstance(k, (int, np.integer)) and 0 <= k < n_components for k in pair)
    if not known or len(pair) != 2 or pair[0] == pair[1]:
        raise ValueError(
            f"components={components!r} are not two of 0 to {n_components - 1}; the model has {n_components}, of which two are "
            "drawn against each other."
        )
    return [int(k) for k in pair]


def groups_of(groups: Any, n_rows: int) -> tuple[np.ndarray, list]:
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


def scatter_groups(
    ax: Axes, points: np.ndarray, groups: tuple[np.ndarray, list], hollow: np.ndarray | None = None
) -> tuple[list, list]:
    """Draw rows by group, some of them hollow; returns the artists and the handles of a legend."""
    codes, names = groups
    hollow = np.zeros(len(points), dtype=bool) if hollow is None else hollow
    artists, handles = [], []
    for k, (name, colour) in enumerate(zip(names, colours(len(names)))):
        mine, marker = codes == k, MARKERS[k % len(MARKERS)]
        artists += scatter_rows(ax, points[mine], hollow[mine], colour, marker, len(points))
        if name is not None:
            handles.append(key(name, colour, marker))
    if hollow.any():
        handles.append(key("a cell missing", MUTED, "o", fillstyle="none"))
    return artists, handles
