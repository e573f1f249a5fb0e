"""``python -m benchmarks.cluster``: one EM iteration on one worker against two, and the bytes it moves.

Workers are processes of one thread each on this machine, so that two of them need two free cores.
"""

import argparse
import pickle
import statistics
import time
from functools import partial
from itertools import pairwise

import numpy as np

from tacit.families import FullGaussian
from tacit.mixture import MixtureModel
from tacit.source import ArraySource, DaskSource
from tacit.source.partition import sum_blocks

TARGET = 1.6


def make_rows(start, stop, d, n_classes, seed=0):
    """Rows `start` to `stop` of a mixture of Gaussians, the same however they are cut into partitions of equal size."""
    means = 3.0 * np.random.default_rng(seed).normal(size=(n_classes, d))
    rng = np.random.default_rng([seed, start])
    return means[rng.integers(n_classes, size=stop - start)] + rng.normal(size=(stop - start, d))


def delayed_rows(n, d, n_classes, n_partitions):
    """A list of delayed partitions, made by the workers."""
    import dask

    cuts = np.linspace(0, n, n_partitions + 1).astype(int)
    return [dask.delayed(make_rows)(int(a), int(b), d, n_classes) for a, b in pairwise(cuts)]


def iterations(source, step, repeats):
    """Seconds of each E-step over all rows, after one that is not counted, and its statistics."""
    stats, seconds = source.sum(step), []
    for _ in range(repeats):
        begin = time.perf_counter()
        stats = source.sum(step)
        seconds.append(time.perf_counter() - begin)
    return seconds, stats


def on_workers(n_workers, parts, step, repeats):
    """Seconds and statistics with so many workers."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        return iterations(DaskSource(parts, client=client), step, repeats)


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__)
    parser.add_argument("--rows", type=int, default=800_000)
    parser.add_argument("--columns", type=int, default=16)
    parser.add_argument("--classes", type=int, default=64)
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()

    model = MixtureModel(FullGaussian(), given.classes)
    parts = delayed_rows(given.rows, given.columns, given.classes, given.partitions)
    first = ArraySource(parts[0].compute(scheduler="synchronous"), n_jobs=1)
    params = model.init(first.sample(5000, np.random.default_rng(0)), np.random.default_rng(0))
    step = partial(model.e_step, params)

    (one, at_one), (two, at_two) = (on_workers(n, parts, step, given.repeats) for n in (1, 2))
    np.testing.assert_allclose(at_two.to_vector(), at_one.to_vector(), rtol=1e-10)
    whole = np.concatenate([part.compute(scheduler="synchronous") for part in parts])
    here = ArraySource(whole).sum(step).to_vector()
    np.testing.assert_allclose(at_two.to_vector(), here, rtol=1e-10, atol=1e-10 * np.abs(here).max())

    ratio = statistics.median(one) / statistics.median(two)
    down, up = len(pickle.dumps(step)), len(pickle.dumps(sum_blocks(first, step)))
    print(f"one iteration, n={given.rows:,} d={given.columns} K={given.classes} full, {given.partitions} partitions")
    print(f"1 worker   {statistics.median(one):.3f} s   ({min(one):.3f} to {max(one):.3f})")
    print(f"2 workers  {statistics.median(two):.3f} s   ({min(two):.3f} to {max(two):.3f})")
    print(f"ratio      {ratio:.2f}   (target {TARGET})")
    print(f"parameters {down:,} bytes to each worker, statistics {up:,} bytes from each partition")
    print("results    equal to those in memory to 1e-10")


if __name__ == "__main__":
    main()
