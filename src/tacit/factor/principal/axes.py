"""`Axes`: what every route to principal components ends with, from moments or from complete rows in memory.

Σ_i w_i (x_i − m)(x_i − m)ᵀ / Σ w = D V Λ Vᵀ D,    D the standard deviations of the columns where they are scaled, else I
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..moments import Moments
from . import routes
from .rank import Spectrum, check_total

__all__ = ["Axes", "Told", "deviations", "from_moments", "from_rows", "sparse_moments"]

Told = Callable[[int], str]
"""What messages call a column."""


@dataclass(frozen=True)
class Axes:
    """Principal axes of rows."""

    mean: np.ndarray  # what is subtracted from columns
    scale: np.ndarray | None  # what they are divided by
    axes: np.ndarray  # (m, d), orthonormal: V
    variances: np.ndarray  # the eigenvalues Λ that are known, at least m, in decreasing order
    spread: np.ndarray  # variances of the columns before scaling
    weight: float  # of all rows together
    noise: float | None = None  # noise variance, where it was learned

    def unbiased(self) -> Axes:
        """The same with divisor n − 1 instead of n."""
        check_total(self.weight)
        factor = self.weight / (self.weight - 1.0)
        found = replace(self, spread=self.spread * factor)
        if self.scale is not None:
            return replace(found, scale=self.scale * np.sqrt(factor))
        noise = None if self.noise is None else self.noise * factor
        return replace(found, variances=self.variances * factor, noise=noise)

    @property
    def total(self) -> float:
        """Sum of all eigenvalues."""
        return float(self.spread.sum()) if self.scale is None else float(len(self.spread))

    def spectrum(self, n_values: int | None = None, n_rows: float | None = None) -> Spectrum:
        """The first eigenvalues, at most so many, to choose a rank by; as those of `n_rows`, default the rows' own weight."""
        d, n_rows = len(self.mean), self.weight if n_rows is None else n_rows
        return Spectrum(self.variances[:n_values][:d], n_rows, d, self.spread if self.scale is None else None)


def deviations(mean: np.ndarray, variance: np.ndarray, scaled: bool, told: Told) -> np.ndarray | None:
    """What columns are divided by: their standard deviations, or nothing (None); columns that have none are refused."""
    if not np.isfinite(variance).all():
        j = int(np.argmin(np.isfinite(variance)))
        raise ValueError(f"column {told(j)} holds values so great that their squares overflow; rescale it.")
    if not scaled:
        return None
    scale = np.sqrt(variance)
    # Equal cells have a mean that is off by rounding.
    constant = scale <= 10.0 * np.finfo(np.float64).eps * np.abs(mean)
    if constant.any():
        j = int(np.argmax(constant))
        raise ValueError(
            f"column {told(j)} is constant, so it cannot be scaled to unit variance; drop it, or use scale=False."
        )
    return scale


def from_moments(known: Moments, scaled: bool, told: Told, n_components: int | None = None) -> Axes:
    """Axes of the covariance or correlation matrix of complete rows, from their `Moments`; all, or the first."""
    matrix = known.covariance
    spread = np.diagonal(matrix).copy()
    scale = deviations(known.mean, spread, scaled, told)
    if scale is not None:
        matrix = matrix / scale[:, None] / scale
    values, axes = routes.covariance(matrix, n_components)
    return Axes(known.mean, scale, routes.oriented(axes), values, spread, known.weight)


def sparse_moments(X: Any, weight: np.ndarray | None) -> Moments:
    """The `Moments` of sparse rows, which stay sparse."""
    rows, weighted, total, mean = _sparse_sums(X, weight)
    second = np.asarray((rows.T @ weighted).todense()) / total
    return Moments(total, 0.0, mean, second - np.outer(mean, mean))


def _sparse_sums(X: Any, weight: np.ndarray | None) -> tuple[Any, Any, float, np.ndarray]:
    """Rows in double precision, the same times their weights, total weight and means."""
    total = float(X.shape[0] if weight is None else weight.sum())
    rows = X.astype(np.float64, copy=False).tocsr()
    weighted = rows if weight is None else rows.multiply(weight[:, None]).tocsr()
    return rows, weighted, total, np.asarray(weighted.sum(axis=0)).ravel() / total


def from_rows(
    X: Any, weight: np.ndarray | None, route: str, n_axes: int, scaled: bool, told: Told, **settings: Any
) -> Axes:
    """Axes of complete rows in memory, dense or sparse, by any route but the covariance matrix; "full" finds all.

    Where `scaled`, columns are divided by their standard deviations; `settings` are those of "randomized" and "arpack".
    """
    if issparse(X):
        rows, weighted, total, mean = _sparse_sums(X, weight)
        second = np.asarray(weighted.multiply(rows).sum(axis=0)).ravel() / total
        spread = np.maximum(second - mean**2, 0.0)
        scale = deviations(mean, spread, scaled, told)
        A = routes.CentredRows(X, mean, scale, None if weight is None else np.sqrt(weight))
    else:
        total = float(len(X) if weight is None else weight.sum())
        mean = X.mean(axis=0, dtype=np.float64) if weight is None else weight @ X / total
        A = X - mean.astype(X.dtype)
        if weight is not None:
            A *= np.sqrt(weight).astype(X.dtype)[:, None]
        spread = np.einsum("ij,ij->j", A, A, dtype=np.float64) / total
        scale = deviations(mean, spread, scaled, told)
        if scale is not None:
            A /= scale.astype(X.dtype)
    values, axes = routes.decompose(A, route, n_axes, **settings)
    variances = values.astype(np.float64) ** 2 / total
    return Axes(mean, scale, routes.oriented(axes), variances, spread, total)
