"""What is worth knowing about a table before anything is fitted: outlying cells, repeated rows, what is missing together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

import numpy as np

from ..frames import Cells
from ..survey.cells import Texts
from ..survey.column import ROLES, ColumnInfo
from ..survey.distinct import mixed
from ..survey.typed import as_codes
from .data import DataTable

__all__ = ["Inspection", "inspect_table"]

FAR = 5.0
MOST_FAR = 0.05
"""Share of a column's known cells up to which those far from its median are told: more of them are its tail."""
SCALED = 1.4826
"""A median absolute deviation times this is the standard deviation of a normal."""
SAMPLE = 20_000
MOST_PATTERNS = 20_000
MOST_ROWS = 200_000


@dataclass(frozen=True)
class Inspection:
    """What was seen.

    Attributes
    ----------
    outlying : list of dict
        Columns with a few cells far from the median: "column", "n", "median", "value", "row" (the most extreme, from 1).
    n_repeated : int
        Rows equal to one before them.
    repeated_exact : bool
        Whether that number is exact.
    n_blank : int
        Rows without any value but ids.
    patterns : list of dict
        Which columns are missing together, the most frequent first: "n_rows", "missing" (names; none in complete rows).
    n_patterns : int
    """

    outlying: list
    n_repeated: int
    repeated_exact: bool
    n_blank: int
    patterns: list
    n_patterns: int


def inspect_table(table: DataTable, most_patterns: int = 8) -> Inspection:
    """Inspect a `DataTable`."""
    limits = _limits(table)
    shown = [column for column in table.columns if column.role not in ("empty", "id")]
    names = [column.name for column in shown]
    hashes, start = _RowHashes(), 0
    patterns: Counter[bytes] = Counter()
    outlying: dict[str, dict] = {}
    for batch in table.reader.batches():
        keys = np.zeros(batch.n_rows, dtype=np.uint64)
        for column in table.columns:
            values, bits = _known(column, batch[column.name])
            keys = mixed(keys * np.uint64(31) + bits)
            if column.name in limits:
                _note_far(outlying, column.name, values, *limits[column.name], start)
        hashes.add(keys)
        _count_patterns([batch[name].missing for name in names], batch.n_rows, patterns)
        start += batch.n_rows
    told = [
        {"n_rows": times, "missing": [name for name, gone in zip(names, _unpacked(key)) if gone]}
        for key, times in patterns.most_common(most_patterns)
    ]
    blank = patterns[np.packbits(np.ones(len(names), bool)).tobytes()] if names else 0
    known = {column.name: table.n_rows - column.n_missing for column in table.columns}
    told_far = [found for found in outlying.values() if found["n"] <= max(MOST_FAR * known[found["column"]], 1)]
    farthest = sorted(told_far, key=lambda found: -found["distance"])
    return Inspection(farthest, hashes.n_repeated, hashes.exact, blank, told, len(patterns))


def _limits(table: DataTable) -> dict[str, tuple[float, float]]:
    """Median and reach of every measurement, from a sample of rows."""
    _, batch = table.sample(SAMPLE)
    found = {}
    for column in table.columns:
        if ROLES[column.role] == "continuous":
            seen = batch[column.name].values[~batch[column.name].missing]
            if len(seen) >= 10:
                median = float(np.median(seen))
                apart = np.abs(seen - median)
                spread = float(np.median(apart)) or float(np.median(apart[apart > 0])) if apart.any() else 0.0
                reach = FAR * SCALED * spread  # where most cells are alike, the spread is that of the others
                if reach > 0:
                    found[column.name] = median, reach
    return found


def _note_far(
    outlying: dict[str, dict], name: str, values: np.ndarray, median: float, reach: float, start: int
) -> None:
    with np.errstate(invalid="ignore"):
        distance = np.abs(values - median) / reach
        far = distance > 1
    if not far.any():
        return
    row = int(np.nanargmax(distance))
    found = outlying.setdefault(
        name, {"column": name, "n": 0, "median": median, "value": None, "row": 0, "distance": 0.0}
    )
    found["n"] += int(far.sum())
    if distance[row] > found["distance"]:
        found |= {"value": float(values[row]), "row": start + row + 1, "distance": float(distance[row])}


def _count_patterns(gone: list[np.ndarray], n_rows: int, patterns: Counter[bytes]) -> None:
    size = (len(gone) + 7) // 8
    some = np.logical_or.reduce(gone) if gone else np.zeros(n_rows, dtype=bool)
    n_complete = n_rows - int(some.sum())
    found = Counter({bytes(size): n_complete} if n_complete else {})
    if n_complete < n_rows:
        packed = np.packbits(np.array([missing[some] for missing in gone]), axis=0).T
        keys, times = np.unique(np.ascontiguousarray(packed).view(f"S{size}"), return_counts=True)
        found |= dict(zip((key.ljust(size, b"\0") for key in keys.tolist()), times.tolist()))
    patterns.update({key: n for key, n in found.items() if key in patterns or len(patterns) < MOST_PATTERNS})


def _unpacked(key: bytes) -> np.ndarray:
    return np.unpackbits(np.frombuffer(key, dtype=np.uint8))


def _known(column: ColumnInfo, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of a column in its role, if it has any, and 64 bits for every cell: equal where cells are."""
    if ROLES[column.role] is None and isinstance(cells, Texts):
        return np.empty(0), cells.spread(
            np.array([_digest(text) for text in cells.known.to_pylist()], dtype=np.uint64), 0
        )
    values = cells.values if ROLES[column.role] is None else as_codes(column, cells)
    return values, (np.where(np.isnan(values), np.nan, values) + 0.0).view(np.uint64)


@lru_cache(1 << 16)  # texts come again in every batch
def _digest(text: str) -> int:
    letters = text.encode("utf-8", "surrogatepass")
    return crc32(letters) | crc32(letters[::-1]) << 32


class _RowHashes:
    """Rows known by 64 bits; where they are too many, only those whose bits end in k zeros are counted."""

    def __init__(self) -> None:
        self.keys, self.times = np.empty(0, dtype=np.uint64), np.empty(0, dtype=int)
        self.waiting: list[np.ndarray] = []
        self.zeros = 0

    @property
    def exact(self) -> bool:
        """Whether every row is counted."""
        return self.zeros == 0

    @property
    def n_repeated(self) -> int:
        """Rows that are equal to one before them; about, if not `exact`."""
        self._count()
        return int((self.times - 1).sum()) << self.zeros

    def add(self, keys: np.ndarray) -> None:
        """Take the rows of a batch in."""
        self.waiting.append(keys[self._kept(keys)])
        if sum(map(len, self.waiting)) > MOST_ROWS:
            self._count()

    def _kept(self, keys: np.ndarray) -> np.ndarray:
        return keys & np.uint64((1 << self.zeros) - 1) == 0

    def _count(self) -> None:
        every = np.concatenate([self.keys, *self.waiting])
        times = np.concatenate([self.times, np.ones(len(every) - len(self.keys), dtype=int)])
        self.keys, places = np.unique(every, return_inverse=True)
        self.times, self.waiting = np.bincount(places, times, len(self.keys)).astype(int), []
        while len(self.keys) > MOST_ROWS:
            self.zeros += 1
            kept = self._kept(self.keys)
            self.keys, self.times = self.keys[kept], self.times[kept]
