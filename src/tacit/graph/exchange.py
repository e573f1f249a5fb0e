"""Graphs of networkx in and out; networkx is imported only where such a graph is given or asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["is_networkx", "parts_of_networkx", "to_networkx"]


def is_networkx(graph: Any) -> bool:
    """Whether an object is a graph of networkx."""
    return any(cls.__module__.partition(".")[0] == "networkx" for cls in type(graph).__mro__)


def parts_of_networkx(graph: Any, directed: bool) -> tuple[list, list[tuple]]:
    """Names and edges of a graph of networkx.

    Parameters
    ----------
    graph : networkx.Graph or networkx.DiGraph
    directed : bool
        Which of the two is needed.
    """
    if graph.is_multigraph() or graph.is_directed() != directed:
        needed = "DiGraph" if directed else "Graph"
        raise ValueError(f"a networkx {type(graph).__name__} was given, but a {needed} is needed.")
    return list(graph.nodes), [tuple(edge) for edge in graph.edges]


def to_networkx(names: Iterable, edges: Iterable[tuple], directed: bool = True) -> Any:
    """A graph of networkx with these nodes and edges.

    Parameters
    ----------
    names, edges : iterable
    directed : bool
        Whether it is a DiGraph.
    """
    try:
        import networkx
    except ImportError:
        raise ImportError("to_networkx needs networkx; install it with: pip install networkx") from None
    graph = networkx.DiGraph() if directed else networkx.Graph()
    graph.add_nodes_from(names)
    graph.add_edges_from(edges)
    return graph
