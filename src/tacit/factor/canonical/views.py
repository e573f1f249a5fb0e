"""Two views of the same rows: how they are checked, and how they become rows [x, y] of one source."""

import numbers

import numpy as np
from sklearn.utils.validation import check_array

from ...checks import as_rows, check_number, check_rows
from ...source import Source, is_streamed

__all__ = ["check_first", "check_ridge", "check_second", "check_together", "join", "own", "project", "refuse_missing"]


def check_first(estimator, X, *, reset):
    """The first view as rows, with the columns that were seen at fit."""
    _refuse_stream(X, "X", estimator)
    return check_rows(estimator, X, reset=reset, ensure_all_finite="allow-nan")


def check_second(estimator, y, n_columns=None):
    """The second view as rows, and whether it came as one column without a name for its axis."""
    name = type(estimator).__name__
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None; y is the second view of the rows.")
    _refuse_stream(y, "y", estimator)
    _check_names(estimator, y, fitting=n_columns is None)
    y = check_array(
        as_rows(estimator, y), input_name="y", dtype=[np.float64, np.float32], ensure_2d=False,
        ensure_all_finite="allow-nan",
    )  # fmt: skip
    flat = y.ndim == 1
    y = y[:, None] if flat else y
    if n_columns is not None and y.shape[1] != n_columns:
        raise ValueError(f"y has {y.shape[1]} columns, but {name} was fitted to a second view of {n_columns}.")
    return y, flat


def _check_names(estimator, y, *, fitting):
    """Keep the names of the second view's columns at fit; later, refuse others."""
    names = [name for name in getattr(y, "columns", ()) if isinstance(name, str)]
    known = list(getattr(estimator, "target_names_in_", ()))
    if fitting:
        if known:
            del estimator.target_names_in_
        if names:
            estimator.target_names_in_ = np.array(names, dtype=object)
    elif names and known and names != known:
        raise ValueError(
            f"y has the columns {', '.join(names)}, but those seen at fit are {', '.join(known)}; give it these columns in this "
            "order."
        )


def _refuse_stream(view, name, estimator):
    if isinstance(view, Source) or is_streamed(view):
        raise TypeError(
            f"{name} is read in a stream, but {type(estimator).__name__} takes two views in memory; read their columns first."
        )


def check_together(X, y):
    """Raise where the views have different numbers of rows."""
    if len(X) != len(y):
        raise ValueError(
            f"X has {len(X)} rows, but y has {len(y)}: the views describe the same rows. ProbabilisticCCA takes rows of which "
            "one view is missing; give them NaN there."
        )


def check_ridge(ridge):
    """The ridge of each view from one number, or a pair of them."""
    pair = (ridge, ridge) if isinstance(ridge, numbers.Real) else ridge
    if not isinstance(pair, (tuple, list, np.ndarray)) or len(pair) != 2:
        raise ValueError(f"ridge={ridge!r} is neither a number nor a pair of them, one for each view.")
    for value in pair:
        check_number("ridge", value, numbers.Real, 0, 1e12)
    return tuple(float(value) for value in pair)


def refuse_missing(**views):
    """Raise where a view has missing cells, with the remedy."""
    for name, rows in views.items():
        missing = np.isnan(rows)
        if missing.any():
            i, j = np.argwhere(missing)[0]
            raise ValueError(
                f"{name} contains NaN in {int(missing.sum())} cells, the first in row {i} and column {j}; "
                "tacit.factor.ProbabilisticCCA integrates missing cells and missing views out, or fill them in first."
            )


def join(X, y):
    """Rows [x, y] in double precision, which are nobody else's."""
    joined = np.empty((len(X), X.shape[1] + y.shape[1]))
    joined[:, : X.shape[1]], joined[:, X.shape[1] :] = X, y
    return joined


def own(rows, copy):
    """Rows in double precision that may be overwritten."""
    if copy or not rows.flags.writeable:
        return np.array(rows, dtype=np.float64)
    return rows.astype(np.float64, copy=False)


def project(rows, mean, deviation, matrix, copy):
    """Centred and scaled rows times a matrix, in the precision of the rows."""
    centred = own(rows, copy)
    centred -= mean
    centred /= deviation
    return (centred @ matrix).astype(rows.dtype, copy=False)
