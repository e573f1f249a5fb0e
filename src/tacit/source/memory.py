"""`Memory`: one record per unit that a source keeps between the passes of a fit. Losing it may cost passes, never correctness."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from ..arrays import Arrays
from ..kernels import host
from .block import Block

__all__ = ["Blank", "Memory"]

Blank = Callable[[Block], Arrays]
"""What makes the records that the units of a block begin with, arrays of one row per unit."""


class Memory:
    """The records of a source's units, block by block.

    Parameters
    ----------
    blank : callable
        Makes the records that the units of a block begin with.
    saved : Arrays, optional
        Records of all units, to go on with instead.
    """

    def __init__(self, blank: Blank, saved: Arrays | None = None):
        self.blank, self.saved = blank, saved
        self.parts: dict[int, Arrays] = {}

    def attach(self, block: Block) -> Block:
        """The block with its records, which are begun where there are none yet."""
        if block.first not in self.parts:
            self.parts[block.first] = self._begin(block)
        return replace(block, memory=self.parts[block.first])

    def _begin(self, block: Block) -> Arrays:
        fresh = self.blank(block)
        if self.saved is None:
            return fresh
        rows = slice(block.first, block.first + block.n_units)
        # Of the kind, and on the device, of what the model itself would begin with.
        return fresh.map(lambda own, kept: _like(own, kept[rows]), self.saved)

    def split(self, first: int, middle: int) -> None:
        """Part the records of the block that begins with unit `first` before unit `middle`."""
        record = self.parts.pop(first, None)
        if record is not None:
            self.parts[first] = record.map(lambda array: array[: middle - first])
            self.parts[middle] = record.map(lambda array: array[middle - first :])

    def whole(self, blocks: Iterable[Block]) -> Arrays:
        """The records of all units in order, in NumPy."""
        records = [self.attach(block).memory for block in blocks]
        return Arrays.concatenate([record.map(host) for record in records if record is not None])


def _like(own: Any, kept: Any) -> Any:
    """Saved numbers as an array of the kind of `own`, which may be a tensor."""
    if hasattr(own, "new_tensor"):
        return own.new_tensor(kept)
    return kept.astype(own.dtype).copy()
