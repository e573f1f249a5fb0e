"""`Structure`: a network that was learned, and what can be said of how."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...notes import Note

__all__ = ["Structure"]


@dataclass(frozen=True)
class Structure:
    """A directed acyclic graph that was learned.

    Attributes
    ----------
    edges : list of (parent, child)
        Numbers of variables, or their names where they have names.
    reason : Note
        Why learning ended.
    directed, undirected : list of pairs
        Of the class of networks that the data cannot tell apart (CPDAG): edges that all of them have, and those that some have in
        either direction.
    separating : dict of frozenset to tuple
        Of `pc_stable`: which variables made two independent.
    notes : list of Note
        What a reader should know of the result.
    n_scored : int
        Tables that were counted.
    """

    edges: list
    reason: Note
    directed: list
    undirected: list
    separating: dict
    notes: list
    n_scored: int = 0

    @classmethod
    def of(cls, edges: np.ndarray, reason: Note, notes: list[Note] | None = None, *, n_scored: int = 0) -> Structure:
        """Of a matrix of edges, parents in rows."""
        from .orientation import cpdag_of

        directed, undirected = parted(cpdag_of(edges))
        return cls(pairs(edges), reason, pairs(directed), pairs(undirected), {}, notes or [], n_scored)


def pairs(edges: np.ndarray) -> list[tuple[int, int]]:
    """Pairs (parent, child) of a matrix of truths.

    Parameters
    ----------
    edges : (d, d) array of bool
    """
    return [(int(a), int(b)) for a, b in np.argwhere(edges)]


def parted(pattern: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Directed edges of a pattern, and its undirected ones, each from the smaller to the larger number.

    Parameters
    ----------
    pattern : (d, d) array of bool
        Undirected edges are there in both directions.
    """
    both = pattern & pattern.T
    return pattern & ~both, np.triu(both)
