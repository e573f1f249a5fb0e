"""Rows and the cluster of each, read from tables, arrays, labels or fitted estimators: what reports and figures start from."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from ...checks import check_weight
from ...frames import is_table, read_columns
from ...kernels import host
from ...notes import NoteError
from ...schema import Column, ColumnLearner, encode_column
from ...source import is_streamed

__all__ = ["Clusters", "Rows", "labels_of", "read_clusters", "read_rows"]

MOST_LABELS = 5000
FARTHEST = 1e150
LEFT_OUT = {"identifier": "as many levels as an identifier has", "dates": "dates"}


@dataclass(frozen=True)
class Rows:
    """Cells as numbers, categories as codes, NaN where missing; the columns they are of; and why columns were left out."""

    cells: np.ndarray
    columns: tuple[Column, ...]
    left_out: tuple[tuple[object, str], ...] = ()

    @property
    def names(self) -> list[str]:
        """Names of the columns, as text."""
        return [str(column.name) for column in self.columns]

    @property
    def categories(self) -> np.ndarray:
        """Which columns hold categories; yes and no, and levels that have an order, are as good as numbers."""
        return np.array(
            [column.coded and column.levels != (False, True) and column.type != "ordered" for column in self.columns]
        )


@dataclass(frozen=True)
class Clusters:
    """The clusters of rows that count: those that have a cluster and a weight.

    Sorted labels of the clusters; numbers of the rows that count, the place of each one's cluster among the labels, and its
    weight; number and weight of rows that are noise; number of all rows.
    """

    names: list
    rows: np.ndarray
    codes: np.ndarray
    weight: np.ndarray
    n_noise: int
    noise_weight: float
    n_rows: int

    @property
    def row_weight(self) -> np.ndarray:
        """The weight of every row; 0 of those without a cluster."""
        weight = np.zeros(self.n_rows)
        weight[self.rows] = self.weight
        return weight

    def sums(self, values: np.ndarray | None = None) -> np.ndarray:
        """Σ weight × value over the rows of each cluster."""
        weight = self.weight if values is None else self.weight * values
        return np.bincount(self.codes, weight, minlength=len(self.names))

    def means(self, values: np.ndarray) -> np.ndarray:
        """Weighted means of one value per row, for each cluster."""
        return self.sums(values) / self.sums()


def read_rows(X: Any, names: Any = None) -> Rows:
    """The cells of a table or array; columns that are empty or hold identifiers are left out."""
    if is_streamed(X) and not is_table(X):
        raise ValueError("reports need rows in memory; read the rows, or a sample of them, first.")
    X = host(X)
    if is_table(X):
        return _read_table(np.array(X, dtype=object) if isinstance(X, (list, tuple)) else X, names)
    cells = check_array(X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan", input_name="X")
    names = _check_names(names, [f"column {j}" for j in range(cells.shape[1])])
    return _filled(cells, [Column(name, "continuous") for name in names], [])


def _check_names(names: Any, own: list) -> list:
    """Names that were given, one per column, or the columns' own."""
    if names is None:
        return own
    if len(names) != len(own):
        raise ValueError(f"feature_names has {len(names)} names, but X has {len(own)} columns; give one per column.")
    return [str(name) for name in names]


def _filled(cells: np.ndarray, columns: list[Column], left_out: list[tuple[object, str]]) -> Rows:
    """Rows without the columns in which nothing is observed."""
    seen = ~np.isnan(cells).all(axis=0)
    left_out += [(column.name, "no observed value") for column, is_seen in zip(columns, seen) if not is_seen]
    if not seen.any():
        raise ValueError("no column has an observed value that tells rows apart; there is nothing to report.")
    far = np.nanmax(np.abs(cells), axis=0, where=~np.isnan(cells), initial=0.0).astype(np.float64) > FARTHEST
    if far.any():
        name = columns[int(np.argmax(far))].name
        raise ValueError(f"column {name!r} holds numbers beyond {FARTHEST:g}, whose squares overflow; scale it first.")
    kept = tuple(column for column, is_seen in zip(columns, seen) if is_seen)
    return Rows(cells if seen.all() else cells[:, seen], kept, tuple(left_out))


def _read_table(X: Any, names: Any) -> Rows:
    columns: list[Column] = []
    cells, left_out = [], []
    given = read_columns(X)
    own = [f"column {name}" for name in given] if isinstance(X, np.ndarray) else list(given)
    for name, column in zip(_check_names(names, own), given.values()):
        if not len(column.missing):
            raise ValueError("Found array with 0 sample(s): the table has no rows.")
        seen = column.values[~column.missing]
        if not len(seen):
            columns.append(Column(name, "continuous"))
            cells.append(np.full(len(column.missing), np.nan))
            continue
        learner = ColumnLearner(name, kind="continuous" if column.numeric else None)
        learner.add(column)
        try:
            columns.append(learner.column())
        except NoteError as error:
            left_out.append((name, LEFT_OUT[error.note.code]))
            continue
        cells.append(encode_column(columns[-1], column))
    return _filled(np.column_stack(cells) if cells else np.empty((0, 0)), columns, left_out)


def read_clusters(X: Any, labels: Any, n_rows: int, sample_weight: Any = None, noise: Any = -1) -> Clusters:
    """The cluster of each row, from labels or from what a fitted estimator says of X."""
    if hasattr(labels, "predict") or hasattr(labels, "labels_") or hasattr(labels, "fit"):
        labels = labels_of(labels, X)
    labels = np.asarray(labels)
    if labels.ndim != 1 or len(labels) != n_rows:
        raise ValueError(f"labels have shape {labels.shape}, but X has {n_rows} rows; give one label per row.")
    _check_labels(labels)
    weight = check_weight(sample_weight, n_rows)
    weight = np.ones(n_rows) if weight is None else weight
    aside = (
        np.zeros(n_rows, bool) if noise is None else np.isin(labels.astype(object), np.atleast_1d(noise).astype(object))
    )
    rows = np.flatnonzero(~aside & (weight > 0))
    if not len(rows):
        raise ValueError("every row is noise or has weight 0; there is no cluster to report.")
    names, codes = _sorted(labels[rows])
    if len(names) > max(MOST_LABELS, n_rows // 4):
        raise ValueError(
            f"labels hold {len(names)} different values in {n_rows} rows, as identifiers do; give the cluster of each row."
        )
    return Clusters(
        names, rows, codes, weight[rows], int((aside & (weight > 0)).sum()), float(weight[aside].sum()), n_rows
    )


def labels_of(estimator: Any, X: Any) -> Any:
    """What an estimator says of rows; of those of its fit, what it said then."""
    check_is_fitted(estimator)
    if hasattr(estimator, "predict") and not (hasattr(estimator, "labels_") and _is_of_fit(estimator, X)):
        return estimator.predict(X)
    if not hasattr(estimator, "labels_"):
        raise TypeError(f"{type(estimator).__name__} has neither predict nor labels_; give the labels themselves.")
    return estimator.labels_


def _is_of_fit(estimator: Any, X: Any) -> bool:
    """Whether X is known to hold the rows of the fit: distances are between those, and spectral clustering keeps them."""
    asked = (getattr(estimator, "metric", None), getattr(estimator, "affinity", None))
    if any(isinstance(name, str) and name.startswith("precomputed") for name in asked):
        return True
    kept = getattr(estimator, "X_fit_", None)
    return isinstance(kept, np.ndarray) and np.shape(X) == kept.shape and np.array_equal(kept, X)


def _check_labels(labels: np.ndarray) -> None:
    missing = (
        np.array([label is None or label != label for label in labels]) if labels.dtype.kind in "Of" else np.zeros(1)
    )
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(f"the label of row {row} is missing; leave the row out, or label it -1, which is noise.")
    if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
        value = labels[labels != np.floor(labels)][0]
        raise ValueError(f"labels hold {value:g}, which is not the label of a cluster; use whole numbers or names.")


def _sorted(labels: np.ndarray) -> tuple[list, np.ndarray]:
    """Distinct labels in order, as Python values, and the place of each row's label among them."""
    try:
        names, codes = np.unique(labels, return_inverse=True)
    except TypeError:  # labels of several types
        names = np.array(sorted(set(labels.tolist()), key=lambda name: (type(name).__name__, str(name))), dtype=object)
        place = {name: k for k, name in enumerate(names.tolist())}
        codes = np.array([place[label] for label in labels.tolist()])
    if names.dtype.kind == "f":
        names = names.astype(np.int64)
    return names.tolist(), codes
