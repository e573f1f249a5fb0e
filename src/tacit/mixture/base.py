"""`BaseGaussianMixture`: what estimators of Gaussian mixtures share, whether learned by likelihood or by Bayes.

x̂_M = Σ_k p(k | x_O) E_k[x_M | x_O],   the expectation of a row's missing cells M given the observed ones O
"""

import numbers

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..checks import check_choice, check_number
from ..engine import ACCELERATORS
from ..engine.trace import CRITERIA
from ..families import GAUSSIANS
from ..latent_class import LatentClassEstimator
from ..source import Block, is_streamed
from .seeds import INITS

__all__ = ["BaseGaussianMixture"]


class BaseGaussianMixture(LatentClassEstimator):
    """Base of Gaussian mixtures: settings, fitted Gaussians, and the distribution of missing cells."""

    def _check_settings(self):
        super()._check_settings()
        check_number("n_components", self.n_components, numbers.Integral, 1)
        check_number("reg_covar", self.reg_covar, numbers.Real, 0, 1e6)
        check_choice("covariance_type", self.covariance_type, GAUSSIANS)
        check_choice("init_params", self.init_params, INITS)
        check_choice("convergence", self.convergence, CRITERIA)
        check_choice("accelerate", self.accelerate, ("auto", *ACCELERATORS, "off", None))

    def _family(self):
        return GAUSSIANS[self.covariance_type](floor=self.reg_covar)

    # Fitted Gaussians

    def _publish_components(self, components, dtype):
        """Set the attributes that describe the Gaussians."""
        self.means_ = components.mean.astype(dtype)
        self.covariances_ = components.covariance.astype(dtype)
        if self.covariance_type in ("full", "tied"):
            triangle = components.triangle
            precision = triangle @ np.swapaxes(triangle, -1, -2)
        else:
            triangle = 1.0 / np.sqrt(components.covariance)
            precision = triangle**2
        self.precisions_cholesky_ = triangle.astype(dtype)
        self.precisions_ = precision.astype(dtype)

    def _components(self):
        """The Gaussians that the attributes describe, about their common mean."""
        weight, mean, covariance = (
            np.asarray(value, dtype=np.float64) for value in (self.weights_, self.means_, self.covariances_)
        )
        family = self._family()
        scale = family.params(mean, covariance, mean[0], mean[0]).dense
        variance = np.einsum("k,kjj->j", weight, scale) + weight @ (mean - weight @ mean) ** 2
        return family.params(mean, covariance, weight @ mean, variance)

    # Missing cells

    def impute(self, X, return_std=False, out=None):
        """Fill missing cells with their expectation given the observed ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing.
        return_std : bool, default=False
            Also return the standard deviation of each cell, 0 where observed.
        out : path, optional
            A Parquet file to write the filled columns to, in a stream, instead of returning an array.

        Returns
        -------
        filled : ndarray of shape (n_samples, n_features)
        std : ndarray of shape (n_samples, n_features)
            Only if `return_std`.
        """
        if return_std and out is not None:
            raise ValueError("return_std=True gives arrays, so it does not go with out; call impute once for each.")
        if return_std:
            mean, covariance = self.conditional(X)
            return mean, np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return self._complete(X, out, names)

    def conditional(self, X):
        """Mean and covariance of each row given its observed cells.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing.

        Returns
        -------
        mean : ndarray of shape (n_samples, n_features)
            Observed cells as they are, missing ones at their expectation.
        covariance : ndarray of shape (n_samples, n_features, n_features)
            Zero in the rows and columns of observed cells.
        """
        result = self._complete(X, return_cov=True)
        return result[:, 0], result[:, 1:]

    def draw_missing(self, X, n_draws=1, random_state=None):
        """Draw missing cells given the observed ones, for multiple imputation.

        The fitted parameters are held fixed: with few rows, refit to bootstrap samples to add their uncertainty.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; NaN is missing.
        n_draws : int, default=1
            Number of completed tables.
        random_state : int, RandomState instance or None, default=None
            Seeds the draws.

        Returns
        -------
        ndarray of shape (n_draws, n_samples, n_features)
        """
        check_number("n_draws", n_draws, numbers.Integral, 1)
        check_is_fitted(self)
        if is_streamed(X):
            raise ValueError("draw_missing takes rows in memory; read the part you need first.")
        block = Block.of(self._validate(X, reset=False))
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        model, params = self._model(), self._params()
        resp = model.posterior(params, block)[0]
        return model.family.draw(params.components, block, resp, n_draws, rng).astype(block.X.dtype)

    def _complete(self, X, out=None, names=None, **settings):
        """The posterior of each row of X, as `family.complete` gives it, mean and covariance stacked."""
        check_is_fitted(self)
        model, params = self._model(), self._params()

        def fill(block):
            one = self.n_components == 1
            resp = np.ones((len(block), 1)) if one else model.posterior(params, block)[0]
            filled, cov = model.family.complete(params.components, block, resp, **settings)
            both = np.concatenate([filled[:, None], cov], axis=1) if len(cov) else filled
            return both.astype(block.dtype)

        return self._apply(X, fill, out, names)
