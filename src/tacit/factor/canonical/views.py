"""`TwoViews`: what estimators that link two views of the same rows share, from the checks of the views on."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin
from sklearn.utils.validation import check_array

from ...checks import as_rows, check_number, check_range, check_rows
from ...declared import Flag, Names, Numbers
from ...source import Source, is_streamed
from ..estimator import RowScores

__all__ = ["TwoViews", "check_ridge", "project"]


class TwoViews(MultiOutputMixin, RowScores):
    """Base of estimators of two views. A second view that was one-dimensional at fit stays so in results."""

    _saved = RowScores._saved | {
        "canonical_correlations_": Numbers("k", low=0, high=1),
        "x_loadings_": Numbers("d k"),
        "y_loadings_": Numbers("t k"),
        "x_rotations_": Numbers("d k"),
        "y_rotations_": Numbers("t k"),
        "_y_is_flat": Flag(),
        "target_names_in_": Names("t", needed=False),
    }
    x_loadings_: np.ndarray
    y_loadings_: np.ndarray
    target_names_in_: np.ndarray
    _y_is_flat: bool

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _check_views(self, X: Any, y: Any, *, reset: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Both views as rows, as many of each."""
        X, y = self._check_first(X, reset=reset), self._check_second(y, reset=reset)
        if len(X) != len(y):
            raise ValueError(
                f"X has {len(X)} rows, but y has {len(y)}: the views describe the same rows. ProbabilisticCCA takes rows of "
                "which one view is missing; give them NaN there."
            )
        return X, y

    def _check_first(self, X: Any, *, reset: bool = False) -> np.ndarray:
        self._refuse_stream(X, "X")
        X = check_rows(self, X, reset=reset, ensure_all_finite="allow-nan")
        self._refuse_missing(X, "X")
        return X

    def _check_second(self, y: Any, *, reset: bool = False) -> np.ndarray:
        name = type(self).__name__
        if y is None:
            raise ValueError(
                f"{name} requires y to be passed, but the target y is None; y is the second view of the rows."
            )
        self._refuse_stream(y, "y")
        self._check_target_names(y, reset=reset)
        y = check_array(
            as_rows(self, y), input_name="y", dtype=[np.float64, np.float32], ensure_2d=False,
            ensure_all_finite="allow-nan",
        )  # fmt: skip
        if reset:
            self._y_is_flat = y.ndim == 1
        y = y[:, None] if y.ndim == 1 else y
        if not reset and y.shape[1] != len(self.y_loadings_):
            raise ValueError(
                f"y has {y.shape[1]} columns, but {name} was fitted to a second view of {len(self.y_loadings_)}."
            )
        self._refuse_missing(y, "y")
        if reset:
            check_range(y, told=lambda column: f"{column} of y")
        return y

    def _check_target_names(self, y: Any, *, reset: bool) -> None:
        """Keep the names of the second view's columns at fit; later, refuse others."""
        names = [name for name in getattr(y, "columns", ()) if isinstance(name, str)]
        known = list(getattr(self, "target_names_in_", ()))
        if reset:
            if known:
                del self.target_names_in_
            if names:
                self.target_names_in_ = np.array(names, dtype=object)
        elif names and known and names != known:
            raise ValueError(
                f"y has the columns {', '.join(names)}, but those seen at fit are {', '.join(known)}; give it these columns in "
                "this order."
            )

    def _refuse_stream(self, view: Any, name: str) -> None:
        if isinstance(view, Source) or is_streamed(view):
            raise TypeError(
                f"{name} is read in a stream, but {type(self).__name__} takes two views in memory; read their columns first."
            )

    def _refuse_missing(self, view: np.ndarray, name: str) -> None:
        missing = np.isnan(view)
        if not self._takes_missing and missing.any():
            i, j = np.argwhere(missing)[0]
            raise ValueError(
                f"{name} contains NaN in {int(missing.sum())} cells, the first in row {i} and column {j}; "
                "tacit.factor.ProbabilisticCCA integrates missing cells and missing views out, or fill them in first."
            )


def check_ridge(ridge: Any) -> tuple[float, float]:
    """The ridge of each view from one number, or a pair of them."""
    pair = (ridge, ridge) if isinstance(ridge, numbers.Real) else ridge
    if not isinstance(pair, (tuple, list, np.ndarray)) or len(pair) != 2:
        raise ValueError(f"ridge={ridge!r} is neither a number nor a pair of them, one for each view.")
    for value in pair:
        check_number("ridge", value, numbers.Real, 0, 1e12)
    return float(pair[0]), float(pair[1])


def project(rows: np.ndarray, mean: np.ndarray, deviation: Any, matrix: np.ndarray, copy: bool) -> np.ndarray:
    """Centred and scaled rows times a matrix, in the precision of the rows, which are overwritten unless `copy`."""
    centred = rows.astype(np.float64, copy=copy or not rows.flags.writeable)
    centred -= mean
    centred /= deviation
    return (centred @ matrix).astype(rows.dtype, copy=False)
