"""Fixtures: real data where it is to be had; kernels compiled once before workers share the cores."""

import os
import subprocess
import sys
from pathlib import Path

if os.environ.get("PYTEST_XDIST_WORKER"):
    # Processes share the cores: their OpenMP threads would wait for each other by spinning, and fits on tensors take six times as
    # long. Set before any library that reads it is imported.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest


def pytest_sessionstart(session):
    """Compile kernels in as many processes as there will be workers: each would compile all that it meets."""
    config = session.config
    n_workers = config.getoption("numprocesses", None) or 0
    if n_workers > 1 and config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        command, root = [sys.executable, "-m", "tests.kernels.compile"], config.rootpath
        shares = [subprocess.Popen([*command, str(k), str(n_workers)], cwd=root) for k in range(n_workers)]
        if any([share.wait() for share in shares]):
            raise pytest.UsageError("kernels cannot be compiled; see above")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def table():
    """Load a CSV of the data folder as a dictionary of columns; empty cells are NaN, text stays text."""
    folder = os.environ.get("TACIT_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("TACIT_DATA does not name the folder of published data sets")

    def load(name):
        pandas = pytest.importorskip("pandas")
        return pandas.read_csv(Path(folder) / name)

    return load
