"""Words as mixtures of anchors.

p(topic | word i) = argmin over c on the simplex of ‖Q̄_i − Σ_k c_k Q̄_{s_k}‖² or KL(Q̄_i ‖ Σ_k c_k Q̄_{s_k})
"""

from __future__ import annotations

import numpy as np

from ..kernels import lazy
from .cooccurrence import BLOCK, Cooccurrence

__all__ = ["recover"]

compiled = lazy("proportions")
HEAVY = 1e4
"""Weight of Σ c = 1 beside the squares."""


def recover(pairs: Cooccurrence, anchors: np.ndarray, recovery: str, tol: float, max_iter: int) -> np.ndarray:
    """p(topic | word), (n_words, n_anchors)."""
    mixed = _least_squares(pairs, anchors)
    if recovery == "l2":
        return mixed
    corners = np.ascontiguousarray(pairs.rows(anchors).T)
    # A multiplicative step never leaves 0, so that the start is inside.
    mixed = 0.9 * mixed + 0.1 / len(anchors)
    for start in range(0, pairs.n_words, BLOCK):
        rows = pairs.sparse_rows(np.arange(start, min(start + BLOCK, pairs.n_words)))
        told = rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data
        compiled.proportions(
            *told, corners, np.zeros(len(anchors)), float(tol), int(max_iter), mixed[start : start + BLOCK]
        )
    mixed[anchors] = np.eye(len(anchors))  # they are corners, which steps only come near
    return mixed / mixed.sum(axis=1, keepdims=True)


def _least_squares(pairs: Cooccurrence, anchors: np.ndarray) -> np.ndarray:
    """By non-negative least squares in the span of the anchors, where residuals of all words have K coordinates."""
    from scipy.optimize import nnls

    basis, triangle = np.linalg.qr(pairs.rows(anchors).T)
    weight = HEAVY * np.abs(triangle).max()
    left = np.vstack([triangle, np.full((1, len(anchors)), weight)])
    inside = pairs.dot(basis)
    mixed = np.full((pairs.n_words, len(anchors)), 1.0 / len(anchors))
    for word in np.flatnonzero(pairs.share > 0):
        found = nnls(left, np.append(inside[word], weight))[0]
        mixed[word] = found / found.sum()
    mixed[anchors] = np.eye(len(anchors))
    return mixed
