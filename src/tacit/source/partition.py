"""What runs on the workers of a cluster: partitions in their memory, and the functions called on them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..arrays import Arrays
from ..checks import check_range
from .array import ArraySource
from .block import Block
from .memory import Memory
from .source import add_up as added
from .units import rows_of_units

__all__ = [
    "Facts", "Partition", "Pass", "add_up", "eligible", "hold", "map_blocks", "read", "recall", "regrouped", "stay",
    "sum_blocks", "take", "tell",
]  # fmt: skip


class Partition(ArraySource):
    """An `ArraySource` that travels as its rows alone, and that tells Dask its size, on which placement depends.

    `unit` names the unit of each row, or is None. What its units remember stays with it, and is lost when it travels.
    """

    fit: str = ""  # the fit whose records it keeps

    def __init__(self, X: Any, weight: Any, labels: Any, targets: Any, unit: Any, n_jobs: int | None):
        self.unit = unit
        rows = map(_writeable, (X, weight, labels, targets))
        super().__init__(*rows, unit=unit, n_jobs=n_jobs)

    def __reduce__(self) -> tuple:
        return type(self), (self.X, self.weight, self.labels, self.targets, self.unit, self.n_jobs)

    def __sizeof__(self) -> int:
        arrays = self.X, self.weight, self.labels, self.targets
        return sum(array.nbytes for array in arrays if array is not None)

    def cut(self, start: int, stop: int) -> tuple:
        """The rows from `start` to before `stop`, as arrays."""
        return tuple(
            None if values is None else values[start:stop]
            for values in (self.X, self.weight, self.labels, self.targets, self.unit)
        )


def _writeable(array: Any) -> Any:
    # Received arrays may be read-only, for which kernels would be compiled once more.
    return array if array is None or array.flags.writeable else array.copy()


@dataclass(frozen=True)
class Facts:
    """What the driver knows of a partition; `ends` are the names of its first and last unit, `head` the rows of the first."""

    n_rows: int
    n_units: int
    n_features: int
    n_targets: int
    n_eligible: int
    n_bytes: int
    dtype: np.dtype
    observed: np.ndarray
    labelled: bool
    label_range: tuple | None
    lengths: np.ndarray | None
    ends: tuple
    head: int


def read(number: int, rows: Any, along: dict, columns: Any, dtype: Any, n_jobs: int | None) -> Partition:
    """Partition `number` as a source, checked."""
    for name, values in along.items():
        if isinstance(values, (str, list)):
            found = rows[values]
            along = along | {name: np.asarray(found, dtype=object) if name == "unit" else _numbers(found)}
    X = _numbers(rows if columns is None else rows[columns], dtype)
    if X.ndim != 2:
        raise ValueError(f"partition {number} has {X.ndim} dimension(s); give rows and columns, as by reshape(-1, 1).")
    with np.errstate(all="ignore"):
        total = np.vdot(X, X)  # finite where no cell is missing, infinite, or too large to be squared
    if not np.isfinite(total):
        if np.isinf(X).any():
            raise ValueError(
                f"Input X contains infinity (partition {number}); replace it or leave the cell empty (NaN)."
            )
        check_range(X, told=lambda column: f"{column} (partition {number})")
    for name, values in along.items():
        if values is not None and np.shape(values)[:1] != (len(X),):
            raise ValueError(
                f"partition {number} has {len(X)} rows, but {name} has shape {np.shape(values)} there; give one a row."
            )
    weight, labels = _weights(along.get("weight"), number), _labels(along.get("labels"), number)
    targets, unit = along.get("targets"), along.get("unit")
    targets = None if targets is None else np.ascontiguousarray(_numbers(targets), dtype=np.float64)
    unit = None if unit is None else np.asarray(unit)
    return Partition(np.ascontiguousarray(X), weight, labels, targets, unit, n_jobs)


def _numbers(values: Any, dtype: Any = None) -> np.ndarray:
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


def _weights(values: Any, number: int) -> np.ndarray | None:
    if values is None:
        return None
    weight = np.ascontiguousarray(values, dtype=np.float64)
    bad = weight[~np.isfinite(weight) | (weight < 0)]
    if bad.size:
        raise ValueError(f"the weight holds {bad[0]:g} (partition {number}); weights must be finite and not negative.")
    return weight


def _labels(values: Any, number: int) -> np.ndarray | None:
    if values is None:
        return None
    try:
        labels = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        first = np.asarray(values, dtype=object)[0]
        raise ValueError(
            f"labels hold {str(first)!r} (partition {number}), which is not a number; in partitions classes are 0, 1, 2 …, and "
            "−1 or NaN is unknown."
        ) from None
    labels = np.where(np.isnan(labels), -1.0, labels)
    bad = labels[(labels < -1) | (labels != np.floor(labels))]
    if bad.size:
        raise ValueError(f"labels hold {bad[0]:g} (partition {number}); classes are 0, 1, 2 …, and −1 is unknown.")
    return labels.astype(np.int64)


def tell(partition: Partition) -> Facts:
    """What the driver should know of a partition."""
    labels, unit, offsets = partition.labels, partition.unit, partition.offsets
    named = unit is not None and len(unit) > 0
    return Facts(
        partition.n_rows,
        partition.n_units,
        partition.n_features,
        partition.n_targets,
        len(partition.eligible()),
        sys.getsizeof(partition),
        partition.dtype,
        ~np.isnan(partition.X).all(axis=0),
        partition.labelled,
        None if labels is None or not len(labels) else (int(labels.min()), int(labels.max())),
        None if unit is None else np.diff(np.arange(partition.n_rows + 1) if offsets is None else offsets),
        (unit[0], unit[-1]) if named else (),
        0 if not named else 1 if offsets is None else int(offsets[1]),
    )


def regrouped(partition: Partition, drop: int, *following: Any) -> Partition:
    """A partition without its first rows, whose unit began before, and with the rows that end its last unit elsewhere.

    `following` are pairs of a later partition and how many of its first rows belong here.
    """
    parts = [partition.cut(drop, partition.n_rows)]
    parts += [other.cut(0, n) for other, n in zip(following[::2], following[1::2])]
    X, weight, labels, targets, unit = (None if values[0] is None else np.concatenate(values) for values in zip(*parts))
    return Partition(X, weight, labels, targets, unit, partition.n_jobs)


@dataclass(frozen=True)
class Pass:
    """One function over all blocks: what its units remember, and the number of the first unit of every partition.

    Attributes
    ----------
    function : callable
    fit : str
        The fit that the records belong to; another one begins anew.
    blank : callable or None
        Makes records, or None where none are kept.
    saved : Arrays or None
        Records of all units to begin with.
    """

    function: Callable[[Block], Any]
    fit: str = ""
    blank: Callable[[Block], Arrays] | None = None
    saved: Arrays | None = None

    def over(self, partition: Partition, first: int) -> Callable[[Block], Any]:
        """The function of the blocks of a partition whose first unit has this number."""
        if partition.fit != self.fit:
            partition.fit = self.fit
            partition._memory = None if self.blank is None else Memory(partial(_begun, self, first))
        return lambda block: self.function(replace(block, first=block.first + first))


def _begun(each: Pass, first: int, block: Block) -> Arrays:
    """Records of a block, whose units the partition counts from 0."""
    assert each.blank is not None
    return Memory(each.blank, each.saved)._begin(replace(block, first=block.first + first))


def hold(value: Any) -> Any:
    """The value itself: as the result of a task it lives on workers, and can be made again."""
    return value


def stay(partition: Partition) -> Partition:
    """The partition itself, on the worker that runs this."""
    return partition


def sum_blocks(partition: Partition, each: Pass, first: int) -> Any:
    """Σ function(block) over the blocks of a partition."""
    return partition.sum(each.over(partition, first))


def add_up(*parts: Any) -> Any:
    """Sum in the order given."""
    return added(iter(parts))


def map_blocks(partition: Partition, each: Pass, first: int) -> list:
    """function(block) for the blocks of a partition."""
    return list(partition.map(each.over(partition, first)))


def recall(partition: Partition, each: Pass, first: int) -> Arrays | None:
    """What the units of a partition remember."""
    each.over(partition, first)
    return partition.recall()


def eligible(partition: Partition) -> np.ndarray:
    """Numbers of the units of positive weight."""
    return partition.eligible()


def take(partition: Partition, units: np.ndarray, among_eligible: bool) -> tuple:
    """Cells, weights, labels and targets of the units with these numbers, counted among all or those of positive weight."""
    if among_eligible:
        units = partition.eligible()[units]
    block, (_, offsets) = partition.take(units), rows_of_units(units, partition.offsets)
    lengths = np.ones(len(units), np.int64) if offsets is None else np.diff(offsets)
    return block.X, block.weight, block.labels, block.targets, lengths
