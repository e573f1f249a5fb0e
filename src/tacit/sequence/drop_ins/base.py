"""`DropIn`: hidden Markov models with the constructors, methods and attributes of hmmlearn."""

from __future__ import annotations

import logging
import numbers
import sys
import warnings
from collections import deque
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from ...base import Task
from ...checks import as_numpy, check_choice, check_n_jobs, check_number
from ...engine import Fit, Trace, short_runs
from ...notes import Note
from ...source import Source
from ..forecast import Predictor
from ..model import ChainModel
from ..structure import ChainParams, Structure

__all__ = ["ConvergenceMonitor", "DropIn", "keep"]

log = logging.getLogger("tacit")
IMPLEMENTATIONS = ("log", "scaling")
SET = Note("set", "parameters were set by hand")


def keep(estimator: Any, given: dict[str, Any]) -> None:
    """Keep what a constructor was given, as it is."""
    for name, value in given.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)


def _n_rows(X: Any) -> int:
    """Rows of arrays and tables; −1 of anything else."""
    if getattr(X, "shape", None):
        return int(X.shape[0])
    return len(X) if hasattr(X, "__len__") else len(np.asarray(X)) if hasattr(X, "__array__") else -1


class ConvergenceMonitor:
    """What became of a fit, as hmmlearn tells it; a subclass may say when a fit has converged.

    Parameters
    ----------
    tol : float
        Gain of the log-likelihood below which a fit has converged.
    n_iter : int
        Most steps.
    verbose : bool
        Whether steps are printed to the standard error.

    Attributes
    ----------
    history : deque of float
        The objective at every step.
    iter : int
        Steps taken.
    """

    _template = "{iter:>10d} {log_prob:>16.8f} {delta:>+16.8f}"

    def __init__(self, tol: float, n_iter: int, verbose: bool):
        self.tol, self.n_iter, self.verbose = tol, n_iter, verbose
        self.history: deque = deque()
        self.iter = 0

    def __repr__(self) -> str:
        told = dict(vars(self), history=list(self.history))
        return f"{type(self).__name__}(\n" + "".join(f"    {name}={told[name]},\n" for name in sorted(told)) + ")"

    def _reset(self) -> None:
        self.iter = 0
        self.history.clear()

    def report(self, log_prob: float) -> None:
        """Take note of a step, and print it where asked to."""
        if self.verbose:
            delta = log_prob - self.history[-1] if self.history else np.nan
            print(self._template.format(iter=self.iter + 1, log_prob=log_prob, delta=delta), file=sys.stderr)
        self.history.append(log_prob)
        self.iter += 1

    @property
    def converged(self) -> bool:
        """Whether the fit has converged, or taken all its steps."""
        return self.iter == self.n_iter or (len(self.history) >= 2 and self.history[-1] - self.history[-2] < self.tol)


class Converged(KeyboardInterrupt):
    """A monitor says that a fit has converged."""


class DropIn(Predictor):
    """Base of drop-ins: a subclass names its emission parameters by letters in ``_letters``.

    Settings that hmmlearn does not have are keyword arguments: ``n_init`` starts, ``n_jobs`` threads, a ``callback``, and the
    columns `sequence` and `time` of tables.
    """

    _letters: ClassVar[dict[str, str]] = {}
    _short_runs: ClassVar[int | None] = 4  # that a start is the best of: no slower than the one start of others
    _short_steps: ClassVar[int] = 5
    convergence = "relative"
    accelerate = None
    warm_start = False
    verbose_interval = 1
    weight_prior = None
    n_iter: int
    params: str
    init_params: str
    implementation: str
    startprob_prior: Any
    transmat_prior: Any
    _monitor: Any = None

    # Settings

    @property
    def monitor_(self) -> Any:
        """What became of the fit; another may be set before it."""
        if self._monitor is None:
            self._monitor = ConvergenceMonitor(self.tol, self.n_iter, bool(self.verbose))
        return self._monitor

    @monitor_.setter
    def monitor_(self, monitor: Any) -> None:
        self._monitor = monitor

    @property
    def max_iter(self) -> int:  # type: ignore[override]
        """Most steps."""
        return self.n_iter

    def _check_settings(self) -> None:
        check_n_jobs(self.n_jobs)
        check_number("n_components", self.n_components, numbers.Integral, 1)
        check_number("n_iter", self.n_iter, numbers.Integral, 0)
        check_number("n_init", self.n_init, numbers.Integral, 1)
        check_number("tol", self.tol, numbers.Real, -np.inf)
        check_choice("implementation", self.implementation, IMPLEMENTATIONS)
        self._check_sequences()
        self._check_draws()
        known = {"s": "startprob_", "t": "transmat_"} | self._letters
        for name in ("params", "init_params"):
            for letter in getattr(self, name):
                if letter not in known:
                    told = ", ".join(f"{key!r} ({value})" for key, value in known.items())
                    raise ValueError(f"{name}={getattr(self, name)!r} holds {letter!r}; it may hold {told}.")

    def _tol(self, task: Task) -> float:
        weight = task.source.sum(lambda block: float(block.weight.sum()))
        return max(self.tol, 0.0) / max(weight, 1e-300)

    def _structure(self) -> Structure:
        held = tuple(name for letter, name in (("s", "start"), ("t", "move")) if letter not in self.params)
        start, move = (
            None if self._wanted(letter, name) else np.asarray(getattr(self, name), dtype=np.float64)
            for letter, name in (("s", "startprob_"), ("t", "transmat_"))
        )
        return Structure(
            self.n_components, start_prior=self.startprob_prior, move_prior=self.transmat_prior, start=start, move=move,
            fixed=held,
        )  # fmt: skip

    def _wanted(self, letter: str, name: str) -> bool:
        """Whether a fit finds a parameter's start itself."""
        return letter in self.init_params or name not in self.__dict__

    def _model(self) -> ChainModel:
        return ChainModel(self._family(), self._structure(), "kmeans")

    # Learning

    def fit(  # type: ignore[override]
        self, X: Any, lengths: Any = None, *, y: Any = None, sample_weight: Any = None, checkpoint: Any = None,
        checkpoint_every: float = 60.0,
    ) -> Self:  # fmt: skip
        """Learn the parameters that `params` names, those that `init_params` names from starts found in the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), list of arrays, table, path, Arrow data, Dask collection or source
            Steps; NaN is missing.
        lengths : array-like of int, optional
            How many rows each sequence has; default all are one sequence.
        y : array-like of shape (n_samples,), optional
            Known states, −1 where unknown.
        sample_weight : array-like of shape (n_sequences,) or (n_samples,), optional
            Weights of sequences.
        checkpoint, checkpoint_every
            As in :meth:`tacit.mixture.Mixture.fit`.

        Returns
        -------
        self
        """
        self._check_settings()
        self.clock_ = None
        self.__dict__.pop("classes_", None)
        lengths, y = self._told_apart(X, lengths, y)
        source = self._open(self._steps(X, lengths), sample_weight, y, reset=True)
        self._warn_overwritten()
        self._warn_few(source)
        if type(self.monitor_) is ConvergenceMonitor:
            self.monitor_ = None
        monitor = self.monitor_
        monitor._reset()
        known, rng = self._prepare(source), self._rng()
        starts = [self._initial(source, known, rng) for _ in range(self.n_init)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # `monitor_` tells, and few steps are the default
            if type(monitor) is not ConvergenceMonitor:
                warnings.filterwarnings("ignore", "interrupted by the user")  # by the user's monitor
            self._learn(source, starts=starts, checkpoint=checkpoint, checkpoint_every=checkpoint_every)
        if not monitor.history:
            for value in self.fit_.trace.objectives:
                monitor.report(value)
        return self

    def _told_apart(self, X: Any, lengths: Any, y: Any) -> tuple[Any, Any]:
        """Lengths and labels; scikit-learn passes the latter second, where lengths stand here."""
        if lengths is None or y is not None:
            return lengths, y
        given, n_rows = np.asarray(as_numpy(lengths)), _n_rows(X)
        adds_up = given.dtype.kind in "iu" and given.min(initial=1) > 0 and given.sum() == n_rows
        if given.shape == (n_rows,) and not adds_up:
            return None, lengths
        return lengths, None

    def _callback(self) -> Any:
        told = self.callback
        if type(self.monitor_) is ConvergenceMonitor:
            return told

        def report(progress: Any) -> None:
            if told is not None:
                told(progress)
            if progress.done:
                return
            self.monitor_.report(progress.objective * progress.weight)
            if self.monitor_.converged:
                raise Converged

        return report

    def _warn_overwritten(self) -> None:
        for letter, name in ({"s": "startprob_", "t": "transmat_"} | self._letters).items():
            if letter in self.init_params and name in self.__dict__ and "fit_" not in self.__dict__:
                log.warning(
                    "Even though the %r attribute is set, it will be overwritten during initialization because 'init_params' "
                    "contains %r", name, letter,
                )  # fmt: skip

    def _warn_few(self, source: Source) -> None:
        counts = self._get_n_fit_scalars_per_param()
        free, n_cells = sum(counts[letter] for letter in self.params), source.n_rows * source.n_features
        if n_cells < free:
            log.warning(
                "Fitting a model with %d free scalar parameters with only %d data points will result in a degenerate solution.",
                free, n_cells,
            )  # fmt: skip

    def _initial(self, source: Source, known: Any, rng: np.random.Generator) -> ChainParams:
        """Parameters to begin with: those that are set and not asked for, others from short runs on a sample."""
        wanted = [name for letter, name in self._letters.items() if self._wanted(letter, name)]
        if not wanted and not self._wanted("s", "startprob_") and not self._wanted("t", "transmat_"):
            return self._params()
        model, sample = self._model(), self._sample(source, rng)
        if wanted:
            found = short_runs(
                model, sample, partial(model.init, sample, rng), n_starts=self._short_runs, n_steps=self._short_steps
            )
            kept = {name: getattr(self, name) for name in self._letters.values() if name not in wanted}
            components = self._replaced(found.components, kept) if kept else found.components
        else:
            components = self._components()
            resp = model.family.log_prob(components, sample)
            found = model.structure.begin(sample, np.eye(self.n_components)[np.argmax(resp, axis=1)])
            return ChainParams(*found, components)
        return ChainParams(found.start, found.move, found.dwell, components)

    def _replaced(self, components: Any, kept: dict[str, Any]) -> Any:
        """Emission parameters with what is set in place of what was found."""
        raise NotImplementedError

    def _init(self, X: Any, lengths: Any = None) -> None:
        """Set the parameters that a fit would begin with."""
        lengths = None if isinstance(lengths, numbers.Integral) else lengths
        source = self._open(self._steps(X, lengths), reset=True)
        self._warn_overwritten()
        self._warn_few(source)
        params = self._initial(source, self._prepare(source), self._rng())
        self.fit_ = Fit(params, Trace(), SET)
        self._publish(params, source.dtype)

    # Parameters that are set

    def _ready(self) -> None:
        self._check()

    def _check(self) -> None:
        """Raise ValueError where parameters are not what they must be."""
        k = self.n_components
        for name, shape in (("startprob_", (k,)), ("transmat_", (k, k))):
            if getattr(self, name, None) is None:
                raise NotFittedError(f"This {type(self).__name__} has no {name}; call fit, or set its parameters.")
            value = np.asarray(getattr(self, name), dtype=np.float64)
            if value.shape != shape:
                raise ValueError(f"{name} has shape {value.shape}, but must have {shape} for n_components={k}.")
            self._check_sum_1(name)
            setattr(self, name, value)

    def _check_sum_1(self, name: str) -> None:
        total = np.asarray(getattr(self, name), dtype=np.float64).sum(axis=-1)
        if not np.allclose(total, 1.0):
            raise ValueError(f"{name} must sum to 1, but sums to {total}.")

    def _get_n_fit_scalars_per_param(self) -> dict[str, int]:
        k = self.n_components
        return {"s": k - 1, "t": k * (k - 1)}

    def _n_parameters(self) -> int:
        return sum(self._get_n_fit_scalars_per_param().values())

    # Answers as hmmlearn gives them

    def score(self, X: Any, lengths: Any = None) -> float:  # type: ignore[override]
        """Log-likelihood of all sequences together.

        Parameters
        ----------
        X, lengths
            As in `predict`.

        Returns
        -------
        float
        """
        lengths, _ = self._told_apart(X, lengths, None)
        self._ready()
        model, params = self._model(), self._params()
        return float(self._open(self._steps(X, lengths)).sum(lambda block: float(model.evidence(params, block).sum())))

    def score_samples(self, X: Any, lengths: Any = None) -> tuple[float, np.ndarray]:  # type: ignore[override]
        """Log-likelihood of all sequences together, and the probabilities of states.

        Parameters
        ----------
        X, lengths
            As in `predict`.

        Returns
        -------
        log_prob : float
        posteriors : ndarray of shape (n_samples, n_components)
        """
        return self.score(X, lengths), self.predict_proba(X, lengths)

    def aic(self, X: Any, lengths: Any = None) -> float:  # type: ignore[override]
        """Akaike information criterion, lower is better."""
        return -2.0 * self.score(X, lengths) + 2 * self._n_parameters()

    def bic(self, X: Any, lengths: Any = None) -> float:  # type: ignore[override]
        """Bayesian information criterion of steps, lower is better."""
        values = self._log_densities(X, lengths)
        return -2.0 * float(values.sum()) + self._n_parameters() * float(np.log(len(values)))

    def sample(self, n_samples: int = 1, random_state: Any = None, currstate: int | None = None) -> tuple:  # type: ignore[override]
        """Draw one sequence, and its states.

        Parameters
        ----------
        n_samples : int, default=1
            Number of steps.
        random_state : int, RandomState instance or None, default=None
            Seeds the draws; by default the estimator's own does.
        currstate : int, optional
            The first state; default drawn.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        states : ndarray of int of shape (n_samples,)
        """
        self._ready()
        check_number("n_samples", n_samples, numbers.Integral, 1)
        model, params, rng = self._model(), self._params(), self._rng(random_state)
        states = model.walk(params, n_samples, rng, currstate)
        return self._drawn_rows(model, params, states, rng), states

    def _drawn_rows(self, model: Any, params: Any, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return model.family.sample(params.components, states, rng)

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_monitor" or type(value) is ConvergenceMonitor}
