"""Signs of vectors."""

import numpy as np
import pytest

from tacit.signs import signs


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_largest_entry_becomes_positive(dtype):
    columns = np.array([[1.0, -3.0, 0.0, 2.0], [-2.0, 1.0, 0.0, 1.0]], dtype)
    found = signs(columns)
    assert found.dtype == dtype
    assert found.tolist() == [-1.0, -1.0, 1.0, 1.0]
    assert signs(columns[:, :0]).shape == (0,)
