"""`GraphQuestions`: what a network's graph says of independence, as methods."""

from __future__ import annotations

from typing import Any

from . import dag

__all__ = ["GraphQuestions"]


class GraphQuestions:
    """Methods of networks that look at edges alone; functions of the same names take any graph."""

    def d_separated(self, a: Any, b: Any, given: Any = ()) -> bool:
        """Whether a and b are independent given other variables, whatever the parameters; see `tacit.graph.d_separated`."""
        return dag.d_separated(self, a, b, given)

    def ancestral(self, variables: Any) -> set:
        """Edges among variables and all they depend on."""
        return dag.ancestral(self, variables)

    def moral(self) -> set:
        """Links of the moral graph."""
        return dag.moral(self)

    def markov_blanket(self, variable: Any) -> set:
        """Parents, children, and other parents of the children."""
        return dag.markov_blanket(self, variable)

    def skeleton(self) -> set:
        """Edges without direction."""
        return dag.skeleton(self)

    def immoralities(self) -> set:
        """Pairs of parents that are not linked, each with their child."""
        return dag.immoralities(self)

    def equivalent(self, other: Any) -> bool:
        """Whether another graph says the same of independence."""
        return dag.equivalent(self, other)

    def cpdag(self) -> tuple:
        """Edges that all equivalent graphs have, and links that have either direction in them."""
        return dag.cpdag(self)
