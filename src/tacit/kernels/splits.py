"""The split search of one node: rows are sorted by the rank of a column's values, and every cut between two values is scored.

A score is by how much a cut lowers weight × impurity. Of squared error, with y about the mean of the node, it is
s² W / (w (W − w)), where w and s are Σ weight and Σ weight·y of the rows that go left; the Gini index is that of indicators.
"""

import numpy as np

from .jit import inner, jit

__all__ = [
    "ABSOLUTE",
    "ENTROPY",
    "GAIN_RATIO",
    "GINI",
    "MISCLASSIFICATION",
    "POISSON",
    "SQUARED",
    "absolute_losses",
    "allowed",
    "ascending",
    "gain",
    "impurity",
    "median_loss",
    "middle_of_medians",
    "scan",
    "scan_absolute",
    "scan_scalar",
    "sort_keys",
]  # fmt: skip

SQUARED, GINI, ENTROPY, MISCLASSIFICATION, GAIN_RATIO, POISSON, ABSOLUTE = range(7)
RANK = np.uint64(32)  # the bit of a key at which the rank begins; below it stands the place of the row in the node
PLACE = np.uint64(0xFFFFFFFF)
FEW = 32
DIGIT = 11  # most bits by which keys are sorted at once


@inner
def sort_keys(keys, other, n, low, high, counts):
    """Bring the first n keys into the order of their ranks, low to high; 1 where they come in `other`, else 0."""
    if n <= FEW:
        for i in range(1, n):
            key, j = keys[i], i - 1
            while j >= 0 and keys[j] > key:
                keys[j + 1] = keys[j]
                j -= 1
            keys[j + 1] = key
        return 0
    span, bits = high - low, 0
    while span >> bits:
        bits += 1
    most, size = 6, n >> 6
    while size > 1 and most < DIGIT:
        most, size = most + 1, size >> 1
    passes = max(1, -(-bits // most))
    digit = -(-bits // passes)
    mask, base = np.uint64((1 << digit) - 1), np.uint64(low)
    for step in range(passes):
        shift = np.uint64(step * digit)
        counts[: 1 << digit] = 0
        for i in range(n):
            counts[(((keys[i] >> RANK) - base) >> shift) & mask] += 1
        total = 0
        for b in range(1 << digit):
            counts[b], total = total, total + counts[b]
        for i in range(n):
            b = (((keys[i] >> RANK) - base) >> shift) & mask
            other[counts[b]] = keys[i]
            counts[b] += 1
        keys, other = other, keys
    return passes & 1


@inner
def allowed(left, right, cst, lower, upper):
    """Whether the values of two children keep to a monotone constraint and to the bounds of those above."""
    inside = lower <= left <= upper and lower <= right <= upper
    return inside and (right - left) * cst >= 0


@inner
def scan_scalar(
    keys,
    n,
    weight,
    moment,
    W,
    S,
    w_missing,
    s_missing,
    n_missing,
    least_rows,
    least_weight,
    slack,
    mean,
    cst,
    lower,
    upper,
    both,
):
    """The best cut of n sorted rows by squared error: (gain, place, whether missing cells go left); place −1 where there is none.

    `moment` is weight·(y − mean) of the node's rows, W and S the sums over those that count, `w_missing` and
    `s_missing` over those without a value. A cut after the last row parts observed from missing cells.
    """
    best, place, to_left = -np.inf, -1, False
    bounded, offset = cst != 0 or lower > -np.inf or upper < np.inf, S / W
    for turn in range(2 if n_missing and both else 1):
        w, s, extra = 0.0, 0.0, 0
        if turn:
            w, s, extra = w_missing, s_missing, n_missing
        last = n if n_missing and both and not turn else n - 1
        for i in range(last):
            at = keys[i] & PLACE
            w += weight[at]
            s += moment[at]
            if i + 1 < n and keys[i] >> RANK == keys[i + 1] >> RANK:
                continue
            rows = i + 1 + extra
            if rows < least_rows or n + (n_missing if both else 0) - rows < least_rows:
                continue
            rest = W - w
            if w < least_weight or rest < least_weight:
                continue
            apart = s - offset * w
            found = apart * apart * W / (w * rest)
            if found > best + slack and (
                not bounded or allowed(mean + s / w, mean + (S - s) / rest, cst, lower, upper)
            ):
                best, place, to_left = found, i, turn == 1
    return best, place, to_left


@inner
def _xlog(x):
    return x * np.log2(x) if x > 0 else 0.0


@inner
def impurity(criterion, total, W, n_outputs):
    """The impurity of sums of classes, averaged over outputs."""
    width, found = len(total) // n_outputs, 0.0
    for o in range(n_outputs):
        part = total[o * width : (o + 1) * width]
        if criterion == GINI:
            found += 1.0
            for k in range(width):
                found -= part[k] / W * (part[k] / W)
        elif criterion == MISCLASSIFICATION:
            most = 0.0
            for k in range(width):
                most = max(most, part[k])
            found += 1.0 - most / W
        else:
            for k in range(width):
                found -= _xlog(part[k] / W)
    return max(found, 0.0) / n_outputs


@inner
def gain(criterion, left, total, w, W, n_outputs):
    """By how much a cut lowers W × impurity, of the sums of what goes left and of all; −∞ where it cannot be."""
    rest, width, found = W - w, len(total) // n_outputs, 0.0
    if criterion in (SQUARED, GINI):
        for k in range(len(total)):
            apart = left[k] * W - total[k] * w
            found += apart * apart
        return found / (w * rest * W) / n_outputs
    if criterion == POISSON:
        for k in range(len(total)):
            right = total[k] - left[k]
            if not (left[k] > 1e-12 * total[k] and right > 1e-12 * total[k]):
                return -np.inf
            found += left[k] * np.log(left[k] / w) + right * np.log(right / rest) - total[k] * np.log(total[k] / W)
        return found / n_outputs
    for o in range(n_outputs):
        if criterion == MISCLASSIFICATION:
            a, b, c = 0.0, 0.0, 0.0
            for k in range(o * width, (o + 1) * width):
                a, b, c = max(a, left[k]), max(b, total[k] - left[k]), max(c, total[k])
            found += a + b - c
        else:
            for k in range(o * width, (o + 1) * width):
                found += _xlog(left[k]) + _xlog(total[k] - left[k]) - _xlog(total[k])
            found += _xlog(W) - _xlog(w) - _xlog(rest)
    return max(found, 0.0) / n_outputs


@inner
def _add(left, codes, y, at, weight, width):
    """Add a row to sums: its weight to those of its classes, or weight × y."""
    if width:
        for o in range(len(codes)):
            left[o * width + codes[o, at]] += weight
    else:
        for o in range(len(y)):
            left[o] += weight * y[o, at]


@inner
def scan(
    criterion, keys, n, weights, codes, y, width, left, total, W, missing, w_missing, n_missing, least_rows, least_weight,
    slack, cst, lower, upper, both,
):  # fmt: skip
    """As `scan_scalar`, of any criterion of sums; `codes`, `y` and `weights` begin at the node."""
    best, place, to_left = -np.inf, -1, False
    bounded = cst != 0 or lower > -np.inf or upper < np.inf
    n_outputs, own = (len(codes) if width else len(y)), 1 if width else 0
    for turn in range(2 if n_missing and both else 1):
        w, extra = 0.0, 0
        left[:] = 0.0
        if turn:
            w, extra = w_missing, n_missing
            for k in range(len(left)):
                left[k] = missing[k]
        last = n if n_missing and both and not turn else n - 1
        for i in range(last):
            at = np.int64(keys[i] & PLACE)
            weight = weights[at]
            w += weight
            _add(left, codes, y, at, weight, width)
            if i + 1 < n and keys[i] >> RANK == keys[i + 1] >> RANK:
                continue
            rows = i + 1 + extra
            if rows < least_rows or n + (n_missing if both else 0) - rows < least_rows:
                continue
            if w < least_weight or W - w < least_weight:
                continue
            found = gain(criterion, left, total, w, W, n_outputs)
            if found > best + slack and (
                not bounded or allowed(left[own] / w, (total[own] - left[own]) / (W - w), cst, lower, upper)
            ):
                best, place, to_left = found, i, turn == 1
    return best, place, to_left


@inner
def _enter(tree, weighted, at, weight, value):
    """Add a row of that rank to two Fenwick trees, of weights and of weight × value."""
    at += 1
    while at < len(tree):
        tree[at] += weight
        weighted[at] += weight * value
        at += at & -at


@inner
def _median(tree, weighted, half):
    """The rank at which the cumulated weight reaches a half, and the weight and weight × value of the ranks below."""
    at, below, moment, step = 0, 0.0, 0.0, 1
    while step * 2 < len(tree):
        step *= 2
    while step:
        if at + step < len(tree) and below + tree[at + step] < half * (1 - 1e-12):
            at += step
            below += tree[at]
            moment += weighted[at]
        step //= 2
    return at, below, moment


@jit
def absolute_losses(order, weight, rank, level, out, reverse):
    """out[i] = the least Σ weight·|y − m| of the first i + 1 rows in an order, or of the last ones; `level` are y by rank."""
    n = len(order)
    tree, weighted = np.zeros(len(level) + 1), np.zeros(len(level) + 1)
    W = moment = 0.0
    for t in range(n):
        i = n - 1 - t if reverse else t
        at = np.int64(order[i] & PLACE)
        w, value = weight[at], level[rank[at]]
        _enter(tree, weighted, rank[at], w, value)
        W += w
        moment += w * value
        middle, below, under = _median(tree, weighted, 0.5 * W)
        m = level[min(middle, len(level) - 1)]
        out[i] = max(m * below - under + (moment - under) - m * (W - below), 0.0)


@inner
def _before(values, a, b):
    return values[a] < values[b] or (values[a] == values[b] and a < b)


@inner
def ascending(values, order):
    """Write the order of values, equal ones as they stand (a heap: NumPy's sorts take seconds to compile)."""
    n = len(values)
    for t in range(n):
        order[t] = t
    start, end = n // 2, n
    while end > 1:
        if start > 0:
            start -= 1
        else:
            end -= 1
            order[0], order[end] = order[end], order[0]
        at = start
        while 2 * at + 1 < end:
            child = 2 * at + 1
            if child + 1 < end and _before(values, order[child], order[child + 1]):
                child += 1
            if not _before(values, order[at], order[child]):
                break
            order[at], order[child] = order[child], order[at]
            at = child


@jit
def median_loss(y, weight):
    """The weighted median of the rows of a node, the middle of two where the weight is cut in half, and Σ weight·|y − m|."""
    order = np.empty(len(y), np.int64)
    ascending(y, order)
    W = 0.0
    for i in range(len(y)):
        W += weight[i]
    below, m = 0.0, y[order[-1]]
    for i in range(len(y)):
        below += weight[order[i]]
        if below >= 0.5 * W * (1 - 1e-12):
            m = y[order[i]]
            if below <= 0.5 * W * (1 + 1e-12) and i + 1 < len(y):
                m = 0.5 * (m + y[order[i + 1]])
            break
    loss = 0.0
    for i in range(len(y)):
        loss += weight[i] * abs(y[i] - m)
    return m, loss


@jit
def middle_of_medians(side, y, weight):
    """The mean of the medians of the rows of side 1 and of the others."""
    left = np.flatnonzero(side == 1)
    right = np.flatnonzero(side != 1)
    return 0.5 * (median_loss(y[left], weight[left])[0] + median_loss(y[right], weight[right])[0])


@jit
def loss_of(keys, n, y, weight):
    """The least Σ weight·|y − m| of the rows of keys, averaged over outputs."""
    rows, loss = np.empty(n, np.int64), 0.0
    for t in range(n):
        rows[t] = keys[t] & PLACE
    for o in range(len(y)):
        loss += median_loss(y[o][rows], weight[rows])[1]
    return loss / len(y)


@jit
def median_of(keys, first, last, y, weight):
    """The median of the rows of some keys."""
    rows = np.empty(last - first, np.int64)
    for t in range(first, last):
        rows[t - first] = keys[t] & PLACE
    return median_loss(y[rows], weight[rows])[0]


@jit
def scan_absolute(keys, n, weight, y, whole, least_rows, least_weight, slack, gone, n_gone, cst, lower, upper, both):
    """As `scan_scalar`, by absolute error; `gone` are the keys of rows without a value, `whole` is the loss of the node."""
    best, place, to_left = -np.inf, -1, False
    size = n + (n_gone if both else 0)
    bounded = cst != 0 or lower > -np.inf or upper < np.inf
    order, first, second = np.empty(size, np.uint64), np.empty(size), np.empty(size)
    for turn in range(2 if n_gone and both else 1):
        # Rows without a value come first where they go left, and last where they go right.
        extra = n_gone if turn else 0
        order[extra : extra + n] = keys[:n]
        if both and n_gone:
            if turn:
                order[:n_gone] = gone[:n_gone]
            else:
                order[n:] = gone[:n_gone]
        losses = np.zeros(size)
        for o in range(len(y)):
            by_y, count = np.empty(y.shape[1], np.int64), 0
            ascending(y[o], by_y)
            levels, rank = np.empty(y.shape[1]), np.empty(y.shape[1], np.int64)
            for i in by_y:
                if not count or y[o, i] != levels[count - 1]:
                    levels[count] = y[o, i]
                    count += 1
                rank[i] = count - 1
            absolute_losses(order, weight, rank, levels[:count], first, False)
            absolute_losses(order, weight, rank, levels[:count], second, True)
            for i in range(size - 1):
                losses[i] += (first[i] + second[i + 1]) / len(y)
        W = 0.0
        for i in range(size):
            W += weight[np.int64(order[i] & PLACE)]
        w = 0.0
        for i in range(size - 1):
            w += weight[np.int64(order[i] & PLACE)]
            at = i - extra
            if at < 0 or at >= n or (at + 1 < n and keys[at] >> RANK == keys[at + 1] >> RANK) or (turn and at == n - 1):
                continue
            if i + 1 < least_rows or size - i - 1 < least_rows or w < least_weight or W - w < least_weight:
                continue
            found = whole - losses[i]
            if found > best + slack and (
                not bounded
                or allowed(
                    median_of(order, 0, i + 1, y[0], weight),
                    median_of(order, i + 1, size, y[0], weight),
                    cst,
                    lower,
                    upper,
                )
            ):
                best, place, to_left = found, at, turn == 1
    return best, place, to_left
