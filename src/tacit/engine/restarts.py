"""Several starts: short runs on a sample choose where the long ones begin, and the best long one is kept."""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..notes import Note
from ..source import Block, Source, as_source
from ..source.threads import one_blas_thread
from .checkpoint import Checkpoint
from .loop import Fit, fit
from .model import Model, SingularError
from .trace import Trace

__all__ = ["SAMPLE_ROWS", "Lead", "fit_best", "short_runs"]

SAMPLE_ROWS = 10_000
LOWEST = -1e300  # of a start that has not ended, in a form that files can hold
CHOOSING = Note("interrupted", "interrupted by the user while choosing a start")
log = logging.getLogger("tacit")


class Lead(NamedTuple):
    """What led to a start: steps, and of the runs that were followed to their end how many came to where it is."""

    n_steps: int = 0
    n_runs: int = 1
    n_reached: int = 1


class Interrupted(KeyboardInterrupt):
    """The user stopped the choice of a start; `params` is the best one so far."""

    def __init__(self, params: Any):
        super().__init__()
        self.params = params


def _better(model: Model, candidate: Fit, best: Fit | None) -> bool:
    """Whether a fit beats the best so far: one that did not collapse does, and of two at the same maximum the first is kept."""
    if best is None:
        return True
    whole = not model.collapsed(candidate.params), not model.collapsed(best.params)
    if whole[0] != whole[1]:
        return whole[0]
    new, old = (fit.trace.per_weight[-1] if fit.trace.per_weight else -math.inf for fit in (candidate, best))
    return new > old + 1e-9 * (1.0 + abs(old))


def short_runs(
    model: Model, sample: Block, init: Callable[[], Any], *, n_starts: int | None = None, n_steps: int = 10,
    taken: list[Lead] | None = None, device: Any = None,
) -> Any:  # fmt: skip
    """Best of `n_starts` runs of `n_steps` steps on a sample of rows, each from ``init()``; the parameters it reached.

    A model with a single start (``model.one_start``), or with all labels known, is initialised once and not run. By default
    there are 8 starts, and 20 where rows are few and runs cost next to nothing.

    Parameters
    ----------
    model : Model
        What to learn.
    sample : Block
        Rows to learn from.
    init : callable
        Returns parameters to start from, others at every call.
    n_starts : int, optional
        Number of runs.
    n_steps : int
        Steps of each.
    taken : list, optional
        Is given what led to the best run.
    device : torch.device, optional
        Where the runs compute; default the CPU.
    """
    if model.one_start or (sample.labels >= 0).all():
        return init()
    source = as_source(sample, device=device)
    failures: list[str] = []
    best: Any = None
    for _ in range(n_starts or (20 if len(sample) <= 1000 else 8)):
        try:
            with one_blas_thread():  # products of a sample are too small for several
                candidate = fit(model, source, init(), max_iter=n_steps, tol=1e-6)
        except SingularError as error:
            failures.append(str(error))
            continue
        except KeyboardInterrupt:
            if best is None:
                raise
            raise Interrupted(best.params) from None
        if _better(model, candidate, best):
            best = candidate
        if candidate.interrupted:
            raise Interrupted(best.params)
    if best is None:
        raise SingularError(failures[-1])
    if taken is not None:
        taken.append(Lead(len(best.trace)))
    return best.params


def fit_best(
    model: Model,
    source: Source,
    starts: Sequence[Callable[[], Any]],
    *,
    by: Callable[..., Fit] = fit,
    checkpoint: Checkpoint | None = None,
    led: Sequence[Lead] = (),
    **settings: Any,
) -> Fit:
    """Fit from each start and keep the best.

    Parameters
    ----------
    model, source
        As in `fit`.
    starts : sequence of callables
        Each returns parameters to start from. A start that turns out singular is recorded and the next one runs.
    by : callable
        What learns from a start: `fit`, or `climb`.
    checkpoint : Checkpoint, optional
        Continue from it if its file exists, and keep the state of the fit in it.
    led : list of Lead
        Where starts leave what led to them, as `short_runs` does.
    **settings
        Passed to what learns.

    Returns
    -------
    Fit
    """
    best: Any = None
    failures: list[Note] = []
    ends: list[list] = []
    first, resumed = 1, None
    if checkpoint is not None and (resumed := checkpoint.resume()) is not None:
        first, best, failures, ends = checkpoint.run, checkpoint.best, checkpoint.failures, checkpoint.ends
    for number, start in enumerate(starts, 1):
        if number < first:
            continue
        if checkpoint is not None:
            checkpoint.run, checkpoint.best, checkpoint.failures = number, best, failures
        try:
            params = start() if resumed is None else resumed.params
            if resumed is None:
                ends.append([LOWEST, *(led[-1] if led else Lead())])
            short = {"led": ends[-1][1]} if ends[-1][1] else {}
            if checkpoint is not None:
                checkpoint.ends = ends
            run = number, len(starts)
            candidate = by(model, source, params, run=run, checkpoint=checkpoint, resumed=resumed, **short, **settings)
        except SingularError as error:
            failures.append(Note("singular", "start {start}: {error}", start=number, error=str(error)))
            log.info("start %d failed: %s", number, error)
            continue
        except KeyboardInterrupt as stop:
            if isinstance(stop, Interrupted):
                best = best or Fit(stop.params, Trace(), CHOOSING)
            if best is None:
                raise
            best = dataclasses.replace(best, reason=CHOOSING, interrupted=True)
            break
        finally:
            resumed = None
        ends[-1][0] = candidate.trace.per_weight[-1] if candidate.trace.per_weight else LOWEST
        if _better(model, candidate, best):
            best = candidate
        if candidate.interrupted:
            best = dataclasses.replace(best, reason=candidate.reason, interrupted=True)
            break
    if best is None:
        raise SingularError(failures[-1].values["error"])
    if checkpoint is not None and not best.interrupted:
        checkpoint.remove()
    best = dataclasses.replace(best, failures=tuple(failures))
    return _counted(best, ends, settings.get("tol", 0.0))


def _counted(best: Fit, ends: list[list], tol: float) -> Fit:
    """The fit, which says how many of all runs came to its maximum."""
    if not best.trace.per_weight:
        return best
    limit = best.trace.per_weight[-1] - max(tol, 1e-6)
    n_reached = sum(reached for value, _, _, reached in ends if value >= limit)
    return dataclasses.replace(best, n_runs=sum(end[2] for end in ends), n_reached=n_reached)
