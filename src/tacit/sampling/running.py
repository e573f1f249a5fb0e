"""`run_chains`: the one loop over Markov chains, in blocks of steps, whatever the sampler.

A block works on copies of the chains' states and streams, which take their place at its end: an interrupt in the
middle loses the block and
nothing else, and a checkpoint is always of a whole block. Chains do not depend on where blocks end.
"""

from __future__ import annotations

import copy
import numbers
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..checks import check_n_jobs, check_number
from ..engine.progress import Progress
from ..notes import Note
from ..source.threads import all_of, thread_count
from .chains import Chains
from .checkpoint import ChainsCheckpoint
from .positions import Position, seeds

__all__ = ["Run", "Sampler", "SamplingProgress", "run_chains", "split_r_hat"]

BLOCK_SECONDS = 0.2
TRIED = 100
"""So many steps of warm-up without an acceptance are told."""
WATCHED = 50
"""So many quantities have a running R-hat."""


@dataclass(frozen=True)
class SamplingProgress(Progress):
    """What a callback is told while chains run; `objective` is the mean log density of the last steps, NaN where there is none.

    Parameters
    ----------
    acceptance : float
        Mean acceptance rate of the last steps.
    r_hat : float
        The largest of a few quantities so far, NaN during warm-up.
    warmup : bool
        Whether chains still adapt.
    n_divergent : int
        Divergent trajectories after warm-up.
    """

    acceptance: float = float("nan")
    r_hat: float = float("nan")
    warmup: bool = False
    n_divergent: int = 0

    @property
    def figures(self) -> list[str]:
        """What a bar tells of the step."""
        told = ["warm-up" if self.warmup else "sampling", f"acceptance {self.acceptance:.2f}"]
        told += [f"R-hat {self.r_hat:.3f}"] if np.isfinite(self.r_hat) else []
        return told + ([f"{self.n_divergent} divergent"] if self.n_divergent else [])


class Sampler:
    """How one chain moves. A state is a dict of arrays; nothing else may change from step to step.

    Attributes
    ----------
    name : str
    threads : bool
        Whether steps leave the interpreter, so that chains run beside each other.
    position : Position or None
        How the vectors that `run` returns are taken apart.
    """

    name = "chain"
    threads = True
    position: Position | None = None

    def settings(self) -> dict:
        """What a checkpoint must agree in, as JSON holds it."""
        return {}

    def run(self, state: dict, n: int, rng: np.random.Generator) -> tuple[Any, dict[str, np.ndarray]]:
        """Go on by n draws, changing the state: draws (n, d), or a dict of (n, ...), and statistics (n,)."""
        raise NotImplementedError

    def notes(self, states: list[dict], statistics: dict[str, np.ndarray]) -> list[Note]:
        """What the sampler has to tell at the end; `statistics` are of draws after warm-up."""
        return []


@dataclass(frozen=True)
class Run:
    """How long chains run, and who is told.

    Parameters
    ----------
    n_draws, n_warmup, n_chains : int
    keep_warmup : bool
    random_state, n_jobs, callback, checkpoint
        As in `metropolis`.
    """

    n_draws: int = 1000
    n_warmup: int = 1000
    n_chains: int = 4
    keep_warmup: bool = False
    random_state: Any = None
    n_jobs: int | None = None
    callback: Callable | None = None
    checkpoint: Any = None

    def __post_init__(self) -> None:
        for name, least in (("n_draws", 1), ("n_warmup", 0), ("n_chains", 1)):
            check_number(name, getattr(self, name), numbers.Integral, least)
        check_n_jobs(self.n_jobs)

    def streams(self) -> list[np.random.Generator]:
        """A stream of random numbers for each chain."""
        return seeds(self.random_state, self.n_chains)


@dataclass
class _Going:
    """Chains under way."""

    states: list[dict]
    streams: list[np.random.Generator]
    step: int = 0
    draws: list[list[dict]] = field(default_factory=lambda: [[], []])
    statistics: list[list[dict]] = field(default_factory=lambda: [[], []])
    seconds: float = 0.0

    def block(self, sampler: Sampler, n: int, n_threads: int, kept: int | None) -> dict[str, np.ndarray]:
        """Go on by n steps and keep their draws as warm-up (0) or draws (1); the statistics of the steps."""

        def one(i: int) -> tuple:
            state, rng = copy.deepcopy(self.states[i]), copy.deepcopy(self.streams[i])
            return state, rng, *sampler.run(state, n, rng)

        done = all_of(one, range(len(self.states)), n_threads, serial_blas=True)
        self.states, self.streams = [each[0] for each in done], [each[1] for each in done]
        self.step += n
        parts = [sampler.position.parts(each[2]) if sampler.position else each[2] for each in done]
        statistics = {name: np.stack([each[3][name] for each in done]) for name in done[0][3]}
        if kept is not None:
            self.draws[kept].append({name: np.stack([part[name] for part in parts]) for name in parts[0]})
            self.statistics[kept].append(statistics)
        return statistics

    def gathered(self, kept: int) -> tuple[dict, dict]:
        """All draws and statistics of warm-up (0) or after it (1), in one array each."""
        for parts in (self.draws[kept], self.statistics[kept]):
            if len(parts) > 1:
                parts[:] = [{name: np.concatenate([part[name] for part in parts], axis=1) for name in parts[0]}]
        return (self.draws[kept] or [{}])[0], (self.statistics[kept] or [{}])[0]


def run_chains(sampler: Sampler, states: list[dict], streams: list[np.random.Generator], run: Run) -> Chains:
    """Run every chain from its state to the end, or until interrupted.

    Parameters
    ----------
    sampler : Sampler
    states : list of dict
        One for each chain.
    streams : list of numpy.random.Generator
    run : Run
    """
    going, notes = _Going(states, streams), list[Note]()
    checkpoint = None
    if run.checkpoint is not None:
        checkpoint = ChainsCheckpoint(run.checkpoint, sampler, states, streams, run)
        checkpoint.resume(going)
    interrupted = False
    try:
        _go_on(sampler, going, run, checkpoint, notes)
    except KeyboardInterrupt:
        interrupted = True
        if checkpoint:
            checkpoint.flush(going)
    if interrupted and not going.draws[1]:
        raise KeyboardInterrupt("interrupted during warm-up: there are no draws yet")
    draws, statistics = going.gathered(1)
    n = next(iter(draws.values())).shape[1]
    if interrupted:
        notes.append(Note(
            "interrupted", "Interrupted by the user: {n} of {of} draws of each chain were made.", n=n, of=run.n_draws
        ))  # fmt: skip
    elif checkpoint:
        checkpoint.remove()
    warmup, warmup_statistics = going.gathered(0) if run.keep_warmup else ({}, {})
    acceptance = statistics["acceptance_rate"].mean(axis=1) if "acceptance_rate" in statistics else np.ones(len(states))
    notes += sampler.notes(going.states, statistics)
    return Chains(draws, statistics, warmup, warmup_statistics, acceptance, tuple(notes), interrupted, sampler.name)


def _go_on(sampler: Sampler, going: _Going, run: Run, checkpoint: Any, notes: list[Note]) -> None:
    """Blocks of steps until the end."""
    n_threads = min(thread_count(run.n_jobs), run.n_chains) if sampler.threads else 1
    total, size, watched = run.n_warmup + run.n_draws, 8, run.n_warmup > 0 and going.step == 0
    idle = np.ones(run.n_chains, bool)
    while going.step < total:
        warm = going.step < run.n_warmup
        began = time.monotonic()
        n = min(size, (run.n_warmup if warm else total) - going.step)
        told = going.block(sampler, n, n_threads, (0 if run.keep_warmup else None) if warm else 1)
        spent = time.monotonic() - began
        going.seconds += spent
        if n == size:
            size = size * 2 if spent < BLOCK_SECONDS / 2 else max(1, size // 2) if spent > BLOCK_SECONDS * 2 else size
        if watched and "acceptance_rate" in told:
            idle &= told["acceptance_rate"].max(axis=1) == 0
            if not idle.any() or going.step >= min(TRIED, run.n_warmup):
                watched = False
                if idle.any():
                    notes.append(_never_accepted(idle, going.step))
        if checkpoint:
            checkpoint.offer(going)
        if run.callback:
            run.callback(_progress(going, told, run, warm))


def _never_accepted(idle: np.ndarray, step: int) -> Note:
    note = Note(
        "never_accepted", "None of the first {step} proposals of {n} of {of} chains was accepted: proposals are too "
        "wide, or lead to where the "
        "density is 0 or not a number.",
        step=step, n=int(idle.sum()), of=len(idle),
    )  # fmt: skip
    warnings.warn(str(note), stacklevel=5)
    return note


def _progress(going: _Going, told: dict, run: Run, warm: bool) -> SamplingProgress:
    total = run.n_warmup + run.n_draws
    draws, statistics = going.gathered(1)
    value = float(np.mean(told["lp"])) if "lp" in told else float("nan")
    return SamplingProgress(
        run=1, n_runs=1, step=going.step, max_iter=total, objective=value, gain=float("nan"), done=going.step == total,
        seconds=going.seconds, steps_left=total - going.step, warmup=warm,
        acceptance=float(np.mean(told["acceptance_rate"])) if "acceptance_rate" in told else 1.0,
        r_hat=_running(draws) if draws else float("nan"),
        n_divergent=int(statistics["diverging"].sum()) if "diverging" in statistics else 0,
    )  # fmt: skip


def _running(draws: dict[str, np.ndarray]) -> float:
    parts = [value.reshape(*value.shape[:2], -1)[..., :WATCHED] for value in draws.values()]
    values = np.concatenate(parts, axis=2)[..., :WATCHED].astype(np.float64)
    found = split_r_hat(values)
    return float(np.nanmax(found)) if np.isfinite(found).any() else float("nan")


def split_r_hat(values: np.ndarray) -> np.ndarray:
    """R-hat of halves of chains (chain, draw, quantity), without ranks: what is cheap enough to be watched."""
    half = values.shape[1] // 2
    if half < 2:
        return np.full(values.shape[2], np.nan)
    halves = np.concatenate([values[:, :half], values[:, -half:]])
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    with np.errstate(all="ignore"):
        return np.sqrt((half - 1) / half + halves.mean(axis=1).var(axis=0, ddof=1) / within)
