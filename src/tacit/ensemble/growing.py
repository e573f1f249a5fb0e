"""`Grower`: trees grown one after the other on the same binned cells, with what they are grown in made once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ..kernels import lazy
from ..source.threads import all_of, thread_count
from ..tree.grown import LEAF, Tree
from .bins import Bins, Cells

__all__ = ["Grower", "Limits"]

compiled = lazy("histogram")
boosting = lazy("boosting")
COUNT_BITS = 17
VALUE_BITS = 29
"""Bits of a gradient, or curvature, beside those that sums of FLUSH of them take."""
FEW = 40_000
"""Rows of a node that one thread sorts and adds up at once."""
UNLIMITED = 1 << 40
SLOTS = 72
"""Histograms that are in use where all nodes are split, the smaller child first: two for each halving of the rows."""


@dataclass(frozen=True)
class Limits:
    """By what trees end.

    Attributes
    ----------
    max_leaves, max_depth : int or None
    min_rows : int
        Of a leaf.
    l2 : float
        λ.
    share : float
        Of columns, that each split may ask for.
    """

    max_leaves: int | None = 31
    max_depth: int | None = None
    min_rows: int = 20
    l2: float = 0.0
    share: float = 1.0
    min_hessian: float = 1e-3


class Grower:
    """Grows trees on gradients.

    Parameters
    ----------
    bins, cells : Bins, Cells
    limits : Limits
    sign : (d,) array of int8
        Monotone constraints.
    groups : (q, d) array of bool
        Columns that may be asked for together.
    even : bool
        Whether all curvatures are 1.
    seed : int
        Draws columns.
    n_jobs : int or None
    """

    def __init__(
        self, bins: Bins, cells: Cells, limits: Limits, sign: np.ndarray, groups: np.ndarray, even: bool, seed: int,
        n_jobs: int | None,
    ):  # fmt: skip
        self.bins, self.cells, self.even = bins, cells, even
        n, d = cells.columns.shape[1], cells.columns.shape[0]
        self.threads = 1 if n <= FEW else thread_count(n_jobs)
        leaves = max(1, n // limits.min_rows)
        known = limits.max_leaves is not None and limits.max_leaves <= leaves
        if limits.max_depth is not None and limits.max_depth < 40:
            leaves = min(leaves, 1 << limits.max_depth)
        most = min(leaves, limits.max_leaves or leaves)
        rules = np.zeros(1, compiled.RULES)
        rules["max_leaves"] = limits.max_leaves if known else UNLIMITED
        rules["max_depth"] = UNLIMITED if limits.max_depth is None else limits.max_depth
        rules["min_rows"], rules["min_hessian"], rules["l2"] = limits.min_rows, limits.min_hessian, limits.l2
        rules["share"], rules["bounded"], rules["state"] = limits.share, bool(sign.any()), seed
        nodes, q, b = 2 * most - 1, len(groups), bins.missing + 1
        slots, words, width = (most + 1 if known else min(most + 1, SLOTS)), cells.codes.shape[1] // 8, 1 if even else 2
        self.packed = n > FEW
        words, width = (words, width) if self.packed else (0, 3)
        self.growth = compiled.Growth(
            words=cells.codes.view(np.uint64), columns=cells.columns, gradients=np.empty((n, width), np.int64),
            n_bins=bins.n_bins, kind=(bins.n_levels > 0).astype(np.int8), sign=sign, groups=groups, rules=rules,
            nodes=np.zeros(nodes, compiled.NODE), sets=np.zeros((nodes, 8), np.uint32), allowed=np.zeros((nodes, q), bool),
            open=np.zeros(most + 1, np.int64), free=np.zeros(slots, np.int64), counts=np.zeros(4, np.int64),
            histograms=np.empty((slots, d, b, 3), np.int64), rows=np.arange(n, dtype=np.uint32),
            buffer=np.empty(n, np.uint32), bounds=np.zeros((self.threads, nodes, 2), np.int64),
            parts=np.empty((self.threads, d, b, 3), np.int64),
            packed=np.zeros((self.threads, words, 8, 256, width), np.int64),
        )  # fmt: skip
        self._first, self._second = np.empty(n), np.empty(n)

    def over(self, function: Callable[[slice], Any]) -> list:
        """function(rows) of slices that cover all rows."""
        n = len(self._first)
        bounds = [n * t // self.threads for t in range(self.threads + 1)]
        return all_of(function, [slice(a, b) for a, b in pairwise(bounds)], self.threads)

    def descend(self, slopes: Callable[[slice, np.ndarray, np.ndarray], tuple]) -> None:
        """Take the derivatives that `slopes` writes for slices of rows, as whole numbers of units of their own."""
        first, second, rules = self._first, self._second, self.growth.rules
        largest = self.over(lambda rows: slopes(rows, first, second))
        steepest, curved = (max(each[k] for each in largest) for k in (0, 1))
        most = min(46, 60 - len(first).bit_length())
        bits = (VALUE_BITS if self.even else most, VALUE_BITS) if self.packed else (most, most)
        scales = [2.0 ** np.floor(k - np.log2(top)) if top > 0 else 1.0 for k, top in zip(bits, (steepest, curved))]
        scales[1] = 1.0 if self.even else scales[1]
        rules["g_unit"], rules["h_unit"] = 1.0 / scales[0], 1.0 / scales[1]
        gradients = self.growth.gradients
        self.over(
            lambda rows: boosting.fixed(first[rows], second[rows], scales[0], scales[1], COUNT_BITS, gradients[rows])
        )

    def grow(self, drawn: np.ndarray | None = None) -> np.ndarray:
        """A tree on all rows, or on those that were drawn; its nodes, which the next one is written over."""
        growth, threads = self.growth, self.threads
        n = len(growth.rows) if drawn is None else len(drawn)
        growth.rows[:n] = np.arange(n) if drawn is None else drawn
        compiled.begin(growth, n)
        all_of(lambda t: compiled.count(growth, t, 0), range(threads), threads)
        compiled.settle(growth, -1)
        few = UNLIMITED if threads == 1 else FEW
        i = compiled.grow(growth, few)
        while i >= 0:
            all_of(partial(self._divide, i), range(threads), threads)
            compiled.settle(growth, i)
            i = compiled.grow(growth, few)
        return growth.nodes[: growth.counts[0]]

    def _divide(self, node: int, thread: int) -> None:
        compiled.divide(self.growth, thread, node)

    def rows_of(self, leaf: int) -> np.ndarray:
        """Rows of a leaf."""
        bounds = self.growth.bounds[:, leaf]
        return np.concatenate([self.growth.rows[a:b] for a, b in bounds])

    def add_to(self, raw: np.ndarray, drawn: bool) -> None:
        """Add the values of the leaves to predictions of all rows, of which some were not drawn for the tree."""
        growth = self.growth
        if drawn:
            self.over(lambda rows: self.walk(self.cells.codes[rows], raw[rows]))
        else:
            all_of(lambda t: compiled.spread(growth, t, raw), range(self.threads), self.threads)

    def walk(self, codes: np.ndarray, raw: np.ndarray) -> None:
        """Add the values of the leaves to predictions of other rows, by their bins."""
        compiled.walk(self.growth.nodes, self.growth.sets, codes, self.bins.missing, raw)

    def tree(self, weight: np.ndarray | None) -> Tree:
        """The tree as it is kept, its cuts as numbers; nodes weigh as their rows do."""
        growth, n = self.growth, int(self.growth.counts[0])
        nodes, cuts = growth.nodes[:n].copy(), self.bins.cuts
        inner = nodes["left"] >= 0
        threshold, category, sets = np.full(n, float(LEAF)), np.full(n, -1, np.int32), [np.empty(0, np.uint32)]
        at = 0
        for i in np.flatnonzero(inner):
            j, cut = nodes["feature"][i], nodes["cut"][i]
            if nodes["by_set"][i]:
                n_levels = int(self.bins.n_levels[j])
                sets.append(np.concatenate([[n_levels], growth.sets[i, : -(-n_levels // 32)]]).astype(np.uint32))
                category[i], at = at, at + len(sets[-1])
            else:
                threshold[i] = cuts[j][cut] if cut < len(cuts[j]) else np.inf
        return Tree.of(
            np.where(inner, nodes["feature"], LEAF), threshold, np.ascontiguousarray(nodes["left"]),
            np.ascontiguousarray(nodes["right"]), np.ascontiguousarray(nodes["value"]), len(cuts),
            missing_left=nodes["missing_left"] != 0, category=category, sets=np.concatenate(sets),
            gain=np.where(inner, nodes["gain"], 0.0), n_rows=np.ascontiguousarray(nodes["count"]),
            weight=nodes["count"].astype(float) if weight is None else self._weights(weight, nodes),
        )  # fmt: skip

    def _weights(self, weight: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        total = np.zeros(len(nodes))
        for i in range(len(nodes) - 1, -1, -1):
            left, right = nodes["left"][i], nodes["right"][i]
            total[i] = weight[self.rows_of(i)].sum() if left < 0 else total[left] + total[right]
        return total
