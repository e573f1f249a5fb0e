"""`Basis`: functions of rows, k(x, v) for some rows v, and a constant."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import check_choice, check_number
from ...cluster.dissimilarity.function import Function
from .function import KERNELS, Kernel

__all__ = ["Basis", "check_kernel", "kernel_of"]


class KernelFunction(Function):
    """A kernel that the user wrote in Python, compiled where numba can do it."""

    def __init__(self, function: Any, parameters: dict, sample: np.ndarray):
        super().__init__(function, parameters, sample)
        self._slack = 0.0  # values below 0 are values


@dataclass(frozen=True)
class Basis:
    """Φ(x) = [k(x, v_1), …, k(x, v_M), 1].

    Attributes
    ----------
    kernel : Kernel or KernelFunction or None
        None where rows are kernel values already.
    vectors : (M, d) array
    constant : bool
        Whether there is a constant at the end.
    """

    kernel: Any
    vectors: np.ndarray
    constant: bool

    def values(self, X: np.ndarray) -> np.ndarray:
        """Φ of rows, (n, M + 1) or (n, M)."""
        if self.kernel is None:
            found = X
        elif isinstance(self.kernel, KernelFunction):
            found = self.kernel.between(X, self.vectors)
        else:
            found = self.kernel.block(self.kernel.rows(X), self.kernel.rows(self.vectors))
        if not np.isfinite(found).all():
            i, j = np.argwhere(~np.isfinite(found))[0]
            raise ValueError(
                f"the kernel is {found[i, j]} between row {i} and vector {j}; it must be a finite number: scale the columns, or "
                "use another kernel."
            )
        return np.column_stack([found, np.ones(len(X))]) if self.constant else found


def check_kernel(model: Any) -> None:
    """Raise where the settings of a kernel are not what they must be."""
    if not callable(model.kernel):
        check_choice("kernel", model.kernel, (*KERNELS, "precomputed"))
    if model.gamma not in ("scale", "auto"):
        check_number("gamma", model.gamma, numbers.Real, 0, also=("scale", "auto"))
        if not 0 < model.gamma < np.inf:
            raise ValueError(f"gamma={model.gamma!r} is not a finite number above 0.")
    check_number("degree", model.degree, numbers.Real, 0)
    check_number("coef0", model.coef0, numbers.Real, -np.inf)
    if model.kernel_params is not None and not isinstance(model.kernel_params, dict):
        raise ValueError(f"kernel_params={model.kernel_params!r} is not a dictionary of keyword arguments.")


def kernel_of(
    model: Any, X: np.ndarray, weight: np.ndarray | None = None, gamma: float | None = None
) -> tuple[Any, float]:
    """The kernel that the settings of a model describe, and its γ, which may depend on the rows X it is learned from.

    Parameters
    ----------
    model : object
        With the settings of `RelevanceVectorRegressor`.
    X : (n, d) array
    weight : (n,) array, optional
    gamma : float, optional
        γ, where it is known.
    """
    if gamma is None:
        mean = np.average(X, weights=weight, axis=0).mean()
        spread = float(np.average((X - mean) ** 2, weights=weight, axis=0).mean())
        told = {"scale": 1.0 / (X.shape[1] * spread if spread > 0 else 1.0), "auto": 1.0 / X.shape[1]}
        gamma = told[model.gamma] if isinstance(model.gamma, str) else float(model.gamma)
    params = model.kernel_params or {}
    if isinstance(model.kernel, str) and model.kernel == "precomputed":
        return None, gamma
    if callable(model.kernel):
        return KernelFunction(model.kernel, params, X), gamma
    return Kernel(model.kernel, gamma, model.degree, model.coef0, params, None, model.n_jobs), gamma
