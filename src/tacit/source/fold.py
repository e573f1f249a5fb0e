"""`FoldSource`: the rows of a source inside or outside one fold, for cross-validation of rows that do not fit in memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from ..arrays import Arrays
from ..kernels import backend
from .block import Block
from .memory import Blank
from .source import Source

__all__ = ["FoldSource"]

T = TypeVar("T")


class FoldSource(Source):
    """A source whose other units have weight 0. Nothing is copied, so rows may be anywhere.

    Parameters
    ----------
    source : Source
        All rows.
    kept : (n_units,) bool
        Which units count.
    """

    def __init__(self, source: Source, kept: np.ndarray):
        self.source, self.kept = source, kept
        self.n_rows, self.n_features, self.n_targets = source.n_rows, source.n_features, source.n_targets
        self.offsets, self.dtype = source.offsets, source.dtype
        self.labelled, self.label_range = source.labelled, source.label_range
        self.described_as(source)
        self.n_jobs, self.n_blocks = source.n_jobs, source.n_blocks

    def _folded(self, block: Block) -> Block:
        kept = block.of_rows(self.kept[block.first : block.first + block.n_units]).astype(np.float64)
        if backend(block.X) == "torch":
            kept = block.weight.new_tensor(kept)
        # What a block remembers depends on its weights, so this one begins with an empty memory.
        return dataclasses.replace(block, weight=block.weight * kept, local={})

    def __iter__(self) -> Iterator[Block]:
        return map(self._folded, self.source)

    def map(self, function: Callable[[Block], T]) -> Iterator[T]:
        """Yield function(block) for every block, in order, where the rows are."""
        return self.source.map(lambda block: function(self._folded(block)))

    def sum(self, function: Callable[[Block], T]) -> T:
        """Σ function(block), added up where the rows are."""
        return self.source.sum(lambda block: function(self._folded(block)))

    def remember(self, blank: Blank | None, saved: Arrays | None = None) -> None:
        """Keep a record per unit with the source itself."""
        self.source.remember(blank, saved)

    def recall(self) -> Arrays | None:
        """The records of all units in order, or None where nothing is kept."""
        return self.source.recall()

    def eligible(self) -> np.ndarray:
        units = self.source.eligible()
        return units[self.kept[units]]

    def take(self, units: np.ndarray) -> Block:
        return self.source.take(units)
