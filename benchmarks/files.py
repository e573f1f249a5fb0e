"""The command on a large CSV file, in CPU seconds of whole processes: ``python -m benchmarks.files [--rows N] [--repeats R]``.

``tacit inspect`` against the plain reads of polars, DuckDB and pandas, which find out nothing but types; ``tacit fit``, with all
it writes, against the same search and fit in Python from an array in memory plus polars' read. Runs are interleaved, medians
are told.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

READS = {
    "polars.read_csv": "import polars; polars.read_csv({path!r})",
    "duckdb": "import duckdb; duckdb.sql(\"select * from read_csv('{path}')\").to_arrow_table()",
    "pandas.read_csv": "import pandas; pandas.read_csv({path!r})",
}
FIT = """
import numpy as np
from tacit.mixture import find_groups
from tacit.tables import open_table
table = open_table(dict(np.load({arrays!r})), roles={roles!r})
find_groups(table)
"""
ROLES = {"visits": "count", "region": "category", "plan": "category"}


def make(folder, n_rows):
    """Paths of a CSV file of mixed columns with missing cells, and of its columns in use as arrays of numbers."""
    path, arrays = folder / f"table-{n_rows}.csv", folder / f"table-{n_rows}.npz"
    if not arrays.exists():
        import polars as pl

        rng = np.random.default_rng(0)
        z = rng.integers(0, 3, n_rows)
        numbers = {
            "weight": rng.normal(60 + 10 * z, 8), "height": rng.normal(165 + 6 * z, 7),
            "pressure": rng.gamma(20, 6, n_rows) + 10 * z,
            "visits": rng.poisson(2 + 3 * z).astype(float), "region": rng.integers(0, 5, n_rows).astype(float),
            "plan": np.where(rng.random(n_rows) < 0.8, z, rng.integers(0, 3, n_rows)).astype(float), "ratio": rng.beta(2 + z, 3),
        }  # fmt: skip
        for name, share in (("weight", 0.05), ("height", 0.03), ("plan", 0.02)):
            numbers[name][rng.random(n_rows) < share] = np.nan
        joined = np.datetime64("2015-01-01") + rng.integers(0, 3650, n_rows).astype("timedelta64[D]")
        levels = {"region": ["north", "south", "east", "west", "centre"], "plan": ["basic", "plus", "premium"]}
        frame = pl.DataFrame(numbers | {"joined": joined}, nan_to_null=True).with_columns(
            pl.col("visits").cast(pl.Int64),
            *(pl.col(name).replace_strict(dict(enumerate(each))) for name, each in levels.items()),
        )
        frame.write_csv(path)
        np.savez(arrays, **numbers)
    return path, arrays


def cpu_seconds(command, folder):
    """CPU seconds of a process, user and system together."""
    before = os.times()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main():
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.files", description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--no-fit", action="store_true", help="inspect only")
    asked = parser.parse_args()
    folder = Path(tempfile.gettempdir()) / "tacit-benchmark-files"
    folder.mkdir(exist_ok=True)
    path, arrays = make(folder, asked.rows)
    tacit = [sys.executable, "-m", "tacit.cli.main"]
    commands = {name: [sys.executable, "-c", code.format(path=str(path))] for name, code in READS.items()}
    commands["tacit inspect"] = [*tacit, "inspect", str(path)]
    if not asked.no_fit:
        commands["fit in Python"] = [sys.executable, "-c", FIT.format(arrays=str(arrays), roles=ROLES)]
        commands["tacit fit"] = [*tacit, "fit", str(path), "--quiet", "--force", "--out", str(folder)]
    times = {name: [] for name in commands}
    for _ in range(asked.repeats):
        for name, command in commands.items():
            times[name].append(cpu_seconds(command, folder))
    found = {name: statistics.median(each) for name, each in times.items()}
    print(
        f"{path.stat().st_size / 1e6:.0f} MB, {asked.rows:,} rows; CPU seconds, medians of {asked.repeats} interleaved runs"
    )
    for name, seconds in found.items():
        print(f"  {name:<16} {seconds:6.2f}")
    print(f"tacit inspect / polars.read_csv = {found['tacit inspect'] / found['polars.read_csv']:.2f} (target 3)")
    if not asked.no_fit:
        rival = found["fit in Python"] + found["polars.read_csv"]
        print(f"tacit fit / (fit in Python + polars.read_csv) = {found['tacit fit'] / rival:.2f} (target 1.5)")


if __name__ == "__main__":
    main()
