"""`ExpertsEstimator`: what mixtures of experts share, whatever their experts say."""

import numbers
import warnings
from functools import partial

import numpy as np
from scipy.special import softmax
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ..base import DensityEstimator
from ..base.settings import KW_ONLY, LoopSettings, settings
from ..checks import check_choice, check_number, check_weight
from ..declared import Numbers
from ..engine import short_runs
from ..source import is_streamed
from .experts_model import ExpertsModel, ExpertsParams, Frame
from .gate import GATES

__all__ = ["ExpertsEstimator"]


@settings
class ExpertsEstimator(LoopSettings, DensityEstimator):
    """Base of mixtures of experts.

    A subclass defines ``_experts()``, ``_targets(y, reset)`` (y as columns of numbers), ``_publish_experts(params)`` and
    ``_expert_params()``.
    """

    n_components: int = 2
    _: KW_ONLY
    gate: str = "softmax"
    alpha: float = 1e-4
    tol: float = 1e-6
    max_iter: int = 500
    n_init: int = 1
    warm_start: bool = False

    _saved = DensityEstimator._saved | {
        "gate_coef_": Numbers("K d"),
        "gate_intercept_": Numbers("K"),
        "weights_": Numbers("K", low=0, high=1),
    }

    def _sizes(self):
        return super()._sizes() | {"K": self.n_components}

    _takes_missing = False

    def _check_settings(self):
        super()._check_settings()
        check_number("alpha", self.alpha, numbers.Real, 0)
        check_choice("gate", self.gate, GATES)

    def _model(self):
        return self._model_for(None)

    def _model_for(self, known):
        return ExpertsModel(GATES[self.gate](self.alpha), self._experts(), self.n_components, known)

    # Rows

    def _validate(self, X, *, reset):
        if is_streamed(X):
            raise ValueError(
                f"X is a {type(X).__name__}, read in a stream; {type(self).__name__} takes rows in memory."
            )
        X = validate_data(
            self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=2 if reset else 1
        )
        if np.isnan(X).any():
            j = int(np.isnan(X).any(axis=0).argmax())
            name = f" ({self.feature_names_in_[j]!r})" if hasattr(self, "feature_names_in_") else ""
            raise ValueError(
                f"X contains NaN in column {j}{name}, and {type(self).__name__} takes no missing cells; fill them first, "
                "for example with tacit.impute.GaussianImputer in a pipeline."
            )
        return X

    def _with_targets(self, X, y, weight=None, *, reset=False):
        """The source of rows and targets."""
        X, Y = self._validate(X, reset=reset), self._targets(y, reset=reset)
        if len(X) != len(Y):
            raise ValueError(f"X has {len(X)} rows and y has {len(Y)}; give one target per row.")
        return self._in_memory(X, weight, targets=Y)

    # Learning

    def fit(self, X, y, sample_weight=None):
        """Learn the gate and the experts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights: weight 2 counts as the row given twice.

        Returns
        -------
        self
        """
        self._check_settings()
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        source = self._with_targets(X, y, sample_weight, reset=True)
        if source.n_rows < self.n_components:
            raise ValueError(
                f"n_components={self.n_components} exceeds the {source.n_rows} rows of X; use at most {source.n_rows}."
            )
        task = self._learn(source)
        self._online = None
        total = source.sum(lambda block: block.weight @ self._gate_of(block.X))
        self.weights_ = total / total.sum()
        self._review(task.known)
        return self

    def _prepare(self, source):
        return Frame.of(source, classes=self._experts().n_classes > 0)

    def _review(self, frame):
        """Say what the user should know of the fit."""
        idle = np.flatnonzero(self.weights_ < 1e-6)
        if idle.size:
            warnings.warn(
                f"expert {idle[0]} answers for no row; {self.n_components} experts are more than the rows tell apart, "
                f"use n_components={self.n_components - idle.size}.",
                UserWarning,
                stacklevel=3,
            )

    def _start(self, model, task):
        # A gate takes about twice the steps of constant weights to show what a start is worth.
        return short_runs(model, task.sample, partial(model.init, task.sample, task.rng), n_steps=20)

    def _resume(self, model):
        """Parameters of the last fit, in the frame of the present rows."""
        return model.frame.inward(self._params())

    def _publish(self, params, dtype):
        params = params.frame.outward(params)
        self.gate_intercept_, self.gate_coef_ = params.gate[:, 0], params.gate[:, 1:]
        self._publish_experts(params.experts)

    def _params(self):
        gate = np.column_stack([self.gate_intercept_, self.gate_coef_])
        return ExpertsParams(gate, self._expert_params(), Frame.identity(gate.shape[1] - 1, self._n_targets))

    # Prediction

    def _gate_of(self, X):
        return softmax(self.gate_intercept_ + X @ self.gate_coef_.T, axis=1)

    def predict_gate(self, X):
        """Probability of each expert given the features alone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        return self._gate_of(self._validate(X, reset=False))

    def _posterior(self, X, y):
        check_is_fitted(self)
        source = self._with_targets(X, y)
        model, params = self._model(), self._params()
        parts = list(source.map(lambda block: model.posterior(params, block)))
        return tuple(np.concatenate(part) for part in zip(*parts))

    def responsibilities(self, X, y):
        """Probability of each expert given features and target.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        return self._posterior(X, y)[0]

    def log_density(self, X, y):
        """Log density (of classes: log probability) of each target given its features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._posterior(X, y)[1]

    def density(self, X, y):
        """Density (of classes: probability) of each target given its features."""
        return np.exp(self.log_density(X, y))

    @property
    def score_samples(self):
        """Not for models of y given x; see `log_density`."""
        # scikit-learn calls score_samples with X alone wherever there is one.
        raise AttributeError(f"{type(self).__name__} has no score_samples: use log_density(X, y), or score(X, y).")

    def _pick(self, X, random_state):
        """Features, a generator, and an expert drawn from the gate for every row."""
        gate = self.predict_gate(X)
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        below = np.cumsum(gate, axis=1) < rng.random((len(gate), 1))
        return np.minimum(below.sum(axis=1), gate.shape[1] - 1), rng

    # Criteria

    def _criterion(self, X, y, sample_weight):  # type: ignore[override]
        """−2 log-likelihood, total weight and number of free parameters."""
        values = self.log_density(X, y)
        weight = check_weight(sample_weight, len(values))
        weight = np.ones(len(values)) if weight is None else weight
        return -2.0 * float(weight @ values), float(weight.sum()), self._n_parameters()

    def bic(self, X, y, sample_weight=None):  # type: ignore[override]
        """Bayesian information criterion, lower is better."""
        deviance, n, p = self._criterion(X, y, sample_weight)
        return deviance + p * np.log(n)

    def aic(self, X, y, sample_weight=None):  # type: ignore[override]
        """Akaike information criterion, lower is better."""
        deviance, _, p = self._criterion(X, y, sample_weight)
        return deviance + 2 * p
