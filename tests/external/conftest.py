"""Fixtures that scikit-learn's own tests expect."""

import numpy as np
import pytest

from ..zoo import some


@pytest.fixture(params=[np.float32, np.float64], ids=["float32", "float64"])
def global_dtype(request):
    return request.param


@pytest.fixture(params=some([42, 7], [42]))
def global_random_seed(request):
    return request.param
