"""What is worth knowing about a table before anything is fitted: outlying cells, repeated rows, what is missing together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from ..frames import Batch, Cells
from ..survey.column import ROLES
from ..survey.distinct import mixed
from .data import DataTable

__all__ = ["Inspection", "inspect_table"]

FAR = 5.0
SCALED = 1.4826
"""A median absolute deviation times this is the standard deviation of a normal."""
SAMPLE = 20_000
MOST_PATTERNS = 20_000
MOST_ROWS = 200_000
MOST_TEXTS = 100_000


@dataclass(frozen=True)
class Inspection:
    """What was seen.

    Attributes
    ----------
    outlying : list of dict
        Columns with cells far from the median: "column", "n", "median", "value", "row" (the most extreme; rows count from 1).
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
    """Inspect a `DataTable` in two passes."""
    limits = _limits(table)
    shown = [column for column in table.columns if column.role not in ("empty", "id")]
    names = [column.name for column in shown]
    hashes, start = _RowHashes(), 0
    patterns: Counter[bytes] = Counter()
    outlying: dict[str, dict] = {}
    for batch in table.batches():
        hashes.add(batch)
        gone = np.array([batch[name].missing for name in names], dtype=bool).reshape(len(names), batch.n_rows)
        _count_patterns(gone.T, patterns)
        for name, (median, reach) in limits.items():
            _note_far(outlying, name, batch[name].values, median, reach, start)
        start += batch.n_rows
    told = [
        {"n_rows": times, "missing": [name for name, gone in zip(names, _unpacked(key)) if gone]}
        for key, times in patterns.most_common(most_patterns)
    ]
    blank = patterns[np.packbits(np.ones(len(names), bool)).tobytes()] if names else 0
    farthest = sorted(outlying.values(), key=lambda found: -found["distance"])
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
                reach = FAR * SCALED * float(np.median(np.abs(seen - median)))
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


def _count_patterns(gone: np.ndarray, patterns: Counter[bytes]) -> None:
    packed = np.packbits(gone, axis=1)
    keys, times = np.unique(packed, axis=0, return_counts=True)
    for key, n_rows in zip(keys, times):
        key = key.tobytes()
        if key in patterns or len(patterns) < MOST_PATTERNS:
            patterns[key] += int(n_rows)


def _unpacked(key: bytes) -> np.ndarray:
    return np.unpackbits(np.frombuffer(key, dtype=np.uint8))


class _RowHashes:
    """Rows known by 64 bits; where they are too many, only those whose bits end in k zeros are counted."""

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()
        self.zeros = 0
        self._texts: dict[str | None, int] = {}

    @property
    def exact(self) -> bool:
        """Whether every row is counted."""
        return self.zeros == 0

    @property
    def n_repeated(self) -> int:
        """Rows that are equal to one before them; about, if not `exact`."""
        return sum(times - 1 for times in self.counts.values()) << self.zeros

    def add(self, batch: Batch) -> None:
        """Take the rows of a batch in."""
        bits = np.zeros(batch.n_rows, dtype=np.uint64)
        for cells in batch.values():
            bits = mixed(bits * np.uint64(31) + self._bits(cells))
        mask = np.uint64((1 << self.zeros) - 1)
        self.counts.update(bits[bits & mask == 0].tolist())
        while len(self.counts) > MOST_ROWS:
            self.zeros += 1
            last = (1 << self.zeros) - 1
            self.counts = Counter({key: times for key, times in self.counts.items() if not key & last})

    def _bits(self, cells: Cells) -> np.ndarray:
        if cells.numeric:
            return (np.where(cells.missing, np.nan, cells.values) + 0.0).view(np.uint64)
        if len(self._texts) > MOST_TEXTS:
            self._texts.clear()
        known, texts = self._texts, cells.values.tolist()
        for text in set(texts) - known.keys():
            digest = blake2b(repr(text).encode("utf-8", "surrogatepass"), digest_size=8).digest()
            known[text] = int.from_bytes(digest, "big")
        return np.array([known[text] for text in texts], dtype=np.uint64)
