"""`Predictions`: what Gaussian process regression tells of rows, from the prior before any fit, and draws of it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ..base.supervised import Supervised
from ..kernels import host
from ..source import Source
from .evidence import evidence
from .interval import around, quantiles
from .kernels import RBF, ConstantKernel, Kernel
from .pairs import Covariance
from .posterior import Posterior

__all__ = ["Predictions", "check_kernel", "check_refused", "in_memory"]


AVERAGED = 1000
"""Rows up to which intervals are averaged over hyperparameters."""


class Predictions(Supervised):
    """Answers of Gaussian process regression."""

    kernel: Any
    alpha: Any
    optimizer: Any
    n_targets: int | None
    kernel_: Any
    X_train_: Any
    inducing_points_: np.ndarray
    y_train_: np.ndarray
    noise_variance_: Any
    noise_groups_: np.ndarray
    noise_levels_: np.ndarray
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

    def predict_interval(self, X: Any, level: float = 0.95, noise_groups: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Intervals that hold new targets of rows so often as `level` says, noise included.

        Up to 1,000 rows, the intervals are averaged over hyperparameters of the kernel, which few rows do not tell; those of
        more rows, and of inducing points, take the ones learned. `alpha` counts where it is one number.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.
        level : float
            Share of new targets within.
        noise_groups : array-like of shape (n_rows,), optional
            Group of each row, whose noise is added; needed where `fit` was given groups.

        Returns
        -------
        low, high : ndarray of shape (n_rows,) or (n_rows, n_targets)
        """
        check_is_fitted(self, "kernel_")
        if not isinstance(level, (int, float, np.number)) or not 0 < level < 1:
            raise ValueError(f"level={level!r} is not a number between 0 and 1, such as 0.95.")
        X, kernel = self._query(X, self.kernel), self.kernel_
        noise = self._noise_of(noise_groups, len(X))
        thetas, weights = kernel.theta[None], np.ones(1)
        averaged = hasattr(self, "X_train_") and len(self.X_train_) <= AVERAGED and kernel.n_dims and self.optimizer
        if averaged:
            best, bounds = kernel.theta, kernel.bounds
            thetas, weights = around(lambda theta, slopes=True: self._evidence_at(theta, slopes), best, bounds)
            kept = weights > 1e-4
            thetas, weights = thetas[kept], weights[kept] / weights[kept].sum()
        means, variances = zip(
            *(self._posterior_at(theta).mean_and_variance(X, self._prior(theta, X)) for theta in thetas)
        )
        mean = np.array(means) * self._y_train_std + self._y_train_mean
        variance = np.maximum(np.array(variances), 0.0)[:, :, None] * self._y_train_std**2 + noise
        deviation = np.sqrt(np.maximum(variance, 1e-300))
        ends = (quantiles(share, weights, mean, deviation) for share in (0.5 - level / 2, 0.5 + level / 2))
        low, high = (self._squeezed(end) for end in ends)
        return low, high

    def _evidence_at(self, theta: np.ndarray, gradient: bool) -> tuple[float, np.ndarray]:
        """Log marginal likelihood of hyperparameters of the kernel and its slopes, the noise being as it was learned."""
        Y = self.y_train_.reshape(len(self.y_train_), -1)
        found = evidence(Covariance(self.kernel_, self.n_jobs), theta, self.X_train_, Y, self.noise_variance_, gradient)
        return (-np.inf, np.zeros(len(theta))) if found is None else (found.value, found.slopes)

    def _posterior_at(self, theta: np.ndarray) -> Posterior:
        """What predictions are made of at any hyperparameters."""
        if np.array_equal(theta, self.kernel_.theta):
            return self._posterior()
        Y, covariance = self.y_train_.reshape(len(self.y_train_), -1), Covariance(self.kernel_, self.n_jobs)
        found = evidence(covariance, theta, self.X_train_, Y, self.noise_variance_, False)
        assert found is not None
        return Posterior(covariance, theta, self.X_train_, found.dual, found.factor)

    def _prior(self, theta: np.ndarray, X: Any) -> np.ndarray:
        return np.array(self.kernel_.clone_with_theta(theta).diag(X), dtype=np.float64)

    def _noise_of(self, groups: Any, n_rows: int) -> Any:
        """Variances of noise beside that of a WhiteKernel, of new rows."""
        alpha = float(self.alpha) * self._y_train_std**2 if np.ndim(self.alpha) == 0 else 0.0
        if not len(self.noise_levels_):
            return alpha
        number = (
            np.searchsorted(self.noise_groups_, np.asarray(groups)) if groups is not None else np.zeros(0, dtype=int)
        )
        number = np.minimum(number, len(self.noise_groups_) - 1)
        if number.shape != (n_rows,) or (self.noise_groups_[number] != np.asarray(groups)).any():
            known = ", ".join(map(str, self.noise_groups_))
            raise ValueError(f"noise_groups must name one of the groups {known} for each of the {n_rows} rows of X.")
        return alpha + self.noise_levels_[number][:, None]

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


def check_refused(estimator: Any, refused: dict, remedy: str) -> None:
    """Raise where `fit` was given what it does not take."""
    for name in refused:
        told = f"; {remedy}" if name == "sample_weight" else ""
        raise TypeError(f"{type(estimator).__name__}.fit() takes no {name}{told}.")


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
