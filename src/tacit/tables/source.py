"""`TableSource`: the rows of a table too large for memory, read anew at every pass."""

import numpy as np

from ..source import Block, Source
from ..source.base import default_block_rows, n_cores

__all__ = ["TableSource"]


class TableSource(Source):
    """Rows of a `DataTable` in blocks of fixed size, whatever the batches it is read in."""

    def __init__(self, table, n_jobs=None):
        self.table = table
        self.n_rows, self.n_features = table.n_rows, len(table.used)
        self.n_jobs = n_cores() if n_jobs in (None, -1) else n_jobs
        self.block_rows = default_block_rows(self.n_features)

    def __iter__(self):
        kept = np.empty((0, self.n_features))
        for cells in self.table.encoded():
            kept = np.concatenate([kept, cells]) if len(kept) else cells
            whole = len(kept) - len(kept) % self.block_rows
            for start in range(0, whole, self.block_rows):
                yield Block.of(kept[start : start + self.block_rows])
            kept = kept[whole:]
        if len(kept):
            yield Block.of(kept)

    def take(self, rows):
        start, parts = 0, []
        for cells in self.table.encoded():
            parts.append(cells[rows[(rows >= start) & (rows < start + len(cells))] - start])
            start += len(cells)
        return Block.of(np.concatenate(parts))
