"""`Design`: what complete rows say of a linear model, in the smaller of two forms; `Spectrum` diagonalises either.

primal: G = Σ w x xᵀ (d × d) of N ≥ D rows, from any source;    dual: K = X Xᵀ (n × n) of N < D rows in memory

x and y are about their means where there is an intercept, and rows are multiplied by √w.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri
from scipy.sparse.linalg import LinearOperator, lsqr

from ..factor.moments import moments
from ..kernels import host, rows_on_host
from ..source import ArraySource, Block, Source, SparseSource

__all__ = ["Design", "Spectrum", "design_of", "factored", "inverse_root", "iterated", "of_moments", "of_rows"]

SMALL = 1 << 13  # cells of a table that is decomposed itself, at no cost that counts
HELD = 1 << 22  # cells of a table of which a centred copy is held; larger ones are summed in blocks
SIDE = 4000  # rows or columns at most of a matrix that is made of sparse rows
DIGITS = 1e-10  # reciprocal of the condition beyond which products of columns have lost too many digits
CANCELLED = 1e-9  # share of the total that a difference of sums of squares no longer resolves


@dataclass(frozen=True)
class Spectrum:
    """The design along the axes on which it is diagonal: G = V diag(e) Vᵀ.

    Attributes
    ----------
    values : (r,)
        e, all above 0; r is the rank.
    axes : (d, r)
        V.
    scores : (r, m)
        Vᵀ Xᵀ Y.
    residual : (m,)
        Sum of squares that no coefficients explain.
    """

    values: np.ndarray
    axes: np.ndarray
    scores: np.ndarray
    residual: np.ndarray

    def coef(self, penalty: Any) -> np.ndarray:
        """Coefficients (m, d) that minimise |Y − XB|² + penalty |B|²; those of least length where there are several."""
        return (self.axes @ (self.scores / (self.values[:, None] + penalty))).T


@dataclass(frozen=True)
class Design:
    """Sums over rows about their means.

    Attributes
    ----------
    weight : float
        Total weight.
    x_mean, y_mean : (d,), (m,)
        Weighted means, 0 without an intercept.
    total : (m,)
        Σ w y².
    shape : (int, int)
        Rows and columns.
    X, Y : (n, d), (n, m) or None
        The rows themselves times √w, where they are in memory and few.
    sums : ((d, d), (d, m)) or None
        Σ w x xᵀ and Σ w x yᵀ, where they were taken in passes.
    again : callable or None
        Sums of squares of residuals for coefficients and a target, in one more pass.
    reopened : callable or None
        The same with the rows themselves, where digits ask for them.
    root_weight : (n,) or None
        √w of sparse rows, which are not moved to their mean.
    center : (d,)
        The features' weighted mean, also without an intercept.
    y_variance : (m,)
        The targets' variances about their means, also without an intercept.
    """

    weight: float
    x_mean: np.ndarray
    y_mean: np.ndarray
    total: np.ndarray
    shape: tuple[int, int]
    center: np.ndarray
    y_variance: np.ndarray
    X: Any = None
    Y: Any = None
    sums: tuple[np.ndarray, np.ndarray] | None = None
    again: Callable[[np.ndarray, Any], np.ndarray] | None = None
    reopened: Callable[[], Design] | None = None
    root_weight: Any = None

    @property
    def wide(self) -> bool:
        """Whether the dual form is the smaller one."""
        return self.sums is None and self.shape[0] < self.shape[1]

    @cached_property
    def gram(self) -> np.ndarray:
        """Σ w x xᵀ."""
        if self.sums is not None:
            return self.sums[0]
        return self._dense(self.X.T @ self.X, (self.x_mean * self.weight) if self._sparse else None)

    @cached_property
    def cross(self) -> np.ndarray:
        """Σ w x yᵀ."""
        return self.sums[1] if self.sums is not None else self.X.T @ self.Y

    @property
    def _sparse(self) -> bool:
        return hasattr(self.X, "tocsr")

    def _dense(self, product: Any, first: np.ndarray | None) -> np.ndarray:
        """A product of sparse rows as an array, about the mean."""
        return product if first is None else product.toarray() - np.outer(self.x_mean, first)

    @cached_property
    def kernel(self) -> np.ndarray:
        """X Xᵀ, of rows about their mean."""
        if not self._sparse:
            return self.X @ self.X.T
        along = self.X @ self.x_mean
        root = self.root_weight
        cross = np.outer(along, root)
        return (self.X @ self.X.T).toarray() - cross - cross.T + self.x_mean @ self.x_mean * np.outer(root, root)

    def back(self, dual: np.ndarray) -> np.ndarray:
        """Xᵀ times something of the rows."""
        found = self.X.T @ dual
        return found - np.outer(self.x_mean, self.root_weight @ dual) if self._sparse else found

    def scaled(self, scale: np.ndarray) -> Design:
        """The design of columns divided by a scale."""
        if self.sums is not None:
            gram, cross = self.sums
            again = self.again and (lambda coef, target: self.again(coef / scale, target))  # type: ignore[misc]
            opened = self.reopened and (lambda: self.reopened().scaled(scale))  # type: ignore[misc]
            sums = gram / np.outer(scale, scale), cross / scale[:, None]
            made = replace(self, sums=sums, again=again, reopened=opened)
        else:
            X = self.X.multiply(1.0 / scale).tocsr() if self._sparse else self.X / scale
            made = replace(self, X=X)
        return replace(made, x_mean=self.x_mean / scale, center=self.center / scale)

    @property
    def variances(self) -> np.ndarray:
        """Variances of the columns, about 0 without an intercept."""
        if self.sums is None and not self._sparse:
            return np.einsum("ij,ij->j", self.X, self.X) / self.weight
        return np.maximum(np.diagonal(self.gram), 0.0) / self.weight

    def squares(self, coef: np.ndarray, target: Any = slice(None)) -> np.ndarray:
        """Σ w (y − Bx)² for coefficients (m, d), of all targets or one."""
        if self.sums is None and (self.wide or self._sparse or self.X.size <= SMALL):
            return self._residuals(coef, target)
        total, cross = self.total[target], self.cross[:, target].reshape(self.shape[1], -1)
        found = total - 2.0 * np.einsum("mj,jm->m", coef, cross) + np.einsum("mj,mj->m", coef @ self.gram, coef)
        if (found < CANCELLED * total).any():
            if self.sums is None:
                return self._residuals(coef, target)
            if self.again is not None:
                return self.again(coef, target)
        return np.maximum(found, 1e-15 * total)

    def _residuals(self, coef: np.ndarray, target: Any) -> np.ndarray:
        """The same from the rows themselves."""
        left = self.Y[:, target].reshape(len(self.Y), -1) - self.X @ coef.T
        if self._sparse:
            left += np.outer(self.root_weight, coef @ self.x_mean)
        return np.einsum("ij,ij->j", left, left)

    @cached_property
    def spectrum(self) -> Spectrum:
        """The design along its own axes."""
        if self.sums is None and not self._sparse and self.X.size <= SMALL:
            return self._decomposed()
        if self._sparse and min(self.shape) > SIDE:
            raise ValueError(
                f"X has {self.shape[0]} sparse rows and {self.shape[1]} columns, but the smaller number must be at most {SIDE} "
                "here: a square matrix of that size is decomposed; use Ridge, which takes steps, or fewer columns."
            )
        if self.wide:
            values, left = np.linalg.eigh(self.kernel)
            kept = values > np.finfo(float).eps * max(self.shape) * values.max(initial=0.0)
            values, left = values[kept], left[:, kept]
            axes, along = self.back(left) / np.sqrt(values), left.T @ self.Y
            rest = self.Y - left @ along
            return Spectrum(values, axes, np.sqrt(values)[:, None] * along, np.einsum("ij,ij->j", rest, rest))
        values, axes = np.linalg.eigh(self.gram)
        if values[0] < DIGITS * values[-1]:  # products of columns have lost what the rows themselves still tell
            if self.sums is None and not self._sparse:
                return self._decomposed()
            if self.reopened is not None:
                return self.reopened()._decomposed()
        kept = values > np.finfo(float).eps * max(self.shape) * values.max(initial=0.0)
        values, axes = values[kept], axes[:, kept]
        scores = axes.T @ self.cross
        found = Spectrum(values, axes, scores, self.total)
        return replace(found, residual=self.squares(found.coef(0.0)))

    def _decomposed(self) -> Spectrum:
        """The spectrum by a singular value decomposition of the rows."""
        left, s, right = np.linalg.svd(self.X, full_matrices=False)
        kept = s > np.finfo(float).eps * max(self.shape) * s.max(initial=0.0)
        left, s, right = left[:, kept], s[kept], right[kept]
        along = left.T @ self.Y
        rest = self.Y - left @ along
        return Spectrum(s**2, right.T, s[:, None] * along, np.einsum("ij,ij->j", rest, rest))


def factored(matrix: np.ndarray) -> np.ndarray | None:
    """Upper R with Rᵀ R the matrix, or None where its condition leaves too few digits, in whatever units its columns are."""
    diagonal = np.diagonal(matrix)
    if not (diagonal > 0).all():
        return None
    root = np.sqrt(diagonal)
    upper, failed = dpotrf(matrix / root[:, None] / root, clean=True)
    # The smallest pivot bounds the reciprocal condition from above, which is near enough to decide by.
    if failed or np.diagonal(upper).min() ** 2 < DIGITS:
        return None
    return upper * root


def inverse_root(upper: np.ndarray) -> np.ndarray:
    """R⁻¹ of an upper R: the inverse of Rᵀ R is R⁻¹ R⁻ᵀ."""
    return dtrtri(upper, lower=0)[0]


def design_of(source: Source, fit_intercept: bool) -> Design | None:
    """The `Design` of a source of rows and targets; None where cells are missing.

    Parameters
    ----------
    source : Source
        Rows with targets.
    fit_intercept : bool
        Whether rows are taken about their means.
    """
    n, d = source.n_rows, source.n_features
    if isinstance(source, SparseSource) and n * d > HELD:
        return _of_sparse(source, fit_intercept)
    if isinstance(source, (ArraySource, SparseSource)) and (n * d <= HELD or n <= d):
        return _of_rows(source, fit_intercept)
    found = moments(source)
    if found.incomplete:
        return None
    again = partial(_residuals, source)
    reopened = partial(_of_rows, source, fit_intercept) if isinstance(source, ArraySource) else None
    return of_moments(found, (n, d), fit_intercept, again=again, reopened=reopened)


def of_moments(found: Any, shape: tuple[int, int], fit_intercept: bool, **more: Any) -> Design:
    """The design that `Moments` of features and targets tell of."""
    d, weight = shape[1], found.weight
    second, mean = weight * found.covariance, found.mean
    if not fit_intercept:
        second = second + weight * np.outer(mean, mean)
    about = mean if fit_intercept else np.zeros_like(mean)
    if again := more.pop("again", None):
        more["again"] = partial(again, about[:d], about[d:])
    total = np.diagonal(second)[d:].copy()
    sums = np.ascontiguousarray(second[:d, :d]), np.ascontiguousarray(second[:d, d:])
    variance = np.maximum(np.diagonal(found.covariance)[d:], 0.0)
    return Design(weight, about[:d], about[d:], total, shape, mean[:d], variance, sums=sums, **more)


def _of_rows(source: Any, fit_intercept: bool) -> Design | None:
    """The design of rows of a source in memory."""
    X = source.X.toarray() if isinstance(source, SparseSource) else source.X
    return of_rows(X, source.targets, source.weight, fit_intercept)


def of_rows(X: np.ndarray, Y: Any, weight: np.ndarray | None, fit_intercept: bool) -> Design | None:
    """The design of rows in memory, which it holds; None where cells are missing."""
    X = X.astype(np.float64, copy=False)
    weight = None if weight is None or (weight == 1.0).all() else weight
    total = float(len(X)) if weight is None else float(weight.sum())
    center = (X.sum(axis=0) if weight is None else weight @ X) / total
    if np.isnan(center).any():
        return None
    x_mean, y_mean = center, (Y.sum(axis=0) if weight is None else weight @ Y) / total
    apart = Y - y_mean
    variance = np.average(apart**2, axis=0, weights=weight)
    if fit_intercept:
        X, Y = X - x_mean, apart
    else:
        x_mean, y_mean = np.zeros_like(x_mean), np.zeros_like(y_mean)
    if weight is not None:
        root = np.sqrt(weight)[:, None]
        X, Y = X * root, Y * root
    return Design(total, x_mean, y_mean, np.einsum("ij,ij->j", Y, Y), X.shape, center, variance, X, Y)


def _of_sparse(source: SparseSource, fit_intercept: bool) -> Design:
    """The design of sparse rows, which stay sparse."""
    weight, targets = source.weight, np.asarray(source.targets)
    total = float(weight.sum())
    root = np.sqrt(weight)
    X = source.X.astype(np.float64).multiply(root[:, None]).tocsr()
    center = source.X.T @ weight / total
    x_mean, y_mean = center, weight @ targets / total
    variance = np.average((targets - y_mean) ** 2, axis=0, weights=weight)
    if not fit_intercept:
        x_mean, y_mean = np.zeros_like(x_mean), np.zeros_like(y_mean)
    Y = (targets - y_mean) * root[:, None]
    squares = np.einsum("ij,ij->j", Y, Y)
    return Design(total, x_mean, y_mean, squares, X.shape, center, variance, X, Y, root_weight=root)


def _residuals(source: Source, x_mean: np.ndarray, y_mean: np.ndarray, coef: np.ndarray, target: Any) -> np.ndarray:
    """Sums of squares of residuals, in one pass."""

    def squares(block: Block) -> np.ndarray:
        left = (host(block.targets) - y_mean)[:, target].reshape(len(block), -1)
        left = left - (rows_on_host(block.X) - x_mean) @ coef.T
        return host(block.weight) @ left**2

    return source.sum(squares)


def iterated(design: Design, penalty: np.ndarray, tol: float, max_iter: int | None) -> np.ndarray:
    """Coefficients (m, d) of sparse rows of which no square matrix is made, by LSQR."""
    root = design.root_weight

    def forth(b: np.ndarray) -> np.ndarray:
        return design.X @ b.ravel() - root * (design.x_mean @ b.ravel())

    def back(r: np.ndarray) -> np.ndarray:
        return design.X.T @ r.ravel() - design.x_mean * (root @ r.ravel())

    operator = LinearOperator(design.shape, matvec=forth, rmatvec=back, dtype=np.float64)
    damp = np.sqrt(np.broadcast_to(penalty, design.Y.shape[1]))
    tol = min(tol, 1e-8)
    return np.array(
        [lsqr(operator, y, damp=a, atol=tol, btol=tol, iter_lim=max_iter)[0] for y, a in zip(design.Y.T, damp)]
    )
