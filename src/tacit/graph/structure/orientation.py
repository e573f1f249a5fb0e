"""Patterns: matrices of truths whose edges are directed, or undirected where they are there in both directions."""

from __future__ import annotations

import numpy as np

from .knowledge import reach

__all__ = ["complete", "cpdag_of", "extension", "ordered", "structural_distance"]


def complete(pattern: np.ndarray) -> np.ndarray:
    """Direct every undirected edge that could only be directed one way: Meek's four rules, until nothing changes.

    Parameters
    ----------
    pattern : (d, d) array of bool
    """
    pattern = pattern.copy()
    while True:
        both = pattern & pattern.T
        arrow, adjacent = pattern & ~both, pattern | pattern.T
        for a, b in np.argwhere(both):
            if pattern[a, b] and pattern[b, a] and _forced(arrow, both, adjacent, a, b):
                pattern[b, a] = False
                break
        else:
            return pattern


def _forced(arrow: np.ndarray, both: np.ndarray, adjacent: np.ndarray, a: int, b: int) -> bool:
    """Whether a — b must be a → b: the other way would make a new collider or a cycle."""
    if (arrow[:, a] & ~adjacent[:, b]).any() or (arrow[a] & arrow[:, b]).any():
        return True
    into = np.flatnonzero(both[a] & arrow[:, b])
    if len(into) > 1 and (~adjacent[np.ix_(into, into)] & ~np.eye(len(into), dtype=bool)).any():
        return True
    # a — c → d → b with a — d, c and b not adjacent
    c = np.flatnonzero(both[a] & ~adjacent[b])
    d = np.flatnonzero(adjacent[a] & arrow[:, b])
    return bool(arrow[np.ix_(c[c != b], d)].any())


def cpdag_of(edges: np.ndarray) -> np.ndarray:
    """The pattern of all networks that state the same independences as one.

    Parameters
    ----------
    edges : (d, d) array of bool
        A directed acyclic graph.
    """
    adjacent = edges | edges.T
    pattern = adjacent.copy()
    for child in range(len(edges)):
        parents = np.flatnonzero(edges[:, child])
        married = adjacent[np.ix_(parents, parents)] | np.eye(len(parents), dtype=bool)
        pattern[child, parents[~married.all(axis=1)]] = False
    return complete(pattern)


def extension(pattern: np.ndarray) -> np.ndarray | None:
    """A directed acyclic graph with the edges and colliders of a pattern; None where there is none (Dor and Tarsi).

    Parameters
    ----------
    pattern : (d, d) array of bool
    """
    rest, edges = pattern.copy(), pattern & ~pattern.T
    left = np.ones(len(pattern), bool)
    while left.any():
        for x in np.flatnonzero(left):
            both, adjacent = rest[x] & rest[:, x], rest[x] | rest[:, x]
            if (rest[x] & ~both).any():
                continue  # x is no sink
            near = np.flatnonzero(adjacent)
            joined = rest | rest.T | np.eye(len(rest), dtype=bool)
            if all(joined[y, near].all() for y in np.flatnonzero(both)):
                break
        else:
            return None
        edges[both, x] = True
        rest[x], rest[:, x], left[x] = False, False, False
    return edges


def ordered(pattern: np.ndarray, arrows: np.ndarray) -> np.ndarray:
    """All edges of a pattern along an order in which acyclic `arrows` point forward.

    Parameters
    ----------
    pattern, arrows : (d, d) arrays of bool
    """
    place = np.argsort(np.argsort(reach(arrows).sum(axis=0), kind="stable"))
    return (pattern | pattern.T) & (place[:, None] < place)


def structural_distance(edges: np.ndarray, others: np.ndarray) -> int:
    """Pairs of variables whose edge differs between the patterns of two networks (structural Hamming distance).

    Parameters
    ----------
    edges, others : (d, d) arrays of bool
        Directed acyclic graphs.
    """
    differ = cpdag_of(edges) != cpdag_of(others)
    return int(np.triu(differ | differ.T).sum())
