"""Nearest centres: one pass of Lloyd's algorithm over complete rows, with bounds that save most distances.

    z_i = argmin_k ‖x_i − c_k‖²

Every row keeps an upper bound of the distance to its centre and, for every group of centres, a lower bound of the distance to
its others. Centres that moved by δ_k change the bounds by at most δ_k (Hamerly with one group, Yinyang with a few, Elkan with as
many as centres). Only where the bounds overlap are distances computed, as matrix products of gathered rows. Sums change only
where rows move, and are taken about fixed anchors near the centres, so that nothing cancels.
"""

import math

import numpy as np

from .jit import jit, jit_sums

__all__ = ["lloyd", "lloyd_cells"]

TILE = 256  # rows multiplied at once
STRETCH = 128  # centres multiplied at once: a tile of products stays in the cache
UP = np.float32(1.0 + 1e-6)  # bounds are kept in single precision and rounded outwards
DOWN = np.float32(1.0 - 1e-6)
ROUNDING = 4.0  # expanding a square errs by at most about this many roundings of the lengths' squares


@jit
def lloyd(
    X, rows, weight, origin, center, anchor, shift, near, starts, labels, upper, lower, bounded, counts, sums, totals
):  # fmt: skip
    """One pass over complete rows.

    Parameters
    ----------
    X : (., d)
        Cells.
    rows : (n,) int32
        Numbers of the complete rows.
    weight : (.,) float64
        Weights of all rows of X.
    origin : (d,)
        What rows and centres are taken about.
    center : (K, d)
        Centres less the origin, the centres of a group side by side, in the precision of the rows.
    anchor : (K, d) float64
        What sums are taken about, less the origin.
    shift, near : (K,) float32
        How far each centre moved since the last pass at most, and half its distance to the nearest other one at least.
    starts : (G + 1,) int64
        Where groups of centres begin.
    labels : (n,) int32
        Nearest centres of `rows` at the last pass, −1 where unknown; updated.
    upper, lower : (n,) and (n, G) float32
        Bounds; updated. Not touched unless `bounded`.
    counts, sums : (K,) and (K, d) float64
        Σ w and Σ w (x − anchor) over the rows of each centre; updated.
    totals : (3,) float64
        Σ w ‖x − anchor‖² is updated; of the rows whose centre was known, how many needed distances, and how many moved, are set.
    """
    n_rows = len(rows)
    chosen = np.empty(n_rows, np.int32)
    if bounded:
        count = _overlapping(labels, upper, lower, shift, near, starts, chosen)
        count = _tighten(X, rows, origin, center, labels, upper, lower, near, chosen, count)
    else:
        chosen[:] = np.arange(n_rows)
        count = n_rows
    half = (0.5 * (center.astype(np.float64) ** 2).sum(axis=1)).astype(X.dtype)
    rounding, longest = ROUNDING * np.finfo(X.dtype).eps, 2.0 * half.max()
    tile, norm = np.empty((TILE, X.shape[1]), X.dtype), np.empty(TILE, X.dtype)
    best, second, arg = np.empty(TILE, X.dtype), np.empty(TILE, X.dtype), np.empty(TILE, np.int32)
    product = np.empty(min(STRETCH, len(center)) * TILE, X.dtype)
    totals[1:] = 0.0
    for a in range(0, count, TILE):
        at = chosen[a : min(a + TILE, count)]
        n = len(at)
        _gather(X, rows, at, origin, tile, norm)
        if bounded:
            _search_groups(center, half, starts, tile[:n], norm, at, labels, upper, lower, product, best, second, arg)
        else:
            _search(center, half, 0, len(center), tile[:n], product, best[:n], second[:n], arg[:n])
            for r in range(n):
                if second[r] - best[r] < rounding * (norm[r] + longest):
                    arg[r] = _two_nearest(tile[r], center, 0, len(center))[0]
        for r in range(n):
            i = at[r]
            totals[1] += labels[i] >= 0
            if arg[r] != labels[i]:
                totals[0] += _move(tile[r], weight[rows[i]], labels[i], arg[r], anchor, counts, sums)
                totals[2] += labels[i] >= 0
                labels[i] = arg[r]


@jit
def block_pass(
    X, rows, weight, origin, about, near, order, starts, center, anchor, labels, upper, lower, bounded, counts, sums, totals,
    of, cells, found,
):  # fmt: skip
    """A pass with all that goes before and after it, so that threads do not wait for one another.

    `about` are the centres less the origin and `near` half their distances to the nearest other ones, in their own order; the
    memory of a block is in groups, `order` saying which centre is where. Fills `of` (K,), `cells` (K, d) and `found` (K, d), the
    weights, weights per cell and sums about the origin of all centres; returns the loss.
    """
    n_centers, d = about.shape
    shift, least = np.zeros(n_centers, np.float32), np.zeros(n_centers, np.float32)
    for k in range(n_centers):
        total = 0.0
        for j in range(d):
            step = about[order[k], j] - center[k, j]
            total += step * step
            center[k, j] = about[order[k], j]
        if bounded:
            shift[k] = np.float32(math.sqrt(total) * (1.0 + 1e-6))
            least[k] = np.float32(near[order[k]] * (1.0 - 1e-6))
    lloyd(
        X, rows, weight, origin.astype(X.dtype), center.astype(X.dtype), anchor, shift, least, starts, labels, upper, lower,
        bounded, counts, sums, totals,
    )  # fmt: skip
    loss = totals[0]
    for k in range(n_centers):
        own = order[k]
        of[own] = counts[k]
        for j in range(d):
            step = center[k, j] - anchor[k, j]
            loss += step * (counts[k] * step - 2.0 * sums[k, j])
            cells[own, j] = counts[k]
            found[own, j] = sums[k, j] + counts[k] * anchor[k, j]
    return max(loss, 0.0)


@jit
def _overlapping(labels, upper, lower, shift, near, starts, chosen):
    """Move the bounds along with the centres; list the rows whose bounds overlap, and return their number."""
    n_rows, n_groups = lower.shape
    group_shift = np.zeros(n_groups, np.float32)
    for g in range(n_groups):
        for k in range(starts[g], starts[g + 1]):
            group_shift[g] = max(group_shift[g], shift[k])
    count = 0
    for i in range(n_rows):
        k = labels[i]
        high, low = np.float32(np.inf), np.float32(0.0)
        if k >= 0:
            high = upper[i] = (upper[i] + shift[k]) * UP
            low = np.float32(np.inf)
            for g in range(n_groups):
                lower[i, g] = (lower[i, g] - group_shift[g]) * DOWN
                low = min(low, lower[i, g])
            low = max(low, near[k])
        if high > low:
            chosen[count] = i
            count += 1
    return count


@jit
def _tighten(X, rows, origin, center, labels, upper, lower, near, chosen, count):
    """Replace the upper bounds of the chosen rows by distances; keep the rows whose bounds still overlap."""
    kept = 0
    for a in range(count):
        i = chosen[a]
        k = labels[i]
        if k >= 0:
            upper[i] = np.float32(math.sqrt(_square_about(X[rows[i]], origin, center[k]))) * UP
            low = np.float32(np.inf)
            for g in range(lower.shape[1]):
                low = min(low, lower[i, g])
            if upper[i] <= max(low, near[k]):
                continue
        chosen[kept] = i
        kept += 1
    return kept


@jit_sums
def _square_about(x, origin, center):
    total = 0.0
    for j in range(len(x)):
        step = x[j] - origin[j] - center[j]
        total += step * step
    return total


@jit_sums
def _square(x, center):
    total = 0.0
    for j in range(len(x)):
        step = x[j] - center[j]
        total += step * step
    return total


@jit_sums
def _gather(X, rows, at, origin, tile, norm):
    """Rows about the origin, and their squared lengths."""
    for r in range(len(at)):
        i = rows[at[r]]
        total = origin[0] * 0
        for j in range(X.shape[1]):
            x = X[i, j] - origin[j]
            tile[r, j] = x
            total += x * x
        norm[r] = total


@jit
def _search(center, half, start, stop, tile, product, best, second, arg):
    """Nearest of the centres `start` to `stop` to the rows of a tile, in units of ½ squared distance less ½‖x‖²."""
    n_rows = len(tile)
    best[:] = np.inf
    second[:] = np.inf
    for first in range(start, stop, STRETCH):
        m = min(STRETCH, stop - first)
        part = product[: m * n_rows].reshape(m, n_rows)
        np.dot(center[first : first + m], tile.T, part)
        _two_least(part, half, first, best, second, arg)


@jit
def _two_least(product, half, first, best, second, arg):
    n_centers, n_rows = product.shape
    for k in range(n_centers):
        row = product[k]
        base, name = half[first + k], np.int32(first + k)
        for r in range(n_rows):
            value = base - row[r]
            second[r] = min(second[r], max(best[r], value))
            arg[r] = name if value < best[r] else arg[r]
            best[r] = min(best[r], value)


@jit
def _two_nearest(x, center, start, stop):
    """The nearest centre, its squared distance and that of the second nearest, without expanding a square."""
    best, second, arg = np.inf, np.inf, start
    for k in range(start, stop):
        value = _square(x, center[k])
        second = min(second, max(best, value))
        arg = k if value < best else arg
        best = min(best, value)
    return arg, best, second


@jit
def _search_groups(center, half, starts, tile, norm, at, labels, upper, lower, product, best, second, arg):
    """As `_search` over the groups that may hold the nearest centre of a row; the bounds of the rows become tight."""
    n_rows, n_groups = len(at), len(starts) - 1
    rounding, longest = 2.0 * ROUNDING * np.finfo(tile.dtype).eps, 2.0 * half.max()
    found, target = np.empty(n_rows, np.float32), np.empty(n_rows, np.int32)
    # A single group is searched for every row of the tile: whose bounds do not overlap is not in it.
    part = tile if n_groups == 1 else np.empty_like(tile)
    place = np.empty(n_rows, np.int32)
    for r in range(n_rows):
        target[r] = labels[at[r]]
        found[r] = upper[at[r]] if target[r] >= 0 else np.float32(np.inf)
    for g in range(n_groups):
        m = 0
        for r in range(n_rows):
            if n_groups == 1:
                place[m] = r
                m += 1
            elif target[r] < 0 or lower[at[r], g] < found[r]:
                place[m] = r
                part[m] = tile[r]
                m += 1
        if m == 0:
            continue
        _search(center, half, starts[g], starts[g + 1], part[:m], product, best[:m], second[:m], arg[:m])
        for q in range(m):
            r = place[q]
            error = rounding * (norm[r] + longest)
            name, square, other = arg[q], 2.0 * best[q] + norm[r], 2.0 * second[q] + norm[r]
            if square - error < found[r] * found[r]:
                if other - square < 2.0 * error:
                    name, square, other = _two_nearest(part[q], center, starts[g], starts[g + 1])
                else:
                    square = _square(part[q], center[name])
                nearest = np.float32(math.sqrt(square))
                if name == target[r] or nearest * UP < found[r]:
                    if name != target[r]:
                        _leave(starts, target[r], g, lower[at[r]], found[r])
                        target[r] = name
                    found[r] = nearest * UP
                    square = other
            lower[at[r], g] = np.float32(math.sqrt(max(square - error, 0.0))) * DOWN
    for r in range(n_rows):
        upper[at[r]] = found[r]
        arg[r] = target[r]


@jit
def _leave(starts, k, g, lower, distance):
    """A row leaves centre k, which is from now on one of the others of its group, unless that is the group g at hand."""
    if k >= 0 and not starts[g] <= k < starts[g + 1]:
        h = np.searchsorted(starts, k, side="right") - 1
        lower[h] = min(lower[h], distance * DOWN * DOWN)


@jit_sums
def _move(x, weight, old, new, anchor, counts, sums):
    """Take a row from one centre's sums to another's; the change of Σ w ‖x − anchor‖²."""
    change = 0.0
    if old >= 0:
        total = 0.0
        for j in range(len(x)):
            step = x[j] - anchor[old, j]
            sums[old, j] -= weight * step
            total += step * step
        counts[old] -= weight
        change -= weight * total
    total = 0.0
    for j in range(len(x)):
        step = x[j] - anchor[new, j]
        sums[new, j] += weight * step
        total += step * step
    counts[new] += weight
    return change + weight * total


@jit
def lloyd_cells(X, rows, weight, origin, center, labels, counts, cells, sums):
    """One pass over rows with missing cells; a row's distance is that over its observed cells times d over their number.

    Parameters
    ----------
    X, rows, weight, origin, center
        As in `lloyd`.
    labels : (n,) int32
        Set to the nearest centres of `rows`.
    counts : (K,) float64
        Σ w over the rows of each centre is added.
    cells, sums : (K, d) float64
        Σ w s and Σ w s (x − origin) over the observed cells of each centre are added, s = d over the observed cells of a row.

    Returns
    -------
    float
        Σ w s ‖x − c‖² over observed cells.
    """
    d = X.shape[1]
    tile, seen = np.empty((TILE, d), X.dtype), np.empty((TILE, d), X.dtype)
    product, other = np.empty(STRETCH * TILE, X.dtype), np.empty(STRETCH * TILE, X.dtype)
    best, second, arg = np.empty(TILE, X.dtype), np.empty(TILE, X.dtype), np.empty(TILE, np.int32)
    half, zero = (0.5 * center * center).astype(X.dtype), np.zeros(len(center), X.dtype)
    total = 0.0
    for a in range(0, len(rows), TILE):
        n = min(TILE, len(rows) - a)
        for r in range(n):
            for j in range(d):
                x = X[rows[a + r], j] - origin[j]
                seen[r, j] = 0.0 if math.isnan(x) else 1.0
                tile[r, j] = 0.0 if math.isnan(x) else x
        best[:] = np.inf
        for first in range(0, len(center), STRETCH):
            m = min(STRETCH, len(center) - first)
            part, squares = product[: m * n].reshape(m, n), other[: m * n].reshape(m, n)
            np.dot(center[first : first + m], tile[:n].T, part)
            np.dot(half[first : first + m], seen[:n].T, squares)
            part -= squares
            _two_least(part, zero, first, best[:n], second[:n], arg[:n])
        for r in range(n):
            k = labels[a + r] = arg[r]
            total += _add_cells(tile[r], seen[r], weight[rows[a + r]], center[k], counts[k : k + 1], cells[k], sums[k])
    return total


@jit
def _add_cells(x, seen, weight, center, count, cells, sums):
    """Add a row to the sums of its centre; its weighted and scaled squared distance."""
    d = len(x)
    share = weight * d / max(seen.sum(), 1.0)
    total = 0.0
    for j in range(d):
        step = np.float64(x[j]) - center[j]
        total += seen[j] * step * step
        cells[j] += share * seen[j]
        sums[j] += share * x[j]
    count[0] += weight
    return share * total
