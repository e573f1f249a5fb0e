"""Categories that depend on each other inside a class, along a tree: log p(x | k) = Σ_j log p_kj(x_j | x_{π_k(j)}).

Every column j but the root has one column π(j) that it depends on. With C the expected counts of pairs of levels, the M-step is
exact: the tree is a maximum spanning tree of the pairs' mutual informations, and its tables are the conditional shares. Of two
columns the tree is saturated. Missing cells are summed over by messages λ along the tree,

    λ_j(b) = [x_j is b or missing] Π_{i: π(i) = j} Σ_a p_i(a | b) λ_i(a),    p(x_j = b | x_π(j) = c, x_O) ∝ p_j(b | c) λ_j(b)

References
----------
Chow and Liu (1968), Approximating discrete probability distributions with dependence trees.
Meilă and Jordan (2000), Learning with mixtures of trees.
"""

from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import xlogy

from ..arrays import Arrays, record
from ..declared import Listed, Numbers, Whole, declare
from ..kernels import backend, host
from ..kernels.layout import level_columns
from ..source.block import Block
from .discrete import MOST_LEVELS, Categorical
from .family import Family, draw_classes, occupied, recalled
from .laws import CellLaw, Law

__all__ = ["ChowLiu"]

CHUNK = 1 << 21
"""Joint probabilities held at a time."""


@record
class TreeParams(Arrays):
    """What each column depends on, (classes, d), −1 for the root; p(level | level of that), (classes, Σ levels, most levels)."""

    parent: np.ndarray
    table: np.ndarray
    _saved = declare(parent=Numbers("K d", low=-1, below="d"), table=Numbers("K p m", low=0, high=1))

    @cached_property
    def above(self) -> np.ndarray:
        """The columns that columns depend on, as whole numbers."""
        return self.parent.astype(np.int64)


@record
class PairStats(Arrays):
    """Expected counts of pairs of levels, (classes, Σ levels, Σ levels); singles on the diagonal."""

    pair: np.ndarray
    _summed = declare(pair=Numbers("K p p", low=0))


def _order(parent: np.ndarray) -> np.ndarray:
    """Columns with each after the one it depends on."""
    root = int(np.argmin(parent))
    order, reached = [root], {root}
    while len(order) < len(parent):
        new = [j for j in range(len(parent)) if j not in reached and parent[j] in reached]
        if not new:
            raise ValueError(f"'parent' is {parent.tolist()}, which is no tree")
        order += new
        reached.update(new)
    return np.array(order)


class ChowLiu(Categorical):
    """Columns of codes 0 … L − 1 that depend on each other along a tree, which each class has of its own.

    Parameters
    ----------
    n_levels : int or sequence of int
        Number of levels of each column.
    floor : float
        Smallest probability of a pair of levels, relative to that of all being equally likely.
    smoothing : float
        Rows' worth, spread evenly over all combinations of levels, that are added to every class.

    Notes
    -----
    Codes are names, not quantities: `mean` and `variance` are those of the indicator of each level, (classes, Σ levels).

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.families import ChowLiu
    >>> law = ChowLiu([2, 2]).fit([[0, 0], [0, 0], [1, 1], [1, 0]])
    >>> np.exp(law.log_prob([[1, 1], [np.nan, 0]])).round(2)
    array([0.25, 0.75])
    """

    conjugate = None  # type: ignore[assignment]
    _params_type = TreeParams  # type: ignore[assignment]
    _saved = Family._saved | {
        "n_levels": Listed(Whole(1, MOST_LEVELS), kind=tuple), "smoothing": Numbers(low=0)
    }  # fmt: skip
    e_step, redraw = Family.e_step, Family.redraw

    def __init__(self, n_levels: Any, *, floor: float = 1e-10, smoothing: float = 0.0) -> None:
        super().__init__(n_levels, floor=floor)
        self.smoothing = float(smoothing)
        # With it, leaps cost passes in half of the fits tried, and led one of twelve to another maximum.
        self.extrapolates = not smoothing

    @property
    def support(self) -> str:
        return f"ChowLiu({list(self.n_levels)})"

    @property
    def _at(self) -> list[slice]:
        return level_columns(self.n_levels)

    def sizes(self, n_columns: int) -> dict[str, int]:
        return {"p": sum(self.n_levels), "m": max(self.n_levels)}

    def check_params(self, params: Any, n_classes: int, n_columns: int) -> None:
        if len(self.n_levels) != n_columns:
            raise ValueError(f"{len(self.n_levels)} numbers of levels are not those of {n_columns} columns")
        Family.check_params(self, params, n_classes, n_columns)
        for parent, table in zip(params.above, params.table):
            _order(parent)
            for j, at in enumerate(self._at):
                used = table[at, : self.n_levels[parent[j]] if parent[j] >= 0 else 1]
                Numbers("c l", total=1).check("table", used.T, {}, self)

    def known(self, **values: Any) -> Any:
        raise TypeError(
            "ChowLiu.of is not defined; learn the tree by fit, or use Categorical.of for independent columns."
        )

    # Messages

    def _rows(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """The distinct rows of codes, −1 where missing, and which of them each row is."""

        def make() -> tuple[np.ndarray, np.ndarray]:
            codes = np.nan_to_num(host(block.X).astype(np.float64), nan=-1.0).astype(np.int64)
            distinct, which = np.unique(codes, axis=0, return_inverse=True)
            return distinct, which.ravel()

        return recalled(block, "distinct rows", make)

    def _messages(self, parent: np.ndarray, table: np.ndarray, codes: np.ndarray) -> tuple[list, np.ndarray]:
        """For every column p(level | level of its parent, observed cells), (rows, levels, parent's levels); log densities."""
        given: list[Any] = [None] * len(self.n_levels)
        held = [np.where((c := codes[:, [j]]) < 0, 1.0, c == np.arange(n)) for j, n in enumerate(self.n_levels)]
        value = np.zeros(len(codes))
        for j in _order(parent)[::-1]:
            n_parent = self.n_levels[parent[j]] if parent[j] >= 0 else 1
            joint = table[self._at[j], :n_parent] * held[j][:, :, None]
            total = joint.sum(axis=1)
            given[j] = joint / np.maximum(total, np.finfo(float).tiny)[:, None]
            scale = total.max(axis=1)
            value += np.log(np.maximum(scale, np.finfo(float).tiny))
            if parent[j] >= 0:
                held[parent[j]] = held[parent[j]] * (total / np.maximum(scale, np.finfo(float).tiny)[:, None])
        return given, value

    def _singles(self, parent: np.ndarray, given: list) -> list[np.ndarray]:
        """The probabilities of the levels of every column given the observed cells, (rows, levels)."""
        found: list[Any] = [None] * len(given)
        for j in _order(parent):
            above = np.ones((len(given[j]), 1)) if parent[j] < 0 else found[parent[j]]
            found[j] = (given[j] @ above[:, :, None])[:, :, 0]
        return found

    def _pairs(self, parent: np.ndarray, table: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Σ w p(level, level) over rows, (Σ levels, Σ levels): through the parent to all columns before."""
        size = sum(self.n_levels)
        out = np.zeros((size, size))
        for start in range(0, len(codes), max(CHUNK // size**2, 1)):
            part = slice(start, start + max(CHUNK // size**2, 1))
            given, _ = self._messages(parent, table, codes[part])
            joint, done = np.zeros((len(codes[part]), size, size)), np.zeros(size, bool)
            singles = self._singles(parent, given)
            for j in _order(parent):
                at = self._at[j]
                if parent[j] >= 0:
                    cross = joint[:, done, self._at[parent[j]]] @ np.swapaxes(given[j], 1, 2)
                    joint[:, done, at], joint[:, at, done] = cross, np.swapaxes(cross, 1, 2)
                joint[:, range(at.start, at.stop), range(at.start, at.stop)] = singles[j]
                done[at] = True
            out += np.tensordot(weight[part], joint, axes=1)
        return out

    # Learning

    def start(self, block: Block, resp: Any) -> Any:
        k, (size, widest), d = resp.shape[1], (sum(self.n_levels), max(self.n_levels)), len(self.n_levels)
        uniform = np.repeat(1.0 / np.array(self.n_levels), self.n_levels)
        table = np.broadcast_to(uniform[None, :, None], (k, size, widest))
        params = TreeParams(np.tile(np.arange(d) - 1.0, (k, 1)), np.array(table))
        learned = self.m_step(self.stats(params, block, host(resp) * host(block.weight)[:, None]), params)
        return TreeParams(learned.parent, 0.9 * learned.table + 0.1 * params.table)

    def log_prob(self, params: Any, block: Block) -> Any:
        codes, which = self._rows(block)
        value = np.column_stack([self._messages(*each, codes)[1] for each in zip(params.above, params.table)])[which]
        value[(codes[which] < 0).all(axis=1)] = 0.0  # but for rounding
        if backend(block.X) != "torch":
            return value
        return block.X.new_tensor(value, dtype=None).double()

    def stats(self, params: Any, block: Block, resp: Any) -> PairStats:
        codes, which = self._rows(block)
        resp = host(resp)
        weight = np.column_stack([np.bincount(which, column, len(codes)) for column in resp.T])
        whole = (codes >= 0).all(axis=1)
        ones = np.hstack([codes[whole][:, [j]] == np.arange(n) for j, n in enumerate(self.n_levels)]).astype(float)
        pair = np.array([(ones * column[:, None]).T @ ones for column in weight[whole].T])
        if not whole.all():
            each = zip(params.above, params.table, weight[~whole].T)
            pair += np.array([self._pairs(parent, table, codes[~whole], column) for parent, table, column in each])
        return PairStats(pair)

    def m_step(self, stats: Any, params: Any) -> Any:
        first = self._at[0]
        count = np.einsum("kii->ki", stats.pair)[:, first].sum(axis=1) + self.smoothing
        even = np.multiply.outer(*[np.repeat(1.0 / np.array(self.n_levels), self.n_levels)] * 2)
        for at in self._at:
            even[at, at] = np.diag(np.diag(even[at, at]) * len(even[at, at]))
        parent, table = params.parent.copy(), params.table.copy()
        for k in np.flatnonzero(occupied(count)):
            joint = (stats.pair[k] + self.smoothing * even) / count[k]
            parent[k], table[k] = self._tree((1.0 - self.floor) * joint + self.floor * even)
        return TreeParams(parent, table)

    def _tree(self, joint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The likeliest tree and its tables, from the joint probabilities of all pairs of levels."""
        d, single = len(self.n_levels), np.diag(joint)
        ratio = xlogy(joint, joint / np.maximum(np.multiply.outer(single, single), np.finfo(float).tiny))
        starts = [at.start for at in self._at]
        told = np.add.reduceat(np.add.reduceat(ratio, starts, axis=0), starts, axis=1)
        parent, inside, most = np.zeros(d, np.int64), np.arange(d) == 0, told[0].copy()
        parent[0] = -1
        for _ in range(d - 1):  # Prim's: the column that the tree tells most of joins it
            j = int(np.argmax(np.where(inside, -np.inf, most)))
            inside[j] = True
            parent[~inside & (told[j] > most)] = j
            most = np.maximum(most, told[j])
        table = np.ones((len(joint), max(self.n_levels))) * single[:, None]
        for j in np.flatnonzero(parent >= 0).tolist():
            at, above = self._at[j], self._at[parent[j]]
            table[at, : above.stop - above.start] = joint[at, above] / single[above]
        return parent, table

    def log_prior(self, params: Any) -> float:
        """The log-likelihood of the rows that `smoothing` adds."""
        if not self.smoothing:
            return 0.0
        uniform = np.repeat(1.0 / np.array(self.n_levels), self.n_levels)
        even = TreeParams(params.parent, np.zeros_like(params.table) + uniform[:, None])
        return -self.smoothing * float(self.cross_entropy(even, params).sum())

    def n_parameters(self, params: Any) -> int:
        levels = np.append(self.n_levels, 1)  # the last is what a root depends on
        return int(((levels[:-1] - 1) * levels[params.above]).sum())

    def coordinates(self, params: Any) -> Any:
        return Family.coordinates(self, params)

    def free(self, params: Any) -> np.ndarray:
        """Square roots, as of `Categorical`."""
        return np.sqrt(params.table).ravel()

    def bound(self, vector: np.ndarray, params: Any) -> Any:
        table = np.maximum(vector.reshape(params.table.shape), 0.0) ** 2 + np.finfo(float).tiny
        for at in self._at:
            table[:, at] /= table[:, at].sum(axis=1, keepdims=True)
        return TreeParams(params.parent, table)

    # What it says

    def _nothing(self, n: int = 1) -> np.ndarray:
        return np.full((n, len(self.n_levels)), -1)

    def shares(self, params: Any) -> list[np.ndarray]:
        each = [
            self._singles(parent, self._messages(parent, table, self._nothing())[0])
            for parent, table in zip(params.above, params.table)
        ]
        return [np.vstack(column) for column in zip(*each)]

    def mean(self, params: Any) -> np.ndarray:
        return np.hstack(self.shares(params))

    def variance(self, params: Any) -> np.ndarray:
        mean = self.mean(params)
        return mean * (1.0 - mean)

    def parameters(self, params: Any) -> dict[str, np.ndarray]:
        return {"probability": self.mean(params)}

    def cross_entropy(self, params: Any, other: Any) -> np.ndarray:
        out = np.zeros(len(params.parent))
        for k, (parent, table) in enumerate(zip(params.above, params.table)):
            pair = self._pairs(parent, table, self._nothing(), np.ones(1))
            for j, above in enumerate(other.above[k]):
                at = self._at[j]
                weight = pair[at, self._at[above]] if above >= 0 else np.diag(pair)[at, None]
                out[k] -= xlogy(weight, np.maximum(other.table[k, at, : weight.shape[1]], np.finfo(float).tiny)).sum()
        return out

    def entropy(self, params: Any) -> np.ndarray:
        return self.cross_entropy(params, params)

    def kl(self, params: Any, other: Any) -> np.ndarray:
        return self.cross_entropy(params, other) - self.entropy(params)

    def law(self, params: Any, block: Block) -> Law:
        (codes, which), (rows, columns) = self._rows(block), block.missing_cells
        share = np.zeros((len(rows), len(params.parent), max(self.n_levels)))
        for k, (parent, table) in enumerate(zip(params.above, params.table)):
            singles = self._singles(parent, self._messages(parent, table, codes)[0])
            for j, n in enumerate(self.n_levels):
                here = columns == j
                share[here, k, :n] = singles[j][which[rows[here]]]
        return CellLaw(share, columns, self.n_levels)

    def sample(self, params: Any, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        codes = self._nothing(len(classes))
        for k in np.unique(classes):
            codes[classes == k] = self._drawn(params, k, codes[classes == k], rng)
        return codes.astype(float)

    def draw(self, params: Any, block: Block, resp: Any, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        distinct, which = self._rows(block)
        out = np.empty((n_draws, *block.X.shape))
        for t, classes in enumerate(draw_classes(host(resp), n_draws, rng)):
            for k in np.unique(classes):
                out[t, classes == k] = self._drawn(params, k, distinct[which[classes == k]], rng)
        return out

    def _drawn(self, params: Any, k: int, codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Rows of a class with missing cells drawn given the observed ones, from the root on."""
        parent, found, rows = params.above[k], codes.copy(), np.arange(len(codes))
        given, _ = self._messages(parent, params.table[k], codes)
        for j in _order(parent):
            share = given[j][rows, :, found[:, parent[j]] if parent[j] >= 0 else 0]
            found[:, j] = (
                rng.random((len(codes), 1)) * share.sum(axis=1, keepdims=True) > np.cumsum(share, axis=1)
            ).sum(axis=1)
        return np.where(codes >= 0, codes, found)
