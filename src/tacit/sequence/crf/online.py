"""Learning from one sequence after the other: stochastic gradients, and updates where the likeliest labels are wrong.

None of these follows a sum over all sequences, so each pass is a loop over them, compiled, on one thread; see
`tacit.kernels.crf_online` for the equations.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...engine import Fit, Trace
from ...engine.loop import finish, interrupted_after, progress_of
from ...kernels import kernel
from ...notes import Note
from ...source import SparseSource
from .layout import Layout
from .model import Weights
from .schemes import Chain

__all__ = ["RULES", "Passes", "descend", "mend_mistakes"]

RULES = {"ap": 0, "pa": 1, "arow": 2}


@dataclass(frozen=True)
class Passes:
    """Sequences to be gone through again and again.

    Parameters
    ----------
    source : SparseSource
        Steps; attributes are in the order of the layout, which has no table.
    layout : Layout
    chain : Chain
    start : Weights
        Where to begin.
    max_iter : int
        Most passes.
    rng : numpy.random.Generator
        Puts sequences into another order before every pass.
    callback : callable, optional
        Is called with the progress after every pass.
    """

    source: SparseSource
    layout: Layout
    chain: Chain
    start: Weights
    max_iter: int
    rng: np.random.Generator
    callback: Callable | None

    @property
    def offsets(self) -> np.ndarray:
        """Where sequences begin."""
        return np.arange(self.source.n_rows + 1) if self.source.offsets is None else self.source.offsets

    @property
    def weight(self) -> np.ndarray:
        """Weights of sequences."""
        return self.source.weight[self.offsets[:-1]]

    @property
    def rows(self) -> tuple:
        """What kernels are told of the sequences and of the features."""
        X, layout = self.source.rows, self.layout
        moves = layout.exists[len(layout.exists) - layout.n_labels**2 :]
        return (
            X.data, X.indices.astype(np.uint32), X.indptr, self.offsets, self.source.labels, self.weight, layout.pointer,
            layout.label, layout.n_labels, moves,
        )  # fmt: skip

    def run(self, one: Callable[[np.ndarray, int], tuple[float, np.ndarray, Note | None]]) -> Fit:
        """Call ``one(order, number)`` for pass after pass; it returns the objective, weights, and why to end here, if so."""
        trace, vector = Trace(), self.start.vector
        state = partial(progress_of, trace, self.source, (1, 1), self.max_iter, 0.0, time.perf_counter())
        done = partial(finish, trace, self.callback, state)
        reason = Note("max_iter", "max_iter={max_iter} passes were made", max_iter=self.max_iter)
        try:
            for number in range(self.max_iter):
                objective, vector, ended = one(self.rng.permutation(len(self.offsets) - 1), number)
                trace.passes += 1
                trace.record(objective, float(self.weight.sum()))
                if self.callback:
                    self.callback(state())
                if ended is not None:
                    return done(Weights(vector), ended, converged=True)
        except KeyboardInterrupt:
            return done(Weights(vector), interrupted_after(trace), interrupted=True)
        return done(Weights(vector), reason)


def descend(passes: Passes, *, c2: float, period: int, delta: float, calibration: dict[str, Any]) -> Fit:
    """Stochastic gradients with the penalty c₂ ‖w‖²; the weights of the best pass are kept.

    Parameters
    ----------
    passes : Passes
    c2 : float
    period, delta : int, float
        It has settled when the last `period` passes improved the loss by less than `delta` of itself.
    calibration : dict
        How the first step is chosen: what to try first (`eta`), by which factor to go on (`rate`), on how many sequences
        (`samples`), for how many that improve (`candidates`), in how many tries (`max_trials`).
    """
    n, rows = len(passes.weight), passes.rows
    rate = 2.0 * c2 / n
    bounds = passes.chain.start.astype(float), passes.chain.moves.astype(float), passes.chain.logs()[2]

    def learn(order: np.ndarray, vector: np.ndarray, clock: np.ndarray) -> float:
        loss = kernel("gradient_pass")(order, *rows, *bounds, clock, vector)
        return float(loss) + 0.5 * rate * float(vector @ vector) * len(order)

    t0 = _first_step(passes, learn, rate, calibration)
    vector, clock = passes.start.vector.copy(), np.array([rate, t0, 0.0])
    losses: list[float] = []
    best = vector.copy()

    def one(order: np.ndarray, number: int) -> tuple[float, np.ndarray, Note | None]:
        loss = learn(order, vector, clock)
        if loss < min(losses, default=np.inf):
            best[:] = vector
        losses.append(loss)
        gained = np.inf if number < period else (losses[-1 - period] - loss) / loss
        told = "{period} passes improved the loss by less than delta={delta:g} of itself"
        return -loss, best, Note("period", told, period=period, delta=delta) if gained < delta else None

    return passes.run(one)


def _first_step(passes: Passes, learn: Callable, rate: float, calibration: dict[str, Any]) -> float:
    """t₀ such that the first step η = 1 / (λ t₀) makes one pass over a few sequences best; larger ones are tried first."""
    n, eta, factor = len(passes.weight), calibration["eta"], calibration["rate"]
    order = passes.rng.permutation(n)[: calibration["samples"]]
    origin = np.zeros_like(passes.start.vector)
    before = learn(order, origin.copy(), np.array([rate, np.inf, 0.0]))  # steps of length 0
    left, growing, best, chosen = calibration["candidates"], True, np.inf, eta
    for _ in range(calibration["max_trials"]):
        loss = learn(order, origin.copy(), np.array([rate, 1.0 / (rate * eta), 0.0]))
        improves = np.isfinite(loss) and loss < before
        left -= int(improves)
        if np.isfinite(loss) and loss < best:
            best, chosen = loss, eta
        if growing and not (improves and left > 0):
            growing, left, eta = False, calibration["candidates"], calibration["eta"]
        eta *= factor if growing else 1.0 / factor
        if not growing and left <= 0:
            break
    return 1.0 / (rate * chosen)


def mend_mistakes(
    passes: Passes, *, rule: str, epsilon: float, kind: int = 1, c: float = 1.0, by_errors: bool = True, averaging: bool = True,
    variance: float = 1.0, gamma: float = 1.0,
) -> Fit:  # fmt: skip
    """Updates where the likeliest labels are wrong, until the mean loss is below `epsilon`.

    Parameters
    ----------
    passes : Passes
    rule : {"ap", "pa", "arow"}
        Averaged perceptron, passive-aggressive, adaptive regularisation.
    epsilon : float
    kind, c, by_errors, averaging
        Of "pa": the kind of updates, what limits them, whether losses grow with the number of mistakes, and whether weights are
        averaged over all updates, as those of "ap" are.
    variance, gamma
        Of "arow": the first variance of weights, and how slowly it shrinks.
    """
    start, allowed, end = passes.chain.logs()
    vector, rows = passes.start.vector.copy(), passes.rows
    other = np.full_like(vector, variance) if rule == "arow" else np.zeros_like(vector)
    state = np.array([1.0, float(kind), gamma if rule == "arow" else c, float(by_errors)])

    def one(order: np.ndarray, number: int) -> tuple[float, np.ndarray, Note | None]:
        loss = kernel("mistake_pass")(order, *rows, start, allowed, end, RULES[rule], state, vector, other)
        averages = rule == "ap" or (rule == "pa" and averaging)
        found = vector - other / state[0] if averages else vector.copy()
        mean, told = loss / len(passes.weight), "the mean loss fell below epsilon={epsilon:g}"
        settled = mean < epsilon or (rule == "arow" and mean <= epsilon)
        return -float(loss), found, Note("epsilon", told, epsilon=epsilon) if settled else None

    return passes.run(one)
