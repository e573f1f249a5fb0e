"""`TruncatedSVD`: the best approximation of a matrix of a rank, X ≈ U S Vᵀ, without centring, so that sparse rows stay sparse."""

from __future__ import annotations

import numbers
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from ...base import RowsEstimator
from ...base.settings import KW_ONLY, settings
from ...checks import check_choice, check_number, check_rows
from ...declared import SQUARES, Numbers
from ..estimator import RowScores
from .routes import decompose, oriented

__all__ = ["TruncatedSVD"]


@settings
class TruncatedSVD(RowScores):
    """Leading singular values and vectors of rows as they are; of counts of words, latent semantic analysis.

    Works where scikit-learn's does.

    Parameters
    ----------
    n_components : int, default=2
        Number of singular values.
    algorithm : {"randomized", "arpack"}, default="randomized"
        A randomised block Krylov space, or Lanczos.
    n_iter : int, default=5
        Steps of ``"randomized"``; each is worth about two of a power method.
    n_oversamples : int, default=10
        Random vectors of ``"randomized"`` beyond the components.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        Accepted for compatibility: blocks are always orthonormal.
    random_state : int, RandomState or None, default=None
        Seed.
    tol : float, default=0.0
        Tolerance of ``"arpack"``.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features_in_)
        Right singular vectors.
    singular_values_ : ndarray of shape (n_components,)
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        Variances of the scores, and their shares of the variance of all columns.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Musco and Musco (2015), Randomized block Krylov methods for stronger and faster approximate singular value decomposition.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.factor import TruncatedSVD
    >>> X = np.outer([1.0, 2.0, 3.0], [2.0, 0.0, 1.0])
    >>> TruncatedSVD(1, random_state=0).fit(X).singular_values_.round(3)
    array([8.367])
    """

    n_components: int = 2
    _: KW_ONLY
    algorithm: str = "randomized"
    n_iter: int = 5
    n_oversamples: int = 10
    power_iteration_normalizer: str = "auto"
    random_state: Any = None
    tol: float = 0.0

    _saved = RowsEstimator._saved | {
        "components_": Numbers("k d"),
        "explained_variance_": Numbers("k", low=0, high=SQUARES),
        "explained_variance_ratio_": Numbers("k", low=0),
        "singular_values_": Numbers("k", low=0, high=SQUARES),
    }
    _takes_missing = False
    _takes_sparse = True
    _missing_remedy = "which TruncatedSVD does not take; tacit.factor.PCA and ProbabilisticPCA do"
    _min_rows = 1

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _validate(self, X: Any, *, reset: bool) -> Any:
        return check_rows(self, X, reset=reset, accept_sparse=("csr", "csc"), ensure_min_features=2 if reset else 1)

    def _check_settings(self) -> None:
        check_number("n_components", self.n_components, numbers.Integral, 1)
        check_choice("algorithm", self.algorithm, ("randomized", "arpack"))
        check_choice("power_iteration_normalizer", self.power_iteration_normalizer, ("auto", "QR", "LU", "none"))
        check_number("n_iter", self.n_iter, numbers.Integral, 0)
        check_number("n_oversamples", self.n_oversamples, numbers.Integral, 1)
        check_number("tol", self.tol, numbers.Real, 0)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the singular vectors of rows, an array or sparse matrix; y is ignored."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Find the singular vectors, and the scores U S of the same rows; y is ignored."""
        self._check_settings()
        X = self._validate(X, reset=True)
        if self.algorithm == "arpack":
            most, settings = min(X.shape) - 1, {"tol": self.tol}
        else:
            most, settings = X.shape[1], {"n_iter": self.n_iter, "n_oversamples": self.n_oversamples}
        if self.n_components > most:
            raise ValueError(
                f"n_components={self.n_components} is more than algorithm={self.algorithm!r} finds in {X.shape[0]} rows of "
                f"{X.shape[1]} columns; use at most {most}."
            )
        self.singular_values_, axes = decompose(
            X, self.algorithm, self.n_components, random_state=self.random_state, **settings
        )
        self.components_ = oriented(axes)
        scores = X @ self.components_.T
        self.explained_variance_ = scores.var(axis=0)
        self.explained_variance_ratio_ = self.explained_variance_ / (_variance(X) or 1.0)
        return scores

    def transform(self, X: Any) -> np.ndarray:
        """Scores X V of rows, an array or sparse matrix."""
        check_is_fitted(self)
        return self._validate(X, reset=False) @ self.components_.T

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows of which these are the scores."""
        return self._check_scores(X) @ self.components_


def _variance(X: Any) -> float:
    """Variance of all columns together."""
    if not issparse(X):
        return float(X.var(axis=0, dtype=np.float64).sum())
    mean = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel() / X.shape[0]
    return float(np.vdot(X.data.astype(np.float64), X.data) / X.shape[0] - mean @ mean)
