"""Logistic regression: log p(y = k | x) = B_k·x + b_k − log Σ_j exp(B_j·x + b_j), with a prior on B or none."""

import numbers
import warnings
from typing import Any, Self

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning

from ..base.settings import KW_ONLY, settings
from ..checks import check_choice, check_n_jobs, check_number
from ..declared import Numbers, Part
from ..engine import Fit, Orthant, climb
from ..kernels import host
from ..source import Source
from ..source.threads import few_blas_threads
from .classifier import LinearClassifier, class_factors
from .logistic_model import LogisticModel, LogisticParams, ascending, class_codes, coordinates, squares
from .solvers import check_solver, method_of, takes_curvature

__all__ = ["LogisticRegression"]

SEPARATED = (
    "the classes are separable: a combination of the columns tells some apart without an error, so that the likelihood has no "
    "maximum and coefficients grow without limit; give a finite C."
)


@settings
class LogisticRegression(LinearClassifier):
    """Logistic regression of two or several classes, by maximum likelihood or with a prior; a drop-in for scikit-learn's.

    The maximum does not depend on the solver. By default Newton's method is used where it is quickest, and otherwise
    limited-memory BFGS in whitened coordinates, so that columns need not be scaled for the fit to converge.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"} or None, default="deprecated"
        As in scikit-learn, where it is deprecated: say ``l1_ratio`` and ``C`` instead.
    C : float, default=1.0
        Inverse strength of the penalty ``((1 - l1_ratio) / 2 * ‖B‖² + l1_ratio * ‖B‖₁) / C``, which is minus the log prior;
        infinity is maximum likelihood.
    l1_ratio : float, default=0.0
        0 is a Gaussian prior, 1 a Laplace prior, values between mix both.
    dual : bool, default=False
        As in scikit-learn, for ``solver="liblinear"``; changes nothing here.
    tol : float, default=1e-4
        The fit has settled when no entry of the gradient, per unit of weight, is larger.
    fit_intercept : bool, default=True
        Whether there is b; it has no penalty.
    intercept_scaling : float, default=1
        With ``solver="liblinear"``, which penalises b, what b is divided by there.
    class_weight : dict or "balanced", optional
        Factors of the rows' weights, by class.
    random_state
        Ignored: no solver draws anything.
    solver : str, default="auto"
        "auto", "newton", "bfgs", "cg" (conjugate gradients), "gradient" (gradient ascent), or a name of scikit-learn: "lbfgs";
        "newton-cg" and "newton-cholesky" are "newton", "sag", "saga" and "liblinear" are "auto".
    max_iter : int, default=100
        Most steps.
    verbose : int, default=0
        Ignored; ``fit_.trace`` tells the objective after every step.
    warm_start : bool, default=False
        Whether a fit begins where the last one ended.
    n_jobs : int, optional
        Threads; default all cores. Results do not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        B; of two classes, the second's minus the first's.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    n_iter_ : ndarray of shape (1,)
        Steps.
    has_maximum_ : bool
        False where the likelihood has none because classes are separable and nothing is penalised.
    fit_ : Fit
        The objective after every step and why the fit stopped.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Cox (1958), The regression analysis of binary sequences.
    Albert and Anderson (1984), On the existence of maximum likelihood estimates in logistic regression models.
    Andrew and Gao (2007), Scalable training of L1-regularized log-linear models.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tacit.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression().fit(X, y)
    >>> model.predict_proba(X[:1]).round(2), round(model.score(X, y), 2)
    (array([[0.98, 0.02, 0.  ]]), 0.97)
    """

    penalty: str | None = "deprecated"
    _: KW_ONLY
    C: float = 1.0
    l1_ratio: float | None = 0.0
    dual: bool = False
    tol: float = 1e-4
    fit_intercept: bool = True
    intercept_scaling: float = 1
    class_weight: Any = None
    random_state: Any = None
    solver: str = "auto"
    max_iter: int = 100
    verbose: int = 0
    warm_start: bool = False
    n_jobs: int | None = None

    _saved = LinearClassifier._saved | {
        "n_iter_": Numbers("1", low=0, kind="i"),
        "has_maximum_": Numbers(kind="b"),
        "fit_": Part(Fit),
    }

    # Settings

    def _check_settings(self) -> None:
        check_choice("penalty", self.penalty, ("l1", "l2", "elasticnet", "deprecated", None))
        check_number("C", self.C, numbers.Real, 0)
        if not self.C > 0:
            raise ValueError(f"C={self.C!r} is not above 0; a small C is a strong prior, and infinity none.")
        check_number("l1_ratio", self.l1_ratio, numbers.Real, 0, 1, also=(None,))
        check_number("tol", self.tol, numbers.Real, 0)
        check_number("max_iter", self.max_iter, numbers.Integral, 0)
        check_number("intercept_scaling", self.intercept_scaling, numbers.Real, np.finfo(float).tiny)
        check_n_jobs(self.n_jobs)
        if self._kind() == "elasticnet" and self.l1_ratio is None:
            raise ValueError("l1_ratio must be specified when penalty is elasticnet.")
        check_solver(self.solver, self._kind(), self.dual)

    def _kind(self) -> str | None:
        """The penalty by its old name, None where there is none."""
        if self.penalty != "deprecated":
            return self.penalty
        if np.isinf(self.C):
            return None
        return "l2" if not self.l1_ratio else "l1" if self.l1_ratio == 1 else "elasticnet"

    def _warn_of_settings(self) -> None:
        """What scikit-learn warns of."""
        kind = self._kind()
        if self.penalty != "deprecated":
            warnings.warn(
                "'penalty' was deprecated in scikit-learn 1.8: leave it out and say l1_ratio=0 for 'l2', l1_ratio=1 for 'l1', "
                "l1_ratio between for 'elasticnet' and C=np.inf for None.", FutureWarning, stacklevel=3,
            )  # fmt: skip
        elif self.l1_ratio is None:
            warnings.warn("'l1_ratio=None' was deprecated in scikit-learn 1.8; use 0.", FutureWarning, stacklevel=3)
        if kind in ("l1", "l2") and self.l1_ratio is not None and 0 < self.l1_ratio < 1:
            warnings.warn(
                f"l1_ratio parameter is only used when penalty is 'elasticnet'. Got (penalty={kind})", stacklevel=3
            )
        if self.penalty in ("l1", "l2") and self.l1_ratio != {"l1": 1, "l2": 0}[self.penalty]:
            warnings.warn(
                f"Inconsistent values: penalty={self.penalty} with l1_ratio={self.l1_ratio}. Say l1_ratio only.",
                stacklevel=3,
            )
        if self.penalty is None and self.C != 1.0:
            warnings.warn("Setting penalty=None will ignore the C and l1_ratio parameters", stacklevel=3)

    def _prior(self) -> tuple[np.ndarray, np.ndarray]:
        """α and c of `LogisticModel`."""
        kind, d = self._kind(), self.n_features_in_
        share = {"l1": 1.0, "elasticnet": self.l1_ratio or 0.0}.get(str(kind), 0.0)
        strength = 0.0 if kind is None else 1.0 / self.C
        ridge, lasso = (np.append(np.full(d, strength * part), 0.0) for part in (1.0 - share, share))
        if self.solver == "liblinear":  # the intercept is the coefficient of a column of this constant
            ridge[-1], lasso[-1] = ridge[0] / self.intercept_scaling**2, lasso[0] / self.intercept_scaling
        return ridge, lasso

    # Learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the coefficients.

        Parameters
        ----------
        X : array-like, sparse matrix, path, Arrow or Dask data, tensor or source, (n_samples, n_features)
        y : array-like of shape (n_samples,), or str
            Classes; of a file the name of a column that holds 0, 1, …
        sample_weight : array-like of shape (n_samples,), optional
        """
        self._check_settings()
        self._warn_of_settings()
        previous = getattr(self, "classes_", None)
        source, self.classes_ = self._open_classes(X, y, sample_weight)
        self._check_classes()
        if self.solver == "liblinear" and len(self.classes_) > 2:
            raise ValueError(
                "The 'liblinear' solver does not support multiclass classification; use solver='auto', which learns all "
                "classes jointly."
            )
        with few_blas_threads(source.n_rows * source.n_features):
            model = self._learner(source)
            self.fit_ = self._climbed(model, source, self._start(model, previous))
        self._publish(self.fit_.params, source.dtype)
        self._tell(model, source)
        return self

    def _climbed(self, model: LogisticModel, source: Source, start: LogisticParams) -> Any:
        """The fit from a start."""
        method = self._method(model) if self.max_iter else Orthant()  # which takes no step at all
        self.fit_ = climb(model, source, start, method=method, max_iter=self.max_iter, tol=self._tolerance(model))
        if self._curved and self.fit_.reason.code == "no_better" and not model.lasso.any():
            return self._by_gradients(model, source)
        return self.fit_

    def _by_gradients(self, model: LogisticModel, source: Source) -> Any:
        """The better of Newton's fit and one in whitened coordinates, which keep digits where columns are far from 0."""
        self._curved = False
        ridge = self._prior()[0]
        model.frame = coordinates(source, ridge, model.class_weight, self.fit_intercept, model.n_scores, whole=True)
        method, tol = self._method(model), self._tolerance(model)
        again = climb(model, source, model.start, method=method, max_iter=self.max_iter, tol=tol)
        first, then = self.fit_.trace.objectives[-1], again.trace.objectives[-1]
        # Objectives that differ by rounding alone tell nothing; Newton's steps end nearer to the maximum.
        return again if then - first > 1e-12 * abs(first) else self.fit_

    def _model(self) -> LogisticModel:
        """The model that the settings describe."""
        return LogisticModel(self._n_scores(), *self._prior(), self.fit_intercept, np.ones(len(self.classes_)))

    def _learner(self, source: Source) -> LogisticModel:
        """The model as these rows are best learned by it."""
        ridge, lasso = self._prior()
        n_scores, n_terms = self._n_scores(), self.n_features_in_ + bool(self.fit_intercept)
        totals = source.sum(lambda block: np.bincount(
            host(class_codes(block)), host(block.weight), minlength=len(self.classes_)
        ))  # fmt: skip
        factors = class_factors(self.class_weight, self.classes_, totals)
        self._weight = float(totals @ factors)
        if not self._weight > 0:
            raise ValueError("class_weight and sample_weight leave no row any weight; at least one class must count.")
        self._curved = takes_curvature(self.solver, source.n_rows, n_terms, n_scores, bool(lasso.any()))
        more: dict[str, Any] = {}
        if self._curved:
            more["hold"] = squares(source, factors) if n_scores > 1 else None
        else:
            more["frame"] = coordinates(source, ridge, factors, self.fit_intercept, n_scores, whole=not lasso.any())
        return LogisticModel(n_scores, ridge, lasso, self.fit_intercept, factors, **more)

    def _method(self, model: LogisticModel) -> Any:
        return method_of(self.solver, model, self._weight, self.tol, self._curved)

    def _tolerance(self, model: LogisticModel) -> float:
        """What no entry of the gradient in the engine's coordinates may exceed, so that none in B exceeds `tol`."""
        if model.frame is None or model.frame.ndim == 1:
            return self.tol / (1.0 if model.frame is None else max(1.0, float(model.frame.max(initial=0.0))))
        return self.tol / max(1.0, float(np.abs(model.frame).sum(axis=0).max(initial=0.0)))

    def _start(self, model: LogisticModel, previous: Any) -> LogisticParams:
        """Coefficients to begin with."""
        if not (self.warm_start and hasattr(self, "coef_") and np.array_equal(previous, self.classes_)):
            return model.start
        coef = self.densify().coef_
        if coef.shape != model.start.slope.shape:
            return model.start
        offset = self.intercept_ if self.fit_intercept else np.zeros(model.n_scores)
        return LogisticParams(coef.astype(np.float64), np.asarray(offset, dtype=np.float64))

    def _publish(self, params: LogisticParams, dtype: np.dtype) -> None:
        kind = np.float64 if self.solver == "liblinear" else dtype
        self.coef_, self.intercept_ = params.slope.astype(kind), params.offset.astype(kind)
        self.n_iter_ = np.array([len(self.fit_.trace.objectives) - 1], dtype=np.int32)

    def _tell(self, model: LogisticModel, source: Source) -> None:
        """Warn where the fit has no maximum or did not come to it."""
        self.has_maximum_ = bool(model.ridge[:-1].any() or model.lasso[:-1].any()) or not self._ascends(model, source)
        if not self.has_maximum_:
            warnings.warn(SEPARATED, ConvergenceWarning, stacklevel=3)
        elif not self.fit_.converged:
            warnings.warn(
                f"{self.solver} failed to converge after {self.n_iter_[0]} iteration(s): {self.fit_.reason}. Increase the number "
                f"of iterations (max_iter={self.max_iter}), or scale the data.", ConvergenceWarning, stacklevel=3,
            )  # fmt: skip

    def _ascends(self, model: LogisticModel, source: Source) -> bool:
        """Whether the likelihood has no maximum."""
        n_scores, params = model.n_scores, self.fit_.params
        plain = LogisticModel(
            n_scores, model.ridge, model.lasso, model.intercept, model.class_weight,
            hold=squares(source, model.class_weight) if n_scores > 1 else None,
        )  # fmt: skip
        return ascending(plain, source, params)

    _prior_setting = "a finite C and l1_ratio=0"

    def _sampled(
        self, X: Any, y: Any = None, sample_weight: Any = None
    ) -> tuple[LogisticModel, LogisticParams, Source]:
        """The model, the fitted coefficients and the rows, for draws of the coefficients."""
        classes = self.classes_
        source, found = self._open_classes(X, y, sample_weight)
        if not np.array_equal(found, classes):
            raise ValueError(
                f"y holds the classes {found.tolist()}, but the fit saw {classes.tolist()}; give the rows of the fit."
            )
        learner = self._learner(source)
        model = LogisticModel(learner.n_scores, learner.ridge, learner.lasso, learner.intercept, learner.class_weight)
        return model, self.fit_.params, source

    # Predictions

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class for each row, in the order of ``classes_``."""
        score = self.decision_function(X)
        return softmax(score, axis=1) if score.ndim > 1 else np.column_stack([expit(-score), expit(score)])

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Log probability of each class, however small."""
        score = self.decision_function(X)
        if score.ndim > 1:
            return log_softmax(score, axis=1)
        return np.column_stack([log_expit(-score), log_expit(score)])
