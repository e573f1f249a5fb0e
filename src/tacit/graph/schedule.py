"""`compile_schedule`: cliques of a triangulated graph and what each multiplies and tells, as arrays that kernels run over rows.

A factor Π φ_f(x_f) is triangulated by eliminating variables; the clique of a variable is itself and its neighbours that are
eliminated later, and its parent is the clique of the first of these, which makes a spanning tree of maximal weight.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..checks import check_choice
from ..kernels import lazy

__all__ = ["HEURISTICS", "Compiled", "Factor", "compile_schedule", "strides"]

junction, elimination = lazy("junction"), lazy("elimination")
HEURISTICS = ("min-fill", "min-weight", "weighted-fill", "best")
SMALL, LARGE = 1e6, 1e7  # cells: with fewer, a search for a better order takes longer than inference does


class Factor(NamedTuple):
    """A table over variables: positions, strides, where it begins, and whether every row has its own."""

    variables: tuple[int, ...]
    steps: tuple[int, ...]
    base: int
    soft: bool = False


def strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides of a table that lies together, in cells."""
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(step)
        step *= int(size)
    return tuple(reversed(steps))


@dataclass(frozen=True)
class Compiled:
    """A schedule and what is known of it.

    Attributes
    ----------
    schedule : tacit.kernels.junction.Schedule
    cliques : list of tuple of int
    cells : ndarray of float
        Cells of each clique's table, where nothing more is observed.
    """

    schedule: Any
    cliques: list
    cells: np.ndarray

    @property
    def total(self) -> float:
        """Cells of all tables."""
        return float(self.cells.sum())

    @property
    def largest(self) -> float:
        """Cells of the largest table."""
        return float(self.cells.max())


def compile_schedule(
    cards: np.ndarray,
    factors: Sequence[Factor],
    targets: Sequence[Factor] = (),
    *,
    observed: Iterable[int] = (),
    heuristic: str = "best",
    maximised: Iterable[int] | None = None,
    rng: np.random.Generator | None = None,
    n_starts: int = 8,
    merge: bool = True,
) -> Compiled:
    """Triangulate and schedule.

    Parameters
    ----------
    cards : ndarray of int
        Numbers of states of all variables.
    factors, targets : sequence of Factor
        What is multiplied, and what is asked for: each lies in one clique.
    observed : iterable of int
        Variables that every row observes; they are in no clique.
    heuristic : {"best", "min-fill", "min-weight", "weighted-fill"}
        How the order of elimination is found. "best" takes min-fill where its tables are small, else the best of all three and,
        where they are large, of `n_starts` more in which ties are broken at random.
    maximised : iterable of int, optional
        Variables that are maximised, after the others were summed over.
    rng : numpy.random.Generator, optional
        What ties are broken by.
    merge : bool
        Whether cliques that lie in others become part of them.
    """
    check_choice("heuristic", heuristic, HEURISTICS)
    n, gone = len(cards), set(observed)
    group = np.full(n, -1, np.int64)
    taken = {v for factor in (*factors, *targets) for v in factor.variables} - gone
    late = set() if maximised is None else set(maximised)
    for v in taken:
        group[v] = 1 if v in late else 0
    kinds = HEURISTICS[:3] if heuristic == "best" else (heuristic,)
    noise = np.arange(n, dtype=float)
    found = _order(cards, factors, targets, group, HEURISTICS.index(kinds[0]), noise)
    total = _total(cards, *found)
    if heuristic == "best" and total > SMALL:
        rng = np.random.default_rng(0) if rng is None else rng
        trials = [(k, noise) for k in (1, 2)]
        trials += [(k % 3, rng.random(n)) for k in range(n_starts if total > LARGE else 0)]
        for kind, ties in trials:
            other = _order(cards, factors, targets, group, kind, ties)
            if (size := _total(cards, *other)) < total:
                found, total = other, size
    order, linked = found
    return _scheduled(cards, factors, targets, order, linked, late, gone, merge)


def _order(
    cards: np.ndarray,
    factors: Sequence[Factor],
    targets: Sequence[Factor],
    group: np.ndarray,
    kind: int,
    noise: np.ndarray,
) -> tuple[list[int], np.ndarray]:
    """An order of elimination, and the triangulated graph."""
    n = len(cards)
    linked = np.zeros((n, n), np.bool_)
    for factor in (*factors, *targets):
        if len(factor.variables) > 1:
            index = np.array(factor.variables)
            linked[index[:, None], index] = True
    linked[np.arange(n), np.arange(n)] = False
    order = np.empty(n, np.int64)
    found = elimination.eliminate(linked, np.log(cards.astype(float)), group, noise, kind, order)
    return order[:found].tolist(), linked


def _total(cards: np.ndarray, order: list[int], linked: np.ndarray) -> float:
    """Cells of the tables that an order makes."""
    left = np.zeros(len(cards), bool)
    left[order] = True
    total, logs = 0.0, np.log(cards.astype(float))
    for v in order:
        total += float(np.exp(logs[linked[v] & left].sum() + logs[v]))
        left[v] = False
    return total


def _scheduled(
    cards: np.ndarray, factors: Sequence[Factor], targets: Sequence[Factor], order: list[int], linked: np.ndarray,
    late: set[int], gone: set[int], merge: bool,
) -> Compiled:  # fmt: skip
    position = {v: k for k, v in enumerate(order)}
    later = {v: [u for u in np.flatnonzero(linked[v]).tolist() if position.get(u, -1) > position[v]] for v in order}
    joins: dict[int, int] = {}  # a variable whose clique became part of another's
    own: dict[int, list[int]] = {}
    for v in order:
        home = joins.get(v, v)
        own.setdefault(home, []).append(v)
        if later[v]:
            up = min(later[v], key=position.__getitem__)
            small = len(later[up]) == len(later[v]) - 1
            if merge and small and up not in joins and (up in late) == (home in late):
                joins[up] = home
    home_of = {v: joins.get(v, v) for v in order}
    heads = sorted(own, key=lambda head: position[own[head][-1]])
    number = {head: c for c, head in enumerate(heads)}
    cliques, parent, n_shared = [], [], []
    for head in heads:
        axes = sorted([head, *later[head]], key=position.__getitem__, reverse=True)
        above = [v for v in axes if position[v] > position[own[head][-1]]]
        cliques.append(tuple(axes))
        n_shared.append(len(above))
        parent.append(number[home_of[above[-1]]] if above else -1)
    if not cliques:  # everything is observed: one table of a single cell
        cliques, parent, n_shared = [()], [-1], [0]
    cells = np.array([float(np.prod(cards[list(clique)].astype(float))) for clique in cliques])
    smallest = _smallest(cliques, cells)

    def place(variables: Iterable[int]) -> int:
        mine = [v for v in variables if v not in gone]
        if not mine:
            return 0
        if len(mine) == 1:
            return smallest[mine[0]]
        return number[home_of[min(mine, key=position.__getitem__)]]

    homes = [place(factor.variables) for factor in factors]
    by_max = [1 if late and head in late else 0 for head in heads] or [1 if late else 0]
    schedule = junction.Schedule(
        np.ascontiguousarray(cards, dtype=np.int64), *_ragged(cliques), _ints(parent), _ints(n_shared),
        *_grouped(parent, len(cliques)), *_grouped(homes, len(cliques)), *_tables(factors),
        _ints([factor.soft for factor in factors]), *_tables(targets),
        _ints([place(target.variables) for target in targets]), _ints(by_max),
    )  # fmt: skip
    return Compiled(schedule, cliques, cells)


def _smallest(cliques: list, cells: np.ndarray) -> dict[int, int]:
    """The clique with the fewest cells that has a variable."""
    found: dict[int, int] = {}
    for c in np.argsort(-cells, kind="stable").tolist():
        for v in cliques[c]:
            found[v] = c
    return found


def _ints(values: Sequence) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def _ragged(lists: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    start = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(each) for each in lists], out=start[1:])
    return start, np.array([v for each in lists for v in each], dtype=np.int64)


def _grouped(home: Sequence[int], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions by their home, those without one (−1) left out."""
    lists: list[list[int]] = [[] for _ in range(n)]
    for each, c in enumerate(home):
        if c >= 0:
            lists[c].append(each)
    return _ragged(lists)


def _tables(factors: Sequence[Factor]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    start, variables = _ragged([factor.variables for factor in factors])
    return (
        start,
        variables,
        _ragged([factor.steps for factor in factors])[1],
        _ints([factor.base for factor in factors]),
    )
