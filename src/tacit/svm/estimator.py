"""`SupportVectors`: what all support vector machines share: their kernel, their rows, what is told of a solution."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..base.rows import RowsEstimator
from ..base.settings import KW_ONLY, settings
from ..base.supervised import Supervised
from ..checks import check_rows
from ..declared import SQUARES, Numbers, Spec, Whole
from ..factor.kernel.function import Kernel
from .checks import check_settings, feasible
from .gram import Gram
from .kernels import GivenKernel, NamedKernel, WrittenKernel, dense_if_small
from .problem import Problem, Solution
from .solver import UnboundedError, solve

__all__ = ["SupportVectors"]

EXAMINED = 4000
"""Rows up to which it is found out whether a machine that allows no error exists."""


@settings
class SupportVectors(Supervised):
    """Base of support vector machines."""

    _: KW_ONLY
    kernel: Any = "rbf"
    degree: int = 3
    gamma: Any = "scale"
    coef0: float = 0.0
    tol: float = 1e-3
    shrinking: bool = True
    cache_size: float = 200
    verbose: bool = False
    max_iter: int = -1

    _saved: ClassVar[dict[str, Spec]] = RowsEstimator._saved | {
        "support_": Numbers("s", low=0, kind="i"),
        "support_vectors_": Numbers(lambda self: "0 0" if self._is_given else "s d", sparse=True),
        "dual_coef_": Numbers("c s", sparse=True),
        "intercept_": Numbers("p"),
        "n_support_": Numbers("k", low=0, kind="i"),
        "gamma_": Numbers(low=0, high=SQUARES),
        "fit_status_": Whole(0, 1),
        "n_samples_fit_": Whole(1),
    }
    _needs = ("kernel",)
    _takes_missing = False
    _takes_sparse = True
    _min_rows = 1
    _dtypes = (np.float64,)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_given
        tags.input_tags.sparse = not self._is_given
        return tags

    @property
    def _is_given(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def _missing_remedy(self) -> str:  # type: ignore[override]
        if self._is_given:
            return "and a kernel matrix needs every pair: compute the kernel on imputed rows"
        return (
            "and a kernel needs every cell: impute them first, for example with make_pipeline(tacit.impute.GaussianImputer(), "
            f"{type(self).__name__}()), or use tacit.classification or tacit.mixture, which take missing cells"
        )

    @property
    def shape_fit_(self) -> tuple[int, int]:
        """Rows and columns that were learned from."""
        return self.n_samples_fit_, self.n_features_in_

    def _check_settings(self) -> None:
        check_settings(self)

    # Rows and kernels

    def _opened(self, X: Any, *, reset: bool) -> Any:
        """X as float64, dense or CSR; what a user's function takes may be anything."""
        if callable(self.kernel) and _is_no_table(X):
            return X
        if sparse.issparse(X) and self._is_given:
            raise TypeError("Sparse precomputed kernels are not supported; give X.toarray().")
        X = check_rows(self, X, reset=reset, order="C", accept_large_sparse=False)
        if self._is_given and reset and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix; for rows of features "
                "use kernel='rbf' or another."
            )
        if sparse.issparse(X) and not X.has_sorted_indices:
            X = X.sorted_indices()
        return X

    def _open_fit(self, X: Any) -> tuple[Any, Any]:
        """Rows to learn from, and their kernel."""
        X = self._opened(X, reset=True)
        self.n_samples_fit_ = X.shape[0] if hasattr(X, "shape") else len(X)
        self.gamma_ = 0.0 if self._is_given or callable(self.kernel) else self._scale(X)
        if callable(self.kernel):
            self._written = WrittenKernel(self.kernel, X)
        return X, self._kernel(X)

    def _scale(self, X: Any) -> float:
        """γ."""
        if not isinstance(self.gamma, str):
            return float(self.gamma)
        if self.gamma == "auto":
            return 1.0 / X.shape[1]
        X = dense_if_small(X)
        variance = X.multiply(X).mean() - X.mean() ** 2 if sparse.issparse(X) else X.var()
        return float(1.0 / (X.shape[1] * variance)) if variance > 0 else 1.0

    def _kernel(self, X: Any) -> Any:
        """The kernel by the settings, about the mean of rows; which rows they are changes no value."""
        if self._is_given:
            return GivenKernel()
        if callable(self.kernel):
            return self._written
        origin = X.mean(axis=0) if self.kernel == "rbf" and not sparse.issparse(X) and len(X) else None
        return NamedKernel(Kernel(self.kernel, self.gamma_, self.degree, float(self.coef0), {}, origin, self.n_jobs))

    def _open_new(self, X: Any) -> Any:
        """New rows."""
        check_is_fitted(self)
        X = self._opened(X, reset=False)
        if sparse.issparse(X) and not callable(self.kernel) and not self._sparse:
            raise ValueError(
                f"cannot use sparse input in {type(self).__name__!r} trained on dense data; give X.toarray()."
            )
        if self._sparse and not sparse.issparse(X):
            X = sparse.csr_matrix(X)
        if self.n_support_.sum() != len(self.support_):
            raise ValueError(
                f"The internal representation of {type(self).__name__} was altered: n_support_ sums to "
                f"{self.n_support_.sum()}, but there are {len(self.support_)} support vectors."
            )
        return X

    @property
    def _sparse(self) -> bool:
        """Whether sparse rows were learned from."""
        return sparse.issparse(self.dual_coef_)

    @property
    def _vectors(self) -> Any:
        """What kernels take the support vectors by."""
        return self.support_ if self._is_given or callable(self.kernel) else self.support_vectors_

    def _expanded(self, X: Any) -> np.ndarray:
        """The decision function of a machine of one output."""
        X = self._open_new(X)
        weights = self.dual_coef_.toarray() if sparse.issparse(self.dual_coef_) else self.dual_coef_
        return self._kernel(self.support_vectors_).expand(X, self._vectors, weights[0]) + self.intercept_[0]

    # Solving

    def _solve(self, problem: Problem, gram: Gram, whose: str = "") -> Solution:
        """The solution of a problem; raises where it has none."""
        hard = bool(np.isinf(problem.high).any() or np.isinf(problem.low).any())

        def examine(_: int) -> None:
            if len(problem.linear) <= EXAMINED and not self._reachable(problem, gram.matrix()):
                raise ValueError(self._unreachable(whose))

        try:
            return solve(problem, gram, self.tol, self.max_iter, self.shrinking, examine if hard else None)
        except UnboundedError as error:
            raise ValueError(
                f"{self._unreachable(whose)} Rows {error.pair[0]} and {error.pair[1]} of those contradict each other, or the "
                "kernel is not positive semi-definite."
            ) from None

    def _reachable(self, problem: Problem, K: np.ndarray) -> bool:
        """Whether a function without errors exists."""
        lower = np.where(np.isinf(problem.high), problem.linear - problem.tube, -np.inf)
        upper = np.where(np.isinf(problem.low), problem.linear + problem.tube, np.inf)
        return feasible(K, lower, upper)

    def _unreachable(self, whose: str) -> str:
        """What to say where no function without errors exists."""
        raise NotImplementedError

    def _ended(self, solutions: list[Solution]) -> None:
        """Note and say how the search ended."""
        self.fit_status_ = int(not all(found.converged for found in solutions))
        if self.verbose:
            for found in solutions:
                print(
                    f"[{type(self).__name__}] {found.n_iter} steps, gap {found.gap:.2g}, dual objective "
                    f"{found.objective:.6g}, {np.count_nonzero(found.beta)} support vectors"
                )
        if not self.fit_status_:
            return
        worst = max(found.gap for found in solutions)
        limit = f"max_iter={self.max_iter}" if self.max_iter >= 0 else "the limit of this solver"
        warnings.warn(
            f"Solver terminated early ({limit}).  Consider pre-processing your data with StandardScaler or MinMaxScaler. "
            f"The optimality gap is {worst:.3g}, not below tol={self.tol:g}.",
            ConvergenceWarning,
            stacklevel=4,
        )

    def _keep(self, X: Any, coefficients: np.ndarray, support: np.ndarray) -> None:
        """Publish support vectors and their coefficients, in the kind of the rows."""
        self.support_ = support.astype(np.int32)
        by_cells = sparse.issparse(X) and not callable(self.kernel)
        self.dual_coef_: Any = sparse.csr_matrix(coefficients) if by_cells else coefficients
        if self._is_given:
            self.support_vectors_: Any = np.empty((0, 0))
        elif hasattr(X, "shape"):
            self.support_vectors_ = X[support]
        else:
            self.support_vectors_ = [X[i] for i in support]
        if not np.isfinite(coefficients).all() or not np.isfinite(self.intercept_).all():
            raise ValueError(
                "The dual coefficients or intercepts are not finite. The input data may contain large values and need to be "
                "preprocessed."
            )

    @property
    def coef_(self) -> Any:
        """Weights of the features, of a linear kernel."""
        if not (isinstance(self.kernel, str) and self.kernel == "linear"):
            raise AttributeError("coef_ is only available when using a linear kernel")
        coef = self._primal()
        (coef.data if sparse.issparse(coef) else coef).flags.writeable = False
        return coef

    def _primal(self) -> Any:
        return self.dual_coef_ @ self.support_vectors_


def _is_no_table(X: Any) -> bool:
    """Whether X is a list of texts or the like."""
    return isinstance(X, (list, tuple)) and bool(X) and not np.ndim(X[0])
