"""`Contexts`: how often symbols follow contexts of every length, and the probabilities that this tells.

    p(x | c) = (n(c x) + β + α_l p(x | c')) / (n(c) + S β + α_l),    p(x | ) = (n(x) + β) / (n + S β)

where c' is the context c of l symbols without its oldest one, S the number of symbols, β a pseudo-count of every symbol and α_l
one that is spread as the shorter context says. This is the mean of a Dirichlet distribution centred on the shorter context. A
context that was never seen, and of which no pseudo-count tells, is its longest part that was.

References
----------
MacKay and Peto (1995), A hierarchical Dirichlet language model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array
from scipy.special import gammaln

from ..declared import Listed, Numbers, Part, Whole, declare, savable

__all__ = ["Contexts", "Level", "digits", "long_run"]

SOLVED = 1500  # contexts whose shares in the long run are solved for at once
MOST_TURNS, STILL = 100_000, 1e-13
DUST = 1e-9  # of a step, in expected counts
LOG_BACKOFF = np.log(1e-3), np.log(1e7)


@dataclass(frozen=True)
@savable
class Level:
    """Contexts of one length, sorted.

    Attributes
    ----------
    keys : (contexts,) int array
        Number of the context without its oldest symbol, times S + 1, plus that symbol; S stands before the first of a sequence.
    cells : (cells,) int array
        Number of the context times S, plus the symbol that follows.
    counts : (cells,) array
        How often it does.
    """

    keys: np.ndarray
    cells: np.ndarray
    counts: np.ndarray
    _saved = declare(
        keys=Numbers("C", low=0, kind="i"), cells=Numbers("N", low=0, kind="i"), counts=Numbers("N", low=0)
    )  # fmt: skip

    def found(self, keys: np.ndarray) -> np.ndarray:
        """Numbers of contexts by their keys, −1 where there is none."""
        return _place(self.keys, keys)

    def totals(self, n_symbols: int) -> np.ndarray:
        """How often each context occurs."""
        return np.bincount(self.cells // n_symbols, self.counts, len(self.keys))

    def matrix(self, n_symbols: int) -> Any:
        """Counts as a sparse array (contexts, symbols)."""
        context, symbol = np.divmod(self.cells, n_symbols)
        return csr_array((self.counts, (context, symbol)), shape=(len(self.keys), n_symbols))


@dataclass(frozen=True)
@savable
class Contexts:
    """Counts of the symbols that follow contexts, for all lengths up to the order.

    Attributes
    ----------
    n_symbols : int
    levels : list of Level
        By the length of contexts, from 0.
    """

    n_symbols: int
    levels: list
    _saved = declare(n_symbols=Whole(1), levels=Listed(Part(Level)))

    @classmethod
    def of(cls, columns: list[np.ndarray], weight: np.ndarray, n_symbols: int) -> Contexts:
        """Counts of windows: the columns are symbols and those before them, the newest first."""
        x, *older = columns
        node, n_nodes, levels = np.zeros(len(x), np.int64), 1, []
        keys = np.zeros(1, np.int64)
        for length in range(len(older) + 1):
            if length:
                keys, node = _ranked(node * (n_symbols + 1) + older[length - 1], n_nodes * (n_symbols + 1))
                n_nodes = len(keys)
            cells, place = _ranked(node * n_symbols + x, n_nodes * n_symbols)
            levels.append(Level(keys, cells, np.bincount(place, weight, len(cells))))
        return cls(n_symbols, levels)

    @classmethod
    def of_table(cls, counts: np.ndarray, order: int) -> Contexts:
        """Counts of a table (contexts, symbols), whose contexts are numbers with the newest symbol last."""
        n_symbols = counts.shape[1]
        context, x = np.nonzero(counts > DUST)
        return cls.of([x, *digits(context, n_symbols + 1, order)], counts[context, x], n_symbols)

    @property
    def order(self) -> int:
        """Length of the longest contexts."""
        return len(self.levels) - 1

    @cached_property
    def totals(self) -> list[np.ndarray]:
        """How often each context of each length occurs."""
        return [level.totals(self.n_symbols) for level in self.levels]

    @property
    def n_parameters(self) -> int:
        """Free probabilities: those of the longest contexts that occur."""
        return len(self.levels[-1].keys) * (self.n_symbols - 1)

    def nodes(self, older: list[np.ndarray]) -> list[np.ndarray]:
        """The number of the context of each window, for all lengths; −1 where it never occurs."""
        node = np.zeros(len(older[0]) if older else 1, np.int64)
        found = [node]
        for level, symbol in zip(self.levels[1:], older):
            node = np.where(node >= 0, level.found(node * (self.n_symbols + 1) + symbol), -1)
            found.append(node)
        return found

    def probability(self, columns: list[np.ndarray], prior: float, backoff: np.ndarray) -> np.ndarray:
        """p(x | c) of windows, as `of` takes them."""
        x, *older = columns
        p = np.zeros(len(x))
        for length, node in enumerate(self.nodes(older)):
            level, node = self.levels[length], np.broadcast_to(node, x.shape)
            at = _place(level.cells, node * self.n_symbols + x)
            count = np.where((at >= 0) & (node >= 0), level.counts[at], 0.0)
            p = self._mean(length, node, count, p, prior, backoff)
        return p

    def rows(self, older: list[np.ndarray], prior: float, backoff: np.ndarray) -> np.ndarray:
        """p(· | c) of contexts, (contexts, symbols)."""
        p = np.zeros((1, self.n_symbols))
        for length, node in enumerate(self.nodes(older)):
            count = self.levels[length].matrix(self.n_symbols)[np.maximum(node, 0)].toarray()
            p = self._mean(length, node[:, None], np.where(node[:, None] >= 0, count, 0.0), p, prior, backoff)
        return p

    def _mean(self, length: int, node: Any, count: Any, p: Any, prior: float, backoff: np.ndarray) -> np.ndarray:
        """The mean of the Dirichlet distribution about shorter contexts; these where nothing is known."""
        alpha = backoff[length - 1] if length else 0.0
        total = np.where(node >= 0, self.totals[length][node], 0.0) + self.n_symbols * prior + alpha
        return np.where(total > 0, (count + prior + alpha * p) / np.where(total > 0, total, 1.0), p)

    def learn_backoff(self, prior: float) -> np.ndarray:
        """α of every length, by maximum evidence of the counts given the shorter contexts."""
        backoff = np.ones(self.order)
        for length in range(1, self.order + 1):
            level, total = self.levels[length], self.totals[length]
            node, x = np.divmod(level.cells, self.n_symbols)
            shorter = Contexts(self.n_symbols, self.levels[:length])
            p = shorter.probability([x, *(each[node] for each in self.columns(length)[:-1])], prior, backoff)
            told = level.counts, total, p, prior, self.n_symbols
            found = minimize_scalar(_minus_evidence, args=told, bounds=LOG_BACKOFF, method="bounded")
            backoff[length - 1] = np.exp(found.x)
        return backoff

    def columns(self, length: int) -> list[np.ndarray]:
        """The symbols of contexts of a length, the newest first."""
        node, found = np.arange(len(self.levels[length].keys)), list[np.ndarray]()
        for level in self.levels[length:0:-1]:
            node, symbol = np.divmod(level.keys[node], self.n_symbols + 1)
            found.append(symbol)
        return found[::-1]

    def check(self) -> None:
        """Raise ValueError where levels do not go together."""
        above = 1
        for length, level in enumerate(self.levels):
            for name, values, most in (
                ("keys", level.keys, above * (self.n_symbols + 1) if length else 1),
                ("cells", level.cells, len(level.keys) * self.n_symbols),
            ):
                if not len(values) or (np.diff(values) <= 0).any() or values[-1] >= most:
                    raise ValueError(f"the {name} of contexts of {length} symbols are not sorted numbers below {most}")
            above = len(level.keys)


def digits(numbers: np.ndarray, base: int, n_digits: int) -> list[np.ndarray]:
    """The digits of numbers, the last first."""
    found = []
    for _ in range(n_digits):
        numbers, digit = np.divmod(numbers, base)
        found.append(digit)
    return found


def long_run(contexts: Contexts, move: np.ndarray) -> np.ndarray:
    """Shares of all contexts in the long run, whose next symbols have the probabilities `move` (contexts, symbols)."""
    n, s = move.shape
    to = (np.arange(n)[:, None] * s + np.arange(s)) % n
    if n <= SOLVED:
        matrix = np.zeros((n, n))
        np.add.at(matrix, (np.arange(n)[:, None], to), move)
        system = np.vstack([matrix.T - np.eye(n), np.ones(n)])
        share, _, rank, _ = np.linalg.lstsq(system, np.append(np.zeros(n), 1.0), rcond=None)
        if rank == n:
            return np.maximum(share, 0.0) / np.maximum(share, 0.0).sum()
    columns = contexts.columns(contexts.order)
    place = sum(column * s**power for power, column in enumerate(columns))
    inside = np.all([column < s for column in columns], axis=0)
    share = np.bincount(np.asarray(place)[inside], contexts.totals[-1][inside], n)
    share, moved = share / share.sum(), np.inf
    for _ in range(MOST_TURNS):  # every other step is taken, so that cycles come to rest too
        before, share = share, 0.5 * (share + np.bincount(to.ravel(), (share[:, None] * move).ravel(), n))
        moved = np.abs(share - before).sum()
        if moved < STILL:
            break
    return share


def _minus_evidence(
    log_alpha: float, counts: np.ndarray, total: np.ndarray, p: np.ndarray, prior: float, n_symbols: int
) -> float:
    """Minus the log probability of counts, those of probabilities integrated out."""
    pseudo, whole = np.exp(log_alpha) * p + prior, np.exp(log_alpha) + n_symbols * prior
    gain = (gammaln(counts + pseudo) - gammaln(pseudo)).sum()
    return -float(gain + (gammaln(whole) - gammaln(total + whole)).sum())


def _ranked(values: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """Sorted distinct values, all below a limit, and the rank of each."""
    if limit > 4 * len(values) + (1 << 16):
        distinct, rank = np.unique(values, return_inverse=True)
        return distinct, rank.ravel()
    seen = np.zeros(limit, bool)
    seen[values] = True
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[values]


def _place(known: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Places of values in a sorted array, −1 where they are not in it."""
    at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[at] == wanted, at, -1)
