"""`ArraySource`: rows of an array in memory, in blocks, on threads."""

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import cache, reduce
from operator import add

import numpy as np
from threadpoolctl import ThreadpoolController

from .block import Block, Patterns

__all__ = ["ArraySource", "as_source"]

BLOCK_BYTES = 1 << 21
MAX_ROWS = 16384


@cache
def _pool(n_threads):
    # One pool for the whole process: starting threads costs more than a block.
    return ThreadPoolExecutor(n_threads, thread_name_prefix="tacit")


@cache
def _blas():
    return ThreadpoolController().select(user_api="blas")


def n_cores():
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def default_block_rows(n_features, itemsize=8):
    """Rows per block: small enough for a core's cache, whatever the machine, so that results do not depend on it."""
    return int(np.clip(BLOCK_BYTES // (itemsize * n_features), 512, MAX_ROWS))


class ArraySource:
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
        self.n_jobs = n_jobs or n_cores()
        self._starts = range(0, self.n_rows, self.block_rows)
        # Shared by all blocks of complete data and default weights, so that blocks cost no memory.
        self._one = np.ones(self.block_rows)
        self._unknown = np.full(self.block_rows, -1)
        self._whole = Patterns.of(np.zeros((self.block_rows, self.n_features)))
        self._blocks = [self._ingest(start) for start in self._starts]

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

    def map(self, function):
        """Yield function(block) for every block, in order."""
        with _blas().limit(limits=1):
            if self.n_jobs == 1 or len(self) == 1:
                yield from map(function, self)
                return
            pool = _pool(self.n_jobs)
            waiting: deque = deque()
            try:
                for index in range(len(self)):
                    waiting.append(pool.submit(lambda index: function(self._block(index)), index))
                    if len(waiting) > 2 * self.n_jobs:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()

    def sum(self, function):
        """Σ function(block)."""
        # Added in block order: float sums must not depend on n_jobs.
        return reduce(add, self.map(function))

    def sample(self, n_rows, rng):
        """One block of at most `n_rows` rows drawn without replacement, rows of zero weight left out."""
        rows = np.arange(self.n_rows) if self.weight is None else np.flatnonzero(self.weight > 0)
        if len(rows) > n_rows:
            rows = np.sort(rng.choice(rows, n_rows, replace=False))
        weight = None if self.weight is None else self.weight[rows]
        labels = None if self.labels is None else self.labels[rows]
        return Block.of(self.X[rows], weight, labels)


def as_source(X, weight=None, labels=None, *, n_jobs=None):
    """The source for `X`; a source passes through."""
    return X if isinstance(X, ArraySource) else ArraySource(X, weight, labels, n_jobs=n_jobs)
