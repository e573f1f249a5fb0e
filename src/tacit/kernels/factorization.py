"""Half a sweep of a factorisation: the vectors of one side given those of the other.

    t_ab = x_a·z_b + o_b + noise,    z_b = (1, v_b),    q(x_a) = N(m_a, S_a)
    S_a⁻¹ = P + Σ_b w_ab E[z_b z_bᵀ] / σ²,    m_a = S_a (P h_a + Σ_b w_ab (t_ab E z_b − E[o_b z_b]) / σ²)

The other side's vectors y_b = (1, o_b, v_b) enter by their second moments E[y yᵀ], packed by rows of the lower triangle: sums of
them over the cells of `a` are a sparse matrix times a dense one. The table of moments lies in tiles of few columns, each of which
stays in the cache while the cells of a block are gone through.
"""

import math

import numpy as np

from .jit import jit, jit_sums

__all__ = ["cell_sums", "half_sweep", "moment_table", "pair_spread", "pair_sums"]

TILE = 64  # columns of a tile
BATCH = 512  # rows whose cells are gone through tile by tile
WIDE = 64  # columns of a block of vectors
LANES = 16  # columns that are skipped or added as one
TOGETHER, CELLS = 8, 160  # cells that are added at once, and until sums go into double precision
PLACE = np.uint64
"""Of loops that do not begin at 0: places that may be negative, as far as the compiler knows, keep them from being vectorised."""


def moment_table(mean, spread, kind=np.float64):
    """E[y yᵀ] of y = (1, o, v), packed and in tiles (tiles, n, TILE).

    Parameters
    ----------
    mean : (n, 1 + K)
        E (o, v).
    spread : (n, (1 + K)(2 + K) / 2) or (0, …)
        Packed covariances of (o, v); none where they are points.
    kind : dtype
        Of the table.
    """
    size = mean.shape[1] + 1
    n_tiles = -(-(size * (size + 1) // 2) // TILE)
    table = np.zeros((n_tiles, len(mean), TILE), kind)
    _fill(mean, spread, table)
    return table


@jit
def _fill(mean, spread, table):
    size = mean.shape[1] + 1
    for b in range(len(mean)):
        t = 0
        for k in range(size):
            left = 1.0 if k == 0 else mean[b, k - 1]
            for l in range(k + 1):
                value = left * (1.0 if l == 0 else mean[b, l - 1])
                if len(spread) and l > 0:
                    value += spread[b, (k - 1) * k // 2 + l - 1]
                table[t // TILE, b, t % TILE] = value
                t += 1


@jit
def _gather(indptr, indices, weight, table, first, stop, sums):
    """Sums of moments of the rows `first` to before `stop`, a tile for all rows before the next tile, four cells at a time."""
    for tile in range(len(table)):
        for a in range(first, stop):
            begin, end = indptr[a], indptr[a + 1]
            whole = end - (end - begin) % 4
            total = sums[a - first, tile * TILE : (tile + 1) * TILE]
            for p in range(begin, whole, 4):
                i, j, k, l = indices[p], indices[p + 1], indices[p + 2], indices[p + 3]
                wi, wj, wk, wl = weight[p], weight[p + 1], weight[p + 2], weight[p + 3]
                for t in range(TILE):
                    total[t] += (
                        wi * table[tile, i, t]
                        + wj * table[tile, j, t]
                        + wk * table[tile, k, t]
                        + wl * table[tile, l, t]
                    )
            for p in range(whole, end):
                i, w = indices[p], weight[p]
                for t in range(TILE):
                    total[t] += w * table[tile, i, t]


@jit
def _lay(row, weight, target, p, right, left):
    """Put a cell's vector and target, and these times its weight, in the p-th place of blocks."""
    last = len(row)
    for b in range(len(right)):
        block, weighted = right[b, p * WIDE : (p + 1) * WIDE], left[b, p * WIDE : (p + 1) * WIDE]
        part = row[b * WIDE : (b + 1) * WIDE]
        for t in range(len(part)):
            block[t] = part[t]
            weighted[t] = weight * part[t]
    right[last // WIDE, p * WIDE + last % WIDE] = target
    left[last // WIDE, p * WIDE + last % WIDE] = weight * target


@jit
def _add_block(c, z, a, b, total):
    """Add to the b-th block of columns of sums what eight cells add to rows of the a-th: weighted values `c` times values `z`.

    Eight at once, constant numbers of places apart: sums are read and written an eighth as often, and loops vectorise.
    """
    size, width = total.shape
    stop = min(WIDE, width - b * WIDE)
    for k in range(min(WIDE, size - a * WIDE)):
        own, first = total[a * WIDE + k, b * WIDE : b * WIDE + stop], k - k % LANES if a == b else 0
        c0, c1, c2, c3 = c[k], c[WIDE + k], c[2 * WIDE + k], c[3 * WIDE + k]
        c4, c5, c6, c7 = c[4 * WIDE + k], c[5 * WIDE + k], c[6 * WIDE + k], c[7 * WIDE + k]
        for t in range(PLACE(first), PLACE(stop)):
            own[t] = (
                own[t] + c0 * z[t] + c1 * z[PLACE(WIDE) + t] + c2 * z[PLACE(2 * WIDE) + t] + c3 * z[PLACE(3 * WIDE) + t]
                + c4 * z[PLACE(4 * WIDE) + t] + c5 * z[PLACE(5 * WIDE) + t] + c6 * z[PLACE(6 * WIDE) + t]
                + c7 * z[PLACE(7 * WIDE) + t]
            )  # fmt: skip


@jit
def _products(begin, end, indices, weight, target, mean, left, right, total, square):
    """Sums of moments of one row's cells where the other side are points, and of these with targets, in the last column.

    They are products of vectors with themselves, whose upper triangle is enough.
    """
    square[:] = 0.0
    for start in range(begin, end, CELLS):
        total[:] = 0.0
        stop = min(start + CELLS, end)
        for first in range(start, stop, TOGETHER):
            n = min(TOGETHER, stop - first)
            for p in range(n):
                i = indices[first + p]
                _lay(mean[i], weight[first + p], target[first + p], p, right, left)
            left[:, n * WIDE :] = 0.0
            for a in range(len(left)):
                for b in range(a, len(right)):
                    _add_block(left[a], right[b], a, b, total)
        for k in range(len(square)):
            own, part = square[k], total[k]
            for t in range(len(own)):
                own[t] += part[t]


@jit
def _unpacked(sums, square):
    """Packed sums of moments as the upper triangle of a matrix."""
    t = 0
    for k in range(len(square) - 1):
        for l in range(k + 1):
            square[l, k] = sums[t]
            t += 1


@jit
def _take(own, rows, k, column, first):
    """Take four rows, each as often as it has of a column, from a row, in columns from `first` on."""
    r0, r1, r2, r3 = rows[k], rows[k + 1], rows[k + 2], rows[k + 3]
    c0, c1, c2, c3 = r0[column], r1[column], r2[column], r3[column]
    for t in range(PLACE(first), PLACE(len(own))):
        own[t] = own[t] - c0 * r0[t] - c1 * r1[t] - c2 * r2[t] - c3 * r3[t]


@jit
def _factor(U):
    """The factor U of A = Uᵀ U and U⁻ᵀ b, in place of the upper triangle of A and of a further column b; whether there is one.

    Four rows at once: a row is read and written a quarter as often.
    """
    q = len(U)
    for i in range(q):
        own, whole = U[i], i - i % 4
        for k in range(0, whole, 4):
            _take(own, U, k, i, i)
        for k in range(whole, i):
            row, c = U[k], U[k, i]
            for t in range(PLACE(i), PLACE(len(own))):
                own[t] -= c * row[t]
        if not own[i] > 0:
            return False
        scale = 1.0 / math.sqrt(own[i])
        for t in range(PLACE(i), PLACE(len(own))):
            own[t] *= scale
    return True


@jit_sums
def _solve(U, m):
    """M becomes U⁻¹ of the last column."""
    q = len(m)
    for i in range(q - 1, -1, -1):
        total, row = U[i, q], U[i]
        for t in range(PLACE(i + 1), PLACE(q)):
            total -= row[t] * m[t]
        m[i] = total / row[i]


@jit_sums
def _invert(U, T, S):
    """S = (Uᵀ U)⁻¹, its lower triangle; T becomes the inverse of Uᵀ."""
    q = len(S)
    for i in range(q):
        own = T[i]
        for t in range(i):
            own[t] = 0.0
        for k in range(i):
            row, c = T[k], U[k, i]
            for t in range(k + 1):
                own[t] -= c * row[t]
        own[i] = 1.0 / U[i, i]
        for t in range(i):
            own[t] *= own[i]
    S[:] = 0.0
    for k in range(q):
        row = T[k]
        for i in range(k + 1):
            own, c = S[i], row[i]
            for t in range(i + 1):
                own[t] += c * row[t]


@jit
def _system(square, base, prior, shift, per_noise, U):
    """The equations of one row from the sums over its cells: Σ w E[z zᵀ] / σ² + P and, in the last column, their right side.

    Returns Σ w E (t − o)².
    """
    q, dense = len(prior), len(base) > 0
    last, one = q + 1, PLACE(1)
    for r in range(q):
        k = r + 1 if r else 0  # y has an offset after its first part
        own, line, ridge = U[r], square[k], prior[r]
        own[r] = line[k] * per_noise + ridge[r]
        for s in range(PLACE(r + 1), PLACE(q)):
            own[s] = line[s + one] * per_noise + ridge[s]
        offset = square[0, 1] if r == 0 else square[1, k]
        right = line[last] - offset
        if dense:
            also = base[k]
            own[r] += also[k] * per_noise
            for s in range(PLACE(r + 1), PLACE(q)):
                own[s] += also[s + one] * per_noise
            right -= base[1, k]
        own[q] = right * per_noise + shift[r]
    return square[last, last] - 2.0 * square[1, last] + square[1, 1] + (base[1, 1] if dense else 0.0)


def half_sweep(X, weight, target, mean, table, prior, shift, noise, base, out, spread):
    """Solve for the vectors of the rows of X, in place.

    Parameters
    ----------
    X : SparseRows
        Cells by row; the columns are the other side.
    weight, target : (cells,)
        w and t of the cells.
    mean : (n_other, 2 + K)
        E (1, o, v) of the other side.
    table : (tiles, n_other, TILE) or (0, …)
        Its second moments, as `moment_table` makes them; none where they are points.
    prior : (q, q)
        P, q = 1 + K.
    shift : (n, q) or (1, q)
        P h, for each row or for all.
    noise : float
        σ².
    base : (D,) or (0,)
        Sums of moments that every row has besides, packed.
    out : (n, q)
        m.
    spread : (n, q (q + 1) / 2) or (0, …)
        Packed S, where it is to be told.

    Returns
    -------
    told : (n, 3)
        Σ w E (t − o − x·z)², log det S and E (x − h)ᵀ P (x − h) without terms in h alone, that is −2 m·P h + E x·P x.
    """
    told, full = np.empty((len(out), 3)), np.zeros((0, 0))
    if len(base):
        size = mean.shape[1]
        full = np.zeros((size, size))
        full[np.tril_indices(size)] = base[: size * (size + 1) // 2]
        full = full + np.tril(full, -1).T
    cells = X.indptr, X.indices, weight, target.astype(table.dtype, copy=False)
    mean = mean if len(table) else mean.astype(table.dtype)
    if not _half_sweep(*cells, mean, table, prior, shift, noise, full, out, spread, told):
        raise np.linalg.LinAlgError("a system of equations has no unique solution")
    return told


@jit
def _right_sides(begin, end, indices, weight, target, mean, square):
    """Σ w t E y of one row's cells and Σ w t², in the last column."""
    size = mean.shape[1]
    cross = np.zeros(size + 1)
    for p in range(begin, end):
        i, both = indices[p], weight[p] * target[p]
        cross[size] += both * target[p]
        for k in range(size):
            cross[k] += both * mean[i, k]
    for k in range(size + 1):
        square[k, size] = cross[k]


@jit
def _pack(S, out):
    t = 0
    for r in range(len(S)):
        for s in range(r + 1):
            out[t] = S[r, s]
            t += 1


@jit_sums
def _charge(prior, m, S):
    """E x·P x."""
    total = 0.0
    for r in range(len(m)):
        own, spread, half = prior[r], S[r], 0.5 * prior[r, r] * m[r]
        within = 0.5 * prior[r, r] * S[r, r]
        for s in range(r):
            half += own[s] * m[s]
            within += own[s] * spread[s]
        total += 2.0 * (m[r] * half + within)
    return total


@jit
def _half_sweep(indptr, indices, weight, target, mean, table, prior, shift, noise, base, out, spread, told):
    n, q = out.shape
    size, tabled, kind = q + 2, len(table) > 0, table.dtype
    sums = np.empty((BATCH if tabled else 0, table.shape[0] * TILE), kind)
    left, right = (
        np.zeros((-(-size // WIDE), TOGETHER * WIDE), kind),
        np.zeros((-(-size // WIDE), TOGETHER * WIDE), kind),
    )
    width = -(-size // LANES) * LANES
    total, square = np.empty((size, width), kind), np.empty((size, width))
    U, T, S, m = np.empty((q, q + 1)), np.empty((q, q)), np.zeros((q, q)), np.empty(q)
    for a in range(n):
        begin, end, h = indptr[a], indptr[a + 1], shift[a if len(shift) > 1 else 0]
        if tabled:
            if a % BATCH == 0:
                sums[:] = 0.0
                _gather(indptr, indices, weight, table, a, min(a + BATCH, n), sums)
            _unpacked(sums[a % BATCH], square)
            _right_sides(begin, end, indices, weight, target, mean, square)
        else:
            _products(begin, end, indices, weight, target, mean, left, right, total, square)
        fixed = _system(square, base, prior, h, 1.0 / noise, U)
        for r in range(q):
            m[r] = U[r, q]
        right_side = m.copy()
        if not _factor(U):
            return False
        _solve(U, m)
        if len(spread):
            _invert(U, T, S)
            _pack(S, spread[a])
        _tell(U, prior, right_side, h, noise, fixed, m, S, len(spread) > 0, told[a])
        out[a] = m
    return True


@jit
def _tell(U, prior, right, h, noise, fixed, m, S, uncertain, told):
    """What `half_sweep` tells of a row: its equations, solved, give all squares but those of the prior."""
    charge, along, shifted = _charge(prior, m, S), 0.0, 0.0
    told[1] = 0.0
    for r in range(len(m)):
        along += m[r] * right[r]
        shifted += m[r] * h[r]
        told[1] -= 2.0 * math.log(U[r, r])
    told[0] = fixed + noise * ((len(m) if uncertain else 0) - along + 2.0 * shifted - charge)
    told[2] = charge - 2.0 * shifted


@jit
def pair_spread(user, item, users, user_spread, items, item_spread, out):
    """Variances of b + c + u·v of pairs of independent vectors (b, u) and (c, v).

    Parameters
    ----------
    user, item : (n,)
        Rows of the vectors of each pair.
    users, items : (·, q)
        Means.
    user_spread, item_spread : (·, q (q + 1) / 2)
        Packed covariances.
    out : (n,)
        Filled.
    """
    q = users.shape[1]
    for p in range(len(user)):
        a, b = user[p], item[p]
        value, t = 0.0, 0
        for r in range(q):
            x, y = (1.0 if r == 0 else users[a, r]), (1.0 if r == 0 else items[b, r])
            for s in range(r + 1):
                both = 1.0 if s == r else 2.0
                S, T = user_spread[a, t], item_spread[b, t]
                value += both * S * y * (1.0 if s == 0 else items[b, s])
                value += both * T * x * (1.0 if s == 0 else users[a, s])
                if s > 0:
                    value += both * S * T
                t += 1
        out[p] = value


@jit
def cell_sums(indptr, indices, own, others):
    """B + c + u·v (cells,) of the cells of rows, for vectors (b, u) of rows and (c, v) of columns."""
    out, q = np.empty(len(indices)), own.shape[1]
    for a in range(len(indptr) - 1):
        for p in range(indptr[a], indptr[a + 1]):
            i = indices[p]
            value = own[a, 0] + others[i, 0]
            for k in range(1, q):
                value += own[a, k] * others[i, k]
            out[p] = value
    return out


@jit
def pair_sums(users, user, items, item):
    """B + c + u·v (n,) of pairs."""
    out, q = np.empty(len(user)), users.shape[1]
    for p in range(len(user)):
        a, i = user[p], item[p]
        value = users[a, 0] + items[i, 0]
        for k in range(1, q):
            value += users[a, k] * items[i, k]
        out[p] = value
    return out
