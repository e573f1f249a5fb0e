"""`Source`: where rows come from. A source yields blocks; everything additive is a sum over them."""

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import cache, reduce
from operator import add
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from ..kernels import host
from .block import Block

__all__ = ["OneBlock", "Source", "default_block_rows", "n_cores", "one_blas_thread"]

BLOCK_BYTES = 1 << 21
MAX_ROWS = 16384


@cache
def _pool(n_threads):
    # One pool for the whole process: starting threads costs more than a block.
    return ThreadPoolExecutor(n_threads, thread_name_prefix="tacit")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork


@cache
def _blas():
    return ThreadpoolController().select(user_api="blas")


def one_blas_thread():
    """A context in which BLAS runs on one thread; entering it costs as much as a small block."""
    return _blas().limit(limits=1)


def n_cores():
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def default_block_rows(n_features, itemsize=8):
    """Rows per block: small enough for a core's cache, whatever the machine, so that results do not depend on it."""
    return int(np.clip(BLOCK_BYTES // (itemsize * max(n_features, 1)), 512, MAX_ROWS))


class Source:
    """Rows in blocks.

    A subclass sets `n_rows` and `n_features` and defines ``__iter__`` (blocks, in order) and ``take(rows)``. Blocks run on
    `n_jobs` threads and their results are used in order, so that nothing depends on the number of threads.
    """

    n_rows: int
    n_features: int
    dtype: np.dtype = np.dtype(np.float64)
    labelled: bool = False  # every row's class is known and no cell is missing
    columns: Any = None  # names of the columns
    schema: Any = None  # how the columns of a table were turned into numbers
    label_range: tuple | None = None  # least and greatest known class, where any is known
    n_classes: int | None = None
    n_jobs: int = 1
    n_blocks: int | None = None

    def __iter__(self):
        raise NotImplementedError

    def take(self, rows):
        """One block of the rows with these sorted numbers."""
        raise NotImplementedError

    def described_as(self, other):
        """The same source, with the columns of another."""
        self.columns, self.schema = other.columns, other.schema
        return self

    def map(self, function):
        """Yield function(block) for every block, in order."""
        with one_blas_thread():
            if self.n_jobs == 1 or self.n_blocks == 1:
                yield from map(function, self)
                return
            pool = _pool(self.n_jobs)
            waiting: deque = deque()
            try:
                for block in self:
                    waiting.append(pool.submit(function, block))
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

    def eligible(self):
        """Numbers of the rows that a sample may hold: those of positive weight."""
        return np.arange(self.n_rows)

    def sample(self, n_rows, rng):
        """One block of at most `n_rows` rows drawn without replacement, rows of zero weight left out."""
        rows = self.eligible()
        if len(rows) > n_rows:
            rows = np.sort(rng.choice(rows, n_rows, replace=False))
        return self.take(rows)

    def subset(self, rows):
        """The rows with these sorted numbers as a source."""
        return OneBlock(self.take(rows))


class OneBlock(Source):
    """A block as a source.

    Parameters
    ----------
    block : Block
        Its only block.
    """

    def __init__(self, block):
        self.block = block
        self.n_rows, self.n_features = block.X.shape
        self.dtype = block.dtype
        self.n_blocks = 1

    def __iter__(self):
        yield self.block

    def eligible(self):
        return np.flatnonzero(host(self.block.weight) > 0)

    def take(self, rows):
        block = self.block
        return Block.of(host(block.X[rows]), host(block.weight[rows]), host(block.labels[rows]))
