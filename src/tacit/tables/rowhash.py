"""`RowHashes`: how many rows a table holds more than once, in bounded memory."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b

import numpy as np

from ..frames import Batch, Cells
from ..survey.distinct import mixed

__all__ = ["RowHashes"]

MOST = 200_000
MOST_TEXTS = 100_000


class RowHashes:
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
        while len(self.counts) > MOST:
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
