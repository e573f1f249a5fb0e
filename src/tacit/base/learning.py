"""`EMEstimator`: the scikit-learn face of every model that the engine learns."""

from __future__ import annotations

import hashlib
import numbers
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..checks import check_choice, check_n_jobs, check_number
from ..declared import OBJECTIVE, Flag, Listed, Part, Whole
from ..engine import (
    ACCELERATORS,
    Checkpoint,
    Fit,
    Model,
    Online,
    ProgressLines,
    Trace,
    fit_best,
    objective,
    online_pass,
    online_step,
    short_runs,
)  # fmt: skip
from ..engine.restarts import SAMPLE_ROWS, Lead
from ..engine.trace import CRITERIA
from ..kernels import backend, host
from ..notes import Note
from ..source import Block, Source
from .rows import RowsEstimator

__all__ = ["EMEstimator", "Task", "identity_of"]

NOT_CONVERGED = (
    "Best performing initialization did not converge. Try different init parameters, or increase max_iter, tol, or check "
    "for degenerate data."
)
LABELLED = Note("labelled", "every class was known, so one pass gave the maximum")
LABELLED_TOL = 1e-8
IRRELEVANT = ("callback", "n_jobs", "verbose", "verbose_interval")
"""Settings that do not change what is learned."""


@dataclass(frozen=True)
class Task:
    """A fit to be done.

    Attributes
    ----------
    source : Source
        Rows.
    sample : Block or None
        Some of them, to choose starts among; None where starts are given.
    rng : numpy.random.Generator
        What starts are drawn with.
    known : object
        What ``_prepare`` found out about all rows.
    taken : list of Lead
        What led to the starts.
    """

    source: Source
    sample: Any
    rng: np.random.Generator
    known: Any = None
    taken: list[Lead] = field(default_factory=list)


class EMEstimator(RowsEstimator):
    """Base of estimators whose model the engine learns.

    A subclass defines ``_model()`` (the model its settings describe), ``_publish(params, dtype)`` (set fitted attributes) and
    ``_params()`` (make parameters from fitted attributes), and may override ``_prepare`` and ``_start``.
    """

    _saved = RowsEstimator._saved | {
        "converged_": Flag(),
        "n_iter_": Whole(0),
        "lower_bound_": OBJECTIVE,
        "lower_bounds_": Listed(OBJECTIVE),
        "fit_": Part(Fit),
    }
    n_components: int
    n_init: Any = 1
    tol: float
    max_iter: int
    warm_start: bool = False
    verbose: int = 0
    verbose_interval: int = 1
    convergence: str = "relative"
    accelerate: str | None = None
    callback: Any = None
    fit_: Fit
    converged_: bool
    n_iter_: int
    lower_bound_: float
    lower_bounds_: list
    _online: Online | None = None

    @property
    def trace_(self) -> Trace:
        """The objective after every step; ``trace_.plot()`` draws it."""
        check_is_fitted(self)
        return self.fit_.trace

    @property
    def _most_steps(self) -> int:
        """Steps of a fit at most."""
        return self.max_iter

    @property
    def _n_columns(self) -> int:
        """Columns of a row as the model takes it."""
        return self.n_features_in_

    # What a subclass defines

    def _model(self) -> Any:
        """The model that the settings describe."""
        raise NotImplementedError(f"{type(self).__name__} does not define _model.")

    def _publish(self, params: Any, dtype: np.dtype) -> None:
        """Set the fitted attributes that tell of parameters."""
        raise NotImplementedError(f"{type(self).__name__} does not define _publish.")

    def _params(self) -> Any:
        """Parameters, made from fitted attributes."""
        raise NotImplementedError(f"{type(self).__name__} does not define _params.")

    # Settings

    def _check_settings(self) -> None:
        self._check_engine()
        check_number("n_init", self.n_init, numbers.Integral, 1)
        check_number("n_components", self.n_components, numbers.Integral, 1)

    def _check_engine(self, fewest_steps: int = 0) -> None:
        """Raise where a setting of the engine is not what it must be."""
        check_n_jobs(self.n_jobs)
        check_number("tol", self.tol, numbers.Real, 0)
        check_number("max_iter", self.max_iter, numbers.Integral, fewest_steps)
        check_number("verbose_interval", self.verbose_interval, numbers.Integral, 1)
        check_choice("convergence", self.convergence, CRITERIA)
        check_choice("accelerate", self.accelerate, ("auto", *ACCELERATORS, "off", None))

    @property
    def _n_classes(self) -> int | None:  # type: ignore[override]
        return self.n_components

    # Learning

    def _prepare(self, source: Source) -> Any:
        """What a fit must know of all rows before it starts; fitted attributes that the model needs are set here."""
        return None

    def _tol(self, task: Task) -> float:
        """Improvement per unit of weight below which the fit has settled."""
        return self.tol

    def _bounds(self, trace: Trace) -> list[float]:
        """What is published of the objectives."""
        return [value / trace.weight for value in trace.objectives]

    def _start_is_given(self) -> bool:
        """Whether the settings say where to start, so that no other start will do."""
        return False

    def _start(self, model: Model, task: Task) -> Any:
        """Parameters to start from; deterministic starts are not repeated."""
        return short_runs(model, task.sample, partial(model.init, task.sample, task.rng), taken=task.taken)

    def _sample(self, source: Source, rng: np.random.Generator, n_rows: int | None = None) -> Block:
        """Rows that starts are chosen among."""
        return source.sample(n_rows or self._sample_rows(), rng)

    def _sample_rows(self) -> int:
        """How many rows starts are chosen among."""
        return SAMPLE_ROWS

    def _n_starts(self, model: Model) -> int:
        return 1 if model.one_start else self.n_init

    def _callback(self) -> Callable | None:
        if self.callback is None and self.verbose:
            return ProgressLines(self.verbose, self.verbose_interval)
        return self.callback

    def _resume(self, model: Model) -> Any:
        """Parameters of the last fit, to go on from."""
        return self._params()

    def _resumed(self, source: Source) -> tuple[Any, Any]:
        """The model for rows of a source, and what was learned as parameters that it can go on from."""
        return self._model(), self._params()

    def _model_for(self, known: Any) -> Any:
        """The model for rows of which this is known."""
        return self._model()

    def _keep(self, source: Source | None) -> None:
        """Keep what answers will need of the rows, by default nothing."""

    def _learn(
        self,
        source: Source,
        *,
        starts: Any = None,
        online: bool = False,
        checkpoint: Any = None,
        checkpoint_every: float = 60.0,
    ) -> Task:
        """Fit the model to rows and publish what was learned; `starts` are parameters to begin with, default its own."""
        warm = starts is None and self.warm_start and hasattr(self, "fit_")
        known, rng = self._prepare(source), self._rng()
        model, previous = self._model_for(known), None
        # Drawn before anything else, also where a fit is resumed: later starts are chosen among the same rows. A single start
        # follows from the rows alone: nothing is gained by another one at every call.
        drawn = np.random.default_rng(0) if model.one_start else rng
        sample = None if warm or starts is not None else self._sample(source, drawn)
        task = Task(source, sample, rng, known)
        if warm:
            starts, previous = [self._resume(model)], next(iter(self.fit_.trace.per_weight[-1:]), None)
        begin: list[Callable[[], Any]] = [partial(self._start, model, task)] * self._n_starts(model)
        if starts is not None:
            begin = [partial(_given, start) for start in starts]
        if online:
            begin = [partial(_online_start, model, source, start) for start in begin]
        if source.labelled and model.labels_suffice:
            fit = _one_pass(model, source, begin[0]())
        else:
            kept = None if checkpoint is None else self._checkpoint(checkpoint, checkpoint_every, model, task)
            # Known classes are to be estimated, not found: a family without a closed form goes on to its maximum.
            tol = min(self._tol(task), LABELLED_TOL) if source.labelled else self._tol(task)
            fit = fit_best(
                model, source, begin, max_iter=self._most_steps, tol=tol, criterion=self.convergence,
                previous=previous, accelerate=self.accelerate, callback=self._callback(), checkpoint=kept,
                led=task.taken,
            )  # fmt: skip
        self._publish_fit(fit, source.dtype)
        self._online = None
        if fit.stats is not None:
            weight = fit.stats.weight
            self._online = Online(fit.params, (1.0 / weight) * fit.stats, steps=1, weight=weight)
        self._keep(source)
        if fit.interrupted:
            warnings.warn(f"{fit.reason}; what was learned so far is kept.", UserWarning, stacklevel=3)
        elif self._most_steps > 0 and not fit.converged:
            warnings.warn(NOT_CONVERGED, ConvergenceWarning, stacklevel=3)
        return task

    def _learn_batch(self, X: Any, weight: Any, labels: Any = None) -> Source:
        """Learn from one more batch of rows, of which the first sets the start, and publish what was learned so far."""
        self._check_settings()
        first = not hasattr(self, "fit_")
        source = self._open(X, weight, labels, reset=first)
        if first:
            self._check_first_batch(source)
        state = Online(self._first(source)) if first else self._online or Online(self._params())
        state = self._step(self._model(), source, state)
        trace = Trace()
        trace.record(state.score, 1.0)
        told = "1 batch was seen" if state.steps == 1 else "{batches} batches were seen"
        reason = Note("batches", told, batches=state.steps)
        self._publish_fit(Fit(state.params, trace, reason, stats=state.weight * state.stats), source.dtype)
        self._online = state
        self._count(state)
        return source

    def _check_first_batch(self, source: Source) -> None:
        """Raise where a first batch has too few rows to start from."""

    def _first(self, source: Source) -> Any:
        """Where to start, from the first batch."""
        known, rng = self._prepare(source), self._rng()
        return self._start(self._model(), Task(source, self._sample(source, rng), rng, known))

    def _step(self, model: Any, batch: Source, state: Online) -> Online:
        """What is known after one more batch."""
        return online_step(model, batch, state)

    def _count(self, state: Online) -> None:
        """Publish how many batches there were."""
        self.n_iter_ = state.steps

    def _publish_fit(self, fit: Fit, dtype: np.dtype) -> None:
        self.fit_ = fit
        self.converged_ = fit.converged
        # A short run is no part of what max_iter limits, and scikit-learn promises no more steps than that.
        self.n_iter_ = min(fit.trace.n_steps, max(self._most_steps, len(fit.trace)))
        self.lower_bounds_ = self._bounds(fit.trace)
        self.lower_bound_ = self.lower_bounds_[-1] if self.lower_bounds_ else -np.inf
        self._publish(fit.params, dtype)

    def _checkpoint(self, path: Any, every: float, model: Model, task: Task) -> Checkpoint:
        """The checkpoint of a fit, with records of the shapes that its file holds."""
        few = task.source.sample(100, np.random.default_rng(0))
        template, memory = model.init(few, np.random.default_rng(0)), model.memory(few) if model.remembers else None
        return Checkpoint(path, template, self._identity(task.source), every=every, rng=task.rng, memory=memory)

    def _identity(self, source: Source) -> str:
        """What a checkpoint belongs to: settings that matter, and the rows."""
        return identity_of(self, source)


def identity_of(estimator: Any, source: Source) -> str:
    """What a checkpoint belongs to: settings that matter, and the rows."""
    digest = hashlib.sha256(f"{type(estimator).__name__} {source.n_rows} {source.n_features}".encode())
    for name, value in sorted(estimator.get_params().items()):
        if name not in IRRELEVANT:
            digest.update(f"{name}={_settled(value)}".encode())
    for part in source.map(_digest):
        digest.update(part)
    return digest.hexdigest()


def _digest(block: Block) -> bytes:
    """A digest of the rows of a block, made where they are."""
    digest, rows = hashlib.sha256(), block.X
    cells = (rows.data, rows.indices, rows.indptr) if backend(rows) == "sparse" else (host(rows),)
    for array in (*cells, host(block.weight), host(block.labels), block.targets, block.units):
        if array is not None:
            digest.update(np.ascontiguousarray(host(array)).data)
    return digest.digest()


def _settled(value: Any) -> Any:
    """A setting as text that says all of it."""
    if isinstance(value, np.random.RandomState):
        return [_settled(part) for part in value.get_state()]
    return value.tolist() if isinstance(value, np.ndarray) else repr(value)


def _given(start: Any) -> Any:
    return start


def _online_start(model: Model, source: Source, start: Callable[[], Any]) -> Any:
    """Where a pass that learns after every block leads from a start."""
    return online_pass(model, source, start()).params


def _one_pass(model: Model, source: Source, start: Any) -> Fit:
    """The complete-data estimate: with every class known, one M-step is the maximum."""
    params = model.m_step(source.sum(partial(model.e_step, start)), start)
    stats = source.sum(partial(model.e_step, params))
    trace = Trace()
    trace.record(objective(model, stats, params), stats.weight)
    return Fit(params, trace, LABELLED, converged=True, stats=stats)
