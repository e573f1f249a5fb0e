"""`DrawsMissing`: multiple imputation, x_M ~ p(x_M | x_O), for estimators whose model is a mixture of any number of classes."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..checks import check_number
from ..source import Block, is_streamed
from .density import DensityEstimator

__all__ = ["DrawsMissing"]


class DrawsMissing(DensityEstimator):
    """Base of estimators whose family can draw missing cells."""

    def draw_missing(self, X: Any, n_draws: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw missing cells given the observed ones, for multiple imputation.

        The fitted parameters are held fixed: with few rows, refit to bootstrap samples to add their uncertainty.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; NaN is missing.
        n_draws : int, default=1
            Number of completed tables.
        random_state : int, RandomState instance or None, default=None
            Seeds the draws; by default the estimator's own does.

        Returns
        -------
        ndarray of shape (n_draws, n_samples, n_features)
        """
        check_number("n_draws", n_draws, numbers.Integral, 1)
        check_is_fitted(self)
        if is_streamed(X):
            raise ValueError("draw_missing takes rows in memory; read the part you need first.")
        block = Block.of(self._validate(X, reset=False))
        model, params = self._model(), self._params()
        resp = model.posterior(params, block)[0]
        drawn = model.family.draw(params.components, block, resp, n_draws, self._rng(random_state))
        return drawn.astype(block.dtype)
