"""Which rows a bootstrap sample has: rows, clusters or blocks of a series, drawn with replacement, a stream of numbers "
"per replicate.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import lazy

__all__ = ["Drawing", "drawing_for"]

resampling = lazy("resampling")
GROUPS = 100
"""Parts at most that a jackknife leaves out in turn, of what is refitted."""


class Drawing:
    """Rows drawn one by one.

    Parameters
    ----------
    n : int
        Rows there are.
    seed : int
    """

    def __init__(self, n: int, seed: int):
        self.n, self.seed = n, np.uint64(seed)

    def rows(self, replicate: int, sample: int = 0) -> np.ndarray:
        """The rows of a replicate, in no order."""
        drawn = np.empty(self.n, np.int64)
        resampling.draw_rows(self.seed + np.uint64(7919 * sample), replicate, self.n, drawn)
        return drawn

    def counts(self, replicate: int) -> np.ndarray:
        """How often each row is in a replicate."""
        return np.bincount(self.rows(replicate), minlength=self.n).astype(float)

    def parts(self, most: int | None = None) -> list[np.ndarray]:
        """What a jackknife leaves out in turn: rows, or as many parts of them."""
        k = self.n if most is None else min(most, self.n)
        order = np.arange(self.n) if k == self.n else np.random.default_rng(int(self.seed)).permutation(self.n)
        return np.array_split(order, k)


class Clusters(Drawing):
    """Clusters drawn as wholes; a sample has as many clusters as there are."""

    def __init__(self, labels: np.ndarray, seed: int):
        super().__init__(len(labels), seed)
        order = np.argsort(labels, kind="stable")
        self.members = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)

    def rows(self, replicate: int, sample: int = 0) -> np.ndarray:
        drawn = np.empty(len(self.members), np.int64)
        resampling.draw_rows(self.seed + np.uint64(7919 * sample), replicate, len(self.members), drawn)
        return np.concatenate([self.members[k] for k in drawn])

    def parts(self, most: int | None = None) -> list[np.ndarray]:
        k = len(self.members) if most is None else min(most, len(self.members))
        return [
            np.concatenate([self.members[i] for i in part]) for part in np.array_split(np.arange(len(self.members)), k)
        ]


class Blocks(Drawing):
    """Stretches of a series that goes round in a circle, so that every row is drawn equally often (Politis and Romano)."""

    def __init__(self, n: int, length: int, seed: int):
        super().__init__(n, seed)
        self.length = length

    def rows(self, replicate: int, sample: int = 0) -> np.ndarray:
        first = np.empty(-(-self.n // self.length), np.int64)
        resampling.draw_rows(self.seed + np.uint64(7919 * sample), replicate, self.n, first)
        return ((first[:, None] + np.arange(self.length)) % self.n).ravel()[: self.n]

    def parts(self, most: int | None = None) -> list[np.ndarray]:
        k = -(-self.n // self.length)
        return np.array_split(np.arange(self.n), k if most is None else min(most, k))


def drawing_for(n: int, seed: int, resample: str, clusters: Any, block_length: int | None) -> Drawing:
    """How rows are drawn."""
    if clusters is not None:
        if resample != "cases":
            raise ValueError(f"clusters are drawn as cases, but resample={resample!r}; leave one of the two out.")
        labels = np.asarray(clusters)
        if labels.shape != (n,):
            raise ValueError(f"clusters has shape {labels.shape}, but there are {n} rows; give one label per row.")
        labels = np.unique(labels, return_inverse=True)[1]
        if labels.max() == 0:
            raise ValueError(
                "clusters has one label only; at least two clusters are needed, and many for good intervals."
            )
        return Clusters(labels, seed)
    if resample == "blocks":
        length = max(1, round(n ** (1 / 3))) if block_length is None else block_length
        if not 1 <= length <= n // 2:
            raise ValueError(
                f"block_length={length} is not between 1 and half of the {n} rows; use {max(1, round(n ** (1 / 3)))}."
            )
        return Blocks(n, int(length), seed)
    if block_length is not None:
        raise ValueError(f"block_length is for resample='blocks', but resample={resample!r}.")
    return Drawing(n, seed)
