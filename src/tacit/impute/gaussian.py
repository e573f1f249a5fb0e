"""`GaussianImputer`: missing cells at their expectation under a learned Gaussian or mixture.

x̂_M = E[x_M | x_O] = μ_M + Σ_MO Σ_OO⁻¹ (x_O − μ_O)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..base import RowsEstimator
from ..base.settings import KW_ONLY, settings
from ..declared import Part, Whole
from ..mixture import GaussianMixture
from ..source import is_streamed
from .columns import Completing

__all__ = ["GaussianImputer"]


@settings
class GaussianImputer(Completing, RowsEstimator):
    """Impute missing cells by their expectation given the observed cells of the row.

    Works where scikit-learn's imputers do. The columns are taken as jointly Gaussian, or as a mixture of Gaussians, learned
    by maximum likelihood of the observed cells.

    Parameters
    ----------
    n_components : int, default=1
        Number of Gaussians; 1 is linear imputation.
    covariance_type : {"full", "tied", "diag", "spherical"} or three letters such as "VEV", default="full"
        Shape of the components, as in :class:`tacit.mixture.GaussianMixture`.
    missing_values : number or NaN, default=NaN
        What marks a missing cell.
    sample_posterior : bool, default=False
        Draw missing cells instead of filling in their expectation, for multiple imputation.
    add_indicator : bool, default=False
        Append one column per column with missing cells that says where they were.
    keep_empty_features : bool, default=False
        Keep columns without any observed value, filled with 0; otherwise they are dropped.
    tol, max_iter, reg_covar, parameter_draws, random_state, n_jobs, callback
        As in :class:`tacit.mixture.GaussianMixture`.

    Attributes
    ----------
    mixture_ : GaussianMixture
        The learned distribution; its methods give standard deviations, draws and scores.
    n_iter_ : int
        EM steps taken.
    observed_ : ndarray of shape (n_features_in_,)
        Which columns had any observed value.
    indicator_ : sklearn.impute.MissingIndicator
        None unless `add_indicator`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Little and Rubin (2019), Statistical Analysis with Missing Data, chapter 11.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.impute import GaussianImputer
    >>> X = [[1.0, 2.0], [2.0, 4.1], [3.0, 5.9], [4.0, np.nan]]
    >>> GaussianImputer(parameter_draws=0).fit_transform(X).round(1)[-1]
    array([4. , 7.9])
    """

    n_components: int = 1
    _: KW_ONLY
    covariance_type: str = "full"
    missing_values: Any = np.nan
    sample_posterior: bool = False
    add_indicator: bool = False
    keep_empty_features: bool = False
    tol: float = 1e-5
    max_iter: int = 200
    reg_covar: float = 1e-6
    parameter_draws: int | str = "auto"
    random_state: Any = None
    n_jobs: int | None = None
    callback: Callable | None = None

    _saved = RowsEstimator._saved | Completing._completes | {"mixture_": Part(GaussianMixture), "n_iter_": Whole(0)}

    def _validate(self, X: Any, *, reset: bool) -> np.ndarray:
        """Rows with NaN in missing cells."""
        return self._marked(super()._validate(X, reset=reset))

    def _mixture(self) -> GaussianMixture:
        """What is learned of the rows."""
        return GaussianMixture(
            self.n_components, covariance_type=self.covariance_type, tol=self.tol, max_iter=self.max_iter,
            reg_covar=self.reg_covar, parameter_draws=self.parameter_draws, random_state=self.random_state,
            n_jobs=self.n_jobs, callback=self.callback,
            # The path of one Gaussian is smooth enough to extrapolate from the first step.
            accelerate="anderson" if self.n_components == 1 else "auto",
        )  # fmt: skip

    def _check_settings(self) -> None:
        self._mixture()._check_settings()
        self._check_marker()

    def _check_loaded(self) -> None:
        if self.mixture_.n_features_in_ != self.observed_.sum():
            raise ValueError(
                f"'mixture_' has {self.mixture_.n_features_in_} columns, but {self.observed_.sum()} are observed"
            )
        self._check_indicator(self.n_features_in_)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the distribution of the columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data or source
            Rows with missing cells.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights.

        Returns
        -------
        self
        """
        self._check_settings()
        mixture = self._mixture()
        if is_streamed(X):
            self._check_streamable()
            self.mixture_ = mixture.fit(X, sample_weight=sample_weight)
            self.n_features_in_, self.observed_ = mixture.n_features_in_, np.ones(mixture.n_features_in_, bool)
            if hasattr(mixture, "feature_names_in_"):
                self.feature_names_in_ = mixture.feature_names_in_
            self.indicator_, self.n_iter_ = None, mixture.n_iter_
            return self
        X = self._validate(X, reset=True)
        self._learn_columns(X)
        self.mixture_ = mixture.fit(_columns(X, self.observed_), sample_weight=sample_weight)
        self.n_iter_ = self.mixture_.n_iter_
        return self

    def _check_streamable(self) -> None:
        """Raise where a setting needs all rows at once."""
        for name in ("sample_posterior", "add_indicator", "keep_empty_features"):
            if getattr(self, name):
                raise ValueError(f"{name}=True needs the rows in memory; X is read in a stream.")
        if self.missing_values == self.missing_values:
            raise ValueError(f"missing_values={self.missing_values!r} needs the rows in memory; mark cells as null.")

    def transform(self, X: Any, out: Any = None) -> Any:
        """Fill missing cells.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data or source
            Rows with missing cells.
        out : path, optional
            A Parquet file to write to, in a stream, instead of returning an array.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
        """
        check_is_fitted(self)
        if out is not None or is_streamed(X):
            self._check_streamable()
            return self.mixture_.impute(X, out=out)
        X = self._validate(X, reset=False)
        kept = _columns(X, self.observed_)
        if self.sample_posterior:
            filled = self.mixture_.draw_missing(kept, 1, self.random_state)[0]
        else:
            filled = self.mixture_.impute(kept)
        return self._completed(filled, X)


def _columns(X: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """The kept columns; X itself where that is all of them."""
    return X if kept.all() else np.ascontiguousarray(X[:, kept])
