"""Fixtures: real data where it is to be had."""

import os
from pathlib import Path

import numpy as np
import pytest


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
