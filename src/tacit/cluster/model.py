"""`CenterModel`: what models of clusters around centres share.

Σ_i w_i s_i Σ_{j observed} |x_ij − c_kj|^power,    s_i = columns / observed cells of the row
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..engine import Model
from ..kernels import backend, host, kernel
from ..notes import Note
from ..source import Block, Source
from .seeds import column_means, seed_rows

__all__ = ["UNCHANGED", "CenterModel"]

UNCHANGED = Note("unchanged", "no row changed its cluster")


class CenterModel(Model):
    """Base of models whose classes have centres.

    A subclass sets `power`, and defines ``at``, ``e_step``, ``m_step`` and ``reseated``. Its parameters have `center` (K, d) and
    its statistics `counts` (K,).
    """

    power = 2

    def __init__(self, n_clusters: int):
        self.n_clusters = n_clusters

    def init(self, sample: Block, rng: np.random.Generator) -> Any:
        """A random start from a sample of rows: rows far apart."""
        return self.at(seed_rows(sample, self.n_clusters, rng, power=self.power)[0], column_means(sample))

    def at(self, center: np.ndarray, origin: np.ndarray) -> Any:
        """Parameters at given centres; sums may be taken about the origin."""
        raise NotImplementedError

    def check_params(self, params: Any, n_columns: int) -> None:
        params.check({"K": self.n_clusters, "d": n_columns})

    def apart(self, params: Any, block: Block) -> np.ndarray:
        """Distances, to the power, of rows to centres (rows, classes); over observed cells, scaled up to all."""
        apart = np.empty((len(block), self.n_clusters))
        kernel("distances", backend(block.X))(block.X, params.center, self.power, apart)
        return apart

    def assign(self, params: Any, block: Block) -> tuple[np.ndarray, float]:
        """Labels of a block's rows, and their loss."""
        apart = self.apart(params, block)
        labels = apart.argmin(axis=1)
        return labels, float(host(block.weight) @ apart[np.arange(len(labels)), labels])

    def posterior(self, params: Any, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Memberships as probabilities (rows, classes), and minus the distance, to the power, of each row."""
        labels, _ = self.assign(params, block)
        return np.eye(self.n_clusters)[labels], -self.apart(params, block)[np.arange(len(labels)), labels]

    def n_parameters(self, params: Any) -> int:
        return params.center.size

    def mend(self, source: Source, stats: Any, params: Any, image: Any) -> Any:
        """Move every centre without rows to one of the rows that fit worst, which leave their own."""
        empty = np.flatnonzero(stats.counts <= 0)
        if not len(empty):
            return image
        worst = [row for rows in source.map(partial(self._worst, params, 2 * len(empty))) for row in rows]
        counts, taken = stats.counts.copy(), list[tuple]()
        for _, k, x, weight, share in sorted(worst, key=lambda row: -row[0]):
            # The last row of a cluster must not leave it, and equal rows need one centre.
            if len(taken) == len(empty) or counts[k] <= weight * (1.0 + 1e-9):
                continue
            if any((x == y).all() for _, y, *_ in taken):
                continue
            taken.append((k, x, weight, share))
            counts[k] -= weight
        return self.reseated(stats, params, image, empty[: len(taken)], taken)

    def reseated(self, stats: Any, params: Any, image: Any, empty: np.ndarray, taken: Sequence[tuple]) -> Any:
        """The image with the `empty` classes at the rows `taken`: each its old class, cells, weight and weight per cell."""
        raise NotImplementedError

    def _worst(self, params: Any, n: int, block: Block) -> list[tuple]:
        """The n rows of a block that add most to the loss, each with its cluster, cells, weight and weight per cell."""
        labels, _ = self.assign(params, block)
        loss = np.empty(len(block))
        kernel("misfit", backend(block.X))(block.X, block.weight, params.center, labels, self.power, loss)
        rows = np.argsort(-loss, kind="stable")[:n]
        rows = rows[loss[rows] > 0]
        X, weight = host(block.X[rows]).astype(np.float64), host(block.weight[rows])
        observed = ~np.isnan(X)
        share = observed * (weight * X.shape[1] / np.maximum(observed.sum(axis=1), 1))[:, None]
        X = np.where(observed, X, params.center[labels[rows]])
        return list(zip(loss[rows], labels[rows], X, weight, share))
