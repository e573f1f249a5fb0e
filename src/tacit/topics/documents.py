"""`DocumentSource`: documents kept as rows [word, count], as sparse rows of counts; and batches and halves of documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import csr_array

from ..arrays import Arrays
from ..kernels import backend, host
from ..source import Block, Source, SparseRows, SparseSource
from ..source.memory import Blank

__all__ = ["DocumentSource", "batches", "halves", "sparse_rows"]

T = TypeVar("T")


class DocumentSource(Source):
    """Documents that another source holds as units of rows [word, count], such as a Parquet file with a column for each.

    Only the documents of a few blocks are in memory at a time. Every document is one row, and one unit, of what is learned from.

    Parameters
    ----------
    source : Source
        Rows of two columns, the number of a word from 0 and how often it occurs, whose units are documents.
    n_words : int, optional
        Size of the vocabulary; default found in a pass over all rows.
    words : list of str, optional
        The vocabulary.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.source import ArraySource
    >>> from tacit.topics import DocumentSource
    >>> rows = ArraySource(np.array([[0.0, 2.0], [3.0, 1.0], [1.0, 5.0]]), unit=["a", "a", "b"])
    >>> next(iter(DocumentSource(rows))).X.toarray()
    array([[2., 0., 0., 1.],
           [0., 5., 0., 0.]])
    """

    def __init__(self, source: Source, n_words: int | None = None, words: list | None = None):
        if source.n_features != 2:
            raise ValueError(f"the source has {source.n_features} columns; documents are rows of two: word and count.")
        self.source, self.n_rows = source, source.n_units
        if words is not None and n_words is None:
            n_words = len(words)
        self.n_features = int(max(source.map(_largest_word))) + 1 if n_words is None else int(n_words)
        self.columns, self.dtype = words, source.dtype
        self.n_jobs, self.n_blocks = source.n_jobs, source.n_blocks

    def _documents(self, block: Block) -> Block:
        """The documents of a block of rows [word, count]."""
        rows, offsets = host(block.X), block.offsets
        word, count = rows[:, 0], rows[:, 1]
        bad = np.flatnonzero(~((word >= 0) & (word < self.n_features) & (word == np.floor(word))))
        if len(bad):
            raise ValueError(f"word {word[bad[0]]:g} is none of the {self.n_features} words, numbered from 0.")
        bad = np.flatnonzero(~((count >= 0) & np.isfinite(count)))
        if len(bad):
            raise ValueError(
                f"word {word[bad[0]]:g} has the count {count[bad[0]]:g}; counts are finite and not negative."
            )
        matrix = csr_array((count, word.astype(np.int32), offsets), shape=(len(offsets) - 1, self.n_features))
        matrix.sum_duplicates()
        weight, labels = host(block.weight)[offsets[:-1]], host(block.labels)[offsets[:-1]]
        X = SparseRows.of(matrix)
        return Block(X, weight, labels, X.patterns, memory=block.memory, first=block.first, local=block.local)

    def __iter__(self) -> Iterator[Block]:
        return map(self._documents, self.source)

    def map(self, function: Callable[[Block], T]) -> Iterator[T]:
        """Yield function(block) for every block, in order, where the rows are."""
        return self.source.map(lambda block: function(self._documents(block)))

    def sum(self, function: Callable[[Block], T]) -> T:
        """Σ function(block), added up where the rows are."""
        return self.source.sum(lambda block: function(self._documents(block)))

    def remember(self, blank: Blank | None, saved: Arrays | None = None) -> None:
        """Keep a record per document with the source itself."""
        self.source.remember(None if blank is None else partial(self._blank, blank), saved)

    def _blank(self, blank: Blank, block: Block) -> Arrays:
        return blank(self._documents(block))

    def recall(self) -> Arrays | None:
        """The records of all documents in order, or None where nothing is kept."""
        return self.source.recall()

    def eligible(self) -> np.ndarray:
        return self.source.eligible()

    def take(self, units: np.ndarray) -> Block:
        return self._documents(self.source.take(units))


def _largest_word(block: Block) -> float:
    return float(host(block.X)[:, 0].max(initial=0.0))


def sparse_rows(X: Any) -> SparseRows:
    """Rows of counts, wherever they lie, by the counts that are not zero."""
    if backend(X) == "sparse":
        return X
    return SparseRows.of(csr_array(np.nan_to_num(host(X))))


def batches(source: Source, size: int) -> Iterator[SparseSource]:
    """The documents of a source in order, so many at a time, each as a source of its own; blocks are not joined."""
    for block in source:
        rows, weight = sparse_rows(block.X), host(block.weight)
        for start in range(0, len(rows), size):
            stop = min(start + size, len(rows))
            part = rows.slice(start, stop)
            # A fixed number of blocks, so that nothing depends on the number of threads.
            n_blocks = int(np.clip((stop - start) // 512, 1, 8))
            yield SparseSource(part.matrix, weight[start:stop], n_blocks=n_blocks, n_jobs=source.n_jobs)


def halves(seed: int, block: Block) -> tuple[Block, Block]:
    """A block twice: with half of the words of each document, drawn at random, and with the others.

    A fractional count keeps its fraction in one of the halves. Documents are drawn by their number, so that blocks do not matter.
    """
    rows = sparse_rows(block.X)
    whole = np.floor(rows.data)
    first = np.empty(len(whole))
    for d, (a, b) in enumerate(zip(rows.indptr, rows.indptr[1:])):
        rng, counts = np.random.default_rng([seed, block.first + d]), whole[a:b].astype(np.int64)
        drawn = rng.multivariate_hypergeometric(counts, (counts.sum() + 1) // 2, method="marginals") if a < b else 0
        first[a:b] = drawn + (rows.data[a:b] - counts) * (rng.random(b - a) < 0.5)
    parts = (replace(rows, data=first), replace(rows, data=rows.data - first))
    return tuple(replace(block, X=_stored(part), memory=None, local={}) for part in parts)  # type: ignore[return-value]


def _stored(rows: SparseRows) -> SparseRows:
    """The same rows without the cells that are zero."""
    matrix = csr_array((rows.data, rows.indices, rows.indptr), shape=rows.shape, copy=True)
    matrix.eliminate_zeros()
    return SparseRows.of(matrix)
