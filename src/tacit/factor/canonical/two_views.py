"""`TwoViewEstimator`: what a fitted Gaussian model of two views tells of rows, of which any cell and any view may be missing.

E[z | x_O] = Wᵀ Σ⁻¹ (E[x | x_O] − μ),    cov[z | x_O] = I − Wᵀ Σ⁻¹ W + Wᵀ Σ⁻¹ cov[x | x_O] Σ⁻¹ W
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from ...base import EMEstimator, like
from ...checks import check_number, check_weight
from ...source import ArraySource, Block
from .views import TwoViews

__all__ = ["TwoViewEstimator"]


class TwoViewEstimator(TwoViews, DensityMixin, EMEstimator):
    """Base of models of two views: hidden variables, predictions, missing cells and densities, from the fitted attributes.

    A view that is None is one that no row has.
    """

    _saved = EMEstimator._saved | TwoViews._saved

    @property
    def _n_columns(self) -> int:
        return len(self.x_loadings_) + len(self.y_loadings_)

    def _join(self, X: Any, y: Any) -> np.ndarray:
        """Rows [x, y] with NaN for what is missing."""
        check_is_fitted(self)
        if X is None and y is None:
            raise ValueError("X and y are both None; give at least one view.")
        if X is None:
            y = self._check_second(y)
            X = np.full((len(y), len(self.x_loadings_)), np.nan, dtype=y.dtype)
        elif y is None:
            X = self._check_first(X)
            y = np.full((len(X), len(self.y_loadings_)), np.nan, dtype=X.dtype)
        else:
            X, y = self._check_views(X, y)
        return np.hstack([X, y])

    def _cut(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows [x, y], or stacks of them, as two views."""
        X, y = np.split(rows, [len(self.x_loadings_)], axis=-1)
        return X, y[..., 0] if self._y_is_flat else y

    @property
    def _loadings(self) -> np.ndarray:
        return np.vstack([self.x_loadings_, self.y_loadings_])

    def _over_blocks(self, rows: np.ndarray, function: Callable[[Block], np.ndarray]) -> np.ndarray:
        return np.concatenate(list(ArraySource(rows, n_jobs=self.n_jobs).map(function)))

    # Hidden variables

    def transform(self, X: Any, y: Any = None, return_cov: bool = False) -> Any:
        """Expectation of the hidden variables given what is observed of a row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or None
            First view; NaN is missing.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            Second view; one of the two is enough.
        return_cov : bool, default=False
            Also return the covariance of each row's hidden variables.

        Returns
        -------
        mean : ndarray of shape (n_samples, n_components_)
        cov : ndarray of shape (n_samples, n_components_, n_components_)
            Only if `return_cov`.
        """
        rows = self._join(X, y)
        family, params = self._model().family, self._params().components
        gain = np.linalg.solve(params.covariance[0], self._loadings)
        unsure, precision = np.eye(gain.shape[1]) - gain.T @ self._loadings, params.posterior[1][0]

        def mean(block: Block) -> np.ndarray:
            filled = family.filled(params, block, np.ones((len(block), 1)))
            return like(block, (filled - params.mean[0]) @ gain)

        def covariance(block: Block) -> np.ndarray:
            spread, incomplete = np.repeat(unsure[None], len(block), axis=0), block.patterns.incomplete
            for start, end, missing in zip(incomplete.starts, incomplete.starts[1:], incomplete.missing):
                cells = np.flatnonzero(missing)
                given = np.linalg.inv(precision[np.ix_(cells, cells)])
                spread[incomplete.rows[start:end]] += gain[cells].T @ given @ gain[cells]
            return like(block, spread)

        found = self._over_blocks(rows, mean)
        return (found, self._over_blocks(rows, covariance)) if return_cov else found

    # Views and cells from each other

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Expectation of the second view given the first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            First view; NaN is missing.
        return_std : bool, default=False
            Also return the standard deviation of each cell, noise included.

        Returns
        -------
        mean, std : ndarray of shape (n_samples,) or (n_samples, n_targets)
            The second only if `return_std`.
        """
        return self._other(X, None, 1, return_std)

    def predict_x(self, y: Any, return_std: bool = False) -> Any:
        """Expectation of the first view given the second; see `predict`.

        Returns
        -------
        mean, std : ndarray of shape (n_samples, n_features)
            The second only if `return_std`.
        """
        return self._other(None, y, 0, return_std)

    def _other(self, X: Any, y: Any, view: int, return_std: bool) -> Any:
        found = self.impute(X, y, return_std)
        return (found[0][view], found[1][view]) if return_std else found[view]

    def impute(self, X: Any, y: Any = None, return_std: bool = False) -> Any:
        """Fill missing cells and missing views with their expectation given what is observed of the row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or None
            First view; NaN is missing.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            Second view.
        return_std : bool, default=False
            Also return the standard deviation of each cell, 0 where observed.

        Returns
        -------
        filled : pair of ndarray
            X and y without missing cells.
        std : pair of ndarray
            Only if `return_std`.
        """
        rows = self._join(X, y)
        family, params = self._model().family, self._params().components

        def fill(block: Block) -> np.ndarray:
            one = np.ones((len(block), 1))
            if not return_std:
                return like(block, family.filled(params, block, one)[:, None])
            return like(block, np.stack(family.expect(params, block, one), axis=1))

        filled, *std = (self._cut(part) for part in np.moveaxis(self._over_blocks(rows, fill), 1, 0))
        return (filled, *std) if return_std else filled

    def draw_missing(
        self, X: Any, y: Any = None, n_draws: int = 1, random_state: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw missing cells and missing views given what is observed, for multiple imputation.

        The fitted parameters are held fixed: with few rows, refit to bootstrap samples to add their uncertainty.

        Parameters
        ----------
        X, y
            As in `impute`.
        n_draws : int, default=1
            Number of completed tables.
        random_state : int, RandomState instance or None, default=None
            Seeds the draws.

        Returns
        -------
        X, y : ndarray of shape (n_draws, n_samples, n_features) and (n_draws, n_samples, n_targets)
        """
        check_number("n_draws", n_draws, numbers.Integral, 1)
        block = Block.of(self._join(X, y))
        rng = self._rng(random_state)
        family, params = self._model().family, self._params().components
        return self._cut(like(block, family.draw(params, block, np.ones((len(block), 1)), n_draws, rng)))

    # Densities

    def score_samples(self, X: Any, y: Any = None) -> np.ndarray:
        """Log density of the observed cells of each row.

        Parameters
        ----------
        X, y
            As in `impute`; without y, the density of the first view alone.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        rows = self._join(X, y)
        model, params = self._model(), self._params()
        return self._over_blocks(rows, lambda block: like(block, model.posterior(params, block)[1]))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Average log density per row; see `score_samples`."""
        values = self.score_samples(X, y)
        return float(np.average(values, weights=check_weight(sample_weight, len(values))))

    def bic(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Bayesian information criterion, lower is better."""
        deviance, n, free = self._deviance(X, y, sample_weight)
        return deviance + free * np.log(n)

    def aic(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Akaike information criterion, lower is better."""
        deviance, _, free = self._deviance(X, y, sample_weight)
        return deviance + 2 * free

    def _n_parameters(self) -> int:
        return self._model().n_parameters(self._params())

    def _deviance(self, X: Any, y: Any, sample_weight: Any) -> tuple[float, float, int]:
        """−2 log-likelihood, total weight and number of free parameters."""
        values = self.score_samples(X, y).astype(np.float64)
        weight = check_weight(sample_weight, len(values))
        weight = np.ones(len(values)) if weight is None else weight
        return -2.0 * float(weight @ values), float(weight.sum()), self._n_parameters()

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows from the fitted distribution.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows.
        random_state : int, RandomState instance or None, default=None
            Seeds the draws; default the estimator's.

        Returns
        -------
        X, y : ndarray of shape (n_samples, n_features) and (n_samples, n_targets)
        """
        check_is_fitted(self)
        check_number("n_samples", n_samples, numbers.Integral, 1)
        return self._cut(self._model().sample(self._params(), n_samples, self._rng(random_state))[0])
