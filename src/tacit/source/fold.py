"""`FoldSource`: the rows of a source inside or outside one fold, for cross-validation of rows that do not fit in memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..kernels import backend
from .base import Source
from .block import Block

__all__ = ["FoldSource", "assign_folds"]


def assign_folds(n_units: int, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """A fold for every unit, at random and of equal sizes; one byte per unit where there are at most 256."""
    fold = np.resize(np.arange(n_folds, dtype=np.min_scalar_type(n_folds)), n_units)
    rng.shuffle(fold)
    return fold


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

    def parts(self) -> Iterator[Any]:
        return self.source.parts()

    def block(self, part: Any) -> Block:
        block = self.source.block(part)
        kept = block.of_rows(self.kept[block.first : block.first + block.n_units]).astype(np.float64)
        if backend(block.X) == "torch":
            kept = block.weight.new_tensor(kept)
        # What a block remembers depends on its weights, so this one begins with an empty memory.
        return dataclasses.replace(block, weight=block.weight * kept, local={})

    def eligible(self) -> np.ndarray:
        units = self.source.eligible()
        return units[self.kept[units]]

    def take(self, units: np.ndarray) -> Block:
        return self.source.take(units)
