"""The covariances of Gaussian processes: scikit-learn's kernels, under the same names."""

from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import (
    RBF,
    CompoundKernel,
    ConstantKernel,
    DotProduct,
    Exponentiation,
    ExpSineSquared,
    Hyperparameter,
    Kernel,
    Matern,
    PairwiseKernel,
    Product,
    RationalQuadratic,
    Sum,
    WhiteKernel,
)

__all__ = [
    "RBF", "CompoundKernel", "ConstantKernel", "DotProduct", "ExpSineSquared", "Exponentiation", "Hyperparameter", "Kernel",
    "Matern", "PairwiseKernel", "Product", "RationalQuadratic", "Sum", "WhiteKernel",
]  # fmt: skip


def check_sound(kernel: Any) -> None:
    """Raise ValueError where settings of a kernel, as a file holds them, are none that it works with."""
    name = type(kernel).__name__
    for key, value in kernel.get_params(deep=False).items():
        if key in ("k1", "k2", "kernel", "kernels"):
            parts = value if key == "kernels" and isinstance(value, list) else [value]
            if not all(isinstance(part, Kernel) for part in parts):
                raise ValueError(f"{key!r} of {name} is no kernel")
        elif key in ("metric", "pairwise_kernels_kwargs"):
            if not isinstance(value, (str, dict, type(None))):
                raise ValueError(f"{key!r} of {name} is neither a name nor named numbers")
        elif not (key.endswith("_bounds") and isinstance(value, str) and value == "fixed"):
            _check_positive(f"{key!r} of {name}", value, (2,) if key.endswith("_bounds") else ())


def _check_positive(what: str, value: Any, last: tuple[int, ...]) -> None:
    """Raise where a value is no number above 0, nor an array of them whose last axis is `last`."""
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what} holds no numbers") from None
    infinite = not last and np.isinf(numbers).any()  # bounds may be
    if not (numbers > 0).all() or infinite or numbers.ndim > 2 or (last and numbers.shape[-1:] != last):
        raise ValueError(f"{what} must be positive and finite, not {value}")
