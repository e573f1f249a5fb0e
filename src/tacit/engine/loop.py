"""The one loop: learn any model from any source of rows, knowing nothing about either."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..notes import Note
from ..source.threads import one_blas_thread
from .accelerate import accelerator
from .model import Model, SingularError
from .progress import Progress
from .trace import Trace

if TYPE_CHECKING:
    from ..source.source import Source
    from .checkpoint import Checkpoint, Resumed

__all__ = ["Fit", "finish", "fit", "objective", "progress_of"]

log = logging.getLogger("tacit")
Callback = Callable[[Progress], Any]
NARROW = 64
"""Features up to which products of an M-step are too small for several threads."""


@dataclass(frozen=True)
class Fit:
    """What was learned, how, and why it stopped.

    Attributes
    ----------
    params : Arrays
        The parameters.
    trace : Trace
        The objective after every E-step.
    reason : Note
        Why the fit stopped, as a sentence with a code: "tol", "max_iter", "interrupted", "labelled", "closed_form" …
    converged : bool
        Whether it stopped because the objective settled.
    interrupted : bool
        Whether the user stopped it.
    failures : tuple of Note
        What happened to starts that could not go on.
    stats : Arrays or None
        Statistics of the last E-step that counted, from which an online fit can go on; None where there was none.
    n_runs, n_reached : int
        How many runs were followed to their end, those that led to the starts included, and how many of them came to the
        maximum that was kept. Few of many tell of a rugged likelihood, of which a longer search may find a better maximum.
    """

    params: Any
    trace: Trace
    reason: Note
    converged: bool = False
    interrupted: bool = False
    failures: tuple = field(default=())
    stats: Any = None
    n_runs: int = 1
    n_reached: int = 1


def objective(model: Model, stats: Any, params: Any) -> float:
    """Log-likelihood, plus the log prior where the model has one.

    Parameters
    ----------
    model : Model
    stats : Arrays
        Its statistics, summed over all rows.
    params : Arrays
        The parameters they were made with.
    """
    value = stats.loglik + model.log_prior(params)
    if not np.isfinite(value):
        raise SingularError(
            f"the objective became {value}; scale the data or, in a mixture, increase the covariance floor."
        )
    return value


def _warn_if_fallen(trace: Trace, model: Model) -> None:
    # Rounding may cost a few last digits, single precision a few more; a real fall means a wrong M-step. Where rows weigh next
    # to nothing beside a prior, last digits are much per row, but not of all rows together.
    if trace.gain < -1e-6 * (1.0 + abs(trace.per_weight[-1])) and trace.gain * trace.weight < -1e-12:
        warnings.warn(
            f"the objective of {type(model).__name__} fell by {-trace.gain:.3g} per row at step {len(trace)}; "
            "its M-step does not maximise what its E-step measures.",
            RuntimeWarning,
            stacklevel=4,
        )


def fit(
    model: Model,
    source: Source,
    params: Any,
    *,
    max_iter: int = 100,
    tol: float = 1e-3,
    criterion: str = "relative",
    previous: float | None = None,
    accelerate: str | None = None,
    callback: Callback | None = None,
    checkpoint: Checkpoint | None = None,
    resumed: Resumed | None = None,
    run: tuple[int, int] = (1, 1),
    led: int = 0,
) -> Fit:
    """Learn `model` from `source` by EM, starting at `params`.

    Parameters
    ----------
    model : Model
        What to learn.
    source : Source
        Rows.
    params : Arrays
        Where to start.
    max_iter : int
        E-steps at most.
    tol : float
        Improvement per unit of weight below which the fit has settled.
    criterion : {"relative", "aitken"}
        See `Trace`.
    previous : float, optional
        Objective per unit of weight where an earlier run stopped.
    accelerate : {"auto", "anderson", "squarem", None}
        How to take fewer steps; see `tacit.engine.accelerate`.
    callback : callable, optional
        Called with a `Progress` after every step.
    checkpoint : Checkpoint, optional
        Where the state of the fit is kept while it runs.
    resumed : Resumed, optional
        Go on from here instead of `params`.
    run : (int, int)
        Which start this is and of how many, for the callback.
    led : int
        Steps of the short run that led to `params`; `Trace.n_steps` counts them.

    Returns
    -------
    Fit
    """
    trace, step = Trace(criterion, previous, led), accelerator(accelerate, model)
    if resumed is not None:
        params, trace = resumed.params, resumed.trace
        step.restore(resumed.step)
    source.remember(model.memory if model.remembers else None, None if resumed is None else resumed.memory)
    state = partial(progress_of, trace, source, run, max_iter, tol, time.perf_counter())
    done = partial(finish, trace, callback, state)
    stats = None
    params = _placed(model, source, params)
    try:
        # Threads of BLAS would go on spinning between passes, and asking for one costs as much as a pass over few rows.
        with one_blas_thread() if source.n_features <= NARROW else nullcontext():
            while trace.passes < max_iter:
                leapt, trace.last = step.extrapolated, trace.passes + 1 >= max_iter
                found = _expect(model, source, params, trace, step)
                if found is None:
                    params = step.retreat()
                    continue
                stats = found
                if model.monotone:
                    _warn_if_fallen(trace, model)
                if callback:
                    callback(state())
                trace.leapt = len(trace) if leapt else trace.leapt
                image = model.mend(source, stats, params, model.m_step(stats, params))
                settled = model.settled(trace, params, image, tol)
                if settled and not leapt:
                    return done(image, settled, converged=True, stats=stats)
                # A leap may land where it gains little by chance: plain steps decide whether the fit has settled.
                params = image if trace.rests(tol) and trace.steady < 2 else step.advance(params, image, trace.gain)
                params = _placed(model, source, params)
                if checkpoint is not None:
                    checkpoint.offer(params, trace, step, source)
    except KeyboardInterrupt:
        if checkpoint is not None:
            checkpoint.flush()
        return done(step.safe(params), interrupted_after(trace), interrupted=True, stats=stats)
    reason = Note("max_iter", "max_iter={max_iter} steps were taken", max_iter=max_iter)
    return done(step.safe(params), reason, stats=stats)


def _placed(model: Model, source: Source, params: Any) -> Any:
    """The parameters where the rows are computed on."""
    return params if source.device is None else model.place(params, source.device)


def interrupted_after(trace: Trace) -> Note:
    """That the user stopped a fit."""
    steps = "1 step" if len(trace) == 1 else f"{len(trace)} steps"
    return Note.told("interrupted", f"interrupted by the user after {steps}", {"steps": len(trace)})


def _expect(model: Model, source: Source, params: Any, trace: Trace, step: Any) -> Any:
    """The E-step at `params`, recorded; None where they are an extrapolation that went too far."""
    try:
        stats = source.sum(partial(model.e_step, params))
        value = objective(model, stats, params)
    except (SingularError, np.linalg.LinAlgError):
        if not step.extrapolated:
            raise
        value = -np.inf
    trace.passes += 1
    if step.extrapolated and value < trace.objectives[-1]:
        return None
    step.accept()
    trace.record(value, stats.weight)
    return stats


def progress_of(
    trace: Trace, source: Source, run: tuple[int, int], max_iter: int, tol: float, started: float, **end: Any
) -> Progress:
    """What a callback is told now."""
    return Progress(
        run=run[0], n_runs=run[1], step=len(trace), max_iter=max_iter, gain=trace.gain,
        objective=trace.per_weight[-1] if trace.per_weight else float("nan"), n_rows=source.n_rows,
        seconds=time.perf_counter() - started, steps_left=trace.steps_left(tol),
        weight=trace.weight, **end,
    )  # fmt: skip


def finish(
    trace: Trace,
    callback: Callback | None,
    state: Callable[..., Progress],
    params: Any,
    reason: Note,
    *,
    converged: bool = False,
    interrupted: bool = False,
    stats: Any = None,
) -> Fit:
    """The `Fit` of a run that ends here; the callback and the log are told."""
    trace.last = False
    last = state(done=True, reason=reason, converged=converged)
    log.info(
        "start %d of %d: %s after %d steps at %.9g per row, %.3g rows/s",
        last.run, last.n_runs, reason, last.step, last.objective, last.rate,
    )  # fmt: skip
    if callback:
        try:
            callback(last)
        except KeyboardInterrupt:
            interrupted = True
    stats = None if stats is None else stats.on_host()
    return Fit(params.on_host(), trace, reason, converged, interrupted, stats=stats)
