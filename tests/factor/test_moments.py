"""Mean and covariance in one pass."""

import numpy as np
import pytest

from tacit.factor import moments
from tacit.source import ArraySource


@pytest.mark.parametrize(("dtype", "digits"), [(np.float64, 1e-10), (np.float32, 1e-5)])
def test_they_are_numpys_however_far_from_zero_and_however_cut(dtype, digits):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(700, 5)) @ rng.normal(size=(5, 5)) + 300.0).astype(dtype)
    weight = rng.random(700)
    for block_rows in (700, 64):
        found = moments(ArraySource(X, weight, block_rows=block_rows))
        np.testing.assert_allclose(found.mean, np.average(X.astype(float), axis=0, weights=weight), rtol=digits)
        expected = np.cov(X.astype(float).T, aweights=weight, ddof=0)
        np.testing.assert_allclose(found.covariance, expected, atol=digits * np.abs(expected).max())
    assert found.incomplete == 0.0


def test_rows_with_missing_cells_are_counted_apart():
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[:10, 1] = np.nan
    found = moments(ArraySource(X))
    assert (found.weight, found.incomplete) == (40.0, 10.0)
    np.testing.assert_allclose(found.covariance, np.cov(X[10:].T, ddof=0), atol=1e-12)
