"""Kernels on sparse rows, at the cost of the cells that are stored; the others are zero, or missing, as `X.absent` says.

    ‖x − c‖² = ‖c‖² + Σ_{j stored} x_j (x_j − 2 c_j),    log p(x | k) = Σ_{j stored} x_j a_kj + Σ_j b_kj + c(x)

Distances take the others as zero. Products with all centres run along rows of transposed tables of centres, so that they
vectorise over centres; a table holds few enough centres to stay in the cache. Bounds do not pay: the distance to one centre
reads as many columns as that to all of them.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import hstack
from scipy.special import gammaln

from . import MOMENTS, SCORE
from .factor import Rows, pass_over, score_over
from .jit import jit
from .products import settle
from .softmax import add_curvature
from .softmax import settle as settle_classes
from .sparse_nonnegative import divergence, least_squares
from .topics import collapsed, fold_in, topic_assignments, variational

__all__ = [
    "about_means", "collapsed", "column_sums", "distances", "divergence", "factor", "factor_scores",
    "features", "fold_in", "least_squares", "linear", "log_factorial", "means", "misfit", "nearest", "row_order",
    "softmax", "square_lengths", "topic_assignments", "variational",
]  # fmt: skip


ROUNDING = 1e-4  # share of the loss that products may round by: so few rows, too, are then misplaced


def linear(X, slope, offset, base, mode, log_weight, weight, labels, out, count, s0, s1):
    """As the kernel for arrays: products with the stored cells; where the others are zero, all cells are observed."""
    x, missing = X.matrix, X.absent == "missing"
    seen = _ones(X) if missing else None
    log_prob = None
    if mode != MOMENTS:
        log_prob = (x @ slope.T).T + (offset.sum(axis=1)[:, None] if seen is None else (seen @ offset.T).T)
        if len(base):
            log_prob += base
    resp, loglik = settle(log_prob, mode, log_weight, weight, labels, out)
    if mode != SCORE:
        total = resp.sum(axis=1)
        count += total
        s0 += total[:, None] if seen is None else (seen.T @ resp.T).T
        s1 += (x.T @ resp.T).T
    return loglik


def softmax(X, slope, offset, codes, weight, gradient, curvature):
    """As the kernel for arrays, of rows whose other cells are 0."""
    x: Any = X.double().matrix
    chance = np.ascontiguousarray((x @ slope.T).T)
    loglik, rest = settle_classes(chance, offset, codes, weight)
    gradient[:, :-1] += (x.T @ rest.T).T
    gradient[:, -1] += rest.sum(axis=1)
    if curvature.size:
        add_curvature(hstack([x, np.ones((len(weight), 1))], format="csr"), chance, weight, curvature)
    return loglik


def features(X, functions, turn=1.0):
    """As the kernel for arrays, of rows whose other cells are missing; functions of x other than itself need its absence."""
    raise TypeError(f"{', '.join(functions)} of sparse rows would be dense; give X as an ordinary array.")


def log_factorial(X):
    """As the kernel for arrays: Σ_j log x_j! of each row."""
    return replace(X, data=gammaln(X.data.astype(np.float64) + 1.0)).matrix.sum(axis=1)


def factor(X, rows, starts, missing, origin, *rest):
    """As the kernel for arrays, of rows whose other cells are missing."""
    return pass_over([_StoredRows(X, origin)], *rest)


def factor_scores(X, rows, starts, missing, origin, *rest):
    """As the kernel for arrays: E[z] of every row and class, and M⁻¹ of every row and class."""
    score_over([_StoredRows(X, origin)], *rest)


class _StoredRows(Rows):
    """Rows of which the stored cells are observed: every row is a pattern of its own."""

    def __init__(self, X, origin):
        if X.absent != "missing":
            raise TypeError(
                "factors of sparse rows take cells that are not stored as missing; give X with absent='missing'."
            )
        self.order, self.starts, self.groups, self.n = np.arange(len(X)), np.arange(len(X) + 1), slice(None), len(X)
        self.seen, self.filled = _ones(X), replace(X, data=X.data - origin[X.indices]).matrix

    def measure(self, shift, loading, noise, score, misfit):
        x: Any = self.filled
        _stored_misfit(x.data, x.indices, x.indptr, shift, loading, 1.0 / noise, score, misfit)


def _ones(X):
    """A SciPy array with 1 in the stored cells."""
    return replace(X, data=np.ones(len(X.data))).matrix


@jit
def _stored_misfit(data, indices, indptr, shift, loading, precision, score, out):
    for i in range(len(out)):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            apart = data[p] - shift[j]
            for a in range(score.shape[1]):
                apart -= loading[j, a] * score[i, a]
            total += apart * apart * precision[j]
        for a in range(score.shape[1]):
            total += score[i, a] * score[i, a]
        out[i] = total


def means(X, patterns, weight, centers, algorithm, local):
    """As the kernel for arrays: Σ w ‖x − c‖² = Σ w ‖x − o‖² − 2 Σ_k (c_k − o)·s_k + Σ_k n_k ‖c_k − o‖², without distances."""
    step, squares = centers.about_origin, _squares_about(X, weight, centers.origin)

    def search(dtype):
        sums = np.zeros(step.shape)
        _, counts = _search(X, weight, centers, sums, dtype)
        if centers.origin.any():
            sums -= counts[:, None] * centers.origin
        loss = squares - 2.0 * np.vdot(step, sums) + counts @ np.einsum("kj,kj->k", step, step)
        return (counts, counts[:, None].copy(), sums), max(float(loss), 0.0)

    found, loss = _in_precision(search, X, weight, centers, squares)
    return *found, loss


def nearest(X, patterns, weight, centers, algorithm, local):
    """As the kernel for arrays: labels of the rows, and the loss."""

    def search(dtype):
        labels, _ = _search(X, weight, centers, np.empty((0, centers.center.shape[1])), dtype)
        loss = np.empty(len(X))
        misfit(X, weight, centers.center, labels, 2, loss)
        return labels, float(loss.sum())

    return _in_precision(search, X, weight, centers, _squares_about(X, weight, centers.origin))


def _squares_about(X, weight, origin):
    """Σ w ‖x − origin‖² over all rows."""
    if not origin.any():
        return weight @ square_lengths(X)
    square = np.zeros(len(origin))
    column_sums(X, weight, origin, np.zeros(len(origin)), np.zeros(len(origin)), square)
    return square.sum()


def _in_precision(search, X, weight, centers, squares):
    """What `search` finds in the precision of the rows or, where roundings of x·(c − o) matter beside the loss, in double."""
    found, loss = search(X.dtype)
    if X.dtype == np.float64:
        return found, loss
    step, total = centers.about_origin, weight.sum()
    products = np.sqrt(squares) + np.sqrt(total) * np.linalg.norm(centers.origin)
    products *= np.sqrt(total * np.einsum("kj,kj->k", step, step).max())
    return (found, loss) if np.finfo(X.dtype).eps * products <= ROUNDING * loss else search(np.dtype(np.float64))


def _search(X, weight, centers, sums, dtype):
    """Labels and the weights of clusters, by products in a precision; sums are added to `sums`, unless that is empty."""
    labels, counts = np.zeros(len(X), np.int32), np.zeros(len(centers.center))
    sparse_lloyd(X.data, X.indices, X.indptr, weight, *centers.tables(dtype), labels, counts, sums)
    return labels, counts


def about_means(X, means):
    """The rows as they are, in double precision: about their means they would not be sparse."""
    return X.double()


def square_lengths(X):
    """Σ_j x_j² of every row, in double precision."""
    return replace(X, data=X.data.astype(np.float64) ** 2).matrix.sum(axis=1)


@jit
def sparse_lloyd(data, indices, indptr, weight, table, half, labels, counts, sums):
    """One pass over sparse rows.

    Parameters
    ----------
    data, indices, indptr
        Cells that are not zero, their columns, and where rows begin.
    weight : (n,) float64
        Weights of the rows.
    table : (G, d, S)
        Centres in G groups of S about an origin o, transposed, in the precision of the products.
    half : (G, S)
        (‖c‖² − ‖o‖²) / 2; infinite where a group has fewer than S centres.
    labels : (n,) int32
        Set to the nearest centres.
    counts, sums : (K,) and (K, d) float64
        Σ w and Σ w x over the rows of each centre are added; `sums` may be of length 0, and is then left out.
    """
    n_groups, _, size = table.shape
    score, best = np.empty(size, table.dtype), np.full(len(labels), np.inf, table.dtype)
    for g in range(n_groups):
        for i in range(len(labels)):
            _products(data, indices, indptr[i], indptr[i + 1], table[g], half[g], score)
            place, least = labels[i], best[i]
            for k in range(size):
                place = g * size + k if score[k] < least else place
                least = min(least, score[k])
            labels[i], best[i] = place, least
    for i in range(len(labels)):
        counts[labels[i]] += weight[i]
    if len(sums):
        for i in range(len(labels)):
            row = sums[labels[i]]
            for p in range(indptr[i], indptr[i + 1]):
                row[indices[p]] += weight[i] * data[p]


@jit
def _products(data, indices, a, b, table, half, score):
    """(‖c‖² − ‖o‖²) / 2 − x·(c − o) for all centres; four cells at a time, so that scores are read and written less often."""
    n_centers = len(score)
    score[:] = half
    p = a
    while p + 4 <= b:
        t, u, v, w = data[p], data[p + 1], data[p + 2], data[p + 3]
        q, r, s, z = table[indices[p]], table[indices[p + 1]], table[indices[p + 2]], table[indices[p + 3]]
        for k in range(n_centers):
            score[k] -= (t * q[k] + u * r[k]) + (v * s[k] + w * z[k])
        p += 4
    while p < b:
        t, q = data[p], table[indices[p]]
        for k in range(n_centers):
            score[k] -= t * q[k]
        p += 1


def distances(X, center, power, out):
    """As the kernel for arrays: Σ_j |x_j − c_j|^power, for power 1 or 2, into `out` (n, K)."""
    center = np.asarray(center, dtype=np.float64)
    base = (np.abs(center) ** power).sum(axis=1)
    _distances(X.data, X.indices, X.indptr, np.ascontiguousarray(center.T), base, power, out)


@jit
def _distances(data, indices, indptr, table, base, power, out):
    n_centers = len(base)
    for i in range(len(out)):
        out[i] = base
        for p in range(indptr[i], indptr[i + 1]):
            x, row = np.float64(data[p]), table[indices[p]]
            if power == 1:
                for k in range(n_centers):
                    out[i, k] += abs(x - row[k]) - abs(row[k])
            else:
                for k in range(n_centers):
                    out[i, k] += x * (x - 2.0 * row[k])
        for k in range(n_centers):
            out[i, k] = max(out[i, k], 0.0)


def misfit(X, weight, center, labels, power, out):
    """As the kernel for arrays, for power 2: weighted squared distance of every row to the centre it belongs to, into `out`."""
    _misfit(X.data, X.indices, X.indptr, weight, center, np.einsum("kj,kj->k", center, center), labels, out)


@jit
def _misfit(data, indices, indptr, weight, center, square, labels, out):
    for i in range(len(out)):
        row, total, column = center[labels[i]], 0.0, 0
        # Where most cells are stored the others are visited too: what they add is lost in ‖c‖² if the mean is large.
        walk = 2 * (indptr[i + 1] - indptr[i]) > len(row)
        if not walk:
            total = square[labels[i]]
        for p in range(indptr[i], indptr[i + 1]):
            x, j = np.float64(data[p]), indices[p]
            if walk:
                for u in range(column, j):
                    total += row[u] * row[u]
                total += (x - row[j]) * (x - row[j])
                column = j + 1
            else:
                total += x * (x - 2.0 * row[j])
        if walk:
            for u in range(column, len(row)):
                total += row[u] * row[u]
        out[i] = weight[i] * max(total, 0.0)


def column_sums(X, weight, origin, count, total, square):
    """As the kernel for arrays: Σ w, Σ w (x − origin) and Σ w (x − origin)² of each column are added to (d,) arrays."""
    d, origin = len(origin), origin.astype(np.float64)
    w = np.repeat(weight, np.diff(X.indptr))
    step = X.data - origin[X.indices]
    # The weight of the rows that do not store a column; added up in the same order, it is exactly 0 where all do.
    zero = np.bincount(np.zeros(len(weight), np.int64), weight, 1) - np.bincount(X.indices, w, minlength=d)
    count += weight.sum()
    total += np.bincount(X.indices, w * step, minlength=d) - zero * origin
    square += np.bincount(X.indices, w * step**2, minlength=d) + zero * origin**2


def row_order(X):
    """The order that ``np.lexsort(X.T)`` gives, of sparse rows whose columns are sorted: by the last column first."""
    return _row_order(X.data, X.indices, X.indptr)


@jit
def _row_order(data, indices, indptr):
    n_rows = len(indptr) - 1
    order, merged = np.arange(n_rows), np.empty(n_rows, np.int64)
    width = 1
    while width < n_rows:
        for start in range(0, n_rows, 2 * width):
            middle, stop = min(start + width, n_rows), min(start + 2 * width, n_rows)
            left, right = start, middle
            for place in range(start, stop):
                if right == stop or (left < middle and not _precedes(data, indices, indptr, order[right], order[left])):
                    merged[place] = order[left]
                    left += 1
                else:
                    merged[place] = order[right]
                    right += 1
        order, merged = merged, order
        width *= 2
    return order


@jit
def _precedes(data, indices, indptr, i, j):
    """Whether row i comes before row j, and is not equal to it."""
    a, b = indptr[i + 1] - 1, indptr[j + 1] - 1
    while a >= indptr[i] or b >= indptr[j]:
        column = max(indices[a] if a >= indptr[i] else -1, indices[b] if b >= indptr[j] else -1)
        x = y = 0.0
        if a >= indptr[i] and indices[a] == column:
            x = data[a]
            a -= 1
        if b >= indptr[j] and indices[b] == column:
            y = data[b]
            b -= 1
        if x != y:
            return x < y
    return False
