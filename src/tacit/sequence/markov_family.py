"""`MarkovFamily`: sequences of symbols as rows, log p(x | k) = Σ_t log P_k(x_t | x_{t−L}, …, x_{t−1}).

A row is a sequence: it holds its symbols, counted from 1, and −1 (in arrays also NaN) where one is missing. Missing symbols are
integrated out. Before the first symbol stands one that occurs nowhere else: first symbols have probabilities of their own.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ..arrays import Arrays, record
from ..declared import Numbers, Whole, declare
from ..families.family import Family, recalled
from ..kernels import backend, host, kernel
from ..source import Block, SparseSource

__all__ = ["DUST", "MOST_CELLS", "ChainTables", "MarkovFamily", "interpolated", "sequence_source"]

MOST_CELLS = 1 << 22
"""Contexts times symbols of a table in which every context has its place."""
LEAST = 1e-300
DUST = 1e-9  # of all steps: contexts that are as good as never met
POOLED = 0.1  # of all sequences in the start of a class: a move that is impossible at the start stays so
LITTLE = 0.01  # rows' worth of every move at the start
PROJECTED = 50


@record
class ChainTables(Arrays):
    """Probabilities (classes, contexts, symbols), and the share of the steps after each context."""

    table: np.ndarray
    visits: np.ndarray
    _saved = declare(table=Numbers("K C S", low=0, high=1, total=1), visits=Numbers("C", low=0, high=1))

    @cached_property
    def cells(self) -> np.ndarray:
        """Probabilities as kernels want them, (cells, classes), none of them 0."""
        return np.maximum(np.ascontiguousarray(self.table.reshape(len(self.table), -1).T), LEAST)

    @cached_property
    def log_cells(self) -> np.ndarray:
        """Their logs."""
        return np.log(self.cells)


@record
class MoveStats(Arrays):
    """Expected moves, (classes, contexts, symbols)."""

    moves: np.ndarray


class MarkovFamily(Family):
    """Markov chains of a given order.

    Parameters
    ----------
    n_symbols, order : int
    smoothing : float
        Pseudo-count of every symbol after every context.
    backoff : tuple of float
        Pseudo-counts of contexts of 1, 2, … symbols that are spread as shorter contexts say; see `tacit.sequence.contexts`.
        Under them the M-step is no maximum.
    """

    _params_type = ChainTables
    _saved = declare(n_symbols=Whole(1), order=Whole(0), smoothing=Numbers(low=0))

    def __init__(self, n_symbols: int = 1, order: int = 1, smoothing: float = 0.0, backoff: tuple = ()):
        self.n_symbols, self.order, self.smoothing = n_symbols, order, float(smoothing)
        self.backoff = np.asarray(backoff if len(backoff) else np.zeros(order))

    def sizes(self, n_columns: int) -> dict[str, int]:
        return {"C": (self.n_symbols + 1) ** self.order, "S": self.n_symbols}

    def _sequences(self, block: Block) -> tuple[np.ndarray, np.ndarray, int, int]:
        """Symbols and offsets of a block, and what else kernels are given."""
        codes, offsets = recalled(block, "codes", lambda: _codes(block.X))
        return codes, offsets, self.order, self.n_symbols

    def _missing(self, block: Block) -> bool:
        return recalled(block, "missing", lambda: bool((self._sequences(block)[0] < 0).any()))

    # Learning

    def start(self, block: Block, resp: Any) -> ChainTables:
        weight = host(block.weight)
        counts = self._seen(block, host(resp) * weight[:, None])
        pooled = counts.sum(axis=0, keepdims=True)
        shares, whole = (self._table(each + LITTLE * weight.mean()) for each in (counts, pooled))
        return ChainTables((1.0 - POOLED) * shares + POOLED * whole, _shares(pooled))

    def log_prob(self, params: ChainTables, block: Block) -> Any:
        sequences = self._sequences(block)
        out = np.zeros((len(block), len(params.table)))
        kernel("score_moves")(*sequences, params.log_cells, out)
        if self._missing(block):
            none = np.zeros((0, out.shape[1]))
            kernel("hidden_moves")(*sequences, params.cells, np.zeros_like(out), none, out)
        return out if backend(block.X) != "torch" else block.weight.new_tensor(out)

    def stats(self, params: Any, block: Block, resp: Any) -> MoveStats:
        counts = self._seen(block, host(resp))
        if self._missing(block):
            flat = np.zeros(params.cells.shape)
            weight = np.ascontiguousarray(host(resp), dtype=np.float64)
            kernel("hidden_moves")(*self._sequences(block), params.cells, weight, flat, np.zeros_like(weight))
            counts += flat.T.reshape(counts.shape)
        return MoveStats(counts)

    def _seen(self, block: Block, resp: np.ndarray) -> np.ndarray:
        """Moves of which nothing is missing."""
        codes, offsets, order, n_symbols = self._sequences(block)
        counts = np.zeros(((n_symbols + 1) ** order * n_symbols, resp.shape[1]))
        weight = np.ascontiguousarray(resp, dtype=np.float64)
        kernel("count_moves")(codes, 0, offsets, weight, order, n_symbols, counts)
        return np.ascontiguousarray(counts.T).reshape(resp.shape[1], -1, n_symbols)

    def m_step(self, stats: MoveStats, params: Any) -> ChainTables:
        return ChainTables(self._table(stats.moves), _shares(stats.moves))

    def _table(self, counts: np.ndarray) -> np.ndarray:
        return np.stack([interpolated(each, self.smoothing, self.backoff) for each in counts])

    def log_prior(self, params: ChainTables) -> float:
        """But for a constant, and for the shorter contexts that probabilities may be centred on."""
        return self.smoothing * float(params.log_cells.sum()) if self.smoothing else 0.0

    def free(self, params: ChainTables) -> np.ndarray:
        """Roots of probabilities, so that what is near 0 stays near 0."""
        return np.sqrt(params.table).ravel()

    def bound(self, vector: np.ndarray, params: ChainTables) -> ChainTables:
        square = np.maximum(vector, 0.0).reshape(params.table.shape) ** 2
        total = square.sum(axis=2, keepdims=True)
        return ChainTables(np.where(total > 0, square / np.where(total > 0, total, 1.0), params.table), params.visits)

    def permute(self, params: ChainTables, order: Any) -> ChainTables:
        return ChainTables(params.table[order], params.visits)

    def n_parameters(self, params: ChainTables) -> int:
        """Probabilities after contexts that occur."""
        return len(params.table) * int((params.visits > DUST).sum()) * (self.n_symbols - 1)

    def embed(self, block: Block, rng: np.random.Generator) -> np.ndarray:
        """Roots of the shares of moves of each sequence; random projections of them where there are many."""
        codes, offsets, order, n_symbols = self._sequences(block)
        from .symbols import window

        x, *older = window(codes, offsets, order, n_symbols)
        cell, seen = np.zeros(len(x), np.int64), x >= 0
        for symbol in older[::-1]:
            cell, seen = cell * (n_symbols + 1) + symbol, seen & (symbol >= 0)
        row = np.repeat(np.arange(len(block)), np.diff(offsets))
        place = (cell * n_symbols + x)[seen]
        shape = len(block), (n_symbols + 1) ** order * n_symbols
        counts = csr_array((np.ones(len(place)), (row[seen], place)), shape=shape)
        counts.data /= np.maximum(counts.sum(axis=1), 1.0)[np.repeat(np.arange(len(block)), np.diff(counts.indptr))]
        counts.data **= 0.5
        if shape[1] <= PROJECTED:
            return counts.toarray()
        used, at = np.unique(counts.indices, return_inverse=True)
        narrow = csr_array((counts.data, at.ravel(), counts.indptr), shape=(shape[0], len(used)))
        return narrow @ rng.standard_normal((len(used), PROJECTED)) / np.sqrt(PROJECTED)

    # What the classes are

    def walk(self, table: np.ndarray, n_steps: int, rng: np.random.Generator) -> np.ndarray:
        """A sequence of symbols drawn from a table (contexts, symbols)."""
        cumulated = np.cumsum(table, axis=1)
        context, radix, n_contexts = len(table) - 1, self.n_symbols + 1, len(table)
        found = np.empty(n_steps, dtype=np.int64)
        for step, u in enumerate(rng.random(n_steps)):
            row = cumulated[context]
            found[step] = min(int(np.searchsorted(row, u * row[-1], side="right")), self.n_symbols - 1)
            context = (context * radix + int(found[step])) % n_contexts
        return found


def _shares(moves: np.ndarray) -> np.ndarray:
    """Shares of the steps after each context."""
    found = moves.sum(axis=(0, 2))
    return found / max(found.sum(), LEAST)


def _codes(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Symbols of sequences from 0, −1 where missing, and where sequences begin; rows of an array are all of one length."""
    sparse = backend(X) == "sparse"
    cells = X.data if sparse else np.nan_to_num(host(X), nan=-1.0).ravel()
    offsets = X.indptr if sparse else np.arange(len(X) + 1) * X.shape[1]
    return np.where(cells > 0, cells - 1, -1).astype(np.int32), offsets


def interpolated(counts: np.ndarray, smoothing: float, backoff: np.ndarray) -> np.ndarray:
    """Probabilities (contexts, symbols) from counts, as `tacit.sequence.contexts` says."""
    n_symbols = counts.shape[1]
    if len(counts) == 1:
        lower: Any = np.full(n_symbols, 1.0 / n_symbols)
        alpha = 0.0
    else:
        shorter = counts.reshape(n_symbols + 1, -1, n_symbols).sum(axis=0)
        lower = np.tile(interpolated(shorter, smoothing, backoff[:-1]), (n_symbols + 1, 1))
        alpha = backoff[-1]
    total = counts.sum(axis=1, keepdims=True) + n_symbols * smoothing + alpha
    return np.where(total > 0, (counts + smoothing + alpha * lower) / np.where(total > 0, total, 1.0), lower)


def sequence_source(
    codes: np.ndarray, offsets: np.ndarray, weight: np.ndarray | None = None, labels: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> SparseSource:  # fmt: skip
    """Sequences of symbols (−1 missing) as the rows of a source."""
    lengths = np.diff(offsets)
    place = np.arange(len(codes)) - np.repeat(offsets[:-1], lengths)
    data = np.where(codes >= 0, codes + 1.0, -1.0)
    matrix = csr_array((data, place.astype(np.int32), offsets), shape=(len(lengths), int(lengths.max())))
    absent = "missing" if (codes < 0).any() else "zero"
    return SparseSource(matrix, weight, labels, absent=absent, n_jobs=n_jobs)
