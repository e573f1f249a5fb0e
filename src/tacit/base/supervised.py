"""`Supervised`: how estimators that learn a target take it: numbers, or classes, of rows anywhere; checked in one place."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from ..checks import as_numpy, check_range
from ..frames import is_missing
from ..kernels import backend, host
from ..source import Source
from ..source.dask import is_dask
from ..source.parquet import is_arrow
from .rows import RowsEstimator

__all__ = ["Supervised", "coded_classes"]


class Supervised(RowsEstimator):
    """Base of estimators that learn a target of each row.

    ``_open_targets`` opens rows beside numbers that are to be predicted, ``_open_classes`` beside classes; the targets of rows
    in files and of Dask dataframes are named by their column.
    """

    _one_target = True
    classes_: np.ndarray

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @property
    def _text_remedy(self) -> str:
        return (
            f"{type(self).__name__} takes numbers; encode columns of text first, for example make_pipeline("
            "sklearn.compose.make_column_transformer((OneHotEncoder(), columns), remainder='passthrough'), "
            f"{type(self).__name__}()), or let tacit.learning.choose_predictor, the command tacit learn, take the table as it is"
        )

    def _open_targets(self, X: Any, y: Any, weight: Any = None, *, reset: bool = True) -> Source:
        """The source of rows and of what is to be predicted of them, as `targets` of its blocks."""
        if is_arrow(X) or is_dask(X):
            source = self._stream(X, weight, None, reset=reset, targets=_named(X, y))
            self._one_target = source.n_targets == 1
            return self._open(source, reset=reset)
        if isinstance(X, Source):
            if y is not None:
                raise ValueError("a source carries its own targets; give them to the source, and y=None.")
            if not X.n_targets:
                raise ValueError("the source has no targets; make it with targets=, which say what is to be predicted.")
            self._one_target = X.n_targets == 1
            return self._open(X, weight, reset=reset)
        targets = self._checked_targets(y)
        return self._open(X, weight, targets=_beside(X, targets, self), reset=reset)

    def _checked_targets(self, y: Any) -> np.ndarray:
        """Numbers to be predicted, a column each; notes whether there was one dimension."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        y = host(y) if backend(y) == "torch" else as_numpy(y)
        if type(y) is np.ndarray and y.dtype == np.float64 and y.ndim == 1 and np.isfinite(y @ y):
            self._one_target = True  # what checks would find out, at no cost: most targets are like this
            return y[:, None]
        targets = check_array(y, dtype=np.float64, ensure_2d=False, ensure_all_finite=False, input_name="y")
        gone = np.isnan(targets.reshape(len(targets), -1)).any(axis=1)
        if gone.any():
            raise ValueError(
                f"Input y contains NaN (row {int(np.argmax(gone))}); a row without a target teaches nothing about it: leave out "
                f"the {int(gone.sum())} rows whose target is missing."
            )
        if np.isinf(targets).any():
            row = int(np.argmax(np.isinf(targets.reshape(len(targets), -1)).any(axis=1)))
            raise ValueError(
                f"Input y contains infinity or a value too large for dtype('float64') (row {row}); leave out rows whose target "
                "is not finite."
            )
        check_array(targets, ensure_2d=False, input_name="y")
        self._one_target = targets.ndim == 1
        columns = targets.reshape(len(targets), -1)
        check_range(columns, told=lambda column: f"{column} of y")
        return columns

    def _open_classes(self, X: Any, y: Any, weight: Any = None, *, reset: bool = True) -> tuple[Source, np.ndarray]:
        """The source of rows with the number of each one's class as its only target, and the classes in their order."""
        if is_arrow(X) or is_dask(X) or isinstance(X, Source):
            source = self._open_targets(X, y, weight, reset=reset)
            found = [np.unique(np.asarray(host(block.targets))[:, 0]) for block in source]
            classes = np.unique(np.concatenate(found))
            if not (classes == np.arange(len(classes))).all():
                raise ValueError(
                    f"the classes in files and sources must be the numbers 0, 1, … without gaps, but {classes[0]:g} to "
                    f"{classes[-1]:g} with {len(classes)} values were found; number them first."
                )
            return source, classes.astype(int)
        classes, codes = coded_classes(self, y)
        return self._open(X, weight, targets=_beside(X, codes[:, None].astype(float), self), reset=reset), classes

    def _columns_like_targets(self, predicted: np.ndarray) -> np.ndarray:
        """Predictions in the shape of the targets seen at fit."""
        return predicted[:, 0] if self._one_target else predicted


def coded_classes(estimator: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """The classes of rows in their order, and the number of each row's.

    Parameters
    ----------
    estimator : object
        Whom messages name.
    y : array-like of shape (n_samples,)
        Numbers, texts or truth values.
    """
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    y = host(y) if backend(y) == "torch" else as_numpy(y)
    if type(y) is not np.ndarray or y.ndim != 1:
        y = column_or_1d(y, warn=True)
    if y.dtype.kind in "iub" and len(y):  # nothing can be missing of these
        classes, codes = np.unique(y, return_inverse=True)
        if 2 * len(classes) > len(y):  # which may be worth a warning, and is all that checks can find
            check_classification_targets(y)
        return classes, codes
    gone = np.array([is_missing(label) for label in y.tolist()], dtype=bool)
    if gone.any():
        raise ValueError(
            f"y has no label in row {int(np.argmax(gone))}, but a missing value such as NaN; drop unlabelled rows, or "
            "learn from them too with a mixture and partial labels."
        )
    kinds = {isinstance(label, str): label for label in y.tolist()}
    if len(kinds) > 1:
        raise ValueError(
            f"y holds {kinds[True]!r} and {kinds[False]!r}, texts and other labels; make all of them texts, or all numbers."
        )
    check_classification_targets(y)
    return np.unique(y, return_inverse=True)


def _named(X: Any, y: Any) -> list[str]:
    """Names of the columns that are to be predicted."""
    names = [y] if isinstance(y, str) else y
    if not isinstance(names, (list, tuple)) or not names or not all(isinstance(name, str) for name in names):
        if is_dask(X) and not isinstance(y, (list, tuple)) and y is not None:
            return y  # values in partitions like those of the rows
        raise ValueError("X is read from a file, so y must be the name of a column of it, or a list of names.")
    return list(names)


def _beside(X: Any, targets: np.ndarray, estimator: Any) -> np.ndarray:
    """Targets, as many as there are rows."""
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X if hasattr(X, "__len__") else np.asarray(X))
    if len(targets) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows and y {len(targets)}; "
            f"{type(estimator).__name__} takes one target for each row."
        )
    return targets
