"""Passes of low-rank Gaussians, x | k ~ N(μ_k, W_k W_kᵀ + Ψ_k) with Ψ_k diagonal, whatever cells are missing.

With O the observed cells of a row,

    M = I + W_Oᵀ Ψ_O⁻¹ W_O,    E[z | x_O] = M⁻¹ W_Oᵀ Ψ_O⁻¹ (x_O − μ_O),    Var[z | x_O] = M⁻¹

M depends on the pattern of missing cells alone, and the M of all patterns are one product of their masks with the packed
w_j w_jᵀ / ψ_j. The statistics, sums of E[(1, z)(1, z)ᵀ] over the rows that observe a column, are the product that mirrors
it. Complete rows are one pattern. Symmetric matrices are packed by rows of their lower triangle.
"""

import numpy as np

from . import EXPECT, MOMENTS, SCORE, kernel
from .jit import jit, jit_sums

__all__ = ["Rows", "factor", "factor_scores", "pass_over", "score_over"]

TILE_BYTES = 1 << 17
PART = 1024  # rows taken together


@jit
def _invert(M, n_factors, log_det):
    """Packed positive matrices (groups, pairs) become their inverses, by Cholesky factors of many at a time."""
    n_groups, n_pairs = M.shape
    width = max(4, min(256, TILE_BYTES // (8 * n_pairs)))
    tile = np.empty((n_pairs, width))
    for low in range(0, n_groups, width):
        n = min(width, n_groups - low)
        for p in range(n_pairs):
            for t in range(n):
                tile[p, t] = M[low + t, p]
        _invert_tile(tile, n, n_factors, log_det[low : low + n])
        for t in range(n):
            for p in range(n_pairs):
                M[low + t, p] = tile[p, t]


@jit
def _invert_tile(tile, n, n_factors, log_det):
    log_det[:] = 0.0
    for i in range(n_factors):
        row = i * (i + 1) // 2
        for j in range(i + 1):
            other = j * (j + 1) // 2
            for m in range(j):
                for t in range(n):
                    tile[row + j, t] -= tile[row + m, t] * tile[other + m, t]
            if j < i:
                for t in range(n):
                    tile[row + j, t] /= tile[other + j, t]
        for t in range(n):
            tile[row + i, t] = np.sqrt(tile[row + i, t])
            log_det[t] += 2.0 * np.log(tile[row + i, t])
    # L⁻¹ in place, column by column: a column needs only what stands right of it.
    for j in range(n_factors):
        top = j * (j + 1) // 2 + j
        for t in range(n):
            tile[top, t] = 1.0 / tile[top, t]
        for i in range(j + 1, n_factors):
            row = i * (i + 1) // 2
            for t in range(n):
                tile[row + j, t] *= tile[top, t]
            for m in range(j + 1, i):
                for t in range(n):
                    tile[row + j, t] += tile[row + m, t] * tile[m * (m + 1) // 2 + j, t]
            for t in range(n):
                tile[row + j, t] /= -tile[row + i, t]
    # L⁻ᵀ L⁻¹ in place, row by row: a row needs only what stands below it.
    for i in range(n_factors):
        row = i * (i + 1) // 2
        for j in range(i + 1):
            for t in range(n):
                tile[row + j, t] *= tile[row + i, t]
            for m in range(i + 1, n_factors):
                below = m * (m + 1) // 2
                for t in range(n):
                    tile[row + j, t] += tile[below + i, t] * tile[below + j, t]


@jit
def _scores(starts, inverse, offset, slope, score):
    """E[z] = M⁻¹ (slope − offset) of every row; the last two depend on the row and on its group."""
    k = slope.shape[1]
    b = np.empty(k)
    for group in range(len(starts) - 1):
        for i in range(starts[group], starts[group + 1]):
            for a in range(k):
                b[a] = slope[i, a] - offset[group, a]
                score[i, a] = 0.0
            pair = 0
            for a in range(k):
                for c in range(a):
                    score[i, a] += inverse[group, pair] * b[c]
                    score[i, c] += inverse[group, pair] * b[a]
                    pair += 1
                score[i, a] += inverse[group, pair] * b[a]
                pair += 1


@jit_sums
def _misfit(x, expected, precision, score, out):
    n, d = x.shape
    for i in range(n):
        total = 0.0
        for j in range(d):
            apart = x[i, j] - expected[i, j]
            total += apart * apart * precision[j] if apart == apart else 0.0
        for a in range(score.shape[1]):
            total += score[i, a] * score[i, a]
        out[i] = total


@jit
def _outer_sums(starts, resp, score, inverse, out):
    """Σ r E[(1, z)(1, z)ᵀ] over the rows of every group, packed."""
    k = score.shape[1]
    for group in range(len(starts) - 1):
        total = 0.0
        for i in range(starts[group], starts[group + 1]):
            r = resp[i]
            total += r
            pair = 1
            for a in range(k):
                weighted = r * score[i, a]
                out[group, pair] += weighted
                for c in range(a + 1):
                    out[group, pair + 1 + c] += weighted * score[i, c]
                pair += a + 2
        out[group, 0] += total
        pair, own = 1, 0
        for a in range(k):
            for c in range(a + 1):
                out[group, pair + 1 + c] += total * inverse[group, own]
                own += 1
            pair += a + 2


@jit
def _load(X, rows, origin, x, filled):
    """Rows about the origin, and the same with 0 in missing cells."""
    for i in range(len(rows)):
        row = rows[i]
        for j in range(X.shape[1]):
            value = X[row, j] - origin[j]
            x[i, j] = value
            filled[i, j] = value if value == value else 0.0


class Rows:
    """Some rows in the order of their patterns, about an origin.

    Attributes
    ----------
    seen : (groups, d)
        1 where a pattern observes a column.
    filled : (rows, d)
        Cells, 0 where they are missing.
    """

    def __init__(self, X, rows, starts, groups, missing, origin):
        self.order, self.starts, self.groups, self.n = rows, starts, groups, len(rows)
        self.seen = 1.0 - missing
        self.x, self.filled = np.empty((self.n, X.shape[1])), np.empty((self.n, X.shape[1]))
        _load(X, rows, origin, self.x, self.filled)

    def posterior(self, shift, loading, noise):
        """E[z] (rows, k), M⁻¹ packed (groups, pairs) and log densities (rows,)."""
        k = loading.shape[1]
        i, j = np.tril_indices(k)
        weighted = loading / noise[:, None]
        inverse = self.seen @ (weighted[:, i] * loading[:, j])
        inverse[:, i == j] += 1.0
        log_det, score, misfit = np.empty(len(inverse)), np.empty((self.n, k)), np.empty(self.n)
        _invert(inverse, k, log_det)
        _scores(self.starts, inverse, self.seen @ (shift[:, None] * weighted), self.filled @ weighted, score)
        self.measure(shift, loading, noise, score, misfit)
        log_unit = self.seen @ np.log(2.0 * np.pi * noise) + log_det
        return score, inverse, -0.5 * (np.repeat(log_unit, np.diff(self.starts)) + misfit)

    def measure(self, shift, loading, noise, score, misfit):
        """Fill in Σ_j (x_j − E[x_j])² / ψ_j over observed cells, plus |E[z]|²: no large numbers cancel here."""
        expected = score @ loading.T
        expected += shift
        _misfit(self.x, expected, 1.0 / noise, score, misfit)

    def add(self, resp, score, inverse, gram, cross, square):
        """Add the statistics of one class: see `factor`."""
        k = score.shape[1]
        outer = np.zeros((len(inverse), (k + 1) * (k + 2) // 2))
        _outer_sums(self.starts, resp, score, inverse, outer)
        gram[:-1] += self.seen.T @ outer
        gram[-1] += outer.sum(axis=0)
        cross[:, 0] += resp @ self.filled
        cross[:, 1:] += self.filled.T @ (resp[:, None] * score)
        square += resp @ self.filled**2


def _parts(X, rows, starts, missing, origin):
    """A block's rows, some at a time: what is made of them stays in the cache."""
    for low in range(0, len(rows), PART):
        high = min(low + PART, len(rows))
        groups = slice(np.searchsorted(starts, low, side="right") - 1, np.searchsorted(starts, high))
        inner = starts[groups.start : groups.stop + 1].clip(low, high) - low
        yield Rows(X, rows[low:high], inner, groups, missing[groups], origin)


def factor(X, rows, starts, missing, origin, *rest):
    """One pass over rows that are grouped by their missing cells; see `pass_over`."""
    return pass_over(_parts(X, rows, starts, missing, origin), *rest)


def pass_over(parts, shift, loading, noise, mode, log_weight, weight, labels, out, gram, cross, square):
    """One pass over parts of rows.

    Sums go to `gram` (classes, d + 1, pairs), Σ r E[(1, z)(1, z)ᵀ] over the rows that observe each column, at last over all
    rows; `cross` (classes, d, k + 1), Σ r (x − o) E[(1, z)]; and `square` (classes, d), Σ r (x − o)².
    """
    loglik = 0.0
    for part in parts:
        found = [part.posterior(*each) for each in zip(shift, loading, noise)]
        joint, at = np.array([log_prob for _, _, log_prob in found]), part.order
        if mode == SCORE:
            out[:, at] = joint
            continue
        if mode == EXPECT:
            loglik += kernel("normalise")(joint, log_weight, weight[at], labels[at], np.empty(len(at)))
        resp = np.ascontiguousarray(out[:, at]) if mode == MOMENTS else joint
        for c, (score, inverse, _) in enumerate(found):
            part.add(resp[c], score, inverse, gram[c], cross[c], square[c])
    return loglik


def factor_scores(X, rows, starts, missing, origin, *rest):
    """Posteriors of rows that are grouped by their missing cells; see `score_over`."""
    score_over(_parts(X, rows, starts, missing, origin), *rest)


def score_over(parts, shift, loading, noise, score, inverse):
    """E[z] of every row and class, (classes, rows, k), and M⁻¹ of every group and class, packed, (classes, groups, pairs)."""
    for part in parts:
        for c, each in enumerate(zip(shift, loading, noise)):
            score[c, part.order], inverse[c, part.groups], _ = part.posterior(*each)
