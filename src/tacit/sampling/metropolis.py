"""`metropolis`: accept a proposal y from q(y | x) with probability min(1, π(y) q(x | y) / (π(x) q(y | x)))."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from ..checks import check_number
from ..kernels import lazy
from ..notes import Note
from .chains import Chains
from .density import Density, compiled_or_none
from .points import open_proposal
from .positions import Position, starts
from .running import Run, Sampler, run_chains

__all__ = ["metropolis", "opened"]

walk, jit = lazy("walk"), lazy("jit")
AHEAD = 256
"""Proposals that are drawn together; a constant, since chains must not depend on it."""


def metropolis(
    log_density: Any,
    start: Any,
    *,
    proposal: Any = None,
    n_draws: int = 5000,
    n_warmup: int = 5000,
    n_chains: int = 4,
    n_thin: int = 1,
    keep_warmup: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
    callback: Callable | None = None,
    checkpoint: Any = None,
) -> Chains:
    """Draw from a density by the Metropolis-Hastings algorithm.

    A density and a proposal that are written in Python are compiled where numba can follow them, so that a chain is
    one compiled call; otherwise
    they are called from Python, and a note of the result says why.

    Parameters
    ----------
    log_density : callable, distribution or object
        The log density up to a constant, of a vector, or of a dict of arrays where `start` is one. Also a distribution
        of `tacit.families`
        or a frozen one of SciPy. Minus infinity is a density of 0; a value that is not a number is never accepted.
    start : array of shape (d,) or (n_chains, d), dict of arrays, list of n_chains of these, or callable
        Where chains start; a callable takes a ``numpy.random.Generator`` and returns a start. Chains that start apart
        show whether they mix.
    proposal : callable, distribution or None
        None is a random walk whose covariance is learned during warm-up. A function ``proposal(x, rng)`` returns the
        proposed vector and
        log q(x | y) − log q(y | x), 0 where it is symmetric. A distribution (of `tacit.families`, frozen of SciPy, a
        fitted density
        estimator, or a pair of functions ``sample(n, rng)`` and ``log_prob(X)``) is proposed from wherever the chain is.
    n_draws, n_warmup, n_chains : int
        Draws of every chain, draws before them that are not counted, and chains.
    n_thin : int
        Steps per draw.
    keep_warmup : bool
        Whether draws of warm-up are kept in ``Chains.warmup``.
    random_state : int, Generator, RandomState or None
        Seeds one stream per chain, so that draws do not depend on the number of threads.
    n_jobs : int, optional
        Threads; None is all cores.
    callback : callable, optional
        Called with a `tacit.sampling.SamplingProgress` several times a second, such as `tacit.engine.ProgressBar`.
    checkpoint : path, optional
        A file from which an interrupted run goes on to the last bit.

    Returns
    -------
    Chains

    References
    ----------
    Metropolis et al. (1953); Hastings (1970). Haario, Saksman and Tamminen (2001), An adaptive Metropolis algorithm.

    Examples
    --------
    >>> from tacit.sampling import metropolis
    >>> chains = metropolis(lambda x: -0.5 * (x[0] - 3.0) ** 2, [0.0], random_state=0)
    >>> chains["x"].mean().round(1)
    np.float64(3.0)
    """
    run = Run(n_draws, n_warmup, n_chains, keep_warmup, random_state, n_jobs, callback, checkpoint)
    check_number("n_thin", n_thin, numbers.Integral, 1)
    streams = run.streams()
    position, vectors = starts(start, n_chains, streams)
    density = Density(log_density, position, vectors)
    values = opened(density, vectors)
    sampler: _Metropolis
    if proposal is None:
        sampler = _Walk(density, n_thin, n_warmup)
    elif callable(proposal) and not hasattr(proposal, "rvs"):
        sampler = _Proposed(density, n_thin, proposal, vectors)
    else:
        sampler = _Independent(density, n_thin, proposal)
    states = [sampler.begin(vector, value) for vector, value in zip(vectors, values)]
    return run_chains(sampler, states, streams, run)


def opened(density: Density, vectors: list[np.ndarray]) -> list[float]:
    """Log densities of starts; ValueError where one is not finite, since a chain cannot leave from there."""
    with np.errstate(all="ignore"):
        values = [density(vector) for vector in vectors]
    for i, value in enumerate(values):
        if not math.isfinite(value):
            kind = "has probability 0: its log density is -inf" if value == -math.inf else f"has log density {value}"
            raise ValueError(
                f"The start of chain {i}, {np.array2string(vectors[i], precision=4, threshold=5)}, {kind}; start "
                f"where the density "
                "is positive."
            )
    return values


class _Metropolis(Sampler):
    """What all proposals share."""

    name = "metropolis"

    def __init__(self, density: Density, n_thin: int):
        self.density, self.n_thin = density, n_thin
        self.position: Position = density.position
        self.threads = density.compiled is not None

    def settings(self) -> dict:
        return {"proposal": type(self).__name__, "n_thin": self.n_thin}

    def begin(self, vector: np.ndarray, value: float) -> dict:
        return {"x": vector.copy(), "numbers": np.array([value, math.log(2.38 / math.sqrt(len(vector))), 0.0, 0.0])}

    def out(self, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return np.empty((n, self.position.size)), np.empty(n), np.empty(n)

    def notes(self, states: list[dict], statistics: dict[str, np.ndarray]) -> list[Note]:
        stuck = statistics["acceptance_rate"].max(axis=1, initial=0) == 0
        if not stuck.any():
            return [self.density.note]
        return [self.density.note, Note(
            "stuck", "{n} of {of} chains never moved after warm-up: no proposal was accepted.", n=int(stuck.sum()), of=len(stuck)
        )]  # fmt: skip


class _Walk(_Metropolis):
    """A random walk, whose covariance is learned during warm-up."""

    def __init__(self, density: Density, n_thin: int, n_warmup: int):
        super().__init__(density, n_thin)
        self.n_adapting = n_warmup * n_thin

    def begin(self, vector: np.ndarray, value: float) -> dict:
        d = len(vector)
        return super().begin(vector, value) | {"factor": np.eye(d), "scatter": np.zeros((d, d)), "mean": np.zeros(d)}

    def run(self, state: dict, n: int, rng: np.random.Generator) -> tuple:
        compiled = self.density.compiled
        steps = jit.plain(walk.walk_steps) if compiled is None else walk.walk_steps
        draws, values, rates = self.out(n)
        steps(
            compiled or self.density, state["x"], state["factor"], state["scatter"], state["mean"], state["numbers"],
            self.n_adapting, self.n_thin, rng, draws, values, rates,
        )  # fmt: skip
        return draws, {"lp": values, "acceptance_rate": rates}


class _Proposed(_Metropolis):
    """Proposals by a function of the user."""

    def __init__(self, density: Density, n_thin: int, propose: Callable, vectors: list[np.ndarray]):
        super().__init__(density, n_thin)
        self.propose = _checked(propose, density.position)
        made = None
        if not density.position.named:
            made, self.note = compiled_or_none(
                propose, walk.PROPOSAL, lambda f: [np.append(*f(x, np.random.default_rng(0))) for x in vectors],
                self.propose, "proposal",
            )  # fmt: skip
        self.compiled = made if density.compiled is not None else None
        self.threads = self.compiled is not None

    def run(self, state: dict, n: int, rng: np.random.Generator) -> tuple:
        both = (self.density, self.propose) if self.compiled is None else (self.density.compiled, self.compiled)
        steps = jit.plain(walk.proposed_steps) if self.compiled is None else walk.proposed_steps
        draws, values, rates = self.out(n)
        steps(*both, state["x"], state["numbers"], self.n_thin, rng, draws, values, rates)
        return draws, {"lp": values, "acceptance_rate": rates}


class _Independent(_Metropolis):
    """Proposals from a distribution, drawn and scored many at a time."""

    def __init__(self, density: Density, n_thin: int, proposal: Any):
        super().__init__(density, n_thin)
        self.proposal = open_proposal(proposal, density.position.size)
        self.threads = False

    def begin(self, vector: np.ndarray, value: float) -> dict:
        state = super().begin(vector, value)
        weight = value - float(self.proposal.log_prob(vector[None])[0])
        if not math.isfinite(weight):
            raise ValueError(
                f"The proposal has probability 0 at the start {vector}; it must reach wherever the density does."
            )
        d = len(vector)
        return {
            "x": state["x"], "numbers": np.append(state["numbers"], weight), "ahead": np.zeros((AHEAD, d)),
            "values": np.zeros(AHEAD), "weights": np.zeros(AHEAD), "used": np.array(AHEAD),
        }  # fmt: skip

    def run(self, state: dict, n: int, rng: np.random.Generator) -> tuple:
        draws, values, rates = self.out(n * self.n_thin)
        at = 0
        while at < len(draws):
            if state["used"] == AHEAD:
                self._refill(state, rng)
            used = int(state["used"])
            size = min(AHEAD - used, len(draws) - at)
            here, there = slice(used, used + size), slice(at, at + size)
            walk.independent_steps(
                state["ahead"][here], state["values"][here], state["weights"][here], state["numbers"], state["x"], rng,
                draws[there], values[there], rates[there],
            )  # fmt: skip
            state["used"] += size
            at += size
        last = slice(self.n_thin - 1, None, self.n_thin)
        return draws[last], {"lp": values[last], "acceptance_rate": rates.reshape(n, -1).mean(axis=1)}

    def _refill(self, state: dict, rng: np.random.Generator) -> None:
        state["ahead"][:] = self.proposal.sample(AHEAD, rng)
        with np.errstate(all="ignore"):
            state["values"][:] = self.density.rows(state["ahead"])
            state["weights"][:] = state["values"] - self.proposal.log_prob(state["ahead"])
        state["weights"][~(state["values"] > -math.inf)] = -math.inf
        state["used"][...] = 0


def _checked(propose: Callable, position: Position) -> Callable:
    """The user's proposal in Python, taking and returning vectors."""

    def proposed(x: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, float]:
        x = x.view()
        x.flags.writeable = False
        found = propose(position.unpack(x), rng)
        if not isinstance(found, tuple) or len(found) != 2:
            raise ValueError(
                f"proposal returned {found!r}; return the proposed vector and the log ratio of proposal densities, 0 "
                f"where symmetric."
            )
        return position.pack(found[0], "what proposal returned"), float(found[1])

    return proposed
