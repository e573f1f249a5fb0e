"""What runs on the workers of a cluster: partitions in their memory, and the functions called on them."""

import sys
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from .array import ArraySource

__all__ = [
    "Facts",
    "Partition",
    "add_up",
    "eligible",
    "hold",
    "map_blocks",
    "read",
    "stay",
    "sum_blocks",
    "take",
    "tell",
]


class Partition(ArraySource):
    """An `ArraySource` that travels as its rows alone, and that tells Dask its size, on which placement depends."""

    def __init__(self, X, weight, labels, n_jobs):
        super().__init__(_writeable(X), _writeable(weight), _writeable(labels), n_jobs=n_jobs)

    def __reduce__(self):
        return type(self), (self.X, self.weight, self.labels, self.n_jobs)

    def __sizeof__(self):
        return sum(array.nbytes for array in (self.X, self.weight, self.labels) if array is not None)


def _writeable(array):
    # Received arrays may be read-only, for which kernels would be compiled once more.
    return array if array is None or array.flags.writeable else array.copy()


@dataclass(frozen=True)
class Facts:
    """What the driver knows of a partition."""

    n_rows: int
    n_features: int
    n_eligible: int
    n_bytes: int
    dtype: np.dtype
    observed: np.ndarray
    labelled: bool
    label_range: tuple | None


def read(number, rows, weight, labels, columns, dtype, n_jobs):
    """Partition `number` as a source, checked."""
    if isinstance(weight, str):
        weight = _numbers(rows[weight])
    if isinstance(labels, str):
        labels = _numbers(rows[labels])
    X = _numbers(rows if columns is None else rows[columns], dtype)
    if X.ndim != 2:
        raise ValueError(f"partition {number} has {X.ndim} dimension(s); give rows and columns, as by reshape(-1, 1).")
    if not np.isfinite(X.sum()) and np.isinf(X).any():
        raise ValueError(f"Input X contains infinity (partition {number}); replace it or leave the cell empty (NaN).")
    for name, values in (("weight", weight), ("labels", labels)):
        if values is not None and np.shape(values) != (len(X),):
            raise ValueError(
                f"partition {number} has {len(X)} rows, but {name} has shape {np.shape(values)} there; give one a row."
            )
    return Partition(np.ascontiguousarray(X), _weights(weight, number), _labels(labels, number), n_jobs)


def _numbers(values, dtype=None):
    """A NumPy array of floats; NaN where pandas has no value."""
    if hasattr(values, "to_numpy"):
        X = values.to_numpy(dtype=dtype or np.float64, na_value=np.nan)
    else:
        X = np.asarray(values)
    if dtype is None:
        dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.float64
    try:
        return X.astype(dtype, copy=False)
    except (TypeError, ValueError):
        raise ValueError(f"rows hold {X.dtype}, which is not a number; convert or drop such columns.") from None


def _weights(values, number):
    if values is None:
        return None
    weight = np.ascontiguousarray(values, dtype=np.float64)
    bad = weight[~np.isfinite(weight) | (weight < 0)]
    if bad.size:
        raise ValueError(f"the weight holds {bad[0]:g} (partition {number}); weights must be finite and not negative.")
    return weight


def _labels(values, number):
    if values is None:
        return None
    labels = np.asarray(values, dtype=np.float64)
    labels = np.where(np.isnan(labels), -1.0, labels)
    bad = labels[(labels < -1) | (labels != np.floor(labels))]
    if bad.size:
        raise ValueError(f"labels hold {bad[0]:g} (partition {number}); classes are 0, 1, 2 …, and −1 is unknown.")
    return labels.astype(np.int64)


def tell(partition):
    """What the driver should know of a partition."""
    weight, labels = partition.weight, partition.labels
    return Facts(
        partition.n_rows,
        partition.n_features,
        partition.n_rows if weight is None else int((weight > 0).sum()),
        sys.getsizeof(partition),
        partition.dtype,
        ~np.isnan(partition.X).all(axis=0),
        partition.labelled,
        None if labels is None or not len(labels) else (int(labels.min()), int(labels.max())),
    )


def hold(function):
    """The function itself: as the result of a task it lives on workers, and can be made again."""
    return function


def stay(partition):
    """The partition itself, on the worker that runs this."""
    return partition


def sum_blocks(partition, function):
    """Σ function(block) over the blocks of a partition."""
    return partition.sum(function)


def add_up(*parts):
    """Sum in the order given."""
    return reduce(add, parts)


def map_blocks(partition, function):
    """function(block) for the blocks of a partition."""
    return list(partition.map(function))


def eligible(partition):
    """Numbers of the rows of positive weight."""
    return partition.eligible()


def take(partition, rows, among_eligible):
    """Cells, weights and labels of the rows with these numbers, counted among all or among those of positive weight."""
    if among_eligible:
        rows = partition.eligible()[rows]
    block = partition.take(rows)
    return block.X, block.weight, block.labels
