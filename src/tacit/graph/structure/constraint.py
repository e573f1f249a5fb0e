"""PC-stable: two variables are neighbours where no set of others makes them independent, x ⊥ y | S.

Neighbours are held fixed while all tests with sets of one size are made: who is a neighbour does not depend on the order of the
variables.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, combinations
from typing import Any

import numpy as np
from scipy.special import chdtrc

from ...checks import check_choice, check_n_jobs, check_number
from ...kernels import kernel
from ...notes import Note
from ...source.threads import all_of, thread_count
from .codes import Codes
from .knowledge import Knowledge, reach
from .orientation import complete, extension, ordered
from .structure import Structure, pairs, parted
from .tables import over_tables

__all__ = ["independence_test", "pc_stable"]

TESTS = ("g2", "chi2")
LEAST_ROWS = 50_000
"""Rows from which a test takes longer than handing it to a thread."""


@over_tables
def pc_stable(
    X: Any, cardinalities: Any = None, *, test: str = "g2", alpha: float = 0.01, required: Iterable = (),
    forbidden: Iterable = (), allowed: Iterable | None = None, max_given: int | None = None, n_jobs: int | None = None,
) -> Structure:  # fmt: skip
    """Learn a network from tests of conditional independence.

    Parameters
    ----------
    X : array-like of int, (n, d), or table
        States of the variables, −1 missing, or a table of categories. A test goes over the rows that observe all of its
        variables.
    cardinalities : array-like of int, (d,), optional
        Numbers of states; none for a table, whose columns and their names take the places of numbers.
    test : {"g2", "chi2"}, default="g2"
        Likelihood ratio, or Pearson's statistic.
    alpha : float, default=0.01
        Level at which dependence is accepted.
    required, forbidden : iterable of (parent, child)
        Edges that the network has and has not.
    allowed : iterable of (parent, child), optional
        The only edges that it may have.
    max_given : int, optional
        Most variables that a test conditions on.
    n_jobs : int, optional
        Threads; results do not depend on it.

    Returns
    -------
    Structure
        Its `directed` and `undirected` edges are the pattern that the tests give, `edges` a network of this pattern.

    References
    ----------
    Colombo and Maathuis (2014), Order-independent constraint-based causal structure learning.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.graph import pc_stable
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(2, size=(2, 2000))
    >>> found = pc_stable(np.column_stack([a, b, np.where(rng.random(2000) < 0.1, 1 - (a & b), a & b)]), [2, 2, 2])
    >>> found.directed, found.undirected, found.separating[frozenset({0, 1})]
    ([(0, 2), (1, 2)], [], ())
    """
    table = Codes.of(X, cardinalities)
    check_choice("test", test, TESTS)
    check_number("alpha", alpha, numbers.Real, 0, 1)
    check_number("max_given", max_given, numbers.Integral, 0, also=(None,))
    check_n_jobs(n_jobs)
    knowledge = Knowledge.of(table.n_variables, required, forbidden, allowed)
    tests = _Tests(table, test == "chi2", alpha, thread_count(n_jobs) if table.n_rows >= LEAST_ROWS else 1)
    adjacent, separating = tests.neighbours(knowledge, table.n_variables if max_given is None else max_given)
    return _directed(adjacent, separating, knowledge, tests.n_made)


def independence_test(
    X: Any, cardinalities: Any, x: int, y: int, given: Iterable[int] = (), *, test: str = "g2"
) -> tuple[float, int, float]:
    """Test whether two variables are independent given others.

    Parameters
    ----------
    X, cardinalities
        As in `pc_stable`.
    x, y : int
        Variables.
    given : iterable of int
        The others.
    test : {"g2", "chi2"}, default="g2"

    Returns
    -------
    statistic : float
    freedom : int
        Degrees of freedom; states that do not occur are not counted.
    p : float
    """
    table, given = Codes.of(X, cardinalities), list(given)
    check_choice("test", test, TESTS)
    for name, value in [("x", x), ("y", y), *(("given", each) for each in given)]:
        check_number(name, value, numbers.Integral, 0, table.n_variables - 1)
    if len({x, y, *given}) < 2 + len(given):
        raise ValueError(f"x={x}, y={y} and given={given} name a variable twice; give different ones.")
    return _Tests(table, test == "chi2", 0.0, 1).measured(x, y, tuple(given))


class _Tests:
    """Tests of independence in one table of rows."""

    def __init__(self, table: Codes, pearson: bool, alpha: float, threads: int):
        self.table, self.pearson, self.alpha, self.threads, self.n_made = table, pearson, alpha, threads, 0

    def measured(self, x: int, y: int, given: tuple[int, ...]) -> tuple[float, int, float]:
        """Statistic, degrees of freedom and p-value; nothing to compare is independence."""
        sizes, out = self.table.sizes, np.empty(2)
        base, n_base = self.table.family(x, given)
        kernel("independence")(base, n_base, int(sizes[x]), self.table.columns[y], int(sizes[y]), self.pearson, out)
        return float(out[0]), int(out[1]), float(chdtrc(out[1], out[0])) if out[1] else 1.0

    def neighbours(self, knowledge: Knowledge, most: int) -> tuple[np.ndarray, dict]:
        """Who is a neighbour of whom, and which variables separate the others, with the p-value."""
        adjacent = knowledge.possible | knowledge.possible.T
        kept = knowledge.required | knowledge.required.T
        separating: dict[frozenset, tuple] = {}
        for size in range(most + 1):
            # Sets are taken from the neighbours that were there before this size began.
            before = [np.flatnonzero(row).tolist() for row in adjacent]
            asked = [(int(a), int(b)) for a, b in np.argwhere(np.triu(adjacent & ~kept))]
            if not any(len(before[a]) > size or len(before[b]) > size for a, b in asked):
                break
            for (a, b), found in zip(asked, all_of(partial(self._separated, before, size), asked, self.threads)):
                self.n_made += found[2]
                if found[0] is not None:
                    adjacent[a, b] = adjacent[b, a] = False
                    separating[frozenset((a, b))] = found[:2]
        return adjacent, separating

    def _separated(self, before: list, size: int, pair: tuple[int, int]) -> tuple[tuple | None, float, int]:
        """The first set of a size that separates two variables, the p-value, and how many tests were made."""
        made, (a, b) = 0, pair
        for given in _sets(a, b, before, size):
            made += 1
            p = self.measured(a, b, given)[2]
            if p > self.alpha:
                return given, p, made
        return None, 0.0, made


def _sets(a: int, b: int, before: list, size: int) -> Iterator[tuple[int, ...]]:
    """Sets of the neighbours of either."""
    first, second = ([each for each in before[x] if each != y] for x, y in ((a, b), (b, a)))
    known = set(first)
    others = (given for given in combinations(second, size) if not known.issuperset(given))
    return chain(combinations(first, size), others)


def _directed(adjacent: np.ndarray, separating: dict, knowledge: Knowledge, n_made: int) -> Structure:
    """Edges directed where colliders, what is known, and Meek's rules say so."""
    pattern, notes = adjacent.copy(), []
    one_way = adjacent & ~knowledge.possible.T
    pattern[(knowledge.required | one_way).T & adjacent] = False
    contradicted = []
    for _, a, c, b in _colliders(adjacent, separating):
        arrows = pattern & ~pattern.T
        loops = any(reach(arrows)[c, end] for end in (a, b))
        if not (pattern[a, c] and pattern[b, c]) or loops:
            contradicted.append((a, c, b))
            continue
        pattern[c, [a, b]] = False
    if contradicted:
        notes.append(
            Note(
                "contradicted", "{n} of the colliders that tests ask for contradict stronger ones, first {first}",
                n=len(contradicted), first=contradicted[0],
            )
        )  # fmt: skip
    arrows, completed = pattern & ~pattern.T, complete(pattern)
    edges = extension(completed)
    if edges is None:
        edges = ordered(completed, arrows)
        notes.append(Note("no_extension", "no network has exactly the colliders that the tests ask for"))
    reason = Note("tests", "{n} tests left {edges} edges", n=n_made, edges=int(np.triu(adjacent).sum()))
    directed, undirected = parted(completed)
    sets = {pair: given for pair, (given, _) in separating.items()}
    return Structure(pairs(edges), reason, pairs(directed), pairs(undirected), sets, notes, n_made)


def _colliders(adjacent: np.ndarray, separating: dict) -> list[tuple[float, int, int, int]]:
    """Colliders a → c ← b, where a and b are separated without c, the surest separations first."""
    found = []
    for c in range(len(adjacent)):
        for a, b in combinations(np.flatnonzero(adjacent[c]).tolist(), 2):
            if not adjacent[a, b]:
                given, p = separating.get(frozenset((a, b)), ((c,), 0.0))
                if c not in given:
                    found.append((-p, a, c, b))
    return sorted(found)
