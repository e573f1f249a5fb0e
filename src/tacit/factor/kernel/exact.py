"""Kernel PCA by the matrix of all pairs of rows, made, centred and decomposed in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ...source.threads import thread_count
from .checks import SIGNIFICANT, check_finite, check_negative, symmetric, warn_constant, warn_negative
from .function import centre
from .spectrum import Spectrum, leading

if TYPE_CHECKING:
    from .estimator import KernelPCA

__all__ = ["exact"]


def exact(model: KernelPCA, X: Any, n_components: int | None) -> tuple[Spectrum, np.ndarray, float, float]:
    """The spectrum that an estimator's settings ask for, means of the columns of the matrix, a floor and a total.

    Eigenvalues up to the floor are rounding; the total is that of all eigenvalues, or of the positive ones where some are not.
    """
    K, label = _matrix(model, X)
    n, eps = len(K), float(np.finfo(K.dtype).eps)
    means, largest = centre(K, thread_count(model.n_jobs), label)
    trace, floor = float(np.trace(K, dtype=np.float64)), 4 * eps * np.sqrt(n) * largest
    if abs(trace) <= 32 * eps * n * largest and float(np.abs(K).max()) <= 32 * eps * largest:
        warn_constant(label)
        n_components = n_components or 1
        nothing = np.zeros(n_components, dtype=K.dtype), np.eye(n, n_components, dtype=K.dtype)
        return Spectrum(*nothing, least=0.0, total=0.0), means.astype(K.dtype), floor, 0.0
    found = leading(
        K, n_components, model.eigen_solver, tol=model.tol, max_iter=model.max_iter, power=model.iterated_power,
        random_state=model.random_state,
    )  # fmt: skip
    positive = float(found.values[found.values > 0].sum(dtype=np.float64))
    _check(found, model.n_components is None, trace, positive, label)
    return found, means.astype(K.dtype), floor, max(trace if found.total is None else found.total, positive)


def _matrix(model: KernelPCA, X: Any) -> tuple[np.ndarray, str]:
    """The kernel matrix, which may be overwritten, and its name in words."""
    if model.kernel == "precomputed":
        K, label = (X.toarray() if sparse.issparse(X) else X), "kernel='precomputed'"
        check_finite(K, label)
        return np.ascontiguousarray(symmetric(K)), label
    kernel = model._rule()
    try:
        K = kernel.square(X)
    except MemoryError:
        raise MemoryError(
            f"memory does not hold the {X.shape[0]} × {X.shape[0]} kernel matrix; use eigen_solver='nystrom'."
        ) from None
    return np.ascontiguousarray(K, dtype=X.dtype), kernel.label


def _check(found: Spectrum, everything: bool, trace: float, positive: float, label: str) -> None:
    """Refuse negative eigenvalues among those asked for, and tell of others."""
    largest, least = float(found.values[0]), found.least
    check_negative(found.values, least if everything and least is not None else float(found.values[-1]), label)
    share, size = SIGNIFICANT[found.values.dtype]
    # Where the least is not known, positive eigenvalues that exceed the trace tell that others are negative.
    hidden = positive > (1 + share) * trace if least is None else least < -max(share * largest, size)
    if hidden:
        warn_negative(least, largest, label)
