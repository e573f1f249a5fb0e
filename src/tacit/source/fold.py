"""`FoldSource`: the rows of a source inside or outside one fold, for cross-validation of rows that do not fit in memory."""

import dataclasses

import numpy as np

from ..kernels import backend
from .base import Source

__all__ = ["FoldSource", "assign_folds"]


def assign_folds(n_rows, n_folds, rng):
    """A fold for every row, at random and of equal sizes; one byte per row where there are at most 256."""
    fold = np.resize(np.arange(n_folds, dtype=np.min_scalar_type(n_folds)), n_rows)
    rng.shuffle(fold)
    return fold


class FoldSource(Source):
    """A source whose other rows have weight 0. Nothing is copied, so rows may be anywhere.

    Parameters
    ----------
    source : Source
        All rows.
    kept : (n_rows,) bool
        Which rows count.
    """

    def __init__(self, source, kept):
        self.source, self.kept = source, kept
        self.n_rows, self.n_features, self.dtype = source.n_rows, source.n_features, source.dtype
        self.labelled, self.label_range = source.labelled, source.label_range
        self.described_as(source)
        self.n_jobs, self.n_blocks = source.n_jobs, source.n_blocks

    def __iter__(self):
        start = 0
        for block in self.source:
            kept = self.kept[start : start + len(block)].astype(np.float64)
            start += len(block)
            if backend(block.X) == "torch":
                kept = block.weight.new_tensor(kept)
            # What a block remembers depends on its weights, so this one begins with an empty memory.
            yield dataclasses.replace(block, weight=block.weight * kept, local={})

    def eligible(self):
        rows = self.source.eligible()
        return rows[self.kept[rows]]

    def take(self, rows):
        return self.source.take(rows)
