"""How far topics are from each other, and a map of them.

JS(p, q) = H((p + q)/2) − (H(p) + H(q))/2, whose square root is a distance; the map is classical scaling of it: the plane on which
squared distances, doubly centred, keep most.
"""

from __future__ import annotations

import numpy as np

__all__ = ["jensen_shannon", "topic_map"]


def jensen_shannon(topic_word: np.ndarray) -> np.ndarray:
    """Distances between rows of probabilities, (K, K): roots of Jensen–Shannon divergences in bits, from 0 to 1."""
    p = np.asarray(topic_word, dtype=np.float64)

    def entropy(rows: np.ndarray) -> np.ndarray:
        return -(rows * np.log2(np.where(rows > 0, rows, 1.0))).sum(axis=-1)

    own = entropy(p)
    found = np.zeros((len(p), len(p)))
    for k in range(len(p) - 1):
        found[k, k + 1 :] = entropy(0.5 * (p[k] + p[k + 1 :])) - 0.5 * (own[k] + own[k + 1 :])
    return np.sqrt(np.clip(found + found.T, 0.0, 1.0))


def topic_map(distances: np.ndarray) -> tuple[np.ndarray, float]:
    """Places (K, 2) on the plane that keeps distances best, and the share of squared distances that it keeps."""
    n = len(distances)
    if n < 2:
        return np.zeros((n, 2)), 1.0
    centring = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * centring @ distances**2 @ centring)
    values = np.maximum(values[::-1], 0.0)
    places = (vectors[:, ::-1] * np.sqrt(values))[:, :2]
    places = np.pad(places, ((0, 0), (0, 2 - places.shape[1])))
    # Signs of eigenvectors are arbitrary: the largest coordinate of each axis is positive.
    places *= np.where(np.take_along_axis(places, np.abs(places).argmax(axis=0)[None], axis=0)[0] < 0, -1.0, 1.0)
    return places, float(values[:2].sum() / max(values.sum(), 1e-300))
