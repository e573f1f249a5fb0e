"""`Block`: some rows, with all that a model may want to know about them."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

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
    def of(cls, X):
        """Group the rows of X by their missing cells."""
        n_rows, d = X.shape
        # A NaN anywhere makes the sum NaN: complete blocks are recognised without a mask.
        if np.isfinite(X.sum()):
            missing = None
        else:
            missing = np.isnan(X)
        if missing is None or not missing.any():
            return cls(np.arange(n_rows, dtype=np.int32), np.array([0, n_rows]), np.zeros((1, d), bool))
        packed = np.ascontiguousarray(np.packbits(missing, axis=1))
        keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        return cls(order.astype(np.int32), np.append(starts, n_rows), missing[order[starts]])

    def select(self, columns):
        """The patterns of these columns alone: groups that differ elsewhere become one."""
        missing = self.missing[:, columns]
        kinds, group = np.unique(missing, axis=0, return_inverse=True)
        if len(kinds) == 1 and not kinds.any():
            return Patterns(np.sort(self.rows), np.array([0, len(self.rows)]), kinds)
        group = np.repeat(group.ravel(), np.diff(self.starts))
        order = np.argsort(group, kind="stable")
        return Patterns(self.rows[order], np.append(0, np.cumsum(np.bincount(group))), kinds)

    @cached_property
    def is_complete(self):
        """Whether no cell is missing."""
        return not self.missing.any()

    @cached_property
    def complete(self):
        """Rows without a missing cell."""
        return self.rows[: self.starts[1]] if not self.missing[0].any() else self.rows[:0]

    @cached_property
    def incomplete(self):
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
    X : (n, d) float32 or float64, C-contiguous
        The cells; NaN is missing. Cells, weights and labels may also be tensors on one device.
    weight : (n,) float64
        Weight of each row.
    labels : (n,) int64
        Known class of each row, −1 where unknown.
    patterns : Patterns
        Rows grouped by their missing cells.
    local : dict
        A cache that models may fill; losing it may cost time, never correctness.
    """

    X: Any
    weight: Any
    labels: Any
    patterns: Patterns
    local: dict = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, X, weight=None, labels=None, patterns=None, local=None):
        """A block from an array, with unit weights and unknown labels unless given."""
        X = np.ascontiguousarray(X)
        n = len(X)
        weight = np.ones(n) if weight is None else np.ascontiguousarray(weight, dtype=np.float64)
        labels = np.full(n, -1) if labels is None else np.ascontiguousarray(labels, dtype=np.int64)
        return cls(X, weight, labels, patterns or Patterns.of(X), {} if local is None else local)

    def select(self, columns):
        """These columns of the same rows as a block, made once and kept."""
        key = "select", tuple(columns)
        if key[1] == tuple(range(self.X.shape[1])):
            return self
        if key not in self.local:
            X = self.X[:, list(columns)]
            X = X.contiguous() if hasattr(X, "contiguous") else np.ascontiguousarray(X)
            self.local[key] = Block(X, self.weight, self.labels, self.patterns.select(list(columns)))
        return self.local[key]

    @property
    def dtype(self):
        """NumPy's name for the precision of the cells."""
        kind = self.X.dtype
        return kind if isinstance(kind, np.dtype) else np.dtype(str(kind).removeprefix("torch."))

    @property
    def observed(self):
        """Float mask (n, d): 1 where a cell is observed."""
        return (~np.isnan(self.X)).astype(self.X.dtype)

    def __len__(self):
        return len(self.X)
