"""Columns of ratings that come in parts: in memory and, beyond a size, in temporary files that are mapped into it.

The files have no names, so that they go when the arrays go, whatever ends the process.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from ..kernels import lazy

__all__ = ["BLOCK_ROWS", "KEPT_BYTES", "Columns", "blocks", "counts_of", "is_mapped", "let_go", "sorted_columns"]

grouping = lazy("grouping")
KEPT_BYTES = 1 << 29
"""Bytes of users, items and ratings that are kept in memory; more of them lie in files."""
WAITING_BYTES = 1 << 27
"""Bytes that wait in memory, while more come, before they are written to files."""
ROW_BYTES = 12
BLOCK_ROWS = 1 << 20
"""Rows that are handled at a time."""
BUCKET_ROWS = 1 << 21
"""Rows that are sorted in memory at a time, where not all are."""


def blocks(n_rows: int) -> Iterator[slice]:
    """Slices of rows, in order."""
    for start in range(0, n_rows, BLOCK_ROWS):
        yield slice(start, min(start + BLOCK_ROWS, n_rows))


def is_large(n_rows: int) -> bool:
    """Whether so many ratings are kept in files."""
    return n_rows * ROW_BYTES > KEPT_BYTES


class Columns:
    """Arrays by name, of equally many rows, that grow part by part."""

    def __init__(self) -> None:
        self.n_rows = 0
        self._kinds: dict[str, np.dtype] = {}
        self._parts: list[dict[str, np.ndarray]] = []
        self._files: dict[str, Any] = {}

    def add(self, part: dict[str, np.ndarray]) -> None:
        """Add rows below those that are there."""
        self._kinds = self._kinds or {name: column.dtype for name, column in part.items()}
        self.n_rows += len(next(iter(part.values())))
        self._parts.append(part)
        if sum(len(next(iter(part.values()))) for part in self._parts) * ROW_BYTES > min(WAITING_BYTES, KEPT_BYTES):
            self._spill()

    def _spill(self) -> None:
        for name in self._kinds:
            file = self._files.setdefault(name, None) or temporary_file()
            self._files[name] = file
            for part in self._parts:
                _write(file, part[name])
        self._parts = []

    def finish(self) -> dict[str, np.ndarray]:
        """The columns, whole; nothing more is added."""
        if self._files:
            self._spill()
            made = {name: mapped(file, self._kinds[name], self.n_rows) for name, file in self._files.items()}
            return made if is_large(self.n_rows) else {name: column.copy() for name, column in made.items()}
        parts, self._parts = self._parts, []
        if len(parts) == 1:
            return parts[0]
        return {name: np.concatenate([part[name] for part in parts]) for name in self._kinds}


def temporary_file() -> Any:
    """A file that is gone when nobody uses it any more."""
    return tempfile.TemporaryFile(prefix="tacit-", buffering=0)


def mapped(file: Any, kind: Any, n_rows: int) -> np.ndarray:
    """The numbers in a file as an array that takes no memory of its own."""
    if not n_rows:
        return np.empty(0, kind)
    return np.frombuffer(mmap.mmap(file.fileno(), n_rows * np.dtype(kind).itemsize), dtype=kind)


def _map_of(array: np.ndarray | None) -> Any:
    while array is not None and not isinstance(array, mmap.mmap):
        array = array.obj if isinstance(array, memoryview) else getattr(array, "base", None)
    return array


def is_mapped(array: np.ndarray) -> bool:
    """Whether an array lies in a file."""
    return _map_of(array) is not None


def let_go(*arrays: np.ndarray | None) -> None:
    """Give back the memory that pages of arrays in files take; they are read again when used. Others stay as they are."""
    for array in arrays:
        found = _map_of(array)
        if found is not None and hasattr(mmap, "MADV_DONTNEED"):
            found.madvise(mmap.MADV_DONTNEED)


def _write(file: Any, rows: np.ndarray, place: int | None = None) -> None:
    """Write numbers at the end of a file, or at a place in bytes."""
    content = np.ascontiguousarray(rows).data.cast("B")
    try:
        while len(content):
            done = file.write(content) if place is None else os.pwrite(file.fileno(), content, place)
            content, place = content[done:], None if place is None else place + done
    except OSError as error:
        raise OSError(
            error.errno, f"the ratings do not fit into memory, and {tempfile.gettempdir()} does not take them either "
            f"({error.strerror or error}); set TMPDIR to a folder with more room",
        ) from None  # fmt: skip


# Sorting in files


def counts_of(codes: np.ndarray, n: int) -> np.ndarray:
    """How often each of n numbers occurs."""
    total = np.zeros(n, np.int64)
    for part in blocks(len(codes)):
        total += np.bincount(codes[part], minlength=n)
        let_go(codes)
    return total


def sorted_columns(
    columns: dict[str, np.ndarray], own: str, other: str, n_own: int, n_other: int,
    settle: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]] | None = None,
) -> tuple[dict[str, np.ndarray], np.ndarray]:  # fmt: skip
    """Columns in order of one of them and of another within, in files, and where each number begins.

    Rows are cut into buckets by ranges of the first; then each bucket is sorted in memory.

    Parameters
    ----------
    columns : dict of str to array
        What to sort.
    own, other : str
        Names of the columns that hold the numbers to sort by.
    n_own, n_other : int
        How many different numbers there are.
    settle : callable, optional
        What is done to the columns of a bucket, once sorted; it may leave rows out.
    """
    begin = np.concatenate([[0], np.cumsum(counts_of(columns[own], n_own))])
    cuts = np.unique(np.searchsorted(begin, np.arange(0, begin[-1], BUCKET_ROWS), side="right") - 1)
    cuts = np.append(cuts, n_own)
    files = {name: temporary_file() for name in columns}
    _deal(columns, own, np.repeat(np.arange(len(cuts) - 1, dtype=np.int16), np.diff(cuts)), begin[cuts[:-1]], files)
    counts, done = np.zeros(n_own, np.int64), 0
    for first, stop in pairwise(cuts.tolist()):
        rows = {name: _read(files[name], column.dtype, begin[first], begin[stop]) for name, column in columns.items()}
        order, *_ = grouping.grouped(rows[own] - np.int32(first), rows[other], rows[other], stop - first, n_other)
        rows = {name: column[order] for name, column in rows.items()}
        rows = rows if settle is None else settle(rows)
        counts[first:stop] = np.bincount(rows[own] - first, minlength=stop - first)
        for name, column in rows.items():
            _write(files[name], column, done * column.itemsize)
        done += len(rows[own])
    made = {name: mapped(files[name], column.dtype, done) for name, column in columns.items()}
    return made, np.concatenate([[0], np.cumsum(counts)])


def _deal(
    columns: dict[str, np.ndarray], own: str, bucket: np.ndarray, begin: np.ndarray, files: dict[str, Any]
) -> None:
    """Write the rows of each bucket together, in their order; `begin` says where each begins."""
    at = begin.copy()
    for part in blocks(len(columns[own])):
        dealt = bucket[columns[own][part]]
        order, ends = np.argsort(dealt, kind="stable"), np.cumsum(np.bincount(dealt, minlength=len(at)))
        for name, column in columns.items():
            rows, start = column[part][order], 0
            for number, stop in enumerate(ends):
                if stop > start:
                    _write(files[name], rows[start:stop], int(at[number]) * column.itemsize)
                start = stop
        at += np.diff(ends, prepend=0)
        let_go(*columns.values())


def _read(file: Any, kind: np.dtype, start: int, stop: int) -> np.ndarray:
    """Numbers from a file, in memory."""
    rows = np.empty(stop - start, kind)
    content, place = rows.data.cast("B"), int(start) * kind.itemsize
    while len(content):
        done = os.preadv(file.fileno(), [content], place)
        content, place = content[done:], place + done
    return rows
