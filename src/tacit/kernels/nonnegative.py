"""Rows as sums of non-negative parts, x ≈ w H: the best w of rows given H, and sums over rows from which H is learned.

    ½ Σ_j v_j (x_j − (wH)_j)² + l1 Σ_a w_a + ½ l2 Σ_a w_a²          squares: descent along one coordinate after the other
    Σ_j v_j d_β(x_j, (wH)_j) + …                                     divergences: w ← w ((r H') / (q H'))^γ

with r = x (wH)^(β−2) and q = (wH)^(β−1). Every row is brought down by itself, so that results do not depend on blocks. Columns of
H are brought down by the same functions. Missing cells drop out of all sums: rows of one pattern share a matrix of products.
"""

import numpy as np

from .jit import jit, jit_sums
from .mixture import EXPONENT, LN2_HIGH, LN2_LOW, ROOT_HALF, WHOLE

__all__ = ["columns_down", "divergence", "least_squares", "run_squares"]

TINY = 1e-16  # products below are taken as this, so that ratios are finite
ROUNDING = 1e-13  # share of a row's squares or sum below which rounding of W H moves a loss by more than 1e-9 of itself
RESOLVED = 1e-6  # share of a row's squares down to which its loss is known to as many digits from sums of products
LEFT = 1e-6  # the same of products of columns that a difference leaves
ROOTS = 8  # Newton's steps in logarithms, in which both sides are nearly straight
LEAST = 1e-300
ONE = np.int64(np.float64(1.0).view(np.int64))
CHUNK = 1 << 15  # cells of a chunk of rows, whose temporary arrays stay in the cache
LANES = 64  # rows that are brought down side by side, so that loops over them are loops over vectors
MEMORY = "squares of rows"


def least_squares(X, patterns, weight, W, H, columns, penalty, inner, local):
    """Bring W down and add up what H is learned from.

    Parameters
    ----------
    X : (n, d) array, sparse rows or tensor
        Cells; NaN is missing.
    patterns : Patterns
        Rows grouped by their missing cells.
    weight : (n,)
        Weights of the rows.
    W : (n, K) float64
        Changed in place.
    H : (K, d)
    columns : (d,)
        Weights of the columns.
    penalty : (float, float)
        l1 and l2.
    inner : (int, float, bool)
        Most sweeps over the coordinates of a row, the share of the first sweep's gain at which it rests, and whether to take
        multiplicative steps instead.
    local : dict
        What the block remembers.

    Returns
    -------
    loss, violation : float
        Σ of the objective of rows, and of what the first sweep found of the slope that it could go down.
    gram, own : (K, K) and (1 or d, K, K)
        Σ w w' over the rows that observe column j is gram + own_j.
    cross : (d, K)
        Σ x_j w.
    """
    x, square = _filled(X, patterns, local), _squares(X, columns, local)
    table = np.ascontiguousarray((H * columns).T)
    target = x @ table
    gram = table.T @ H.T
    parts, lost = np.ascontiguousarray(H.T), np.empty(len(W))
    charge, violation = _rows_down(
        W, target, gram, parts, columns, patterns.rows, patterns.starts, patterns.missing, weight, square, *penalty, *inner,
        lost,
    )  # fmt: skip
    loss = charge + _squares_lost(X, weight, W, parts, columns, square, lost)
    weighted = weight[:, None] * W
    cross = np.ascontiguousarray((weighted.T @ x).T)  # in this order BLAS takes half the time
    return loss, violation, weighted.T @ W, own_products(W, patterns, weight, len(columns)), cross


def own_products(W, patterns, weight, n_columns):
    """What columns lack of Σ w w' over all rows, negative, (d, K, K); (1, K, K) of zeros where no cell is missing."""
    k = W.shape[1]
    if patterns.is_complete:
        return np.zeros((1, k, k))
    own = np.zeros((n_columns, k, k))
    _own(W, patterns.rows, patterns.starts, patterns.missing, weight, own)
    return own


def _filled(X, patterns, local):
    """Cells with 0 where they are missing, kept where any is; in double precision, without which the loss cancels."""
    if patterns.is_complete:
        return X.astype(np.float64, copy=False)
    if "filled" not in local:
        local["filled"] = np.nan_to_num(X).astype(np.float64, copy=False)
    return local["filled"]


def _squares(X, columns, local):
    """Σ_j v_j x_j² of every row, over observed cells, kept."""
    known = local.get(MEMORY)
    if known is None or not np.array_equal(known[0], columns):
        known = local[MEMORY] = columns, square_sums(X, columns)
    return known[1]


@jit
def square_sums(X, columns):
    """Σ_j v_j x_j² of every row, over observed cells."""
    out = np.zeros(len(X))
    for i in range(len(X)):
        total = 0.0
        for j in range(X.shape[1]):
            x = np.float64(X[i, j])
            if x == x:
                total += columns[j] * x * x
        out[i] = total
    return out


@jit_sums
def _down(w, target, gram, l1, l2, sweeps, rest, slope):
    """Bring w down: ½ w G w − w·target + l1 Σ w + ½ l2 w·w; `slope` is left at its end. Returns the violation at the start."""
    k = len(w)
    for a in range(k):
        slope[a] = l1 - target[a] + l2 * w[a]
    for b in range(k):
        if w[b] != 0.0:
            for a in range(k):
                slope[a] += w[b] * gram[b, a]
    violation, first = 0.0, 0.0
    for sweep in range(sweeps):
        moved = 0.0
        for a in range(k):
            steep, bend = slope[a], gram[a, a] + l2
            if w[a] == 0.0 and steep >= 0.0:
                continue
            if sweep == 0:
                violation += abs(steep)
            if bend <= 0.0:
                continue
            new = max(w[a] - steep / bend, 0.0)
            step = new - w[a]
            if step != 0.0:
                moved += step * step * bend
                w[a] = new
                for b in range(k):
                    slope[b] += step * gram[a, b]
                slope[a] += l2 * step
        if sweep == 0:
            first = moved
        if moved <= rest * rest * first:
            break
    return violation


@jit
def _squares_lost(X, weight, W, table, columns, square, lost):
    """Σ of weighted losses of rows: as they were found from products, or from the cells where products cancel."""
    total = 0.0
    for i in range(len(W)):
        row = lost[i]
        if row < RESOLVED * square[i]:
            row = 0.0
            for j in range(X.shape[1]):
                apart = np.float64(X[i, j])
                if apart == apart:
                    for a in range(W.shape[1]):
                        apart -= W[i, a] * table[j, a]
                    row += 0.5 * columns[j] * apart * apart
            row = max(row, ROUNDING * square[i])
        total += weight[i] * row
    return total


@jit
def _together(W, rows, target, gram, weight, square, l1, l2, sweeps, rest, lost):
    """`_down` of many rows of one matrix of products, several at a time; fills their losses by products.

    Returns their weighted penalties and violations.

    Every lane does what it would do alone: one that rests takes no more steps. `l1` and `l2` have one number, or one per row.
    """
    k, many, charge, violation = W.shape[1], len(l1) > 1, 0.0, 0.0
    w, slope, goal, bend = (np.zeros((k, LANES)), np.zeros((k, LANES)), np.zeros((k, LANES)), np.zeros((k, LANES)))
    step, found, moved, first, active = (
        np.zeros(LANES),
        np.zeros(LANES),
        np.zeros(LANES),
        np.zeros(LANES),
        np.zeros(LANES),
    )
    fine, flat = np.zeros(LANES), np.zeros(LANES)
    for start in range(0, len(rows), LANES):
        n = min(LANES, len(rows) - start)
        for lane in range(n):
            i = rows[start + lane]
            fine[lane], flat[lane] = l2[i if many else 0], l1[i if many else 0]
            for a in range(k):
                w[a, lane], goal[a, lane] = W[i, a], target[i, a]
        for a in range(k):
            for lane in range(LANES):
                below = gram[a, a] + fine[lane]
                bend[a, lane] = 1.0 / below if below > 0.0 else 0.0
                slope[a, lane] = flat[lane] - goal[a, lane] + fine[lane] * w[a, lane]
        for b in range(k):
            for a in range(k):
                g = gram[b, a]
                for lane in range(LANES):
                    slope[a, lane] += w[b, lane] * g
        for lane in range(LANES):
            found[lane], first[lane], active[lane] = 0.0, 0.0, 1.0
        for sweep in range(sweeps):
            for lane in range(LANES):
                moved[lane] = 0.0
            for a in range(k):
                g = gram[a, a]
                for lane in range(LANES):
                    old, steep = w[a, lane], slope[a, lane]
                    new = max(old - steep * bend[a, lane], 0.0)
                    change = active[lane] * (new - old)
                    step[lane] = change
                    w[a, lane] = old + change if new > 0.0 or change == 0.0 else 0.0
                    moved[lane] += change * change * (g + fine[lane])
                    slope[a, lane] = steep + fine[lane] * change
                    if sweep == 0:
                        found[lane] += abs(steep) if old > 0.0 or steep < 0.0 else 0.0
                for b in range(k):
                    g = gram[a, b]
                    for lane in range(LANES):
                        slope[b, lane] += step[lane] * g
            left = 0.0
            for lane in range(LANES):
                if sweep == 0:
                    first[lane] = moved[lane]
                if moved[lane] <= rest * rest * first[lane]:
                    active[lane] = 0.0
                left += active[lane]
            if left == 0.0:
                break
        for lane in range(LANES):
            step[lane], moved[lane] = 0.0, 0.0
        for a in range(k):
            for lane in range(LANES):
                step[lane] += w[a, lane] * (slope[a, lane] - flat[lane] - fine[lane] * w[a, lane] - goal[a, lane])
                moved[lane] += w[a, lane] * (flat[lane] + 0.5 * fine[lane] * w[a, lane])
        for lane in range(n):
            i = rows[start + lane]
            for a in range(k):
                W[i, a] = w[a, lane]
            violation += weight[i] * found[lane]
            lost[i] = 0.5 * (square[i] + step[lane])
            charge += weight[i] * moved[lane]
    return charge, violation


@jit_sums
def _multiplied(w, target, gram, l1, l2, slope):
    """One multiplicative step of w for the same function."""
    k = len(w)
    for a in range(k):
        slope[a] = 0.0
    for b in range(k):
        for a in range(k):
            slope[a] += w[b] * gram[b, a]
    for a in range(k):
        below = slope[a] + l1 + l2 * w[a]
        w[a] *= target[a] / (below if below != 0.0 else TINY)
    for a in range(k):
        slope[a] = l1 - target[a] + l2 * w[a]
    for b in range(k):
        for a in range(k):
            slope[a] += w[b] * gram[b, a]
    return 0.0


@jit
def _rows_down(
    W, target, whole, table, columns, rows, starts, missing, weight, square, l1, l2, sweeps, rest, multiplicative, lost
):
    """`_together` of rows of every pattern."""
    k = W.shape[1]
    gram, slope, charge, violation = np.empty((k, k)), np.empty(k), 0.0, 0.0
    flat, fine = np.full(1, l1), np.full(1, l2)
    for p in range(len(starts) - 1):
        if not multiplicative and not missing[p].any():
            fined, found = _together(
                W, rows[starts[p] : starts[p + 1]], target, whole, weight, square, flat, fine, sweeps, rest, lost
            )
            charge, violation = charge + fined, violation + found
            continue
        _seen_products(whole, table, columns, missing[p], gram)
        for q in range(starts[p], starts[p + 1]):
            i = rows[q]
            if multiplicative:
                _multiplied(W[i], target[i], gram, l1, l2, slope)
            else:
                violation += weight[i] * _down(W[i], target[i], gram, l1, l2, sweeps, rest, slope)
            total = 0.0
            for a in range(k):
                total += W[i, a] * (slope[a] - l1 - l2 * W[i, a] - target[i, a])
                charge += weight[i] * W[i, a] * (l1 + 0.5 * l2 * W[i, a])
            lost[i] = 0.5 * (square[i] + total)
    return charge, violation


@jit
def _seen_products(whole, table, columns, missing, out):
    """Σ_j v_j h_j h_j' over observed columns: all of them less the missing ones, or these alone where they are fewer."""
    absent = 0
    for j in range(len(missing)):
        absent += missing[j]
    out[:] = whole
    if absent == 0:
        return
    if 2 * absent <= len(missing):
        _add_products(table, columns, missing, True, -1.0, out)
        cancelled = False
        for a in range(len(out)):
            cancelled |= out[a, a] < LEFT * whole[a, a]
        if not cancelled:
            return
    out[:] = 0.0
    _add_products(table, columns, missing, False, 1.0, out)


@jit
def _add_products(table, columns, missing, which, sign, out):
    """Add ± v_j h_j h_j' of the columns that are missing, or of those that are not."""
    k = len(out)
    for j in range(len(missing)):
        if missing[j] == which:
            for a in range(k):
                scale = sign * columns[j] * table[j, a]
                if scale != 0.0:
                    for b in range(k):
                        out[a, b] += scale * table[j, b]


@jit
def _own(W, rows, starts, missing, weight, out):
    k = W.shape[1]
    for p in range(len(starts) - 1):
        for j in range(missing.shape[1]):
            if missing[p, j]:
                for q in range(starts[p], starts[p + 1]):
                    i = rows[q]
                    for a in range(k):
                        scale = weight[i] * W[i, a]
                        if scale != 0.0:
                            for b in range(k):
                                out[j, a, b] -= scale * W[i, b]


@jit
def first_down(W, target, gram, weight, l1, l2):
    """One sweep over rows; their weighted violation."""
    unused = np.zeros(len(W))
    return _together(
        W, np.arange(len(W)), target, gram, weight, unused, np.full(1, l1), np.full(1, l2), 1, 0.0, np.empty(len(W))
    )[1]


@jit
def columns_down(table, cross, gram, own, columns, l1, l2, sweeps, rest, multiplicative):
    """Bring the columns of H, rows of `table` (d, K), down in place; l1 and l2 are (d,). Returns their weighted violation."""
    k, few = table.shape[1], len(own) == 1
    matrix, slope, violation = gram + own[0], np.empty(k), 0.0
    if few and not multiplicative:
        every, nothing = np.arange(len(table)), np.zeros(len(table))
        return _together(table, every, cross, matrix, columns, nothing, l1, l2, sweeps, rest, np.empty(len(table)))[1]
    for j in range(len(table)):
        if not few:
            matrix[:] = gram + own[j]
            for a in range(k):
                if matrix[a, a] <= 1e-14 * gram[a, a]:
                    matrix[a, :] = 0.0
                    matrix[:, a] = 0.0
        if multiplicative:
            _multiplied(table[j], cross[j], matrix, l1[j], l2[j], slope)
        else:
            violation += columns[j] * _down(table[j], cross[j], matrix, l1[j], l2[j], sweeps, rest, slope)
    return violation


@jit
def run_squares(X, weight, square, W, table, columns, fine, l1, l2, inner, rest, max_iter, tol, first, objectives):
    """All passes over complete rows in one call: as many E- and M-steps as it takes, with what the engine would record.

    Parameters
    ----------
    X, weight, square : (n, d), (n,) and (n,) float64
        Cells, weights of rows, and Σ_j v_j x_j².
    W, table : (n, K) and (d, K)
        Rows and columns, changed in place.
    columns : (d,)
        Weights of the columns.
    fine : (float, float)
        l1 and l2 of rows.
    l1, l2 : (d,)
        Those of columns, per unit of weight.
    inner : (int, int)
        Most sweeps over rows, and over columns.
    rest, max_iter, tol
        As in `least_squares`, and as the estimator has them.
    first : float
        The violation at the start; 0 is that of the first pass.
    objectives : (max_iter,)
        Filled.

    Returns
    -------
    n_iter : int
    settled : bool
    violation, first : float
    """
    total, k = weight.sum(), W.shape[1]
    violation, settled, step = 0.0, False, 0
    weighted, flat, soft, nothing = np.empty_like(W), np.full(1, fine[0]), np.full(1, fine[1]), np.zeros(len(table))
    rows, others, lost, unused = np.arange(len(W)), np.arange(len(table)), np.empty(len(W)), np.empty(len(table))
    for step in range(max_iter):
        scaled = table * columns.reshape(-1, 1)
        target, gram = np.dot(X, scaled), np.dot(scaled.T, table)
        fined, violation = _together(W, rows, target, gram, weight, square, flat, soft, inner[0], rest, lost)
        loss = fined + _squares_lost(X, weight, W, table, columns, square, lost)
        for i in range(len(X)):
            for a in range(k):
                weighted[i, a] = weight[i] / total * W[i, a]
        charge = 0.0
        for j in range(len(table)):
            for a in range(k):
                charge += columns[j] * table[j, a] * (l1[j] + 0.5 * l2[j] * table[j, a])
        objectives[step] = -loss - total * charge
        cross, gram = np.dot(X.T, weighted), np.dot(weighted.T, W)
        found = _together(table, others, cross, gram, columns, nothing, l1, l2, inner[1], rest, unused)[1]
        violation = violation / total + found
        first = first if first > 0.0 else violation
        if step > 0 and violation <= tol * first and tol > 0.0:
            settled = True
            break
    return step + 1, settled, violation, first


def divergence(X, patterns, weight, W, H, columns, beta, penalty, steps, local):
    """Bring W down by multiplicative steps and add up what H is learned from.

    Parameters
    ----------
    X, patterns, weight, W, H, columns, penalty, local
        As in `least_squares`.
    beta : float
        Which divergence.
    steps : int
        Steps of W.

    Returns
    -------
    loss : float
        Σ of the objective of rows.
    above, below : (d, K) and (1 or d, K)
        Σ r w and Σ q w, where H goes to H (above / below)^γ; one row where all columns have the same.
    """
    n, d = X.shape
    shared = beta == 1.0 and patterns.is_complete
    above, below = np.zeros((d, W.shape[1])), np.zeros((1 if shared else d, W.shape[1]))
    size, loss = max(CHUNK // d, 16), 0.0
    for start in range(0, n, size):
        rows = slice(start, min(start + size, n))
        x = np.ascontiguousarray(X[rows], dtype=np.float64)
        loss += chunk_down(x, weight[rows], W[rows], H, columns, beta, penalty, steps, shared, above, below)
    return loss, above, below


def chunk_down(x, weight, w, H, columns, beta, penalty, steps, shared, above, below):
    """`divergence` of a few rows of float64, added to `above` and `below`; their loss."""
    table = np.ascontiguousarray((H * columns).T)
    product, up, down = np.empty_like(x), np.empty_like(x), np.empty_like(x)
    for _ in range(steps):
        np.dot(w, H, out=product)
        _ratios(x, product, beta, up, down, shared)
        under = table.sum(axis=0) if shared else down @ table
        w *= stepped(up @ table, under + penalty[0], penalty[1] * w, beta, penalty[1] > 0.0)
        if beta < 1.0:
            w[w < np.finfo(np.float64).eps] = 0.0
    np.dot(w, H, out=product)
    _ratios(x, product, beta, up, down, shared)
    scaled = weight[:, None] * w
    above += up.T @ scaled
    below += scaled.sum(axis=0) if shared else down.T @ scaled
    fine = scaled.sum() * penalty[0] + 0.5 * penalty[1] * (scaled * w).sum()
    return _loss(x, product, weight, columns, beta) + fine


def exponent(beta):
    """γ, with which a multiplicative step goes down whatever the divergence (Févotte and Idier 2011)."""
    return 1.0 / (2.0 - beta) if beta < 1.0 else 1.0 / (beta - 1.0) if beta > 2.0 else 1.0


def stepped(above, below, fine, beta, squared, before=1.0):
    """What a step multiplies by: the t of above = below t^(1/γ) + fine t^q, where the surrogate of the loss is least.

    `fine` is the slope of squared penalties, which are of a higher order than divergences of β < 2: q is 3 − β for these, and
    otherwise 1/γ. Arrays and tensors alike; where all but q are of the variable itself, it was `before`.
    """
    gamma = exponent(beta)
    if not squared or beta >= 2.0:
        below = below + fine
        found = above / (below + TINY * (below == 0.0))
        return found if gamma == 1.0 else found**gamma
    if beta == 1.0:
        half = 0.5 * below + (0.25 * below * below + above * fine) ** 0.5
        return above / (half + TINY * (half == 0.0))
    t, q = before, 3.0 - beta
    for _ in range(ROOTS):
        straight, bent = below * t ** (1.0 / gamma), fine * t**q
        level = straight + bent + LEAST
        t = t * (above / level) ** (level / (straight / gamma + q * (bent + LEAST)))
    return t


@jit
def _ratios(x, product, beta, up, down, shared):
    """R and q of cells; 0 of missing ones. Where q is the same for all, it is left alone."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            cell, p = x[i, j], max(product[i, j], TINY)
            if cell != cell:
                up[i, j] = down[i, j] = 0.0
            elif beta == 1.0:
                up[i, j] = cell / p
                if not shared:
                    down[i, j] = 1.0
            elif beta == 0.0:
                up[i, j], down[i, j] = cell / (p * p), 1.0 / p
            else:
                power = p ** (beta - 2.0)
                up[i, j], down[i, j] = cell * power, p * power


@jit
def log(y):
    """Logarithm of a normal number above 0 by the series of `mixture.log1p`, to 1e-15."""
    bits = np.float64(y).view(np.int64)
    above = bits - ROOT_HALF
    power = np.int64(((above >> 52) + 1024) | WHOLE).view(np.float64) - 4503599627371520.0  # 2⁵² + 1024
    m = np.int64(bits - (above & EXPONENT)).view(np.float64)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    return power * LN2_HIGH + (power * LN2_LOW + s * z * _series(z) + 2.0 * s)


@jit
def _series(z):
    """What log((1 + s) / (1 − s)) − 2 s is of s z, with z = s², for ratios from √½ to √2."""
    p = 2.0 / 19.0
    p = p * z + 2.0 / 17.0
    p = p * z + 2.0 / 15.0
    p = p * z + 2.0 / 13.0
    p = p * z + 2.0 / 11.0
    p = p * z + 2.0 / 9.0
    p = p * z + 2.0 / 7.0
    p = p * z + 2.0 / 5.0
    return p * z + 2.0 / 3.0


@jit
def _loss(x, product, weight, columns, beta):
    """Σ s v d_β over observed cells; of β = 1 not below what rounding leaves of a perfect fit."""
    total = 0.0
    for i in range(x.shape[0]):
        row = 0.0
        if beta == 1.0:
            row, size = _row_entropy(x[i], product[i], columns)
            row = max(row, ROUNDING * size)
        else:
            for j in range(x.shape[1]):
                if x[i, j] == x[i, j]:
                    row += columns[j] * _cell_loss(x[i, j], product[i, j], beta)
        total += weight[i] * row
    return total


@jit
def _cell_loss(x, product, beta):
    p = max(product, TINY)
    if beta == 0.0:
        return x / p - log(x / p) - 1.0
    if beta == 2.0:
        return 0.5 * (x - product) ** 2
    power = p ** (beta - 1.0)
    first = x**beta if x > TINY else 0.0
    return (first + (beta - 1.0) * p * power - beta * x * power) / (beta * (beta - 1.0))


@jit
def _relative_entropy(x, p):
    """X log(x / p) − x + p, to all digits also where p is so near to x that these terms cancel.

    As in `log`, but s is taken from x over a power of 2, k, of which it is from √½ p to √2 p, and 2 x s − x + p is made of it.
    """
    above = np.float64(x / p).view(np.int64) - ROOT_HALF
    power = np.int64(((above >> 52) + 1024) | WHOLE).view(np.float64) - 4503599627371520.0
    near = np.int64(np.float64(x).view(np.int64) - (above & EXPONENT)).view(np.float64)
    k = np.int64((above & EXPONENT) + ONE).view(np.float64)
    s = (near - p) / (near + p)
    z = s * s
    first = k * s * (near - p) + p * (1.0 - k)
    return x * power * LN2_HIGH + (x * power * LN2_LOW + x * s * z * _series(z) + first)


@jit_sums
def _row_entropy(x, product, columns):
    """Σ_j v_j (x_j log(x_j / p_j) − x_j + p_j) and Σ_j v_j x_j over the observed cells of a row."""
    total, size = 0.0, 0.0
    for j in range(len(x)):
        seen = 1.0 if x[j] == x[j] else 0.0
        cell = x[j] if x[j] > TINY else 0.0
        found = _relative_entropy(max(cell, TINY), max(product[j], TINY))
        total += seen * columns[j] * (found if cell > 0.0 else product[j])
        size += columns[j] * cell
    return total, size
