"""`JunctionTree`: marginals of a product of tables, p(x) ∝ Π_f φ_f(x_f), by messages between the cliques of a triangulated graph.

Evidence multiplies the table of one clique. A change of it makes the messages from there to the root anew and no others, and
what is asked for is brought up to date along the path from the root to its clique.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .dag import separated
from .evidence import _vector
from .nodes import Nodes
from .potential import Potential, state_number
from .schedule import Compiled, Factor, compile_schedule, junction, strides
from .sizes import check_cells

__all__ = ["JunctionTree"]


class JunctionTree:
    """Junction tree of a product of tables, or of a belief network of discrete variables.

    Parameters
    ----------
    tables : iterable of Potential, or BeliefNetwork
        What is multiplied.
    heuristic : {"best", "min-fill", "min-weight", "weighted-fill"}, default="best"
        How the moral graph is triangulated. "best" takes min-fill where its tables are small, else the best of all three and,
        where they are large, of `n_starts` more in which ties are broken at random.
    n_starts : int, default=8
    memory : float, optional
        Bytes that the tables may take; default most of what the machine has. More is refused before any table is made.
    random_state : int, default=0
        Breaks ties.

    Attributes
    ----------
    cliques : list of tuple
        Variables of each clique.
    separators : list of tuple
        What each clique shares with its parent.
    parents : list of int
        The parent of each clique, −1 of a root.
    bytes, largest_bytes : float
        What all tables take, and the largest.

    References
    ----------
    Lauritzen and Spiegelhalter (1988), Local computations with probabilities on graphical structures. Jensen, Lauritzen and
    Olesen (1990), Bayesian updating in causal probabilistic networks by local computations.

    Examples
    --------
    >>> from tacit.graph import JunctionTree, Potential
    >>> tree = JunctionTree([Potential("ab", [[3, 1], [1, 3]]), Potential("bc", [[2, 1], [1, 2]])])
    >>> tree.observe({"c": 1}).marginal("a").values.round(3).tolist()
    [0.417, 0.583]
    >>> tree.withdraw().marginal("a").values.tolist()
    [0.5, 0.5]
    """

    def __init__(
        self, tables: Any, *, heuristic: str = "best", n_starts: int = 8, memory: float | None = None, random_state: int = 0
    ) -> None:  # fmt: skip
        tables = _tables_of(tables)
        states: dict[Any, tuple] = {}
        for table in tables:
            for v in table.variables:
                if states.setdefault(v, table.states[v]) != table.states[v]:
                    raise ValueError(
                        f"the states of {v!r} are {list(states[v])} in one table and {list(table.states[v])} in another."
                    )
        if not states:
            raise ValueError("the tables have no variable; give at least one table.")
        self._nodes = Nodes(tuple(states), tuple(states.values()), ((),) * len(states))
        self._tables = tables
        self._factors = _factors(tables, self._nodes)
        self._theta = np.concatenate([table.values.ravel() for table in tables])
        rng = np.random.default_rng(random_state)
        own = [*self._factors, *_evidence_factors(self._nodes)]
        self._compiled = compile_schedule(self._nodes.cards, own, heuristic=heuristic, rng=rng, n_starts=n_starts)
        self._limit = memory
        check_cells(self._compiled, self._nodes, memory)
        self._soft = np.ones(int(self._nodes.cards.sum()))
        self._at = np.concatenate([[0], np.cumsum(self._nodes.cards)])
        self._state: _State | None = None
        self._observed: dict[int, Any] = {}

    # What it looks like

    @property
    def cliques(self) -> list[tuple]:
        """Variables of each clique."""
        return [tuple(self._nodes.names[i] for i in clique) for clique in self._compiled.cliques]

    @property
    def separators(self) -> list[tuple]:
        """What each clique shares with its parent."""
        shared = self._compiled.schedule.n_shared.tolist()
        return [clique[:n] for clique, n in zip(self.cliques, shared)]

    @property
    def parents(self) -> list[int]:
        """The parent of each clique, −1 of a root."""
        return self._compiled.schedule.parent.tolist()

    @property
    def bytes(self) -> float:
        """What all tables take."""
        return 8.0 * self._compiled.total

    @property
    def largest_bytes(self) -> float:
        """What the largest table takes."""
        return 8.0 * self._compiled.largest

    def __repr__(self) -> str:
        return (
            f"JunctionTree({len(self.cliques)} cliques of {len(self._nodes.names)} variables, {self.bytes:.3g} bytes)"
        )

    def separated(self, a: Any, b: Any, given: Any = ()) -> bool:
        """Whether a and b are independent given others in every Markov network of such tables; see `tacit.graph.separated`."""
        pairs = {
            frozenset((u, v)) for table in self._tables for u in table.variables for v in table.variables if u != v
        }
        return separated(pairs, a, b, given)

    # Evidence

    def observe(self, given: Mapping) -> JunctionTree:
        """Add evidence: a state, or numbers for all states (likelihood evidence); of a variable that has some, it takes its
        place.

        Parameters
        ----------
        given : mapping of variable to state, sequence or mapping of state to number
        """
        vectors = {self._nodes.at(v): self._told(v, each) for v, each in given.items()}
        for i, vector in vectors.items():
            self._observed[i] = given[self._nodes.names[i]]
            self._set(i, vector)
        return self

    def _told(self, variable: Any, told: Any) -> np.ndarray:
        i = self._nodes.at(variable)
        if isinstance(told, (Mapping, list, tuple, np.ndarray)):
            return _vector(self._nodes, i, told, "likelihood")
        return np.eye(int(self._nodes.cards[i]))[state_number(variable, self._nodes.states[i], told)]

    def withdraw(self, variables: Any = None) -> JunctionTree:
        """Take evidence back, of some variables or of all.

        Parameters
        ----------
        variables : list of variables, optional
        """
        asked = list(self._observed) if variables is None else [self._nodes.at(v) for v in variables]
        for i in asked:
            if i not in self._observed:
                raise ValueError(f"{self._nodes.names[i]!r} was not observed; there is nothing to withdraw.")
            del self._observed[i]
            self._set(i, np.ones(int(self._nodes.cards[i])))
        return self

    def _set(self, i: int, vector: np.ndarray) -> None:
        self._soft[self._at[i] : self._at[i + 1]] = vector
        if self._state is not None:
            self._state.touch(i)

    @property
    def evidence(self) -> dict:
        """What is observed."""
        return {self._nodes.names[i]: told for i, told in self._observed.items()}

    # Answers

    @property
    def _messages(self) -> _State:
        if self._state is None:
            self._state = _State(self._compiled, self._theta, self._soft, len(self._factors))
        return self._state

    @property
    def log_partition(self) -> float:
        """Log of the sum of the product of all tables and the evidence; of a belief network, log probability of the evidence."""
        return self._messages.collect()

    def marginal(self, variables: Any) -> Potential:
        """The marginal of variables given the evidence; of several that no clique holds together, by a tree made for them.

        Parameters
        ----------
        variables : variable or list of variables
        """
        single = not isinstance(variables, (list, set)) and (
            not isinstance(variables, tuple) or variables in self._nodes.number
        )
        names = [variables] if single else list(variables)
        positions = [self._nodes.at(v) for v in names]
        if not names or len(set(positions)) < len(positions):
            raise ValueError(f"variables={variables!r} must name at least one variable, and each once.")
        if np.isneginf(self.log_partition):
            raise ValueError(f"the evidence {self.evidence} is impossible: it has probability 0; withdraw some of it.")
        holds = [c for c, clique in enumerate(self._compiled.cliques) if set(positions) <= set(clique)]
        if not holds:
            return self._across(names, positions)
        c = min(holds, key=lambda each: self._compiled.cells[each])
        clique = self._compiled.cliques[c]
        values = self._messages.calibrated(c).reshape(self._nodes.cards[list(clique)])
        told = {self._nodes.names[i]: self._nodes.states[i] for i in clique}
        return Potential._of(tuple(told), told, values).marginal(names).normalised()

    def _across(self, names: list, positions: list[int]) -> Potential:
        """The joint marginal of variables of several cliques."""
        target = Factor(tuple(positions), strides(self._nodes.cards[positions].tolist()), 0)
        own = [*self._factors, *_evidence_factors(self._nodes)]
        compiled = compile_schedule(self._nodes.cards, own, [target])
        check_cells(compiled, self._nodes, self._limit)
        marginals = np.zeros((1, int(np.prod(self._nodes.cards[positions]))))
        nothing = np.full((1, len(self._nodes.names)), -1, np.int32)
        junction.propagate(
            compiled.schedule, junction.new_plan(compiled.schedule), nothing, np.zeros(1, np.int64), self._theta,
            self._soft[None, :], np.ones(1), np.empty(1), marginals, np.empty(0),
        )  # fmt: skip
        told = {v: self._nodes.states[i] for v, i in zip(names, positions)}
        return Potential._of(tuple(names), told, marginals.reshape(self._nodes.cards[positions])).normalised()

    def marginals(self) -> dict:
        """The marginal of every variable, by name."""
        return {v: self.marginal([v]) for v in self._nodes.names}


def _tables_of(tables: Any) -> list[Potential]:
    """The tables that are multiplied."""
    if hasattr(tables, "nodes_"):
        nodes = tables.nodes_
        if nodes.continuous.any():
            name = nodes.names[int(np.argmax(nodes.continuous))]
            raise ValueError(
                f"{name!r} is continuous; a JunctionTree takes discrete variables, so query the network itself."
            )
        return [tables.table(v) for v in nodes.names]
    tables = list(tables)
    wrong = [table for table in tables if not isinstance(table, Potential)]
    if wrong:
        raise TypeError(f"tables holds a {type(wrong[0]).__name__}; give Potentials, or a BeliefNetwork.")
    return tables


def _factors(tables: Iterable[Potential], nodes: Nodes) -> list[Factor]:
    found, base = [], 0
    for table in tables:
        found.append(Factor(tuple(nodes.number[v] for v in table.variables), strides(table.shape), base))
        base += table.values.size
    return found


def _evidence_factors(nodes: Nodes) -> list[Factor]:
    """A vector for every variable, which evidence changes."""
    base = np.concatenate([[0], np.cumsum(nodes.cards)])
    return [Factor((i,), (1,), int(base[i]), True) for i in range(len(nodes.names))]


class _State:
    """Tables and messages of a tree, with what is out of date."""

    def __init__(self, compiled: Compiled, theta: np.ndarray, soft: np.ndarray, n_tables: int) -> None:
        self.schedule, self.theta, self.soft = compiled.schedule, theta, soft
        self.plan = junction.new_plan(self.schedule)
        nothing = np.full(len(self.schedule.cards), -1, np.int32)
        self.work = np.empty(junction.make_plan(self.schedule, self.plan, nothing))
        n = len(self.schedule.parent)
        self.stale, self.fresh, self.calm = np.ones(n, bool), np.zeros(n, bool), np.zeros(n, bool)
        self.totals = np.zeros(n)
        self.counter = np.zeros(self.plan.program.shape[1], np.int64)
        self.home = np.empty(len(self.schedule.cards), np.int64)
        for c in range(n):
            for f in self.schedule.own[self.schedule.own_start[c] : self.schedule.own_start[c + 1]]:
                if f >= n_tables:
                    self.home[f - n_tables] = c
        self.n_sent = 0  # messages towards roots that were made, for the curious and for tests

    def touch(self, i: int) -> None:
        """Take note that the evidence of a variable changed."""
        c = int(self.home[i])
        self.calm[:] = False
        while c >= 0:
            self.stale[c] = True
            c = int(self.schedule.parent[c])

    def _send(self, c: int) -> None:
        up = self.plan.up
        self.totals[c] = 0.0
        junction.collect(
            self.plan.program, up[c], up[c + 1], self.schedule.by_max, self.schedule.factor_base, self.theta, self.soft,
            self.totals, self.work, self.counter,
        )  # fmt: skip
        self.fresh[c], self.stale[c], self.calm[c] = True, False, False
        self.n_sent += 1

    def collect(self) -> float:
        """Make what is out of date; the log of the sum over everything."""
        for c in np.flatnonzero(self.stale):
            self._send(int(c))
        with np.errstate(divide="ignore"):
            return float(np.log(self.totals).sum())

    def calibrated(self, c: int) -> np.ndarray:
        """The table of a clique as its marginal, made along the path from its root."""
        path = [c]
        while not self.calm[path[-1]] and self.schedule.parent[path[-1]] >= 0:
            path.append(int(self.schedule.parent[path[-1]]))
        for each in reversed(path):
            if not self.calm[each]:
                if not self.fresh[each]:
                    self._send(each)
                row = int(self.plan.ends[0]) + len(self.schedule.parent) - 1 - each
                junction.absorb(self.plan.program, row, self.totals[each], self.plan.ends[3], self.work, self.counter)
                self.fresh[each], self.calm[each] = False, True
        at, size = self.plan.table_at[c], self.plan.table_size[c]
        return self.work[at : at + size].copy()
