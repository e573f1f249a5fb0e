"""Where factorisations start: H from singular vectors, or random; rows then start where H leads.

nndsvd: of every pair of singular vectors, x ≈ s u v', the positive or the negative parts, whichever pair is longer (Boutsidis and
Gallopoulos 2008). Singular vectors come from the products of the columns, or of the rows, of a sample where these are few.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels import backend, host
from ...source import Block
from ...source.threads import one_blas_thread

__all__ = ["INITS", "cells_of", "start_at"]

INITS = ("random", "nndsvd", "nndsvda", "nndsvdar")
FEW = 300  # rows or columns up to which all of their products are made
SPARE, POWERS = 10, 4  # columns beyond those asked for, and steps, by which leading vectors are found
LEAST = 1e-6


def start_at(sample: Block, n_components: int, init: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """H (K, d) to start from, from a sample of rows, and the W (n, K) of these rows that belongs to it.

    Parameters
    ----------
    sample : Block
        Rows; missing cells count as the mean of their column.
    n_components : int
    init : {"random", "nndsvd", "nndsvda", "nndsvdar"}
        Random numbers; parts of singular vectors, with zeros left, at the mean of all cells, or at small random numbers.
    rng : numpy.random.Generator
    """
    X, weight = cells_of(sample), host(sample.weight)
    mean = _mean(X, weight)
    if init == "random":
        level = np.sqrt(mean / n_components)
        H = level * np.abs(rng.normal(size=(n_components, X.shape[1])))
        return H, np.full((len(weight), n_components), level)
    H, W = _parts(*_singular(X, weight, n_components, rng))
    W /= np.sqrt(weight)[:, None]
    for part in (H, W):
        empty = LEAST * max(part.max(), np.finfo(float).tiny) > part
        part[empty] = mean if init == "nndsvda" else 0.0
        if init == "nndsvdar":
            part[empty] = 0.01 * mean * np.abs(rng.normal(size=int(empty.sum())))
    return H, W


def cells_of(sample: Block) -> Any:
    """Rows as an array without missing cells, or as a SciPy matrix."""
    if backend(sample.X) == "sparse":
        return sample.X.matrix.astype(np.float64)
    X = np.asarray(host(sample.X), dtype=np.float64)
    if sample.patterns.is_complete:
        return X
    seen, weight = ~np.isnan(X), host(sample.weight)[:, None]
    count = (weight * seen).sum(axis=0)
    means = (weight * np.where(seen, X, 0.0)).sum(axis=0) / np.where(count > 0, count, 1.0)
    return np.where(seen, X, means)


def _mean(X: Any, weight: np.ndarray) -> float:
    """Mean of all cells, by the weights of rows."""
    return float((weight @ X).sum() / (weight.sum() * X.shape[1]))


def _singular(
    X: Any, weight: np.ndarray, k: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first k left singular vectors, values and right singular vectors (k, d) of rows times the roots of their weights."""
    from scipy.sparse import diags_array

    root, sparse = np.sqrt(weight), hasattr(X, "tocsr")
    A = X if (root == 1.0).all() else diags_array(root) @ X if sparse else root[:, None] * X
    with one_blas_thread():  # several take longer for products with few columns
        if min(A.shape) > FEW:
            return _leading(A, k, rng)
        tall = A.shape[1] <= A.shape[0]
        product = A.T @ A if tall else A @ A.T
        value, vector = np.linalg.eigh(product.toarray() if sparse else product)
        value, vector = np.sqrt(np.maximum(value[::-1][:k], 0.0)), vector[:, ::-1][:, :k]
        other = (A @ vector if tall else A.T @ vector) / np.where(value > 0, value, 1.0)
        u, v = (other, vector) if tall else (vector, other)
        return u, value, v.T


def _leading(A: Any, k: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same, nearly, of many rows and columns: powers of A'A bring random columns close to its first vectors."""
    basis = rng.normal(size=(A.shape[1], min(k + SPARE, *A.shape)))
    for _ in range(POWERS):
        basis = np.linalg.qr(_returned(A, A @ basis))[0]
    image = A @ basis
    value, vector = np.linalg.eigh(image.T @ image)
    value, vector = np.sqrt(np.maximum(value[::-1][:k], 0.0)), vector[:, ::-1][:, :k]
    return image @ vector / np.where(value > 0, value, 1.0), value, (basis @ vector).T


def _returned(A: Any, image: np.ndarray) -> np.ndarray:
    """A' times few columns; in this order BLAS takes half the time."""
    return A.T @ image if hasattr(A, "tocsr") else (image.T @ A).T


def _parts(u: np.ndarray, value: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """√(s m) times the longer of the positive and negative parts of v, and of u, of unit length, m the product of the lengths."""
    H, W, tiny = np.zeros(v.shape), np.zeros(u.shape), np.finfo(float).tiny
    H[0], W[:, 0] = np.sqrt(value[0]) * np.abs(v[0]), np.sqrt(value[0]) * np.abs(u[:, 0])
    for j in range(1, len(v)):
        sides = [(np.maximum(sign * u[:, j], 0.0), np.maximum(sign * v[j], 0.0)) for sign in (1.0, -1.0)]
        lengths = [(float(np.linalg.norm(left)), float(np.linalg.norm(right))) for left, right in sides]
        best = int(np.argmax([left * right for left, right in lengths]))
        (left, right), (long, wide) = sides[best], lengths[best]
        scale = np.sqrt(value[j] * long * wide)
        H[j], W[:, j] = scale * right / max(wide, tiny), scale * left / max(long, tiny)
    return H, W
