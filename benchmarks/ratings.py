"""Ratings read from tables: ``python -m benchmarks.ratings [--rows N] [--repeats R] [--large N]``.

``Ratings.read`` against pandas (its reader, ``factorize`` in order, and SciPy's CSR matrix of users by items), which looks for
neither missing cells nor pairs that occur twice; runs are interleaved, medians told, and ids and cells must be the same. With
``--large``, so many ratings are written to Parquet, read and put in order of users and of items, and the peak memory is told.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

LARGE = """
import sys, time
from pathlib import Path
import numpy as np
from tacit.recommend import Ratings
Ratings.read({"user": [1], "item": [1], "rating": [1]})
def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024
before, start = peak(), time.perf_counter()
found = Ratings.read(sys.argv[1])
read = time.perf_counter()
found.by_item
done = time.perf_counter()
size = (found.user.nbytes + found.item.nbytes + found.rating.nbytes) / 2**20
print(f"{found}: read and in order of users in {read - start:.0f} s, of items in {done - read:.0f} s; ratings {size:,.0f} MB, "
      f"peak of the process {peak():,.0f} MB, {before:.0f} MB of it imports")
for note in found.notes:
    print(" ", note)
"""


def make(folder, n_rows):
    """A frame of ratings with whole numbers as ids, and one with texts; no pair occurs twice. Files of both beside them."""
    import pandas as pd

    rng, n_users, n_items = np.random.default_rng(0), max(n_rows // 140, 10), max(n_rows // 1000, 100)
    cells = np.unique((n_users * rng.random(int(1.3 * n_rows))).astype(np.int64) * n_items
                      + (n_items * rng.random(int(1.3 * n_rows)) ** 1.5).astype(np.int64))  # fmt: skip
    cells = rng.permutation(cells)[:n_rows]
    frame = pd.DataFrame({
        "userId": 7 * (cells // n_items) + 1, "movieId": 3 * (cells % n_items), "rating": rng.integers(1, 11, len(cells)) / 2,
    })  # fmt: skip
    texts = frame.assign(userId="user-" + frame.userId.astype(str), movieId="film-" + frame.movieId.astype(str))
    for name, table in (("whole", frame), ("text", texts)):
        path = folder / f"ratings-{name}-{n_rows}"
        if not path.with_suffix(".csv").exists():
            table.to_parquet(path.with_suffix(".parquet"), index=False)
            table.to_csv(path.with_suffix(".csv"), index=False)
        yield name, table, path


def plainly(frame):
    """Ids of users and items and the matrix, by pandas and SciPy."""
    import pandas as pd
    from scipy.sparse import csr_matrix

    user, users = pd.factorize(frame.userId, sort=True)
    item, items = pd.factorize(frame.movieId, sort=True)
    shape = len(users), len(items)
    matrix = csr_matrix((frame.rating.to_numpy(dtype=np.float32), (user, item)), shape=shape)
    matrix.sort_indices()
    return users, items, matrix


def ours(table):
    """The same by `Ratings`."""
    from tacit.recommend import Ratings

    found = Ratings.read(table)
    return found.users, found.items, found.by_user.rows


def check(mine, theirs):
    """Raise where ids or cells differ."""
    for one, other in ((mine[0], theirs[0]), (mine[1], theirs[1])):
        assert list(one) == list(other), "ids differ"
    for name in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(mine[2], name), getattr(theirs[2], name)), f"{name} differs"


def compare(name, table, read, repeats):
    """Print medians of both, interleaved: wall and CPU seconds."""
    times = ([], [])
    for _ in range(repeats):
        found = []
        for side, work in enumerate((lambda: ours(table), lambda: plainly(read(table)))):
            start = time.perf_counter(), time.process_time()
            found.append(work())
            times[side].append((time.perf_counter() - start[0], time.process_time() - start[1]))
    check(*found)
    (wall, cpu), (their_wall, their_cpu) = (map(statistics.median, zip(*each)) for each in times)
    told = f"{wall:6.2f} s ({cpu:5.2f} s CPU)   pandas {their_wall:6.2f} s ({their_cpu:5.2f} s CPU)"
    print(f"  {name:<16} {told}   ratio {their_wall / wall:4.1f} ({their_cpu / cpu:4.1f})", flush=True)


def write_large(path, n_rows, n_users=480_000, n_items=18_000):
    """Write so many ratings to a Parquet file, in parts."""
    import pyarrow as pa
    from pyarrow import parquet

    rng, part, writer = np.random.default_rng(0), 1 << 20, None
    for start in range(0, n_rows, part):
        n = min(part, n_rows - start)
        made = pa.table({
            "user": (n_users * rng.random(n) ** 1.5).astype(np.int32), "item": (n_items * rng.random(n) ** 2).astype(np.int32),
            "rating": rng.integers(1, 6, n).astype(np.int8),
        })  # fmt: skip
        writer = writer or parquet.ParquetWriter(path, made.schema)
        writer.write_table(made)
    writer.close()


def main():
    """Run and print."""
    import pandas as pd

    parser = argparse.ArgumentParser(prog="python -m benchmarks.ratings", description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--large", type=int, help="ratings to write to Parquet and to read; nothing else is run")
    asked = parser.parse_args()
    folder = Path(tempfile.gettempdir()) / "tacit-benchmark-ratings"
    folder.mkdir(exist_ok=True)
    if asked.large:
        path = folder / f"large-{asked.large}.parquet"
        if not path.exists():
            write_large(path, asked.large)
        subprocess.run([sys.executable, "-c", LARGE, str(path)], check=True)
        return
    print(f"{asked.rows:,} ratings; medians of {asked.repeats} interleaved runs, ids and cells the same")
    ours({"user": [1], "item": [1], "rating": [1]})  # compiles
    for name, table, path in make(folder, asked.rows):
        compare(f"{name}, frame", table, lambda table: table, asked.repeats)
        compare(f"{name}, Parquet", path.with_suffix(".parquet"), pd.read_parquet, asked.repeats)
        compare(f"{name}, CSV", path.with_suffix(".csv"), pd.read_csv, asked.repeats)


if __name__ == "__main__":
    main()
