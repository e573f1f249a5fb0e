"""`RowHashes`: how many rows a table holds more than once, in bounded memory."""

from collections import Counter
from hashlib import blake2b

import numpy as np

from ..survey.distinct import mixed

__all__ = ["RowHashes"]

MOST = 200_000
MOST_TEXTS = 100_000


class RowHashes:
    """Rows known by 64 bits; where they are too many, only those whose bits end in k zeros are counted."""

    def __init__(self):
        self.counts: Counter = Counter()
        self.zeros = 0
        self._texts: dict = {}

    @property
    def exact(self):
        """Whether every row is counted."""
        return self.zeros == 0

    @property
    def n_repeated(self):
        """Rows that are equal to one before them; about, if not `exact`."""
        return sum(times - 1 for times in self.counts.values()) << self.zeros

    def add(self, batch):
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

    def _bits(self, cells):
        if cells.numeric:
            return (np.where(cells.missing, np.nan, cells.values) + 0.0).view(np.uint64)
        if len(self._texts) > MOST_TEXTS:
            self._texts.clear()
        known = self._texts
        for text in set(cells.values.tolist()) - known.keys():
            known[text] = int.from_bytes(
                blake2b(repr(text).encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"
            )
        return np.array([known[text] for text in cells.values.tolist()], dtype=np.uint64)
