"""What `KernelPCA` accepts, and what it says of kernels that are not inner products."""

from __future__ import annotations

import numbers
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from ...checks import check_choice, check_n_jobs, check_number, check_rows

if TYPE_CHECKING:
    from .estimator import KernelPCA
    from .function import Kernel

__all__ = [
    "check_callable", "check_finite", "check_negative", "check_settings", "checked_rows", "n_wanted", "symmetric",
    "warn_constant", "warn_negative",
]  # fmt: skip

PREIMAGES = ("ridge", "fixed_point")
EIGEN_SOLVERS = ("auto", "dense", "arpack", "randomized", "nystrom")
N_TRIED_ROWS = 4
SIGNIFICANT = {np.dtype(np.float64): (1e-5, 1e-10), np.dtype(np.float32): (5e-3, 1e-6)}
"""A negative eigenvalue counts where it is below both of these: a share of the largest, and a number; as in scikit-learn."""
NONE = 1e-10  # largest eigenvalue as a share of the least: none is positive
DISTANCES = "it seems to hold distances D: give -D**2 / 2, or exp(-gamma * D**2)"


def check_settings(model: KernelPCA, kernels: tuple[str, ...]) -> None:
    """Raise where a setting is not of its kind, or two do not go together."""
    if not callable(model.kernel):
        check_choice("kernel", model.kernel, (*kernels, "precomputed"))
    check_choice("eigen_solver", model.eigen_solver, EIGEN_SOLVERS)
    check_choice("preimage", model.preimage, PREIMAGES)
    for name in ("n_components", "n_landmarks", "max_iter"):
        if getattr(model, name) is not None:
            check_number(name, getattr(model, name), numbers.Integral, 1)
    if model.gamma is not None:
        check_number("gamma", model.gamma, numbers.Real, 0, np.finfo(np.float64).max)
    for name in ("degree", "alpha", "tol"):
        check_number(name, getattr(model, name), numbers.Real, 0, np.finfo(np.float64).max)
    check_number("coef0", model.coef0, numbers.Real, np.finfo(np.float64).min, np.finfo(np.float64).max)
    if model.iterated_power != "auto":
        check_number("iterated_power", model.iterated_power, numbers.Integral, 0)
    check_n_jobs(model.n_jobs)
    if model.kernel_params is not None and not isinstance(model.kernel_params, dict):
        raise ValueError(f"kernel_params={model.kernel_params!r} is not a dictionary of keyword arguments.")
    _check_together(model)


def _check_together(model: KernelPCA) -> None:
    if model.kernel == "precomputed":
        if model.fit_inverse_transform:
            raise ValueError(
                "Cannot fit_inverse_transform with a precomputed kernel: pre-images are rows, which are not given; give rows "
                "and the kernel's name or function."
            )
        if model.eigen_solver == "nystrom" or model.n_landmarks is not None:
            raise ValueError(
                "landmarks save the kernel matrix, which kernel='precomputed' has already; use eigen_solver='arpack' or "
                "'randomized', without n_landmarks."
            )
    if model.n_landmarks is not None and model.eigen_solver not in ("auto", "nystrom"):
        raise ValueError(
            f"n_landmarks={model.n_landmarks} has no meaning with eigen_solver={model.eigen_solver!r}; use 'nystrom'."
        )
    if not model.fit_inverse_transform:
        return
    if model.preimage == "fixed_point" and model.kernel != "rbf":
        raise ValueError(f"preimage='fixed_point' is for kernel='rbf', not {model.kernel!r}; use preimage='ridge'.")
    if model.preimage == "fixed_point" and model.gamma == 0:
        raise ValueError(
            f"gamma={model.gamma:g} makes all rows alike, so that no row is nearest to a point; preimage='fixed_point' needs "
            "gamma above 0."
        )
    if model.preimage == "ridge" and model.kernel in ("chi2", "additive_chi2"):
        raise ValueError(
            f"kernel={model.kernel!r} takes no negative numbers, and scores are negative, so that no inverse can be learned; "
            "use another kernel, or fit_inverse_transform=False."
        )


def checked_rows(model: KernelPCA, X: Any, *, reset: bool, copy: bool = False) -> Any:
    """X as floats, dense or CSR."""
    X = check_rows(model, X, reset=reset, accept_sparse="csr", copy=copy)
    if sparse.issparse(X) and model.kernel in ("chi2", "additive_chi2"):
        raise TypeError(f"kernel={model.kernel!r} takes no sparse rows; give X.toarray().")
    if sparse.issparse(X) and X.indices.dtype != np.int32 and max(X.nnz, *X.shape) < 2**31:
        # As kernels want them.
        X = type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    if reset and model.fit_inverse_transform and sparse.issparse(X):
        raise TypeError(
            "X is sparse, and the inverse transform is learned from dense rows; give X.toarray(), or fit_inverse_transform=False."
        )
    if model.kernel == "precomputed" and reset and X.shape[0] != X.shape[1]:
        raise ValueError(
            f"a precomputed kernel must be square, but X has shape {X.shape}; for rows of features use kernel='rbf' or another."
        )
    return X


def n_wanted(model: KernelPCA, n_rows: int) -> int | None:
    """Components that an estimator's settings ask for; None is all."""
    if model.n_components is not None and model.n_components > n_rows:
        warnings.warn(
            f"n_components={model.n_components} exceeds the {n_rows} rows of X; {n_rows} components are made.",
            stacklevel=4,
        )
        return n_rows
    if model.n_components is None and model.kernel == "linear":
        return min(n_rows, model.n_features_in_)  # there are no more that are not 0
    return model.n_components


def check_callable(kernel: Kernel, X: Any) -> None:
    """Try a user's function on a few rows: it must give numbers, and the same both ways round."""
    few = X[: min(N_TRIED_ROWS, X.shape[0])]
    try:
        values = pairwise_kernels(few, few.copy(), metric=kernel.rule, filter_params=True, **kernel.params)
        values = np.asarray(values.toarray() if sparse.issparse(values) else values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{kernel.label} returns no number for two rows of X ({type(error).__name__}: {error}); a kernel takes two rows, and "
            "kernel_params by name, and returns one number."
        ) from error
    check_finite(values, kernel.label)
    i, j = np.unravel_index(np.argmax(np.abs(values - values.T)), values.shape)
    if not np.isclose(values[i, j], values[j, i], rtol=1e-6, atol=1e-10 * np.abs(values).max()):
        raise ValueError(
            f"{kernel.label} gives {values[i, j]:g} for rows {i} and {j}, but {values[j, i]:g} for rows {j} and {i}; a kernel "
            "must not depend on the order: return the mean of both."
        )


def check_finite(values: np.ndarray, label: str) -> None:
    """Raise where a kernel value is not a finite number."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(values.sum())
    if np.isfinite(total):
        return
    bad = values[~np.isfinite(values)]
    worst = float(bad[0]) if bad.size else total
    raise ValueError(
        f"{label} gives {worst:g} between rows of X; kernel values must be finite numbers: scale the columns of X (for example "
        "with sklearn.preprocessing.StandardScaler), or correct the kernel."
    )


def symmetric(K: np.ndarray) -> np.ndarray:
    """A given kernel matrix, averaged with its transpose where it differs, with a warning."""
    # By strips: no second matrix of this size.
    gap = max(float(np.abs(K[i : i + 256] - K[:, i : i + 256].T).max()) for i in range(0, len(K), 256))
    if gap <= 1e3 * float(np.finfo(K.dtype).eps) * max(float(np.abs(K).max()), 1e-300):
        return K
    warnings.warn(
        f"the kernel matrix is not symmetric (entries differ by up to {gap:g}); it is averaged with its transpose.",
        stacklevel=4,
    )
    return 0.5 * (K + K.T)


def check_negative(values: np.ndarray, least: float, label: str) -> None:
    """Raise where the least of the eigenvalues wanted is negative beyond rounding; `values` are in decreasing order."""
    largest = float(values[0])
    share, size = SIGNIFICANT[values.dtype]
    if least >= -size or least >= -share * largest:
        return
    n_positive = int(np.count_nonzero(values > share * largest))
    remedy = f"ask for at most n_components={n_positive}, or use a kernel that is one, such as 'rbf'"
    if largest <= NONE * abs(least):
        remedy = DISTANCES
    raise ValueError(
        f"There are significant negative eigenvalues: the least is {least:g}, and the largest {largest:g}. The matrix of {label} "
        f"is not positive semi-definite, so it is not an inner product; {remedy}."
    )


def warn_negative(least: float | None, largest: float, label: str) -> None:
    """Say that eigenvalues outside those wanted are negative."""
    if least is not None and largest <= NONE * abs(least):
        message = (
            f"no eigenvalue of the centred matrix of {label} is positive (the least is {least:g}), so that all scores are 0; "
            f"{DISTANCES}."
        )
    else:
        what = "some are negative" if least is None else f"the least is {least:g}"
        message = (
            f"the matrix of {label} is not positive semi-definite: among the eigenvalues that were not asked for {what}, where "
            f"the largest is {largest:g}. Scores are those of positive eigenvalues alone; a kernel that is an inner product, "
            "such as 'rbf', has no others."
        )
    warnings.warn(message, stacklevel=5)


def warn_constant(label: str) -> None:
    """Say that there is nothing to find."""
    warnings.warn(
        f"{label} gives all rows the same values (the columns of X are constant, or gamma is too small): there is no variance, "
        "and all scores are 0.",
        stacklevel=4,
    )
