"""`ByInducingPoints`: how Gaussian process regression is learned by the bound of inducing points."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..base.supervised import Supervised
from ..kernels import host
from ..source import Source
from .covariance import expression
from .inducing import Inducing, choose_points
from .kernels import RBF, ConstantKernel, WhiteKernel
from .noise import checked_alpha
from .search import best_of

__all__ = ["ByInducingPoints"]

SAMPLE = 20
"""Rows for every inducing point beyond which hyperparameters are learned from half as many of them first."""


class ByInducingPoints(Supervised):
    """The route of inducing points, whose rows are those of any source."""

    kernel: Any
    alpha: Any
    optimizer: Any
    n_restarts_optimizer: int
    normalize_y: bool
    inducing_points: Any

    def _fit_inducing(self, X: Any, y: Any) -> Self:
        """Learn the hyperparameters, and keep what predictions need."""
        noisy = ConstantKernel() * RBF() + WhiteKernel()
        self.kernel_ = noisy if self.kernel is None else clone(self.kernel)
        if expression(self.kernel_) is None or np.ndim(self.alpha):
            told = "an alpha of each row" if np.ndim(self.alpha) else f"the kernel {self.kernel_}"
            raise ValueError(
                f"inducing points take kernels that are computed in tiles, and one alpha; leave inducing_points=None for {told}."
            )
        source = self._open_targets(X, y)
        self._normalise_source(source)
        learner = self._learner(choose_points(source, self.inducing_points, self.random_state), source)
        n_points = len(learner.points)
        if self.optimizer is not None and self.kernel_.n_dims > 0:
            if source.n_rows > SAMPLE * n_points and self.optimizer == "fmin_l_bfgs_b":
                self._climb(learner.of_sample(SAMPLE * n_points // 2, self._rng()))
            self._climb(learner)
            self.kernel_._check_bounds_params()
        found = learner.bound(self.kernel_.theta)
        if found is None:
            raise np.linalg.LinAlgError(
                f"The kernel, {self.kernel_}, is not positive definite at the inducing points; give fewer of them."
            )
        self.inducing_points_, self.L_, self.inner_ = learner.points, found.factor, found.inner
        self.alpha_ = self._columns_like_targets(found.dual)
        self.noise_variance_, self.noise_groups_, self.noise_levels_ = learner.alpha, np.zeros(0), np.zeros(0)
        self.log_marginal_likelihood_value_ = found.value
        return self

    def _learner(self, points: np.ndarray, source: Source) -> Inducing:
        """The bound of rows of a source."""
        tree, alpha = expression(self.kernel_), float(checked_alpha(self.alpha, 1))
        assert tree is not None
        return Inducing(tree, points, source, alpha, self._y_train_mean, self._y_train_std)

    def _climb(self, learner: Inducing) -> None:
        """Set the hyperparameters to the best of a bound."""

        def objective(theta: np.ndarray, eval_gradient: bool = True) -> Any:
            value, slopes = learner.evidence(theta, eval_gradient)
            return (-value, -slopes) if eval_gradient else -value

        kernel, rng = self.kernel_, check_random_state(self.random_state)
        best, value = best_of(objective, kernel.theta, kernel.bounds, self.optimizer, self.n_restarts_optimizer, rng)
        if np.isfinite(value):
            kernel.theta = best

    def _normalise_source(self, source: Source) -> None:
        """Note what targets of a source are less and divided by."""
        self._y_train_mean, self._y_train_std = np.zeros(source.n_targets), np.ones(source.n_targets)
        if self.normalize_y:
            mean = source.sum(lambda block: np.asarray(host(block.targets)).sum(axis=0)) / source.n_rows
            square = source.sum(lambda block: ((np.asarray(host(block.targets)) - mean) ** 2).sum(axis=0))
            deviation = np.sqrt(square / source.n_rows)
            flat = deviation <= 10 * np.finfo(float).eps * np.abs(mean)
            self._y_train_mean, self._y_train_std = mean, np.where(flat, 1.0, deviation)

    def evidence_bound(self, X: Any, y: Any, theta: Any = None, eval_gradient: bool = False) -> Any:
        """The bound of the log marginal likelihood of rows by the inducing points, and its gradient.

        Parameters
        ----------
        X, y
            Rows and targets, as in `fit`.
        theta : array-like of shape (n_kernel_params,), optional
            Logarithms of hyperparameters; default those learned.
        eval_gradient : bool
            Whether the gradient with respect to `theta` is wanted.

        Returns
        -------
        value : float
        gradient : ndarray of shape (n_kernel_params,)
        """
        check_is_fitted(self, "inducing_points_")
        learner = self._learner(self.inducing_points_, self._open_targets(X, y, reset=False))
        theta = self.kernel_.theta if theta is None else np.asarray(theta, dtype=np.float64)
        value, slopes = learner.evidence(theta, eval_gradient)
        return (value, slopes) if eval_gradient else value
