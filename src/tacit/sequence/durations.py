"""States that last: chains of more states than there are, through which a state of the model passes.

at least m steps:   1 → 2 → … → m, which stays with A_kk and leaves with A_kl
negative binomial:  1 → 2 → … → r, each of which stays with A_kk; the number of steps is r + NB(r, 1 − A_kk)
any distribution:   entered at d with probability D_kd, then d → d − 1 → … → 1, which leaves with A_kl, A_kk = 0
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..source import Block
from .structure import ONE, Chain, Structure, normalised

__all__ = ["AnyDuration", "AtLeast", "NegativeBinomialDuration"]


class Passed(Structure):
    """Base of structures in which a state is a passage through several states of the chain.

    Parameters
    ----------
    n_states : int
    lengths : int or sequence of int
        States of the chain that make up each state.
    **settings
        As in `Structure`.
    """

    def __init__(self, n_states: int, lengths: Any, **settings: Any):
        super().__init__(n_states, **settings)
        self.lengths = np.broadcast_to(np.asarray(lengths, dtype=int), n_states)
        ends = np.cumsum(self.lengths)
        self.heads, self.tails = ends - self.lengths, ends - 1
        self.state = np.repeat(np.arange(n_states), self.lengths)

    @property
    def n_chain(self) -> int:
        return len(self.state)

    def permute(self, params: Any, order: np.ndarray) -> Any:
        if (self.lengths[order] != self.lengths).any():
            raise ValueError("states that differ in how long they last cannot be put in another order.")
        return super().permute(params, order)


class AtLeast(Passed):
    """States that last at least so many steps; `lengths` says how many."""

    def chain(self, params: Any, block: Block) -> Chain:
        start, move = np.zeros(self.n_chain), np.zeros((self.n_chain, self.n_chain))
        start[self.heads] = params.start
        inner = np.setdiff1d(np.arange(self.n_chain), self.tails)
        move[inner, inner + 1] = 1.0
        move[np.ix_(self.tails, self.heads)] = params.move - np.diag(np.diag(params.move))
        move[self.tails, self.tails] += np.diag(params.move)
        return Chain(start, move[None], ONE, self.state)

    def gather(self, chain: Chain, first: np.ndarray, moves: np.ndarray, params: Any, block: Block) -> Any:
        found = moves[0][np.ix_(self.tails, self.heads)].copy()
        np.fill_diagonal(found, moves[0][self.tails, self.tails])
        return first[self.heads], found, np.zeros((self.n_states, 0))


class NegativeBinomialDuration(Passed):
    """States whose length is a sum of `lengths` geometric ones: less spread, with a mode beyond the first step."""

    def chain(self, params: Any, block: Block) -> Chain:
        start, move = np.zeros(self.n_chain), np.zeros((self.n_chain, self.n_chain))
        start[self.heads] = params.start
        stay = np.diag(params.move)
        inner = np.setdiff1d(np.arange(self.n_chain), self.tails)
        move[inner, inner + 1] = 1.0 - stay[self.state[inner]]
        move[np.ix_(self.tails, self.heads)] = params.move - np.diag(stay)
        move[np.arange(self.n_chain), np.arange(self.n_chain)] = stay[self.state]
        return Chain(start, move[None], ONE, self.state)

    def gather(self, chain: Chain, first: np.ndarray, moves: np.ndarray, params: Any, block: Block) -> Any:
        moves = moves[0]
        found = moves[np.ix_(self.tails, self.heads)].copy()
        stay = np.bincount(self.state, np.diag(moves), self.n_states)
        np.fill_diagonal(found, stay)
        inner = np.setdiff1d(np.arange(self.n_chain), self.tails)
        on = np.bincount(self.state[inner], moves[inner, inner + 1], self.n_states)
        return first[self.heads], found, on[:, None]

    def m_step(self, stats: Any, params: Any) -> Any:
        if "move" in self.fixed:
            return self._start(stats, params), params.move, params.dwell
        return self._start(stats, params), self._tied(stats.moves, stats.dwell[:, 0], params), params.dwell

    def _tied(self, moves: np.ndarray, on: np.ndarray, params: Any) -> np.ndarray:
        """Moves from how often states stayed, went on, and left: staying is as probable in every part of a state."""
        counts = np.where(params.move > 0, np.maximum(moves + self.move_prior - 1.0, 0.0), 0.0)
        stay = np.diag(counts)
        leave = counts - np.diag(stay)
        out = leave.sum(axis=1)
        total = stay + out + on
        share = normalised(leave, params.move - np.diag(np.diag(params.move)))
        stay = np.where(total > 0, stay / np.where(total > 0, total, 1.0), np.diag(params.move))
        share = share / np.maximum(share.sum(axis=1, keepdims=True), 1e-300)
        return np.diag(stay) + (1.0 - stay)[:, None] * share

    def redraw(self, first: Any, moves: Any, dwell: Any, params: Any, rng: np.random.Generator) -> Any:
        start, _, _ = super().redraw(first, moves, dwell, params, rng)
        if "move" in self.fixed:
            return start, params.move, params.dwell
        seen, on = (rng.standard_gamma(np.maximum(each, 1e-3)) for each in (moves + self.move_prior, dwell[:, 0]))
        return start, self._tied(seen - self.move_prior + 1.0, on, params), params.dwell


class AnyDuration(Passed):
    """States with a distribution of their lengths of stay, of 1 to `lengths` steps, which is learned."""

    def __init__(self, n_states: int, longest: int, **settings: Any):
        super().__init__(n_states, longest, **settings)
        self.longest = int(longest)
        if n_states > 1:
            self.allowed = self.allowed & ~np.eye(n_states, dtype=bool)

    def first_dwell(self) -> np.ndarray:
        """A length of stay is as probable as any other."""
        return np.full((self.n_states, self.longest), 1.0 / self.longest)

    def chain(self, params: Any, block: Block) -> Chain:
        c = self.n_chain
        move = np.zeros((c, c))
        inner = np.setdiff1d(np.arange(c), self.heads)  # d steps left at head + d − 1
        move[inner, inner - 1] = 1.0
        enter = params.move[:, self.state] * params.dwell.ravel()  # (K, C)
        move[self.heads] = enter
        return Chain(params.start[self.state] * params.dwell.ravel(), move[None], ONE, self.state)

    def gather(self, chain: Chain, first: np.ndarray, moves: np.ndarray, params: Any, block: Block) -> Any:
        enter = moves[0][self.heads].reshape(self.n_states, self.n_states, self.longest)
        begin = first.reshape(self.n_states, self.longest)
        return begin.sum(axis=1), enter.sum(axis=2), enter.sum(axis=0) + begin

    def m_step(self, stats: Any, params: Any) -> Any:
        start, move, _ = super().m_step(stats, params)
        return start, move, params.dwell if "move" in self.fixed else normalised(stats.dwell, params.dwell)

    def redraw(self, first: Any, moves: Any, dwell: Any, params: Any, rng: np.random.Generator) -> Any:
        start, move, _ = super().redraw(first, moves, dwell, params, rng)
        draws = rng.standard_gamma(dwell + 1.0 / self.longest)
        return start, move, params.dwell if "move" in self.fixed else draws / draws.sum(axis=1, keepdims=True)

    def n_parameters(self, params: Any) -> int:
        own = 0 if "move" in self.fixed else int(np.maximum((params.dwell > 0).sum(axis=1) - 1, 0).sum())
        return super().n_parameters(params) + own
