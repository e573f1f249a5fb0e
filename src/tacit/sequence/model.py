"""Hidden Markov models: one class per step, p(x, z) = π_{z_1} Π_t A_{z_{t−1} z_t} Π_t p(x_t | θ_{z_t}), for any family.

E-step: γ_t(k) = p(z_t = k | x) and Σ_t p(z_t = i, z_{t+1} = j | x), by going forward and backward along every sequence
M-step: π and A from expected first states and moves, θ from the family with γ for responsibilities

A sequence is a unit of rows. A step whose cells are all missing says nothing of its state; a known state (label) makes all others
impossible at its step.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..engine import SingularError
from ..families import Family
from ..families.family import recalled
from ..kernels import backend, flipped, host, kernel
from ..mixture.model import MixtureModel
from ..source import Block
from .seeding import seed_states
from .structure import Chain, ChainParams, ChainStats, Structure

__all__ = ["ChainModel"]

LONG = 1 << 24
"""Steps times states of a sequence beyond which it is taken in parts, so that memory is bounded."""
PART = 1 << 20
"""Steps times states of such a part."""


class ChainModel(MixtureModel):
    """A hidden Markov model.

    Parameters
    ----------
    family : Family
        The distribution of a row given its state.
    structure : Structure
        How states follow each other.
    init : {"kmeans", "k-means++", "random", "random_from_data"}
        How starts are seeded, as in a mixture.
    held : bool
        Whether the family's parameters are not learned.
    """

    def __init__(self, family: Family, structure: Structure, init: str = "kmeans", *, held: bool = False):
        super().__init__(family, structure.n_states, init)
        self.structure, self.held = structure, held
        self.labels_suffice = family.exact and structure.exact and structure.n_chain == structure.n_states
        self.monotone = structure.monotone

    # Learning

    def seed(self, sample: Block, rng: np.random.Generator) -> np.ndarray:
        return seed_states(self, sample, rng)

    def start(self, sample: Block, resp: np.ndarray) -> ChainParams:
        return ChainParams(*self.structure.begin(sample, resp), self.family.start(sample, resp))

    def follow(self, sample: Block, resp: np.ndarray) -> ChainParams:
        params = self.start(sample, resp)
        stats = self.family.stats(params.components, sample, resp * host(sample.weight)[:, None])
        return self._with(params, self.family.m_step(stats, params.components))

    def _with(self, params: ChainParams, components: Any) -> ChainParams:
        return ChainParams(params.start, params.move, params.dwell, components)

    def e_step(self, params: ChainParams, block: Block) -> Any:
        total: Any = None
        for part in self._passes(params, block, block.weight, block.labels):
            if total is None:
                check_possible(part.evidence, block, self, params)
            components = self.family.stats(params.components, part.block, part.resp)
            size = float(part.block.weight.sum())
            found = ChainStats(part.loglik, size, *part.counted, part.sizes, components)
            total = found if total is None else total + found
        return total

    def m_step(self, stats: ChainStats, params: ChainParams) -> ChainParams:
        components = params.components if self.held else self.family.m_step(stats.components, params.components)
        return ChainParams(*self.structure.m_step(stats, params), components)

    def log_prior(self, params: ChainParams) -> float:
        return self.family.log_prior(params.components) + self.structure.log_prior(params)

    def redraw(self, params: Any, block: Block, resp: np.ndarray, rng: np.random.Generator) -> Any:
        """A draw of the parameters given complete rows and their states."""
        silent, chain = np.zeros((self.n_components, len(block))), self.structure.chain(params, block)
        counted = self._along(silent, params, chain, block, block.weight, resp.argmax(axis=1)).counted
        return ChainParams(
            *self.structure.redraw(*counted, params, rng), self.family.redraw(params.components, block, resp, rng)
        )

    def check_drawn(self, params: Any, n_columns: int) -> None:
        if type(params) is not ChainParams:
            raise ValueError(f"draws of parameters cannot be {type(params).__name__}")
        self.check_params(params, n_columns)

    def permute(self, params: ChainParams, order: np.ndarray) -> ChainParams:
        return ChainParams(*self.structure.permute(params, order), self.family.permute(params.components, order))

    def free(self, params: ChainParams) -> np.ndarray:
        return np.concatenate([self.structure.free(params), self.family.free(params.components)])

    def bound(self, vector: np.ndarray, params: ChainParams) -> ChainParams:
        own, rest = np.split(vector, [len(self.structure.free(params))])
        return ChainParams(*self.structure.bound(own, params), self.family.bound(rest, params.components))

    def n_parameters(self, params: ChainParams) -> int:
        own = 0 if self.held else self.family.n_parameters(params.components)
        return self.structure.n_parameters(params) + own

    # What is hidden

    def posterior(self, params: Any, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities of the states of each step given its whole sequence, and the log density of each sequence."""
        one, unknown = recalled(block, "no weights", lambda: _without_weights(block))
        parts = list(self._passes(params, block, one, unknown))
        return np.concatenate([host(part.resp) for part in parts[::-1]]), parts[0].evidence

    def log_posterior(self, params: Any, block: Block) -> np.ndarray:
        return np.log(np.maximum(self.posterior(params, block)[0], np.finfo(float).tiny))

    def joint(self, params: Any, block: Block) -> Any:
        """Log densities of the steps under every state, (states, steps)."""
        log_prob = self.family.log_prob(params.components, block)
        return flipped(log_prob, log_prob)

    def filtered(self, params: Any, block: Block) -> tuple[np.ndarray, np.ndarray, Chain]:
        """Probabilities (chain states, steps) given the steps so far, log densities of steps given those before, the chain."""
        share, predictive, chain = self._filtered(params, block)
        return host(share), predictive, chain

    def _filtered(self, params: Any, block: Block) -> tuple[Any, np.ndarray, Chain]:
        """As `filtered`, with probabilities where the rows are."""
        chain = self.structure.chain(params, block)
        share, predictive = _spread(self.joint(params, block), chain), np.empty(len(block))
        run = kernel("filter_states", backend(share))
        run(share, block.offsets, _unknown(share), *chain[:3], predictive)
        return share, predictive, chain

    def evidence(self, params: Any, block: Block) -> np.ndarray:
        """The log density of each sequence."""
        if len(block) * self.structure.n_chain > LONG and backend(block.X) == "cpu":
            return self.posterior(params, block)[1]  # in parts
        chain = self.structure.chain(params, block)
        joint, found = _spread(self.joint(params, block), chain), np.empty(block.n_units)
        run = kernel("weigh_sequences", backend(joint))
        run(joint, block.offsets, _unknown(joint), *chain[:3], found)
        return found

    def gathered(self, values: Any, chain: Chain) -> Any:
        """Values (chain states, steps) added up to those of states."""
        return _gathered(values, chain, self.n_components)

    def pairs(self, params: Any, block: Block) -> np.ndarray:
        """Probabilities of the states of the step before and of each step, (steps, states, states); 0 at first steps."""
        chain = self.structure.chain(params, block)
        joint = _spread(host(self.joint(params, block)), chain).copy()
        before, _, _ = self.filtered(params, block)
        sums = np.zeros(len(chain.state)), np.zeros(chain.move.shape), np.empty(block.n_units)
        kernel("smooth")(joint, block.offsets, np.ones(len(block)), np.full(len(block), -1), *chain[:3], *sums)
        later = np.setdiff1d(np.arange(len(block)), block.offsets[:-1])
        move = chain.move[chain.which[later]] if chain.which.size else chain.move
        expected = np.einsum(
            "in,nij->nj", before[:, later - 1], np.broadcast_to(move, (len(later), *chain.move.shape[1:]))
        )
        ratio = joint[:, later].T / np.maximum(expected, 1e-307)
        found = before[:, later - 1].T[:, :, None] * move * ratio[:, None, :]
        member = np.eye(self.n_components)[chain.state]
        out = np.zeros((len(block), self.n_components, self.n_components))
        out[later] = found if len(chain.state) == self.n_components else member.T @ found @ member
        return out

    def decoded(self, params: Any, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """The likeliest path of states, and the log density of every sequence together with its path."""
        chain = self.structure.chain(params, block)
        joint, path, score = (
            _spread(self.joint(params, block), chain),
            np.empty(len(block), int),
            np.empty(block.n_units),
        )
        with np.errstate(divide="ignore"):
            logs = np.log(chain.start), np.log(chain.move)
        kernel("decode", backend(joint))(joint, block.offsets, _unknown(joint), *logs, chain.which, path, score)
        return path if len(chain.state) == self.n_components else chain.state[path], score

    def draw_paths(self, params: Any, block: Block, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        """Paths of states drawn from their posterior, (n_draws, steps)."""
        share, _, chain = self._filtered(params, block)
        paths = np.empty((n_draws, len(block)), int)
        for path in paths:
            kernel("draw_states", backend(share))(
                share, block.offsets, chain.move, chain.which, rng.random(len(block)), path
            )
        return chain.state[paths]

    def draw_classes(self, params: Any, block: Block, rng: np.random.Generator) -> np.ndarray:
        return self.draw_paths(params, block, 1, rng)[0]

    def draw_cells(self, params: Any, block: Block, resp: Any, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        """As in a mixture, with states that follow each other."""
        states = np.eye(self.n_components)
        paths = self.draw_paths(params, block, n_draws, rng)
        return np.concatenate([self.family.draw(params.components, block, states[path], 1, rng) for path in paths])

    def sample(self, params: Any, n_rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """One sequence of steps, and its states."""
        states = self.walk(params, n_rows, rng)
        return self.family.sample(params.components, states, rng), states

    def walk(self, params: Any, n_steps: int, rng: np.random.Generator, state: int | None = None) -> np.ndarray:
        """States of one sequence, of steps one unit of time apart; `state` is the first of them where it is given."""
        when = np.arange(n_steps, dtype=float)[:, None]
        chain = self.structure.chain(params, Block.of(when, targets=when, units=np.array([0, n_steps])))
        start = chain.start if state is None else chain.start * (chain.state == state)
        if not start.any():  # no sequence begins there: as if the state were entered now
            start = (np.arange(len(chain.state)) == np.argmax(chain.state == state)).astype(float)
        cumulated, chance = np.cumsum(chain.move, axis=2), rng.random(n_steps)
        path, row = np.empty(n_steps, int), np.cumsum(start)
        for t in range(n_steps):
            path[t] = at = min(int(np.searchsorted(row, chance[t] * row[-1], side="right")), len(row) - 1)
            row = cumulated[chain.which[min(t + 1, n_steps - 1)] if chain.which.size else 0, at]
        return chain.state[path]

    # Along sequences

    def _passes(self, params: Any, block: Block, weight: Any, labels: Any) -> Iterator[Pass]:
        """The steps of a block, in parts from the last to the first where they are one long sequence."""
        chain = self.structure.chain(params, block)
        if block.n_units > 1 or len(block) * self.structure.n_chain <= LONG or backend(block.X) != "cpu":
            yield self._along(self.joint(params, block), params, chain, block, weight, labels)
        else:
            yield from self._in_parts(params, chain, block, weight, labels)

    def _along(self, joint: Any, params: Any, chain: Chain, block: Block, weight: Any, labels: Any) -> Pass:
        joint = _spread(joint, chain)
        first, moves, evidence = np.zeros(len(chain.state)), np.zeros(chain.move.shape), np.empty(block.n_units)
        run = kernel("smooth", backend(joint))
        loglik = run(joint, block.offsets, weight, labels, *chain[:3], first, moves, evidence)
        counted = self.structure.gather(chain, first, moves, params, block)
        sizes = _sizes(first, moves, chain, self.n_components)
        return Pass(block, _gathered(joint, chain, self.n_components).T, loglik, counted, sizes, evidence)

    def _in_parts(self, params: Any, chain: Chain, block: Block, weight: Any, labels: Any) -> Iterator[Pass]:
        """Forward once, to see what is known before every part; then every part by itself, given what comes after it."""
        size = max(PART // self.structure.n_chain, 1)
        parts = recalled(block, ("parts", size), lambda: _cut(block, size))
        known, evidence = self._known_before(params, chain, parts, labels)
        w, ahead = float(weight[0]), None
        for number in range(len(parts) - 1, -1, -1):
            a, z, part = parts[number]
            joint = _spread(self.joint(params, part), chain)
            if ahead is not None:
                with np.errstate(divide="ignore"):
                    joint[:, -1] += np.log(ahead)  # what follows is evidence of the last step
            first, moves = np.zeros(len(chain.state)), np.zeros(chain.move.shape)
            before, entered = known[number]
            which = chain.which[a:z]
            args = part.offsets, np.ones(z - a), labels[a:z], entered, chain.move, which, first, moves, np.empty(1)
            kernel("smooth")(joint, *args)
            if number:
                at = int(which[0]) if which.size else 0
                ratio = first / np.maximum(entered, 1e-307)
                moves[at] += chain.move[at] * np.outer(before, ratio)
                ahead, first = chain.move[at] @ ratio, np.zeros(len(first))
            counted = self.structure.gather(chain, w * first, w * moves, params, block)
            resp = _gathered(joint, chain, self.n_components) * w
            value, sizes = (
                w * evidence if number == 0 and w > 0 else 0.0,
                w * _sizes(first, moves, chain, self.n_components),
            )
            yield Pass(part, resp.T, value, counted, sizes, np.array([evidence]))

    def _known_before(self, params: Any, chain: Chain, parts: list, labels: Any) -> tuple[list, float]:
        """For every part what is known of the step before it and, of its first step, before seeing it; the log density."""
        known, evidence = [(chain.start, chain.start)], 0.0
        for a, z, part in parts:
            share, predictive = _spread(self.joint(params, part), chain), np.empty(z - a)
            args = part.offsets, labels[a:z], known[-1][1], chain.move, chain.which[a:z], predictive
            kernel("filter_states")(share, *args)
            evidence += float(predictive.sum())
            at = int(chain.which[z]) if chain.which.size > z else 0
            known.append((share[:, -1].copy(), share[:, -1] @ chain.move[at]))
        return known, evidence


class Pass(NamedTuple):
    """What a pass along steps tells: the posterior of states times weights, what was counted, sizes of states, log densities."""

    block: Block
    resp: Any
    loglik: float
    counted: tuple[np.ndarray, np.ndarray, np.ndarray]
    sizes: np.ndarray
    evidence: np.ndarray


def _without_weights(block: Block) -> tuple[Any, Any]:
    """Weights 1 and unknown states for the steps of a block."""
    if backend(block.X) != "torch":
        return np.ones(len(block)), np.full(len(block), -1)
    return block.weight.new_ones(len(block)), block.labels.new_full((len(block),), -1)


def _unknown(joint: Any) -> Any:
    """No known state, for every column of log densities."""
    n = joint.shape[1]
    return np.full(n, -1) if backend(joint) == "cpu" else joint.new_full((n,), -1).long()


def _spread(joint: Any, chain: Chain) -> Any:
    """Values of states as values of the states of a chain."""
    return joint if len(chain.state) == len(joint) else joint[chain.state]


def _gathered(values: Any, chain: Chain, n_states: int) -> Any:
    """Values of the states of a chain added up to those of states."""
    if len(chain.state) == n_states:
        return values
    total = values[:n_states] * 0.0
    for part, state in zip(values, chain.state.tolist()):
        total[state] += part
    return total


def _sizes(first: np.ndarray, moves: np.ndarray, chain: Chain, n_states: int) -> np.ndarray:
    """How many steps each state has: every one is a first one or was moved to."""
    return np.bincount(chain.state, first + moves.sum(axis=(0, 1)), n_states)


def _cut(block: Block, size: int) -> list[tuple[int, int, Block]]:
    """One long sequence in parts of at most `size` steps."""
    bounds = [*range(0, len(block), size), len(block)]
    return [
        (a, z, Block.of(block.X[a:z], block.weight[a:z], block.labels[a:z], units=np.array([0, z - a])))
        for a, z in pairwise(bounds)
    ]


def check_possible(evidence: np.ndarray, block: Block, model: ChainModel, params: Any) -> None:
    """Raise, naming the step, where a sequence of positive weight cannot be."""
    if evidence.min() > -np.inf:
        return
    bad = np.flatnonzero(np.isneginf(evidence) & (host(block.unit_weight) > 0))
    if len(bad):
        rows = slice(block.offsets[bad[0]], block.offsets[bad[0] + 1])
        one = Block.of(host(block.X)[rows], labels=host(block.labels)[rows], units=np.array([0, rows.stop - rows.start]),
                       targets=None if block.targets is None else host(block.targets)[rows])  # fmt: skip
        chain = model.structure.chain(params, one)
        share, predictive = _spread(host(model.joint(params, one)), chain), np.empty(len(one))
        kernel("filter_states")(share, one.offsets, one.labels, *chain[:3], predictive)
        step = int(np.argmax(np.isneginf(predictive)))
        raise SingularError(
            f"sequence {block.first + bad[0]} is impossible at its step {step}: no state that may follow the steps before it can "
            "have produced it; allow more moves, or check the labels and cells of this step."
        )
