"""`mean_field`: the product of independent distributions that is nearest to a network of discrete variables.

    log Z ≥ L(q) = Σ_f E_q[log φ_f] + Σ_i H(q_i),    q_i ∝ exp Σ_{f ∋ i} E_{q without i}[log φ_f]

Z is the sum of the product of all factors over what is not observed; of a belief network it is the probability of the evidence.
"""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..checks import check_number
from ..graph import BeliefNetwork, FactorGraph, JunctionTree, PairwiseEnergy, Potential
from ..notes import Note
from .networks import FactorSweeps, GridSweeps, Sweeps

__all__ = ["MeanField", "mean_field"]

IMPOSSIBLE = -1e3
"""A bound per factor below which no state of positive probability was found."""


@dataclass(frozen=True, eq=False)
class MeanField:
    """Independent variables near a network; made by `mean_field`.

    Attributes
    ----------
    shares : list of ndarray
        Probabilities of the states of each variable, in the order of ``variables``; of what is observed, 1 for its state.
    variables : tuple
    bound : float
        Lower bound of the log of Z.
    bounds : ndarray
        The bound after every sweep of the best start; it never falls.
    reason : Note
        Why sweeps stopped.
    n_reached : int
        How many of the starts came to this bound.
    """

    shares: list[np.ndarray]
    variables: tuple
    bound: float
    bounds: np.ndarray
    reason: Note
    n_reached: int
    sweeps: Sweeps = field(repr=False)

    @cached_property
    def marginals(self) -> dict[Hashable, Potential]:
        """The distribution of every variable, by name."""
        states = self.sweeps.states
        return {v: Potential([v], q, {v: states[v]}) for v, q in zip(self.variables, self.shares)}

    @cached_property
    def log_evidence(self) -> float:
        """The log of Z itself, by a junction tree; ValueError or MemoryError where that is too large."""
        return float(JunctionTree(self.sweeps.tables()).observe(self.sweeps.given).log_partition)

    @property
    def gap(self) -> float:
        """How far the bound is below the log of Z: the divergence of the product from the posterior, in nats."""
        return self.log_evidence - self.bound

    def most_probable(self) -> dict[Hashable, Any]:
        """The most probable state of each variable by itself."""
        states = self.sweeps.states
        return {v: states[v][int(q.argmax())] for v, q in zip(self.variables, self.shares)}


def mean_field(
    network: Any,
    given: Mapping | None = None,
    *,
    damping: float = 0.0,
    n_init: int = 5,
    max_iter: int = 1000,
    tol: float = 1e-8,
    random_state: Any = None,
) -> MeanField:
    """Approximate a discrete network by independent variables, in sweeps over its variables.

    Parameters
    ----------
    network : BeliefNetwork, FactorGraph, MarkovNetwork, PairwiseEnergy, IsingModel or BoltzmannMachine
        Fitted, where it is learned. An energy E is that of exp(−E).
    given : dict of variable to state, optional
        Evidence. Variables of energies are numbered, their states being labels.
    damping : float, default=0.0
        Share of the former distribution that is kept at every step, which slows sweeps that go to and fro between bad maxima. The
        bound rises with any.
    n_init : int, default=5
        Starts: the first at equal shares, others at random. The best bound is kept: there may be many maxima.
    max_iter : int, default=1000
        Most sweeps of a start.
    tol : float, default=1e-8
        A start ends when a sweep raises the bound by less.
    random_state : int, Generator or None

    Returns
    -------
    MeanField

    References
    ----------
    Jordan, Ghahramani, Jaakkola and Saul (1999), An introduction to variational methods for graphical models.

    Examples
    --------
    >>> from tacit.graph import FactorGraph, Potential
    >>> from tacit.variational import mean_field
    >>> graph = FactorGraph([Potential("ab", [[3, 1], [1, 3]]), Potential("bc", [[2, 1], [1, 2]])])
    >>> found = mean_field(graph, {"c": 1}, random_state=0)
    >>> found.bound < found.log_evidence, 0 < found.gap < 0.2
    (True, True)
    """
    check_number("damping", damping, numbers.Real, 0, 0.999)
    check_number("n_init", n_init, numbers.Integral, 1)
    check_number("max_iter", max_iter, numbers.Integral, 1)
    check_number("tol", tol, numbers.Real, 0)
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"given={given!r} is not a dictionary of variables and their states.")
    sweeps = sweeps_of(network, dict(given or {}))
    rng = np.random.default_rng(random_state)
    runs = [_run(sweeps, sweeps.start(rng if n else None), damping, max_iter, tol) for n in range(n_init)]
    shares, bounds, reason = max(runs, key=lambda run: run[1][-1])
    if not bounds[-1] > IMPOSSIBLE * max(sweeps.n_factors, 1):
        raise ValueError(
            f"no state of positive probability was found that goes with given={dict(given or {})}; the evidence may "
            "be impossible: withdraw some of it, or raise n_init."
        )
    reached = sum(run[1][-1] >= bounds[-1] - 1e-6 * max(1.0, abs(bounds[-1])) for run in runs)
    return MeanField(
        sweeps.listed(shares), tuple(sweeps.states), float(bounds[-1]), np.array(bounds), reason, reached, sweeps
    )


def sweeps_of(network: Any, given: dict) -> Sweeps:
    """What goes over the variables of a network of any kind."""
    if isinstance(network, FactorGraph):
        return FactorSweeps(network.factors, given)
    if isinstance(network, PairwiseEnergy):
        return GridSweeps(network, given)
    if hasattr(network, "nodes_"):
        if network.nodes_.continuous.any():
            name = network.nodes_.names[int(np.argmax(network.nodes_.continuous))]
            raise ValueError(
                f"{name!r} is continuous; mean_field takes discrete variables, so query the network itself."
            )
        return FactorSweeps([network.table(v) for v in network.nodes_.names], given)
    if isinstance(network, BeliefNetwork):
        raise TypeError(f"network={network!r} has no tables; fit it, or make it by BeliefNetwork.from_tables.")
    if hasattr(network, "to_energy"):
        return GridSweeps(network.to_energy(), given)
    raise TypeError(
        f"mean_field takes a BeliefNetwork, FactorGraph, MarkovNetwork, PairwiseEnergy, IsingModel or BoltzmannMachine, but got "
        f"{type(network).__name__}."
    )


def _run(sweeps: Sweeps, shares: Any, damping: float, max_iter: int, tol: float) -> tuple[Any, list[float], Note]:
    """Sweeps from one start: the shares, the bound after each sweep, and why they stopped."""
    hard, kept = sweeps.hardened(shares)
    if hard is not sweeps:
        shares = _climbed(sweeps, shares, damping, max_iter, tol)[0]
        hard, kept = sweeps.hardened(shares)
    return _climbed(hard, kept, damping, max_iter, tol)


def _climbed(sweeps: Sweeps, shares: Any, damping: float, max_iter: int, tol: float) -> tuple[Any, list[float], Note]:
    bounds = [sweeps.bound(shares)]
    for _ in range(max_iter):
        sweeps.sweep(shares, damping)
        bounds.append(sweeps.bound(shares))
        if bounds[-1] - bounds[-2] <= tol * max(1.0, abs(bounds[-1])):
            return shares, bounds, Note("tol", "a sweep raised the bound by less than tol")
    return shares, bounds, Note("max_iter", "max_iter={max_iter} sweeps were made", max_iter=max_iter)
