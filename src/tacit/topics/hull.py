"""Anchor words: corners of the convex hull of the rows of Q̄.

greedy: s_k = argmax_i ‖Q̄_i − its projection on span(Q̄_{s_1} … Q̄_{s_{k−1}})‖, then each looked for once more given all others
linear program: distance_i = min ‖Q̄_i − Σ_j c_j Q̄_j‖₁ over c on the simplex, j all words whose rows differ from that of i
"""

from __future__ import annotations

import numpy as np

from .cooccurrence import Cooccurrence

__all__ = ["find_anchors", "hull_anchors"]

SAME = 1e-9


def find_anchors(pairs: Cooccurrence, allowed: np.ndarray, n_anchors: int) -> np.ndarray:
    """Anchors found one by one, in the order they were found."""
    squares = pairs.squares(allowed)
    chosen: list[int] = []
    basis = np.empty((pairs.n_words, 0))
    rest = squares.copy()
    for _ in range(n_anchors):
        best = int(np.argmax(rest))
        if rest[best] <= SAME * squares.max():
            raise ValueError(
                f"only {len(chosen)} anchor words stand apart; use n_components={len(chosen)}, or give more documents."
            )
        chosen.append(best)
        direction = _outside(pairs.rows(allowed[[best]])[0], basis)
        basis = np.column_stack([basis, direction])
        rest -= pairs.dot(direction[:, None])[allowed, 0] ** 2
        rest[chosen] = -np.inf
    return allowed[_refined(pairs, allowed, squares, chosen)]


def _outside(row: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """The direction of a row beside a basis; projected off twice, since once leaves rounding."""
    for _ in range(2):
        row = row - basis @ (basis.T @ row)
    return row / max(float(np.linalg.norm(row)), 1e-300)


def _refined(pairs: Cooccurrence, allowed: np.ndarray, squares: np.ndarray, chosen: list[int]) -> np.ndarray:
    """Each anchor replaced by the word farthest from the span of all others."""
    if len(chosen) < 2:
        return np.array(chosen)
    rows = pairs.rows(allowed[chosen])
    for k in range(len(chosen)):
        basis = np.linalg.qr(np.delete(rows, k, axis=0).T)[0]
        rest = squares - (pairs.dot(basis)[allowed] ** 2).sum(axis=1)
        rest[np.delete(chosen, k)] = -np.inf
        best = int(np.argmax(rest))
        # Rounding must not swap words that are equally far out.
        if rest[best] > (1.0 + 1e-9) * rest[chosen[k]]:
            chosen[k] = best
            rows[k] = pairs.rows(allowed[[best]])[0]
    return np.array(chosen)


def hull_anchors(pairs: Cooccurrence, allowed: np.ndarray, n_anchors: int) -> np.ndarray:
    """The words farthest from the hull of the others, the farthest first; of words with the same row, the most frequent."""
    rows = pairs.rows(allowed)
    order = np.argsort(-pairs.share[allowed], kind="stable")
    kept: list[int] = []
    for i in order:
        if not kept or np.abs(rows[kept] - rows[i]).sum(axis=1).min() > SAME:
            kept.append(int(i))
    apart = np.array([_distance(rows, i, [j for j in kept if j != i]) for i in kept])
    far = np.argsort(-apart, kind="stable")[:n_anchors]
    if len(far) < n_anchors or apart[far[-1]] <= SAME:
        n = int((apart > SAME).sum())
        raise ValueError(f"only {n} anchor words stand apart; use n_components={n}, or give more documents.")
    return allowed[np.array(kept)[far]]


def _distance(rows: np.ndarray, i: int, others: list[int]) -> float:
    """L1 distance of a row to the hull of others: min Σ(a + b), Rᵀc + a − b = r, Σc = 1, all at least 0."""
    from scipy.optimize import linprog
    from scipy.sparse import eye, hstack, vstack

    if not others:
        return 2.0
    n, width = len(others), rows.shape[1]
    unit = eye(width, format="csc")
    left = vstack([hstack([rows[others].T, unit, -unit]), np.r_[np.ones(n), np.zeros(2 * width)][None]], format="csc")
    cost = np.r_[np.zeros(n), np.ones(2 * width)]
    found = linprog(cost, A_eq=left, b_eq=np.r_[rows[i], 1.0], bounds=(0, None), method="highs")
    if found.status:
        raise ValueError(f"the linear program of word {i} failed: {found.message}; use method='greedy'.")
    return float(found.fun)
