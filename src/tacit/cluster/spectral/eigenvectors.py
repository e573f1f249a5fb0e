"""The lowest eigenvectors of a Laplacian, L u = λ u with 0 = λ_1 ≤ λ_2 ≤ …

The null space is known exactly, one vector per connected component, and is taken out of the problem; the rest is found by

dense      LAPACK, for small graphs
lanczos    ARPACK on I − 2L/b where b bounds the spectrum: products only. The number of products grows with the graph's diameter
factored   ARPACK on (L + σI)⁻¹ through a sparse factor in minimum-degree order: few steps. The factor's size grows with the
           graph's dimension
lobpcg     SciPy's, with a Chebyshev polynomial of L as preconditioner

Graphs of rows in a plane have a large diameter and small factors, those of rows in many dimensions the reverse: one of the
middle two is fast. A single starting vector meets each multiple eigenvalue once, so what was found is taken out in turn and
the next eigenvalue looked for, until it is no lower. Residuals are checked, and the next solver runs where they are too large.
"""

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, lobpcg, splu
from sklearn.exceptions import ConvergenceWarning

from ...signs import signs
from ...source.threads import one_blas_thread
from .laplacian import Laplacian

__all__ = ["SOLVERS", "lowest_eigenvectors"]

SOLVERS = (None, "arpack", "lobpcg", "amg")
SERIAL_ROWS = 2000  # dense products up to here are too small to share
DENSE_ROWS = 400  # LAPACK is as fast as the others up to here
LAST_RESORT_ROWS = 6000  # 0.3 GB and a minute or two
TOLERANCE = 1e-7  # residual, in units of half the largest possible eigenvalue
SHIFT = 1e-7
MOST_PRODUCTS = 6000
# Seconds on graphs of 10,000 to 100,000 rows with 10 neighbours, in 2 to 10 dimensions.
SECONDS_OF_FACTOR = 1e-10  # times its entries to the power 1.5
SECONDS_OF_SOLVES = 5e-7  # times edges
SECONDS_OF_PRODUCTS = 3e-8  # times edges, times edges across the graph
MOST_ENTRIES = 30_000_000  # of a factor: 0.7 GB
BALL = 1600  # vertices of the part that is factored to see how a factor fills

Pairs: TypeAlias = tuple[np.ndarray, np.ndarray]
Product: TypeAlias = Callable[[np.ndarray], np.ndarray]


def lowest_eigenvectors(
    laplacian: Laplacian, n_vectors: int, solver: str | None = None, tol: float | str = "auto", random_state: Any = None
) -> Pairs:
    """Eigenvalues in increasing order and orthonormal eigenvectors, of each of which the entry of largest size is positive.

    `tol` is the largest residual ‖Lu − λu‖ in units of half the largest eigenvalue possible; "auto" is 1e-7, or less where the
    eigenvalues sought are themselves below 1e-4.
    """
    with one_blas_thread() if laplacian.n <= SERIAL_ROWS or sparse.issparse(laplacian.affinity) else nullcontext():
        values, vectors = np.zeros(0), laplacian.null_vectors(n_vectors)
        n_null = vectors.shape[1]
        if n_null < n_vectors:
            values, found = _positive(laplacian, vectors, n_vectors - n_null, solver, tol, random_state)
            vectors = np.hstack([vectors, found])
        return np.append(np.zeros(n_null), values), vectors * signs(vectors)


def _positive(
    laplacian: Laplacian, null: np.ndarray, n_more: int, solver: str | None, tol: float | str, random_state: Any
) -> Pairs:
    """The lowest eigenpairs outside the null space, by the first solver whose residuals are small."""
    best: tuple = (np.inf, None)
    asked = TOLERANCE if isinstance(tol, str) else tol
    for method in _methods(laplacian, n_more, null.shape[1], solver):
        try:
            values, vectors = method(laplacian, null, n_more, asked, random_state)
        except (ArpackError, RuntimeError, MemoryError, np.linalg.LinAlgError):
            continue
        if len(values) < n_more:
            continue
        order = np.argsort(values)[:n_more]
        values, vectors = np.maximum(values[order], 0.0), vectors[:, order]
        residual = np.linalg.norm(laplacian.matrix @ vectors - vectors * values, axis=0).max() / (laplacian.bound / 2)
        if residual < best[0]:
            best = residual, (values, vectors)
        if residual <= _allowed(values, laplacian, tol):
            return values, vectors
    if best[1] is None:
        raise ValueError(
            f"no solver found {n_more} eigenvectors of the graph's Laplacian, which has {laplacian.n} vertices; "
            "use fewer clusters, or a sparser graph (affinity='nearest_neighbors')."
        )
    warnings.warn(
        f"eigenvectors of the Laplacian have a residual of {best[0]:.1e}; the clusters may be wrong. "
        "Use a better connected graph (a larger n_neighbors), a larger eigen_tol, or eigen_solver=None.",
        ConvergenceWarning,
        stacklevel=5,
    )
    return best[1]


def _allowed(values: np.ndarray, laplacian: Laplacian, tol: float | str) -> float:
    """The residual that is small enough: ten times what was asked for, which solvers estimate loosely."""
    if not isinstance(tol, str):
        return 10 * max(tol, 1e-10)
    return np.clip(1e-3 * values[-1] / (laplacian.bound / 2), 1e-10, 10 * TOLERANCE)


def _methods(laplacian: Laplacian, n_more: int, n_null: int, solver: str | None) -> list[Callable[..., Pairs]]:
    """Solvers to try, in turn."""
    n, last = laplacian.n, [_dense] if laplacian.n <= LAST_RESORT_ROWS else []
    if solver == "amg":
        return [_multigrid(), _lanczos, *last]
    # LAPACK also takes what no iteration can: nearly all eigenvectors.
    if (solver is None and n <= DENSE_ROWS) or n_more + n_null > n // 3 or n_more + 2 >= n or n <= 20:
        return [_dense]
    if solver == "lobpcg":
        return [_lobpcg, _lanczos, *last]
    if not sparse.issparse(laplacian.affinity):
        return [_lanczos, _lobpcg, *last]
    is_long, is_affordable = _shape(laplacian)
    if is_long:
        return [_factored, _lanczos, _lobpcg, *last]
    return [_lanczos, _lobpcg, *([_factored] if is_affordable else []), *last]


def _shape(laplacian: Laplacian) -> tuple[bool, bool]:
    """Whether a factor costs less than the products it saves, and whether it can be afforded at all."""
    order, across = laplacian.reach()
    n_edges = laplacian.affinity.nnz
    products = SECONDS_OF_PRODUCTS * across * n_edges
    if products < SECONDS_OF_SOLVES * n_edges:
        return False, False
    entries = _entries(laplacian, order)
    factor = SECONDS_OF_FACTOR * entries**1.5 + SECONDS_OF_SOLVES * n_edges
    return factor < products and entries < MOST_ENTRIES, entries < MOST_ENTRIES


def _entries(laplacian: Laplacian, order: np.ndarray) -> float:
    """Entries of the factor of the whole, by the power law of two balls around a vertex, one a quarter of the other.

    Between 1.2 for rows in a plane and 2 in many dimensions, the power tells what the shape of the graph is like.
    """
    size = min(BALL, len(order))
    small, large = (
        _factor(laplacian.matrix[ball][:, ball], 1e-3).nnz / 2
        for ball in map(np.sort, (order[: size // 4], order[:size]))
    )
    power = np.log(large / small) / np.log(size / (size // 4))
    return large * (len(order) / size) ** power


def _factor(matrix: Any, shift: float) -> Any:
    shifted = (matrix + shift * sparse.eye_array(matrix.shape[0])).tocsc()
    # Symmetric mode: half the fill of a column ordering, and no pivoting, which a definite matrix needs not.
    return splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})


def _dense(laplacian: Laplacian, null: np.ndarray, n_more: int, tol: float, random_state: Any) -> Pairs:
    matrix = laplacian.matrix
    matrix = matrix.toarray() if sparse.issparse(matrix) else matrix
    lifted = matrix + 2 * laplacian.bound * (null @ null.T)  # the null space goes to the far end
    return eigh(lifted, subset_by_index=[0, n_more - 1], overwrite_a=True, check_finite=False)


def _lanczos(laplacian: Laplacian, null: np.ndarray, n_more: int, tol: float, random_state: Any) -> Pairs:
    half = laplacian.bound / 2

    def product(x: np.ndarray) -> np.ndarray:
        return x - laplacian.matrix @ x / half

    values, vectors = _largest(product, null, n_more, tol, 1.0, random_state)
    # Where eigenvalues are small, so must residuals be.
    if 1e-3 * (1 - values[-1]) < tol and values[-1] < 1 - 1e-9:
        values, vectors = _largest(
            product, null, n_more, 1e-4 * (1 - values[-1]), 1.0, random_state, vectors.sum(axis=1)
        )
    return half * (1 - values), vectors


def _factored(laplacian: Laplacian, null: np.ndarray, n_more: int, tol: float, random_state: Any) -> Pairs:
    shift = SHIFT * laplacian.bound / 2
    factor = _factor(laplacian.matrix, shift)
    values, vectors = _largest(factor.solve, null, n_more, 1e-9, 0.0, random_state)
    return 1 / values - shift, vectors


def _largest(
    product: Product, null: np.ndarray, n_more: int, tol: float, top: float, random_state: Any, start: Any = None
) -> Pairs:
    """The largest eigenpairs of a symmetric operator outside the null space, in decreasing order, none passed over.

    `top` is the operator's largest possible eigenvalue, from which small eigenvalues of L are measured; 0 for an inverse.
    """
    found = _ritz(product, null, n_more, tol, top, random_state, start)
    while True:
        values, vectors = found
        if n_more == 1:  # a second vector of the same eigenvalue is as good
            return found
        distance = 0.1 * (top - values[-1]) if top else 0.1
        taken = np.hstack([null, vectors])
        if taken.shape[1] + 2 >= len(null):
            return found
        value, vector = _ritz(product, taken, 1, max(distance, 1e-8), top, random_state)
        if value[0] <= values[n_more - 1] * (1 + 1e-9):
            return values[:n_more], vectors[:, :n_more]
        value, vector = _ritz(product, taken, 1, tol, top, random_state, vector[:, 0])
        values, vectors = np.append(values, value), np.hstack([vectors, vector])
        order = np.argsort(-values)
        found = values[order], vectors[:, order]


def _ritz(
    product: Product, null: np.ndarray, n_more: int, tol: float, top: float, random_state: Any, start: Any = None
) -> Pairs:
    """ARPACK's largest eigenpairs in the complement of the null space, in decreasing order."""
    n = len(null)

    def outside(x: np.ndarray) -> np.ndarray:
        return x - null @ (null.T @ x)

    def apply(x: np.ndarray) -> np.ndarray:
        # The null space goes to the lower end of the spectrum: −1, or 0 for an inverse.
        image, x = product(x.ravel()), x.ravel()
        return outside(image) - top * (null @ (null.T @ x))

    operator = LinearOperator((n, n), matvec=apply, dtype=np.float64)
    start = random_state.uniform(-1, 1, n) if start is None else start
    # A step of an inverse brings more, and costs more than it takes to start again.
    n_basis = min(n, max(2 * n_more + 4, 20 if top else 9))
    values, vectors = eigsh(
        operator, k=n_more, which="LA", tol=tol, v0=outside(start), ncv=n_basis, maxiter=1 + MOST_PRODUCTS // n_basis
    )
    return values[::-1], vectors[:, ::-1]


def _chebyshev(laplacian: Laplacian, lowest: float, n_terms: int) -> LinearOperator:
    """An approximate inverse of L on [lowest, bound]: a Chebyshev iteration of fixed length is a positive polynomial."""
    middle, radius = (laplacian.bound + lowest) / 2, (laplacian.bound - lowest) / 2

    def solve(rhs: np.ndarray) -> np.ndarray:
        scaled = middle / radius
        factor, step = 1 / scaled, rhs / middle
        solution, residual = step.copy(), rhs - laplacian.matrix @ step
        for _ in range(n_terms - 1):
            following = 1 / (2 * scaled - factor)
            step = following * factor * step + 2 * following / radius * residual
            solution, factor = solution + step, following
            residual = residual - laplacian.matrix @ step
        return solution

    return LinearOperator((laplacian.n, laplacian.n), matvec=solve, matmat=solve, dtype=np.float64)


def _lobpcg(
    laplacian: Laplacian, null: np.ndarray, n_more: int, tol: float, random_state: Any, preconditioner: Any = None
) -> Pairs:
    if preconditioner is None:
        preconditioner = _chebyshev(laplacian, laplacian.bound / 1000, 16)
    n_block = n_more + min(n_more, 4)  # more than sought: convergence hangs on the gap after the block
    start = random_state.standard_normal((laplacian.n, n_block))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it says of its residuals is checked by the caller
        tol = max(tol, 3e-7) * laplacian.bound / 2
        return lobpcg(laplacian.matrix, start, M=preconditioner, Y=null, tol=tol, largest=False, maxiter=400)


def _multigrid() -> Callable[..., Pairs]:
    """LOBPCG with a preconditioner of the optional package pyamg."""
    try:
        from pyamg import smoothed_aggregation_solver
    except ImportError:
        raise ValueError(
            "eigen_solver='amg' needs pyamg, which is not installed; install it, or use eigen_solver=None."
        ) from None

    def solve(laplacian: Laplacian, null: np.ndarray, n_more: int, tol: float, random_state: Any) -> Pairs:
        shifted = laplacian.matrix + 1e-5 * laplacian.bound / 2 * sparse.eye_array(laplacian.n)
        levels = smoothed_aggregation_solver(sparse.csr_matrix(shifted))
        return _lobpcg(laplacian, null, n_more, tol, random_state, levels.aspreconditioner())

    return solve
