"""`Stationary`: sequences that begin anywhere in a chain that has run for long, π = δ(A) with δ A = δ.

The M-step maximises Σ_ij n_ij log A_ij + Σ_i f_i log δ_i(A) over the rows of A, where n are expected moves and f first states.
With Z = (I − A + 1δᵀ)⁻¹, a change of A moves δ by δ dA Z.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from ..source import Block
from .structure import FLOOR, Structure, learned

__all__ = ["Stationary", "stationary"]


def stationary(generator: np.ndarray) -> np.ndarray:
    """Shares of the states in the long run: the null vector of a generator, or of A − I, that sums to 1."""
    system = np.vstack([generator.T, np.ones(len(generator))])
    found = np.linalg.lstsq(system, np.append(np.zeros(len(generator)), 1.0), rcond=None)[0]
    found = np.maximum(found, 0.0)
    return found / found.sum()


def _first(move: np.ndarray) -> np.ndarray:
    return np.maximum(stationary(move - np.eye(len(move))), FLOOR)


class Stationary(Structure):
    """States that follow each other, the first of which is one of any step; settings as in `Structure`."""

    exact = False

    def begin(self, sample: Block, resp: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        _, move, dwell = super().begin(sample, resp)
        return _first(move), move, dwell

    def m_step(self, stats: Any, params: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if "move" in self.fixed:
            return params.start, params.move, params.dwell
        counts = np.where(params.move > 0, np.maximum(stats.moves + self.move_prior - 1.0, 0.0), 0.0)
        move = self._best(counts, stats.first, params.move)
        return _first(move), move, params.dwell

    def _best(self, counts: np.ndarray, first: np.ndarray, before: np.ndarray) -> np.ndarray:
        possible, k = before > 0, len(before)

        def moves(free: np.ndarray) -> np.ndarray:
            logit = np.full((k, k), -np.inf)
            logit[possible] = free
            share = np.exp(logit - logit.max(axis=1, keepdims=True))
            share = np.where(possible, np.maximum(share / share.sum(axis=1, keepdims=True), FLOOR), 0.0)
            return share / share.sum(axis=1, keepdims=True)

        def loss(free: np.ndarray) -> tuple[float, np.ndarray]:
            move = moves(free)
            share = _first(move)
            value = (counts[possible] * np.log(move[possible])).sum() + first @ np.log(share)
            ahead = np.linalg.solve(np.eye(k) - move + share, first / share)
            slope = np.where(possible, counts + move * share[:, None] * ahead, 0.0)
            slope -= move * slope.sum(axis=1, keepdims=True)
            return -value, -slope[possible]

        plain = learned(counts, before)  # the maximum but for first states
        start = min((np.log(each[possible]) for each in (before, plain)), key=lambda free: loss(free)[0])
        quick = np.log(_polished(counts, first, moves(start))[possible])
        if loss(quick)[0] < loss(start)[0]:
            return moves(quick)
        found = minimize(
            loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 100, "gtol": 1e-10, "ftol": 1e-15}
        )
        best = found.x if found.fun <= loss(start)[0] else start
        polished = np.log(_polished(counts, first, moves(best))[possible])
        return moves(polished if loss(polished)[0] <= loss(best)[0] + 1e-12 * abs(found.fun) else best)

    def redraw(
        self, first: np.ndarray, moves: np.ndarray, dwell: np.ndarray, params: Any, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Moves are drawn as if first states told nothing of them, and taken with the ratio of what these say (Metropolis)."""
        _, move, dwell = super().redraw(first, moves, dwell, params, rng)
        gain = first @ (np.log(_first(move)) - np.log(np.maximum(params.start, FLOOR)))
        move = move if np.log(rng.random()) < gain else params.move
        return _first(move), move, dwell

    def n_parameters(self, params: Any) -> int:
        return super().n_parameters(params) - max(int((params.start > 0).sum()) - 1, 0)

    def bound(self, vector: np.ndarray, params: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        _, move, dwell = super().bound(vector, params)
        return _first(move), move, dwell


def _polished(counts: np.ndarray, first: np.ndarray, move: np.ndarray) -> np.ndarray:
    """Moves near the maximum, to the last digits, which values of the likelihood do not show: where its slope is 0."""
    for _ in range(100):
        share = _first(move)
        ahead = np.linalg.solve(np.eye(len(move)) - move + share, first / share)
        below = counts.sum(axis=1, keepdims=True) - share[:, None] * (ahead - (move @ ahead)[:, None])
        if (below <= 0).any():
            return move
        image = learned(counts / below, move)
        if np.abs(image - move).max() < 1e-15:
            break
        move = image
    return move
