"""Chains of many steps, cut into stretches of equal length that go side by side, as columns of matrix products.

    forward:   p_t = Aᵀ α_{t−1},   α_t = p_t ∘ b_t / s_t
    backward:  ρ_t = b_t ∘ β_t / s_t,   β_{t−1} = A ρ_t,   γ_t = α_t ∘ β_t

Row r of a block is step r mod m of lane r div m. What lies before a lane is guessed by a run over the last steps of the lane
before, in which a chain forgets where it began. Where the guess is not what that lane ended with, to 13 digits, the lane is run
again from what it ended with until nothing changes: the products forward and backward cannot move two solutions apart, so the
result is that of one long run. The same holds backwards. Arrays are laid out (tile, state, step of the tile, lane), so that a
step of a state is one vector, and a state's steps of a tile are a longer one; shares α_t lie in the slot of step t + 1, beside
the ρ that they make expected moves with.
"""

import numpy as np

from .jit import jit
from .mixture import exp
from .nonnegative import log
from .small import add_outer, aligned, times

MOST_LANES, GRAIN = 64, 8  # lanes are a multiple of a vector
LEAST = 256  # steps of a lane at least
WARM = 64  # steps that a guess is made from
SAME = 1e-13
LOST = 1e-280  # below it, a state that can be reached only from itself has lost digits
LEAST_SHARE = 1e-307
FAINT = 1e-100  # sums below which a share is scaled at once
TINY = 1e-300  # least density of a step, relative to that of the likeliest state, that is not 0
TILE = 8  # steps of a tile


@jit
def lengths_of(n_steps, n_lanes):
    """Steps of a lane, in whole tiles."""
    size = (n_steps + n_lanes - 1) // n_lanes
    return (size + TILE - 1) // TILE * TILE


@jit
def begins_of(offsets, m, n_lanes):
    """Where sequences begin (steps, lanes), and in which steps any does; what lies beyond the last row goes nowhere."""
    begins, some = np.zeros((m, n_lanes), np.bool_), np.zeros(m, np.bool_)
    for u in range(offsets.size - 1):
        begins[offsets[u] % m, offsets[u] // m] = some[offsets[u] % m] = True
    for i in range(offsets[-1], m * n_lanes):
        begins[i % m, i // m] = some[i % m] = True
    return begins, some


# Between rows and lanes


@jit
def lay_out(row, first, m, tile):
    """Values of a tile's steps, one per row, in lanes: tile (steps, lanes); 0 beyond the last row."""
    n_lanes = tile.shape[1]
    whole = lanes_within(row.size, first, m, n_lanes)
    for s in range(0, TILE, 4):  # four steps at a time read whole lines
        o0, o1, o2, o3 = tile[s], tile[s + 1], tile[s + 2], tile[s + 3]
        at = np.uint64(first + s)
        for l in range(whole):
            o0[l] = row[at]
            o1[l] = row[at + np.uint64(1)]
            o2[l] = row[at + np.uint64(2)]
            o3[l] = row[at + np.uint64(3)]
            at += np.uint64(m)
    for l in range(whole, n_lanes):
        at = l * m + first
        for s in range(TILE):
            tile[s, l] = row[at + s] if at + s < row.size else 0.0


@jit
def take_back(tile, first, m, row):
    """What `lay_out` does, the other way."""
    n_lanes = tile.shape[1]
    whole = lanes_within(row.size, first, m, n_lanes)
    for s in range(0, TILE, 4):
        a, b, c, e = tile[s], tile[s + 1], tile[s + 2], tile[s + 3]
        at = np.uint64(first + s)
        for l in range(whole):
            row[at] = a[l]
            row[at + np.uint64(1)] = b[l]
            row[at + np.uint64(2)] = c[l]
            row[at + np.uint64(3)] = e[l]
            at += np.uint64(m)
    for l in range(whole, n_lanes):
        at = l * m + first
        for s in range(min(TILE, row.size - at)):
            row[at + s] = tile[s, l]


@jit
def lanes_within(n_rows, first, m, n_lanes):
    """How many lanes have rows for all steps of a tile."""
    return max(0, min(n_lanes, (n_rows - first - TILE) // m + 1))


@jit
def weigh_tile(joint, first, m, values, flat, top):
    """Log densities of a tile's steps as densities b relative to the largest of their step, whose log is `top`."""
    n_states = len(flat)
    for i in range(top.size):
        top[i] = -np.inf
    for k in range(n_states):
        lay_out(joint[k], first, m, values[k])
        row = flat[k]
        for i in range(top.size):
            top[i] = row[i] if row[i] > top[i] else top[i]
    for i in range(top.size):
        top[i] = top[i] if top[i] > -np.inf else 0.0
    for k in range(n_states):
        weigh(flat[k], top)


@jit
def weigh(row, top):
    """Turn log densities into densities relative to the largest of their step."""
    for i in range(row.size):
        e = exp(row[i] - top[i])
        least = TINY if row[i] > -np.inf else 0.0
        row[i] = e if e > least else least


# Forwards


@jit
def run_lanes(joint, begins, some, start, move, fragile, values, flat, shares, scale, top):
    """Densities b and shares α, from log densities (states, rows), and the sums s (steps, lanes); 0 from where a state is lost.

    Parameters
    ----------
    joint : (states, rows)
    begins, some
        As `begins_of` tells.
    start, move : (states,), (states, states)
    fragile : bool
        Whether a state that underflows may be lost for good.
    values, flat : (tiles, states, TILE, lanes) and the same as (tiles, states, TILE · lanes)
        Are filled with densities relative to those of the likeliest state.
    shares : (tiles + 1, states, TILE, lanes)
        Is filled with α, a step late.
    scale : (steps, lanes)
        Is filled with s.
    top : (tiles, TILE · lanes)
        Is filled with the logs of what densities are relative to.
    """
    (m, n_lanes), n_states, n_tiles = scale.shape, len(start), len(values)
    room = aligned((n_states + TILE + 1) * n_lanes)
    p = room[: n_states * n_lanes].reshape(n_states, 1, n_lanes)
    factor = room[n_states * n_lanes :].reshape(TILE + 1, n_lanes)
    turned, first = np.ascontiguousarray(move.T), n_tiles - min(WARM // TILE, n_tiles)
    shares[first, :, 0] = 1.0 / n_states
    for tile in range(first, n_tiles):
        weigh_tile(joint, tile * TILE, m, values[tile], flat[tile], top[tile])
        run_tile(turned, tile, begins, some, start, fragile, values[tile], shares, p, factor, scale)
    guess = shares[n_tiles, :, 0].copy()
    shares[0, :, 0, 0] = 1.0 / n_states
    shares[0, :, 0, 1:] = guess[:, : n_lanes - 1]
    for tile in range(n_tiles):
        if tile < first:
            weigh_tile(joint, tile * TILE, m, values[tile], flat[tile], top[tile])
        run_tile(turned, tile, begins, some, start, fragile, values[tile], shares, p, factor, scale)
    for l in range(1, n_lanes):
        if not begins[0, l] and not alike(shares[n_tiles, :, 0, l - 1], guess[:, l - 1]):
            run_again(values, begins, move, fragile, shares, scale, l)
    shares[0, :, 0, 1:] = shares[n_tiles, :, 0, : n_lanes - 1]


@jit
def run_tile(turned, tile, begins, some, start, fragile, values, shares, p, factor, scale):
    """The shares of a tile's steps from that of the step before, and the sums s that scale them."""
    factor[0] = 1.0
    for step in range(TILE):
        t, late, slot = tile * TILE + step, shares[tile + (step + 1) // TILE], (step + 1) % TILE
        times(turned, shares[tile], step, p, 0)
        if some[t]:
            enter(p, begins[t], start, shares[tile], step, factor[step])
        s, invert_to = scale[t], factor[step + 1]
        weigh_lanes(p, values, step, factor[step], late, slot, s)
        if fragile:
            give_up(p, values, step, late, slot, s)
        faint = False
        for l in range(s.size):
            invert_to[l] = 1.0 / s[l] if s[l] > 0.0 else 0.0
            faint |= s[l] < FAINT
        if faint:  # products with these would underflow
            scale_share(late, slot, invert_to)
            invert_to[:] = 1.0
    # What steps lack of being scaled is made up for in one go.
    for step in range(TILE):
        scale_share(shares[tile + (step + 1) // TILE], (step + 1) % TILE, factor[step + 1])


@jit
def enter(p, begins, start, before, step, factor):
    """Lanes in which a sequence begins take its start, and no factor of the share before."""
    for l in range(begins.size):
        if begins[l]:
            for k in range(start.size):
                p[k, 0, l] = start[k]
                before[k, step, l] *= factor[l]
            factor[l] = 1.0


@jit
def weigh_lanes(p, b, step, factor, out, slot, s):
    """Put p ∘ b, by a factor, into `out`, and its sum into s."""
    for l in range(s.size):
        s[l] = 0.0
    for k in range(len(p)):
        pk, bk, to = p[k, 0], b[k, step], out[k, slot]
        for l in range(s.size):
            x = pk[l] * bk[l] * factor[l]
            to[l] = x
            s[l] += x


@jit
def give_up(p, b, step, out, slot, s):
    """Put 0 into s of lanes in which a state that matters is lost."""
    for k in range(len(p)):
        for l in range(s.size):
            if out[k, slot, l] < LOST and p[k, 0, l] > 0.0 and b[k, step, l] > 0.0:
                s[l] = 0.0


@jit
def scale_share(share, slot, factor):
    for k in range(len(share)):
        row = share[k, slot]
        for l in range(row.size):
            row[l] *= factor[l]


@jit
def alike(x, y):
    """Whether two positive vectors are the same but for their last digits."""
    same = True
    for k in range(x.size):
        same &= abs(x[k] - y[k]) <= SAME * max(x[k], y[k])
    return same


@jit
def run_again(values, begins, move, fragile, shares, scale, l):
    """Lane l from what the lane before ended with, as far as that makes a difference."""
    m, n_states = len(scale), len(move)
    share, now, p = shares[len(values), :, 0, l - 1].copy(), np.empty(n_states), np.empty(n_states)
    for t in range(m):
        if begins[t, l]:
            return
        expected(share, move, p)
        s, lost = 0.0, False
        for j in range(n_states):
            b = values[t // TILE, j, t % TILE, l]
            now[j] = p[j] * b
            s += now[j]
            lost |= fragile and now[j] < LOST and p[j] > 0.0 and b > 0.0
        s = 0.0 if lost else s
        for j in range(n_states):
            now[j] = now[j] / s if s > 0.0 else 0.0
        to = shares[(t + 1) // TILE, :, (t + 1) % TILE, l]
        settled = s > 0.0 and alike(now, to)
        scale[t, l] = s
        for j in range(n_states):
            to[j] = share[j] = now[j]
        if settled:
            return


@jit
def expected(share, move, p):
    """Put Aᵀ α into `p`."""
    for j in range(p.size):
        p[j] = 0.0
        for i in range(p.size):
            p[j] += share[i] * move[i, j]


@jit
def add_scales(scale, top, begins, some, offsets, evidence):
    """Log densities of sequences from sums of lanes; which of them have lost a state."""
    m, n_lanes = scale.shape
    total, unit, line = np.zeros(n_lanes), np.empty(n_lanes, np.int64), np.empty(n_lanes)
    evidence[:] = 0.0
    for l in range(n_lanes):
        unit[l] = np.searchsorted(offsets, l * m, side="right") - 1 - begins[0, l]
    for t in range(m):
        for l in range(n_lanes if some[t] else 0):
            if begins[t, l]:
                flush(total, unit, l, evidence)
                unit[l] += 1
        at = top[t // TILE, t % TILE * n_lanes : (t % TILE + 1) * n_lanes]
        add_logs_of(scale[t], at, line, total)
    for l in range(n_lanes):
        flush(total, unit, l, evidence)
    return np.isnan(evidence)


@jit
def add_logs_of(s, top, line, total):
    for l in range(s.size):
        line[l] = log(s[l]) + top[l]
    for l in range(s.size):
        total[l] += line[l] if s[l] > LOST else np.nan


@jit
def flush(total, unit, l, evidence):
    """Give the sequence of a lane what was added up for it."""
    if 0 <= unit[l] < evidence.size:
        evidence[unit[l]] += total[l]
    total[l] = 0.0


# Backwards


@jit
def run_back(values, flat, shares, scale, begins, some, move, weight, evenly, out, moves):
    """Posterior γ of states, (states, rows), and Σ w α_{t−1} ρ_tᵀ, expected moves over A.

    Parameters
    ----------
    values, flat, shares, scale, begins, some, move
        As in `run_lanes`; `values` are overwritten.
    weight : (rows,)
    evenly : bool
        Whether all weights are 1.
    out : (states, rows)
        Is filled with γ, without weights.
    moves : (states, states)
        Is added to.
    """
    (m, n_lanes), n_states, n_tiles = scale.shape, len(move), len(values)
    width, size = TILE * n_lanes, TILE * n_lanes * n_states
    room = aligned(2 * size + 2 * width)
    beta, rho = room[:size].reshape(n_states, TILE, n_lanes), room[size : 2 * size].reshape(n_states, TILE, n_lanes)
    heavy, inverse = room[2 * size : 2 * size + width].reshape(TILE, n_lanes), room[2 * size + width :]
    long, part = rho.reshape(n_states, width), np.empty((n_states, n_states))
    n_warm = min(WARM // TILE, n_tiles)
    beta[:, TILE - 1] = 1.0
    for tile in range(n_warm - 1, -1, -1):
        divide(flat[tile], shares[tile], shares[tile + 1], scale, tile * TILE, inverse)
        retreat(move, tile, values[tile], begins, some, beta, rho)
        if tile:
            come_before(move, tile * TILE, begins, some, rho, beta)
    guess = shares[0, :, 1] * beta[:, 0]
    ends = np.ones(n_lanes, np.bool_)
    ends[: n_lanes - 1] = begins[0, 1:]
    ahead = np.zeros((n_states, 1, n_lanes))
    ahead[:, 0, : n_lanes - 1] = rho[:, 0, 1:]
    times(move, ahead, 0, beta, TILE - 1)
    end_lanes(ends, beta)
    for tile in range(n_tiles - 1, -1, -1):
        if tile >= n_warm:
            divide(flat[tile], shares[tile], shares[tile + 1], scale, tile * TILE, inverse)
        retreat(move, tile, values[tile], begins, some, beta, rho)
        multiply(beta, shares[tile], shares[tile + 1], values[tile])
        for k in range(n_states):
            take_back(values[tile, k], tile * TILE, m, out[k])
        if tile:
            come_before(move, tile * TILE, begins, some, rho, beta)
        add_moves(shares[tile].reshape(long.shape), long, tile * TILE, m, weight, evenly, heavy, part, moves)
    for l in range(n_lanes - 2, -1, -1):
        first = values[0, :, 0, l + 1]
        if not ends[l] and not alike(first, guess[:, l + 1]):
            run_back_again(values, shares, begins, move, weight, first, out, moves, l)


@jit
def divide(b, share, after, scale, first, inverse):
    """Put b / s in the place of b; 0 where a state is impossible."""
    n_lanes = scale.shape[1]
    early = (TILE - 1) * n_lanes
    for step in range(TILE):
        invert(scale[first + step], inverse[step * n_lanes : (step + 1) * n_lanes])
    for k in range(len(b)):
        mask_product(b[k, :early], inverse[:early], share[k].reshape(-1)[n_lanes:])
        mask_product(b[k, early:], inverse[early:], after[k, 0])


@jit
def invert(s, out):
    for l in range(s.size):
        out[l] = 1.0 / s[l] if s[l] > 0.0 else 0.0


@jit
def mask_product(x, factor, mask):
    """Multiply x by a factor, and by 0 where `mask` is 0."""
    for i in range(x.size):
        x[i] = x[i] * factor[i] if mask[i] > 0.0 else 0.0


@jit
def retreat(move, tile, b, begins, some, beta, rho):
    """ρ of a tile's steps and β of those before, from β of its last step: ρ is 0 where a sequence begins."""
    for step in range(TILE - 1, -1, -1):
        for k in range(len(b)):
            v, d, to = beta[k, step], b[k, step], rho[k, step]
            for l in range(to.size):
                to[l] = d[l] * v[l]
        t = tile * TILE + step
        for l in range(rho.shape[2] if some[t] else 0):
            for k in range(len(rho) if begins[t, l] else 0):
                rho[k, step, l] = 0.0
        if step:
            come_before(move, t, begins, some, rho, beta)


@jit
def come_before(move, t, begins, some, rho, beta):
    """β of the step before t, in its slot: 1 where a sequence begins at t."""
    slot = (t - 1) % TILE
    times(move, rho, t % TILE, beta, slot)
    if some[t]:
        for l in range(beta.shape[2]):
            for k in range(len(beta) if begins[t, l] else 0):
                beta[k, slot, l] = 1.0


@jit
def end_lanes(ends, beta):
    """Lanes in which a sequence ends have nothing ahead."""
    for l in range(ends.size):
        for k in range(len(beta) if ends[l] else 0):
            beta[k, TILE - 1, l] = 1.0


@jit
def multiply(beta, share, after, values):
    """Put γ of a tile's steps in the place of b."""
    for k in range(len(beta)):
        for step in range(TILE):
            v, to = beta[k, step], values[k, step]
            a = share[k, step + 1] if step < TILE - 1 else after[k, 0]
            for l in range(to.size):
                to[l] = a[l] * v[l]


@jit
def add_moves(shares, rho, first, m, weight, evenly, heavy, part, moves):
    """Add Σ w α ρᵀ over a tile; ρ is weighted in place."""
    if not evenly:
        lay_out(weight, first, m, heavy)
        flat = heavy.reshape(-1)
        for k in range(len(rho)):
            row = rho[k]
            for i in range(row.size):
                row[i] *= flat[i]
    add_outer(shares, rho, part, moves)


@jit
def run_back_again(values, shares, begins, move, weight, ahead, out, moves, l):
    """Lane l backwards from γ of the next lane's first step, as far as that makes a difference."""
    m, n_states = len(begins), len(move)
    now, old, ratio, p = np.empty(n_states), np.empty(n_states), np.empty(n_states), np.empty(n_states)
    expected(shares[len(values), :, 0, l], move, p)
    for k in range(n_states):
        ratio[k] = ahead[k] / max(p[k], LEAST_SHARE)
    w = weight[(l + 1) * m - 1]
    for t in range(m - 1, -1, -1):
        row = l * m + t
        for i in range(n_states):
            total = 0.0
            for j in range(n_states):
                total += move[i, j] * ratio[j]
            now[i], old[i] = shares[(t + 1) // TILE, i, (t + 1) % TILE, l] * total, out[i, row]
            out[i, row] = now[i]
            if t == 0:
                values[0, i, 0, l] = now[i]
        if begins[t, l]:
            return
        before = shares[t // TILE, :, t % TILE, l]
        expected(before, move, p)
        for j in range(n_states):
            ratio[j] = now[j] / max(p[j], LEAST_SHARE)
            change = w * (ratio[j] - old[j] / max(p[j], LEAST_SHARE))
            for i in range(n_states):
                moves[i, j] += before[i] * change
        if alike(now, old):
            return
