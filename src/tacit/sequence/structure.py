"""`Structure`: which state follows which, and how long states last: P(z_1 = i) = π_i, P(z_t = j | z_{t−1} = i) = A_ij.

With Dirichlet(α) priors on π and on the rows of A, the M-step maximises the posterior density: A_ij ∝ n_ij + α_ij − 1. Moves that
are not allowed stay impossible: EM never revives a zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import Arrays, record
from ..declared import Numbers, Part, declare
from ..engine.coordinates import Simplex
from ..kernels import host
from ..source import Block

__all__ = ["Chain", "ChainParams", "ChainStats", "Structure", "learned", "normalised"]

FLOOR = 1e-15  # of a probability that is learned: below rounding, and a state that underflowed comes back
FIRST_COUNT = 0.5  # of a row's worth, what a start adds to moves that were not seen


@record
class ChainParams(Arrays):
    """Probabilities of first states and of moves, or rates of moves, of how long states last, and the family's parameters."""

    start: np.ndarray  # (K,)
    move: np.ndarray  # (K, K)
    dwell: np.ndarray  # (K, longest); (K, 0) where states last as long as moves to themselves say
    components: Any
    _saved = declare(
        start=Numbers("K", low=0, high=1, total=1), move=Numbers("K K"), dwell=Numbers("K D", low=0, high=1),
        components=Part(Arrays),
    )  # fmt: skip

    @property
    def weight(self) -> np.ndarray:
        """Shares of the states over the first steps of a sequence, none of which is 0."""
        move = self.move if np.allclose(self.move.sum(axis=1), 1.0) else np.eye(len(self.start))
        total = self.start
        for _ in range(6):  # over twice as many steps every time
            total, move = total + total @ move, move @ move
        total = np.maximum(total / 64, 1e-6)
        return total / total.sum()


@record
class ChainStats(Arrays):
    """Log-likelihood, total weight, expected first states and moves, lengths of stay, sizes of states, and the family's."""

    loglik: float
    weight: float
    first: np.ndarray
    moves: np.ndarray
    dwell: np.ndarray
    counts: np.ndarray
    components: Any
    _summed = declare(weight=Numbers(low=0), first=Numbers("K", low=0), counts=Numbers("K", low=0))


class Chain(NamedTuple):
    """A chain as kernels take it.

    Attributes
    ----------
    start : (C,) array
    move : (matrices, C, C) array
    which : (steps,) int array
        The matrix of the move into each step; empty where there is one.
    state : (C,) int array
        The state that each state of the chain is a part of.
    """

    start: np.ndarray
    move: np.ndarray
    which: np.ndarray
    state: np.ndarray


ONE = np.zeros(0, dtype=np.int64)


def normalised(counts: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Counts over their sums along the last axis; as before where there are none."""
    total = counts.sum(axis=-1, keepdims=True)
    if total.all():
        return counts / total
    return np.where(total > 0, counts / np.where(total > 0, total, 1.0), before)


class Structure:
    """States that follow each other with probabilities of their own.

    Parameters
    ----------
    n_states : int
        Number of states K.
    allowed : (K, K) bool array, optional
        Moves that may be; default all.
    starts : (K,) bool array, optional
        States that a sequence may begin with; default all.
    start_prior, move_prior : float or array
        α of the Dirichlet priors of first states and of moves; 1 is none.
    start, move : arrays, optional
        Where to begin; default what the rows say.
    fixed : tuple of {"start", "move"}
        What is not learned.
    """

    n_dwell = 0
    exact = True  # whether known states make one M-step the maximum

    def __init__(
        self, n_states: int, *, allowed: Any = None, starts: Any = None, start_prior: Any = 1.0, move_prior: Any = 1.0,
        start: np.ndarray | None = None, move: np.ndarray | None = None, fixed: tuple[str, ...] = (),
    ):  # fmt: skip
        self.n_states, self.fixed, self.given = n_states, tuple(fixed), (start, move)
        self.allowed = np.ones((n_states, n_states), bool) if allowed is None else np.asarray(allowed, bool)
        self.starts = np.ones(n_states, bool) if starts is None else np.asarray(starts, bool)
        self.start_prior = np.broadcast_to(np.asarray(start_prior, float), n_states)
        self.move_prior = np.broadcast_to(np.asarray(move_prior, float), (n_states, n_states))
        # A prior below 1 has no maximum where a probability is 0, and is not part of what is maximised.
        self.monotone = bool((self.start_prior >= 1).all() and (self.move_prior >= 1).all())
        self.has_prior = bool((self.start_prior > 1).any() or (self.move_prior > 1).any())

    @property
    def n_chain(self) -> int:
        """States of the chain that kernels run along."""
        return self.n_states

    def begin(self, sample: Block, resp: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Start, moves and lengths of stay from (soft) states of a sample of steps, none that is allowed being 0."""
        offsets, weight = sample.offsets, host(sample.weight)[:, None]
        inside = np.ones(len(resp), bool)
        inside[offsets[:-1]] = False
        later = np.flatnonzero(inside)
        first = (weight * resp)[offsets[:-1]].sum(axis=0)
        moves = resp[later - 1].T @ (weight * resp)[later]
        k = self.n_states
        start = np.where(self.starts, first + FIRST_COUNT * first.sum() / k, 0.0)
        move = np.where(self.allowed, moves + FIRST_COUNT * np.maximum(moves.sum(axis=1, keepdims=True), 1.0) / k, 0.0)
        found = start / start.sum(), normalised(move, np.eye(k))
        return *self._given(*found), self.first_dwell()

    def _given(self, start: np.ndarray, move: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Start and moves, or what is given instead."""
        return start if self.given[0] is None else self.given[0], move if self.given[1] is None else self.given[1]

    def first_dwell(self) -> np.ndarray:
        """Where what tells how long states last begins."""
        return np.zeros((self.n_states, 0))

    def chain(self, params: Any, block: Block) -> Chain:
        """The chain along the steps of a block."""
        # Arrays of a mapped file are read-only, for which every kernel would be compiled once more.
        start, move = (np.require(each, requirements="W") for each in (params.start, params.move))
        return Chain(start, move[None], ONE, np.arange(self.n_states))

    def gather(
        self, chain: Chain, first: np.ndarray, moves: np.ndarray, params: Any, block: Block
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What the M-step needs of expected first states and moves of the chain."""
        return first, moves[0], np.zeros((self.n_states, 0))

    def m_step(self, stats: Any, params: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Start, moves and lengths of stay that maximise the expected log-likelihood, plus the log prior."""
        return self._start(stats, params), self._move(stats.moves, params), params.dwell

    def _start(self, stats: Any, params: Any) -> np.ndarray:
        if "start" in self.fixed:
            return params.start
        return learned(stats.first + self.start_prior - 1.0, params.start)

    def _move(self, moves: np.ndarray, params: Any) -> np.ndarray:
        if "move" in self.fixed:
            return params.move
        return learned(moves + self.move_prior - 1.0, params.move)

    def log_prior(self, params: Any) -> float:
        """Log density of the parameters, but for a constant."""
        if not (self.monotone and self.has_prior):
            return 0.0
        return float(_penalty(self.start_prior, params.start) + _penalty(self.move_prior, params.move))

    def redraw(
        self, first: np.ndarray, moves: np.ndarray, dwell: np.ndarray, params: Any, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A draw of start, moves and lengths of stay given how often each was seen."""
        start = params.start if "start" in self.fixed else _drawn(first + self.start_prior, params.start > 0, rng)
        move = params.move if "move" in self.fixed else _drawn(moves + self._drawn_prior, params.move > 0, rng)
        return start, move, params.dwell

    @property
    def _drawn_prior(self) -> np.ndarray:
        """α of moves where they are drawn: those to other states share one, so that many states are not left the more often."""
        k = self.n_states
        spare = 0.0 if k < 3 else 1.0 - 1.0 / (k - 1)
        return self.move_prior - spare * (1.0 - np.eye(k))

    def n_parameters(self, params: Any) -> int:
        """Free parameters of the chain."""
        start = 0 if "start" in self.fixed else max(int((params.start > 0).sum()) - 1, 0)
        move = 0 if "move" in self.fixed else int(np.maximum((params.move > 0).sum(axis=1) - 1, 0).sum())
        return start + move

    # The view in which steps are extrapolated: roots, so that what is near 0 stays near 0

    def free(self, params: Any) -> np.ndarray:
        """Start, moves and lengths of stay as a vector without constraints."""
        return np.sqrt(np.concatenate([params.start, params.move.ravel(), params.dwell.ravel()]))

    def bound(self, vector: np.ndarray, params: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Start, moves and lengths of stay from any vector; what is 0 stays 0."""
        k = self.n_states
        square = np.maximum(vector, 0.0) ** 2
        start, move, dwell = square[:k], square[k : k + k * k].reshape(k, k), square[k + k * k :]
        parts = (start, params.start), (move, params.move), (dwell.reshape(params.dwell.shape), params.dwell)
        # Roots below 0 are as good as 0, not impossible: what became impossible would remain so.
        start, move, dwell = (learned(part, before) for part, before in parts)
        return start, move, dwell

    # The view in which they have a density

    def coordinates(self, params: Any) -> dict[str, Simplex]:
        """Contrasts of the logs of what is possible, of the fields that are learned."""
        if type(self) is not Structure:
            raise NotImplementedError(f"states of kind {type(self).__name__} have no coordinates that are one to one.")
        found = {"start": (params.start, self.start_prior), "move": (params.move, self.move_prior)}
        return {name: Simplex(p, alpha=alpha) for name, (p, alpha) in found.items() if name not in self.fixed}

    def score(self, stats: Any, params: Any) -> dict[str, np.ndarray]:
        """Gradient of what expected first states and moves tell."""
        return {"start": _over(stats.first, params.start), "move": _over(stats.moves, params.move)}

    def prior_score(self, params: Any) -> dict[str, np.ndarray]:
        """Gradient of the log prior."""
        start, move = (np.maximum(alpha - 1.0, 0.0) for alpha in (self.start_prior, self.move_prior))
        return {"start": _over(start, params.start), "move": _over(move, params.move)}

    def permute(self, params: Any, order: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same with the states in another order."""
        return params.start[order], params.move[np.ix_(order, order)], params.dwell[order]


def learned(counts: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Probabilities in proportion to counts; what is 0 stays 0, and what is not never becomes so."""
    possible = before > 0
    found = normalised(np.where(possible, np.maximum(counts, 0.0), 0.0), before)
    found = np.maximum(found, FLOOR) * possible
    return found / found.sum(axis=-1, keepdims=True)


def _over(counts: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Counts over probabilities; 0 where impossible."""
    return np.where(p > 0, counts / np.where(p > 0, p, 1.0), 0.0)


def _penalty(alpha: np.ndarray, p: np.ndarray) -> float:
    """Σ (α − 1) log p over what is possible."""
    counts = (alpha > 1.0) & (p > 0)
    return float(((alpha - 1.0)[counts] * np.log(p[counts])).sum())


def _drawn(alpha: np.ndarray, possible: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draws from Dirichlet distributions along the last axis; 0 where impossible."""
    draws = np.where(possible, np.maximum(rng.standard_gamma(np.where(possible, alpha, 1.0)), 1e-300), 0.0)
    return draws / np.maximum(draws.sum(axis=-1, keepdims=True), 1e-300)
