"""`ArraySource`: rows of an array in memory."""

import numpy as np

from .base import Source, default_block_rows, n_cores
from .block import Block, Patterns

__all__ = ["ArraySource"]


class ArraySource(Source):
    """Rows of an array, cut into blocks of fixed size.

    Parameters
    ----------
    X : (n, d) array of float32 or float64
        Cells; NaN is missing. Never copied when C-contiguous.
    weight, labels : (n,) arrays, optional
        Row weights (default 1) and known classes (−1 unknown, the default).
    block_rows : int, optional
        Rows per block.
    n_jobs : int, optional
        Threads; default all cores. Results do not depend on it.
    """

    def __init__(self, X, weight=None, labels=None, *, block_rows=None, n_jobs=None):
        self.X, self.weight, self.labels = X, weight, labels
        self.n_rows, self.n_features = X.shape
        self.block_rows = min(block_rows or default_block_rows(self.n_features, X.dtype.itemsize), max(self.n_rows, 1))
        self.n_jobs = n_cores() if n_jobs in (None, -1) else n_jobs
        self._starts = range(0, self.n_rows, self.block_rows)
        # Shared by all blocks of complete data and default weights, so that blocks cost no memory.
        self._one = np.ones(self.block_rows)
        self._unknown = np.full(self.block_rows, -1)
        self._whole = Patterns.of(np.zeros((self.block_rows, self.n_features)))
        self.n_blocks = len(self._starts)
        self.dtype = X.dtype
        self._blocks = [self._ingest(start) for start in self._starts]
        self.label_range = None if labels is None or labels.max() < 0 else (int(labels.min()), int(labels.max()))
        self.labelled = labels is not None and bool((labels >= 0).all()) and not np.isnan(X).any()

    def _rows(self, start):
        """The cells, weights and labels of one block."""
        rows = slice(start, start + self.block_rows)
        X = self.X[rows]
        weight = self._one[: len(X)] if self.weight is None else self.weight[rows]
        labels = self._unknown[: len(X)] if self.labels is None else self.labels[rows]
        return X, weight, labels

    def _ingest(self, start):
        """A block, or the means to make it again where its rows are not laid out as kernels read them."""
        X, weight, labels = self._rows(start)
        patterns = Patterns.of(X)
        if patterns.is_complete and len(X) == self.block_rows:
            patterns = self._whole
        if X.flags.c_contiguous:
            return Block.of(X, weight, labels, patterns)
        return patterns, {}

    def _block(self, index):
        kept = self._blocks[index]
        return kept if isinstance(kept, Block) else Block.of(*self._rows(self._starts[index]), *kept)

    def __len__(self):
        return len(self._starts)

    def __iter__(self):
        return map(self._block, range(len(self)))

    def eligible(self):
        return np.arange(self.n_rows) if self.weight is None else np.flatnonzero(self.weight > 0)

    def take(self, rows):
        weight = None if self.weight is None else self.weight[rows]
        labels = None if self.labels is None else self.labels[rows]
        return Block.of(self.X[rows], weight, labels)
