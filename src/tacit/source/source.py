"""`Source`: where rows come from. A source yields blocks; everything additive is a sum over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self, TypeVar

import numpy as np

from ..arrays import Arrays
from ..kernels import host, rows_on_host
from .block import Block
from .memory import Blank, Memory
from .threads import in_order, on_one_blas_thread
from .units import drawn_units, eligible_units, rows_of_units

__all__ = ["OneBlock", "Source", "add_up", "default_block_rows"]

BLOCK_BYTES = 1 << 21
MAX_ROWS = 16384
T = TypeVar("T")


def default_block_rows(n_features: int, itemsize: int = 8) -> int:
    """Rows per block: small enough for a core's cache, whatever the machine, so that results do not depend on it."""
    return int(np.clip(BLOCK_BYTES // (itemsize * max(n_features, 1)), 512, MAX_ROWS))


class Source:
    """Rows in blocks.

    A subclass sets `n_rows` and `n_features` and defines ``parts()``, what blocks are made of, in order, ``block(part)``, which
    makes one on a worker thread, and ``take(units)``. Blocks run on `n_jobs` threads and their results are used in order, so
    that nothing depends on the number of threads.

    Attributes
    ----------
    n_rows, n_features, n_targets, n_units : int
        What it holds.
    offsets : ndarray of shape (n_units + 1,) or None
        Where units begin; None where every row is a unit. A unit is never cut, sampled in part or folded apart.
    dtype : numpy.dtype
        Precision of the cells.
    labelled : bool
        Whether every row's class is known and no cell is missing.
    label_range : (int, int) or None
        Least and greatest known class, where any is known.
    n_classes : int or None
        The number of classes that labels may name, where it is known.
    observed : ndarray of shape (n_features,) or None
        Which columns have any observed value, where that is known.
    columns : list of str or None
        Names of the columns.
    schema : Schema or None
        How the columns of a table were turned into numbers.
    in_memory : bool
        Whether any rows can be taken at no cost.
    """

    n_rows: int
    n_features: int
    n_targets: int = 0
    offsets: np.ndarray | None = None
    dtype: np.dtype = np.dtype(np.float64)
    labelled: bool = False
    label_range: tuple[int, int] | None = None
    n_classes: int | None = None
    observed: np.ndarray | None = None
    columns: list | None = None
    schema: Any = None
    in_memory: bool = False
    n_jobs: int = 1
    n_blocks: int | None = None
    _memory: Memory | None = None

    # What a subclass defines

    def parts(self) -> Iterator[Any]:
        """What blocks are made of, in order."""
        raise NotImplementedError

    def block(self, part: Any) -> Block:
        """The block that is made of a part."""
        raise NotImplementedError

    def take(self, units: np.ndarray) -> Block:
        """One block of the units with these sorted numbers; where every row is a unit, of these rows."""
        raise NotImplementedError

    def eligible(self) -> np.ndarray:
        """Numbers of the units that a sample may hold: those of positive weight."""
        return np.arange(self.n_units)

    # What follows

    @property
    def n_units(self) -> int:
        """How many units there are."""
        return self.n_rows if self.offsets is None else len(self.offsets) - 1

    def described_as(self, other: Source) -> Self:
        """The same source, with the columns of another."""
        self.columns, self.schema = other.columns, other.schema
        return self

    def _made(self, part: Any) -> Block:
        block = self.block(part)
        return block if self._memory is None else self._memory.attach(block)

    def __iter__(self) -> Iterator[Block]:
        return map(self._made, self.parts())

    def map(self, function: Callable[[Block], T]) -> Iterator[T]:
        """Yield function(block) for every block, in order."""
        if self.n_blocks == 1 or self.n_jobs == 1:
            yield from map(on_one_blas_thread(function), self)
        else:
            yield from in_order(lambda part: function(self._made(part)), self.parts(), self.n_jobs, serial_blas=True)

    def sum(self, function: Callable[[Block], T]) -> T:
        """Σ function(block)."""
        # Added in block order: float sums must not depend on n_jobs.
        return add_up(self.map(function))

    def sample(self, n_rows: int, rng: np.random.Generator) -> Block:
        """One block of at most `n_rows` rows, in whole units drawn without replacement; those of zero weight are left out."""
        return self.take(drawn_units(self.eligible(), n_rows, self.offsets, rng))

    def subset(self, units: np.ndarray) -> Source:
        """The units with these sorted numbers as a source."""
        return OneBlock(self.take(units))

    # One record per unit

    def remember(self, blank: Blank | None, saved: Arrays | None = None) -> None:
        """Keep a record per unit from now on, begun by ``blank(block)`` or with the `saved` ones; forget what was kept before.

        Parameters
        ----------
        blank : callable or None
            Makes the records of a block's units; None keeps nothing.
        saved : Arrays, optional
            Records of all units, as `recall` gave them.
        """
        self._memory = None if blank is None else Memory(blank, saved)

    def recall(self) -> Arrays | None:
        """The records of all units in order, or None where nothing is kept."""
        return None if self._memory is None else self._memory.whole(map(self.block, self.parts()))


def add_up(results: Iterator[Any]) -> Any:
    """Sum in the order given; from the third on in place, since the sum of the first two is nobody else's."""
    total = next(results)
    for number, result in enumerate(results):
        if number:
            total += result
        else:
            total = total + result
    return total


class OneBlock(Source):
    """A block as a source.

    Parameters
    ----------
    block : Block
        Its only block.
    """

    n_blocks = 1
    in_memory = True

    def __init__(self, block: Block):
        self.only = block
        self.n_rows, self.n_features = block.X.shape
        self.n_targets = 0 if block.targets is None else block.targets.shape[1]
        self.dtype, self.offsets = block.dtype, block.units

    def parts(self) -> Iterator[Block]:
        return iter([self.only])

    def block(self, part: Block) -> Block:
        return part

    def eligible(self) -> np.ndarray:
        return eligible_units(host(self.only.weight), self.n_rows, self.offsets)

    def take(self, units: np.ndarray) -> Block:
        rows, offsets = rows_of_units(units, self.offsets)
        block = self.only
        targets = None if block.targets is None else host(block.targets[rows])
        return Block.of(
            rows_on_host(block.X[rows]), host(block.weight[rows]), host(block.labels[rows]), targets, units=offsets
        )
