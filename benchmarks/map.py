"""``python -m benchmarks.map``: every estimator that has a rival, at every size, in both precisions, as it is by default.

Runs are interleaved, each with another seed, and medians are told; a cell below 1.1 is measured again. Results must be as good:
the median of what a method makes large over the same seeds must not fall below the rival's by more than the entry allows, and a
cell where it does is marked. Written are a table, a JSON file, and with ``--page`` the page of the documentation. Both wall time
and the time of processors are kept: where other work runs on the machine, take ``--cores 1`` and read the second, since threads
that wait for each other spin.
"""

import argparse
import inspect
import json
import logging
import os
import platform
import statistics
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from .map_rivals import ENTRIES, make

__all__ = ["cells", "measured"]

ROWS = (150, 1_000, 10_000, 100_000)
TYPES = {"float64": np.float64, "float32": np.float32}
AGAIN = 1.1  # ratios below it are measured again
LONG = 4.0  # seconds of a run that a larger size would take, beyond which it is left out


def _work(kind, entry, task, given, seed):
    """A fit, and what it found."""
    settings = dict(entry.settings(task, given))
    if kind.__module__.split(".")[0] != "tacit":
        settings |= entry.theirs_only
    if "random_state" in inspect.signature(kind).parameters:
        settings["random_state"] = seed
    estimator = kind(**settings)
    if entry.work == "fit_transform":
        return estimator.fit_transform(task.X)
    fitted = estimator.fit(task.X, task.y) if entry.supervised else estimator.fit(task.X)
    return fitted.kneighbors(task.fresh) if entry.work == "kneighbors" else fitted


def _timed(*args):
    wall, spent = time.perf_counter(), time.process_time()
    found = _work(*args)
    return time.perf_counter() - wall, time.process_time() - spent, found


def _rounds(entry, kinds, task, given, seeds, found):
    """Runs of both sides in turn; times and quality are added to `found`."""
    for seed in seeds:
        for side, kind in zip(("ours", "theirs"), kinds):
            wall, spent, result = _timed(kind, entry, task, given, seed)
            found[side].append((wall, spent, entry.quality(result, task)))


def _enough(found, seconds):
    """Whether a cell has been measured often enough."""
    n, total = len(found["ours"]), sum(each[0] for side in found.values() for each in side)
    return n >= 15 or (n >= 3 and total > seconds) or (n >= 1 and total > 4 * seconds)


def _ratio(found, place):
    ours, theirs = (statistics.median(each[place] for each in found[side]) for side in ("ours", "theirs"))
    return theirs / max(ours, 1e-9)


def measured(entry, n, shape, dtype, mode, seconds):
    """One cell of the map."""
    task, given, kinds = make(entry, n, *shape, TYPES[dtype]), mode == "given", list(entry.classes())
    for kind in kinds:
        _work(kind, entry, task, given, 0)  # compiles and warms up
    found = {"ours": [], "theirs": []}
    while not _enough(found, seconds):
        _rounds(entry, kinds, task, given, [len(found["ours"])], found)
    if _ratio(found, 0) < AGAIN and len(found["ours"]) >= 3:
        _rounds(entry, kinds, task, given, range(len(found["ours"]), 2 * len(found["ours"])), found)
    good = {side: statistics.median(each[2] for each in found[side]) for side in found}
    slack = entry.tolerance * (1e-12 + abs(good["theirs"]))
    return {
        "estimator": entry.name, "rival": entry.theirs, "rows": n, "columns": shape[0], "k": shape[1], "dtype": dtype,
        "mode": mode, "runs": len(found["ours"]),
        "ours_seconds": statistics.median(each[0] for each in found["ours"]),
        "theirs_seconds": statistics.median(each[0] for each in found["theirs"]),
        "ratio": _ratio(found, 0), "cpu_ratio": _ratio(found, 1), "ours_quality": good["ours"],
        "theirs_quality": good["theirs"], "as_good": bool(good["ours"] >= good["theirs"] - slack),
    }  # fmt: skip


def cells(rows, only=(), seconds=0.5, types=tuple(TYPES)):
    """All cells in turn; larger sizes of what takes too long are left out."""
    for entry in ENTRIES:
        if only and not any(word.lower() in f"{entry.name} {entry.ours}".lower() for word in only):
            continue
        for number, shape in enumerate(entry.shapes):
            for dtype in types if number == 0 else types[:1]:
                for mode in entry.modes:
                    before = None
                    for n in sorted(rows):
                        if n > entry.most or (before and before[1] * n / before[0] > LONG):
                            continue
                        cell = measured(entry, n, shape, dtype, mode, seconds)
                        before = n, max(cell["ours_seconds"], cell["theirs_seconds"])
                        yield cell


def _line(cell):
    worse = "" if cell["as_good"] else f"   worse: {cell['ours_quality']:.6g} / {cell['theirs_quality']:.6g}"
    return (
        f"{cell['estimator']:38}{cell['rows']:>9,} × {cell['columns']:<4}K={cell['k']:<4}{cell['dtype']:9}"
        f"{cell['mode']:10}{1e3 * cell['ours_seconds']:10.2f}{1e3 * cell['theirs_seconds']:10.2f}"
        f"{cell['ratio']:8.2f}{cell['cpu_ratio']:8.2f}{worse}"
    )


def main():
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.map", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS, help="sizes; 1000000 is left out by default")
    parser.add_argument("--only", nargs="+", default=(), help="words of the names of estimators or modules")
    parser.add_argument("--types", nargs="+", default=tuple(TYPES), choices=TYPES)
    parser.add_argument("--seconds", type=float, default=0.5, help="of a cell's runs, at least")
    parser.add_argument(
        "--json", type=Path, help="where cells are written; those of other estimators or sizes there are kept"
    )
    parser.add_argument("--page", type=Path, help="the page to write from the JSON file")
    parser.add_argument("--measure", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--cores", type=int, help="of the machine, for both sides; default all")
    parser.add_argument("--by", choices=("ratio", "cpu_ratio"), default="ratio", help="what the page shows")
    arguments = parser.parse_args()
    if arguments.cores and len(os.sched_getaffinity(0)) > arguments.cores:  # libraries ask when they are loaded
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-arguments.cores :])
        os.execv(sys.executable, [sys.executable, "-m", "benchmarks.map", *sys.argv[1:]])
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    known = {}
    if arguments.json and arguments.json.exists():
        known = {_key(cell): cell for cell in json.loads(arguments.json.read_text())["cells"]}
    if arguments.measure:
        print(f"{'':38}{'':31}{'':4}{'ours ms':>10}{'rival ms':>10}{'ratio':>8}{'by CPU':>8}")
        for cell in cells(arguments.rows, arguments.only, arguments.seconds, tuple(arguments.types)):
            print(_line(cell), flush=True)
            known[_key(cell)] = cell
            if arguments.json:
                told = {"machine": _machine(), "cells": list(known.values())}
                partly = arguments.json.with_suffix(".part")
                partly.write_text(json.dumps(told, indent=1) + "\n")
                partly.replace(arguments.json)  # whole or not at all
    if arguments.page:
        from .map_page import page

        arguments.page.write_text(page(json.loads(arguments.json.read_text()), arguments.by))


def _machine():
    """What the page says of the machine."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    model = next(
        (line.split(":")[1].strip() for line in text.splitlines() if line.startswith("model name")), platform.machine()
    )
    cores = len(os.sched_getaffinity(0))
    return f"{cores} core{'s' if cores > 1 else ''} of an {model}"


def _key(cell):
    return tuple(cell[name] for name in ("estimator", "rows", "columns", "k", "dtype", "mode"))


if __name__ == "__main__":
    main()
