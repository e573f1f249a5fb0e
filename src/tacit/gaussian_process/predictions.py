"""`Predictions`: what Gaussian process regression tells of rows, from the prior before any fit, and draws of it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from ..base.supervised import Supervised
from ..kernels import host
from ..source import Source
from .kernels import RBF, ConstantKernel, Kernel
from .pairs import Covariance
from .posterior import Posterior

__all__ = ["Predictions", "check_kernel", "in_memory"]


class Predictions(Supervised):
    """Answers of Gaussian process regression."""

    kernel: Any
    n_targets: int | None
    kernel_: Any
    X_train_: Any
    inducing_points_: np.ndarray
    L_: np.ndarray
    alpha_: np.ndarray
    _y_train_mean: np.ndarray
    _y_train_std: np.ndarray

    def _posterior(self) -> Posterior:
        """What predictions are made of."""
        dual, covariance = self.alpha_.reshape(len(self.alpha_), -1), Covariance(self.kernel_, self.n_jobs)
        points = self.X_train_ if hasattr(self, "X_train_") else self.inducing_points_
        return Posterior(covariance, self.kernel_.theta, points, dual, self.L_, getattr(self, "inner_", None))

    def _query(self, X: Any, kernel: Any) -> Any:
        """Rows to predict, in memory."""
        if kernel is not None and not kernel.requires_vector_input:
            return validate_data(self, X, ensure_2d=False, dtype=None, reset=False)
        return in_memory(self._open(X))

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Means of the targets of rows, of the prior before any fit.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.
        return_std, return_cov : bool
            Whether standard deviations, or covariances, are wanted as well; those of f and the noise of a WhiteKernel.

        Returns
        -------
        mean : ndarray of shape (n_rows,) or (n_rows, n_targets)
        std : ndarray of the same shape
        cov : ndarray of shape (n_rows, n_rows) or (n_rows, n_rows, n_targets)
        """
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        X = self._query(X, self.kernel)
        if not hasattr(self, "kernel_"):
            return self._predict_prior(X, return_std, return_cov)
        posterior, scale = self._posterior(), self._y_train_std
        if return_std:
            mean, variance = posterior.mean_and_variance(X, np.array(self.kernel_.diag(X)))
            std = np.sqrt(_not_negative(variance))[:, None] * scale
            return self._squeezed(mean * scale + self._y_train_mean), self._squeezed(std)
        mean = self._squeezed(posterior.mean(X) * scale + self._y_train_mean)
        if not return_cov:
            return mean
        spread = posterior.covariances(X, self.kernel_(X))
        return mean, self._squeezed(spread[:, :, None] * scale**2)

    @staticmethod
    def _squeezed(values: np.ndarray) -> np.ndarray:
        """Without the axis of targets where there is one target."""
        return values[..., 0] if values.shape[-1] == 1 else values

    def _predict_prior(self, X: Any, return_std: bool, return_cov: bool) -> Any:
        kernel = ConstantKernel() * RBF() if self.kernel is None else self.kernel
        n_targets = self.n_targets or 1
        mean = self._squeezed(np.zeros((len(X), n_targets)))
        if return_cov:
            return mean, self._squeezed(np.repeat(kernel(X)[:, :, None], n_targets, axis=2))
        if return_std:
            return mean, self._squeezed(np.repeat(np.sqrt(kernel.diag(X))[:, None], n_targets, axis=1))
        return mean

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> np.ndarray:
        """Draws of the targets of rows, of the prior before any fit.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.
        n_samples : int
            Draws.
        random_state : int, RandomState or None

        Returns
        -------
        draws : ndarray of shape (n_rows, n_samples) or (n_rows, n_targets, n_samples)
        """
        rng = check_random_state(random_state)
        mean, spread = self.predict(X, return_cov=True)
        if mean.ndim == 1:
            return rng.multivariate_normal(mean, spread, n_samples).T
        drawn = [rng.multivariate_normal(m, spread[:, :, t], n_samples).T for t, m in enumerate(mean.T)]
        return np.stack(drawn, axis=1)


def check_kernel(kernel: Any) -> None:
    """Raise where a setting is no kernel."""
    if kernel is not None and not isinstance(kernel, Kernel):
        raise TypeError(
            f"kernel={kernel!r} is no kernel; take one of tacit.gaussian_process.kernels, for example RBF() + WhiteKernel()."
        )


def in_memory(source: Source) -> np.ndarray:
    """All rows of a source in float64; those of an array are not copied."""
    held = getattr(source, "X", None)
    rows = held if isinstance(held, np.ndarray) else np.vstack([host(block.X) for block in source])
    return rows.astype(np.float64, copy=False)


def _not_negative(variance: np.ndarray) -> np.ndarray:
    """Variances, those that rounding made negative set to 0."""
    if (variance < 0).any():
        warnings.warn("Predicted variances smaller than 0. Setting those variances to 0.", stacklevel=3)
    return np.maximum(variance, 0.0)
