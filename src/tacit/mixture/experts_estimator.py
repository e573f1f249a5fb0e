"""`ExpertsEstimator`: what mixtures of experts share, whatever their experts say."""

import numbers
import warnings
from functools import partial
from typing import Any, NoReturn, Self

import numpy as np
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from ..base import DensityEstimator, Task
from ..base.settings import KW_ONLY, LoopSettings, settings
from ..checks import check_choice, check_number
from ..declared import Numbers
from ..engine import Model, short_runs
from ..source import Source, is_streamed
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

    _takes_missing = False
    _missing_remedy = (
        "which mixtures of experts do not take; fill them first, for example with tacit.impute.GaussianImputer in a "
        "pipeline"
    )
    _dtypes = (np.float64,)

    def _sizes(self) -> dict[str, int]:
        return super()._sizes() | {"K": self.n_components}

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("alpha", self.alpha, numbers.Real, 0)
        check_choice("gate", self.gate, GATES)

    def _model(self) -> ExpertsModel:
        return self._model_for(None)

    def _model_for(self, known: Frame | None) -> ExpertsModel:
        return ExpertsModel(GATES[self.gate](self.alpha), self._experts(), self.n_components, known)

    # Rows

    def _validate(self, X: Any, *, reset: bool) -> np.ndarray:
        if is_streamed(X):
            raise ValueError(
                f"X is a {type(X).__name__}, read in a stream; {type(self).__name__} takes rows in memory."
            )
        return super()._validate(X, reset=reset)

    def _with_targets(self, X: Any, y: Any, weight: Any = None, *, reset: bool = False) -> Source:
        """The source of rows and targets."""
        X, Y = self._validate(X, reset=reset), self._targets(y, reset=reset)
        if len(X) != len(Y):
            raise ValueError(f"X has {len(X)} rows and y has {len(Y)}; give one target per row.")
        return self._in_memory(X, weight, targets=Y)

    # Learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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

    def _prepare(self, source: Source) -> Frame:
        return Frame.of(source, classes=self._experts().n_classes > 0)

    def _review(self, frame: Frame) -> None:
        """Say what the user should know of the fit."""
        idle = np.flatnonzero(self.weights_ < 1e-6)
        if idle.size:
            warnings.warn(
                f"expert {idle[0]} is responsible for no row: the data do not support {self.n_components} experts; use "
                f"n_components={self.n_components - idle.size}.",
                UserWarning,
                stacklevel=3,
            )

    def _start(self, model: Model, task: Task) -> Any:
        # A gate takes about twice the steps of constant weights to show what a start is worth.
        return short_runs(model, task.sample, partial(model.init, task.sample, task.rng), n_steps=20, taken=task.taken)

    def _resume(self, model: Any) -> ExpertsParams:
        return model.frame.inward(self._params())

    def _publish(self, params: ExpertsParams, dtype: np.dtype) -> None:
        params = params.frame.outward(params)
        self.gate_intercept_, self.gate_coef_ = params.gate[:, 0], params.gate[:, 1:]
        self._publish_experts(params.experts)

    def _params(self) -> ExpertsParams:
        gate = np.column_stack([self.gate_intercept_, self.gate_coef_])
        return ExpertsParams(gate, self._expert_params(), Frame.identity(gate.shape[1] - 1, self._n_targets))

    # Prediction

    def _gate_of(self, X: np.ndarray) -> np.ndarray:
        return softmax(self.gate_intercept_ + X @ self.gate_coef_.T, axis=1)

    def predict_gate(self, X: Any) -> np.ndarray:
        """Probability of each expert given the features alone, (n_samples, n_components)."""
        check_is_fitted(self)
        return self._gate_of(self._validate(X, reset=False))

    def _posterior(self, X: Any, y: Any) -> list[np.ndarray]:
        check_is_fitted(self)
        model, params = self._model(), self._params()
        parts = self._with_targets(X, y).map(lambda block: model.posterior(params, block))
        return [np.concatenate(part) for part in zip(*parts)]

    def responsibilities(self, X: Any, y: Any) -> np.ndarray:
        """Probability of each expert given features and targets, (n_samples, n_components)."""
        return self._posterior(X, y)[0]

    def log_density(self, X: Any, y: Any) -> np.ndarray:
        """Log density (of classes: log probability) of the targets of each row given its features, (n_samples,)."""
        return self._posterior(X, y)[1]

    def density(self, X: Any, y: Any) -> np.ndarray:
        """Density (of classes: probability) of each target given its features."""
        return np.exp(self.log_density(X, y))

    @property
    def score_samples(self) -> NoReturn:  # type: ignore[override]
        """Not for models of y given x; see `log_density`."""
        # scikit-learn calls score_samples with X alone wherever there is one.
        raise AttributeError(f"{type(self).__name__} has no score_samples: use log_density(X, y), or score(X, y).")

    # Criteria

    def bic(self, X: Any, y: Any, sample_weight: Any = None) -> float:  # type: ignore[override]
        """Bayesian information criterion, lower is better."""
        deviance, n, p = self._criterion(self.log_density(X, y), sample_weight)
        return deviance + p * np.log(n)

    def aic(self, X: Any, y: Any, sample_weight: Any = None) -> float:  # type: ignore[override]
        """Akaike information criterion, lower is better."""
        deviance, _, p = self._criterion(self.log_density(X, y), sample_weight)
        return deviance + 2 * p
