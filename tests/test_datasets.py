"""The tables that ship with the library hold what their publishers say."""

import numpy as np
import pytest

from tacit.datasets import load_giss


def test_giss():
    year, anomaly, columns = load_giss()
    assert columns == ["land_ocean", "land"]
    np.testing.assert_array_equal(year, np.arange(1880, 2016))
    np.testing.assert_array_equal(anomaly[0], [-0.20, -0.53])
    normal = (year >= 1951) & (year <= 1980)
    np.testing.assert_allclose(anomaly[normal].mean(axis=0), 0.0, atol=5e-4)
    assert 10 * np.polyfit(year, anomaly, 1)[0] == pytest.approx([0.06984, 0.09733], abs=5e-6)
