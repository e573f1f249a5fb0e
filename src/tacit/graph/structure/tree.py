"""Chow–Liu trees: of all trees, the one whose edges carry most mutual information Σ I(x_i; x_j) is the most likely one."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...checks import check_n_jobs, check_number
from ...notes import Note
from .codes import Codes, check_edges
from .scores import Gains
from .structure import Structure
from .tables import over_tables

__all__ = ["chow_liu", "mutual_information"]


def mutual_information(X: Any, cardinalities: Any, *, n_jobs: int | None = None) -> np.ndarray:
    """Mutual information of all pairs of variables, in nats, over the rows that observe both.

    Parameters
    ----------
    X : array-like of int, (n, d)
        States; −1 is missing.
    cardinalities : array-like of int, (d,)
    n_jobs : int, optional
        Threads.

    Returns
    -------
    ndarray of shape (d, d)
        Entropies on the diagonal; 0 for pairs that no row observes.
    """
    check_n_jobs(n_jobs)
    table = Codes.of(X, cardinalities)
    gains, d = Gains(table, "loglik", n_jobs=n_jobs), table.n_variables
    found = np.zeros((d, d))
    for child in range(d):
        scores = gains.scores(child, (), np.arange(child + 1))
        found[child, : child + 1] = (scores[:, 0] - scores[:, 1]) / np.maximum(scores[:, 2], 1.0)
    return np.maximum(found + np.tril(found, -1).T, 0.0)


@over_tables
def chow_liu(
    X: Any, cardinalities: Any = None, *, root: int = 0, required: Iterable = (), forbidden: Iterable = (),
    least: float = 0.0, n_jobs: int | None = None,
) -> Structure:  # fmt: skip
    """Learn the most likely tree.

    Parameters
    ----------
    X : array-like of int, (n, d), or table
        States of the variables, −1 missing, or a table of categories. Pairs are counted over the rows that observe
        both.
    cardinalities : array-like of int, (d,), optional
        Numbers of states; none for a table, whose columns and their names take the places of numbers.
    root : int, default=0
        The variable from which edges point away; other parts of a forest have their first variable as root.
    required, forbidden : iterable of (parent, child)
        Edges that the tree has and has not, in either direction.
    least : float, default=0.0
        Edges that carry less mutual information are left out, in nats.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    Structure

    References
    ----------
    Chow and Liu (1968), Approximating discrete probability distributions with dependence trees.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.graph import chow_liu
    >>> rng = np.random.default_rng(0)
    >>> a = rng.integers(2, size=400)
    >>> b, c = (np.where(rng.random(400) < 0.2, 1 - a, a) for _ in range(2))
    >>> chow_liu(np.column_stack([b, a, c]), [2, 2, 2]).edges
    [(0, 1), (1, 2)]
    """
    carried = mutual_information(X, cardinalities, n_jobs=n_jobs)
    d = len(carried)
    check_number("root", root, numbers.Integral, 0, d - 1)
    check_number("least", least, numbers.Real, 0)
    needed, never = (check_edges(name, edges, d) for name, edges in (("required", required), ("forbidden", forbidden)))
    needed, never = needed | needed.T, never | never.T
    if (needed & never).any():
        a, b = np.argwhere(needed & never)[0]
        raise ValueError(f"the required edge ({a}, {b}) is also forbidden; leave out one of the two.")
    tree = _spanning(np.where(needed, np.inf, carried), ~never & (needed | (carried >= least)), needed)
    return Structure.of(_away_from(int(root), tree), Note("tree", "the tree of most mutual information was found"))


def _spanning(weight: np.ndarray, possible: np.ndarray, needed: np.ndarray) -> np.ndarray:
    """Kruskal's maximal spanning forest, (d, d) and symmetric; required edges have infinite weight."""
    d = len(weight)
    a, b = np.nonzero(np.triu(possible, 1))
    part, tree = np.arange(d), np.zeros((d, d), bool)
    for e in np.argsort(-weight[a, b], kind="stable"):
        i, j = a[e], b[e]
        if part[i] == part[j]:
            if needed[i, j]:
                raise ValueError(f"the required edge ({i}, {j}) closes a cycle, and a tree has none; leave it out.")
            continue
        tree[i, j] = tree[j, i] = True
        part[part == part[j]] = part[i]
    return tree


def _away_from(root: int, tree: np.ndarray) -> np.ndarray:
    """The edges of a forest, directed away from roots."""
    edges, seen = np.zeros_like(tree), np.zeros(len(tree), bool)
    for first in [root, *range(len(tree))]:
        ahead = [] if seen[first] else [first]
        seen[first] = True
        while ahead:
            node = ahead.pop()
            new = np.flatnonzero(tree[node] & ~seen)
            edges[node, new], seen[new] = True, True
            ahead.extend(new.tolist())
    return edges
