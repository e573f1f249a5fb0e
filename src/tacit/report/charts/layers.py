"""`layers`: places for boxes of a graph without cycles, parents above their children, Σ (x_a − x_b)² over edges being small.

Boxes take levels, long edges a point on every level between, the order on a level is that of few crossings, and places are the
nearest ones to those of the neighbours that leave no two too close (isotonic regression).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.isotonic import isotonic_regression

__all__ = ["Layers", "layers"]

Parents = Sequence[Sequence[int]]
SWEEPS, SETTLING = 24, 16
POINT = 0.16
"""Width of the point of a long edge, a box being 1 wide."""


@dataclass(frozen=True)
class Layers:
    """Where boxes are, and where edges pass.

    Attributes
    ----------
    x : list of float
        Middles of boxes, one box with its margin being 1 wide; the leftmost is at 0.5.
    level : list of int
    edges : dict of (int, int) to list of float
        By parent and child, where the edge passes the levels between them.
    """

    x: list[float]
    level: list[int]
    edges: dict[tuple[int, int], list[float]]


def layers(parents: Parents, most: int | None = None) -> Layers:
    """Lay a graph out.

    Parameters
    ----------
    parents : sequence of sequence of int
    most : int, optional
        Boxes on a level; default a number that makes the whole about as wide as high.
    """
    n = len(parents)
    level = _levels(parents, most or _widest(n))
    neighbours, chains, depth = _with_points(parents, level)
    width = np.full(len(depth), POINT)
    width[:n] = 1.0
    rows = _ordered(neighbours, depth)
    x = _placed(neighbours, rows, width)
    x += 0.5 - x[:n].min()
    # A long edge may pass left of all boxes.
    x -= min(0.0, float(x.min()) - 0.5 * POINT)
    edges = {edge: [float(x[k]) for k in points] for edge, points in chains.items()}
    return Layers([float(each) for each in x[:n]], level, edges)


def _widest(n: int) -> int:
    return max(4, min(int(np.ceil(1.6 * np.sqrt(n))), max(10, int(np.ceil(np.sqrt(n))))))


def _children(parents: Parents) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in parents]
    for child, above in enumerate(parents):
        for parent in above:
            found[parent].append(child)
    return found


def _order(parents: Parents, children: list[list[int]]) -> list[int]:
    """Parents before children."""
    waiting = [len(above) for above in parents]
    found = [i for i, count in enumerate(waiting) if not count]
    for i in found:
        for child in children[i]:
            waiting[child] -= 1
            if not waiting[child]:
                found.append(child)
    return found


def _levels(parents: Parents, most: int) -> list[int]:
    """Levels below all parents, near to them and to children, with so many boxes at most."""
    children = _children(parents)
    order, level = _order(parents, children), [0] * len(parents)
    for i in order:
        level[i] = 1 + max((level[p] for p in parents[i]), default=-1)
    for _ in range(4):
        for i in reversed(order):
            if len(children[i]) > len(parents[i]):
                level[i] = min(level[c] for c in children[i]) - 1
        for i in order:
            if len(parents[i]) > len(children[i]):
                level[i] = 1 + max(level[p] for p in parents[i])
    linked = [i for i in order if parents[i] or children[i]]
    alone = [i for i in order if not (parents[i] or children[i])]
    taken: dict[int, int] = {}
    for i in [*sorted(linked, key=level.__getitem__), *alone]:
        at = max(level[i], 1 + max((level[p] for p in parents[i]), default=-1))
        while taken.get(at, 0) >= most:
            at += 1
        level[i], taken[at] = at, taken.get(at, 0) + 1
    used = {at: k for k, at in enumerate(sorted(set(level)))}
    return [used[at] for at in level]


def _with_points(
    parents: Parents, level: list[int]
) -> tuple[list[list[int]], dict[tuple[int, int], list[int]], list[int]]:
    """Neighbours of boxes and points, the points of each edge, and levels of all."""
    neighbours: list[list[int]] = [[] for _ in parents]
    chains, depth = {}, list(level)
    for child, above in enumerate(parents):
        for parent in above:
            points = []
            last = parent
            for at in range(level[parent] + 1, level[child]):
                points.append(len(depth))
                depth.append(at)
                neighbours.append([last])
                neighbours[last].append(points[-1])
                last = points[-1]
            neighbours[last].append(child)
            neighbours[child].append(last)
            chains[parent, child] = points
    return neighbours, chains, depth


def _ordered(neighbours: list[list[int]], depth: list[int]) -> list[list[int]]:
    """Rows from left to right, in the order of fewest crossings of those that sweeps down and up come to."""
    rows: list[list[int]] = [[] for _ in range(max(depth) + 1)]
    for v in _walk(neighbours):
        rows[depth[v]].append(v)
    best, least = [list(row) for row in rows], _crossings(rows, neighbours, depth)
    for sweep in range(SWEEPS):
        if least == 0:
            break
        down = sweep % 2 == 0
        for at in range(1, len(rows)) if down else range(len(rows) - 2, -1, -1):
            beside = at - 1 if down else at + 1
            place = {v: k for k, v in enumerate(rows[beside])}
            own = {v: k for k, v in enumerate(rows[at])}
            wished = {
                v: float(np.mean(near)) if (near := [place[u] for u in neighbours[v] if depth[u] == beside]) else own[v]
                for v in rows[at]
            }
            rows[at].sort(key=wished.__getitem__)
        found = _crossings(rows, neighbours, depth)
        if found < least:
            best, least = [list(row) for row in rows], found
    return best


def _walk(neighbours: list[list[int]]) -> list[int]:
    """All, neighbours soon after each other: what belongs together begins together."""
    found, seen = [], set()
    for start in range(len(neighbours)):
        waiting = [start]
        while waiting:
            v = waiting.pop()
            if v not in seen:
                seen.add(v)
                found.append(v)
                waiting += reversed(neighbours[v])
    return found


def _crossings(rows: list[list[int]], neighbours: list[list[int]], depth: list[int]) -> int:
    """Pairs of edges between neighbouring rows that cross."""
    total = 0
    for at in range(len(rows) - 1):
        place = {v: k for k, v in enumerate(rows[at + 1])}
        ends = [np.sort([place[u] for u in neighbours[v] if depth[u] == at + 1]) for v in rows[at]]
        right = np.concatenate([np.empty(0), *ends])
        left = np.repeat(np.arange(len(ends)), [len(each) for each in ends])
        crossed = (left[:, None] < left) & (right[:, None] > right)
        total += int(crossed.sum())
    return total


def _placed(neighbours: list[list[int]], rows: list[list[int]], width: np.ndarray) -> np.ndarray:
    """Middles of all, none nearer to the next in its row than both are wide."""
    x = np.zeros(len(width))
    for row in rows:
        centres = np.cumsum(width[row]) - 0.5 * width[row]
        x[row] = centres - 0.5 * width[row].sum()
    strong = width < 1.0
    for sweep in range(SETTLING):
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            offsets = np.cumsum(width[row]) - 0.5 * width[row]
            wished, weight = [], []
            for v in row:
                near = neighbours[v]
                pull = np.where(strong[near], 4.0 if strong[v] else 1.0, 1.0)
                wished.append(float(np.average(x[near], weights=pull)) if near else x[v])
                weight.append(float(pull.sum()) if near else 0.1)
            x[row] = isotonic_regression(np.array(wished) - offsets, sample_weight=weight) + offsets
    return x
