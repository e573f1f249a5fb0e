"""`MarkovNetwork`: p(x) ∝ Π_c φ_c(x_c) over cliques of an undirected graph, in which separation is independence."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from .beliefs import names_of
from .factor_graph import FactorGraph
from .potential import Potential

__all__ = ["MarkovNetwork"]


class MarkovNetwork(FactorGraph):
    """Markov network: variables that share a table are neighbours, and independent of all others given their neighbours.

    Parameters
    ----------
    factors : iterable of Potential
        Tables that are multiplied.

    Attributes
    ----------
    factors : list of Potential
    states : dict of variable to tuple
    is_tree : bool
        Whether the graph of factors and variables has no loop, so that messages are exact.

    References
    ----------
    Lauritzen (1996), Graphical models.

    Examples
    --------
    >>> from tacit.graph import MarkovNetwork, Potential
    >>> alike = [[2.0, 1.0], [1.0, 2.0]]
    >>> square = MarkovNetwork([Potential(pair, alike) for pair in ("ab", "bc", "cd", "da")])
    >>> square.separated("a", "c", "bd"), square.separated("a", "c", "b")
    (True, False)
    >>> square.query("a", {"b": 1, "d": 1}).values.tolist()
    [0.2, 0.8]
    """

    def __init__(self, factors: Iterable[Potential]) -> None:
        super().__init__(factors)
        self._near: dict[Any, set] = {v: set() for v in self.states}
        for factor in self.factors:
            for v in factor.variables:
                self._near[v] |= set(factor.variables) - {v}

    @property
    def links(self) -> set[frozenset]:
        """Pairs of neighbours."""
        return {frozenset((v, u)) for v, near in self._near.items() for u in near}

    def neighbours(self, variable: Hashable) -> set:
        """The variables that share a table with one: given these it is independent of all others (its Markov blanket).

        Parameters
        ----------
        variable : hashable
        """
        (name,) = names_of([variable], self.states)
        return set(self._near[name])

    def separated(self, a: Any, b: Any, given: Any = ()) -> bool:
        """Whether every way from one set of variables to another leads through a third, so that they are independent given it.

        Parameters
        ----------
        a, b, given : variable or iterable of variables
        """
        left, right, closed = (set(names_of(each, self.states)) for each in (a, b, given))
        if (twice := left & right) or (twice := (left | right) & closed):
            raise ValueError(f"{min(twice, key=str)!r} is in two of a, b and given; name it in one.")
        ahead, seen = list(left), left | closed
        while ahead:
            new = self._near[ahead.pop()] - seen
            if new & right:
                return False
            seen |= new
            ahead.extend(new)
        return True
