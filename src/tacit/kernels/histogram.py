"""Growing a tree on histograms: sums of gradients g and curvatures h by column and bin, and the splits that gain most by them.

    gain = G_L² / (H_L + λ) + G_R² / (H_R + λ) − G² / (H + λ),    value = −G / (H + λ)

Gradients are whole numbers of a fixed unit. Sums of them are exact, so that neither threads nor the order of rows matter, and
the histogram of a larger child is exactly that of its parent less that of its smaller sibling. A row has its gradient and, in
one word, its curvature and a one that counts it, or three words where rows are few; eight bins of a row are one word, and a
histogram of eight columns stays in the first cache. Every thread keeps rows of its own, which it alone sorts into children.
"""

from typing import Any, NamedTuple

import numpy as np

from .jit import jit, prefetch

__all__ = ["NODE", "RULES", "Growth", "begin", "divide", "grow", "histogram", "settle", "spread", "walk"]

COUNT_BITS = 17
"""Of a packed word, those that count rows: of up to FLUSH of them."""
FLUSH = 1 << 16
CHUNK = 256
AHEAD = 32
TINY = 1e-15
ROUNDING = 1e-10
SUPPORT = 10.0
"""Rows that a level needs to be in a set, and by which ratios of gradients are held near 0."""
NUMBER, LEVELS = 0, 1
NODE = np.dtype([
    ("feature", "i4"), ("cut", "i4"), ("left", "i4"), ("right", "i4"), ("depth", "i4"), ("slot", "i4"),
    ("missing_left", "i1"), ("by_set", "i1"), ("wanted", "i1"),
    ("count", "i8"), ("g", "i8"), ("h", "i8"), ("left_count", "i8"), ("left_g", "i8"), ("left_h", "i8"),
    ("value", "f8"), ("low", "f8"), ("high", "f8"), ("gain", "f8"),
])  # fmt: skip
RULES = np.dtype([
    ("max_leaves", "i8"), ("max_depth", "i8"), ("min_rows", "i8"), ("min_hessian", "f8"), ("l2", "f8"), ("share", "f8"),
    ("g_unit", "f8"), ("h_unit", "f8"), ("bounded", "i1"), ("state", "u8"),
])  # fmt: skip
N_NODES, N_LEAVES, N_OPEN, N_FREE = range(4)


class Growth(NamedTuple):
    """What a tree is grown from and by; n rows, d columns, b bins with the one of missing cells last, T threads."""

    words: Any  # (n, w) of uint64: eight bins each
    columns: Any  # (d, n) of uint8: the same, column by column
    gradients: Any  # (n, 1), (n, 2) or (n, 3) of int64: with one, curvature is 1 of every row
    n_bins: Any  # (d,) of bins that are not the missing one
    kind: Any  # (d,): NUMBER or LEVELS
    sign: Any  # (d,): monotone constraints
    groups: Any  # (q, d) of bool: columns that may be asked for together
    rules: Any  # (1,) of RULES
    nodes: Any  # of NODE
    sets: Any  # (nodes, 8) of uint32: bins that go left
    allowed: Any  # (nodes, q) of bool: groups that have all columns asked for above
    open: Any  # numbers of nodes that may be split
    free: Any  # histograms that are not in use
    counts: Any  # N_NODES, …
    histograms: Any  # (slots, d, b, 3): g, h, rows
    rows: Any  # (n,) of uint32
    buffer: Any  # the same
    bounds: Any  # (T, nodes, 2): where the rows of a node begin and end, of each thread
    parts: Any  # (T, d, b, 3)
    packed: Any  # (T, w, 8, 256, 1 or 2)


@jit
def _add_pairs(words, gradients, rows, start, stop, packed):
    """Packed sums of gradients and of curvatures with counts."""
    n_words, last = words.shape[1], stop - 1
    pairs, cells = np.empty((CHUNK, 2), np.int64), np.empty((n_words, CHUNK), np.uint64)
    for s in range(start, stop, CHUNK):
        e = min(s + CHUNK, stop)
        for i in range(s, e):
            later = np.intp(rows[min(i + AHEAD, last)])
            prefetch(gradients, later)  # type: ignore[call-arg]
            prefetch(words, later)  # type: ignore[call-arg]
            r = rows[i]
            pairs[i - s, 0], pairs[i - s, 1] = gradients[r, 0], gradients[r, 1]
            for w in range(n_words):
                cells[w, i - s] = words[r, w]
        for w in range(n_words):
            table, column = packed[w], cells[w]
            for i in range(e - s):
                word, g, h = column[i], pairs[i, 0], pairs[i, 1]
                for k in range(8):
                    code = np.int64((word >> np.uint64(8 * k)) & np.uint64(255))
                    table[k, code, 0] += g
                    table[k, code, 1] += h


@jit
def _add_singles(words, gradients, rows, start, stop, packed):
    """Packed sums of gradients with counts."""
    n_words, last = words.shape[1], stop - 1
    singles, cells = np.empty(CHUNK, np.int64), np.empty((n_words, CHUNK), np.uint64)
    for s in range(start, stop, CHUNK):
        e = min(s + CHUNK, stop)
        for i in range(s, e):
            later = np.intp(rows[min(i + AHEAD, last)])
            prefetch(gradients, later)  # type: ignore[call-arg]
            prefetch(words, later)  # type: ignore[call-arg]
            r = rows[i]
            singles[i - s] = gradients[r, 0]
            for w in range(n_words):
                cells[w, i - s] = words[r, w]
        for w in range(n_words):
            table, column = packed[w], cells[w]
            for i in range(e - s):
                word, g = column[i], singles[i]
                for k in range(8):
                    code = np.int64((word >> np.uint64(8 * k)) & np.uint64(255))
                    table[k, code, 0] += g


@jit
def _add_triples(words, gradients, rows, start, stop, out):
    """Sums of gradients, curvatures and ones, each a word of its own."""
    d = out.shape[0]
    for i in range(start, stop):
        r = rows[i]
        g, h, one = gradients[r, 0], gradients[r, 1], gradients[r, 2]
        for j in range(d):
            code = np.int64((words[r, j >> 3] >> np.uint64(8 * (j & 7))) & np.uint64(255))
            out[j, code, 0] += g
            out[j, code, 1] += h
            out[j, code, 2] += one


@jit
def _unpack(packed, out):
    """Move packed sums to (d, b, 3), and empty them; codes from the last on are those of missing cells, which come last."""
    mask, both = (1 << COUNT_BITS) - 1, packed.shape[3] == 2
    for j in range(out.shape[0]):
        table = packed[j // 8, j % 8]
        for code in range(out.shape[1]):
            g, told = table[code, 0], table[code, packed.shape[3] - 1]
            rows = told & mask
            if rows:
                out[j, code, 2] += rows
                if both:
                    out[j, code, 0] += g
                    out[j, code, 1] += told >> COUNT_BITS
                else:
                    out[j, code, 0] += g >> COUNT_BITS
                    out[j, code, 1] += rows
                table[code, :] = 0
    for j in range(out.shape[0], 8 * packed.shape[0]):
        packed[j // 8, j % 8, 0, :] = 0  # what fills up the last word


@jit
def histogram(words, gradients, rows, start, stop, packed, out):
    """Sums of gradients and curvatures, and numbers of rows, by column and bin, of rows[start:stop].

    Parameters
    ----------
    words : (n, w) array of uint64
        Eight bins of a row each.
    gradients : (n, 1), (n, 2) or (n, 3) array of int64
        Gradient · 2¹⁷ + 1; the gradient and curvature · 2¹⁷ + 1; or gradient, curvature and 1.
    rows : (m,) array of uint32
    start, stop : int
    packed : (w, 8, 256, 1 or 2) array of int64
        Room for work, zero before and after.
    out : (d, b, 3) array of int64
        Gradients, curvatures and rows.
    """
    out[:] = 0
    if gradients.shape[1] == 3:
        _add_triples(words, gradients, rows, start, stop, out)
        return
    for s in range(start, stop, FLUSH):
        e = min(s + FLUSH, stop)
        if gradients.shape[1] == 2:
            _add_pairs(words, gradients, rows, s, e, packed)
        else:
            _add_singles(words, gradients, rows, s, e, packed)
        _unpack(packed, out)


@jit
def _drawn(rules):
    """A random number from 0 to 1, by which the state moves on (splitmix64)."""
    rules[0].state += np.uint64(0x9E3779B97F4A7C15)
    z = rules[0].state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@jit
def _columns(growth, i):
    """Which columns a node may ask for: those of its groups, or as many of them as a share says."""
    d, rules = len(growth.n_bins), growth.rules[0]
    chosen, n = np.zeros(d, np.bool_), 0
    for j in range(d):
        for q in range(growth.groups.shape[0]):
            if growth.allowed[i, q] and growth.groups[q, j]:
                chosen[j] = True
        n += chosen[j]
    if rules.share < 1.0 and n:
        left, wanted = n, max(1, int(np.ceil(rules.share * n)))
        for j in range(d):  # each with the probability that fills what is wanted from those that are left
            if chosen[j]:
                chosen[j] = _drawn(growth.rules) * left < wanted
                wanted -= chosen[j]
                left -= 1
    return chosen


@jit
def _value(g, h, l2, low, high):
    return min(max(-g / (h + l2 + TINY), low), high)


@jit
def _note(node, gain, feature, cut, missing_left, by_set, count, g, h):
    """Keep a split of a node."""
    node.gain, node.feature, node.cut, node.missing_left, node.by_set = gain, feature, cut, missing_left, by_set
    node.left_count, node.left_g, node.left_h = count, g, h


@jit
def _gain(node, rules, g, h, sign):
    """What a split gains whose left child has sums g and h, and how much of it may be rounding.

    −1 where it breaks a constraint, or a child is too light. Splits into the same rows gain the same but for rounding, and the
    first of them is to be taken whatever the units.
    """
    left_h, right_h = h * rules.h_unit, (node.h - h) * rules.h_unit
    if left_h < rules.min_hessian or right_h < rules.min_hessian:
        return -1.0, 0.0
    left_g, right_g = g * rules.g_unit, (node.g - g) * rules.g_unit
    all_g = left_g + right_g
    if not rules.bounded:
        a, b = left_h + rules.l2 + TINY, right_h + rules.l2 + TINY
        parts = (left_g * left_g * b + right_g * right_g * a) / (a * b)
        return parts - all_g * all_g / (left_h + right_h + rules.l2 + TINY), ROUNDING * parts
    left = _value(left_g, left_h, rules.l2, node.low, node.high)
    right = _value(right_g, right_h, rules.l2, node.low, node.high)
    if sign * (left - right) > 0.0:
        return -1.0, 0.0
    gain = all_g * node.value - left_g * left - right_g * right
    return gain, ROUNDING * (abs(left_g * left) + abs(right_g * right))


@jit
def _by_number(node, rules, table, j, n_bins, sign):
    """The best cut of a column of numbers, with missing cells right and then left; those are in the last bin."""
    last = table.shape[0] - 1
    missing = table[last, 2]
    for side in range(2 if missing else 1):
        g = h = count = np.int64(0)
        if side:
            g, h, count = table[last, 0], table[last, 1], missing
        for b in range(n_bins if missing and not side else n_bins - 1):
            if table[b, 2] == 0:
                continue  # as good as the cut before
            g, h, count = g + table[b, 0], h + table[b, 1], count + table[b, 2]
            if count < rules.min_rows:
                continue
            if node.count - count < rules.min_rows:
                break
            gain, rounding = _gain(node, rules, g, h, sign)
            if gain - rounding > node.gain:
                left = side if missing else np.int64(2 * count > node.count)
                _note(node, gain, j, b, left, 0, count, g, h)


@jit
def _by_levels(node, rules, table, j, n_bins, bits):
    """The best set of levels: some that come first, or last, in the order of their ratios of gradients."""
    last, n = table.shape[0] - 1, 0
    order, ratio = np.empty(last + 1, np.int64), np.empty(last + 1)
    factor = node.count / max(node.h * rules.h_unit, TINY)
    for b in range(last + 1):
        h = table[b, 1] * rules.h_unit
        if (b < n_bins or b == last) and table[b, 2] and h * factor >= SUPPORT:
            own, place = table[b, 0] * rules.g_unit / (h + SUPPORT), n
            while place > 0 and ratio[place - 1] > own:
                ratio[place], order[place] = ratio[place - 1], order[place - 1]
                place -= 1
            ratio[place], order[place] = own, b
            n += 1
    best, way, kept = node.gain, 0, 0
    if n < 2:
        return
    for side in range(2):
        g = h = count = np.int64(0)
        for k in range((n + 1) // 2):
            b = order[k] if side == 0 else order[n - 1 - k]
            g, h, count = g + table[b, 0], h + table[b, 1], count + table[b, 2]
            if count < rules.min_rows:
                continue
            if node.count - count < rules.min_rows:
                break
            gain, rounding = _gain(node, rules, g, h, 0)
            if gain - rounding > node.gain:
                _note(node, gain, j, 0, 0, 1, count, g, h)
                way, kept = side, k + 1
    if node.gain > best:
        bits[:] = 0
        node.missing_left = 0 if table[last, 2] else np.int64(2 * node.left_count > node.count)
        for k in range(kept):
            b = order[k] if way == 0 else order[n - 1 - k]
            if b == last:
                node.missing_left = 1
            else:
                bits[b // 32] |= np.uint32(1) << np.uint32(b % 32)


@jit
def _find(growth, i):
    """The best split of a node by its histogram; the node is then open, or its histogram free."""
    node, table, rules = growth.nodes[i], growth.histograms[growth.nodes[i].slot], growth.rules[0]
    node.gain, node.feature = 0.0, -1
    chosen = _columns(growth, i)
    for j in range(len(growth.n_bins)):
        if chosen[j] and growth.kind[j] == NUMBER:
            _by_number(node, rules, table[j], j, growth.n_bins[j], growth.sign[j])
        elif chosen[j]:
            _by_levels(node, rules, table[j], j, growth.n_bins[j], growth.sets[i])
    if node.feature >= 0:
        growth.open[growth.counts[N_OPEN]] = i
        growth.counts[N_OPEN] += 1
    else:
        node.gain = 0.0
        _release(growth, i)


@jit
def _release(growth, i):
    growth.free[growth.counts[N_FREE]] = growth.nodes[i].slot
    growth.counts[N_FREE] += 1
    growth.nodes[i].slot = -1


@jit
def _may_split(growth, node):
    rules = growth.rules[0]
    return (
        node.depth < rules.max_depth and node.count >= 2 * rules.min_rows and node.h * rules.h_unit >= rules.min_hessian
    )


@jit
def begin(growth, n_rows):
    """Make the root of the first `n_rows` of rows, of which every thread has an equal part."""
    n_threads = growth.bounds.shape[0]
    for t in range(n_threads):
        growth.bounds[t, 0, 0], growth.bounds[t, 0, 1] = n_rows * t // n_threads, n_rows * (t + 1) // n_threads
    growth.counts[N_NODES], growth.counts[N_LEAVES], growth.counts[N_OPEN] = 1, 1, 0
    growth.counts[N_FREE] = len(growth.free)
    for k in range(len(growth.free)):
        growth.free[k] = k
    growth.allowed[0, :] = True
    root = growth.nodes[0]
    root.depth, root.low, root.high, root.left, root.right, root.count = 0, -np.inf, np.inf, 1, -1, n_rows


@jit
def _choose(growth):
    """The open node that gains most, which becomes two; −1 where no more are to be."""
    counts, rules = growth.counts, growth.rules[0]
    if counts[N_OPEN] == 0 or counts[N_LEAVES] >= rules.max_leaves:
        return -1
    place = counts[N_OPEN] - 1
    if rules.max_leaves < len(growth.nodes):  # else all will be split, the latest first, which takes least room
        for k in range(counts[N_OPEN] - 1, -1, -1):
            gain, best = growth.nodes[growth.open[k]].gain, growth.nodes[growth.open[place]].gain
            if gain > best or (gain == best and growth.open[k] < growth.open[place]):
                place = k
    i = growth.open[place]
    counts[N_OPEN] -= 1
    growth.open[place] = growth.open[counts[N_OPEN]]
    _split(growth, i)
    return i


@jit
def _split(growth, i):
    """Make the children of a node."""
    counts, rules, node = growth.counts, growth.rules[0], growth.nodes[i]
    a = counts[N_NODES]
    counts[N_NODES] += 2
    counts[N_LEAVES] += 1
    node.left, node.right = a, a + 1
    left, right = growth.nodes[a], growth.nodes[a + 1]
    left.count, left.g, left.h = node.left_count, node.left_g, node.left_h
    right.count, right.g, right.h = node.count - left.count, node.g - left.g, node.h - left.h
    middle = 0.0
    for k in range(2):
        child = growth.nodes[a + k]
        child.feature, child.left, child.right, child.slot, child.gain = -1, -1, -1, -1, 0.0
        child.depth, child.low, child.high = node.depth + 1, node.low, node.high
        child.value = _value(child.g * rules.g_unit, child.h * rules.h_unit, rules.l2, node.low, node.high)
        middle += 0.5 * child.value
        child.wanted = counts[N_LEAVES] < rules.max_leaves and _may_split(growth, child)
        for q in range(growth.groups.shape[0]):
            growth.allowed[a + k, q] = growth.allowed[i, q] and growth.groups[q, node.feature]
    sign = growth.sign[node.feature]
    if sign > 0:
        left.high, right.low = middle, middle
    elif sign < 0:
        left.low, right.high = middle, middle


@jit
def _goes_left(node, bits, code, missing):
    if code == missing:
        return node.missing_left != 0
    if node.by_set:
        return (bits[code // 32] >> np.uint32(code % 32)) & np.uint32(1) != 0
    return code <= node.cut


@jit
def divide(growth, t, i):
    """Sort a thread's rows of a node into its children, and add up the histogram of the smaller one."""
    node, rows, buffer = growth.nodes[i], growth.rows, growth.buffer
    start, stop = growth.bounds[t, i, 0], growth.bounds[t, i, 1]
    column, missing, bits = growth.columns[node.feature], growth.histograms.shape[2] - 1, growth.sets[i]
    at, kept = start, start
    if node.by_set:
        for k in range(start, stop):
            r = rows[k]
            left = _goes_left(node, bits, np.int64(column[r]), missing)
            rows[at] = r
            buffer[kept] = r
            at += left
            kept += not left
    else:
        cut, gone, missing_left = node.cut, np.uint8(missing), node.missing_left != 0
        for k in range(start, stop):  # written to both, of which one is kept: rows go either way without any rule
            r = rows[k]
            code = column[r]
            left = (code <= cut) & (code != gone) | ((code == gone) & missing_left)
            rows[at] = r
            buffer[kept] = r
            at += left
            kept += not left
    rows[at:stop] = buffer[start:kept]
    a = node.left
    growth.bounds[t, a, 0], growth.bounds[t, a, 1] = start, at
    growth.bounds[t, a + 1, 0], growth.bounds[t, a + 1, 1] = at, stop
    if growth.nodes[a].wanted or growth.nodes[a + 1].wanted:
        small = a if growth.nodes[a].count <= growth.nodes[a + 1].count else a + 1
        count(growth, t, small)


@jit
def count(growth, t, i):
    """The histogram of a thread's rows of a node."""
    start, stop = growth.bounds[t, i, 0], growth.bounds[t, i, 1]
    histogram(growth.words, growth.gradients, growth.rows, start, stop, growth.packed[t], growth.parts[t])


@jit
def _take(growth, i):
    """Give a node the histogram that the threads added up."""
    growth.counts[N_FREE] -= 1
    slot = growth.free[growth.counts[N_FREE]]
    growth.nodes[i].slot = slot
    out, parts = growth.histograms[slot], growth.parts
    for j in range(out.shape[0]):
        for b in range(out.shape[1]):
            for k in range(3):
                total = parts[0, j, b, k]
                for t in range(1, parts.shape[0]):
                    total += parts[t, j, b, k]
                out[j, b, k] = total
    return slot


@jit
def settle(growth, i):
    """Find the splits of a node's children, whose rows the threads have sorted; of the root itself where `i` is −1."""
    if i < 0:
        slot, root, rules = _take(growth, 0), growth.nodes[0], growth.rules[0]
        root.g = growth.histograms[slot, 0, :, 0].sum()
        root.h = growth.histograms[slot, 0, :, 1].sum()
        root.value = _value(root.g * rules.g_unit, root.h * rules.h_unit, rules.l2, root.low, root.high)
        root.left, root.right, root.feature, root.gain = -1, -1, -1, 0.0
        if _may_split(growth, root) and rules.max_leaves > 1:
            _find(growth, 0)
        return
    node = growth.nodes[i]
    a = node.left
    if not (growth.nodes[a].wanted or growth.nodes[a + 1].wanted):
        _release(growth, i)
        return
    small = a if growth.nodes[a].count <= growth.nodes[a + 1].count else a + 1
    large = 2 * a + 1 - small
    slot = _take(growth, small)
    mine, other = growth.histograms[node.slot], growth.histograms[slot]
    for j in range(mine.shape[0]):
        for b in range(mine.shape[1]):
            for k in range(3):
                mine[j, b, k] -= other[j, b, k]
    growth.nodes[large].slot, node.slot = node.slot, -1
    for child in (large, small):  # the smaller is then split first
        if growth.nodes[child].wanted:
            _find(growth, child)
        else:
            _release(growth, child)


@jit
def grow(growth, few):
    """Split nodes of at most so many rows, one after the other; the next that has more, which is made two, or −1 at the end."""
    i = _choose(growth)
    while i >= 0 and growth.nodes[i].count <= few:
        for t in range(growth.bounds.shape[0]):
            divide(growth, t, i)
        settle(growth, i)
        i = _choose(growth)
    return i


@jit
def spread(growth, t, raw):
    """Add the values of leaves to what is predicted of a thread's rows."""
    for i in range(growth.counts[N_NODES]):
        if growth.nodes[i].left < 0:
            value = growth.nodes[i].value
            for k in range(growth.bounds[t, i, 0], growth.bounds[t, i, 1]):
                raw[growth.rows[k]] += value


@jit
def walk(nodes, sets, codes, missing, raw):
    """Add the values of a tree's leaves to what is predicted of rows by their bins."""
    for r in range(len(codes)):
        i = 0
        while nodes[i].left >= 0:
            node = nodes[i]
            i = node.left if _goes_left(node, sets[i], np.int64(codes[r, node.feature]), missing) else node.right
        raw[r] += nodes[i].value
