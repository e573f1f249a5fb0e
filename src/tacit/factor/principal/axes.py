"""`Axes`: what every route to principal components ends with, from moments or from complete rows in memory.

Σ_i w_i (x_i − m)(x_i − m)ᵀ / Σ w = D V Λ Vᵀ D,    D the standard deviations of the columns where they are scaled, else I
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from ..moments import Moments
from . import routes

__all__ = ["Axes", "deviations", "from_moments", "from_rows", "sparse_moments"]


@dataclass(frozen=True)
class Axes:
    """Principal axes of rows.

    Attributes
    ----------
    mean : (d,) array
        What is subtracted from columns.
    scale : (d,) array or None
        What they are divided by.
    axes : (m, d) array
        Orthonormal axes V.
    variances : (at least m,) array
        The eigenvalues Λ that are known, in decreasing order.
    spread : (d,) array
        Variances of the columns before scaling.
    noise : float or None
        Noise variance, where it was learned.
    """

    mean: np.ndarray
    scale: np.ndarray | None
    axes: np.ndarray
    variances: np.ndarray
    spread: np.ndarray
    noise: float | None = None

    def unbiased(self, weight):
        """The same with divisor n − 1 instead of n, of rows of this total weight."""
        factor = weight / (weight - 1.0)
        lift = factor if self.scale is None else 1.0
        return Axes(
            self.mean,
            None if self.scale is None else self.scale * np.sqrt(factor),
            self.axes,
            self.variances * lift,
            self.spread * factor,
            None if self.noise is None else self.noise * lift,
        )

    @property
    def total(self):
        """Sum of all eigenvalues."""
        return float(self.spread.sum()) if self.scale is None else float(len(self.spread))


def deviations(mean, variance, scaled, names=None):
    """What columns are divided by: their standard deviations, or nothing (None).

    Raises
    ------
    ValueError
        Where squares of cells overflow, or where a column does not vary but must be scaled.
    """
    if not np.isfinite(variance).all():
        j = int(np.argmin(np.isfinite(variance)))
        raise ValueError(f"column {_name(j, names)} holds values so great that their squares overflow; rescale it.")
    if not scaled:
        return None
    scale = np.sqrt(variance)
    # Equal cells have a mean that is off by rounding.
    constant = scale <= 10.0 * np.finfo(np.float64).eps * np.abs(mean)
    if constant.any():
        j = int(np.argmax(constant))
        raise ValueError(
            f"column {_name(j, names)} is constant, so it cannot be scaled to unit variance; drop it, or use scale=False."
        )
    return scale


def _name(j, names):
    return f"{j} ({names[j]!r})" if names is not None else str(j)


def from_moments(known, scaled, names=None, n_components=None):
    """Axes of the covariance or correlation matrix of complete rows, from their `Moments`; all, or the first."""
    matrix = known.covariance
    spread = np.diagonal(matrix).copy()
    scale = deviations(known.mean, spread, scaled, names)
    if scale is not None:
        matrix = matrix / scale[:, None] / scale
    values, axes = routes.covariance(matrix, n_components)
    return Axes(known.mean, scale, routes.oriented(axes), values, spread)


def sparse_moments(X, weight):
    """The `Moments` of sparse rows, which stay sparse."""
    rows, weighted, total, mean = _sparse_sums(X, weight)
    second = np.asarray((rows.T @ weighted).todense()) / total
    return Moments(total, 0.0, mean, second - np.outer(mean, mean))


def _sparse_sums(X, weight):
    """Rows in double precision, the same times their weights, total weight and means."""
    total = float(X.shape[0] if weight is None else weight.sum())
    rows = X.astype(np.float64, copy=False).tocsr()
    weighted = rows if weight is None else rows.multiply(weight[:, None]).tocsr()
    return rows, weighted, total, np.asarray(weighted.sum(axis=0)).ravel() / total


def from_rows(X, weight, route, n_components, scaled, names=None, **settings):
    """Axes of complete rows in memory, by any route but the covariance matrix.

    Parameters
    ----------
    X : (n, d) array or sparse array
    weight : (n,) array or None
    route : str
        One of `routes.ROUTES`.
    n_components : int
        Axes to find; "full" finds all.
    scaled : bool
        Whether columns are divided by their standard deviations.
    names : sequence of str, optional
        Names of columns, for messages.
    settings : dict
        Of "randomized" and "arpack".
    """
    if issparse(X):
        rows, weighted, total, mean = _sparse_sums(X, weight)
        second = np.asarray(weighted.multiply(rows).sum(axis=0)).ravel() / total
        spread = np.maximum(second - mean**2, 0.0)
        scale = deviations(mean, spread, scaled, names)
        A = routes.CentredRows(X, mean, scale, None if weight is None else np.sqrt(weight))
    else:
        total = float(len(X) if weight is None else weight.sum())
        mean = X.mean(axis=0, dtype=np.float64) if weight is None else weight @ X / total
        A = X - mean.astype(X.dtype)
        if weight is not None:
            A *= np.sqrt(weight).astype(X.dtype)[:, None]
        spread = np.einsum("ij,ij->j", A, A, dtype=np.float64) / total
        scale = deviations(mean, spread, scaled, names)
        if scale is not None:
            A /= scale.astype(X.dtype)
    values, axes = routes.decompose(A, route, n_components, **settings)
    variances = values.astype(np.float64) ** 2 / total
    return Axes(mean, scale, routes.oriented(axes), variances, spread)
