"""`GaussianProcessClassifier`: p(y = c | x) = E σ(f(x)), f ~ GP(0, k_θ), by Laplace's approximation, θ by its evidence."""

from __future__ import annotations

import numbers
from itertools import combinations
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import check_is_fitted, validate_data

from ..base import RowsEstimator
from ..base.settings import KW_ONLY, settings
from ..base.supervised import Supervised, coded_classes
from ..checks import check_choice, check_n_jobs, check_number
from ..declared import OBJECTIVE, Either, Listed, Names, Numbers, Part
from ..kernels import host
from .kernels import RBF, CompoundKernel, ConstantKernel
from .laplace import Binary, BinaryMode
from .pairs import Covariance, check_square
from .predictions import check_kernel, check_refused, in_memory
from .search import best_of, check_optimizer, sampled
from .softmax import Softmax, SoftmaxMode

__all__ = ["GaussianProcessClassifier"]

FEWER = "learn from fewer rows"


@settings
class GaussianProcessClassifier(ClassifierMixin, Supervised):
    """Classification by a Gaussian process whose hyperparameters are learned.

    Works where scikit-learn's does, with the same settings, methods and attributes. Beyond it: several classes jointly, kernels
    in tiles whose slopes are passed back, two matrices of memory for two classes, and exact averages of probabilities.

    Columns of different units need a length scale each, as ``RBF(np.ones(n_features))`` has, or a StandardScaler before.
    Missing cells are refused: a kernel needs every cell. Impute them first with `tacit.impute.GaussianImputer`.

    Parameters
    ----------
    kernel : kernel of `tacit.gaussian_process.kernels`, optional
        The covariance of f; default ``1.0 * RBF(1.0)``, whose hyperparameters stay. See `GaussianProcessRegressor`.
    optimizer, n_restarts_optimizer
        As in `GaussianProcessRegressor`.
    max_iter_predict : int, default=100
        Most Newton steps to the mode of f.
    warm_start : bool, default=False
        Taken for compatibility: the mode is always sought from the last one, and is the same from anywhere.
    copy_X_train : bool, default=True
        Keep a copy of the rows rather than the rows themselves.
    random_state : int, RandomState or None
        For restarts.
    multi_class : {"one_vs_rest", "one_vs_one", "softmax"}, default="one_vs_rest"
        More than two classes: each against the rest, each against each, which gives no probabilities, or all jointly, with one
        set of hyperparameters.
    n_jobs : int, optional
        Threads of kernel values; None is all cores. Results do not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    kernel_ : kernel
        With the hyperparameters learned; a CompoundKernel of those of one-versus-rest and one-versus-one classifiers.
    modes_ : list of BinaryMode or SoftmaxMode
        The approximations, one for two classes and for all jointly.
    X_train_, y_train_ : arrays
        Rows, and the numbers of their classes.
    log_marginal_likelihood_value_ : float
        Approximate log marginal likelihood; the mean over one-versus-rest and one-versus-one classifiers.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Rasmussen and Williams (2006), Gaussian Processes for Machine Learning, chapters 3 and 5. MIT Press.
    Williams and Barber (1998), Bayesian classification with Gaussian processes. IEEE PAMI 20.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tacit.gaussian_process import GaussianProcessClassifier
    >>> from tacit.gaussian_process.kernels import RBF
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianProcessClassifier(1.0 * RBF(1.0), multi_class="softmax").fit(X, y)
    >>> model.predict_proba(X[:1]).round(2)
    array([[0.8 , 0.03, 0.16]])
    """

    kernel: Any = None
    _: KW_ONLY
    optimizer: Any = "fmin_l_bfgs_b"
    n_restarts_optimizer: int = 0
    max_iter_predict: int = 100
    warm_start: bool = False
    copy_X_train: bool = True
    random_state: Any = None
    multi_class: str = "one_vs_rest"
    n_jobs: int | None = None

    _saved = RowsEstimator._saved | {
        "classes_": Names("K", labels=True),
        "X_train_": Numbers("n d"),
        "y_train_": Numbers("n", low=0, below="K", kind="i"),
        "modes_": Listed(Either(Part(BinaryMode), Part(SoftmaxMode))),
        "log_marginal_likelihood_value_": OBJECTIVE,
    }
    _needs = ("kernel",)
    _takes_missing = False
    _missing_remedy = (
        "and a kernel needs every cell: impute them first, for example with make_pipeline(tacit.impute.GaussianImputer(), "
        "GaussianProcessClassifier())"
    )
    _min_rows = 1

    def _check_settings(self) -> None:
        if isinstance(self.kernel, CompoundKernel):
            raise ValueError(
                "kernel cannot be a CompoundKernel; give one kernel, of which all classifiers take their own copy."
            )
        check_kernel(self.kernel)
        check_optimizer(self.optimizer)
        check_number("n_restarts_optimizer", self.n_restarts_optimizer, numbers.Integral, 0)
        check_number("max_iter_predict", self.max_iter_predict, numbers.Integral, 1)
        check_choice("multi_class", self.multi_class, ("one_vs_rest", "one_vs_one", "softmax"))
        check_n_jobs(self.n_jobs)

    def _check_loaded(self) -> None:
        joint = len(self.classes_) == 2 or self.multi_class == "softmax"
        kind: Any = SoftmaxMode if joint and len(self.classes_) > 2 else BinaryMode
        if len(self.modes_) != (1 if joint else len(self._problems())) or not all(
            isinstance(m, kind) for m in self.modes_
        ):
            raise ValueError("'modes_' are not those of these classes")
        for (rows, _), mode in zip(self._problems(), self.modes_):
            if len(mode.dual) != rows.sum() or (kind is SoftmaxMode and mode.dual.shape[1] != len(self.classes_)):
                raise ValueError("'modes_' are not those of these rows")

    # Learning

    def fit(self, X: Any, y: Any, **refused: Any) -> Self:
        """Learn the hyperparameters, and the mode of f.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), table, source, or list of what the kernel takes
            Rows.
        y : array-like of shape (n_samples,)
            Classes, of which there are at least two.
        **refused
            Nothing more is taken; of `sample_weight` the error says what to do.

        Returns
        -------
        self
        """
        remedy = "repeat rows, or use RelevanceVectorClassifier or BayesianLogisticRegression, which take weights"
        check_refused(self, refused, remedy)
        self._check_settings()
        X, self.classes_, self.y_train_ = self._rows_and_classes(X, y)
        if len(self.classes_) == 1:
            raise ValueError(
                f"{type(self).__name__} requires 2 or more distinct classes; got 1 class (only class {self.classes_[0]} is "
                "present): give rows of another."
            )
        self.X_train_ = np.copy(X) if self.copy_X_train else X
        rng = check_random_state(self.random_state)
        problems = [self._problem(rows, codes) for rows, codes in self._problems()]
        check_square(len(self.y_train_), problems[0].n_matrices, FEWER)
        self.modes_ = [self._learned(problem, rng) for problem in problems]
        self.log_marginal_likelihood_value_ = np.mean([mode.value for mode in self.modes_])
        return self

    def _rows_and_classes(self, X: Any, y: Any) -> tuple[Any, np.ndarray, np.ndarray]:
        """Rows in float64, or as the kernel takes them, classes, and numbers of those of the rows."""
        if self.kernel is not None and not self.kernel.requires_vector_input:
            X = validate_data(self, X, ensure_2d=False, dtype=None)
            classes, codes = coded_classes(self, y)
            if len(X) != len(codes):
                raise ValueError(f"X has {len(X)} rows and y {len(codes)}; give one class for each row.")
            return X, classes, codes
        source, classes = self._open_classes(X, y)
        codes = np.concatenate([np.asarray(host(block.targets))[:, 0] for block in source]).astype(int)
        return in_memory(source), classes, codes

    def _problems(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Which rows every approximation is learned from, and their classes in it."""
        y, K = self.y_train_, len(self.classes_)
        every = np.ones(len(y), dtype=bool)
        if K == 2 or self.multi_class == "softmax":
            return [(every, y)]
        if self.multi_class == "one_vs_rest":
            return [(every, (y == c).astype(int)) for c in range(K)]
        return [((y == a) | (y == b), (y == b).astype(int)) for a, b in combinations(range(K), 2)]

    def _problem(self, rows: np.ndarray, codes: np.ndarray) -> Any:
        kernel = ConstantKernel(1.0, "fixed") * RBF(1.0, "fixed") if self.kernel is None else clone(self.kernel)
        X = self.X_train_ if rows.all() else self.X_train_[rows]
        kind: Any = Softmax if codes.max() > 1 else Binary
        return kind(Covariance(kernel, self.n_jobs), X, codes[rows], self.max_iter_predict)

    def _learned(self, problem: Any, rng: Any) -> Any:
        """The mode of a problem at the best hyperparameters."""
        kernel = problem.covariance.kernel

        def of(problem: Any) -> Any:
            def objective(theta: np.ndarray, eval_gradient: bool = True) -> Any:
                value, slopes = problem.evidence(theta, eval_gradient)
                return (-value, -slopes) if eval_gradient else -value

            return objective

        if self.optimizer is not None and kernel.n_dims > 0:
            some = self._sampled(problem)
            theta, value = best_of(
                of(problem), kernel.theta, kernel.bounds, self.optimizer, self.n_restarts_optimizer, rng,
                None if some is None else (of(some), len(problem.X) / len(some.X)),
            )  # fmt: skip
            if np.isfinite(value):
                kernel.theta = theta
            kernel._check_bounds_params()
        try:
            return problem.mode(kernel)
        except np.linalg.LinAlgError:
            raise np.linalg.LinAlgError(
                f"The kernel, {kernel}, is not returning a positive definite matrix; add a WhiteKernel to it."
            ) from None

    def _sampled(self, problem: Any) -> Any:
        """The problem of a sample of the rows; None where they are few, or the sample lacks a class."""
        rows = None if problem.covariance.tree is None else sampled(len(problem.X))
        if rows is None:
            return None
        codes = problem.y.argmax(axis=1) if problem.y.ndim > 1 else problem.y.astype(int)
        if len(np.unique(codes[rows])) < len(np.unique(codes)):
            return None
        return type(problem)(problem.covariance, problem.X[rows], codes[rows], self.max_iter_predict)

    # Answers

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    @property
    def kernel_(self) -> Any:
        """The kernel with the hyperparameters learned."""
        kernels = [mode.kernel for mode in self.modes_]
        return kernels[0] if len(kernels) == 1 else CompoundKernel(kernels)

    def _query(self, X: Any) -> Any:
        if self.kernel is not None and not self.kernel.requires_vector_input:
            return validate_data(self, X, ensure_2d=False, dtype=None, reset=False)
        return in_memory(self._open(X))

    def _each(self, X: Any) -> list[tuple[Any, Covariance, Any]]:
        """Every mode with its covariance and the rows that it was learned from."""
        return [
            (mode, Covariance(mode.kernel, self.n_jobs), self.X_train_ if rows.all() else self.X_train_[rows])
            for mode, (rows, _) in zip(self.modes_, self._problems())
        ]

    def predict(self, X: Any) -> np.ndarray:
        """Class of each row: the most probable one, or the one with most votes of one-versus-one classifiers."""
        check_is_fitted(self)
        if self.n_classes_ == 2 or self.multi_class != "one_vs_one":
            return self.classes_[self.predict_proba(X).argmax(axis=1)]
        X = self._query(X)
        second = np.column_stack([mode.probability(cov, X, points) for mode, cov, points in self._each(X)])
        return self.classes_[_ovr_decision_function(second > 0.5, second, self.n_classes_).argmax(axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class for each row, averaged over what f may be.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
        """
        check_is_fitted(self)
        if self.n_classes_ > 2 and self.multi_class == "one_vs_one":
            raise ValueError(
                "one_vs_one multi-class mode does not support predicting probability estimates. Use one_vs_rest or softmax "
                "mode instead."
            )
        X = self._query(X)
        if isinstance(self.modes_[0], SoftmaxMode):
            ((mode, covariance, points),) = self._each(X)
            return mode.probabilities(covariance, X, points)
        found = [mode.probability(covariance, X, points) for mode, covariance, points in self._each(X)]
        if len(found) == 1:
            return np.column_stack([1.0 - found[0], found[0]])
        each = np.column_stack(found)
        return each / each.sum(axis=1, keepdims=True)

    def latent_mean_and_variance(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of f; for several classes jointly, means (n_rows, n_classes) and covariances.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        latent_mean, latent_var : ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        if len(self.modes_) > 1:
            raise ValueError(
                "Returning the mean and variance of the latent function f is only supported for binary classification, received "
                f"{self.n_classes_} classes; set multi_class='softmax' for those of all jointly."
            )
        X = self._query(X)
        ((mode, covariance, points),) = self._each(X)
        return mode.latent(covariance, X, points)

    def log_marginal_likelihood(self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True) -> Any:
        """Approximate log marginal likelihood of hyperparameters, the mean over one-versus-rest and one-versus-one classifiers.

        Parameters
        ----------
        theta : array-like of shape (n_kernel_params,), optional
            Logarithms of hyperparameters, as ``kernel_.theta``, or of one kernel for all classifiers; default those learned.
        eval_gradient : bool
            Whether the gradient with respect to `theta` is wanted.
        clone_kernel : bool
            Whether ``kernel_`` keeps its hyperparameters.

        Returns
        -------
        value : float
        gradient : ndarray of shape (n_kernel_params,)
        """
        check_is_fitted(self)
        if theta is None:
            if eval_gradient:
                raise ValueError("Gradient can only be evaluated for theta!=None")
            return self.log_marginal_likelihood_value_
        theta, n_modes = np.asarray(theta, dtype=np.float64), len(self.modes_)
        n_theta = self.modes_[0].kernel.n_dims
        if len(theta) not in (n_theta, n_theta * n_modes):
            raise ValueError(
                f"Shape of theta must be either {n_theta} or {n_theta * n_modes}. Obtained theta with shape {len(theta)}."
            )
        parts = np.split(theta, n_modes) if len(theta) > n_theta else [theta] * n_modes
        values, slopes = [], []
        for mode, part, (rows, codes) in zip(self.modes_, parts, self._problems()):
            problem = self._problem(rows, codes)
            if not clone_kernel:
                mode.kernel.theta = part
            value, slope = problem.evidence(part, eval_gradient)
            values.append(value)
            slopes.append(slope / n_modes)
        value = np.mean(values)
        if not eval_gradient:
            return value
        return value, np.concatenate(slopes) if len(theta) > n_theta else np.sum(slopes, axis=0)
