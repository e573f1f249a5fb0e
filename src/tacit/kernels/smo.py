"""Sequential minimal optimisation: max bᵀβ − ε‖β‖₁ − ½ βᵀKβ where l ≤ β ≤ h and Σβ is what it is at the start.

β = p + q with 0 ≤ p ≤ h and l ≤ q ≤ 0. Each step moves two coordinates, one up and one down: the one whose slope is steepest, and
the one that gains most with it by the second order. Slopes are those of F = b − Kβ; what is added to them, ±ε, and ±∞ where a
coordinate is at its end, are `rise` and `fall`. With two groups Σp and Σq are held apart.

The steepest slope is looked for in lanes, one maximum for each place in a strip of rows, since maxima of two arrays are vectors
of the machine and the maximum of one is not; moving F and looking for the next steepest slope are one pass.
"""

import numpy as np

from .jit import jit
from .kernel_rows import TOGETHER, make_rows

__all__ = ["CONVERGED", "SHRINKS", "STOPPED", "UNBOUNDED", "compact", "resting", "smo"]

CONVERGED, STOPPED, UNBOUNDED, SHRINKS = 0, 1, 2, 3
PERIOD = 1000  # steps between looks at what may rest
LEAST = 0.2  # share of coordinates whose rest is worth copying the others


@jit
def _move_strip(force, up, down, step, rise, fall, tops, bottoms):
    for t in range(len(force)):
        f = force[t] - step * (np.float64(up[t]) - np.float64(down[t]))
        force[t] = f
        above, below, top, bottom = f + rise[t], f + fall[t], tops[t], bottoms[t]
        tops[t] = above if above > top else top
        bottoms[t] = below if below < bottom else bottom


@jit
def _move(force, up, down, step, rise, fall, tops, bottoms):
    """F −= step · (up − down); which coordinate then rises most steeply, and which falls so."""
    n, width = len(force), len(tops)
    tops[:], bottoms[:] = -np.inf, np.inf
    for s in range(0, n, width):
        e = min(s + width, n)
        _move_strip(force[s:e], up[s:e], down[s:e], step, rise[s:e], fall[s:e], tops, bottoms)
    i, j = np.argmax(tops), np.argmin(bottoms)
    top, bottom = tops[i], bottoms[j]
    while i < n and force[i] + rise[i] != top:
        i += width
    while j < n and force[j] + fall[j] != bottom:
        j += width
    return i, j, top, bottom


@jit
def _gain_strip(force, fall, row, diagonal, own, top, tiny, start, gains, strips):
    tiny - tiny
    for t in range(len(force)):
        apart = top - (force[t] + fall[t])
        apart = apart if apart > 0.0 else 0.0
        slope = row.dtype.type(apart)
        curvature = own + diagonal[t] - (row[t] + row[t])
        curvature = curvature if curvature > tiny else tiny
        gain = slope * slope / curvature
        best, strip = gains[t], strips[t]
        strips[t] = start if gain > best else strip
        gains[t] = gain if gain > best else best


@jit
def _partner(force, fall, row, diagonal, i, top, tiny, gains, strips):
    """The coordinate that gains most when it goes down while i goes up."""
    n, width = len(force), len(gains)
    gains[:], strips[:] = 0.0, 0
    for s in range(0, n, width):
        e = min(s + width, n)
        _gain_strip(force[s:e], fall[s:e], row[s:e], diagonal[s:e], diagonal[i], top, tiny, np.int32(s), gains, strips)
    lane = np.argmax(gains)
    return strips[lane] + lane


@jit
def _beside_up(wanted, force, rise, tops, places):
    """Numbers whose rows are likely to be needed soon, beside the first: those that rise most steeply in other lanes."""
    width, k = len(tops), 1
    tops[wanted[0] % width] = -np.inf
    for _ in range(2 * TOGETHER):
        lane = np.argmax(tops)
        if k == TOGETHER or tops[lane] == -np.inf:
            break
        i = lane
        while force[i] + rise[i] != tops[lane]:
            i += width
        tops[lane] = -np.inf
        if places[i] < 0:
            wanted[k] = i
            k += 1
    wanted[k:] = -1


@jit
def _beside_down(wanted, gains, strips, places):
    """As `_beside_up`, of those that gain most when they go down."""
    width, k = len(gains), 1
    gains[wanted[0] % width] = 0.0
    for _ in range(2 * TOGETHER):
        lane = np.argmax(gains)
        if k == TOGETHER or gains[lane] == 0.0:
            break
        j = strips[lane] + lane
        gains[lane] = 0.0
        if places[j] < 0:
            wanted[k] = j
            k += 1
    wanted[k:] = -1


@jit
def _ends(t, grouped, tube, high, low, positive, negative, rise, fall):
    """What is added to the slope of a coordinate, by where it is."""
    up_p, down_p = positive[t] < high[t], positive[t] > 0.0
    up_q, down_q = negative[t] < 0.0, negative[t] > low[t]
    if grouped:
        rise[0, t], fall[0, t] = 0.0 if up_p else -np.inf, 0.0 if down_p else np.inf
        rise[1, t], fall[1, t] = 0.0 if up_q else -np.inf, 0.0 if down_q else np.inf
    else:
        rise[0, t] = tube if up_q else -tube if up_p else -np.inf
        fall[0, t] = -tube if down_p else tube if down_q else np.inf


@jit
def _step(i, j, g, slope, curvature, tube, high, low, positive, negative):
    """Move i up and j down to the maximum between them, over the kinks of |β| at 0; how far, infinite where nothing stops it."""
    grouped, total = len(tube) > 1, 0.0
    while True:
        by_q = g == 1 if grouped else negative[i] < 0.0
        by_p = g == 0 if grouped else positive[j] > 0.0
        room_i = -negative[i] if by_q else high[i] - positive[i]
        room_j = positive[j] if by_p else negative[j] - low[j]
        room = min(room_i, room_j)
        length = slope / curvature if curvature > 0.0 else np.inf
        inside = length < room
        length = min(length, room)
        if length == np.inf:
            return length
        if by_q:
            negative[i] = 0.0 if length == room_i else negative[i] + length
        else:
            positive[i] = high[i] if length == room_i else positive[i] + length
        if by_p:
            positive[j] = 0.0 if length == room_j else positive[j] - length
        else:
            negative[j] = low[j] if length == room_j else negative[j] - length
        total += length
        slope -= length * curvature
        if length == room_i:
            slope -= 2.0 * tube[0] if by_q and high[i] > 0.0 else np.inf
        if length == room_j:
            slope -= 2.0 * tube[0] if by_p and low[j] < 0.0 else np.inf
        if inside or grouped or slope <= 0.0:
            return total


@jit
def resting(force, rise, fall, tops, bottoms, rests):
    """How many coordinates lie where none of their slopes is chosen; `rests` is set to which."""
    count = 0
    for t in range(len(force)):
        at_rest = True
        for g in range(len(tops)):
            at_rest &= force[t] + rise[g, t] < bottoms[g] and force[t] + fall[g, t] > tops[g]
        rests[t] = at_rest
        count += at_rest
    return count


@jit
def compact(memory, n, n_places, kept, places, owners, clocks):
    """Drop the columns of K that are not kept, and the rows of the same, in place; set the places of the new rows."""
    m, at = len(kept), 0
    number = np.full(n, -1)
    for t in range(m):
        number[kept[t]] = t
    places[:m] = -1
    for place in range(n_places):
        owner = owners[place]
        if owner < 0 or number[owner] < 0:
            continue
        row, out = memory[place * n : (place + 1) * n], memory[at * m : (at + 1) * m]
        for t in range(m):  # never written before it is read: rows move down, columns to the left
            out[t] = row[kept[t]]
        owners[at], clocks[at], places[number[owner]] = number[owner], clocks[place], at
        at += 1
    return at


@jit
def smo(
    store, places, owners, clocks, rows, squares, kind, settings, diagonal, tiny, tube, high, low, tol, max_iter, shrinking,
    positive, negative, force, rests,
):  # fmt: skip
    """Solve, from where `positive` (p), `negative` (q) and `force` (F) are, which move; see the module.

    With `shrinking`, it also ends where many coordinates cannot be chosen at present, which `rests` then says.

    Parameters
    ----------
    store, places, owners, clocks, rows, squares, kind, settings
        Rows of K, kept or to be made; see `kernel_rows`.
    diagonal : ndarray of shape (n,)
        Of K.
    tiny : float
        The least curvature that counts as one, in the precision of K.
    tube : ndarray of shape (1,) or (2,)
        ε; of two groups, a pair of zeros.
    high, low : ndarray of shape (n,)
        h ≥ 0 and l ≤ 0.

    Returns
    -------
    status, n_iter, gap, i, j
        Why it ended; steps; the largest slope between two coordinates; the last pair.
    """
    n, n_groups = len(force), len(tube)
    width = 256 if n >= 2048 else 32
    tops, bottoms = np.empty(width), np.empty(width)
    gains, strips = np.empty(width, diagonal.dtype), np.empty(width, np.int32)
    rise, fall = np.empty((n_groups, n)), np.empty((n_groups, n))
    tops_of, bottoms_of = np.empty(n_groups), np.empty(n_groups)
    for t in range(n):
        _ends(t, n_groups > 1, tube[0], high, low, positive, negative, rise, fall)
    wanted, spare = np.full(TOGETHER, -1), np.zeros_like(store[0])
    up = down = spare  # nothing has moved yet
    step, clock, n_iter = 0.0, clocks.max(), 0
    i = j = 0
    while True:
        i, j, tops_of[0], bottoms_of[0] = _move(force, up, down, step, rise[0], fall[0], tops, bottoms)
        gap, g = tops_of[0] - bottoms_of[0], 0
        if n_groups > 1:
            other, _, tops_of[1], bottoms_of[1] = _move(force, up, down, 0.0, rise[1], fall[1], tops, bottoms)
            if not tops_of[1] - bottoms_of[1] <= gap:
                i, gap, g = other, tops_of[1] - bottoms_of[1], 1
        if not gap >= tol:
            return CONVERGED, n_iter, gap, i, j
        if n_iter >= max_iter:
            return STOPPED, n_iter, gap, i, j
        due = shrinking and n_iter % min(n, PERIOD) == min(n, PERIOD) - 1
        if due and resting(force, rise, fall, tops_of, bottoms_of, rests) > LEAST * n:
            return SHRINKS, n_iter, gap, i, j
        clock += 1
        top = force[i] + rise[g, i]
        if places[i] < 0:
            wanted[0] = i
            _beside_up(wanted, force, rise[g], tops, places)
            make_rows(wanted, store, places, owners, clocks, clock, rows, squares, kind, settings, spare)
        clocks[places[i]], up = clock, store[places[i]]
        j = _partner(force, fall[g], up, diagonal, i, top, tiny, gains, strips)
        if places[j] < 0:
            wanted[0] = j
            _beside_down(wanted, gains, strips, places)
            make_rows(wanted, store, places, owners, clocks, clock, rows, squares, kind, settings, spare)
        clocks[places[j]], down = clock, store[places[j]]
        curvature = np.float64(diagonal[i]) + np.float64(diagonal[j]) - 2.0 * np.float64(up[j])
        if curvature < np.float64(tiny) * (abs(np.float64(diagonal[i])) + abs(np.float64(diagonal[j]))):
            curvature = np.float64(0.0)
        step = _step(i, j, g, top - (force[j] + fall[g, j]), curvature, tube, high, low, positive, negative)
        if step == np.inf:
            return UNBOUNDED, n_iter, gap, i, j
        _ends(i, n_groups > 1, tube[0], high, low, positive, negative, rise, fall)
        _ends(j, n_groups > 1, tube[0], high, low, positive, negative, rise, fall)
        n_iter += 1
