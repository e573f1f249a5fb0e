"""Principal axes by the route that suits the shape of the rows.

A = U S Vᵀ for the centred rows A (n × d): from the d × d matrix AᵀA, from the n × n matrix AAᵀ, from a block Krylov space, or
whole

Every route returns singular values in decreasing order and the rows of Vᵀ that belong to them. They are orthonormal, and
‖A v_i‖ = s_i holds to rounding even where they are approximate, so that variances are those of the scores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, svds
from sklearn.utils import check_random_state

from ...signs import signs
from ...source.threads import few_blas_threads

__all__ = [
    "ROUTES", "CentredRows", "arpack", "choose_route", "covariance", "decompose", "full", "gram", "krylov",
    "oriented",
]  # fmt: skip

ROUTES = ("full", "covariance_eigh", "gram", "randomized", "arpack")
GRAM_ROWS = 2000  # up to which n³ costs less than the passes of a Krylov space
COVARIANCE_COLUMNS = 1000
SMALL = 500
AUTO_ITERATIONS = 4
RESOLVED = {8: 1e-4, 4: 1e-2}
"""By bytes of a cell: share of the greatest eigenvalue of AAᵀ down to which eigenvectors make sound axes."""


def choose_route(n_rows: int, n_features: int, n_components: Any, sparse: bool = False) -> str:
    """The route for complete rows in memory; sparse ones are not centred, which would make them dense."""
    least = min(n_rows, n_features)
    # A share of the variance, or a way to choose, needs all eigenvalues.
    truncated = not isinstance(n_components, str) and 1 <= n_components < least / 6
    if sparse:
        # Products with sparse rows cost so little that Lanczos, which takes fewer of them one by one, is faster than blocks.
        return "arpack" if truncated and n_features > COVARIANCE_COLUMNS else "covariance_eigh"
    if n_features <= COVARIANCE_COLUMNS and n_rows >= 10 * n_features:
        return "covariance_eigh"
    if max(n_rows, n_features) <= SMALL:
        return "full"
    if 2 * n_rows <= n_features and n_rows <= GRAM_ROWS:
        return "gram"
    return "randomized" if truncated else "full"


def oriented(axes: np.ndarray) -> np.ndarray:
    """Rows of Vᵀ with signs by which the greatest entry of each is positive."""
    return axes * signs(axes.T)[:, None] if len(axes) else axes


def decompose(A: Any, route: str, n_components: int, **settings: Any) -> tuple[np.ndarray, np.ndarray]:
    """Singular values and axes of rows by a route; `settings` are those of "randomized" and "arpack"."""
    finders: dict[str, Callable] = {"full": full, "gram": gram, "randomized": krylov, "arpack": arpack}
    with few_blas_threads(A.shape[0] * A.shape[1]):
        return finders[route](A, n_components, **settings)


def full(A: np.ndarray, n_components: int) -> tuple[np.ndarray, np.ndarray]:
    """All singular values and axes, however many are asked for, by LAPACK."""
    _, values, axes = linalg.svd(A, full_matrices=False, check_finite=False)
    return values, axes


def covariance(matrix: np.ndarray, n_components: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (not below 0) and axes of a covariance matrix, all or the greatest; small ones have lost half their digits."""
    d = len(matrix)
    if n_components is None or n_components > d / 5:
        values, axes = linalg.eigh(matrix, driver="evd", check_finite=False)
    elif n_components == 0:
        return np.empty(0), np.empty((0, d))
    else:
        values, axes = linalg.eigh(matrix, subset_by_index=[d - n_components, d - 1], driver="evr", check_finite=False)
    return np.maximum(values[::-1], 0.0), axes.T[::-1]


def gram(A: np.ndarray, n_components: int) -> tuple[np.ndarray, np.ndarray]:
    """Axes from the n × n products of rows, for fewer rows than columns.

    Squares of singular values span twice their digits, so only the greatest are taken at once; what the rows have left outside of
    their axes, which nothing great hides any more, is then treated alike.
    """
    rest, axes = A, np.empty((0, A.shape[1]), A.dtype)
    values = np.empty(0, A.dtype)
    while len(axes) < n_components:
        eigenvalues, left = linalg.eigh(rest @ rest.T, check_finite=False)
        eigenvalues, left = np.maximum(eigenvalues[::-1], 0.0), left[:, ::-1]
        if _vanishes(np.sqrt(eigenvalues[0]), values, A):
            break
        sound = eigenvalues > RESOLVED[A.itemsize] * eigenvalues[0]
        roots = np.sqrt(eigenvalues[sound])
        axes = np.vstack([axes, _outside((left[:, sound] / roots).T @ rest, axes)])
        values = np.append(values, roots)
        if sound.all():
            break
        rest = _outside(left[:, ~sound].T @ rest, axes)
    return _completed(values, axes, min(A.shape), n_components)


def _vanishes(value: float, values: np.ndarray, A: np.ndarray) -> bool:
    """Whether a singular value is no more than rounding of the greatest."""
    return value <= np.finfo(A.dtype).eps * np.sqrt(max(A.shape)) * (values[0] if len(values) else 0.0)


def _outside(rows: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """What rows hold outside of orthonormal axes."""
    return rows - (rows @ axes.T) @ axes if len(axes) else rows


def _completed(values: np.ndarray, axes: np.ndarray, least: int, n_components: int) -> tuple[np.ndarray, np.ndarray]:
    """`least` singular values in order, 0 where none was found, and `n_components` axes, any where their value is 0."""
    order = np.argsort(-values, kind="stable")
    values, axes = values[order], axes[order[:n_components]]
    if axes.dtype == np.float32 and len(axes):
        axes = 1.5 * axes - 0.5 * (axes @ axes.T) @ axes  # a step towards the nearest orthonormal rows
    missing = n_components - len(axes)
    if missing > 0:
        more = np.random.default_rng(0).normal(size=(missing, axes.shape[1])).astype(axes.dtype)
        more = linalg.qr(_outside(more, axes).T, mode="economic")[0].T
        more = linalg.qr(_outside(more, axes).T, mode="economic")[0].T
        axes = np.vstack([axes, more])
    whole = np.zeros(max(least, len(values)), values.dtype)
    whole[: len(values)] = values
    return whole[:least], axes


def krylov(
    A: Any, n_components: int, *, n_oversamples: int = 10, n_iter: int | str = "auto", random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Leading axes from the block Krylov space of AᵀA and random rows: all directions of a power method, not only its last.

    Blocks have `n_oversamples` vectors more than there are axes. There are `n_iter` of them beyond the first; each costs a
    product with A and one with Aᵀ.

    References
    ----------
    Musco and Musco (2015), Randomized block Krylov methods for stronger and faster approximate singular value decomposition.
    """
    least = min(A.shape)
    size = min(n_components + n_oversamples, least)
    n_iter = AUTO_ITERATIONS if isinstance(n_iter, str) else n_iter
    start = check_random_state(random_state).normal(size=(A.shape[0], size)).astype(A.dtype)
    space = _orthonormal(A.T @ start, np.empty((A.shape[1], 0), A.dtype))
    images = A @ space
    block = images
    for _ in range(n_iter):
        if space.shape[1] >= least or not block.shape[1]:
            break
        fresh = _orthonormal(A.T @ block, space)
        block = A @ fresh
        space, images = np.hstack([space, fresh]), np.hstack([images, block])
    _, values, turn = linalg.svd(
        linalg.qr(images, mode="r", check_finite=False)[0][: images.shape[1]], check_finite=False
    )
    kept = values[:n_components] > np.finfo(A.dtype).eps * max(A.shape) * values[:1].max(initial=0.0)
    axes = turn[:n_components][kept] @ space.T
    return _completed(values[:n_components][kept], axes, n_components, n_components)


def _orthonormal(vectors: np.ndarray, space: np.ndarray) -> np.ndarray:
    """An orthonormal basis of what columns add to a space; directions that are rounding alone are left out."""
    size = np.abs(vectors).max(initial=0.0)
    if not size > 0:
        return vectors[:, :0]
    vectors = _outside(vectors.T / size, space.T).T
    basis, right, _ = linalg.qr(vectors, mode="economic", pivoting=True, check_finite=False)
    length = np.abs(np.diag(right))
    basis = basis[:, length > 10.0 * np.finfo(basis.dtype).eps * np.sqrt(len(basis))]
    # Subtracting once leaves a part of the space where little was left over.
    return linalg.qr(_outside(basis.T, space.T).T, mode="economic", check_finite=False)[0]


def arpack(A: Any, n_components: int, *, tol: float = 0.0, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Leading axes by Lanczos's method."""
    start = check_random_state(random_state).uniform(-1, 1, min(A.shape)).astype(A.dtype)
    _, values, axes = svds(A, k=n_components, tol=tol, v0=start)
    return values[::-1], axes[::-1]


class CentredRows(LinearOperator):
    """Sparse rows less their mean, which stay sparse: A = R − r mᵀ."""

    def __init__(self, X: Any, mean: np.ndarray, scale: np.ndarray | None = None, root: np.ndarray | None = None):
        super().__init__(X.dtype, X.shape)
        rows, root = (X, np.ones(X.shape[0])) if root is None else (X.multiply(root[:, None]), root)
        if scale is not None:
            rows, mean = rows.multiply(1.0 / scale), mean / scale
        self.rows = rows.tocsr().astype(X.dtype, copy=False)
        self.mean, self.root = mean.astype(X.dtype), root.astype(X.dtype)
        self.columns = self.rows.T

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        return self.rows @ V - self.root[:, None] * (self.mean @ V)

    def _rmatmat(self, Y: np.ndarray) -> np.ndarray:
        return self.columns @ Y - self.mean[:, None] * (self.root @ Y)

    def _rmatvec(self, y: np.ndarray) -> np.ndarray:
        return self._rmatmat(y.reshape(-1, 1)).ravel()
