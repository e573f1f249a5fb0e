"""Rows of a logistic model: scores s = B x + b, log-likelihood Σ w log p_y(s), its gradient and its curvature.

several rows of B:  p = softmax(s)      gradient Σ w (e_y − p) [x, 1]ᵀ      curvature −Σ w (diag p − p pᵀ) ⊗ [x, 1][x, 1]ᵀ
a single one:       p = 1 / (1 + e⁻ˢ)   gradient Σ w (y − p) [x, 1]ᵀ        curvature −Σ w p (1 − p) [x, 1][x, 1]ᵀ
"""

import numpy as np

from .jit import jit
from .mixture import exp, log1p
from .nonnegative import log

__all__ = ["add_curvature", "outcomes", "settle", "softmax"]

TILE = 256


def softmax(X, slope, offset, codes, weight, gradient, curvature):
    """Add a block's gradient (classes, d + 1) and, unless it is empty, its curvature (classes, d + 1, classes, d + 1).

    Parameters
    ----------
    X : (n, d)
    slope, offset : (classes, d), (classes,)
        B and b; a single row of them is the score of class 1 against 0.
    codes : (n,) int
        Classes of the rows.
    weight : (n,)
    gradient, curvature
        Are added to; the last entry of each class is the offset's.

    Returns
    -------
    loglik : float
    """
    X = X if X.dtype == np.float64 else X.astype(np.float64)
    chance = slope @ X.T
    loglik, rest = settle(chance, offset, codes, weight)
    gradient[:, :-1] += rest @ X
    gradient[:, -1] += rest.sum(axis=1)
    if curvature.size:
        add_curvature(np.column_stack([X, np.ones(len(X))]), chance, weight, curvature)
    return loglik


def settle(score, offset, codes, weight):
    """Products B x (classes, rows) become chances in place; the log-likelihood and w (e_y − p) (classes, rows)."""
    score += offset[:, None]
    rest = np.empty(score.shape)
    return outcomes(score, codes, weight, rest), rest


def add_curvature(Z, chance, weight, curvature):
    """Add −Σ w (diag p − p pᵀ) ⊗ z zᵀ of rows Z, an array or sparse, with chances p (classes, rows)."""
    for a in range(len(chance)):
        for b in range(a + 1):
            bend = weight * chance[a] * ((1.0 - chance[a]) if a == b else -chance[b])
            part = Z.T @ (bend[:, None] * Z if isinstance(Z, np.ndarray) else Z.multiply(bend[:, None]).tocsr())
            curvature[a, :, b] -= part if isinstance(part, np.ndarray) else part.toarray()
            if a != b:
                curvature[b, :, a] = curvature[a, :, b]


@jit
def outcomes(score, codes, weight, rest):
    """Scores (classes, rows) become chances in place; `rest` is filled with w (e_y − p); the log-likelihood is returned."""
    n_classes, n_rows = score.shape
    loglik, top, total, own = 0.0, np.empty(TILE), np.empty(TILE), np.empty(TILE)
    for begin in range(0, n_rows, TILE):
        n = min(TILE, n_rows - begin)
        if n_classes == 1:
            row, left = score[0, begin : begin + n], rest[0, begin : begin + n]
            for i in range(n):
                s = row[i]
                e = exp(-abs(s))
                own[i] = (s if codes[begin + i] > 0 else 0.0) - (s if s > 0.0 else 0.0)
                total[i] = log1p(e)
                row[i] = (1.0 if s > 0.0 else e) / (1.0 + e)
                left[i] = weight[begin + i] * ((1.0 if codes[begin + i] > 0 else 0.0) - row[i])
            for i in range(n):
                loglik += weight[begin + i] * (own[i] - total[i]) if weight[begin + i] > 0.0 else 0.0
            continue
        for i in range(n):
            top[i] = score[0, begin + i]
            total[i] = 0.0
            own[i] = score[codes[begin + i], begin + i]
        for k in range(1, n_classes):
            row = score[k, begin : begin + n]
            for i in range(n):
                top[i] = row[i] if row[i] > top[i] else top[i]
        for k in range(n_classes):
            row = score[k, begin : begin + n]
            for i in range(n):
                e = exp(row[i] - top[i])
                row[i] = e
                total[i] += e
        for i in range(n):
            w = weight[begin + i]
            loglik += w * (own[i] - top[i] - log(total[i])) if w > 0.0 else 0.0
            total[i] = 1.0 / total[i]
        for k in range(n_classes):
            row, left = score[k, begin : begin + n], rest[k, begin : begin + n]
            for i in range(n):
                row[i] *= total[i]
                left[i] = -weight[begin + i] * row[i]
        for i in range(n):
            rest[codes[begin + i], begin + i] += weight[begin + i]
    return loglik
