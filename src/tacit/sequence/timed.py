"""`Timed`: chains in continuous time, P(z_{t+Δ} = j | z_t = i) = [exp(Q Δ)]_ij, for steps at irregular times.

The complete data would be the number of jumps N_ij and the time T_i spent in each state. Given the states at both ends of a gap,
their expectations are integrals of products of exponentials,

    E[T_i] = ∫ P(s)_ki P(Δ−s)_il ds / P(Δ)_kl,    E[N_ij] = Q_ij ∫ P(s)_ki P(Δ−s)_jl ds / P(Δ)_kl,

which the eigenvalues of Q give for all gaps at once; then Q_ij = N_ij / T_i.

References
----------
Hobolth and Jensen (2011), Summary statistics for endpoint-conditioned continuous-time Markov chains.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import expm, expm_frechet

from ..families.family import recalled
from ..kernels import host
from ..source import Block
from .structure import FIRST_COUNT, Chain, Structure

__all__ = ["Timed"]

ILL = 1e7  # condition of the eigenvectors of Q beyond which exponentials are taken one by one


class Timed(Structure):
    """States that follow each other in continuous time; `move` is the generator Q, and `block.targets` the times of steps."""

    exact = False

    def begin(self, sample: Block, resp: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        offsets = sample.offsets
        first = (host(sample.weight)[:, None] * resp)[offsets[:-1]].sum(axis=0)
        start = np.where(self.starts, first + FIRST_COUNT * first.sum() / self.n_states, 0.0)
        start, dwell = start / start.sum(), self.first_dwell()
        gaps = _gaps(sample)
        inside = np.ones(len(resp), bool)
        inside[offsets[:-1]] = False
        later = np.flatnonzero(inside)
        weight = host(sample.weight)[later, None]
        moves = resp[later - 1].T @ (weight * resp[later])
        spent = 0.5 * ((resp[later - 1] + resp[later]) * weight * gaps[later, None]).sum(axis=0)
        usual = max(float(np.median(gaps[later])), 1e-300) if len(later) else 1.0
        k = self.n_states
        rate = (moves + FIRST_COUNT * np.maximum(moves.sum(axis=1, keepdims=True), 1.0) / k) / (spent + usual)[:, None]
        return *self._given(start, _generator(np.where(self.allowed, rate, 0.0))), dwell

    def chain(self, params: Any, block: Block) -> Chain:
        lengths, which = recalled(block, "gaps", lambda: _distinct(_gaps(block)))
        return Chain(
            np.require(params.start, requirements="W"),
            exponentials(params.move, lengths),
            which,
            np.arange(self.n_states),
        )

    def gather(self, chain: Chain, first: np.ndarray, moves: np.ndarray, params: Any, block: Block) -> Any:
        lengths, _ = recalled(block, "gaps", lambda: _distinct(_gaps(block)))
        share = np.where(chain.move > 0, moves / np.where(chain.move > 0, chain.move, 1.0), 0.0)
        total = _integrals(params.move, lengths, share)
        found = params.move * total
        np.fill_diagonal(found, np.maximum(np.diag(total), 0.0))  # time spent
        return first, np.maximum(found, 0.0), np.zeros((self.n_states, 0))

    def _move(self, moves: np.ndarray, params: Any) -> np.ndarray:
        if "move" in self.fixed:
            return params.move
        spent = np.diag(moves)[:, None]
        rate = np.where(spent > 0, moves / np.where(spent > 0, spent, 1.0), params.move)
        return _generator(np.where(params.move > 0, rate, 0.0))

    def log_prior(self, params: Any) -> float:
        return 0.0

    def redraw(self, first: Any, moves: Any, dwell: Any, params: Any, rng: np.random.Generator) -> Any:
        start, _, _ = super().redraw(first, np.zeros_like(moves), dwell, params, rng)
        if "move" in self.fixed:
            return start, params.move, params.dwell
        spent = np.maximum(np.diag(moves), 1e-300)[:, None]
        rate = rng.standard_gamma(moves - np.diag(np.diag(moves)) + 0.5) / spent
        return start, _generator(np.where(params.move > 0, rate, 0.0)), params.dwell

    def n_parameters(self, params: Any) -> int:
        start = 0 if "start" in self.fixed else max(int((params.start > 0).sum()) - 1, 0)
        return start + (0 if "move" in self.fixed else int((params.move > 0).sum()))

    def free(self, params: Any) -> np.ndarray:
        """Roots of probabilities, logs of rates."""
        return np.concatenate([np.sqrt(params.start), np.log(params.move[params.move > 0])])

    def bound(self, vector: np.ndarray, params: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        k = self.n_states
        start = np.where(params.start > 0, np.maximum(vector[:k], 0.0) ** 2, 0.0)
        rate = np.zeros((k, k))
        rate[params.move > 0] = np.exp(np.clip(vector[k:], -300.0, 300.0))
        start = start / start.sum() if start.any() else params.start
        return start, _generator(rate), params.dwell


def _generator(rate: np.ndarray) -> np.ndarray:
    """Rates with a diagonal such that rows sum to 0."""
    rate = rate - np.diag(np.diag(rate))
    return rate - np.diag(rate.sum(axis=1))


def _gaps(block: Block) -> np.ndarray:
    """Time since the step before; 0 at the first of a sequence."""
    if block.targets is None:
        raise ValueError("a chain in continuous time needs the time of every step; name its column by time=….")
    times = np.asarray(host(block.targets))[:, 0]
    gaps = np.diff(times, prepend=times[:1])
    gaps[block.offsets[:-1]] = 0.0
    if gaps.size and gaps.min() < 0:
        at = int(np.argmax(gaps < 0))
        raise ValueError(f"time runs backwards, from {times[at - 1]:g} to {times[at]:g}; sort the steps by time.")
    return gaps


def _distinct(gaps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    lengths, which = np.unique(gaps, return_inverse=True)
    return lengths, which.ravel().astype(np.int64)


def _eigen(generator: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Eigenvalues, eigenvectors and their inverse; None where these would lose digits."""
    values, vectors = np.linalg.eig(generator)
    values = np.where(values.real > 0, values - values.real, values)  # rounding must not make anything grow
    if np.linalg.cond(vectors) > ILL:
        return None
    return values, vectors, np.linalg.inv(vectors)


def exponentials(generator: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """exp(Q Δ) for every length Δ: probabilities, 0 where a state cannot be reached."""
    found = _eigen(generator)
    if found is None:
        matrices = expm(generator * lengths[:, None, None])
    else:
        values, vectors, inverse = found
        matrices = ((vectors * np.exp(np.multiply.outer(lengths, values))[:, None, :]) @ inverse).real
    reach = np.linalg.matrix_power(np.eye(len(generator)) + (generator > 0), len(generator)) > 0
    matrices = np.where(reach, np.maximum(matrices, 1e-300), 0.0)
    return matrices / matrices.sum(axis=2, keepdims=True)


def _integrals(generator: np.ndarray, lengths: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Σ_Δ ∫ exp(Q s)ᵀ W_Δ exp(Q (Δ − s))ᵀ ds, where W_Δ are expected moves over their probabilities."""
    found = _eigen(generator)
    if found is None:
        return np.sum(
            [expm_frechet(generator.T * d, w * d, compute_expm=False) for d, w in zip(lengths, share) if d], axis=0
        )
    values, vectors, inverse = found
    growth = np.exp(np.multiply.outer(lengths, values))  # (Δ, k)
    apart = values[:, None] - values
    close = np.abs(apart) * lengths.max(initial=1.0) < 1e-6
    ratio = (growth[:, :, None] - growth[:, None, :]) / np.where(close, 1.0, apart)
    middle = np.exp(0.5 * np.multiply.outer(lengths, values[:, None] + values))
    ratio = np.where(close, lengths[:, None, None] * middle, ratio)
    inner = (vectors.T @ share @ inverse.T) * ratio
    return (inverse.T @ inner.sum(axis=0) @ vectors.T).real
