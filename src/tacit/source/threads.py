"""Work on threads, its results in order: the one loop over threads of the library."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import cache, reduce
from operator import add
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

__all__ = [
    "all_of", "few_blas_threads", "in_order", "n_cores", "on_one_blas_thread", "one_blas_thread", "over_ranges", "slices",
    "thread_count", "tile_pairs", "total_of",
]  # fmt: skip

BLOCK_ENTRIES = 1 << 19  # of a block of values of pairs of rows: 4 MB
LEAST_ROWS = 64
SMALL = 1 << 15  # cells of a matrix whose decompositions several threads take longer for, above all on a busy machine
T = TypeVar("T")


@cache
def _pool(n_threads: int) -> ThreadPoolExecutor:
    # One pool for the whole process: starting threads costs more than a block.
    return ThreadPoolExecutor(n_threads, thread_name_prefix="tacit")


@cache
def _blas() -> Any:
    return ThreadpoolController().select(user_api="blas")


class _Serial:
    """BLAS on one thread while anyone asks for it: the limit is the process's, so the first sets it and the last lifts it."""

    def __init__(self) -> None:
        self.lock, self.holders = Lock(), 0
        self.before: list[tuple[Any, int]] = []

    def __enter__(self) -> None:
        with self.lock:
            if self.holders == 0:
                self.before = [(library, library.get_num_threads()) for library in _blas().lib_controllers]
                for library, _ in self.before:
                    _set(library, 1)
            self.holders += 1

    def __exit__(self, *error: Any) -> None:
        with self.lock:
            self.holders -= 1
            if self.holders == 0:
                for library, n_threads in self.before:
                    _set(library, n_threads)


def _set(library: Any, n_threads: int) -> None:
    # threadpoolctl 3.8 lets one thread alone change OpenBLAS: a limit that one set would not be lifted by another.
    getattr(library, "_real_set_num_threads", library.set_num_threads)(n_threads)


_serial = _Serial()


def one_blas_thread() -> Any:
    """A context in which BLAS runs on one thread; entering the outermost one costs as much as a small block."""
    return _serial


def on_one_blas_thread(function: Callable[[Any], T]) -> Callable[[Any], T]:
    """`function` with BLAS on one thread while it runs, and not while a generator of its results waits."""

    def run(item: Any) -> T:
        with _serial:
            return function(item)

    return run


def few_blas_threads(n_cells: int) -> Any:
    """A context in which BLAS runs on one thread where a matrix of so many cells is small."""
    return _serial if n_cells <= SMALL else nullcontext()


if hasattr(os, "register_at_fork"):  # neither threads nor what they hold survive a fork
    os.register_at_fork(after_in_child=_pool.cache_clear)
    os.register_at_fork(after_in_child=_serial.__init__)  # type: ignore[misc]


def n_cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_count(n_jobs: int | None) -> int:
    """Threads that `n_jobs` asks for: all cores where it is None or −1."""
    return n_cores() if n_jobs is None or n_jobs == -1 else n_jobs


def in_order(function: Callable[[Any], T], items: Any, n_threads: int, *, serial_blas: bool = False) -> Iterator[T]:
    """Yield function(item) for every item, in order; a few items are worked on ahead of the one yielded.

    Parameters
    ----------
    function : callable
    items : iterable
    n_threads : int
    serial_blas : bool
        Hold BLAS to one thread while items are worked on by several.
    """
    if n_threads == 1 or (hasattr(items, "__len__") and len(items) == 1):
        yield from map(function, items)
        return
    pool, waiting, work = _pool(n_threads), deque[Any](), on_one_blas_thread(function) if serial_blas else function
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > 2 * n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def all_of(function: Callable[[Any], T], items: Any, n_threads: int, *, serial_blas: bool = False) -> list[T]:
    """function(item) for every item, in a list; see `in_order`."""
    return list(in_order(function, items, n_threads, serial_blas=serial_blas))


def total_of(function: Callable[[Any], tuple], items: Any, n_threads: int) -> tuple:
    """Σ function(item), which returns a tuple of arrays or numbers; BLAS is held to one thread."""
    # Added in order: float sums must not depend on the number of threads.
    parts = in_order(function, items, n_threads, serial_blas=True)
    return reduce(lambda left, right: tuple(map(add, left, right)), parts)


def slices(n_rows: int, n_columns: int) -> list[slice]:
    """Slices of rows such that a block of them against `n_columns` is small; they do not depend on the machine."""
    step = max(LEAST_ROWS, BLOCK_ENTRIES // max(n_columns, 1))
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def tile_pairs(n_rows: int, size: int) -> list[tuple[slice, slice]]:
    """Slices of rows and columns of tiles of a square matrix's lower triangle; on the diagonal the two are one object."""
    parts = [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
    return [(a, b) for i, a in enumerate(parts) for b in parts[: i + 1]]


def over_ranges(function: Callable[[int, int], Any], n_rows: int, threads: int, most: int | None = None) -> list:
    """function(start, stop) of ranges that cover all rows, of at most so many, at least one range per thread."""
    step = max(1, min(most or n_rows, -(-n_rows // threads)))
    return all_of(lambda start: function(start, min(start + step, n_rows)), range(0, n_rows, step), threads)
