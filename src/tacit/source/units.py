"""Units: rows that belong together, such as a sequence, a document or a user's ratings, are never cut apart.

Offsets (n_units + 1,) tell where each unit begins and where the last one ends; None says that every row is a unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

__all__ = ["UnitScan", "block_bounds", "drawn_units", "eligible_units", "recut", "rows_of_units", "unit_offsets"]


class UnitScan:
    """Finds where units begin, from the names of the units of rows that come in parts; a missing name is refused."""

    def __init__(self) -> None:
        self.n_rows, self.last = 0, None
        self.starts: list[np.ndarray] = []
        self.names: dict = {}

    def add(self, unit: Any) -> None:
        """Go on with the units of the next rows."""
        unit = np.asarray(unit)
        if not len(unit):
            return
        starts = np.flatnonzero(np.concatenate([[unit[0] != self.last or not self.n_rows], unit[1:] != unit[:-1]]))
        for start, name in zip(starts.tolist(), unit[starts].tolist()):
            if name is None or name != name:
                raise ValueError(f"row {self.n_rows + start} has no unit; name the unit of every row.")
            if name in self.names:
                raise ValueError(f"the rows of unit {name!r} do not lie together; sort the rows by unit.")
            self.names[name] = None
        self.starts.append(starts + self.n_rows)
        self.n_rows, self.last = self.n_rows + len(unit), unit[-1]

    def offsets(self) -> np.ndarray | None:
        """Offsets of all units; None where every row is one."""
        return None if len(self.names) == self.n_rows else np.concatenate([*self.starts, [self.n_rows]])


def unit_offsets(unit: Any, n_rows: int) -> np.ndarray | None:
    """Offsets of units from the unit (n_rows,) of each row; None where each row has its own, or `unit` is None."""
    if unit is None:
        return None
    unit = np.asarray(unit)
    if unit.shape != (n_rows,):
        raise ValueError(f"unit has shape {unit.shape}, but there are {n_rows} rows; name the unit of each row.")
    if unit.dtype.kind in "iu" and (unit[1:] >= unit[:-1]).all():  # sorted, so that equal ones lie together
        starts = np.flatnonzero(np.concatenate([[True], unit[1:] != unit[:-1]]))
        return None if len(starts) == n_rows else np.append(starts, n_rows)
    scan = UnitScan()
    scan.add(unit)
    return scan.offsets()


def block_bounds(n_rows: int, block_rows: int, offsets: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Rows and units at which blocks begin, and the end: as many whole units in each as fit, at least one."""
    if offsets is None:
        rows = np.append(np.arange(0, n_rows, block_rows), n_rows)
        return rows, rows
    units = [0]
    while units[-1] < len(offsets) - 1:
        fit = np.searchsorted(offsets, offsets[units[-1]] + block_rows, side="right") - 1
        units.append(max(int(fit), units[-1] + 1))
    return offsets[units], np.array(units)


def recut(chunks: Iterable[Any], bounds: np.ndarray, slice_of: Callable[[Any, int, int], Any]) -> Iterator[list]:
    """Chunks of rows as lists of those that make up the rows between two bounds.

    Parameters
    ----------
    chunks : iterable
        Chunks, of any number of rows each, which `len` tells.
    bounds : (blocks + 1,) int array
        Rows at which blocks begin, and the end.
    slice_of : callable
        ``slice_of(chunk, start, stop)`` is a part of a chunk.
    """
    lengths, held, n_held = iter(np.diff(bounds).tolist()), list[Any](), 0
    wanted = next(lengths, 0)
    for chunk in chunks:
        at = 0
        while n_held + len(chunk) - at >= wanted > 0:
            stop = at + wanted - n_held
            yield [*held, slice_of(chunk, at, stop)]
            held, n_held, at, wanted = [], 0, stop, next(lengths, 0)
        if at < len(chunk):
            held.append(slice_of(chunk, at, len(chunk)))
            n_held += len(chunk) - at
    if held or wanted:
        raise ValueError(
            f"{bounds[-1]:,} rows were counted, but now there are others; do not change them while they are read."
        )


def rows_of_units(units: np.ndarray, offsets: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Numbers of the rows of some units, and the offsets of these units among those rows."""
    if offsets is None:
        return units, None
    lengths = (offsets[1:] - offsets[:-1])[units]
    ends = np.append(0, np.cumsum(lengths))
    return np.arange(ends[-1]) + np.repeat(offsets[:-1][units] - ends[:-1], lengths), ends


def drawn_units(units: np.ndarray, n_rows: int, offsets: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
    """Sorted numbers of units drawn without replacement, of at most `n_rows` rows together, though at least one unit."""
    if offsets is None:
        return np.sort(rng.choice(units, n_rows, replace=False)) if len(units) > n_rows else units
    lengths = (offsets[1:] - offsets[:-1])[units]
    if lengths.sum() <= n_rows:
        return units
    order = rng.permutation(len(units))
    fit = np.searchsorted(np.cumsum(lengths[order]), n_rows, side="right")
    return np.sort(units[order[: max(int(fit), 1)]])


def eligible_units(weight: np.ndarray | None, n_rows: int, offsets: np.ndarray | None) -> np.ndarray:
    """Numbers of the units with a row of positive weight."""
    if weight is None:
        return np.arange(n_rows if offsets is None else len(offsets) - 1)
    counts = weight > 0
    return np.flatnonzero(counts if offsets is None else np.add.reduceat(counts, offsets[:-1]) > 0)
