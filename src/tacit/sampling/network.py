"""`gibbs_network`: states of a belief network given evidence, p(x_i | rest) ∝ p(x_i | parents) Π p(child | its parents)."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..checks import check_number
from ..kernels import lazy
from ..notes import Note
from .chains import Chains
from .running import Run, Sampler, run_chains

__all__ = ["gibbs_network"]

kernels = lazy("gibbs")
TRIED = 10_000
"""Forward samples among which a start is looked for."""


def gibbs_network(
    network: Any,
    given: Mapping | None = None,
    *,
    n_draws: int = 5000,
    n_warmup: int = 500,
    n_chains: int = 4,
    n_thin: int = 1,
    random_state: Any = None,
    n_jobs: int | None = None,
    callback: Callable | None = None,
    checkpoint: Any = None,
) -> Chains:
    """Draw the unobserved variables of a belief network by Gibbs sampling.

    Parameters
    ----------
    network : BeliefNetwork
        Of discrete variables, learned or made from tables.
    given : mapping of variable to state, optional
        The evidence.
    n_draws, n_warmup, n_chains, n_thin, random_state, n_jobs, callback, checkpoint
        As in `metropolis`; a step is a sweep over all variables.

    Returns
    -------
    Chains
        Of a variable of the network each, by its name: numbers of states. A note tells where probabilities of 0 may
        keep chains from
        reaching all states.

    Examples
    --------
    >>> from tacit.graph import BeliefNetwork
    >>> from tacit.sampling import gibbs_network
    >>> network = BeliefNetwork.from_tables({"rain": [0.8, 0.2], "wet": (["rain"], [[0.9, 0.1], [0.2, 0.8]])})
    >>> chains = gibbs_network(network, {"wet": 1}, random_state=0)
    >>> round(float(chains["rain"].mean()), 1)
    0.7
    """
    if not hasattr(network, "nodes_"):
        raise TypeError(
            f"network={network!r} is no belief network with tables; fit it, or make it by BeliefNetwork.from_tables."
        )
    nodes = network.nodes_
    if nodes.continuous.any():
        name = nodes.names[int(np.argmax(nodes.continuous))]
        raise ValueError(f"The variable {name!r} is continuous; gibbs_network draws discrete variables only.")
    run = Run(n_draws, n_warmup, n_chains, False, random_state, n_jobs, callback, checkpoint)
    check_number("n_thin", n_thin, numbers.Integral, 1)
    from ..graph.evidence import read_evidence

    codes = read_evidence(nodes, given).codes[0].astype(np.int64)
    theta = np.concatenate([np.ravel(network._table(i)) for i in range(len(nodes.names))])
    streams, sampler = run.streams(), _Network(nodes, theta, codes, n_thin)
    return run_chains(sampler, [{"states": sampler.started(rng)} for rng in streams], streams, run)


class _Network(Sampler):
    name = "gibbs_network"

    def __init__(self, nodes: Any, theta: np.ndarray, codes: np.ndarray, n_thin: int):
        n = len(nodes.names)
        self.nodes, self.theta, self.codes, self.n_thin = nodes, theta, codes, n_thin
        self.free = np.flatnonzero(codes < 0)
        if not len(self.free):
            raise ValueError("given tells the state of every variable; leave one open.")
        families = [nodes.family(i) for i in range(n)]
        self.strides = [np.cumprod([1, *nodes.shape(i)[:0:-1]])[::-1].astype(np.int64) for i in range(n)]
        touched = [[(j, self.strides[j][families[j].index(i)]) for j in (i, *nodes.children[i])] for i in range(n)]
        self.families = families
        self.tables = (
            theta, nodes.offsets, nodes.cards, _begins(families),
            np.concatenate(families).astype(np.int64), np.concatenate(self.strides),
            _begins(touched), *(np.array([pair[k] for each in touched for pair in each], np.int64) for k in (0, 1)), self.free,
        )  # fmt: skip

    def settings(self) -> dict:
        return {
            "n_thin": self.n_thin,
            "given": self.codes.tolist(),
            "theta": float(self.theta @ np.arange(len(self.theta))),
        }

    def started(self, rng: np.random.Generator) -> np.ndarray:
        """The likeliest by the evidence of draws from parents to children; ValueError where none is possible."""
        states = np.zeros((TRIED, len(self.codes)), np.int64)
        weight = np.zeros(TRIED)
        for i in self.nodes.order:
            cells = self.nodes.offsets[i] + states[:, list(self.families[i][:-1])] @ self.strides[i][:-1]
            if self.codes[i] >= 0:
                states[:, i] = self.codes[i]
                with np.errstate(divide="ignore"):
                    weight += np.log(self.theta[cells + self.codes[i]])
            else:
                rows = self.theta[cells[:, None] + np.arange(self.nodes.cards[i])].cumsum(axis=1)
                states[:, i] = (rng.random(TRIED)[:, None] * rows[:, -1:] >= rows).sum(axis=1)
        if not np.isfinite(weight).any():
            raise ValueError(f"The evidence has probability 0 in all of {TRIED} draws of the network; check `given`.")
        # Drawn by weight, so that chains do not start at one place.
        return states[int(np.argmax(weight - np.log(rng.exponential(size=TRIED))))]

    def run(self, state: dict, n: int, rng: np.random.Generator) -> tuple:
        found = np.empty((n, len(self.codes)), np.int32)
        kernels.network_sweeps(*self.tables, self.n_thin, rng, state["states"], found)
        return {str(self.nodes.names[i]): found[:, i].copy() for i in self.free}, {}

    def notes(self, states: list[dict], statistics: dict) -> list[Note]:
        zeros = int((self.theta == 0).sum())
        if not zeros:
            return []
        return [Note(
            "zero_probabilities", "{n} cells of the tables are 0: chains may not reach all states from where they "
            "start; compare with network.query.",
            n=zeros,
        )]  # fmt: skip


def _begins(lists: list) -> np.ndarray:
    return np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)
