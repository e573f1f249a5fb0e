"""Sweeps of mean field over the variables of a network: tables of any variables, or pairs on a graph, in compiled code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import entr

from ..graph import PairwiseEnergy, Potential
from ..graph.potential import state_number
from ..kernels import kernel

__all__ = ["FactorSweeps", "GridSweeps", "Sweeps"]

LEAST, NEVER = -1e3, -1e12
"""Logs of what stands for 0 in a table: first a little that leaves ways open, at last so little that no share remains."""
LOST = 1e-8  # a share that is dropped between the two
WEAKER = 0.5  # of a start drawn at random, how far shares may be from equal


class Sweeps:
    """What `mean_field` asks of a network.

    Attributes
    ----------
    states : dict of variable to tuple
    given : dict of variable to state
    n_factors : int
    """

    states: dict[Any, tuple]
    given: dict
    n_factors: int

    def start(self, rng: np.random.Generator | None) -> Any:
        """Shares to begin with, equal ones without a generator."""
        raise NotImplementedError

    def sweep(self, shares: Any, damping: float) -> None:
        """Fit the shares of every variable to those of the others, in place."""
        raise NotImplementedError

    def bound(self, shares: Any) -> float:
        """Σ_f E[log φ_f] + Σ_i H(q_i)."""
        raise NotImplementedError

    def hardened(self, shares: Any) -> tuple[Sweeps, Any]:
        """The same with factors that are 0 where they are, once shares have settled, and the shares to go on from."""
        return self, shares

    def listed(self, shares: Any) -> list[np.ndarray]:
        """Shares of each variable."""
        return list(shares)

    def tables(self) -> list[Potential]:
        """The factors."""
        raise NotImplementedError

    def _evidence(self, given: Mapping) -> dict[int, int]:
        """Numbers of variables and of their states."""
        found, number = {}, {v: i for i, v in enumerate(self.states)}
        for v, state in given.items():
            if v not in number:
                raise ValueError(
                    f"given tells of {v!r}, which is no variable; there are {', '.join(map(str, list(number)[:10]))}."
                )
            found[number[v]] = state_number(v, self.states[v], state)
        return found


class FactorSweeps(Sweeps):
    """Tables of any variables.

    Parameters
    ----------
    factors : sequence of Potential
    given : dict of variable to state
    """

    def __init__(self, factors: list[Potential], given: dict) -> None:
        self.factors, self.given, self.n_factors = factors, given, len(factors)
        self.states = {v: states for factor in factors for v, states in factor.states.items()}
        number = {v: i for i, v in enumerate(self.states)}
        self.has_zeros = any((factor.values == 0).any() for factor in factors)
        self.logs = [np.maximum(factor.log, LEAST) for factor in factors]
        self.scopes = [[number[v] for v in factor.variables] for factor in factors]
        self.known = self._evidence(given)
        self.at: list[list[tuple[int, int]]] = [[] for _ in number]
        for f, scope in enumerate(self.scopes):
            for axis, i in enumerate(scope):
                self.at[i].append((f, axis))

    def start(self, rng: np.random.Generator | None) -> list[np.ndarray]:
        shares = [np.full(len(states), 1.0 / len(states)) for states in self.states.values()]
        if rng is not None:
            shares = [rng.dirichlet(np.ones(len(q))) for q in shares]
        for i, state in self.known.items():
            shares[i] = np.eye(len(shares[i]))[state]
        return shares

    def hardened(self, shares: list[np.ndarray]) -> tuple[Sweeps, list[np.ndarray]]:
        if not self.has_zeros:
            return self, shares
        hard = FactorSweeps(self.factors, self.given)
        hard.logs = [np.maximum(factor.log, NEVER) for factor in self.factors]
        kept = [np.where(q < LOST, 0.0, q) for q in shares]
        return hard, [q / q.sum() for q in kept]

    def _expected(self, f: int, shares: list[np.ndarray], keep: int | None = None) -> Any:
        """E[log φ_f] over all of its variables, or over all but one."""
        table = self.logs[f]
        for axis in reversed(range(table.ndim)):
            if axis != keep:
                table = np.moveaxis(table, axis, -1) @ shares[self.scopes[f][axis]]
        return table

    def sweep(self, shares: list[np.ndarray], damping: float) -> None:
        for i, found in enumerate(self.at):
            if i in self.known:
                continue
            log = np.zeros(len(shares[i]))
            for f, axis in found:
                log = log + self._expected(f, shares, axis)
            best = np.exp(log - log.max())
            # The bound is concave in the shares of one variable, so that it rises anywhere on the way to their best.
            shares[i] = damping * shares[i] + (1.0 - damping) * best / best.sum()

    def bound(self, shares: list[np.ndarray]) -> float:
        expected = sum(float(self._expected(f, shares)) for f in range(len(self.logs)))
        return expected + sum(float(entr(q).sum()) for q in shares)

    def tables(self) -> list[Potential]:
        return self.factors


class GridSweeps(Sweeps):
    """A pairwise energy, p ∝ exp(−E).

    Parameters
    ----------
    energy : PairwiseEnergy
    given : dict of int to int
        Labels of nodes.
    """

    def __init__(self, energy: PairwiseEnergy, given: dict) -> None:
        self.energy, self.given = energy, given
        self.states = dict.fromkeys(range(len(energy.unary)), tuple(range(energy.n_labels)))
        self.n_factors = len(energy.unary) + len(energy.weight)
        unary = energy.unary.copy()
        for i, state in self._evidence(given).items():
            unary[i] = np.where(np.arange(energy.n_labels) == state, unary[i], -LEAST)
        first, heads, weight, _, distance = energy.passes
        self.passes = first, heads, weight, unary, distance

    def start(self, rng: np.random.Generator | None) -> np.ndarray:
        shares = np.exp(self.passes[3].min(axis=1, keepdims=True) - self.passes[3])
        if rng is not None:
            shares *= rng.dirichlet(np.ones(shares.shape[1]), len(shares)) * WEAKER + (1.0 - WEAKER) / shares.shape[1]
        return shares / shares.sum(axis=1, keepdims=True)

    def sweep(self, shares: np.ndarray, damping: float) -> None:
        if not damping:
            kernel("mean_field_sweep")(*self.passes, shares)
            return
        first, heads, weight, unary, distance = self.passes
        for i in range(len(unary)):
            arcs = slice(first[i], first[i + 1])
            cost = unary[i] + distance @ (weight[arcs] @ shares[heads[arcs]])
            best = np.exp(cost.min() - cost)
            shares[i] = damping * shares[i] + (1.0 - damping) * best / best.sum()

    def bound(self, shares: np.ndarray) -> float:
        a, b = self.energy.arcs.edges.T
        pairs = ((shares[a] @ self.energy.distance) * shares[b]).sum(axis=1)
        return float(entr(shares).sum() - (self.passes[3] * shares).sum() - self.energy.weight @ pairs)

    def tables(self) -> list[Potential]:
        return energy_tables(self.energy)


def energy_tables(energy: PairwiseEnergy) -> list[Potential]:
    """exp(−E) as tables of nodes and of pairs."""
    nodes = [Potential([i], np.exp(-cost)) for i, cost in enumerate(energy.unary)]
    pairs = zip(energy.arcs.edges.tolist(), energy.weight)
    return [*nodes, *(Potential(pair, np.exp(-weight * energy.distance)) for pair, weight in pairs)]
