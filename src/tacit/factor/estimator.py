"""What estimators with a vector of scores per row share: `RowScores` and, of x = μ + W z + ε, `FactorEstimator`.

z | x_O ~ N(M⁻¹ W_Oᵀ Ψ_O⁻¹ (x_O − μ_O), M⁻¹),    M = I + W_Oᵀ Ψ_O⁻¹ W_O,    O the observed cells of the row
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from ..arrays import Arrays
from ..base import DensityEstimator, MissingCells, RowsEstimator, like
from ..base.calibration import Calibration
from ..checks import check_number
from ..declared import Listed, Part
from ..engine import Fit, Trace
from ..families.factor import FactorGaussian, FactorParams, groups_of
from ..kernels import host
from ..mixture.model import MixtureModel, MixtureParams
from ..notes import Note
from ..source import Block
from .scores import METHODS

__all__ = ["FactorEstimator", "RowScores", "closed_form_fit", "factor_params"]


class RowScores(ClassNamePrefixFeaturesOutMixin, TransformerMixin, RowsEstimator):
    """Base of estimators that turn rows into scores, in the precision of the rows, and scores into rows."""

    n_components_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _check_scores(self, scores: Any, name: str = "X") -> np.ndarray:
        """Scores that a user gives, with as many columns as there are components."""
        check_is_fitted(self)
        scores = check_array(scores, input_name=name, dtype=[np.float64, np.float32], ensure_min_features=0)
        if scores.shape[1] != self._n_features_out:
            raise ValueError(
                f"{name} has {scores.shape[1]} columns, but there are {self._n_features_out} scores per row."
            )
        return scores


def factor_params(mean: Any, loading: Any, noise: Any, scale: np.ndarray | None = None) -> MixtureParams:
    """Parameters of one class of `FactorGaussian`; the noise floor is relative to `scale`, default the columns' variances."""
    mean, loading, noise = (np.asarray(value, dtype=np.float64) for value in (mean, loading, noise))
    scale = (loading**2).sum(axis=1) + noise if scale is None else scale
    return MixtureParams(np.ones(1), FactorParams(mean[None], loading[None], noise[None], mean, scale))


def closed_form_fit(params: MixtureParams, loglik: float, weight: float) -> Fit:
    """The `Fit` of complete rows with this log-likelihood per row."""
    trace = Trace()
    trace.record(weight * loglik, weight)
    reason = Note("closed_form", "no cell is missing, so the maximum is known in closed form")
    return Fit(params, trace, reason, converged=True)


class FactorEstimator(RowScores, MissingCells, DensityEstimator):
    """Base of estimators with a Gaussian vector behind every row.

    A subclass defines ``_family()``, the `FactorGaussian` its settings describe, ``_loadings()`` (d, k) and ``_noise()`` (d,),
    made from fitted attributes, and ``_publish``. Besides `mean_` it has what `_learn` asks of settings.
    """

    warm_start, n_init = False, 1
    _axis = "axis", "axes"  # what one and several are called
    _n_classes = 1
    mean_: np.ndarray
    _saved = DensityEstimator._saved | {
        "draws_": Listed(Part(Arrays), needed=False),
        "calibration_": Part(Calibration, needed=False, optional=True),
    }

    def _check_settings(self) -> None:
        self._check_engine(fewest_steps=1)
        self._check_draws()

    def _family(self) -> FactorGaussian:
        raise NotImplementedError

    def _loadings(self) -> np.ndarray:
        raise NotImplementedError

    def _noise(self) -> np.ndarray:
        raise NotImplementedError

    def _root(self) -> np.ndarray:
        """L (k, k), where scores are L z."""
        return np.eye(self.n_components_)

    def _expected(self) -> np.ndarray:
        """What a unit of each score adds to the columns, (k, d)."""
        return self._loadings().T

    def _model(self) -> MixtureModel:
        return MixtureModel(self._family(), 1)

    def _params(self) -> Any:
        return factor_params(self.mean_, self._loadings(), self._noise())

    def _sample_rows(self) -> int:
        # One start, which need not be chosen among many: enough rows for a good one.
        return 5000

    # The vector behind a row

    def transform(self, X: Any, return_cov: bool = False, out: Any = None) -> Any:
        """Expectation of the scores z of each row given its observed cells.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing.
        return_cov : bool, default=False
            Also return the covariance of the scores, which depends on which cells are observed.
        out : path, optional
            A Parquet file to write to, in a stream, instead of returning an array.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_components)
        covariance : ndarray of shape (n_samples, n_components, n_components)
            Only if `return_cov`.
        """
        if return_cov and out is not None:
            raise ValueError("return_cov=True gives arrays, so it does not go with out; call transform once for each.")
        found = self._posterior(X, return_cov, out)
        return (found[:, 0], found[:, 1:]) if return_cov else found

    def _posterior(self, X: Any, return_cov: bool, out: Any = None, method: str = "regression") -> Any:
        """Scores (n, k) by a method of `METHODS`; with `return_cov` each stacked on its covariance, (n, 1 + k, k)."""
        check_is_fitted(self)
        family, params, root = self._family(), self._params().components, self._root()

        def posterior(block: Block) -> np.ndarray:
            hidden, packed = family.scores(params, block)
            hidden, group = host(hidden)[0][:, : len(root)], groups_of(block.patterns)
            if method == "regression" and not return_cov:
                return like(block, hidden @ root.T)
            score, spread = METHODS[method](hidden, host(packed)[0], group, root)
            return like(block, np.concatenate([score[:, None], spread[group]], axis=1) if return_cov else score)

        return self._apply(X, posterior, out, self.get_feature_names_out())

    def _results(self, X: np.ndarray) -> dict[str, np.ndarray]:
        names, (scores, std) = [f"{self._axis[0]}_{k}" for k in range(1, self.n_components_ + 1)], self._scored(X)
        return dict(zip(names, scores.T)) | {f"se_{name}": part for name, part in zip(names, std.T)}

    def _scored(self, X: Any, method: str = "regression") -> tuple[np.ndarray, np.ndarray]:
        """Scores of rows and their standard errors, (n, k) each."""
        found = self._posterior(X, return_cov=True, method=method)
        return found[:, 0], np.sqrt(np.diagonal(found[:, 1:], axis1=1, axis2=2))

    def inverse_transform(self, Z: Any) -> np.ndarray:
        """Rows that scores expect: μ + W z, in the columns' own units.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components)
            Scores.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        Z = self._check_scores(Z, "Z")
        return (Z @ self._expected() + self.mean_).astype(Z.dtype, copy=False)

    def reconstruct(self, X: Any) -> Any:
        """Rows without their noise: μ + W E[z | x], in observed cells too.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        return self.inverse_transform(self.transform(X))

    # What the scores say of the columns

    def column_correlations(self) -> np.ndarray:
        """Correlations of the columns with the scores; of factors that correlate, the pattern.

        Returns
        -------
        ndarray of shape (n_features, n_components)
            A square is the share of a column's variance that an axis explains.
        """
        raise NotImplementedError

    def variance_shares(self) -> np.ndarray:
        """Share of the variance of the standardised columns that each axis explains.

        Returns
        -------
        ndarray of shape (n_components,)
        """
        raise NotImplementedError

    # The distribution of rows

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw rows from the fitted distribution.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows.
        random_state : int, RandomState instance or None, default=None
            Seeds the draws; by default the estimator's own does.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        check_number("n_samples", n_samples, numbers.Integral, 1)
        return self._family().sample(self._params().components, np.zeros(n_samples, np.intp), self._rng(random_state))

    def _unit(self) -> Any:
        """What columns are divided by where covariances tell of them."""
        return 1.0

    def get_covariance(self) -> np.ndarray:
        """Covariance of rows under the model, W Wᵀ + Ψ; of the standardised columns where factor analysis scales them.

        Returns
        -------
        ndarray of shape (n_features, n_features)
        """
        check_is_fitted(self)
        return self._params().components.dense[0] / np.outer(self._unit(), self._unit())

    def get_precision(self) -> np.ndarray:
        """Inverse of `get_covariance`; of few components made without inverting anything larger than their number.

        Returns
        -------
        ndarray of shape (n_features, n_features)
        """
        check_is_fitted(self)
        if 2 * self.n_components_ > self.n_features_in_:
            return np.linalg.inv(self.get_covariance())
        params = self._params().components
        loading, noise = params.loading[0], params.noise[0]
        weighted = loading / noise[:, None]
        inner = np.eye(loading.shape[1]) + loading.T @ weighted
        precision = np.diag(1.0 / noise) - weighted @ np.linalg.solve(inner, weighted.T)
        return precision * np.outer(self._unit(), self._unit())
