"""`Ridge`: least squares with a penalty, the mode under w ~ N(0, (σ²/α) I).

w = argmin_w Σ w_i (y_i − b − wᵀx_i)² + α |w|²;    primal (XᵀX + αI)⁻¹ Xᵀy, dual Xᵀ (XXᵀ + αI)⁻¹ y
"""

from __future__ import annotations

import numbers
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import cho_solve
from sklearn.utils.validation import check_is_fitted

from ..base.settings import KW_ONLY, settings
from ..checks import check_choice, check_number
from ..declared import Text
from .base import LinearModel
from .design import SIDE, Design, factored, inverse_root, iterated
from .least_squares import non_negative
from .spread import Estimate, Spread

__all__ = ["Ridge"]

SOLVERS = ("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs")
WIDE_CELLS = 1 << 18  # rows × columns up to which the spread of coefficients is kept where columns are more than rows


@settings
class Ridge(LinearModel):
    """Ridge regression; a drop-in for scikit-learn's, which also takes missing features and gives intervals.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1.0
        Weight of the penalty.
    fit_intercept : bool, default=True
        Whether there is an intercept, which is not penalised.
    copy_X : bool, default=True
        Accepted for compatibility; X is never written to.
    max_iter : int or None, default=None
        Steps at most for large sparse rows, the only ones that take steps.
    tol : float, default=1e-4
        Accuracy of these steps.
    solver : {"auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"}, default="auto"
        All lead to the same minimum, which is found directly, by the smaller of its primal and dual form: by eigenvalues for
        "svd" and where products of columns leave too few digits, by Cholesky's factor otherwise. Large sparse rows take LSQR's
        steps.
    positive : bool, default=False
        Whether coefficients must not be negative; for `solver` "auto" or "lbfgs".
    random_state : int, RandomState instance or None, default=None
        Accepted for compatibility; nothing is random.
    n_jobs : int or None, default=None
        Threads; None is all cores. Results do not depend on it.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or ndarray of shape (n_targets,)
    solver_ : str
        The solver asked for, and with "auto" how the minimum was found: "cholesky", "svd", "lsqr" or, of positive coefficients,
        "nnls".
    n_iter_ : None
        Kept for compatibility.
    noise_variance_ : ndarray of shape (n_targets,)
        Residual sum of squares over `dof_`.
    dof_ : ndarray of shape (n_targets,)
        Weight of the rows less the effective number of coefficients, the intercept included.

    References
    ----------
    Hoerl and Kennard (1970), Ridge regression: biased estimation for nonorthogonal problems.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from tacit.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = Ridge(alpha=0.1).fit(X, y)
    >>> low, high = model.predict_interval(X[:1], 0.9)
    >>> low.round(), high.round()
    (array([110.]), array([290.]))
    """

    alpha: Any = 1.0
    _: KW_ONLY
    fit_intercept: bool = True
    copy_X: bool = True
    max_iter: int | None = None
    tol: float = 1e-4
    solver: str = "auto"
    positive: bool = False
    random_state: Any = None
    n_jobs: int | None = None
    solver_: ClassVar[str]
    _saved: ClassVar = LinearModel._saved | {"solver_": Text((*SOLVERS, "nnls"))}

    @property
    def n_iter_(self) -> None:
        """None, as with scikit-learn's direct solvers."""
        check_is_fitted(self)

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice("solver", self.solver, SOLVERS)
        check_number("tol", self.tol, numbers.Real, 0)
        check_number("max_iter", self.max_iter, numbers.Integral, 1, also=(None,))
        alpha = np.asarray(self.alpha)
        if alpha.dtype.kind not in "fiu" or alpha.ndim > 1 or not np.isfinite(alpha).all() or (alpha < 0).any():
            raise ValueError(f"alpha={self.alpha!r} is not a number of at least 0, nor one for each target.")
        if self.positive and self.solver not in ("auto", "lbfgs"):
            raise ValueError(f"solver={self.solver!r} does not support positive fitting; use 'auto'.")
        if self.solver == "lbfgs" and not self.positive:
            raise ValueError("solver='lbfgs' is for positive=True; use 'auto'.")

    def _publish(self, found: Estimate, design: Design, dtype: Any, features: Any = None) -> None:
        super()._publish(found, design, dtype, features)
        if len(self._coef) == 1:  # a column of targets as scikit-learn's
            self.coef_, self.one_target_, self._one_target = self.coef_.ravel(), True, True

    def _no_spread(self) -> str:
        if self.positive:
            return "coefficients that must not be negative have no distribution here; fit with positive=False"
        if self.features_ is None:
            return "columns are too many, and more than rows; use tacit.linear_model.BayesianRidge"
        return super()._no_spread()

    def _penalties(self, m: int) -> np.ndarray:
        """The penalty, or those of the targets where they differ."""
        alpha = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        if len(alpha) not in (1, m):
            raise ValueError(
                f"Number of targets and number of penalties do not correspond: {len(alpha)} != {m}; give one alpha, or one for "
                "each target."
            )
        return alpha[:1] if (alpha == alpha[0]).all() else alpha

    def _learn(self, design: Design, before: Any = None, exact: bool = True) -> Estimate:
        penalty = self._penalties(len(design.total))
        spread: Spread | None = None
        freedom: Any = 0.0
        if self.positive:
            found = non_negative(design, penalty)
            coef, freedom, how = found.coef, found.freedom, "nnls"
        elif design.root_weight is not None and min(design.shape) > SIDE:
            coef, how = iterated(design, penalty, self.tol, self.max_iter), "lsqr"
        else:
            coef, spread, freedom, how = self._minimum(design, penalty)
        freedom = np.broadcast_to(np.asarray(freedom, dtype=np.float64), len(coef))
        squares, length = design.squares(coef), (coef**2).sum(axis=1)
        if not exact:
            noise = (squares + penalty * length) / design.weight
            return Estimate(
                coef, noise, objective=-0.5 * float((penalty * length / noise).sum()), penalty=penalty[:, None]
            )
        left = design.weight - freedom - float(self.fit_intercept)
        noise = squares / np.where(left > 1e-9 * design.weight, left, design.weight)
        spread = spread if (left > 1e-9 * design.weight).all() else None
        return Estimate(
            coef,
            noise,
            spread=spread,
            freedom=freedom,
            penalty=penalty[:, None],
            more={"solver_": how if self.solver == "auto" else self.solver},
        )

    def _minimum(self, design: Design, penalty: np.ndarray) -> tuple:
        """Coefficients, their spread, the effective number of them, and how they were found."""
        upper, alpha, (n, d) = None, penalty[0], design.shape
        if len(penalty) == 1 and self.solver != "svd" and (alpha > 0 or not design.wide):
            matrix = design.kernel if design.wide else design.gram
            upper = factored(matrix + alpha * np.eye(len(matrix)))
        if upper is None:
            spectrum = design.spectrum
            freedom = (spectrum.values / (spectrum.values + penalty[:, None])).sum(axis=1)
            return spectrum.coef(penalty), Spread.along(spectrum, penalty), freedom, "svd"
        if design.wide:
            coef = design.back(cho_solve((upper, False), design.Y)).T
            inverse = inverse_root(upper)
            spread: Spread | None = None
            if n * d <= WIDE_CELLS:
                spread = Spread(np.array([1.0 / alpha]), design.back(inverse)[None] / np.sqrt(alpha), np.ones(d))
            return coef, spread, n - alpha * (inverse**2).sum(), "cholesky"
        inverse = inverse_root(upper)
        coef = cho_solve((upper, False), design.cross).T
        return coef, Spread.primal(inverse), d - alpha * (inverse**2).sum(), "cholesky"
