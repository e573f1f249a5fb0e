"""Reading a table against pandas: a CSV file with missing values, from text to the numbers a model takes.

Both sides end with the same array of float64. Ours has also surveyed every column: role, range, mean, spread, levels, ids,
marks of missing cells and columns that follow from others, which the rival is not asked for.
"""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from .harness import Job

ROWS, COLUMNS = 50_000, 20


def make(missing=0.1):
    """Paths of a CSV file of a million cells, and of the same table in Parquet."""
    folder = Path(tempfile.gettempdir()) / "tacit-benchmark-tables"
    folder.mkdir(exist_ok=True)
    path = folder / "table.csv"
    if not path.exists():
        import pandas as pd

        rng = np.random.default_rng(0)
        X = rng.normal(size=(ROWS, COLUMNS)).round(4) * np.arange(1, COLUMNS + 1)
        frame = pd.DataFrame(
            np.where(rng.random(X.shape) < missing, np.nan, X), columns=[f"c{j}" for j in range(COLUMNS)]
        )
        frame.to_csv(path, index=False, float_format="%.4f")
        frame.to_parquet(folder / "table.parquet")
    return Places([path, folder / "table.parquet"])


class Places(list):
    """Paths; a slice of them, which the harness warms up with, is all of them."""

    def __getitem__(self, index):
        return self if isinstance(index, slice) else super().__getitem__(index)


def _tacit(which, places):
    from tacit.tables import open_table

    return open_table(places[which]).cells


def _pandas(which, places):
    import pandas as pd

    read = (pd.read_csv, pd.read_parquet)[which]
    return read(places[which]).to_numpy(dtype=np.float64)


def _equal(ours, theirs):
    np.testing.assert_array_equal(ours, theirs)
    return f"{ours.size:,} cells equal, {int(np.isnan(ours).sum()):,} of them missing"


JOBS = [
    Job(
        name=f"read and survey a CSV file of {ROWS * COLUMNS:,} cells, 10 % missing", rival="pandas.read_csv", make=make,
        ours=partial(_tacit, 0), theirs=partial(_pandas, 0), equal=_equal, target=0.2,
    ),
    Job(
        name=f"read and survey a Parquet file of {ROWS * COLUMNS:,} cells, 10 % missing", rival="pandas.read_parquet", make=make,
        ours=partial(_tacit, 1), theirs=partial(_pandas, 1), equal=_equal, target=0.2,
    ),
]  # fmt: skip
