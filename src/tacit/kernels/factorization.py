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
def _products(begin, end, indices, weight, mean, left, right, square, sums):
    """Sums of moments of one row's cells where the other side are points: a product of its vectors with themselves."""
    n, size = end - begin, mean.shape[1]
    for p in range(n):
        i, w = indices[begin + p], weight[begin + p]
        for k in range(size):
            right[p, k] = mean[i, k]
            left[p, k] = w * right[p, k]
    if n:
        np.dot(left[:n].T, right[:n], square)
    else:
        square[:] = 0.0
    t = 0
    for k in range(size):
        for l in range(k + 1):
            sums[t] = square[k, l]
            t += 1


@jit_sums
def _factor(A, q):
    """The Cholesky factor of the lower triangle of A, in its place; whether there is one."""
    for i in range(q):
        for j in range(i + 1):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[j, k]
            if i > j:
                A[i, j] = total / A[j, j]
            elif total > 0:
                A[i, i] = math.sqrt(total)
            else:
                return False
    return True


@jit_sums
def _solve(L, b, q):
    """B becomes (L Lᵀ)⁻¹ b."""
    for i in range(q):
        total = b[i]
        for k in range(i):
            total -= L[i, k] * b[k]
        b[i] = total / L[i, i]
    for i in range(q - 1, -1, -1):
        b[i] /= L[i, i]
        for k in range(i):
            b[k] -= L[i, k] * b[i]


@jit_sums
def _invert(L, q, U, S):
    """S = (L Lᵀ)⁻¹, its lower triangle; U becomes the inverse of L."""
    for i in range(q):
        for t in range(i):
            U[i, t] = 0.0
        for k in range(i):
            for t in range(k + 1):
                U[i, t] -= L[i, k] * U[k, t]
        U[i, i] = 1.0 / L[i, i]
        for t in range(i):
            U[i, t] *= U[i, i]
    S[:] = 0.0
    for k in range(q):
        for i in range(k + 1):
            for t in range(i + 1):
                S[i, t] += U[k, i] * U[k, t]


@jit
def _place(r):
    """Where the r-th part of (bias, factors) is in y = (1, o, v)."""
    return 0 if r == 0 else r + 1


@jit
def _own(sums, cross, A, b):
    """Σ w E[z zᵀ] and Σ w (t E z − E[o z]) of one row, from the sums over its cells."""
    for r in range(len(b)):
        k = _place(r)
        b[r] = cross[k] - (sums[1] if r == 0 else sums[k * (k + 1) // 2 + 1])
        for s in range(r + 1):
            A[r, s] = sums[k * (k + 1) // 2 + _place(s)]


@jit_sums
def _error(sums, cross, square, A, b, m, S):
    """Σ w E (t − o − x·z)²."""
    value = square - 2.0 * cross[1] + sums[2]
    for r in range(len(m)):
        value += (m[r] * m[r] + S[r, r]) * A[r, r] - 2.0 * m[r] * b[r]
        for s in range(r):
            value += 2.0 * (m[r] * m[s] + S[r, s]) * A[r, s]
    return value


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
    told = np.empty((len(out), 3))
    cells = X.indptr, X.indices, weight, target
    mean = mean if len(table) else mean.astype(table.dtype)
    if not _half_sweep(*cells, mean, table, prior, shift, noise, base, out, spread, told):
        raise np.linalg.LinAlgError("a system of equations has no unique solution")
    return told


@jit
def _right_sides(begin, end, indices, weight, target, mean, cross):
    """Σ w t E y of one row's cells; Σ w t²."""
    square = 0.0
    cross[:] = 0.0
    for p in range(begin, end):
        i, both = indices[p], weight[p] * target[p]
        square += both * target[p]
        for k in range(len(cross)):
            cross[k] += both * mean[i, k]
    return square


@jit
def _pack(S, out, a):
    t = 0
    for r in range(len(S)):
        for s in range(r + 1):
            out[a, t] = S[r, s]
            t += 1


@jit
def _half_sweep(indptr, indices, weight, target, mean, table, prior, shift, noise, base, out, spread, told):
    n, q = out.shape
    width = table.shape[0] * TILE if len(table) else (q + 1) * (q + 2) // 2
    sums, cross = np.empty((BATCH if len(table) else 1, width), table.dtype), np.empty(q + 1)
    longest = 0 if len(table) else np.diff(indptr).max()
    left, right = np.empty((longest, q + 1), table.dtype), np.empty((longest, q + 1), table.dtype)
    product = np.empty((q + 1, q + 1), table.dtype)
    A, L, U, S = np.empty((q, q)), np.empty((q, q)), np.empty((q, q)), np.zeros((q, q))
    b, m, per_noise = np.empty(q), np.empty(q), 1.0 / noise
    for a in range(n):
        if len(table) == 0:
            _products(indptr[a], indptr[a + 1], indices, weight, mean, left, right, product, sums[0])
        elif a % BATCH == 0:
            sums[:] = 0.0
            _gather(indptr, indices, weight, table, a, min(a + BATCH, n), sums)
        own = sums[a % BATCH if len(table) else 0]
        square = _right_sides(indptr[a], indptr[a + 1], indices, weight, target, mean, cross)
        for t in range(len(base)):
            own[t] += base[t]
        _own(own, cross, A, b)
        h = shift[a if len(shift) > 1 else 0]
        for r in range(q):
            m[r] = b[r] * per_noise + h[r]
            for s in range(r + 1):
                L[r, s] = A[r, s] * per_noise + prior[r, s]
        if not _factor(L, q):
            return False
        _solve(L, m, q)
        if len(spread):
            _invert(L, q, U, S)
            _pack(S, spread, a)
        told[a, 0] = _error(own, cross, square, A, b, m, S)
        told[a, 1], told[a, 2] = 0.0, 0.0
        for r in range(q):
            out[a, r] = m[r]
            told[a, 1] -= 2.0 * math.log(L[r, r])
            told[a, 2] += (m[r] * m[r] + S[r, r]) * prior[r, r] - 2.0 * m[r] * h[r]
            for s in range(r):
                told[a, 2] += 2.0 * (m[r] * m[s] + S[r, s]) * prior[r, s]
    return True


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
