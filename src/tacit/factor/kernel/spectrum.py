"""The largest eigenvalues and their eigenvectors of a centred kernel matrix, K̃ v = λ v.

dense        LAPACK; of few components, through the tridiagonal form: all eigenvalues, and the eigenvectors wanted alone
arpack       Lanczos from one vector, with products that read half of the matrix
randomized   block Krylov from a random block, until residuals are small
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import eigh, eigh_tridiagonal, get_blas_funcs, get_lapack_funcs, qr
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

__all__ = ["Spectrum", "leading"]

DENSE_ROWS = 300  # LAPACK is as fast as the others up to here
DENSE_SHARE = 1 / 20  # and where a larger share of all eigenvectors is wanted
OVERSAMPLE = 8
MOST_BLOCKS = 14
ACCURACY = 1e-7  # of an eigenvector's residual, as a share of its eigenvalue
NEGLIGIBLE = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 2e-6}  # eigenvalue as a share of the largest


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues in decreasing order, eigenvectors in columns, and the least and the sum of all eigenvalues where known."""

    values: np.ndarray
    vectors: np.ndarray
    least: float | None = None
    total: float | None = None

    def positive(self, floor: float) -> int:
        """How many of the values are above 0 by more than rounding, which is at least `floor`."""
        share = NEGLIGIBLE[self.values.dtype]
        return int(np.count_nonzero(self.values > max(share * float(self.values[0]), floor, 0.0)))


def leading(
    K: np.ndarray,
    n_components: int | None,
    solver: str,
    *,
    tol: float = 0.0,
    max_iter: int | None = None,
    power: int | str = "auto",
    random_state: Any = None,
) -> Spectrum:
    """The `Spectrum` of the largest eigenvalues of a symmetric matrix, which may be overwritten; `n_components` None is all.

    "auto" is LAPACK for a small matrix or many components, else ARPACK, which `tol` and `max_iter` are for. `power` is the number
    of products of the randomised solver after the first; "auto" goes on until residuals are small.
    """
    n = len(K)
    if solver == "randomized":
        return _randomized(K, n if n_components is None else n_components, power, check_random_state(random_state))
    small = n <= DENSE_ROWS or (n_components is not None and n_components > DENSE_SHARE * n)
    if n_components is not None and n_components < n - 1 and (solver == "arpack" or (solver == "auto" and not small)):
        return _arpack(K, n_components, tol, max_iter, check_random_state(random_state).uniform(-1, 1, n))
    return dense(K, n_components)


def dense(K: np.ndarray, n_components: int | None) -> Spectrum:
    """By LAPACK; `n_components` None is all."""
    n = len(K)
    # A symmetric matrix in C order is its own transpose in Fortran order, so that nothing is copied.
    if n_components is None or n_components >= n // 4:
        values, vectors = eigh(K.T, overwrite_a=True, check_finite=False)
        every, chosen = values[::-1], slice(None, -1 - min(n_components or n, n), -1)
        values, vectors = values[chosen], vectors[:, chosen]
    else:
        every, values, vectors = _some(K, n_components)
    total = float(every[every > 0].sum(dtype=np.float64))
    return Spectrum(values, vectors, least=float(every[-1]), total=total)


def _some(K: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All eigenvalues, and the largest of them with their eigenvectors, which is what takes time."""
    n = len(K)
    reduce, tail, apply = get_lapack_funcs(("sytrd", "sytrd_lwork", "ormqr"), (K,))
    reflectors, diagonal, beside, scale, info = reduce(K.T, lower=1, lwork=int(tail(n, lower=1)[0]), overwrite_a=1)
    _check(info, "sytrd")
    every = eigh_tridiagonal(diagonal, beside, eigvals_only=True, lapack_driver="sterf")
    values, inner = eigh_tridiagonal(
        diagonal, beside, select="i", select_range=(n - count, n - 1), lapack_driver="stemr"
    )
    rotated = np.asfortranarray(inner[1:])
    # Reflectors begin one row below the diagonal: the same memory from its second number on.
    columns = reflectors.ravel(order="K")[1 : 1 + n * (n - 1)].reshape((n, n - 1), order="F")
    work = int(apply("L", "N", columns, scale, rotated, -1)[1][0].real)
    rotated, _, info = apply("L", "N", columns, scale, rotated, work, overwrite_c=1)
    _check(info, "ormqr")
    return every[::-1], values[::-1], np.vstack([inner[:1], rotated])[:, ::-1]


def _check(info: int, routine: str) -> None:
    if info:
        raise np.linalg.LinAlgError(f"LAPACK's {routine} failed with info={info}.")


def _arpack(K: np.ndarray, n_components: int, tol: float, max_iter: int | None, start: np.ndarray) -> Spectrum:
    multiply = get_blas_funcs("symv", (K,))
    # Half of the matrix is read, which is what a product costs.
    operator = LinearOperator(K.shape, matvec=lambda v: multiply(1.0, K.T, v.ravel(), lower=1), dtype=K.dtype)
    try:
        values, vectors = eigsh(operator, n_components, which="LA", tol=tol, maxiter=max_iter, v0=start.astype(K.dtype))
    except ArpackError as error:
        warnings.warn(
            f"ARPACK found no {n_components} eigenvectors ({str(error).strip().rstrip('.')}); LAPACK is used instead. Raise "
            f"max_iter={max_iter} or tol={tol:g}.",
            ConvergenceWarning,
            stacklevel=5,
        )
        return dense(K, n_components)
    order = np.argsort(values)[::-1]
    return Spectrum(values[order], vectors[:, order])


def _randomized(K: np.ndarray, n_components: int, power: int | str, random_state: np.random.RandomState) -> Spectrum:
    """The eigenvalues that are largest in size: a negative one among them must be seen, and not passed over."""
    n, found = len(K), None
    if n_components + OVERSAMPLE < n // 3:
        blocks = MOST_BLOCKS if isinstance(power, str) else power + 1
        found = _krylov(K, n_components, random_state, blocks, settle=power == "auto")
    if found is None:
        found = dense(K, n)
        chosen = np.sort(np.argsort(-np.abs(found.values), kind="stable")[:n_components])
        found = replace(found, values=found.values[chosen], vectors=found.vectors[:, chosen])
    return found


def _krylov(
    K: np.ndarray, n_components: int, random_state: np.random.RandomState, blocks: int, *, settle: bool
) -> Spectrum | None:
    """Eigenvalues largest in size by Rayleigh–Ritz in span(Q, KQ, K²Q, …), Q random, of at most so many products with K.

    To `settle` is to stop when residuals ‖Kv − λv‖ are small, and to return None where they never are; else take K times a random
    block for Q, make all products and return what there is.
    """
    n, width = len(K), n_components + OVERSAMPLE
    eps = float(np.finfo(K.dtype).eps)
    basis = np.empty((n, 0), dtype=K.dtype)
    projected = np.zeros((blocks * width,) * 2)
    block = random_state.standard_normal((n, width)).astype(K.dtype)
    # A random block has next to nothing of the leading eigenvectors: where few products are made, it is not among what counts.
    block = qr(block if settle else K @ block, mode="economic")[0]
    for used in range(width, min(blocks * width, n - width) + 1, width):
        basis = np.hstack([basis, block])
        image = K @ block
        inner = basis.T @ image
        projected[:used, used - width : used] = inner
        projected[used - width : used, :used] = inner.T
        image -= basis @ inner
        block, edge = qr(image, mode="economic")
        # Again: where the image is nearly inside the basis, what is left of it is not orthogonal to it.
        block = qr(block - basis @ (basis.T @ block), mode="economic")[0]
        values, rotation = eigh(projected[:used, :used])
        best = np.argsort(-np.abs(values), kind="stable")[:n_components]
        residual = np.linalg.norm(edge @ rotation[-width:, best], axis=0)
        size = np.abs(values[best])
        small = residual <= np.maximum(max(ACCURACY, 100 * eps) * size, 100 * eps * size.max())
        if (settle and small.all()) or (not settle and used == blocks * width):
            best = best[np.argsort(-values[best], kind="stable")]
            return Spectrum(values[best].astype(K.dtype), basis @ rotation[:, best].astype(K.dtype))
    return None
