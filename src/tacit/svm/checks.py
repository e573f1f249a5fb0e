"""What support vector machines accept, and what they say where no machine exists."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from ..checks import as_numpy, check_choice, check_number

__all__ = ["KERNELS", "check_settings", "feasible", "row_weights"]

KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")
LARGEST = float(np.finfo(np.float64).max)


def check_settings(model: Any) -> None:
    """Raise where a setting is not of its kind."""
    if not callable(model.kernel):
        check_choice("kernel", model.kernel, KERNELS)
    if isinstance(model.gamma, str):
        check_choice("gamma", model.gamma, ("scale", "auto"))
    else:
        check_number("gamma", model.gamma, numbers.Real, 0, LARGEST)
    check_number("degree", model.degree, numbers.Integral, 0)
    check_number("coef0", model.coef0, numbers.Real, -LARGEST, LARGEST)
    for name, most in (("tol", LARGEST), ("C", np.inf), ("nu", 1.0), ("cache_size", LARGEST)):
        value = getattr(model, name, 1.0)
        check_number(name, value, numbers.Real, 0, most)
        if not value > 0:
            raise ValueError(f"{name}={value!r} must be above 0.")
    if hasattr(model, "epsilon"):
        check_number("epsilon", model.epsilon, numbers.Real, 0, LARGEST)
    check_number("max_iter", model.max_iter, numbers.Integral, -1)
    for name in ("shrinking", "probability", "break_ties"):
        value = getattr(model, name, False)
        if not isinstance(value, (bool, np.bool_)):
            raise ValueError(f"{name}={value!r} must be True or False.")
    if hasattr(model, "decision_function_shape"):
        check_choice("decision_function_shape", model.decision_function_shape, ("ovr", "ovo"))


def row_weights(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Weights of rows as float64; those of rows that are left out are 0."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = np.asarray(as_numpy(sample_weight), dtype=np.float64)
    weight = np.full(n_rows, float(weight)) if weight.ndim == 0 else weight
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {weight.shape}, but X has {n_rows} rows; give one weight per row.")
    bad = weight[~np.isfinite(weight)]
    if bad.size:
        raise ValueError(f"sample_weight holds {bad[0]:g}; weights must be finite.")
    if not (weight > 0).any():
        raise ValueError(
            f"Invalid input - all samples have zero or negative weights. The largest of sample_weight is {weight.max():g}; "
            "at least one row must have a weight above 0."
        )
    return np.maximum(weight, 0.0)


def feasible(K: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> bool:
    """Whether some f = Kβ + b lies between two bounds at all rows, as a linear programme in the columns of a factor of K."""
    from scipy.linalg.lapack import dpstrf
    from scipy.optimize import linprog

    n = len(K)
    factor, pivots, rank, _ = dpstrf(K, lower=1)
    if rank == n:
        return True
    root = np.tril(factor)[:, :rank]
    A = np.column_stack([root, np.ones(n)])
    lower, upper = lower[pivots - 1], upper[pivots - 1]
    some, more = np.isfinite(upper), np.isfinite(lower)
    found = linprog(
        np.zeros(rank + 1), np.vstack([A[some], -A[more]]), np.concatenate([upper[some], -lower[more]]),
        bounds=(None, None), method="highs",
    )  # fmt: skip
    return found.status != 2
