"""`Knowledge`: which edges a network must, may and must not have."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import check_number
from .codes import check_edges

__all__ = ["Knowledge", "cycle_of", "reach"]


@dataclass(frozen=True)
class Knowledge:
    """What is known about the edges of a network.

    Attributes
    ----------
    required, possible : (d, d) arrays of bool
        Edges from rows to columns.
    max_parents : int
        Most parents of a variable.
    """

    required: np.ndarray
    possible: np.ndarray
    max_parents: int

    @classmethod
    def of(
        cls, n: int, required: Iterable = (), forbidden: Iterable = (), allowed: Any = None, max_parents: Any = None
    ) -> Knowledge:
        """Check what is given; `allowed` None allows all edges that are not forbidden."""
        check_number("max_parents", max_parents, numbers.Integral, 0, also=(None,))
        needed, never = check_edges("required", required, n), check_edges("forbidden", forbidden, n)
        possible = ~never & ~np.eye(n, dtype=bool)
        for name, clash in (("forbidden", needed & never), ("required the other way round", needed & needed.T)):
            if clash.any():
                a, b = np.argwhere(clash)[0]
                raise ValueError(f"the required edge ({a}, {b}) is also {name}; leave out one of the two.")
        if allowed is not None:
            possible &= check_edges("allowed", allowed, n)
            if (needed & ~possible).any():
                a, b = np.argwhere(needed & ~possible)[0]
                raise ValueError(f"the required edge ({a}, {b}) is not among those allowed; add it.")
        most = n - 1 if max_parents is None else int(max_parents)
        if (cycle := cycle_of(needed)) is not None:
            told = " → ".join(map(str, cycle))
            raise ValueError(f"the required edges form the cycle {told}; leave out one of them.")
        if needed.sum(axis=0).max(initial=0) > most:
            child = int(needed.sum(axis=0).argmax())
            raise ValueError(
                f"max_parents={most}, but variable {child} has {int(needed[:, child].sum())} required parents; allow as many."
            )
        return cls(needed, possible, most)


def reach(edges: np.ndarray) -> np.ndarray:
    """Which nodes can be reached from which along one edge or more, (d, d).

    Parameters
    ----------
    edges : (d, d) array of bool
    """
    found = edges.copy()
    while True:
        wider = found | (found.astype(np.float32) @ found.astype(np.float32) > 0)
        if (wider == found).all():
            return found
        found = wider


def cycle_of(edges: np.ndarray) -> list[int] | None:
    """A directed cycle, its first node also its last; None where there is none.

    Parameters
    ----------
    edges : (d, d) array of bool
    """
    reached = reach(edges)
    on = np.flatnonzero(reached.diagonal())
    if not len(on):
        return None
    path = [int(on[0])]
    while len(path) < 2 or path[-1] not in path[:-1]:
        ahead = edges[path[-1]] & (reached[:, on[0]] | (np.arange(len(edges)) == on[0]))
        path.append(int(np.argmax(ahead)))
    return path[path.index(path[-1]) :]
