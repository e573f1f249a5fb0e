"""Hill climbing: the move, of adding, removing and reversing one edge, that improves the score most, until none does.

Past a maximum the search goes on with the best moves to networks that it has not just seen (tabu search), and begins again from
the best network with edges changed at random.
"""

from __future__ import annotations

import numbers
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...checks import check_choice, check_n_jobs, check_number
from ...notes import Note
from .codes import Codes, check_edges
from .constraint import pc_stable
from .knowledge import Knowledge, reach
from .scores import Gains
from .structure import Structure
from .tables import over_tables
from .tree import chow_liu

__all__ = ["hill_climb"]

STARTS = ("pc", "tree", "empty")
MOST_GIVEN = 3
ADD, REMOVE, REVERSE = range(3)
LEAST_GAIN = 1e-9


@over_tables
def hill_climb(
    X: Any, cardinalities: Any = None, *, score: str = "bic", equivalent_sample_size: float = 10.0, required: Iterable = (),
    forbidden: Iterable = (), allowed: Iterable | None = None, max_parents: int | None = None, start: Any = "pc",
    tabu: int = 100, n_restarts: int = 0, max_iter: int = 100_000, random_state: int | None = None, n_jobs: int | None = None,
) -> Structure:  # fmt: skip
    """Search for the network with the best score.

    Parameters
    ----------
    X : array-like of int, (n, d), or table
        States of the variables, −1 missing, or a table of categories. Gains are taken over the rows that observe the
        family.
    cardinalities : array-like of int, (d,), optional
        Numbers of states; none for a table, whose columns and their names take the places of numbers.
    score : {"bic", "aic", "bdeu", "k2", "loglik"}, default="bic"
    equivalent_sample_size : float, default=10.0
        Of BDeu.
    required, forbidden : iterable of (parent, child)
        Edges that the network has and has not.
    allowed : iterable of (parent, child), optional
        The only edges that it may have.
    max_parents : int, optional
        Most parents of a variable.
    start : {"pc", "tree", "empty"} or iterable of (parent, child), default="pc"
        Where to begin: the network of `pc_stable`, the Chow–Liu tree, no edges, or those given; without what is forbidden, and
        with what is required.
    tabu : int, default=100
        Networks to which the search does not return, and moves past a maximum before it ends; 0 ends at the first maximum.
    n_restarts : int, default=0
        How often to begin again from the best network, changed at random.
    max_iter : int, default=100_000
        Most moves.
    random_state : int, optional
        Seeds the changes.
    n_jobs : int, optional
        Threads; results do not depend on it.

    Returns
    -------
    Structure
        The best network that was visited.

    References
    ----------
    Heckerman, Geiger and Chickering (1995), Learning Bayesian networks: the combination of knowledge and statistical data.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.graph import hill_climb
    >>> a, b = np.random.default_rng(0).integers(2, size=(2, 500))
    >>> sorted(hill_climb(np.column_stack([a, b, a | b]), [2, 2, 2]).edges)
    [(0, 2), (1, 2)]
    """
    table = Codes.of(X, cardinalities)
    for name, value in (("tabu", tabu), ("n_restarts", n_restarts)):
        check_number(name, value, numbers.Integral, 0)
    check_number("max_iter", max_iter, numbers.Integral, 1)
    check_n_jobs(n_jobs)
    knowledge = Knowledge.of(table.n_variables, required, forbidden, allowed, max_parents)
    begin = _beginning(start, table, knowledge, n_jobs)
    notes = []
    if table.missing:
        # Gains over different rows do not add up to a score by which networks far from each other could be compared.
        tabu = n_restarts = 0
        notes.append(Note("missing", "cells are missing, so the search ended at the first maximum"))
    gains, rng = Gains(table, score, equivalent_sample_size, n_jobs), np.random.default_rng(random_state)
    search = _Search(gains, knowledge, rng)
    best, gained, left = search.climb(begin, int(tabu), int(max_iter))
    for _ in range(n_restarts):
        disturbed, lost = search.disturbed(best)
        found, more, left = search.climb(disturbed, int(tabu), left)
        if lost + more > LEAST_GAIN * max(1.0, abs(gained)):
            best, gained = found, gained + lost + more
    if left:
        reason = Note("maximum", "no move to another network improves the score")
    else:
        reason = Note("max_iter", "max_iter={max_iter} moves were made", max_iter=max_iter)
    return Structure.of(best, reason, notes, n_scored=gains.n_counted)


def _beginning(start: Any, table: Codes, knowledge: Knowledge, n_jobs: int | None) -> np.ndarray:
    """The required edges, and those of the start that go with them."""
    if isinstance(start, str):
        check_choice("start", start, STARTS)
        given = table.codes, table.sizes
        if start == "empty":
            start = []
        elif start == "tree":
            start = chow_liu(*given, n_jobs=n_jobs).edges
        else:
            start = pc_stable(*given, max_given=MOST_GIVEN, n_jobs=n_jobs).edges
    edges = knowledge.required.copy()
    for a, b in np.argwhere(check_edges("start", start, table.n_variables) & knowledge.possible):
        if edges[:, b].sum() < knowledge.max_parents and not reach(edges)[b, a]:
            edges[a, b] = True
    return edges


class _Search:
    """Networks on the way up; `gain` holds what each edge adds, or what removing it takes away."""

    def __init__(self, gains: Gains, knowledge: Knowledge, rng: np.random.Generator):
        self.gains, self.knowledge, self.rng = gains, knowledge, rng
        n = gains.codes.n_variables
        self.keys = rng.integers(1 << 62, size=(n, n))

    def climb(self, edges: np.ndarray, tabu: int, most: int) -> tuple[np.ndarray, float, int]:
        """The best network on the way up from one, what it gained, and how many moves are left."""
        self._settle(edges)
        best, gained, total, since = edges.copy(), 0.0, 0.0, 0
        seen: deque[int] = deque([self.key], maxlen=None if self.gains.codes.missing else tabu + 1)
        while most:
            gain, kind, a, b = self._best_move(seen)
            if gain == -np.inf or (gain <= LEAST_GAIN and since >= tabu):
                break
            self._move(kind, a, b)
            most, total = most - 1, total + gain
            seen.append(self.key)
            since += 1
            if total > gained + LEAST_GAIN * max(1.0, abs(gained)):
                best, gained, since = self.edges.copy(), total, 0
            elif since > tabu:
                break
        return best, gained, most

    def disturbed(self, edges: np.ndarray) -> tuple[np.ndarray, float]:
        """The network after as many random moves as there are variables, and what they gained."""
        self._settle(edges)
        total = 0.0
        for _ in range(len(edges)):
            values = self._moves()
            places = np.argwhere(values > -np.inf)
            if not len(places):
                break
            kind, a, b = self.rng.choice(places).tolist()
            total += float(values[kind, a, b])
            self._move(kind, a, b)
        return self.edges.copy(), total

    def _settle(self, edges: np.ndarray) -> None:
        """Stand on a network."""
        self.edges, n = edges.copy(), len(edges)
        self.gain = np.full((n, n), -np.inf)
        self.key = int(np.bitwise_xor.reduce(self.keys[edges])) if edges.any() else 0
        for child in range(n):
            self._count(child)

    def _count(self, child: int) -> None:
        """What every edge into a child adds beside its other parents."""
        parents, column = np.flatnonzero(self.edges[:, child]).tolist(), self.gain[:, child]
        column[:] = -np.inf
        for parent in parents:
            others = [each for each in parents if each != parent]
            column[parent] = self.gains.of(child, others, np.array([parent]))[0]
        candidates = np.flatnonzero(self.knowledge.possible[:, child] & ~self.edges[:, child])
        if len(parents) < self.knowledge.max_parents and len(candidates):
            column[candidates] = self.gains.of(child, parents, candidates)

    def _moves(self) -> np.ndarray:
        """What each move gains, (kinds, parents, children); −∞ where it is not allowed."""
        edges, gain, reached = self.edges, self.gain, reach(self.edges)
        free = edges & ~self.knowledge.required
        around = edges.astype(np.float32) @ reached.astype(np.float32) > 0  # another way from parent to child
        add = np.where(edges | reached.T, -np.inf, gain)
        remove = np.where(free, -gain, -np.inf)
        # An edge that lost all rows of its family is as good as none.
        remove[free & np.isneginf(gain)] = 0.0
        return np.stack([add, remove, np.where(free & ~around, remove + gain.T, -np.inf)])

    def _best_move(self, seen: Sequence[int]) -> tuple[float, int, int, int]:
        values = self._moves()
        n = len(self.edges)
        while True:
            kind, rest = divmod(int(values.argmax()), n * n)
            a, b = divmod(rest, n)
            value = float(values[kind, a, b])
            if value == -np.inf or self._key_after(kind, a, b) not in seen:
                return value, kind, a, b
            values[kind, a, b] = -np.inf

    def _key_after(self, kind: int, a: int, b: int) -> int:
        return self.key ^ int(self.keys[a, b]) ^ (int(self.keys[b, a]) if kind == REVERSE else 0)

    def _move(self, kind: int, a: int, b: int) -> None:
        self.key = self._key_after(kind, a, b)
        self.edges[a, b] = kind == ADD
        self._count(b)
        if kind == REVERSE:
            self.edges[b, a] = True
            self._count(a)
