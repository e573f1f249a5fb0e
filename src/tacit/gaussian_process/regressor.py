"""`GaussianProcessRegressor`: y = f(x) + ε, f ~ GP(0, k_θ), ε_i ~ N(0, v_i), with θ by maximal marginal likelihood.

f(x) | y ~ N(k(x, X) K⁻¹ y, k(x, x) − k(x, X) K⁻¹ k(X, x)),    K = k(X, X) + diag(v)

With inducing points, the bound of `inducing` stands for the marginal likelihood.
"""

from __future__ import annotations

import numbers
from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from ..base import RowsEstimator
from ..base.settings import KW_ONLY, settings
from ..base.supervised import Supervised
from ..checks import as_numpy, check_n_jobs, check_number
from ..declared import OBJECTIVE, SQUARES, Numbers, Part
from ..kernels import host
from ..source.threads import few_blas_threads
from .evidence import Evidence, evidence
from .inducing_fit import ByInducingPoints
from .kernels import RBF, ConstantKernel, Kernel
from .noise import RowNoise, checked_alpha
from .pairs import Covariance, check_square
from .predictions import Predictions, check_kernel, check_refused, in_memory
from .search import best_of, check_optimizer, sampled

__all__ = ["GaussianProcessRegressor"]

FEWER = "set inducing_points=500, whose memory does not grow with the rows"


@settings
class GaussianProcessRegressor(ByInducingPoints, Predictions, MultiOutputMixin, RegressorMixin, Supervised):
    """Regression by a Gaussian process whose hyperparameters are learned.

    Works where scikit-learn's does, with the same settings, methods and attributes. Beyond it: kernels are evaluated in tiles and
    their slopes passed back, so that exact fits take the memory of one matrix of all pairs; noise may differ between groups of
    rows; and inducing points stand for rows of any number, in memory, in files, on clusters or on a GPU.

    Columns of different units need a length scale each, as ``RBF(np.ones(n_features))`` has, or a StandardScaler before.
    Missing cells are refused: a kernel needs every cell. Impute them first with `tacit.impute.GaussianImputer`.

    Parameters
    ----------
    kernel : kernel of `tacit.gaussian_process.kernels`, optional
        The covariance; default ``ConstantKernel() * RBF()``. Sums, products and powers of ConstantKernel, WhiteKernel, RBF,
        Matern (ν = ½, 3/2, 5/2, ∞), RationalQuadratic, ExpSineSquared and DotProduct are computed in tiles; other kernels are
        asked for all pairs, and all slopes of them, at once.
    alpha : float or array of shape (n_samples,), default=1e-10
        Variance of the noise of rows, beside that of a WhiteKernel. In the units of `y` after `normalize_y`.
    optimizer : "fmin_l_bfgs_b", callable or None, default="fmin_l_bfgs_b"
        Called with an objective, a start and bounds; None keeps the hyperparameters.
    n_restarts_optimizer : int, default=0
        Runs beside the one from the kernel's own hyperparameters, from places drawn within their bounds.
    normalize_y : bool, default=False
        Learn targets less their mean, divided by their standard deviation.
    copy_X_train : bool, default=True
        Keep a copy of the rows rather than the rows themselves.
    n_targets : int, optional
        Targets, where draws are made before any fit.
    random_state : int, RandomState or None
        For restarts.
    inducing_points : int or array of shape (n_points, n_features), optional
        Points that stand for the rows: so many centres of clusters of them, or given ones. The kernel, default
        ``ConstantKernel() * RBF() + WhiteKernel()``, must be one that is computed in tiles, with noise. Rows are read twice for
        every value of the bound, in blocks; of many, hyperparameters are learned from a sample first.
    n_jobs : int, optional
        Threads of kernel values; None is all cores. Results do not depend on it.

    Attributes
    ----------
    kernel_ : kernel
        With the hyperparameters learned.
    X_train_, y_train_ : arrays
        Rows and, as they were learned, targets; not with inducing points.
    inducing_points_ : ndarray of shape (n_points, n_features)
        With inducing points.
    L_ : ndarray of shape (n_samples, n_samples) or (n_points, n_points)
        Lower triangular factor of the covariances of the targets, or of the inducing points' k(Z, Z).
    inner_ : ndarray of shape (n_points, n_points)
        With inducing points, the factor of I + A.
    alpha_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        K⁻¹ y, or what stands for it with the inducing points.
    noise_variance_ : ndarray of shape (n_samples,) or float
        v, beside the noise of a WhiteKernel.
    noise_groups_, noise_levels_ : ndarray of shape (n_groups,)
        Groups of rows given to `fit`, and the variance of the noise learned of each, in squared units of y; empty without.
    log_marginal_likelihood_value_ : float
        Log marginal likelihood of ``kernel_.theta``, or its bound.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Rasmussen and Williams (2006), Gaussian Processes for Machine Learning, chapters 2 and 5. MIT Press.
    Titsias (2009), Variational learning of inducing variables in sparse Gaussian processes. AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.gaussian_process import GaussianProcessRegressor
    >>> from tacit.gaussian_process.kernels import RBF, WhiteKernel
    >>> X = np.linspace(0, 6, 25)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.cos(40 * X[:, 0])
    >>> model = GaussianProcessRegressor(RBF() + WhiteKernel(0.1), normalize_y=True).fit(X, y)
    >>> model.predict([[1.5]]).round(1)
    array([1.])
    """

    kernel: Any = None
    _: KW_ONLY
    alpha: Any = 1e-10
    optimizer: Any = "fmin_l_bfgs_b"
    n_restarts_optimizer: int = 0
    normalize_y: bool = False
    copy_X_train: bool = True
    n_targets: int | None = None
    random_state: Any = None
    inducing_points: Any = None
    n_jobs: int | None = None

    _saved = RowsEstimator._saved | {
        "kernel_": Part(Kernel),
        "X_train_": Numbers("n d", needed=lambda self: self.inducing_points is None),
        "y_train_": Numbers("n|n t", high=SQUARES, needed=lambda self: self.inducing_points is None),
        "inducing_points_": Numbers("n d", needed=lambda self: self.inducing_points is not None),
        "inner_": Numbers("n n", high=SQUARES, needed=lambda self: self.inducing_points is not None),
        "L_": Numbers("n n", high=SQUARES),
        "alpha_": Numbers("n|n t", high=SQUARES),
        "noise_variance_": Numbers("|n", low=0, high=SQUARES),
        "noise_groups_": Numbers("g", beside=(np.inf,)),
        "noise_levels_": Numbers("g", low=0, high=SQUARES),
        "log_marginal_likelihood_value_": OBJECTIVE,
        "_y_train_mean": Numbers("t"),
        "_y_train_std": Numbers("t", above=0),
    }
    _needs = ("kernel",)
    _takes_missing = False
    _missing_remedy = (
        "and a kernel needs every cell: impute them first, for example with make_pipeline(tacit.impute.GaussianImputer(), "
        "GaussianProcessRegressor())"
    )
    _min_rows = 1

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags

    def _check_settings(self) -> None:
        check_kernel(self.kernel)
        check_optimizer(self.optimizer)
        check_number("n_restarts_optimizer", self.n_restarts_optimizer, numbers.Integral, 0)
        if self.n_targets is not None:
            check_number("n_targets", self.n_targets, numbers.Integral, 1)
        if isinstance(self.inducing_points, (numbers.Integral, float, str, bool)):
            check_number("inducing_points", self.inducing_points, numbers.Integral, 1)
        check_n_jobs(self.n_jobs)

    def fit(self, X: Any, y: Any, noise_groups: Any = None, **refused: Any) -> Self:
        """Learn the hyperparameters, and keep what predictions need.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), table, path, source, or list of what the kernel takes
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets; the names of columns where X is read from a file.
        noise_groups : array-like of shape (n_samples,), optional
            The group of each row, by any name; a variance of noise is learned of each, beside `alpha` and that of a WhiteKernel.
        **refused
            Nothing more is taken; of `sample_weight` the error says what to do.

        Returns
        -------
        self
        """
        check_refused(self, refused, "a weighty row has little noise: set alpha=variance / sample_weight")
        self._check_settings()
        for name in ("X_train_", "y_train_", "inducing_points_", "inner_"):  # some are of one route alone
            self.__dict__.pop(name, None)
        if self.inducing_points is not None:
            if noise_groups is not None:
                raise ValueError(
                    "inducing points take no noise_groups; leave inducing_points=None for noise of groups."
                )
            return self._fit_inducing(X, y)
        self.kernel_ = ConstantKernel() * RBF() if self.kernel is None else clone(self.kernel)
        X, Y = self._rows_and_targets(X, y)
        Y = self._normalised(Y)
        self.X_train_ = np.copy(X) if self.copy_X_train else X
        self.y_train_ = self._columns_like_targets(Y)
        noise = self._row_noise(Y, noise_groups)
        covariance = Covariance(self.kernel_, self.n_jobs)
        n_theta = self.kernel_.n_dims
        check_square(len(Y), 1 if covariance.tree is not None else n_theta + 3, FEWER)
        start = np.concatenate([self.kernel_.theta, noise.theta])
        with few_blas_threads(len(Y) ** 2):
            if self.optimizer is not None and len(start):
                start, noise = self._search(covariance, Y, noise, start)
            self._keep(evidence(covariance, start[:n_theta], self.X_train_, Y, noise.variance, gradient=False), noise)
        return self

    def _search(
        self, covariance: Covariance, Y: np.ndarray, noise: RowNoise, start: np.ndarray
    ) -> tuple[np.ndarray, RowNoise]:
        """The hyperparameters of the kernel, and of the noise, that are best."""
        n_theta, X = self.kernel_.n_dims, self.X_train_

        def of(X: Any, Y: np.ndarray, noise: RowNoise) -> Any:
            def objective(theta: np.ndarray, eval_gradient: bool = True) -> Any:
                found = self._evidence(covariance, theta, X, Y, noise, eval_gradient)
                return (-found[0], -found[1]) if eval_gradient else -found[0]

            return objective

        some = None if covariance.tree is None else sampled(len(Y))
        sample = None if some is None else (of(X[some], Y[some], noise.taken(some)), len(Y) / len(some))
        bounds = np.vstack([self.kernel_.bounds.reshape(-1, 2), noise.bounds])
        best, value = best_of(
            of(X, Y, noise), start, bounds, self.optimizer, self.n_restarts_optimizer,
            check_random_state(self.random_state), sample,
        )  # fmt: skip
        if not np.isfinite(value):
            best = start
        self.kernel_.theta = best[:n_theta]
        self.kernel_._check_bounds_params()
        return best, noise.at(best[n_theta:])

    def _evidence(
        self, covariance: Covariance, theta: np.ndarray, X: Any, Y: np.ndarray, noise: RowNoise, gradient: bool
    ) -> tuple[float, np.ndarray]:
        """Log marginal likelihood of hyperparameters of kernel and noise, −∞ where there is none, and its gradient."""
        n_theta = self.kernel_.n_dims
        noise = noise.at(theta[n_theta:])
        found = evidence(covariance, theta[:n_theta], X, Y, noise.variance, gradient)
        if found is None:
            return -np.inf, np.zeros(len(theta))
        return found.value, np.concatenate([found.slopes, noise.pull(found.noise_slopes)]) if gradient else found.slopes

    def _keep(self, found: Evidence | None, noise: RowNoise) -> None:
        """Publish what predictions need."""
        if found is None:
            raise np.linalg.LinAlgError(
                f"The kernel, {self.kernel_}, is not returning a positive definite matrix. Try gradually increasing the 'alpha' "
                f"parameter of your {type(self).__name__} estimator."
            )
        for j in range(1, len(found.factor)):
            found.factor[:j, j] = 0.0
        self.L_, self.alpha_ = found.factor, self._columns_like_targets(found.dual)
        self.noise_variance_ = noise.variance
        self.noise_levels_ = noise.scale * float(np.mean(self._y_train_std)) ** 2
        self.log_marginal_likelihood_value_ = found.value

    # Rows, targets and noise

    def _rows_and_targets(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """Rows in float64, or as the kernel takes them, and targets, a column each."""
        if self.kernel_.requires_vector_input:
            source = self._open_targets(X, y)
            rows, Y = in_memory(source), np.vstack([host(block.targets) for block in source])
        else:
            rows, Y = validate_data(self, X, ensure_2d=False, dtype=None), self._checked_targets(y)
            if len(rows) != len(Y):
                raise ValueError(f"X has {len(rows)} rows and y {len(Y)}; give one target for each row.")
        if self.n_targets is not None and Y.shape[1] != self.n_targets:
            raise ValueError(
                "The number of targets seen in `y` is different from the parameter `n_targets`. "
                f"Got {Y.shape[1]} != {self.n_targets}."
            )
        return rows, Y.astype(np.float64, copy=False)

    def _normalised(self, Y: np.ndarray) -> np.ndarray:
        """Targets as they are learned."""
        self._y_train_mean, self._y_train_std = np.zeros(Y.shape[1]), np.ones(Y.shape[1])
        if self.normalize_y:
            self._y_train_mean, deviation = Y.mean(axis=0), Y.std(axis=0)
            flat = deviation <= 10 * np.finfo(float).eps * np.abs(Y).max(axis=0, initial=0.0)
            self._y_train_std = np.where(flat, 1.0, deviation)
        return (Y - self._y_train_mean) / self._y_train_std

    def _row_noise(self, Y: np.ndarray, groups: Any) -> RowNoise:
        """Noise variances of rows as they are before anything was learned."""
        alpha, spread = checked_alpha(self.alpha, len(Y)), float(Y.var()) or 1.0
        self.noise_groups_ = np.zeros(0)
        if groups is None:
            return RowNoise(alpha, np.zeros(0, dtype=int), np.zeros(0), spread=spread)
        groups = np.asarray(as_numpy(groups))
        if groups.shape != (len(Y),):
            raise ValueError(
                f"noise_groups has shape {groups.shape}, but X has {len(Y)} rows; name the group of each row."
            )
        self.noise_groups_, number = np.unique(groups, return_inverse=True)
        return RowNoise(alpha, number, np.full(len(self.noise_groups_), 0.1 * spread), spread=spread)

    def log_marginal_likelihood(self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True) -> Any:
        """Log marginal likelihood of hyperparameters.

        Parameters
        ----------
        theta : array-like of shape (n_kernel_params,), optional
            Logarithms of hyperparameters, as ``kernel_.theta``; default those learned. The noise stays as it was learned.
        eval_gradient : bool
            Whether the gradient with respect to `theta` is wanted.
        clone_kernel : bool
            Whether ``kernel_`` keeps its hyperparameters.

        Returns
        -------
        value : float
        gradient : ndarray of shape (n_kernel_params,)
        """
        if theta is None:
            if eval_gradient:
                raise ValueError("Gradient can only be evaluated for theta!=None")
            return self.log_marginal_likelihood_value_
        if hasattr(self, "inducing_points_"):
            raise ValueError("with inducing points, rows are not kept; give them to evidence_bound(X, y, theta).")
        theta = np.asarray(theta, dtype=np.float64)
        if not clone_kernel:
            self.kernel_.theta = theta
        value, slopes = self._evidence_at(theta, eval_gradient)
        return (value, slopes) if eval_gradient else value
