"""Fit a Parquet file that need not fit in memory: ``python -m benchmarks.out_of_core FOLDER [--rows 50000000]``.

Writes the file once (16 float32 columns, 64 bytes a row), fits a mixture of 16 full Gaussians to it in a process of its own, and
compares a step's time with ten times that of the same arithmetic on a tenth of the rows in memory.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

D, K, STEPS = 16, 16, 3


def means():
    """Where the groups are."""
    return 3.0 * np.random.default_rng(0).normal(size=(K, D))


def rows(n, seed):
    """Some rows."""
    rng = np.random.default_rng(seed)
    return (means()[rng.integers(K, size=n)] + rng.normal(size=(n, D))).astype(np.float32)


def write(path, n_rows, chunk=1_000_000):
    """Write the table, a chunk of rows at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(f"x{j}", pa.float32()) for j in range(D)])
    temporary = f"{path}.part"
    with pq.ParquetWriter(temporary, schema, compression="none", use_dictionary=False) as writer:
        for start in range(0, n_rows, chunk):
            X = rows(min(chunk, n_rows - start), 1 + start)
            writer.write_table(pa.table([pa.array(np.ascontiguousarray(X[:, j])) for j in range(D)], schema=schema))
    os.replace(temporary, path)


def run(data):
    """Seconds per step and peak memory of a fit, in this process."""
    import time
    import warnings

    from tacit.engine.progress import peak_memory
    from tacit.mixture import GaussianMixture

    times = []
    start = {
        "means_init": means() + 0.1,
        "weights_init": np.full(K, 1 / K),
        "precisions_init": np.repeat(np.eye(D)[None], K, 0),
    }
    mixture = GaussianMixture(
        K,
        tol=0.0,
        random_state=0,
        max_iter=STEPS + 1,
        accelerate=None,
        callback=lambda progress: times.append(time.perf_counter()),
        **start,
    )
    warnings.simplefilter("ignore")
    mixture.fit(rows(20_000, 0))  # compiles
    del times[:]
    X = data if isinstance(data, str) else rows(data, 1)
    base = peak_memory()
    mixture.fit(X)
    steps = np.diff(times[: STEPS + 1])
    print(
        json.dumps(
            {"seconds": float(np.median(steps)), "peak": peak_memory(), "before": base, "bound": mixture.lower_bound_}
        )
    )


def _measure(argument):
    command = [sys.executable, "-m", "benchmarks.out_of_core", "--run", str(argument), "."]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


def _check_equal(folder, n_rows=200_000):
    """The same rows from a file and from memory give the same fit."""
    path = str(Path(folder) / f"rows-{n_rows}.parquet")
    write(path, n_rows)
    gap = abs(_measure(path)["bound"] - _measure(n_rows)["bound"])
    assert gap < 1e-10, f"log-likelihoods per row differ by {gap}"
    print(f"{n_rows:,} rows from a file and from memory: log-likelihood per row equal to {gap:.0e}\n")


def main():
    """Compare, and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        run(int(arguments.run) if arguments.run.isdigit() else arguments.run)
        return
    path = str(Path(arguments.folder) / f"rows-{arguments.rows}.parquet")
    if not os.path.exists(path):
        write(path, arguments.rows)
    _check_equal(arguments.folder)
    memory = _measure(arguments.rows // 10)
    stream = _measure(path)
    memory_again = _measure(arguments.rows // 10)
    expected = 5.0 * (memory["seconds"] + memory_again["seconds"])
    print("| source | rows | seconds per step | against 10 × in memory | peak memory |")
    print("|---|---|---|---|---|")
    print(f"| array | {arguments.rows // 10:,} | {expected / 10:.2f} | 1 | {memory['peak'] / 1e6:.0f} MB |")
    print(
        f"| Parquet, {os.path.getsize(path) / 1e9:.1f} GB | {arguments.rows:,} | {stream['seconds']:.2f} "
        f"| {stream['seconds'] / expected:.2f} (at most 1.5) | {stream['peak'] / 1e6:.0f} MB (at most 1,500) |"
    )


if __name__ == "__main__":
    main()
