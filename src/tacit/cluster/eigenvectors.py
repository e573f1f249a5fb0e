"""The lowest eigenvectors of a Laplacian, L u = λ u with 0 = λ_1 ≤ λ_2 ≤ …

The null space is known exactly, one vector per connected component, and is taken out of the problem; the rest is found by

dense      LAPACK, for small graphs
lanczos    ARPACK on I − 2L/b where b bounds the spectrum: products only. The number of products grows with the graph's diameter
factored   ARPACK on (L + σI)⁻¹ through a sparse factor in minimum-degree order: few steps. The factor's size grows with the
           graph's breadth
lobpcg     SciPy's, with a Chebyshev polynomial of L as preconditioner

Graphs of rows in a plane are long and narrow, those of rows in many dimensions short and broad: one of the middle two is
fast. A single starting vector meets each multiple eigenvalue once, so what was found is taken out in turn and the next
eigenvalue looked for, until it is no lower. Residuals are checked, and the next solver runs where they are too large.
"""

import warnings

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, lobpcg, splu
from sklearn.exceptions import ConvergenceWarning

__all__ = ["SOLVERS", "lowest_eigenvectors"]

SOLVERS = (None, "arpack", "lobpcg", "amg")
DENSE_ROWS = 400  # LAPACK is as fast as the others up to here
LAST_RESORT_ROWS = 6000  # 0.3 GB and a minute or two
TOLERANCE = 1e-7  # residual, in units of half the largest possible eigenvalue
SHIFT = 1e-7
MOST_PRODUCTS = 6000
SECONDS_PER_CUBED_BREADTH = 5e-11
SECONDS_PER_FACTORED_EDGE = 5e-7
SECONDS_PER_LEVEL_AND_EDGE = 2.4e-8
MOST_CUBED_BREADTH = 3e11  # beyond this the factor takes more than a gigabyte


def lowest_eigenvectors(laplacian, n_vectors, *, solver=None, tol="auto", random_state=None):
    """Eigenvalues in increasing order and orthonormal eigenvectors.

    Parameters
    ----------
    laplacian : Laplacian
        The matrix.
    n_vectors : int
        How many, at most its order.
    solver : {None, "arpack", "lobpcg", "amg"}, default=None
        None: chosen by the graph.
    tol : float or "auto", default="auto"
        Largest residual ‖Lu − λu‖ in units of half the largest eigenvalue possible; "auto" is 1e-7, or
        less where the eigenvalues sought are themselves below 1e-4.
    random_state : RandomState
        For starting vectors.

    Returns
    -------
    values : ndarray of shape (n_vectors,)
    vectors : ndarray of shape (n, n_vectors)
        Of each, the entry of largest size is positive.
    """
    null = laplacian.null_vectors(n_vectors)
    values, vectors = np.zeros(null.shape[1]), null
    n_more = n_vectors - null.shape[1]
    if n_more > 0:
        more, found = _positive(laplacian, null, n_more, solver, tol, random_state)
        values, vectors = np.concatenate([values, more]), np.hstack([null, found])
    largest = np.abs(vectors).argmax(axis=0)
    return values, vectors * np.sign(vectors[largest, np.arange(vectors.shape[1])])


def _positive(laplacian, null, n_more, solver, tol, random_state):
    """The lowest eigenpairs outside the null space, by the first solver whose residuals are small."""
    best = np.inf, None
    for method in _methods(laplacian, n_more, null.shape[1], solver):
        try:
            values, vectors = method(laplacian, null, n_more, TOLERANCE if tol == "auto" else tol, random_state)
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


def _allowed(values, laplacian, tol):
    """The residual that is small enough: ten times what was asked for, which solvers estimate loosely."""
    if tol != "auto":
        return 10 * max(tol, 1e-10)
    return np.clip(1e-3 * values[-1] / (laplacian.bound / 2), 1e-10, 10 * TOLERANCE)


def _methods(laplacian, n_more, n_null, solver):
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
    return [_factored, _lanczos, *last] if _is_long(laplacian) else [_lanczos, _factored, _lobpcg, *last]


def _is_long(laplacian):
    """Whether a factor costs less than the products it saves, by the seconds both took on graphs of neighbours."""
    breadth = laplacian.breadth().astype(np.float64)
    cubed, n_edges = (breadth**3).sum(), laplacian.affinity.nnz
    factor = SECONDS_PER_CUBED_BREADTH * cubed + SECONDS_PER_FACTORED_EDGE * n_edges
    products = SECONDS_PER_LEVEL_AND_EDGE * len(breadth) * n_edges
    return factor < products and cubed < MOST_CUBED_BREADTH


def _dense(laplacian, null, n_more, tol, random_state):
    matrix = laplacian.matrix
    matrix = matrix.toarray() if sparse.issparse(matrix) else matrix
    lifted = matrix + 2 * laplacian.bound * (null @ null.T)  # the null space goes to the far end
    return eigh(lifted, subset_by_index=[0, n_more - 1], overwrite_a=True, check_finite=False)


def _lanczos(laplacian, null, n_more, tol, random_state):
    half = laplacian.bound / 2

    def product(x):
        return x - laplacian.matrix @ x / half

    values, vectors = _largest(product, null, n_more, tol, 1.0, random_state)
    # Where eigenvalues are small, so must residuals be.
    if 1e-3 * (1 - values[-1]) < tol and values[-1] < 1 - 1e-9:
        values, vectors = _largest(product, null, n_more, 1e-4 * (1 - values[-1]), 1.0, random_state, vectors.sum(axis=1))
    return half * (1 - values), vectors


def _factored(laplacian, null, n_more, tol, random_state):
    shift = SHIFT * laplacian.bound / 2
    matrix = (laplacian.matrix + shift * sparse.eye_array(laplacian.n)).tocsc()
    # Symmetric mode: half the fill of scikit-learn's column ordering, and no pivoting, which a definite matrix needs not.
    factor = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    values, vectors = _largest(factor.solve, null, n_more, 1e-9, 0.0, random_state)
    return 1 / values - shift, vectors


def _largest(product, null, n_more, tol, top, random_state, start=None):
    """The largest eigenpairs of a symmetric operator outside the null space, in decreasing order, none passed over.

    `top` is the operator's largest possible eigenvalue, from which small eigenvalues of L are measured; 0 for an inverse.
    """
    found = _ritz(product, null, n_more, tol, random_state, start)
    while True:
        values, vectors = found
        distance = 0.1 * (top - values[-1]) if top else 0.1
        taken = np.hstack([null, vectors])
        if taken.shape[1] + 2 >= len(null):
            return found
        value, vector = _ritz(product, taken, 1, max(distance, 1e-8), random_state)
        if value[0] <= values[n_more - 1] * (1 + 1e-9):
            return values[:n_more], vectors[:, :n_more]
        value, vector = _ritz(product, taken, 1, tol, random_state, vector[:, 0])
        values, vectors = np.append(values, value), np.hstack([vectors, vector])
        order = np.argsort(-values)
        found = values[order], vectors[:, order]


def _ritz(product, null, n_more, tol, random_state, start=None):
    """ARPACK's largest eigenpairs in the complement of the null space, in decreasing order."""
    n = len(null)

    def project(x):
        return x - null @ (null.T @ x)

    operator = LinearOperator((n, n), matvec=lambda x: project(product(x.ravel())), dtype=np.float64)
    start = random_state.uniform(-1, 1, n) if start is None else start
    n_basis = min(n, max(2 * n_more + 4, n_more + 8))
    values, vectors = eigsh(
        operator, k=n_more, which="LA", tol=tol, v0=project(start), ncv=n_basis, maxiter=1 + MOST_PRODUCTS // n_basis
    )
    return values[::-1], vectors[:, ::-1]


def _chebyshev(laplacian, lowest, n_terms):
    """An approximate inverse of L on [lowest, bound]: a Chebyshev iteration of fixed length is a positive polynomial."""
    middle, radius = (laplacian.bound + lowest) / 2, (laplacian.bound - lowest) / 2

    def solve(rhs):
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


def _lobpcg(laplacian, null, n_more, tol, random_state, preconditioner=None):
    if preconditioner is None:
        preconditioner = _chebyshev(laplacian, laplacian.bound / 1000, 16)
    n_block = n_more + min(n_more, 4)  # more than sought: convergence hangs on the gap after the block
    start = random_state.standard_normal((laplacian.n, n_block))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it says of its residuals is checked by the caller
        return lobpcg(
            laplacian.matrix, start, M=preconditioner, Y=null, tol=max(tol, 3e-7) * laplacian.bound / 2, largest=False, maxiter=400
        )


def _multigrid():
    """LOBPCG with a preconditioner of the optional package pyamg."""
    try:
        from pyamg import smoothed_aggregation_solver
    except ImportError:
        raise ValueError(
            "eigen_solver='amg' needs pyamg, which is not installed; install it, or use eigen_solver=None."
        ) from None

    def solve(laplacian, null, n_more, tol, random_state):
        shifted = laplacian.matrix + 1e-5 * laplacian.bound / 2 * sparse.eye_array(laplacian.n)
        levels = smoothed_aggregation_solver(sparse.csr_matrix(shifted))
        return _lobpcg(laplacian, null, n_more, tol, random_state, levels.aspreconditioner())

    return solve
