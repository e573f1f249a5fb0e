"""`Distinct`: how many different values a column holds and how often each occurs, in bounded memory.

While the values are few, all are counted. When they are more, only those are kept whose hash ends in k zeros, k as large as
needed: whatever occurs of a kept value is counted, so that a value that occurs twice is found, and the number of values is
about 2^k times that of those kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any
from zlib import crc32

import numpy as np

__all__ = ["Distinct", "mixed"]

MOST = 10_000


class Distinct:
    """Values counted: `counts` says how often those that are kept occur."""

    def __init__(self) -> None:
        self.counts: Counter[Any] = Counter()
        self.zeros = 0

    @property
    def exact(self) -> bool:
        """Whether every value is counted."""
        return self.zeros == 0

    @property
    def n(self) -> int:
        """The number of different values, about if not `exact`."""
        return len(self.counts) << self.zeros

    @property
    def unique(self) -> bool:
        """Whether no value was seen twice."""
        return all(times == 1 for times in self.counts.values())

    def add(self, values: np.ndarray | Mapping[Any, int], times: np.ndarray | None = None) -> None:
        """Take values in: an array of float64, and how often each occurs if not once, or how often texts and numbers occur."""
        if isinstance(values, np.ndarray):
            kept = _ends(values, self.zeros) if self.zeros else slice(None)
            self._add_numbers(values[kept], None if times is None else times[kept])
        else:
            some = {value: values[value] for value in _kept(list(values), self.zeros)} if self.zeros else values
            self.counts.update(some)
        while len(self.counts) > MOST:
            self.zeros += 1
            self._drop()

    def _add_numbers(self, values: np.ndarray, times: np.ndarray | None) -> None:
        if times is None:
            found, times = np.unique(values, return_counts=True)
        else:
            found, places = np.unique(values, return_inverse=True)
            times = np.bincount(places.ravel(), times, len(found)).astype(int)
        before = self.zeros
        while len(found) > MOST:
            self.zeros += 1
            kept = _ends(found, self.zeros)
            found, times = found[kept], times[kept]
        if self.zeros > before:
            self._drop()
        self.counts.update(dict(zip(found.tolist(), times.tolist())))

    def _drop(self) -> None:
        self.counts = Counter({value: self.counts[value] for value in _kept(list(self.counts), self.zeros)})


def _kept(values: list, zeros: int) -> list:
    """Those values, texts and numbers, whose hashes end in so many zeros."""
    texts = [value for value in values if isinstance(value, str)] if str in set(map(type, values)) else []
    numbers = np.array([value for value in values if not isinstance(value, str)] if texts else values, dtype=np.float64)
    return [*numbers[_ends(numbers, zeros)].tolist(), *_few(texts, zeros)]


def _few(texts: list[str], zeros: int) -> list[str]:
    # A checksum is linear in its bits, and texts that are counted up would come in or stay out together: stir it.
    limit = 1 << (32 - zeros)
    return [text for text in texts if crc32(text.encode("utf-8", "surrogatepass")) * 0x9E3779B1 & 0xFFFFFFFF < limit]


def _ends(values: np.ndarray, zeros: int) -> np.ndarray:
    """Whether the hashes of numbers end in so many zeros."""
    bits = mixed((values + 0.0).view(np.uint64))
    return bits & np.uint64((1 << zeros) - 1) == 0


def mixed(bits: np.ndarray) -> np.ndarray:
    """64 bits stirred so that every one of them depends on all."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    for _ in range(2):
        bits = (bits ^ (bits >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return bits ^ (bits >> np.uint64(32))
