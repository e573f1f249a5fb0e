"""Model files that nobody saved: the one error of `load`, or a model that behaves; never a byte outside an array."""

import contextlib
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tacit

from .mutants import MODELS, fault, impossible, mutant, packed, saved
from .zoo import some

SECONDS, BYTES = 2.0, 10**9


def checked(name, seeds, path):
    """What is wrong with mutants of a model's file, one line for each."""
    path = str(path)
    Path(path).write_bytes(packed(saved(name)))
    tacit.load(path)
    assert fault(path, name) is None  # and kernels are compiled
    for seed in seeds:
        content, how = mutant(name, seed)
        Path(path).write_bytes(content)
        for _ in range(2):  # the first time may compile
            start, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            error = fault(path, name)
            taken = time.process_time() - start
            if taken < SECONDS:
                break
        larger = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        if error is not None or taken > SECONDS or larger > BYTES:
            told = f"{type(error).__name__} {' '.join(str(error).split())[:200]} {getattr(error, '__notes__', '')}"
            yield f"{name} {seed} ({how[:200]}): {told}, {taken:.1f} s, {larger / 1e6:.0f} MB"


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore")
def test_a_few_mutants(name, tmp_path):
    assert list(checked(name, range(6), tmp_path / "model.tacit")) == []


QUICK = [
    "GaussianMixture diag",
    "StudentTMixture",
    "SpectralClustering of neighbours",
    "PCA ranked",
    "KernelPCA by landmarks",
]


@pytest.mark.parametrize("name", some(MODELS, QUICK))
@pytest.mark.filterwarnings("ignore")
def test_impossible_numbers_are_refused(name, tmp_path):
    """NaN, infinities and negative numbers, in files that are sound otherwise, where nothing that was fitted has them."""
    path, loaded = tmp_path / "model.tacit", []
    every = {} if name in QUICK else {"where": (0.0, 0.5, 1.0)}
    for how, content in impossible(name, **every):
        path.write_bytes(content)
        with contextlib.suppress(ValueError):
            tacit.load(path)
            loaded.append(how)
    assert loaded == []


@pytest.mark.full
@pytest.mark.parametrize("share", [0, 1])
def test_many_mutants_with_bounds_checked(share, tmp_path):
    """Compiled code checks its bounds, in a process of its own: it is compiled otherwise, and a limit of memory holds for it."""
    checks = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    command = [
        sys.executable,
        "-m",
        "tests.test_persistence_fuzz",
        str(share),
        "2",
        "120",
        str(tmp_path / "model.tacit"),
    ]
    run = subprocess.run(
        command, env=os.environ | checks, cwd=Path(__file__).parents[1], capture_output=True, text=True
    )
    assert (run.returncode, run.stdout) == (0, ""), run.stderr[-2000:]


def main(share, of, n_mutants, path):
    import faulthandler
    import warnings

    warnings.simplefilter("ignore")
    for name in list(MODELS)[int(share) :: int(of)]:
        faulthandler.dump_traceback_later(600, exit=True)
        for line in checked(name, range(1000, 1000 + int(n_mutants)), path):
            print(line)


if __name__ == "__main__":
    main(*sys.argv[1:])
