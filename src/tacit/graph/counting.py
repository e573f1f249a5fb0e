"""Counts of complete rows, which are all that is to be known of them: n_ijk = Σ w [x_i = k, x_pa(i) = j]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..frames import Cells
from ..kernels import kernel
from ..schema import Column, encode_column
from ..source import Block
from ..source.threads import in_order
from .model import NetworkStats, codes_of
from .nodes import Nodes
from .schedule import strides

__all__ = ["codes_of_column", "complete_counts", "count_families"]


CHUNK = 1 << 15  # rows whose cells stay in the cache of a core


def codes_of_column(pair: tuple[Column, Cells], unknown: str = "error") -> np.ndarray:
    """States of a column without missing cells as small whole numbers, −1 where unknown.

    Parameters
    ----------
    pair : (Column, Cells)
    unknown : {"error", "missing"}
        What to do about states that the column does not have.
    """
    column, cells = pair
    if cells.numeric and column.levels == tuple(range(len(column.levels))):
        with np.errstate(invalid="ignore"):
            codes = cells.values.astype(np.int16)
        if (codes == cells.values).all() and codes.min() >= 0 and codes.max() < len(column.levels):
            return codes
    found = encode_column(column, cells, unknown)
    return np.where(np.isnan(found), -1, found).astype(np.int16 if len(column.levels) < 2**15 else np.int32)


def count_families(nodes: Nodes, codes: Sequence[np.ndarray], weight: np.ndarray | None, n_threads: int) -> np.ndarray:
    """Counts of all families, in one vector as tables are.

    Parameters
    ----------
    nodes : Nodes
    codes : sequence of (rows,) int arrays
        Columns.
    weight : (rows,), optional
    n_threads : int
    """
    heavy, tally = np.empty(0) if weight is None else weight, kernel("tally")

    def count(i: int) -> np.ndarray:
        counts, room, family = np.zeros(int(nodes.sizes[i])), np.empty(CHUNK, np.int32), nodes.family(i)
        steps = strides(nodes.shape(i))
        for first in range(0, len(codes[i]), CHUNK):
            rows = slice(first, min(first + CHUNK, len(codes[i])))
            cell = room[: rows.stop - first]
            cell[:] = 0
            for j, step in zip(family, steps):
                tally(codes[j][rows], step, cell, j == family[-1], heavy[rows], counts)
        return counts

    return np.concatenate(list(in_order(count, range(len(nodes.names)), n_threads)))


def complete_counts(nodes: Nodes, block: Block) -> NetworkStats:
    """Counts of the rows of a block without missing cells.

    Parameters
    ----------
    nodes : Nodes
    block : Block
    """
    columns = np.ascontiguousarray(codes_of(block, nodes).T)
    counts = count_families(nodes, list(columns), block.weight, 1)
    return NetworkStats(0.0, float(block.weight.sum()), counts)
