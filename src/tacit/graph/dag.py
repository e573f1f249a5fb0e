"""Graphs of belief networks: what follows from where the edges are, without any table.

x and y are independent given z in every network with a graph if z separates them in the moral graph of their ancestors; two
graphs say the same of independence if they have the same skeleton and the same immoralities (parents of a child that are not
linked).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import combinations
from typing import Any

from .exchange import is_networkx, parts_of_networkx
from .nodes import Nodes

__all__ = [
    "ancestors", "ancestral", "as_nodes", "cpdag", "d_separated", "descendants", "equivalent", "immoralities", "markov_blanket",
    "moral", "separated", "skeleton", "topological_order",
]  # fmt: skip

Edges = set[tuple]


def as_nodes(graph: Any) -> Nodes:
    """A graph without cycles from a network, edges (parent, child), a mapping of child to parents, or a networkx DiGraph.

    Parameters
    ----------
    graph : BeliefNetwork, Nodes, iterable of pairs, mapping or networkx.DiGraph
    """
    if isinstance(graph, Nodes):
        return graph
    if hasattr(graph, "nodes_"):
        return graph.nodes_
    if is_networkx(graph):
        names, edges = parts_of_networkx(graph, directed=True)
    elif hasattr(graph, "items"):
        edges = [(parent, child) for child, parents in graph.items() for parent in parents]
        names = list(dict.fromkeys([*graph, *(parent for parent, _ in edges)]))
    else:
        edges = [tuple(edge) for edge in graph]
        names = list(dict.fromkeys(v for edge in edges for v in edge))
    return Nodes.of_edges(edges, names, {v: (0, 1) for v in names})


def _numbers(nodes: Nodes, variables: Any) -> set[int]:
    """Positions of a variable, or of several."""
    if isinstance(variables, Hashable) and variables in nodes.number:
        return {nodes.number[variables]}
    return {nodes.at(v) for v in ([variables] if isinstance(variables, (str, int)) else variables)}


def _above(nodes: Nodes, start: Iterable[int]) -> set[int]:
    """These variables and all they depend on."""
    found, waiting = set(), list(start)
    while waiting:
        i = waiting.pop()
        if i not in found:
            found.add(i)
            waiting += nodes.parents[i]
    return found


def _below(nodes: Nodes, start: Iterable[int]) -> set[int]:
    found, waiting = set(), list(start)
    while waiting:
        i = waiting.pop()
        if i not in found:
            found.add(i)
            waiting += nodes.children[i]
    return found


def _links(nodes: Nodes, kept: set[int]) -> dict[int, set[int]]:
    """Neighbours in the moral graph of some variables, which hold their parents."""
    links: dict[int, set[int]] = {i: set() for i in kept}
    for i in kept:
        for a, b in combinations((*nodes.parents[i], i), 2):
            links[a].add(b)
            links[b].add(a)
    return links


def _reached(links: dict[int, set[int]], start: set[int], closed: set[int]) -> set[int]:
    """What can be reached without going through what is closed."""
    found, waiting = set(), list(start - closed)
    while waiting:
        i = waiting.pop()
        if i not in found:
            found.add(i)
            waiting += links[i] - closed
    return found


def topological_order(graph: Any) -> list:
    """The variables, parents before their children.

    Parameters
    ----------
    graph : BeliefNetwork, edges, mapping or networkx.DiGraph
    """
    nodes = as_nodes(graph)
    return [nodes.names[i] for i in nodes.order]


def ancestors(graph: Any, variables: Any) -> set:
    """All that variables depend on, without themselves.

    Parameters
    ----------
    graph : BeliefNetwork, edges, mapping or networkx.DiGraph
    variables : variable or iterable of variables
    """
    nodes = as_nodes(graph)
    own = _numbers(nodes, variables)
    return {nodes.names[i] for i in _above(nodes, own) - own}


def descendants(graph: Any, variables: Any) -> set:
    """All that depends on variables, without themselves.

    Parameters
    ----------
    graph : BeliefNetwork, edges, mapping or networkx.DiGraph
    variables : variable or iterable of variables
    """
    nodes = as_nodes(graph)
    own = _numbers(nodes, variables)
    return {nodes.names[i] for i in _below(nodes, own) - own}


def ancestral(graph: Any, variables: Any) -> Edges:
    """Edges (parent, child) of the ancestral graph: of variables and all they depend on.

    Parameters
    ----------
    graph : BeliefNetwork, edges, mapping or networkx.DiGraph
    variables : variable or iterable of variables
    """
    nodes = as_nodes(graph)
    kept = _above(nodes, _numbers(nodes, variables))
    return {(nodes.names[p], nodes.names[i]) for i in kept for p in nodes.parents[i]}


def moral(graph: Any) -> set[frozenset]:
    """Links of the moral graph: edges without direction, and parents of a child married.

    Parameters
    ----------
    graph : BeliefNetwork, edges, mapping or networkx.DiGraph
    """
    nodes = as_nodes(graph)
    links = _links(nodes, set(range(len(nodes.names))))
    return {frozenset((nodes.names[a], nodes.names[b])) for a in links for b in links[a]}


def skeleton(graph: Any) -> set[frozenset]:
    """Edges without direction.

    Parameters
    ----------
    graph : BeliefNetwork, edges, mapping or networkx.DiGraph
    """
    return {frozenset(edge) for edge in as_nodes(graph).edges}


def immoralities(graph: Any) -> set[tuple[frozenset, Any]]:
    """Pairs of parents that are not linked, each with their child.

    Parameters
    ----------
    graph : BeliefNetwork, edges, mapping or networkx.DiGraph
    """
    nodes = as_nodes(graph)
    near = [set(nodes.parents[i]) | set(nodes.children[i]) for i in range(len(nodes.names))]
    return {
        (frozenset((nodes.names[a], nodes.names[b])), nodes.names[i])
        for i in range(len(nodes.names))
        for a, b in combinations(nodes.parents[i], 2)
        if a not in near[b]
    }


def equivalent(graph: Any, other: Any) -> bool:
    """Whether two graphs over the same variables say the same of independence: the same skeleton and immoralities.

    Parameters
    ----------
    graph : BeliefNetwork, edges, mapping or networkx.DiGraph
    other : as `graph`
    """
    one, two = as_nodes(graph), as_nodes(other)
    return (
        set(one.names) == set(two.names) and skeleton(one) == skeleton(two) and immoralities(one) == immoralities(two)
    )


def markov_blanket(graph: Any, variable: Any) -> set:
    """Parents, children and other parents of the children: given these, a variable depends on nothing else.

    Parameters
    ----------
    graph : BeliefNetwork, edges, mapping or networkx.DiGraph
    variable : object
    """
    nodes = as_nodes(graph)
    i = nodes.at(variable)
    found = {*nodes.parents[i], *nodes.children[i], *(p for child in nodes.children[i] for p in nodes.parents[child])}
    return {nodes.names[j] for j in found - {i}}


def d_separated(graph: Any, a: Any, b: Any, given: Any = ()) -> bool:
    """Whether a and b are independent given other variables in every network with this graph.

    Parameters
    ----------
    graph : BeliefNetwork, edges, mapping or networkx.DiGraph
    a, b, given : variable or iterable of variables

    Examples
    --------
    >>> from tacit.graph import d_separated
    >>> alarm = [("burglar", "alarm"), ("earthquake", "alarm"), ("earthquake", "radio")]
    >>> d_separated(alarm, "burglar", "radio"), d_separated(alarm, "burglar", "radio", "alarm")
    (True, False)
    """
    nodes = as_nodes(graph)
    left, right, closed = _numbers(nodes, a), _numbers(nodes, b), _numbers(nodes, given)
    both = (left & right) | ((left | right) & closed)
    if both:
        raise ValueError(f"{nodes.names[min(both)]!r} is named in more than one of a, b and given; name it in one.")
    links = _links(nodes, _above(nodes, left | right | closed))
    return not _reached(links, left, closed) & right


def separated(links: Iterable, a: Any, b: Any, given: Any = ()) -> bool:
    """Whether a and b are independent given other variables in every Markov network with these links.

    Parameters
    ----------
    links : iterable of pairs, or networkx.Graph
        The network's links; frozensets as of `moral` will do.
    a, b, given : variable or iterable of variables
    """
    pairs = parts_of_networkx(links, directed=False)[1] if is_networkx(links) else [tuple(each) for each in links]
    names = list(dict.fromkeys([v for pair in pairs for v in pair]))
    alone = [v for each in (a, b, given) for v in ([each] if isinstance(each, (str, int)) else each) if v not in names]
    nodes = Nodes.of_edges([], [*names, *dict.fromkeys(alone)], {v: (0, 1) for v in (*names, *alone)})
    near: dict[int, set[int]] = {i: set() for i in range(len(nodes.names))}
    for one, two in pairs:
        near[nodes.number[one]].add(nodes.number[two])
        near[nodes.number[two]].add(nodes.number[one])
    left, right, closed = (_numbers(nodes, each) for each in (a, b, given))
    return not _reached(near, left, closed) & (right - closed)


def cpdag(graph: Any) -> tuple[Edges, set[frozenset]]:
    """The class of graphs that say the same of independence: edges that all have, and links that have either direction.

    Parameters
    ----------
    graph : BeliefNetwork, edges, mapping or networkx.DiGraph

    Returns
    -------
    directed : set of (parent, child)
    undirected : set of frozenset

    References
    ----------
    Meek (1995), Causal inference and causal explanation with background knowledge.
    """
    nodes = as_nodes(graph)
    directed = {(p, child) for parents, child in immoralities(nodes) for p in parents}
    open_links = {frozenset(edge) for edge in nodes.edges} - {frozenset(edge) for edge in directed}
    near: dict[Any, set] = {v: set() for v in nodes.names}
    for p, c in nodes.edges:
        near[p].add(c)
        near[c].add(p)
    while True:
        found = next(
            (way for link in open_links for way in _ways(link) if _compelled(way, directed, open_links, near)), None
        )
        if found is None:
            return directed, open_links
        directed.add(found)
        open_links.discard(frozenset(found))


def _ways(link: frozenset) -> tuple[tuple, tuple]:
    a, b = link
    return (a, b), (b, a)


def _compelled(way: tuple, directed: Edges, open_links: set[frozenset], near: dict[Any, set]) -> bool:
    """Whether a → b follows by one of Meek's first three rules."""
    a, b = way
    if any((c, a) in directed and c not in near[b] for c in near[a]):  # else an immorality that is not there
        return True
    if any((a, c) in directed and (c, b) in directed for c in near[a]):  # else a cycle
        return True
    middle = [c for c in near[a] if frozenset((a, c)) in open_links and (c, b) in directed]
    return any(d not in near[c] for c, d in combinations(middle, 2))
