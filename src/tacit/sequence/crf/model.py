"""`FieldModel`: labels y of a sequence given its attributes x, log p(y | x) = Σ_t s_t(y_t) + Σ_t w(y_{t−1}, y_t) − log Z(x).

    s_t(y) = Σ_a x_ta w_ay,    ∂ log p / ∂w_ay = Σ_t x_ta [P(y_t = y | x, known labels) − P(y_t = y | x)]

Z(x) is a sum over all labels that are allowed. Labels that are not known are summed over as well. The chain of labels is one of
hidden states whose densities are exp s_t and whose moves are exp w, so that the kernels of hidden Markov models do the work.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from ...arrays import Arrays, record
from ...engine import Model, Slope
from ...kernels import kernel
from ...source import Block, SparseSource
from .layout import Layout
from .schemes import Chain

__all__ = ["FieldModel", "Weights", "field_source"]

CHUNK = 4096
"""Steps that are gone through at once, so that their scores stay in a core's cache."""
LEAST_CELLS, MOST_BLOCKS = 1 << 17, 32
NONE = np.empty(0, dtype=np.int64)


@record
class Weights(Arrays):
    """Weights of all features, as a vector."""

    vector: np.ndarray


def field_source(
    rows: Any, labels: np.ndarray | None, weight: np.ndarray | None, offsets: np.ndarray, *, n_features: int = 0,
    n_jobs: int | None = None,
) -> SparseSource:  # fmt: skip
    """Steps as the source of a model; `weight` is that of sequences.

    Blocks have more cells than there are features, for sums over a block are as long as these are many.
    """
    cells, lengths = len(rows.data), np.diff(offsets)
    held = csr_matrix((rows.data.astype(np.float64, copy=False), rows.indices, rows.indptr), rows.shape)
    # The layout put cells in order where kernels need it; elsewhere any order will do, and cells that are there twice.
    held.has_sorted_indices = held.has_canonical_format = True
    return SparseSource(
        held, None if weight is None else np.repeat(weight, lengths), labels, unit=np.repeat(np.arange(len(lengths)), lengths),
        n_blocks=int(np.clip(cells // max(LEAST_CELLS, n_features), 1, MOST_BLOCKS)), n_jobs=n_jobs,
    )  # fmt: skip


def chunks(block: Block) -> list[tuple[slice, np.ndarray]]:
    """Rows of a block a few sequences at a time, and where these begin among them."""
    if "chunks" not in block.local:
        offsets, found, first = block.offsets, [], 0
        while first < len(offsets) - 1:
            stop = int(np.searchsorted(offsets, offsets[first] + CHUNK, side="right")) - 1
            stop = max(stop, first + 1)
            found.append((slice(int(offsets[first]), int(offsets[stop])), offsets[first : stop + 1] - offsets[first]))
            first = stop
        block.local["chunks"] = found
    return block.local["chunks"]


class FieldModel(Model):
    """The model that features and allowed moves describe.

    Parameters
    ----------
    layout : Layout
        Where weights lie.
    chain : Chain
        Which moves are allowed.
    c1, c2 : float
        What is taken off the log-likelihood: c₁ ‖w‖₁ + c₂ ‖w‖².
    """

    one_start = True

    def __init__(self, layout: Layout, chain: Chain, c1: float = 0.0, c2: float = 0.0):
        self.layout, self.chain, self.c1, self.c2 = layout, chain, c1, c2

    def free(self, params: Weights) -> np.ndarray:
        return params.vector

    def bound(self, vector: np.ndarray, params: Weights) -> Weights:
        return Weights(vector)

    def n_parameters(self, params: Weights) -> int:
        return self.layout.n_features

    def log_prior(self, params: Weights) -> float:
        w = params.vector
        return -self.c2 * float(w @ w) - (self.c1 * float(np.abs(w).sum()) if self.c1 else 0.0)

    def prior_slope(self, params: Weights) -> tuple[Any, Any]:
        """Slope of the squares alone: what absolute values add has none at 0 (see `tacit.engine.orthant`)."""
        return -2.0 * self.c2 * params.vector, 0.0

    def slope(self, params: Weights, block: Block, order: int = 1) -> Slope:
        gradient, loglik = np.zeros_like(params.vector), 0.0
        table, w, moves = self.layout.parts(gradient)
        transitions = self.layout.parts(params.vector)[2]
        for rows, offsets in chunks(block):
            scores = self.scores(params, block, rows)
            labels, weight = block.labels[rows], block.weight[rows]
            known = self._known if (labels >= 0).all() else self._held
            value, expected = known(scores, labels, weight, offsets, transitions, moves)
            loss, free = self.expect(scores, np.full_like(labels, -1), weight, offsets, transitions)
            np.subtract(expected, scores, out=expected)
            moves -= free
            loglik += value - loss
            kernel("label_slopes")(
                block.X.data, _unsigned(block.X.indices), block.X.indptr[rows.start : rows.stop + 1], self.layout.pointer,
                self.layout.label, expected, table, w,
            )  # fmt: skip
        gradient *= self.layout.exists
        return Slope(loglik, float(block.unit_weight.sum()), gradient, np.zeros((0, 0)))

    def scores(self, params: Weights, block: Block, rows: slice) -> np.ndarray:
        """s_t(y) of some rows of a block, (labels, steps)."""
        table, w, _ = self.layout.parts(params.vector)
        found = np.empty((self.layout.n_labels, rows.stop - rows.start))
        kernel("label_scores")(
            block.X.data, _unsigned(block.X.indices), block.X.indptr[rows.start : rows.stop + 1], table, self.layout.pointer,
            self.layout.label, w, found,
        )  # fmt: skip
        return found

    def expect(
        self, scores: np.ndarray, labels: np.ndarray, weight: np.ndarray, offsets: np.ndarray, transitions: np.ndarray,
        evidence: np.ndarray | None = None,
    ) -> tuple[float, np.ndarray]:  # fmt: skip
        """Put the weighted posterior of labels in place of scores; returns Σ weight · log Z and expected moves.

        Labels that are known are held to what they are, and `evidence` is filled with log Z of each sequence.
        """
        n, steps = len(self.chain.start), np.diff(offsets)
        allowed = np.where(self.chain.moves, transitions, -np.inf)
        shift = float(allowed.max()) if self.chain.moves.any() else 0.0
        scores[:, offsets[1:] - 1] += self.chain.logs()[2][:, None]
        moves, first = np.zeros((1, n, n)), np.zeros(n)
        evidence = np.empty(len(steps)) if evidence is None else evidence
        value = kernel("smooth")(
            scores, offsets, weight, labels, self.chain.start.astype(float), np.exp(allowed - shift)[None], NONE, first, moves,
            evidence,
        )  # fmt: skip
        evidence += (steps - 1) * shift
        return value + shift * float(weight[offsets[:-1]] @ (steps - 1)), moves[0]

    def _known(
        self, scores: np.ndarray, labels: np.ndarray, weight: np.ndarray, offsets: np.ndarray, transitions: np.ndarray,
        moves: np.ndarray,
    ) -> tuple[float, np.ndarray]:  # fmt: skip
        """Σ weight · score of labels that are all known, with their counts; those of moves are added."""
        n, steps = len(scores), np.arange(len(labels))
        inside = np.ones(len(labels), dtype=bool)
        inside[offsets[:-1]] = False
        pairs = (n * labels[:-1] + labels[1:])[inside[1:]]
        counts = np.bincount(pairs, weight[1:][inside[1:]], n * n).reshape(n, n)
        moves += counts
        found = np.zeros_like(scores)
        found[labels, steps] = weight
        return float(weight @ scores[labels, steps]) + float((counts * transitions).sum()), found

    def _held(
        self, scores: np.ndarray, labels: np.ndarray, weight: np.ndarray, offsets: np.ndarray, transitions: np.ndarray,
        moves: np.ndarray,
    ) -> tuple[float, np.ndarray]:  # fmt: skip
        """As `_known`, of labels some of which are not."""
        found = scores.copy()
        value, expected = self.expect(found, labels, weight, offsets, transitions)
        moves += expected
        return value, found

    # What is said of labels

    def posterior(self, params: Weights, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """P(y_t | x), (steps, labels), and log Z of each sequence, −∞ where none are allowed; labels of the block are held."""
        weight, transitions = np.ones(len(block)), self.layout.parts(params.vector)[2]
        found, evidence = np.empty((len(block), self.layout.n_labels)), np.empty(block.n_units)
        at = 0
        for rows, offsets in chunks(block):
            scores, n = self.scores(params, block, rows), len(offsets) - 1
            self.expect(scores, block.labels[rows], weight[rows], offsets, transitions, evidence[at : at + n])
            found[rows], at = scores.T, at + n
        return found, evidence

    def decode(self, params: Weights, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """The likeliest labels, and their score by sequence, −∞ where none are allowed."""
        start, allowed, end = self.chain.logs()
        transitions = self.layout.parts(params.vector)[2]
        path, evidence, at = np.empty(len(block), dtype=np.int64), np.empty(block.n_units), 0
        for rows, offsets in chunks(block):
            scores, n = self.scores(params, block, rows), len(offsets) - 1
            scores[:, offsets[1:] - 1] += end[:, None]
            labels, log_move = block.labels[rows], (transitions + allowed)[None]
            kernel("decode")(scores, offsets, labels, start, log_move, NONE, path[rows], evidence[at : at + n])
            at += n
        return path, evidence

    def log_joint(self, params: Weights, block: Block) -> np.ndarray:
        """Log-probability of the known labels of each sequence, log p(y | x)."""
        transitions, found, at = self.layout.parts(params.vector)[2], np.empty(block.n_units), 0
        for rows, offsets in chunks(block):
            scores, labels, one = self.scores(params, block, rows), block.labels[rows], np.ones(rows.stop - rows.start)
            held, free = np.empty(len(offsets) - 1), np.empty(len(offsets) - 1)
            self.expect(scores.copy(), labels, one, offsets, transitions, held)
            self.expect(scores, np.full_like(labels, -1), one, offsets, transitions, free)
            found[at : at + len(free)] = held - free
            at += len(free)
        return found


def _unsigned(indices: np.ndarray) -> np.ndarray:
    return indices.view(np.uint32) if indices.dtype == np.int32 else indices.astype(np.uint32)
