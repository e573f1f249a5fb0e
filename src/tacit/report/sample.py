"""The rows that a page shows, as they were read and with their missing cells filled in."""

import numpy as np

from .findings import Sample

__all__ = ["MOST_ROWS", "take_sample"]

MOST_ROWS = 2000


def take_sample(table, fill, most=MOST_ROWS, seed=0, encode=None):
    """Draw rows of a `DataTable`.

    Parameters
    ----------
    table : DataTable
    fill : callable
        Of the cells that the model uses to (filled, low, high, sure), as `fill_cells` does.
    most : int
        At most so many rows.
    seed : int
        Seeds the draw.
    encode : callable, optional
        Of a batch to the cells that the model uses; default as the table's own schema does.
    """
    rows, batch = table.sample(most, seed)
    shown = {
        name: [None if gone else value for value, gone in zip(cells.values.tolist(), cells.missing)]
        for name, cells in batch.items()
    }
    encoded = (encode or table.schema.encode)(batch)
    return Sample(np.asarray(rows) + 1, shown, encoded, *fill(encoded))
