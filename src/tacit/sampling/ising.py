"""`gibbs_ising`: states of a pairwise network, p(x) ∝ exp(−Σ_i U_i(x_i) − Σ_(ij) w_ij V(x_i, x_j)), node by node."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from ..checks import check_memory, check_number
from ..kernels import lazy
from .chains import Chains
from .running import Run, Sampler, run_chains

__all__ = ["gibbs_ising"]

kernels = lazy("gibbs")
MOST_CELLS = 1 << 20
"""Of the table of probabilities; where more are needed they are computed at every step."""


def gibbs_ising(
    network: Any,
    *,
    start: Any = None,
    keep_states: bool = True,
    n_draws: int = 1000,
    n_warmup: int = 200,
    n_chains: int = 4,
    n_thin: int = 1,
    random_state: Any = None,
    n_jobs: int | None = None,
    callback: Callable | None = None,
    checkpoint: Any = None,
) -> Chains:
    """Draw states of an Ising model, a Boltzmann machine or any pairwise energy by Gibbs sampling.

    Parameters
    ----------
    network : PairwiseEnergy or IsingModel
        A network of `tacit.graph`, of any number of labels. An Ising model with coupling J on a grid of pixels is
        ``PairwiseEnergy(np.zeros((height, width, 2)), weight=2 * J)``.
    start : array of labels, optional
        Where all chains start; by default labels are drawn evenly.
    keep_states : bool
        Whether states are kept, or only their energy and mean label.
    n_draws, n_warmup, n_chains, n_thin, random_state, n_jobs, callback, checkpoint
        As in `metropolis`; a step is a sweep over all nodes.

    Returns
    -------
    Chains
        Of ``state`` (labels, of the shape of the network), ``energy`` and ``mean`` (of the labels).

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.graph import PairwiseEnergy
    >>> from tacit.sampling import gibbs_ising
    >>> chains = gibbs_ising(PairwiseEnergy(np.zeros((8, 8, 2)), weight=0.5), random_state=0)
    >>> chains["state"].shape, round(float(chains["mean"].mean()), 1)
    ((4, 1000, 8, 8), 0.5)
    """
    energy = network.to_energy() if hasattr(network, "to_energy") else network
    if not hasattr(energy, "passes"):
        raise TypeError(
            f"network={network!r} is no pairwise network; give a PairwiseEnergy or an IsingModel of tacit.graph."
        )
    run = Run(n_draws, n_warmup, n_chains, False, random_state, n_jobs, callback, checkpoint)
    check_number("n_thin", n_thin, numbers.Integral, 1)
    if keep_states:
        check_memory("n_draws", n_draws, 2.0 * n_chains * len(energy.unary))
    streams, sampler = run.streams(), _Ising(energy, n_thin, keep_states)
    states = [{"labels": sampler.started(start, rng)} for rng in streams]
    return run_chains(sampler, states, streams, run)


class _Ising(Sampler):
    name = "gibbs_ising"

    def __init__(self, energy: Any, n_thin: int, keep_states: bool):
        self.energy, self.n_thin, self.keep_states = energy, n_thin, keep_states
        self.type = np.int8 if energy.n_labels <= 127 else np.int32
        first, heads, weight, unary, V = energy.passes
        self.sweeps: Callable = kernels.label_sweeps
        self.tables: tuple = (first, heads, weight, unary, V)
        if energy.n_labels == 2:
            self.sweeps, self.tables = _binary(first, heads, weight, unary, V)

    def settings(self) -> dict:
        return {
            "n_thin": self.n_thin,
            "keep_states": self.keep_states,
            "energy": float(self.energy(self.energy.unary.argmin(axis=1))),
        }

    def started(self, start: Any, rng: np.random.Generator) -> np.ndarray:
        if start is None:
            labels = rng.integers(self.energy.n_labels, size=len(self.energy.unary))
        else:
            labels = self.energy.check_labels(start)
        return labels.astype(np.int8 if self.energy.n_labels == 2 else np.int32)

    def run(self, state: dict, n: int, rng: np.random.Generator) -> tuple:
        labels = state["labels"]
        shape = self.energy.shape
        draws = {"energy": np.empty(n), "mean": np.empty(n)}
        if self.keep_states:
            draws = {"state": np.empty((n, *shape), self.type)} | draws
        for i in range(n):
            self.sweeps(*self.tables, self.n_thin, rng, labels)
            draws["energy"][i], draws["mean"][i] = kernels.state_energy(*self.energy.passes, labels), labels.mean()
            if self.keep_states:
                draws["state"][i] = labels.reshape(shape)
        return draws, {"lp": -draws["energy"]}


def _binary(first: np.ndarray, heads: np.ndarray, weight: np.ndarray, unary: np.ndarray, V: np.ndarray) -> tuple:
    """Sweeps of two labels: from a table of probabilities where the arcs of each node have one weight and kinds of
    nodes are few.
    """
    low, high = V[1, 0] - V[0, 0], V[1, 1] - V[0, 1]
    degree = np.diff(first)
    owner = np.repeat(np.arange(len(degree)), degree)
    base = unary[:, 1] - unary[:, 0] + low * np.bincount(owner, weight, len(degree))
    slope = weight * (high - low)
    own = np.zeros(len(degree))
    own[owner] = slope
    most = int(degree.max(initial=0)) + 1
    if np.array_equal(own[owner], slope):
        kinds, kind = np.unique(np.column_stack([base, own]), axis=0, return_inverse=True)
        if len(kinds) * most <= MOST_CELLS:
            cost = kinds[:, :1] + kinds[:, 1:] * np.arange(most + 1)
            table = 1.0 / (1.0 + np.exp(np.clip(cost, -700.0, 700.0)))
            before = heads == owner - 1
            left = np.concatenate([[0], np.cumsum(degree - np.bincount(owner[before], minlength=len(degree)))])
            beside = np.isin(np.arange(len(degree)), owner[before]).astype(np.int8)
            arcs = left.astype(np.uint64), heads[~before].astype(np.uint32)
            return kernels.tabled_sweeps, (*arcs, beside, kind.astype(np.uint32).ravel(), table)
    return kernels.binary_sweeps, (first, heads, slope, base)
