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
        self._told([found])
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
    """DOC"""

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
    """DOC"""

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
