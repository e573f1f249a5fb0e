"""The one loop: learn any model from any source of rows, knowing nothing about either."""

import logging
import time
import warnings
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ..arrays import Arrays
from .accelerate import accelerator
from .progress import Progress
from .trace import Trace

__all__ = ["Fit", "SingularError", "fit", "objective"]

log = logging.getLogger("tacit")


class SingularError(ValueError):
    """Parameters became singular, so that a start cannot go on."""


@dataclass(frozen=True)
class Fit:
    """What was learned, how, and why it stopped.

    Attributes
    ----------
    params : Arrays
        The parameters.
    trace : Trace
        The objective after every E-step.
    reason : str
        Why the fit stopped, as a sentence.
    converged : bool
        Whether it stopped because the objective settled.
    interrupted : bool
        Whether the user stopped it.
    failures : tuple of str
        What happened to starts that could not go on.
    stats : Arrays or None
        Statistics of the last E-step, from which an online fit can go on.
    """

    params: Arrays
    trace: Trace
    reason: str
    converged: bool = False
    interrupted: bool = False
    failures: tuple = field(default=())
    stats: Arrays | None = None


def objective(model, stats, params):
    """Log-likelihood, plus the log prior where the model has one.

    Parameters
    ----------
    model : Model
    stats : Arrays
        Its statistics, summed over all rows.
    params : Arrays
        The parameters they were made with.
    """
    log_prior = getattr(model, "log_prior", None)
    value = stats.loglik + (log_prior(params) if log_prior else 0.0)
    if not np.isfinite(value):
        raise SingularError(
            f"the objective became {value}; scale the data or, in a mixture, increase the covariance floor."
        )
    return value


def _warn_if_fallen(trace, model):
    # Rounding may cost a few last digits, single precision a few more; a real fall means a wrong M-step.
    if trace.gain < -1e-6 * (1.0 + abs(trace.per_weight[-1])):
        warnings.warn(
            f"the objective of {type(model).__name__} fell by {-trace.gain:.3g} per row at step {len(trace)}; "
            "its M-step does not maximise what its E-step measures.",
            RuntimeWarning,
            stacklevel=4,
        )


def fit(
    model,
    source,
    params,
    *,
    max_iter=100,
    tol=1e-3,
    criterion="relative",
    previous=None,
    accelerate=None,
    callback=None,
    checkpoint=None,
    resumed=None,
    run=(1, 1),
):
    """Learn `model` from `source` by EM, starting at `params`.

    Parameters
    ----------
    model : Model
        Has ``e_step(params, block)``, ``m_step(stats, params)`` and optionally ``log_prior(params)``,
        ``mend(source, stats, params, image)`` and ``settled(params, image, tol)``.
    source : Source
        Has ``sum(function)``.
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

    Returns
    -------
    Fit
    """
    trace, step = Trace(criterion, previous), accelerator(accelerate, model)
    if resumed is not None:
        params, trace = resumed.params, resumed.trace
        step.restore(resumed.step)
    state = partial(_progress, trace, source, run, max_iter, tol, time.perf_counter())
    done = partial(_finish, trace, callback, state)
    stats = None
    try:
        while trace.passes < max_iter:
            leapt = step.extrapolated
            stats = _expect(model, source, params, trace, step)
            if stats is None:
                params = step.retreat()
                continue
            _warn_if_fallen(trace, model)
            if callback:
                callback(state())
            image = _maximise(model, source, stats, params)
            settled = _settled(model, trace, params, image, tol)
            if settled and not leapt:
                return done(image, settled, converged=True, stats=stats)
            # A leap may land where it gains little by chance: a plain step decides whether the fit has settled.
            params = image if settled else step.advance(params, image, trace.gain)
            if checkpoint is not None:
                checkpoint.offer(params, trace, step)
    except KeyboardInterrupt:
        if checkpoint is not None:
            checkpoint.flush()
        return done(
            step.safe(params),
            f"interrupted by the user after {len(trace)} step{'s' * (len(trace) != 1)}",
            interrupted=True,
        )
    return done(step.safe(params), f"max_iter={max_iter} steps were taken", stats=stats)


def _maximise(model, source, stats, params):
    """The M-step; a model may mend what no sum tells how to, such as a class that no row joined."""
    image = model.m_step(stats, params)
    return model.mend(source, stats, params, image) if hasattr(model, "mend") else image


def _settled(model, trace, params, image, tol):
    """Why the fit has settled, or nothing; a model may judge by its parameters instead of the objective."""
    if hasattr(model, "settled"):
        return model.settled(params, image, tol)
    return "improvement fell below tol" if trace.settled(tol) else None


def _expect(model, source, params, trace, step):
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


def _progress(trace, source, run, max_iter, tol, started, **end):
    """What a callback is told now."""
    return Progress(
        run=run[0], n_runs=run[1], step=len(trace), max_iter=max_iter, gain=trace.gain,
        objective=trace.per_weight[-1] if trace.per_weight else float("nan"), n_rows=getattr(source, "n_rows", 0),
        seconds=time.perf_counter() - started, steps_left=trace.steps_left(tol),
        weight=trace.weight, **end,
    )  # fmt: skip


def _finish(trace, callback, state, params, reason, *, converged=False, interrupted=False, stats=None):
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
    return Fit(params, trace, reason, converged, interrupted, stats=stats)
