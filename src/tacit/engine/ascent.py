"""Objectives with gradients: maximise Σ_blocks f(θ, block) + log p(θ) over the unconstrained view of a model's parameters.

    Newton:  θ' = θ − H⁻¹ g within a region of trust        BFGS, L-BFGS, conjugate gradients, gradient ascent: g alone

Constraints c(θ) = 0 or c(θ) ≥ 0 are met by the augmented Lagrangian f − λ·c − ρ/2 ‖c‖², whose multipliers λ follow c, or by the
penalty alone. Optimisers are SciPy's; they are deterministic, so that a killed run goes on by answering from a record of the
evaluations that it made.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import line_search, minimize

from ..arrays import Arrays, record
from ..notes import Note
from .loop import Fit, finish, interrupted_after, progress_of
from .model import Model, SingularError
from .newton import Newton
from .orthant import Orthant
from .trace import Trace

if TYPE_CHECKING:
    from ..source.source import Source
    from .checkpoint import Checkpoint, Resumed

__all__ = ["METHODS", "Constraint", "Slope", "climb"]

METHODS = {"newton": "trust-exact", "bfgs": "BFGS", "lbfgs": "L-BFGS-B", "cg": "CG", "gradient": "gradient"}
"""Names of methods, and SciPy's."""
MOST_RECORDED = 1 << 26
"""Bytes of evaluations that a checkpoint keeps; beyond, a run goes on from its last point, with another path."""
ROUNDS = 50


@record
class Slope(Arrays):
    """What a block adds to the objective.

    Attributes
    ----------
    loglik, weight : float
        Its value, and the weight of its rows.
    gradient : (p,) array
    curvature : (p, p) array
        Empty unless asked for.
    """

    loglik: float
    weight: float
    gradient: np.ndarray
    curvature: np.ndarray


@dataclass(frozen=True)
class Constraint:
    """What parameters must meet.

    Attributes
    ----------
    value : callable
        c of parameters, (m,).
    slope : callable
        Its derivatives with respect to the unconstrained view, (m, p).
    equal : bool
        Whether c must be 0, or only not negative.
    """

    value: Callable[[Any], np.ndarray]
    slope: Callable[[Any], np.ndarray]
    equal: bool = True


class _Evaluations:
    """The objective at vectors, each of which costs a pass; the record of them is what a run is resumed from."""

    extrapolated = False

    def __init__(self, model: Model, source: Source, params: Any, order: int, trace: Trace):
        self.model, self.source, self.params, self.order, self.trace = model, source, params, order, trace
        self.known: list[tuple] = []
        self.replayed, self.n_restored, self.n_bytes = 0, 0, 0
        self.last: tuple = ()

    def __call__(self, x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Value per unit of weight, gradient and curvature at a vector."""
        if self.last and np.array_equal(self.last[0], x):
            return self.last[1:]
        if self.replayed < len(self.known) and np.array_equal(self.known[self.replayed][0], x):
            self.last = self.known[self.replayed]
        else:
            self.last = (x.copy(), *self._evaluate(x))
            self.n_bytes += sum(np.asarray(part).nbytes for part in self.last)
            self.known = [*self.known[: self.replayed], self.last] if self.n_bytes <= MOST_RECORDED else []
        self.replayed += 1
        self.trace.passes += 1
        return self.last[1:]

    def _evaluate(self, x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        params = self.model.bound(x, self.params)
        found = self.source.sum(partial(self.model.slope, params, order=self.order))
        more, steeper = self.model.prior_slope(params)
        value = (found.loglik + self.model.log_prior(params)) / found.weight
        self.trace.weight = float(found.weight)
        if not np.isfinite(value):
            return -np.inf, np.zeros_like(x), np.zeros((len(x), len(x)) if self.order > 1 else (0, 0))
        curvature = found.curvature + steeper if self.order > 1 else found.curvature
        return float(value), (found.gradient + more) / found.weight, curvature / found.weight

    @property
    def is_replay(self) -> bool:
        """Whether the last answer came from the record that the run was resumed with."""
        return self.replayed <= self.n_restored

    def state(self, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
        """What must be remembered to go on after a restart; see `Plain.state`."""
        if not self.known:
            return {"names": []}
        for name, part in zip(("points", "values", "gradients", "curvatures"), zip(*self.known)):
            arrays[f"step.{name}"] = np.array(part)
        return {"names": ["points", "values", "gradients", "curvatures"], "weight": self.trace.weight}

    def restore(self, state: dict[str, Any]) -> bool:
        """Take up a record; False where there is none."""
        if not state.get("names"):
            return False
        self.known = list(zip(*(state["arrays"][name] for name in state["names"])))
        self.n_restored = len(self.known)
        self.trace.weight = float(state["weight"])
        return True


def climb(
    model: Model,
    source: Source,
    params: Any,
    *,
    method: str | Orthant | Newton = "lbfgs",
    max_iter: int = 200,
    tol: float = 1e-6,
    constraints: Sequence[Constraint] = (),
    multipliers: bool = True,
    callback: Callable | None = None,
    checkpoint: Checkpoint | None = None,
    resumed: Resumed | None = None,
    run: tuple[int, int] = (1, 1),
) -> Fit:
    """Learn `model` from `source` by its gradient, starting at `params`.

    Parameters
    ----------
    model : Model
        Has ``slope(params, block, order)``, and the unconstrained view ``free`` and ``bound``.
    source : Source
        Rows.
    params : Arrays
        Where to start.
    method : {"lbfgs", "newton", "bfgs", "cg", "gradient"}, Orthant or Newton
        How to climb; "newton" needs the curvature. An `Orthant` takes a penalty on absolute values, and so does a `Newton`, for
        concave objectives; both end as they say themselves instead of by `tol`.
    max_iter : int
        Most steps, of each round where there are constraints.
    tol : float
        The fit has settled when no entry of the gradient, per unit of weight, is larger.
    constraints : sequence of Constraint
        What parameters must meet, to `tol`.
    multipliers : bool
        Whether constraints have multipliers (the augmented Lagrangian); without, penalties alone grow until they are met.
    callback, checkpoint, resumed, run
        As in `tacit.engine.fit`.

    Returns
    -------
    Fit
    """
    if not isinstance(method, (Orthant, Newton)) and method not in METHODS:
        raise ValueError(f"method={method!r} is unknown; use one of {', '.join(map(repr, METHODS))}.")
    trace = Trace()
    order = 2 if method == "newton" or isinstance(method, Newton) else 1
    evaluate = _Evaluations(model, source, params, order, trace)
    if resumed is not None and not evaluate.restore(resumed.step):
        evaluate.params = params = resumed.params
        trace.objectives, trace.passes = list(resumed.trace.objectives), resumed.trace.passes
    state = partial(progress_of, trace, source, run, max_iter, tol, time.perf_counter())
    done = partial(finish, trace, callback, state)
    place = np.asarray(model.free(params), dtype=np.float64)
    if evaluate.known:  # the path from the start is gone over again, in the record
        place = np.array(evaluate.known[0][0])

    def told(x: np.ndarray) -> None:
        nonlocal place
        place = x.copy()
        trace.record(evaluate(x)[0] * trace.weight, trace.weight)
        if not evaluate.is_replay:
            if callback:
                callback(state())
            if checkpoint is not None:
                checkpoint.offer(model.bound(place, params), trace, evaluate, source)

    try:
        if not np.isfinite(evaluate(place)[0]):
            raise SingularError(
                f"the objective is {evaluate(place)[0]} at the start; begin elsewhere or scale the data."
            )
        told(place)
        if isinstance(method, (Orthant, Newton)):
            if constraints:
                name = "an Orthant" if isinstance(method, Orthant) else "a Newton"
                raise ValueError(f"{name} meets no constraints; use method='lbfgs'.")
            place, reason = method(evaluate, place, max_iter, told, lambda: trace.weight)
        elif constraints:
            place, reason = _constrained(evaluate, place, constraints, multipliers, method, max_iter, tol, told)
        else:
            place, reason = _ascend(evaluate, place, method, max_iter, tol, told)
    except KeyboardInterrupt:
        if checkpoint is not None:
            checkpoint.flush()
        return done(model.bound(place, params), interrupted_after(trace), interrupted=True)
    return done(model.bound(place, params), reason, converged=reason.code in ("gradient", "no_better", "period"))


def _ascend(
    evaluate: Callable, x: np.ndarray, method: str, max_iter: int, tol: float, told: Callable
) -> tuple[np.ndarray, Note]:
    """Where a method of SciPy's leads, and why it ended; `evaluate` gives value, gradient and curvature."""
    if method == "gradient":
        return _steepest(evaluate, x, max_iter, tol, told)
    limit = {"gtol": tol, "maxiter": max_iter}
    if method == "lbfgs":
        limit |= {"ftol": 0.0, "maxfun": 10 * max_iter + 100, "maxcor": 20}
    found = minimize(
        lambda x: -evaluate(x)[0], x, jac=lambda x: -evaluate(x)[1], method=METHODS[method], callback=told,
        hess=(lambda x: -evaluate(x)[2]) if method == "newton" else None, options=limit,
    )  # fmt: skip
    return found.x, _ended(np.abs(evaluate(found.x)[1]).max(initial=0.0), int(found.nit), max_iter, tol)


def _ended(steepest: float, steps: int, max_iter: int, tol: float) -> Note:
    if steepest <= tol:
        return Note("gradient", "the gradient fell below tol={tol:g}", tol=tol)
    if steps >= max_iter:
        return Note("max_iter", "max_iter={max_iter} steps were taken", max_iter=max_iter)
    return Note("no_better", "no step improves any more, at a gradient of {gradient:.3g}", gradient=float(steepest))


def _steepest(evaluate: Callable, x: np.ndarray, max_iter: int, tol: float, told: Callable) -> tuple[np.ndarray, Note]:
    """Gradient ascent with SciPy's line search."""
    for step in range(max_iter):
        value, gradient, _ = evaluate(x)
        if np.abs(gradient).max(initial=0.0) <= tol:
            return x, _ended(0.0, step, max_iter, tol)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that no step was found is told in the reason
            length, *_ = line_search(
                lambda x: -evaluate(x)[0], lambda x: -evaluate(x)[1], x, gradient, -gradient, -value, maxiter=50
            )
        if length is None:
            return x, _ended(float(np.abs(gradient).max()), step, max_iter, tol)
        x = x + length * gradient
        told(x)
    return x, _ended(float(np.abs(evaluate(x)[1]).max()), max_iter, max_iter, tol)


class _Lagrangian:
    """f − Σ_j (ρ/2 c_j² − λ_j c_j) over constraints that bind, with a curvature that leaves out that of c."""

    def __init__(self, evaluate: _Evaluations, constraints: Sequence[Constraint]):
        self.evaluate, self.constraints = evaluate, constraints
        self.weight = 10.0
        values, _ = self.at(evaluate.model.free(evaluate.params))
        self.multiplier = np.zeros(len(values))
        self.equal = np.repeat(
            [c.equal for c in constraints], [len(np.atleast_1d(c.value(evaluate.params))) for c in constraints]
        )

    def at(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All constraints and their slopes at a vector."""
        params = self.evaluate.model.bound(x, self.evaluate.params)
        values = np.concatenate([np.atleast_1d(each.value(params)) for each in self.constraints])
        return values, np.vstack([np.atleast_2d(each.slope(params)) for each in self.constraints])

    def missed(self, x: np.ndarray) -> np.ndarray:
        """By how much each constraint is not met."""
        values, _ = self.at(x)
        return np.where(self.equal, values, np.minimum(values, 0.0))

    def __call__(self, x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        value, gradient, curvature = self.evaluate(x)
        c, slope = self.at(x)
        pull = self.multiplier - self.weight * c
        pull = np.where(self.equal, pull, np.maximum(pull, 0.0))
        binds = self.equal | (pull > 0)
        value += float(np.where(self.equal, (self.multiplier - 0.5 * self.weight * c) * c, 0.0).sum())
        value -= float(np.where(self.equal, 0.0, (pull**2 - self.multiplier**2) / (2 * self.weight)).sum())
        if curvature.size:
            curvature = curvature - self.weight * (slope[binds].T @ slope[binds])
        return value, gradient + pull @ slope, curvature

    def update(self, x: np.ndarray, multipliers: bool) -> None:
        """Follow the constraints with the multipliers, or weigh what is not met more."""
        if multipliers:
            new = self.multiplier - self.weight * self.at(x)[0]
            self.multiplier = np.where(self.equal, new, np.maximum(new, 0.0))
        else:
            self.weight *= 10.0


def _constrained(
    evaluate: _Evaluations, x: np.ndarray, constraints: Sequence[Constraint], multipliers: bool, method: str,
    max_iter: int, tol: float, told: Callable,
) -> tuple[np.ndarray, Note]:  # fmt: skip
    """Rounds of climbing, each of which meets the constraints more closely."""
    lagrangian, before = _Lagrangian(evaluate, constraints), np.inf
    for _ in range(ROUNDS):
        x, reason = _ascend(lagrangian, x, method, max_iter, tol, told)
        missed = float(np.abs(lagrangian.missed(x)).max(initial=0.0))
        if missed <= tol:
            return x, reason
        lagrangian.update(x, multipliers)
        if missed > 0.25 * before:
            lagrangian.weight *= 10.0
        before = missed
    told_ = "constraints are not met: they miss by {missed:.3g} after {rounds} rounds"
    return x, Note("infeasible", told_, missed=missed, rounds=ROUNDS)
