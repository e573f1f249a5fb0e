"""Sequences of symbols of any type as whole numbers, −1 where missing."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..checks import check_choice, check_weight
from ..frames import as_objects, columns_of, is_missing, is_table
from ..schema import UNKNOWN
from .clock import Clock
from .estimator import GAPS
from .steps import Steps, per_sequence

__all__ = ["SymbolReader", "Symbols", "read_symbols", "window"]

MOST_SPAN = 1 << 20  # of whole numbers that are looked up in a table


@dataclass(frozen=True)
class Symbols:
    """Symbols of sequences, one after the other.

    Attributes
    ----------
    cells : (steps,) array
        Symbols as they were given, or their numbers, −1 where missing.
    offsets : (sequences + 1,) int array
        Where sequences begin.
    steps : Steps
        The steps as they were given.
    """

    cells: np.ndarray
    offsets: np.ndarray
    steps: Steps

    @property
    def longest(self) -> int:
        """Steps of the longest sequence."""
        return int(np.diff(self.offsets).max(initial=0))

    def weights(self, sample_weight: Any) -> np.ndarray | None:
        """Weights given for sequences, or for each of their rows, as those of sequences."""
        found = per_sequence(sample_weight, self.steps, "sample_weight")
        return None if found is None else found[self.offsets[:-1]]

    def distinct(self) -> tuple[np.ndarray, np.ndarray]:
        """The distinct symbols, sorted where they can be, and the number of each step's, −1 where missing."""
        cells = self.cells
        if cells.dtype.kind in "iu" and int(cells.max()) - int(cells.min()) < MOST_SPAN:
            low = cells.min()
            seen = np.zeros(int(cells.max()) - int(low) + 1, bool)
            seen[cells - low] = True
            return np.flatnonzero(seen) + low, (np.cumsum(seen) - 1)[cells - low].astype(np.int32)
        if cells.dtype.kind in "iufUS":
            known, codes = np.unique(cells, return_inverse=True)
            n_known = len(known) - int((known != known).sum())  # NaN comes last
            return known[:n_known], np.where(codes < n_known, codes, -1).astype(np.int32)
        numbers: dict = {}
        try:
            codes = np.fromiter(
                (numbers.setdefault(cell, len(numbers)) for cell in cells.tolist()), np.int32, len(cells)
            )
        except TypeError as error:
            raise ValueError(f"a symbol cannot be told from others: {error}; give texts or numbers.") from None
        names = [cell for cell in numbers if not is_missing(cell)]
        with contextlib.suppress(TypeError):  # symbols of several types stay in the order in which they occur
            names.sort()
        place = np.full(len(numbers), -1, np.int32)
        place[[numbers[cell] for cell in names]] = np.arange(len(names))
        named = np.empty(len(names), dtype=object)
        named[:] = names
        return named, place[codes]

    def encoded(self, symbols: np.ndarray, unknown: str) -> Symbols:
        """The same as numbers among known symbols; others are refused, or taken as missing."""
        found, codes = self.distinct()
        number = {symbol: code for code, symbol in enumerate(symbols.tolist())}
        place = np.array([number.get(symbol, -1) for symbol in found.tolist()], dtype=np.int32)
        if unknown == "error" and (place < 0).any():
            raise ValueError(
                f"the symbol {found[np.argmin(place)]!r} did not occur at fit; unknown='missing' takes such symbols as missing."
            )
        return replace(self, cells=np.append(place, np.int32(-1))[codes])


class SymbolReader:
    """How estimators of sequences of symbols take them; `order` is how far back they look."""

    order: int
    symbol: Any = None
    sequence: Any = None
    time: Any = None
    gaps: str = "missing"
    unknown: str = "error"
    symbols_: np.ndarray
    clock_: Clock | None = None

    @property
    def n_symbols(self) -> int:
        """How many symbols there are."""
        return len(self.symbols_)

    def _check_reading(self) -> None:
        check_choice("gaps", self.gaps, GAPS)
        check_choice("unknown", self.unknown, UNKNOWN)

    def _read(self, X: Any, lengths: Any = None) -> Symbols:
        columns = {"symbol": self.symbol, "sequence": self.sequence, "time": self.time}
        return read_symbols(X, lengths, **columns, gaps=self.gaps, clock=self.clock_)

    def _first_read(self, X: Any, lengths: Any, sample_weight: Any) -> tuple[Symbols, np.ndarray]:
        """What a fit learns from: symbols, and the weights of the sequences."""
        self.clock_ = None
        given = self._read(X, lengths)
        weight = check_weight(given.weights(sample_weight), len(given.offsets) - 1)
        if given.longest <= self.order:
            raise ValueError(
                f"order={self.order} needs a sequence of {self.order + 1} steps, but the longest has {given.longest}; use a "
                "smaller order or longer sequences."
            )
        self.clock_ = given.steps.clock
        return given, np.ones(len(given.offsets) - 1) if weight is None else weight

    def _encoded(self, X: Any, lengths: Any = None) -> Symbols:
        check_is_fitted(self)
        return self._read(X, lengths).encoded(self.symbols_, self.unknown)


def read_symbols(
    X: Any, lengths: Any = None, *, symbol: Any = None, sequence: Any = None, time: Any = None, gaps: str = "missing",
    clock: Clock | None = None,
) -> Symbols:  # fmt: skip
    """The symbols of an array with `lengths`, of a list of sequences, or of a table with a column of symbols.

    Parameters
    ----------
    X : array-like, list of sequences, or table
        Symbols.
    lengths : array-like of int, optional
        How many of an array each sequence has; default all are one sequence.
    symbol, sequence, time : name of a column, optional
        Columns of a table; that of symbols may be left out where it is the only other one.
    gaps, clock
        As in `Steps.of`.
    """
    if isinstance(X, Symbols):
        return X
    if _is_listed(X):
        if lengths is not None:
            raise ValueError("X is a list of sequences, whose lengths are its own; leave lengths out.")
        parts: list[Any] = [part.ravel() if isinstance(part, np.ndarray) else list(part) for part in X]
        for number, part in enumerate(parts):
            if not len(part):
                raise ValueError(f"sequence {number} is empty; every sequence has a step at least.")
        lengths = [len(part) for part in parts]
        same = all(isinstance(part, np.ndarray) and part.dtype.kind == parts[0].dtype.kind != "O" for part in parts)
        X = np.concatenate(parts) if same else _objects([cell for part in parts for cell in part])
    elif isinstance(X, str):
        X = _objects(list(X))
    elif isinstance(X, (list, tuple)) or (hasattr(X, "to_list") and not is_table(X)):
        X = _objects(as_objects(X))
    if not is_table(X) and (sequence is not None or time is not None):
        raise ValueError(
            f"column {sequence or time!r} is to tell of sequences, but X has no named columns; give a table."
        )
    steps = Steps.of(X, lengths, sequence, time, gaps=gaps, clock=clock)
    cells = _column(steps.rows, symbol)
    if not len(cells):
        raise ValueError("X holds no step; give a sequence of one symbol at least.")
    if steps.at is not None:
        cells = steps.spread(cells) if (steps.at >= 0).all() else steps.spread(cells.astype(object), None)
    return Symbols(cells, steps.offsets, steps)


def window(codes: np.ndarray, offsets: np.ndarray, order: int, n_symbols: int) -> list[np.ndarray]:
    """The symbol of each step and those 1 to `order` steps before it; `n_symbols` before the first of a sequence."""
    place = np.arange(len(codes)) - np.repeat(offsets[:-1], np.diff(offsets))
    columns = [codes.astype(np.int64)]
    for back in range(1, order + 1):
        older = np.full(len(codes), n_symbols, dtype=np.int64)
        older[back:] = np.where(place[back:] >= back, codes[:-back] if back < len(codes) else 0, n_symbols)
        columns.append(older)
    return columns


def _is_listed(X: Any) -> bool:
    """Whether X is a list of sequences."""
    kinds = (list, tuple, np.ndarray)
    return isinstance(X, (list, tuple)) and bool(X) and all(isinstance(p, kinds) and np.ndim(p) != 0 for p in X)


def _objects(cells: list) -> np.ndarray:
    """Cells as an array, of whole numbers where they all are."""
    found = np.empty(len(cells), dtype=object)
    found[:] = cells
    if cells and all(type(cell) is int for cell in cells):
        return np.array(cells)
    return found


def _column(rows: Any, symbol: Any) -> np.ndarray:
    """The cells of the column of symbols, numbers as whole numbers where they can be."""
    if is_table(rows) and not isinstance(rows, np.ndarray):
        columns = dict(columns_of(rows))
        if symbol is None and len(columns) != 1:
            raise ValueError(
                f"the table has the columns {', '.join(map(str, columns))}; name that of the symbols by symbol='…'."
            )
        if symbol is not None and symbol not in columns:
            raise ValueError(f"the table has no column {symbol!r}; it has {', '.join(map(str, list(columns)[:20]))}.")
        cells = _objects(as_objects(next(iter(columns.values())) if symbol is None else columns[symbol]))
    else:
        cells = np.asarray(rows)
        if cells.ndim == 2 and cells.shape[1] == 1:
            cells = cells.ravel()
        if cells.ndim != 1:
            raise ValueError(
                f"X has shape {cells.shape}; give one symbol for each step, or name the column by symbol='…'."
            )
    if cells.dtype.kind == "b":
        return cells.astype(object)
    if cells.dtype.kind == "f" and len(cells) and not np.isnan(cells).any() and (cells == np.floor(cells)).all():
        return cells.astype(np.int64)
    return cells
