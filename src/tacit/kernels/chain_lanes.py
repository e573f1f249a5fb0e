"""Chains of many steps, cut into stretches of equal length that go side by side, as columns of matrix products.

Row r of a block is step r mod m of lane r div m. What lies before a lane is guessed by a run over the last steps of the lane
before, in which a chain forgets where it began. Where the guess is not what that lane ended with, to 13 digits, the lane is run
again from what it ended with until nothing changes: the products forward and backward cannot move two solutions apart, so the
result is that of one long run. The same holds backwards. Arrays are laid out (step, state, lane).
"""

import numpy as np

from .jit import jit
from .small import add_outer, times

MOST_LANES = 64
LEAST = 256  # steps of a lane at least
WARM = 64  # steps that a guess is made from
SAME = 1e-13
LOST = 1e-280  # below it, a state that can be reached only from itself has lost digits
LEAST_SHARE = 1e-307
TILE = 8  # steps that are turned from lanes into rows at once


@jit
def spread(row, out, k):
    """Values of a state, one per row, in lanes out[:, k]; `row` has a value for every step of every lane."""
    m, _, n_lanes = out.shape
    first = 0
    while first + 4 <= m:  # four steps at a time read whole lines
        o0, o1, o2, o3 = out[first, k], out[first + 1, k], out[first + 2, k], out[first + 3, k]
        at = first
        for l in range(n_lanes):
            o0[l] = row[at]
            o1[l] = row[at + 1]
            o2[l] = row[at + 2]
            o3[l] = row[at + 3]
            at += m
        first += 4
    for t in range(first, m):
        for l in range(n_lanes):
            out[t, k, l] = row[l * m + t]


@jit
def run_lanes(values, begins, start, move, turned, fragile, alpha, scale):
    """α (steps, states, lanes) and the sums s (steps, lanes) that scale them; both are 0 from where a state is lost.

    `values` are densities b, in whose place p is left.
    """
    m, n_states, n_lanes = values.shape
    share, p = np.full((n_states, n_lanes), 1.0 / n_states), np.empty((n_states, n_lanes))
    for t in range(m - min(WARM, m), m):
        times(turned, share, p)
        enter(p, begins[t], start)
        weigh_lanes(p, values[t], fragile, share, scale[0])
    guess = share.copy()
    for k in range(n_states):
        for l in range(n_lanes - 1, 0, -1):
            share[k, l] = share[k, l - 1]
    for t in range(m):
        times(turned, share if t == 0 else alpha[t - 1], p)
        enter(p, begins[t], start)
        weigh_lanes(p, values[t], fragile, alpha[t], scale[t])
        values[t] = p
    for l in range(1, n_lanes):
        if not begins[0, l] and not alike(alpha[m - 1, :, l - 1], guess[:, l - 1]):
            run_again(values, begins, move, fragile, alpha, scale, l)


@jit
def enter(p, begins, start):
    """Lanes in which a sequence begins take its start."""
    for l in range(begins.size):
        if begins[l]:
            for k in range(start.size):
                p[k, l] = start[k]


@jit
def weigh_lanes(p, b, fragile, out, s):
    """Put p ∘ b over its sum s into `out`; 0 where that sum is."""
    n_states, n_lanes = p.shape
    for l in range(n_lanes):
        s[l] = 0.0
    for k in range(n_states):
        pk, bk, to = p[k], b[k], out[k]
        for l in range(n_lanes):
            x = pk[l] * bk[l]
            to[l] = x
            s[l] += x
    for k in range(n_states if fragile else 0):
        for l in range(n_lanes):
            if out[k, l] < LOST and p[k, l] > 0.0 and b[k, l] > 0.0:
                s[l] = 0.0
    inverse = np.empty(n_lanes)
    for l in range(n_lanes):
        inverse[l] = 1.0 / s[l] if s[l] > 0.0 else 0.0
    for k in range(n_states):
        to = out[k]
        for l in range(n_lanes):
            to[l] *= inverse[l]


@jit
def alike(x, y):
    """Whether two positive vectors are the same but for their last digits."""
    same = True
    for k in range(x.size):
        same &= abs(x[k] - y[k]) <= SAME * max(x[k], y[k])
    return same


@jit
def run_again(before, begins, move, fragile, alpha, scale, l):
    """Lane l from what the lane before ended with, as far as that makes a difference; b is α s / p.

    Where states may be impossible that does not tell b: the sequence is given up, to be taken in logarithms.
    """
    m, n_states, _ = alpha.shape
    share, now = alpha[m - 1, :, l - 1].copy(), np.empty(n_states)
    for t in range(m):
        if begins[t, l]:
            return
        s, old = 0.0, 0.0 if fragile else scale[t, l]
        for j in range(n_states):
            total = 0.0
            for i in range(n_states):
                total += share[i] * move[i, j]
            now[j] = total * (alpha[t, j, l] * old / max(before[t, j, l], LEAST_SHARE))
            before[t, j, l] = total
            s += now[j]
        for j in range(n_states):
            now[j] = now[j] / s if s > 0.0 else 0.0
        settled = s > 0.0 and alike(now, alpha[t, :, l])
        scale[t, l] = s
        for j in range(n_states):
            alpha[t, j, l] = share[j] = now[j]
        if settled:
            return


# Backwards


@jit
def run_back(alpha, before, begins, move, weight, evenly, out, moves):
    """Posterior γ of states times weights, (states, rows), and Σ w α_{t−1} ρ_tᵀ, expected moves over A.

    Parameters
    ----------
    alpha, before : (steps, states, lanes)
        α, and p.
    begins : (steps, lanes)
        Where sequences begin; steps beyond the last are sequences of one.
    move : (states, states)
    weight : (lanes, steps)
    evenly : bool
        Whether all weights are 1.
    out : (states, rows)
        Is filled with γ.
    moves : (states, states)
        Is added to.
    """
    m, n_states, n_lanes = alpha.shape
    gamma, rho = np.empty((n_states, n_lanes)), np.empty((n_states, n_lanes))
    tile, part = np.empty((TILE, n_states, n_lanes)), np.empty((n_states, n_states))
    gamma[:] = alpha[min(WARM, m) - 1]
    for t in range(min(WARM, m) - 1, 0, -1):
        divide(gamma, before[t], begins[t], rho)
        retreat(move, rho, alpha[t - 1], begins[t], gamma)
    guess, ends = gamma.copy(), np.ones(n_lanes, np.bool_)
    ends[: n_lanes - 1] = begins[0, 1:]
    divide_ahead(guess, before[0], ends, rho)
    retreat(move, rho, alpha[m - 1], ends, tile[(m - 1) % TILE])
    for t in range(m - 1, 0, -1):
        divide(tile[t % TILE], before[t], begins[t], rho)
        add_moves(alpha[t - 1], rho, weight[:, t], evenly, gamma, part, moves)
        if t % TILE == 0:
            gather(tile, t, weight, evenly, out)
        retreat(move, rho, alpha[t - 1], begins[t], tile[(t - 1) % TILE])
    gather(tile, 0, weight, evenly, out)
    first = tile[0]
    for l in range(n_lanes - 2, -1, -1):
        if not ends[l] and not alike(first[:, l + 1], guess[:, l + 1]):
            run_back_again(alpha, before, begins, move, weight[l], first, out, moves, l)
    divide_ahead(first, before[0], ends, rho)
    for l in range(n_lanes - 1):
        for k in range(n_states):
            rho[k, l] *= weight[l + 1, 0]
    add_moves(alpha[m - 1], rho, weight[:, 0], True, gamma, part, moves)


@jit
def divide(gamma, p, begins, out):
    """Put γ / p into `out`: 0 where p is, and so is γ, and where a sequence begins."""
    n_states, n_lanes = gamma.shape
    for k in range(n_states):
        g, q, to = gamma[k], p[k], out[k]
        for l in range(n_lanes):
            to[l] = g[l] / (q[l] if q[l] > LEAST_SHARE else LEAST_SHARE)
    for l in range(n_lanes):
        if begins[l]:
            for k in range(n_states):
                out[k, l] = 0.0


@jit
def divide_ahead(gamma, p, ends, out):
    """As `divide`, of the lane that follows each."""
    n_states, n_lanes = gamma.shape
    for k in range(n_states):
        for l in range(n_lanes):
            out[k, l] = 0.0 if ends[l] else gamma[k, l + 1] / max(p[k, l + 1], LEAST_SHARE)


@jit
def retreat(move, rho, alpha, begins, gamma):
    """γ of the step before: α ∘ A ρ, and α itself where the next step begins a sequence."""
    times(move, rho, gamma)
    n_states, n_lanes = gamma.shape
    for k in range(n_states):
        g, a = gamma[k], alpha[k]
        for l in range(n_lanes):
            g[l] *= a[l]
    for l in range(n_lanes):
        if begins[l]:
            for k in range(n_states):
                gamma[k, l] = alpha[k, l]


@jit
def add_moves(alpha, rho, weight, evenly, left, part, moves):
    """Add Σ w α ρᵀ over lanes."""
    n_states, n_lanes = alpha.shape
    for k in range(0 if evenly else n_states):
        for l in range(n_lanes):
            left[k, l] = alpha[k, l] * weight[l]
    add_outer(alpha if evenly else left, rho, part, moves)


@jit
def gather(tile, first, weight, evenly, out):
    """Turn a tile of lanes into rows, times their weights."""
    n_states, n_rows = out.shape
    n_lanes, m = weight.shape
    n = min(TILE, m - first)
    whole = max(0, min(n_lanes, (n_rows - first - TILE) // m + 1)) if n == TILE else 0  # lanes that reach so far
    for k in range(n_states):
        row = out[k]
        for t in range(0, TILE, 4):
            a, b, c, e = tile[t, k], tile[t + 1, k], tile[t + 2, k], tile[t + 3, k]
            at = first + t
            for l in range(whole):
                row[at] = a[l]
                row[at + 1] = b[l]
                row[at + 2] = c[l]
                row[at + 3] = e[l]
                at += m
        for l in range(whole, n_lanes):
            at = l * m + first
            for t in range(min(n, n_rows - at)):
                row[at + t] = tile[t, k, l]
        for l in range(0 if evenly else n_lanes):
            at = l * m + first
            for t in range(min(n, n_rows - at)):
                row[at + t] *= weight[l, first + t]


@jit
def run_back_again(alpha, before, begins, move, weight, first, out, moves, l):
    """Lane l backwards from what the lane after it came to, as far as that makes a difference."""
    m, n_states, _ = alpha.shape
    now, old, ratio = np.empty(n_states), np.empty(n_states), np.empty(n_states)
    for k in range(n_states):
        ratio[k] = first[k, l + 1] / max(before[0, k, l + 1], LEAST_SHARE)
    w = weight[m - 1]
    for t in range(m - 1, -1 if w > 0.0 else m - 1, -1):
        row = l * m + t
        for i in range(n_states):
            total = 0.0
            for j in range(n_states):
                total += move[i, j] * ratio[j]
            now[i], old[i] = alpha[t, i, l] * total, out[i, row] / w
            out[i, row] = w * now[i]
            if t == 0:
                first[i, l] = now[i]
        for j in range(n_states):
            p = max(before[t, j, l], LEAST_SHARE)
            ratio[j] = 0.0 if begins[t, l] else now[j] / p
            change = 0.0 if t == 0 else w * (ratio[j] - (0.0 if begins[t, l] else old[j] / p))
            for i in range(n_states if t else 0):
                moves[i, j] += alpha[t - 1, i, l] * change
        if begins[t, l] or alike(now, old):
            return
