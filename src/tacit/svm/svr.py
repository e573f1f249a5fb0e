"""`SVR` and `NuSVR`: a function within a tube around the targets, f(x) = Σ_i β_i k(x_i, x) + b.

SVR      min ½‖w‖² + Σ C_i (ξ_i + ξ_i*)                     −ε − ξ_i* ≤ y_i − f(x_i) ≤ ε + ξ_i
NuSVR    min ½‖w‖² + C (ν ε Σ w_i + Σ w_i (ξ_i + ξ_i*))      with ε learned
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import column_or_1d

from ..base.settings import KW_ONLY, settings
from ..checks import as_numpy
from ..declared import SQUARES, Numbers, Spec, Whole
from .checks import row_weights
from .estimator import SupportVectors
from .problem import Problem, Solution
from .svc import filled

__all__ = ["SVR", "NuSVR"]


@settings
class MarginRegressor(RegressorMixin, SupportVectors):
    """Base of `SVR` and `NuSVR`."""

    _: KW_ONLY
    C: float = 1.0

    _saved: ClassVar[dict[str, Spec]] = SupportVectors._saved | {
        "n_iter_": Whole(0),
        "dual_objective_": Numbers(high=SQUARES),
        "kkt_gap_": Numbers(high=SQUARES, beside=(-np.inf,)),
        "epsilon_": Numbers(),
    }

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn a function of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Rows; kernel values with kernel="precomputed".
        y : array-like of shape (n_samples,)
            Numbers to be predicted.
        sample_weight : array-like of shape (n_samples,), optional
            Weights by which C is multiplied; rows with weight 0 or less are left out.

        Returns
        -------
        self
        """
        self._check_settings()
        X, kernel = self._open_fit(X)
        y = self._checked_targets(y if y is None else column_or_1d(as_numpy(y), warn=True))[:, 0]
        if len(y) != self.n_samples_fit_:
            raise ValueError(
                f"X and y have incompatible shapes: X has {self.n_samples_fit_} rows, but y has {len(y)}; give one target per "
                "row."
            )
        weight = row_weights(sample_weight, len(y))
        chosen = None if weight.all() else np.flatnonzero(weight)
        rows = np.arange(len(y)) if chosen is None else chosen
        cost = self.C * weight[rows]
        gram = kernel.gram(X, chosen, kernel.whole(X), float(self.cache_size), bool(np.isinf(cost).any()))
        found = self._solve(self._problem(y[rows], cost), gram)
        beta = found.beta
        self.intercept_ = np.array([self._constant(found)])
        support = beta != 0
        self.n_support_ = np.array([support.sum()], dtype=np.int32)
        self._keep(X, beta[None, support], rows[support])
        self.n_iter_, self.dual_objective_, self.kkt_gap_ = found.n_iter, found.objective, found.gap
        self._ended([found])
        return self

    def _problem(self, y: np.ndarray, cost: np.ndarray) -> Problem:
        raise NotImplementedError

    def _constant(self, found: Solution) -> float:
        raise NotImplementedError

    def predict(self, X: Any) -> np.ndarray:
        """The value of the function for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features) or (n_rows, n_samples)
            Rows; with kernel="precomputed", their kernel values with the fitted rows.

        Returns
        -------
        values : ndarray of shape (n_rows,)
        """
        return self._expanded(X)

    def _unreachable(self, whose: str) -> str:
        return (
            f"C={self.C} allows no target outside the tube of ±{getattr(self, 'epsilon', 0.0):g}, which no function of "
            f"kernel={self.kernel!r} keeps to; give a finite C, a larger epsilon, or a kernel such as 'rbf'."
        )


@settings
class SVR(MarginRegressor):
    """Regression by a function within a tube of ±ε around the targets, with a price C for what is outside.

    Works where scikit-learn's does, with the same settings and attributes, and several times faster on thousands of rows; tells
    the dual objective and the optimality gap.

    Missing cells are refused: a kernel needs every cell. Impute them first with `tacit.impute.GaussianImputer`, or use
    `tacit.classification` or `tacit.mixture`, which take them.

    Parameters
    ----------
    C : float, default=1.0
        Price of an error beyond the tube; infinite for none.
    epsilon : float, default=0.1
        ε, in the units of the targets.
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, max_iter, verbose
        As in `SVC`.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        Numbers of the support vectors.
    support_vectors_ : {ndarray, CSR matrix} of shape (n_SV, n_features)
    n_support_ : ndarray
        How many there are, by class where there are classes.
    dual_coef_ : {ndarray, CSR matrix} of shape (1, n_SV)
        β.
    intercept_ : ndarray of shape (1,)
    n_iter_, dual_objective_, kkt_gap_ : int, float, float
        Steps, the dual objective (which is maximised), and the optimality gap.
    coef_ : {ndarray, CSR matrix}
        Weights of the features, with kernel="linear".
    gamma_ : float
        The γ used.
    fit_status_ : int
        0 where the search converged.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Cortes and Vapnik (1995), Support-vector networks. Machine Learning 20.
    Platt (1998), Fast training of support vector machines using sequential minimal optimization.
    Fan, Chen and Lin (2005), Working set selection using second order information for training SVM. JMLR 6.
    Chang and Lin (2011), LIBSVM: a library for support vector machines. ACM TIST 2.
    Smola and Schölkopf (2004), A tutorial on support vector regression. Statistics and Computing 14.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.svm import SVR
    >>> x = np.linspace(0, 6, 60)
    >>> model = SVR(C=100.0, epsilon=0.05).fit(x[:, None], np.sin(x))
    >>> bool(np.abs(model.predict(x[:, None]) - np.sin(x)).max() < 0.051), len(model.support_) < 20
    (True, True)
    """

    _: KW_ONLY
    epsilon: float = 0.1

    def _problem(self, y: np.ndarray, cost: np.ndarray) -> Problem:
        zero = np.zeros(len(y))
        return Problem(y, cost, -cost, zero, zero, float(self.epsilon))

    def _constant(self, found: Solution) -> float:
        self.epsilon_ = float(self.epsilon)
        return found.level


@settings
class NuSVR(MarginRegressor):
    """Regression by a function in a tube that leaves a share ν of the targets outside.

    Works where scikit-learn's does, with the same settings and attributes, and tells what `SVR` does, and the tube's width.

    Missing cells are refused: a kernel needs every cell. Impute them first with `tacit.impute.GaussianImputer`, or use
    `tacit.classification` or `tacit.mixture`, which take them.

    Parameters
    ----------
    C : float, default=1.0
        Price of an error beyond the tube.
    nu : float, default=0.5
        At least the share of rows outside the tube, and at most that of support vectors.
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, max_iter, verbose
        As in `SVC`.

    Attributes
    ----------
    epsilon_ : float
        ε, half the width of the tube.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, n_iter_, dual_objective_, kkt_gap_, coef_, gamma_, fit_status_, n_features_in_, feature_names_in_
        As in `SVR`.

    References
    ----------
    Cortes and Vapnik (1995), Support-vector networks. Machine Learning 20.
    Platt (1998), Fast training of support vector machines using sequential minimal optimization.
    Fan, Chen and Lin (2005), Working set selection using second order information for training SVM. JMLR 6.
    Chang and Lin (2011), LIBSVM: a library for support vector machines. ACM TIST 2.
    Schölkopf, Smola, Williamson and Bartlett (2000), New support vector algorithms. Neural Computation 12.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.svm import NuSVR
    >>> x = np.linspace(0, 6, 60)
    >>> model = NuSVR(C=100.0, nu=0.2).fit(x[:, None], np.sin(x))
    >>> bool(np.mean(np.abs(model.predict(x[:, None]) - np.sin(x)) > model.epsilon_ + 1e-3) <= 0.2)
    True
    """  # noqa: E501

    _: KW_ONLY
    nu: float = 0.5

    def _check_settings(self) -> None:
        super()._check_settings()
        if np.isinf(self.C):
            raise ValueError(
                "C=inf leaves NuSVR no share of rows outside its tube, which nu is; give a finite C, or use SVR."
            )

    def _problem(self, y: np.ndarray, cost: np.ndarray) -> Problem:
        total = self.nu * cost.sum() / 2
        return Problem(y, cost, -cost, filled(cost, y, total), -filled(cost, -y, total), grouped=True)

    def _constant(self, found: Solution) -> float:
        above, below = found.levels()
        self.epsilon_ = (above - below) / 2
        return (above + below) / 2
