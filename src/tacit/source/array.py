"""`ArraySource`: rows of an array in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from .block import Block, Patterns
from .source import Source, default_block_rows
from .threads import thread_count
from .units import block_bounds, eligible_units, rows_of_units, unit_offsets

__all__ = ["ArraySource"]

SMALL = 1 << 24
"""Bytes of rows that are laid out as kernels read them once, not at every pass."""


class ArraySource(Source):
    """Rows of an array, cut into blocks of fixed size.

    Parameters
    ----------
    X : (n, d) array of float32 or float64
        Cells; NaN is missing. Never copied when C-contiguous.
    weight, labels : (n,) arrays, optional
        Row weights (default 1) and known classes (−1 unknown, the default).
    targets : (n, m) array of float64, optional
        What is to be predicted.
    unit : (n,) array, optional
        The unit of each row, by any name; rows of a unit must lie together. Default: every row is one.
    offsets : (n_units + 1,) array, optional
        Where units begin, instead of `unit`.
    block_rows : int, optional
        Rows per block; a longer unit is a block of its own.
    n_jobs : int, optional
        Threads; default all cores. Results do not depend on it.
    """

    in_memory = True

    def __init__(
        self,
        X: np.ndarray,
        weight: np.ndarray | None = None,
        labels: np.ndarray | None = None,
        targets: np.ndarray | None = None,
        *,
        unit: Any = None,
        offsets: np.ndarray | None = None,
        block_rows: int | None = None,
        n_jobs: int | None = None,
    ):
        offsets = unit_offsets(unit, len(X)) if offsets is None else offsets
        self._hold(X, weight, labels, targets, offsets, block_rows, n_jobs)

    @classmethod
    def of(cls, block: Block, **settings: Any) -> Self:
        """The rows of a block as a source; `settings` are `block_rows` and `n_jobs`."""
        source = cls.__new__(cls)
        source._hold(block.X, block.weight, block.labels, block.targets, block.units, **settings)
        return source

    def reweighted(self, weight: np.ndarray) -> ArraySource:
        """The same rows with other weights."""
        source = ArraySource.__new__(ArraySource)
        source._hold(self.X, weight, self.labels, self.targets, self.offsets, n_jobs=self.n_jobs)
        return source.described_as(self)

    def _hold(
        self, X: np.ndarray, weight: Any, labels: Any, targets: Any, offsets: Any, block_rows: int | None = None,
        n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        self.X, self.weight, self.labels, self.targets, self.offsets = X, weight, labels, targets, offsets
        self.n_rows, self.n_features = X.shape
        self.n_targets = 0 if targets is None else targets.shape[1]
        block_rows = min(block_rows or default_block_rows(self.n_features, X.dtype.itemsize), max(self.n_rows, 1))
        self.n_jobs, self.dtype = thread_count(n_jobs), X.dtype
        self._rows, self._units = block_bounds(self.n_rows, block_rows, offsets)
        self.n_blocks: int = len(self._rows) - 1
        # Shared by all blocks of complete data and default weights, so that blocks cost no memory.
        self._longest = int(np.diff(self._rows).max(initial=block_rows))
        self._one = np.ones(self._longest)
        self._unknown = np.full(self._longest, -1)
        self._whole = Patterns.whole(self._longest, self.n_features)
        # Made by the thread that first asks for it, which then has its rows at hand.
        self._blocks: list[Block | dict | None] = [None] * self.n_blocks
        self.label_range = None if labels is None or labels.max() < 0 else (int(labels.min()), int(labels.max()))
        self.labelled = labels is not None and bool((labels >= 0).all()) and not np.isnan(X).any()

    def _content(self, number: int) -> tuple:
        """The cells, weights, labels and targets of one block."""
        rows = slice(self._rows[number], self._rows[number + 1])
        X = self.X[rows]
        weight = self._one[: len(X)] if self.weight is None else self.weight[rows]
        labels = self._unknown[: len(X)] if self.labels is None else self.labels[rows]
        return X, weight, labels, None if self.targets is None else self.targets[rows]

    def _ingest(self, number: int) -> Block | dict:
        """A block, or the means to make it again where its rows are not laid out as kernels read them."""
        X, *rest = self._content(number)
        patterns = Patterns.of(X)
        if patterns.is_complete and len(X) == self._longest:
            patterns = self._whole
        first, units = int(self._units[number]), None
        if self.offsets is not None:
            units = self.offsets[first : self._units[number + 1] + 1] - self._rows[number]
        kept: dict[str, Any] = {"patterns": patterns, "units": units, "first": first, "local": {}}
        return Block.of(X, *rest, **kept) if X.flags.c_contiguous or self.X.nbytes <= SMALL else kept

    def parts(self) -> Iterator[int]:
        return iter(range(self.n_blocks))

    def block(self, part: int) -> Block:
        kept = self._blocks[part]
        if kept is None:
            kept = self._blocks[part] = self._ingest(part)
        return kept if isinstance(kept, Block) else Block.of(*self._content(part), **kept)

    def __len__(self) -> int:
        return self.n_blocks

    def eligible(self) -> np.ndarray:
        return eligible_units(self.weight, self.n_rows, self.offsets)

    def take(self, units: np.ndarray) -> Block:
        rows, offsets = rows_of_units(units, self.offsets)
        chosen = (None if values is None else values[rows] for values in (self.weight, self.labels, self.targets))
        return Block.of(self.X[rows], *chosen, units=offsets)
