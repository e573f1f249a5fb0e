"""`Nodes`: which variables there are and what each depends on, p(x) = Π_i p(x_i | x_pa(i)) over a graph without cycles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from ..declared import Label, Listed, Whole, declare, savable

__all__ = ["MOST_TABLE", "Nodes", "closest"]

MOST_TABLE = 2**27  # cells of all conditional tables: 1 GB
MOST_TOLD = 20  # names of a cycle, in a message


def closest(name: Any, known: Iterable) -> str:
    """What a misspelt name may have meant, as a message tells it; else some of the names there are."""
    from difflib import get_close_matches

    texts = [str(each) for each in known]
    near = get_close_matches(str(name), texts, 1)
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(texts[:8])}{', …' * (len(texts) > 8)}."


@savable
@dataclass(frozen=True)
class Nodes:
    """Variables with their states and parents.

    Parameters
    ----------
    names : tuple
        The variables.
    states : tuple of tuple
        Names of the states of each; none of a continuous variable.
    parents : tuple of tuple of int
        Positions of the parents of each.

    Examples
    --------
    >>> from tacit.graph.nodes import Nodes
    >>> nodes = Nodes(("rain", "wet"), (("no", "yes"),) * 2, ((), (0,)))
    >>> nodes.sizes.tolist(), nodes.edges
    ([2, 4], [('rain', 'wet')])
    """

    names: tuple
    states: tuple
    parents: tuple
    _saved = declare(
        names=Listed(Label(), kind=tuple),
        states=Listed(Listed(Label(), kind=tuple), kind=tuple),
        parents=Listed(Listed(Whole(0), kind=tuple), kind=tuple),
    )

    def __post_init__(self) -> None:
        n = len(self.names)
        if not n:
            raise ValueError("the network has no variable; give at least one.")
        if len(self.states) != n or len(self.parents) != n:
            raise ValueError(
                f"{n} variables have {len(self.states)} lists of states and {len(self.parents)} of parents."
            )
        twice = [v for v in self.names if self.names.count(v) > 1] if len(set(self.names)) < n else []
        if twice:
            raise ValueError(f"the variable {twice[0]!r} is there twice; give each variable a name of its own.")
        for v, states, parents in zip(self.names, self.states, self.parents):
            if len(set(states)) < len(states):
                raise ValueError(f"the states {list(states)} of {v!r} name one twice; give each once.")
            if len(set(parents)) < len(parents):
                raise ValueError(f"{v!r} has the parent {self.names[parents[0]]!r} twice; give each edge once.")
            if any(p >= n for p in parents):
                raise ValueError(f"{v!r} has the parent number {max(parents)}, but there are {n} variables.")
        assert self.order is not None  # cycles are found here
        for v, states, parents in zip(self.names, self.states, self.parents):
            wrong = [p for p in parents if states and not self.states[p]]
            if wrong:
                raise ValueError(
                    f"the discrete variable {v!r} has the continuous parent {self.names[wrong[0]]!r}, with which no "
                    "exact inference is possible; reverse the edge or make the parent discrete."
                )
        sizes = [self._cells(i) for i in range(n)]
        if sum(sizes) > MOST_TABLE:
            i = sizes.index(max(sizes))
            raise ValueError(
                f"the table of {self.names[i]!r} given its {len(self.parents[i])} parents has {sizes[i]:.3g} cells; give fewer."
            )

    @classmethod
    def of_edges(cls, edges: Iterable[tuple], names: Sequence, states: Mapping[Any, Sequence]) -> Nodes:
        """Nodes from edges (parent, child) between variables of these names."""
        names = tuple(names)
        number = {v: i for i, v in enumerate(names)}
        parents: list[list[int]] = [[] for _ in names]
        for edge in edges:
            if len(edge) != 2:
                raise ValueError(f"the edge {edge!r} is no pair of parent and child.")
            for v in edge:
                if v not in number:
                    raise ValueError(f"the edge {tuple(edge)} names {v!r}, which is no variable; {closest(v, names)}")
            a, b = number[edge[0]], number[edge[1]]
            if a in parents[b]:
                raise ValueError(f"the edge {tuple(edge)} is given twice; give each once.")
            parents[b].append(a)
        return cls(names, tuple(tuple(states.get(v, ())) for v in names), tuple(map(tuple, parents)))

    # What follows from it

    @cached_property
    def number(self) -> dict[Any, int]:
        """Positions of the variables by name."""
        return {v: i for i, v in enumerate(self.names)}

    def at(self, variable: Any) -> int:
        """The position of a variable, or an error that names it."""
        try:
            return self.number[variable]
        except (KeyError, TypeError):
            raise ValueError(f"{variable!r} is no variable of the network; {closest(variable, self.names)}") from None

    @cached_property
    def children(self) -> tuple:
        """Positions of the children of each."""
        found: list[list[int]] = [[] for _ in self.names]
        for child, parents in enumerate(self.parents):
            for parent in parents:
                found[parent].append(child)
        return tuple(map(tuple, found))

    @property
    def edges(self) -> list[tuple]:
        """Pairs of parent and child, by name."""
        return [(self.names[p], self.names[c]) for c, parents in enumerate(self.parents) for p in parents]

    @cached_property
    def order(self) -> tuple:
        """Positions with parents before their children."""
        waiting = [len(parents) for parents in self.parents]
        ready = [i for i, n in enumerate(waiting) if n == 0]
        found: list[int] = []
        while ready:
            i = ready.pop()
            found.append(i)
            for child in self.children[i]:
                waiting[child] -= 1
                if waiting[child] == 0:
                    ready.append(child)
        if len(found) < len(self.names):
            ring = list(map(str, self._cycle(set(found))))
            told = ring if len(ring) <= MOST_TOLD else [*ring[: MOST_TOLD - 2], "…", ring[-1]]
            raise ValueError(f"the edges form the cycle {' → '.join(told)}; remove one of them.")
        return tuple(found)

    def _cycle(self, free: set) -> list:
        """Names along a cycle among the variables that are in one or behind one."""
        at, seen = next(i for i in range(len(self.names)) if i not in free), []
        while at not in seen:
            seen.append(at)
            at = next(p for p in self.parents[at] if p not in free)
        ring = seen[seen.index(at) :][::-1]
        return [self.names[i] for i in (ring[-1], *ring)]

    @cached_property
    def cards(self) -> np.ndarray:
        """Numbers of states; 1 of continuous variables, whose tables are over their discrete parents."""
        return np.array([max(len(states), 1) for states in self.states], dtype=np.int64)

    @cached_property
    def continuous(self) -> np.ndarray:
        """Which variables are continuous."""
        return np.array([not states for states in self.states])

    def _cells(self, i: int) -> float:
        return prod(float(self.cards[j]) for j in (*self.parents[i], i))

    def family(self, i: int) -> tuple[int, ...]:
        """The discrete parents of a variable and, if discrete, itself: the axes of its table."""
        own = (*self.parents[i], i)
        return tuple(j for j in own if self.states[j])

    def shape(self, i: int) -> tuple[int, ...]:
        """Shape of the table of a variable."""
        return tuple(int(self.cards[j]) for j in self.family(i))

    @cached_property
    def sizes(self) -> np.ndarray:
        """Cells of the table of each discrete variable, 0 of the others."""
        return np.array(
            [0 if gauss else int(self._cells(i)) for i, gauss in enumerate(self.continuous)], dtype=np.int64
        )

    @cached_property
    def offsets(self) -> np.ndarray:
        """Where each table begins in the vector of all."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    def check_tables(self, theta: np.ndarray, tolerance: float = 1e-3) -> np.ndarray:
        """Tables in one vector, each distribution divided by its sum; raise where one does not sum to 1 within a tolerance."""
        theta = theta.copy()
        for i in np.flatnonzero(self.sizes).tolist():
            rows = theta[self.offsets[i] : self.offsets[i + 1]].reshape(-1, self.cards[i])
            bad = ~np.isfinite(rows) | (rows < 0)
            if bad.any():
                raise ValueError(
                    f"the table of {self.names[i]!r} holds {rows[bad][0]:g}; probabilities must be from 0 to 1."
                )
            total = rows.sum(axis=1)
            if (np.abs(total - 1.0) > tolerance).any():
                row = int(np.argmax(np.abs(total - 1.0) > tolerance))
                raise ValueError(
                    f"the table of {self.names[i]!r} sums to {total[row]:g}{self._given(i, row)}; it must sum to 1."
                )
            exact = np.abs(total - 1.0) > 1e-12
            rows[exact] /= total[exact, None]
        return theta

    def _given(self, i: int, row: int) -> str:
        """The states of the parents of a variable in a row of its table, as a message tells them."""
        parents = [p for p in self.parents[i] if self.states[p]]
        at = np.unravel_index(row, tuple(int(self.cards[p]) for p in parents)) if parents else ()
        told = [f"{self.names[p]} = {self.states[p][int(k)]}" for p, k in zip(parents, at)]
        return f" where {', '.join(told)}" if told else ""
