"""`Arcs`: who is beside whom, as kernels want it: edges as pairs of arcs, of any graph or of a grid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...kernels import kernel

__all__ = ["Arcs"]

WAYS = {4: ((0, 1), (1, 0)), 8: ((0, 1), (1, 0), (1, 1), (1, -1))}
NONE = np.empty(0, np.int32)


@dataclass(frozen=True)
class Arcs:
    """The edges of a graph.

    Attributes
    ----------
    n : int
        Number of nodes.
    edges : (m, 2) array of int32
        Pairs of nodes, each once.
    shape : tuple of int, or None
        Of a grid, whose nodes are its cells row by row.
    connectivity : int
        Neighbours of a cell of a grid, 4 or 8.
    """

    n: int
    edges: np.ndarray
    shape: tuple[int, int] | None = None
    connectivity: int = 4

    @classmethod
    def of(cls, n: int, edges: Any) -> Arcs:
        """Of a graph whose edges are given as pairs."""
        given = np.asarray(edges)
        given = given.reshape(0, 2).astype(int) if given.size == 0 else given
        if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
            raise ValueError(f"edges has shape {given.shape} and type {given.dtype}; give pairs of numbers of nodes.")
        bad = (given < 0).any(axis=1) | (given >= n).any(axis=1) | (given[:, 0] == given[:, 1])
        if bad.any():
            told = given[np.argmax(bad)].tolist()
            raise ValueError(f"edges holds {told}, which joins no two different nodes from 0 to {n - 1}.")
        key = np.sort(given, axis=1) @ np.array([n, 1])
        once, times = np.unique(key, return_counts=True)
        if len(once) < len(key):
            twice = divmod(int(once[np.argmax(times > 1)]), n)
            raise ValueError(f"edges holds {list(twice)} more than once; give each once and add up weights.")
        return cls(n, given.astype(np.int32))

    @classmethod
    def grid(cls, shape: tuple[int, int], connectivity: int) -> Arcs:
        """Of a grid, in which a cell is beside 4 or 8 others."""
        number = np.arange(shape[0] * shape[1], dtype=np.int32).reshape(shape)
        parts = [
            np.stack([a.ravel(), b.ravel()], axis=1) for a, b in (_beside(number, way) for way in WAYS[connectivity])
        ]
        return cls(number.size, np.concatenate(parts), shape, connectivity)

    # Arcs in rows of nodes, for passes

    @cached_property
    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Where the arcs of each node begin, where they lead, their sisters, and of which edge they are."""
        m = len(self.edges)
        tail, order = self.edges.T.ravel(), np.argsort(self.edges.T.ravel(), kind="stable")
        first = np.zeros(self.n + 1, np.int64)
        np.cumsum(np.bincount(tail, minlength=self.n), out=first[1:])
        place = np.empty(2 * m, np.int32)
        place[order] = np.arange(2 * m, dtype=np.int32)
        heads = self.edges[:, ::-1].T.ravel()[order]
        return first, heads, place[(order + m) % (2 * m)] if m else place, order % m if m else order

    def sums(self, weight: np.ndarray) -> np.ndarray:
        """Σ of the weights of each node's edges, (n,)."""
        a, b = self.edges.T
        return np.bincount(a, weight, self.n) + np.bincount(b, weight, self.n)

    # Cuts

    @cached_property
    def _flow(self) -> tuple:
        """What the flow kernel takes of the graph, the arcs of edges there and back, and the places of nodes among its nodes."""
        if self.shape is None:
            first, heads, sisters, edge = self.rows
            there = np.empty(len(self.edges), np.int32)
            at = np.flatnonzero(heads == self.edges[edge, 1])
            there[edge[at]] = at
            return (first.astype(np.int32), heads, sisters, NONE, 0), there, sisters[there], slice(None), self.n
        height, width = self.shape
        bits = 2 if self.connectivity == 4 else 3
        wide, ways = width + 2, WAYS[self.connectivity]
        step = np.array([down * wide + right for down, right in ways], dtype=np.int32)
        number = np.arange((height + 2) * wide, dtype=np.int32).reshape(height + 2, wide)[1:-1, 1:-1]
        there = np.concatenate([(_beside(number, way)[0].ravel() << bits) + 2 * k for k, way in enumerate(ways)])
        sizes = [(height - down) * (width - abs(right)) for down, right in ways]
        back = there + np.repeat((step << bits) + 1, sizes)
        steps = np.stack([step, -step], axis=1).ravel()
        return (NONE, NONE, NONE, steps, bits), there, back, number.ravel(), (height + 2) * wide

    def cut(self, terminal: np.ndarray, there: np.ndarray, back: np.ndarray) -> tuple[float, np.ndarray]:
        """The least cut.

        Parameters
        ----------
        terminal : (n,) array
            What it costs to be on the sink's side, more than on the source's.
        there, back : (m,) arrays
            What it costs that the first node of an edge is on the source's side and the second on the sink's, and the reverse.

        Returns
        -------
        flow : float
        sink : (n,) array of bool
            Who is on the sink's side. Of several least cuts it is the one that puts most there.
        """
        graph, arc, sister, places, n = self._flow
        arcs = (n << graph[4]) if self.shape is not None else 2 * len(self.edges)
        capacity, ends, side = np.zeros(arcs), np.zeros(n), np.zeros(n, np.int8)
        capacity[arc], capacity[sister], ends[places] = there, back, terminal
        flow = kernel("max_flow")(*graph, capacity, ends, side)
        return float(flow), side[places] == 0


def _beside(cells: np.ndarray, way: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Cells of a grid and those that lie one step in a direction."""
    down, right = way
    height, width = cells.shape
    start, stop = max(0, -right), min(width, width - right)
    return cells[: height - down, start:stop], cells[down:, start + right : stop + right]
