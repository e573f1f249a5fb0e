"""`EMEstimator`: the scikit-learn face of every model that the engine learns, written once."""

import numbers
import warnings
from functools import partial

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .engine import Fit, ProgressLines, Trace, fit_best, objective, short_runs
from .engine.restarts import SAMPLE_ROWS
from .source import ArraySource

__all__ = ["EMEstimator", "LatentClassEstimator", "check_choice", "check_number", "check_weight"]

NOT_CONVERGED = (
    "Best performing initialization did not converge. Try different init parameters, or increase max_iter, tol, or check "
    "for degenerate data."
)


def check_number(name, value, kind, least):
    """Raise where a setting is not a number of that kind, or too small."""
    if not isinstance(value, kind) or isinstance(value, bool) or not value >= least:
        noun = "a whole number" if kind is numbers.Integral else "a number"
        raise ValueError(f"{name}={value!r} is not {noun} of at least {least}.")


def check_choice(name, value, choices):
    """Raise where a setting is not one of the choices."""
    if value not in choices:
        raise ValueError(f"{name}={value!r} is unknown; use one of {', '.join(map(repr, choices))}.")


def check_weight(sample_weight, n_rows):
    """Row weights as float64, or None; they must be finite, not negative, and not all zero."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {weight.shape}, but X has {n_rows} rows; give one weight per row.")
    bad = weight[~np.isfinite(weight) | (weight < 0)]
    if bad.size:
        raise ValueError(f"sample_weight holds {bad[0]:g}; weights must be finite and not negative.")
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least one row must count.")
    return weight


class EMEstimator(DensityMixin, BaseEstimator):
    """Base of estimators whose model the engine learns.

    A subclass defines ``_model()`` (the model its settings describe), ``_publish(params, dtype)`` (set fitted attributes) and
    ``_params()`` (make parameters from fitted attributes), and may override ``_start``.
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _validate(self, X, *, reset):
        return validate_data(
            self, X, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan",
            ensure_min_samples=2 if reset else 1,
        )  # fmt: skip

    def _check_settings(self):
        check_number("tol", self.tol, numbers.Real, 0)
        check_number("max_iter", self.max_iter, numbers.Integral, 0)
        check_number("n_init", self.n_init, numbers.Integral, 1)
        check_number("verbose_interval", self.verbose_interval, numbers.Integral, 1)

    def _check_columns(self, X):
        maybe = np.flatnonzero(np.isnan(X[0]))
        empty = maybe[np.isnan(X[:, maybe]).all(axis=0)]
        if len(empty):
            j = empty[0]
            name = f" ({self.feature_names_in_[j]!r})" if hasattr(self, "feature_names_in_") else ""
            raise ValueError(f"column {j}{name} has no observed value; drop it before fitting.")

    def _rng(self):
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31))

    def _start(self, model, sample, rng):
        """Parameters to start from; deterministic starts are not repeated."""
        return short_runs(model, sample, partial(model.init, sample, rng))

    def _n_starts(self, model):
        return 1 if getattr(model, "one_start", False) else self.n_init

    def _learn(self, X, weight=None, labels=None):
        """Fit the model to validated rows and publish what was learned."""
        source = ArraySource(X, weight, labels, n_jobs=self.n_jobs)
        model = self._model()
        if self.warm_start and hasattr(self, "fit_"):
            params, previous = self._params(), getattr(self, "lower_bound_", None)
            starts = [lambda: params]
        else:
            rng, previous = self._rng(), None
            sample = source.sample(SAMPLE_ROWS, rng)
            starts = [partial(self._start, model, sample, rng)] * self._n_starts(model)
        callback = self.callback
        if callback is None and self.verbose:
            callback = ProgressLines(self.verbose, self.verbose_interval)
        if labels is not None and (labels >= 0).all() and not np.isnan(X).any():
            fit = _one_pass(model, source, starts[0]())
        else:
            fit = fit_best(
                model, source, starts, max_iter=self.max_iter, tol=self.tol, criterion=self.convergence,
                previous=previous, callback=callback,
            )  # fmt: skip
        self.fit_ = fit
        self.converged_ = fit.converged
        self.n_iter_ = len(fit.trace)
        self.lower_bounds_ = [value / fit.trace.weight for value in fit.trace.objectives]
        self.lower_bound_ = self.lower_bounds_[-1] if self.lower_bounds_ else -np.inf
        self._publish(fit.params, X.dtype)
        if self.max_iter > 0 and not (fit.converged or fit.interrupted):
            warnings.warn(NOT_CONVERGED, ConvergenceWarning, stacklevel=3)

    def _map(self, X, function):
        """Concatenate function(block) over validated rows."""
        return np.concatenate(list(ArraySource(X, n_jobs=self.n_jobs).map(function)))

    def score_samples(self, X):
        """Log density of the observed cells of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; NaN is missing.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        model, params = self._model(), self._params()
        return self._map(X, lambda block: model.posterior(params, block)[1]).astype(X.dtype)

    def score(self, X, y=None, sample_weight=None):
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

    def _n_parameters(self):
        return self._model().n_parameters(self._params())

    def _criterion(self, X, sample_weight):
        """−2 log-likelihood, total weight and number of free parameters."""
        values = self.score_samples(X).astype(np.float64)
        weight = check_weight(sample_weight, len(values))
        weight = np.ones(len(values)) if weight is None else weight
        return -2.0 * float(weight @ values), float(weight.sum()), self._n_parameters()

    def bic(self, X, sample_weight=None):
        """Bayesian information criterion, lower is better."""
        deviance, n, p = self._criterion(X, sample_weight)
        return deviance + p * np.log(n)

    def aic(self, X, sample_weight=None):
        """Akaike information criterion, lower is better."""
        deviance, _, p = self._criterion(X, sample_weight)
        return deviance + 2 * p


def _one_pass(model, source, start):
    """The complete-data estimate: with every class known, one M-step is the maximum."""
    params = model.m_step(source.sum(partial(model.e_step, start)), start)
    stats = source.sum(partial(model.e_step, params))
    trace = Trace()
    trace.record(objective(model, stats, params), stats.weight)
    return Fit(params, trace, "every class was known, so one pass gave the maximum", converged=True)


class LatentClassEstimator(EMEstimator):
    """Base of estimators whose hidden state is one class per row."""

    def fit(self, X, y=None, sample_weight=None):
        """Learn the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; NaN is missing.
        y : array-like of shape (n_samples,), optional
            Known classes, 0 … n_components − 1, and −1 where unknown. Targets of another task, recognised by other
            values and no −1, are ignored with a warning; so is y where there is only one component.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights: weight 2 counts as the row given twice.

        Returns
        -------
        self
        """
        self._check_settings()
        X = self._validate(X, reset=True)
        if len(X) < self.n_components:
            raise ValueError(
                f"Expected n_samples >= n_components but got n_components = {self.n_components}, "
                f"n_samples = {len(X)}; use at most {len(X)} components."
            )
        self._check_columns(X)
        self._learn(X, check_weight(sample_weight, len(X)), self._check_labels(y, len(X)))
        return self

    def _check_labels(self, y, n_rows):
        if y is None or self.n_components == 1:
            return None
        y = np.asarray(y)
        if y.shape != (n_rows,):
            raise ValueError(f"y has shape {y.shape}, but X has {n_rows} rows; give one label per row, −1 if unknown.")
        try:
            labels = y.astype(np.float64)
        except (TypeError, ValueError):
            labels = np.full(n_rows, np.nan)
        bad = y[~((labels >= -1) & (labels < self.n_components) & (labels == np.floor(labels)))]
        if bad.size:
            fault = (
                f"y holds {bad[0]!r}, which is no class; known classes are 0 to {self.n_components - 1}, "
                "and −1 stands for unknown"
            )
            if (labels == -1).any():
                raise ValueError(f"{fault}. Leave y out for an unsupervised fit.")
            # Targets of another task, as a pipeline passes them on: scikit-learn's mixtures ignore them too.
            warnings.warn(f"{fault}. y is ignored.", UserWarning, stacklevel=3)
            return None
        return None if (labels < 0).all() else labels.astype(np.int64)

    def fit_predict(self, X, y=None, sample_weight=None):
        """Learn the classes and return the most probable one of each row."""
        return self.fit(X, y, sample_weight).predict(X)

    def _posterior(self, X):
        """Validated rows and their class probabilities."""
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        model, params = self._model(), self._params()
        return X, self._map(X, lambda block: model.posterior(params, block)[0])

    def predict(self, X):
        """Most probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; NaN is missing.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        model, params = self._model(), self._params()
        return self._map(X, lambda block: model.posterior(params, block)[0].argmax(axis=1))

    def predict_proba(self, X):
        """Probability of each class for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; NaN is missing.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        X, resp = self._posterior(X)
        return resp.astype(X.dtype)

    def icl(self, X, sample_weight=None):
        """Integrated completed likelihood, lower is better: BIC, plus what it costs to name each row's class."""
        best = self._posterior(X)[1].max(axis=1)
        weight = check_weight(sample_weight, len(best))
        uncertain = -np.log(best)
        return self.bic(X, sample_weight) + 2.0 * float(uncertain.sum() if weight is None else weight @ uncertain)

    def sample(self, n_samples=1):
        """Draw rows from the fitted distribution.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
            The class each row was drawn from.
        """
        check_is_fitted(self)
        if not isinstance(n_samples, numbers.Integral) or n_samples < 1:
            raise ValueError(f"Invalid value for 'n_samples': {n_samples}. The sampling requires at least one sample.")
        return self._model().sample(self._params(), n_samples, self._rng())
