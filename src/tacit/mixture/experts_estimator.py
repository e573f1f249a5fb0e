"""`ExpertsEstimator`: what mixtures of experts share, whatever their experts say."""

import copy
import numbers
import warnings
from functools import partial
from typing import Any, NamedTuple, NoReturn, Self

import numpy as np
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from ..base import Task
from ..base.settings import KW_ONLY, LoopSettings, settings
from ..checks import check_choice, check_number
from ..declared import Numbers
from ..engine import Model, short_runs
from ..source import Block, Source
from ..source.units import unit_offsets
from .experts_features import FeaturesEstimator
from .experts_model import ExpertsModel, ExpertsParams, Frame
from .gate import GATES

__all__ = ["ExpertsEstimator"]


class Known(NamedTuple):
    """What a fit knows of all rows: their frame, and whether units are draws of one row's features."""

    frame: Frame | None
    draws: bool


@settings
class ExpertsEstimator(LoopSettings, FeaturesEstimator):
    """Base of mixtures of experts.

    A subclass defines ``_experts()``, ``_targets(y, reset)`` (y as columns of numbers), ``_publish_experts(params)`` and
    ``_expert_params()``.
    """

    n_components: int = 2
    _: KW_ONLY
    gate: str = "softmax"
    gate_columns: Any = None
    expert_columns: Any = None
    n_draws: int = 100
    alpha: float = 1e-4
    tol: float = 1e-6
    max_iter: int = 500
    n_init: int = 1
    warm_start: bool = False

    _saved = FeaturesEstimator._saved | {
        "gate_coef_": Numbers("K p"),
        "gate_intercept_": Numbers("K"),
        "weights_": Numbers("K", low=0, high=1),
    }
    _by_likelihood = True

    def _sizes(self) -> dict[str, int]:
        return super()._sizes() | {"K": self.n_components}

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("alpha", self.alpha, numbers.Real, 0)
        check_number("n_draws", self.n_draws, numbers.Integral, 2)
        check_choice("gate", self.gate, GATES)
        for name in ("gate_columns", "expert_columns"):
            if not isinstance(getattr(self, name), (list, tuple, np.ndarray, type(None))):
                raise ValueError(f"{name}={getattr(self, name)!r} is not a list of columns.")

    def _model(self) -> ExpertsModel:
        return self._model_for(None)

    def _model_for(self, known: Known | None) -> ExpertsModel:
        frame, draws = known or (None, False)
        return ExpertsModel(
            GATES[self.gate](self.alpha), self._experts(), self.n_components, frame,
            gate_columns=self._seen_by("gate_columns"), expert_columns=self._seen_by("expert_columns"), draws=draws,
        )  # fmt: skip

    # Learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, unit: Any = None) -> Self:
        """Learn the gate and the experts.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            Features: numbers, or texts and other categories; NaN and None are missing.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights: weight 2 counts as the row given twice.
        unit : array-like of shape (n_samples,), optional
            For repeated measures, the subject of each row, by any name; rows of a subject lie together. All of them belong to
            one expert, and what the gate sees must be the same in them.

        Returns
        -------
        self
        """
        self._check_settings()
        source = self._open(X, sample_weight, y, reset=True, unit=unit)
        self._check_enough(source)
        task = self._learn(source)
        self._review(task.known.frame)
        return self

    def _check_enough(self, source: Source) -> None:
        if source.n_units < self.n_components:
            what = "rows of X" if source.offsets is None else "units"
            raise ValueError(
                f"n_components={self.n_components} exceeds the {source.n_units} {what}; use at most {source.n_units}."
            )

    def _learn(self, source: Source, **how: Any) -> Task:
        task = super()._learn(source, **how)
        self._online = None

        def shares(block: Block) -> np.ndarray:
            return (block.weight / block.of_rows(np.diff(block.offsets))) @ self._gate_of(block.X)

        total = source.sum(shares)
        self.weights_ = total / total.sum()
        return task

    def _prepare(self, source: Source) -> Known:
        return Known(Frame.of(source, scaled=self._experts().scaled), source.schema.draws)

    def _resumed(self, source: Source) -> tuple[ExpertsModel, ExpertsParams]:
        model = self._model_for(self._prepare(source))
        return model, self._resume(model)

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
        return model.narrow(model.frame.inward(model.widen(self._params())))

    def _publish(self, params: ExpertsParams, dtype: np.dtype) -> None:
        params = params.frame.outward(self._model().widen(params))
        self.gate_intercept_, self.gate_coef_ = params.gate[:, 0], params.gate[:, 1:]
        self._publish_experts(params.experts)

    def _parameters(self, params: ExpertsParams) -> dict[str, np.ndarray]:
        """What `standard_errors` tells of: weights of a constant gate; coefficients of others, about their mean over experts."""
        shadow = copy.copy(self)
        shadow._publish(params, np.dtype(np.float64))
        told = {"weights_": softmax(shadow.gate_intercept_)} if self.gate == "constant" else {}
        if self.gate == "softmax":
            for name in ("gate_intercept_", "gate_coef_"):
                told[name] = getattr(shadow, name) - getattr(shadow, name).mean(axis=0)
        return told | shadow._expert_parameters()

    def _expert_parameters(self) -> dict[str, np.ndarray]:
        """The experts' parameters, by the name of the fitted attribute."""
        return {"intercept_": self.intercept_, "coef_": self.coef_}

    def _params(self) -> ExpertsParams:
        gate = np.column_stack([self.gate_intercept_, self.gate_coef_])
        frame = Frame.identity(gate.shape[1] - 1, self._n_targets)
        return self._model().narrow(ExpertsParams(gate, self._expert_params(), frame))

    # Prediction

    def _gate_of(self, X: np.ndarray) -> np.ndarray:
        return softmax(self.gate_intercept_ + X @ self.gate_coef_.T, axis=1)

    def predict_gate(self, X: Any) -> np.ndarray:
        """Probability of each expert given the features alone, (n_samples, n_components)."""
        check_is_fitted(self)
        return np.mean([self._gate_of(features) for features in self._feature_draws(X)], axis=0)

    def _posterior(self, X: Any, y: Any, unit: Any = None) -> tuple[Source, list[np.ndarray]]:
        check_is_fitted(self)
        source = self._open(X, None, y, unit=unit)
        model, params = self._model_for(Known(None, source.schema.draws)), self._params()
        parts = source.map(lambda block: model.posterior(params, block))
        return source, [np.concatenate(part) for part in zip(*parts)]

    def responsibilities(self, X: Any, y: Any, *, unit: Any = None) -> np.ndarray:
        """Probability of each expert given features and targets, (n_samples, n_components); the same for rows of a unit."""
        source, (resp, _) = self._posterior(X, y, unit)
        return (
            resp if source.offsets is None or source.schema.draws else np.repeat(resp, np.diff(source.offsets), axis=0)
        )

    def log_density(self, X: Any, y: Any, *, unit: Any = None) -> np.ndarray:
        """Log density (of classes: log probability) of targets given features: of each row or, where given, of each unit."""
        return self._posterior(X, y, unit)[1][1]

    def density(self, X: Any, y: Any, *, unit: Any = None) -> np.ndarray:
        """Density (of classes: probability) of targets given features, of each row or unit."""
        return np.exp(self.log_density(X, y, unit=unit))

    @property
    def score_samples(self) -> NoReturn:  # type: ignore[override]
        """Not for models of y given x; see `log_density`."""
        # scikit-learn calls score_samples with X alone wherever there is one.
        raise AttributeError(f"{type(self).__name__} has no score_samples: use log_density(X, y), or score(X, y).")

    # Criteria

    def bic(self, X: Any, y: Any, sample_weight: Any = None, *, unit: Any = None) -> float:  # type: ignore[override]
        """Bayesian information criterion, lower is better; n counts rows or, where given, units."""
        deviance, n, p = self._deviance(X, y, sample_weight, unit)
        return deviance + p * np.log(n)

    def aic(self, X: Any, y: Any, sample_weight: Any = None, *, unit: Any = None) -> float:  # type: ignore[override]
        """Akaike information criterion, lower is better."""
        deviance, _, p = self._deviance(X, y, sample_weight, unit)
        return deviance + 2 * p

    def _deviance(self, X: Any, y: Any, sample_weight: Any, unit: Any) -> tuple[float, float, int]:
        offsets = unit_offsets(unit, len(y))
        weight = sample_weight if offsets is None or sample_weight is None else np.asarray(sample_weight)[offsets[:-1]]
        return self._criterion(self.log_density(X, y, unit=unit), weight)
