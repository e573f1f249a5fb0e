"""`DensityEstimator`: the scikit-learn face of models that give rows a density."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from ..checks import check_weight
from ..engine import Model
from ..source import Block
from .learning import EMEstimator
from .rows import like

__all__ = ["DensityEstimator"]


class DensityEstimator(DensityMixin, EMEstimator):
    """Base of estimators whose model has a likelihood."""

    def score_samples(self, X: Any, out: Any = None) -> Any:
        """Log density of the observed cells of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing.
        out : path, optional
            A Parquet file to write to, in a stream, instead of returning an array.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        model, params = self._model(), self._params()
        return self._apply(X, lambda block: like(block, self._log_density(model, params, block)), out, ["log_density"])

    def _log_density(self, model: Model, params: Any, block: Block) -> np.ndarray:
        """Log density of each row of a block."""
        return model.posterior(params, block)[1]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Average log density per row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; NaN is missing.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights.

        Returns
        -------
        float
        """
        values = self.score_samples(X)
        return float(np.average(values, weights=check_weight(sample_weight, len(values))))

    def _n_parameters(self) -> int:
        return self._model().n_parameters(self._params())

    def _criterion(self, log_density: np.ndarray, sample_weight: Any) -> tuple[float, float, int]:
        """−2 log-likelihood, total weight and number of free parameters."""
        values = log_density.astype(np.float64)
        weight = check_weight(sample_weight, len(values))
        weight = np.ones(len(values)) if weight is None else weight
        return -2.0 * float(weight @ values), float(weight.sum()), self._n_parameters()

    def bic(self, X: Any, sample_weight: Any = None) -> float:
        """Bayesian information criterion, lower is better."""
        deviance, n, p = self._criterion(self.score_samples(X), sample_weight)
        return deviance + p * np.log(n)

    def aic(self, X: Any, sample_weight: Any = None) -> float:
        """Akaike information criterion, lower is better."""
        deviance, _, p = self._criterion(self.score_samples(X), sample_weight)
        return deviance + 2 * p
