"""Verdicts on groups: how often each is given, of data that are clear, overlapping, a continuum or one group.

Run: python benchmarks/verdicts.py [REPEATS]. Three columns throughout; *overlapping* are two Gaussians 3.2 standard deviations
apart (best possible error 5.5 %), *close* the same 2 apart, of which the density has one peak.
"""

import sys
import time
import warnings
from collections import Counter

import numpy as np

from tacit.mixture import find_groups

SIZES = (60, 200, 600, 2000)
CENTRES = np.array([[0.0, 0, 0], [6, 0, 0], [0, 0, 6]])


def arc(n: int, rng: np.random.Generator) -> np.ndarray:
    """A bent band."""
    angle = 3.0 * rng.random(n)
    return np.column_stack([np.cos(angle), np.sin(angle), rng.normal(size=n)]) + 0.12 * rng.normal(size=(n, 3))


def pair(apart: float, n: int, rng: np.random.Generator) -> np.ndarray:
    """Two groups so far apart."""
    return rng.normal(size=(n, 3)) + (rng.random(n) < 0.5)[:, None] * [apart, 0, 0]


DATA = {
    "clear": (("clear",), lambda n, rng: CENTRES[rng.integers(3, size=n)] + rng.normal(size=(n, 3))),
    "overlapping": (("overlapping",), lambda n, rng: pair(3.2, n, rng)),
    "close": (("one", "continuum"), lambda n, rng: pair(2.0, n, rng)),
    "Gaussian": (("one",), lambda n, rng: rng.normal(size=(n, 3)) @ (np.eye(3) + 0.5)),
    "even cube": (("continuum", "one"), lambda n, rng: rng.random((n, 3))),
    "log-normal": (("continuum", "one"), lambda n, rng: np.exp(0.6 * rng.normal(size=(n, 3)))),
    "Student t, 3": (("continuum", "one"), lambda n, rng: rng.standard_t(3, size=(n, 3))),
    "arc": (("continuum", "one"), arc),
}


def main() -> None:
    warnings.simplefilter("ignore")
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    find_groups(pair(3.0, 40, np.random.default_rng(0)))  # compiles
    print("| data | rows | right | clear | overlapping | continuum | one | seconds |")
    for name, (right, draw) in DATA.items():
        for n in SIZES:
            begin, given = time.process_time(), Counter()
            for seed in range(repeats):
                found = find_groups(draw(n, np.random.default_rng(seed)), seed=seed)
                given[found.verdict.kind] += 1
            share = [f"{100 * given[kind] / repeats:.0f} %" for kind in ("clear", "overlapping", "continuum", "one")]
            correct = sum(given[kind] for kind in right) / repeats
            seconds = (time.process_time() - begin) / repeats
            print(f"| {name} | {n} | {100 * correct:.0f} % | {' | '.join(share)} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
