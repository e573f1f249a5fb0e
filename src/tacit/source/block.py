"""`Block`: some rows, with all that a model may want to know about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Arrays
from ..kernels import backend, host, rows_on_host

__all__ = ["Block", "Patterns"]


@dataclass(frozen=True)
class Patterns:
    """Rows grouped by which cells are missing; the complete rows, if any, come first.

    Attributes
    ----------
    rows : (n,) int32
        Row numbers in group order.
    starts : (groups + 1,) int64
        Where each group begins in `rows`.
    missing : (groups, d) bool
        The missing cells of each group.
    """

    rows: np.ndarray
    starts: np.ndarray
    missing: np.ndarray

    @classmethod
    def whole(cls, n_rows: int, n_features: int) -> Patterns:
        """The patterns of complete rows."""
        return cls(np.arange(n_rows, dtype=np.int32), np.array([0, n_rows]), np.zeros((1, n_features), bool))

    @classmethod
    def of(cls, X: np.ndarray) -> Patterns:
        """Group the rows of X by their missing cells."""
        # A NaN anywhere makes the sum NaN: complete blocks are recognised without a mask.
        missing = None if np.isfinite(X.sum()) else np.isnan(X)
        if missing is None or not missing.any():
            return cls.whole(*X.shape)
        packed = np.ascontiguousarray(np.packbits(missing, axis=1))
        keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        return cls(order.astype(np.int32), np.append(starts, len(X)), missing[order[starts]])

    def select(self, columns: Sequence[int]) -> Patterns:
        """The patterns of these columns alone: groups that differ elsewhere become one."""
        missing = self.missing[:, columns]
        kinds, group = np.unique(missing, axis=0, return_inverse=True)
        if len(kinds) == 1 and not kinds.any():
            return Patterns(np.sort(self.rows), np.array([0, len(self.rows)]), kinds)
        group = np.repeat(group.ravel(), np.diff(self.starts))
        order = np.argsort(group, kind="stable")
        return Patterns(self.rows[order], np.append(0, np.cumsum(np.bincount(group))), kinds)

    @cached_property
    def is_complete(self) -> bool:
        """Whether no cell is missing."""
        return not self.missing.any()

    @cached_property
    def complete(self) -> np.ndarray:
        """Rows without a missing cell."""
        return self.rows[: self.starts[1]] if not self.missing[0].any() else self.rows[:0]

    @cached_property
    def incomplete(self) -> Patterns:
        """The groups with missing cells."""
        if self.missing[0].any():
            return self
        first = self.starts[1]
        return Patterns(self.rows[first:], self.starts[1:] - first, self.missing[1:])


@dataclass(frozen=True)
class Block:
    """Some rows of a table.

    Attributes
    ----------
    X : (n, d) float32 or float64, C-contiguous, or `SparseRows`
        The cells; NaN is missing. Cells, weights and labels may also be tensors on one device.
    weight : (n,) float64
        Weight of each row.
    labels : (n,) int64
        Known class of each row, −1 where unknown.
    patterns : Patterns
        Rows grouped by their missing cells.
    targets : (n, m) float64 or None
        What is to be predicted of each row.
    units : (n_units + 1,) int64 or None
        Where each unit begins, a unit being rows that belong together; None where every row is one.
    memory : Arrays or None
        One record per unit, kept by the source between passes; models change its arrays in place.
    first : int
        Number of the first unit in the source.
    local : dict
        A cache that models may fill; losing it may cost time, never correctness.
    """

    X: Any
    weight: Any
    labels: Any
    patterns: Patterns
    targets: Any = None
    units: np.ndarray | None = None
    memory: Arrays | None = None
    first: int = 0
    local: dict = field(default_factory=dict, compare=False)

    @classmethod
    def of(
        cls,
        X: Any,
        weight: Any = None,
        labels: Any = None,
        targets: Any = None,
        *,
        units: np.ndarray | None = None,
        patterns: Patterns | None = None,
        first: int = 0,
        local: dict | None = None,
    ) -> Block:
        """A block from an array or sparse rows, with unit weights and unknown labels unless given."""
        sparse = backend(X) == "sparse"
        X = X if sparse else np.ascontiguousarray(X)
        patterns = X.patterns if sparse else patterns
        n = len(X)
        weight = np.ones(n) if weight is None else np.ascontiguousarray(weight, dtype=np.float64)
        labels = np.full(n, -1) if labels is None else np.ascontiguousarray(labels, dtype=np.int64)
        local = {} if local is None else local
        return cls(X, weight, labels, patterns or Patterns.of(X), targets, units, None, first, local)

    @property
    def n_units(self) -> int:
        """How many units these rows are."""
        return len(self.X) if self.units is None else len(self.units) - 1

    @property
    def offsets(self) -> np.ndarray:
        """Where each unit begins, and the number of rows; also where every row is a unit."""
        return np.arange(len(self.X) + 1) if self.units is None else self.units

    @property
    def unit_weight(self) -> Any:
        """Weights of the units, those of their first rows."""
        return self.weight if self.units is None else self.weight[self.units[:-1]]

    def of_rows(self, values: np.ndarray) -> np.ndarray:
        """Values of units as values of their rows."""
        return values if self.units is None else np.repeat(values, np.diff(self.units), axis=0)

    def select(self, columns: Sequence[int]) -> Block:
        """These columns of the same rows as a block, made once and kept."""
        key = "select", tuple(columns)
        if key[1] == tuple(range(self.X.shape[1])):
            return self
        if key not in self.local:
            X = self.X[:, list(columns)]
            X = X.contiguous() if hasattr(X, "contiguous") else np.ascontiguousarray(X)
            patterns = self.patterns.select(list(columns))
            self.local[key] = Block(X, self.weight, self.labels, patterns, units=self.units, first=self.first)
        return self.local[key]

    def transformed(self, function: Callable[[np.ndarray], np.ndarray]) -> Block:
        """The same rows with a function of their cells, which leaves 0 and missing ones as they are."""
        X = rows_on_host(self.X)
        X = replace(X, data=function(X.data)) if backend(X) == "sparse" else function(X)
        return replace(self, X=X, local={})

    @cached_property
    def missing_cells(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of the missing cells, row by row."""
        if self.patterns.is_complete:
            return np.zeros(0, np.intp), np.zeros(0, np.intp)
        rows, columns = np.nonzero(np.isnan(host(self.X)))
        return rows, columns

    @property
    def joined(self) -> Block:
        """Cells and targets side by side as the cells of a block; kept where cells are missing: grouping them takes long."""
        if self.targets is None:
            return self
        if "joined" in self.local:
            return self.local["joined"]
        if backend(self.X) == "torch":
            import torch

            X: Any = torch.hstack([self.X, self.targets])
            patterns = Patterns.of(host(X)) if bool(X.sum().isnan()) else Patterns.whole(*X.shape)
        else:
            X = np.hstack([self.X, self.targets])
            patterns = Patterns.of(X)
        found = replace(self, X=X, targets=None, patterns=patterns, local={})
        if not found.patterns.is_complete:
            self.local["joined"] = found
        return found

    @property
    def dtype(self) -> np.dtype:
        """NumPy's name for the precision of the cells."""
        kind = self.X.dtype
        return kind if isinstance(kind, np.dtype) else np.dtype(str(kind).removeprefix("torch."))

    @property
    def observed(self) -> np.ndarray:
        """Float mask (n, d): 1 where a cell is observed."""
        return (~np.isnan(self.X)).astype(self.X.dtype)

    def __len__(self) -> int:
        return len(self.X)
