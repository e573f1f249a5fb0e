"""Paths of states along chains: the likeliest one (Viterbi's), and draws from the posterior.

    v_1 = log π + log b_1,   v_t(j) = max_i (v_{t−1}(i) + log A_ij) + log b_t(j)

Sequences go side by side in lanes, those of like length together; a few long ones go one step after the other.
"""

import numpy as np

from .chain import settle_labels
from .jit import jit

__all__ = ["decode", "draw_states"]

LANES, TILE = 16, 8
FEWEST = 10  # sequences that go side by side
ROOM = 1 << 24  # bytes for where paths came from


@jit
def decode(joint, offsets, labels, log_start, log_move, which, path, score):
    """The likeliest path of states, and its log density together with the steps; of equal paths the first.

    Parameters
    ----------
    joint, offsets, labels, which
        As in `smooth`; known states are settled in `joint`.
    log_start, log_move : (states,), (matrices, states, states)
        Logs of probabilities.
    path : (steps,) int
        Is filled.
    score : (sequences,)
        Is filled.
    """
    settle_labels(joint, labels)
    order = np.argsort(offsets[:-1] - offsets[1:], kind="mergesort")  # the longest first
    u, n_states = 0, len(joint)
    if which.size == 0 and n_states < 256:
        while score.size - u >= FEWEST:
            longest = offsets[order[u] + 1] - offsets[order[u]]
            if longest * n_states * LANES > ROOM:
                decode_one(
                    joint, offsets[order[u]], offsets[order[u] + 1], log_start, log_move, which, path, score[order[u] :]
                )
                u += 1
                continue
            some = order[u : u + LANES]
            decode_lanes(joint, offsets, some, log_start, log_move[0], path, score)
            u += some.size
    for v in order[u:]:
        decode_one(joint, offsets[v], offsets[v + 1], log_start, log_move, which, path, score[v:])


@jit
def decode_lanes(joint, offsets, some, log_start, log_move, path, score):
    """Some sequences side by side; a lane that has ended is kept as it is, and lanes beyond the last repeat it."""
    n_states, longest = joint.shape[0], offsets[some[0] + 1] - offsets[some[0]]
    begin, size = np.empty(LANES, np.int64), np.empty(LANES, np.int64)
    for l in range(LANES):
        u = some[min(l, some.size - 1)]
        begin[l], size[l] = offsets[u], offsets[u + 1] - offsets[u]
    value, best, where = np.empty((n_states, LANES)), np.empty((n_states, LANES)), np.empty(LANES)
    origin, tile = np.empty((longest, n_states, LANES), np.uint8), np.empty((TILE, n_states, LANES))
    for t in range(longest):
        if t % TILE == 0:
            turn(joint, begin, size, t, tile)
        here = tile[t % TILE]
        for j in range(n_states):
            if t:
                best_origins(value, log_move, j, best[j], where)
            else:
                best[j], where[:] = log_start[j], 0.0
            for l in range(LANES):
                origin[t, j, l] = where[l]
        ended = t >= size[LANES - 1]
        for j in range(n_states):
            for l in range(LANES):
                if not ended or t < size[l]:
                    value[j, l] = best[j, l] + here[j, l]
    last = np.zeros(LANES, np.int64)
    for l in range(some.size):
        for j in range(1, n_states):
            if value[j, l] > value[last[l], l]:
                last[l] = j
        score[some[l]] = value[last[l], l]
    for t in range(longest - 1, -1, -1):
        for l in range(some.size):
            if t < size[l]:
                path[begin[l] + t] = last[l]
                last[l] = origin[t, last[l], l]


@jit
def turn(joint, begin, size, first, tile):
    """Turn some steps of sequences into lanes."""
    whole = first + TILE <= size[LANES - 1]  # of the shortest
    for j in range(len(joint)):
        row = joint[j]
        for t in range(0, TILE if whole else 0, 4):  # four steps at a time read whole lines
            o0, o1, o2, o3 = tile[t, j], tile[t + 1, j], tile[t + 2, j], tile[t + 3, j]
            for l in range(LANES):
                at = begin[l] + first + t
                o0[l] = row[at]
                o1[l] = row[at + 1]
                o2[l] = row[at + 2]
                o3[l] = row[at + 3]
        for l in range(0 if whole else LANES):
            at = begin[l] + first
            for t in range(min(TILE, size[l] - first)):
                tile[t, j, l] = row[at + t]


@jit
def best_origins(value, log_move, j, best, where):
    """The best of value_i + log A_ij over i in every lane, and its i; the first of equal ones."""
    n, first, a = len(value), value[0], log_move[0, j]
    for l in range(LANES):
        best[l], where[l] = first[l] + a, 0.0
    i = 1
    while i + 3 <= n:  # three at once: the best so far is read and written once for all of them
        v0, v1, v2 = value[i], value[i + 1], value[i + 2]
        a0, a1, a2 = log_move[i, j], log_move[i + 1, j], log_move[i + 2, j]
        f0, f1, f2 = float(i), float(i + 1), float(i + 2)  # so that all that is chosen is of one width
        for l in range(LANES):
            b, c0, c1, c2 = best[l], v0[l] + a0, v1[l] + a1, v2[l] + a2
            b0 = c0 if c0 > b else b
            w0 = f0 if c0 > b else where[l]
            b1 = c1 if c1 > b0 else b0
            w1 = f1 if c1 > b0 else w0
            where[l] = f2 if c2 > b1 else w1
            best[l] = c2 if c2 > b1 else b1
        i += 3
    while i < n:
        v0, a0, f0 = value[i], log_move[i, j], float(i)
        for l in range(LANES):
            c0 = v0[l] + a0
            where[l] = f0 if c0 > best[l] else where[l]
            best[l] = c0 if c0 > best[l] else best[l]
        i += 1


@jit
def decode_one(joint, a, z, log_start, log_move, which, path, score):
    """The steps from a to z, one after the other."""
    n_states = len(joint)
    origin = np.empty((z - a, n_states), np.uint16)
    value, best, where = np.empty(n_states), np.empty(n_states), np.empty(n_states, np.int64)
    for j in range(n_states):
        value[j] = log_start[j] + joint[j, a]
    for t in range(a + 1, z):
        best_moves(value, log_move[which[t] if which.size else 0], best, where)
        for j in range(n_states):
            value[j] = best[j] + joint[j, t]
            origin[t - a, j] = where[j]
    last = 0
    for j in range(1, n_states):
        if value[j] > value[last]:
            last = j
    score[0] = value[last]
    for t in range(z - 1, a - 1, -1):
        path[t] = last
        last = origin[t - a, last] if t > a else last


@jit
def best_moves(value, log_move, best, where):
    """The best of value_i + log A_ij over i for each j, and its i."""
    n = value.size
    for j in range(n):
        best[j] = value[0] + log_move[0, j]
        where[j] = 0
    for i in range(1, n):
        v, row = value[i], log_move[i]
        for j in range(n):
            candidate = v + row[j]
            better = candidate > best[j]
            where[j] = i if better else where[j]
            best[j] = candidate if better else best[j]


@jit
def draw_states(share, offsets, move, which, chance, path):
    """A path of states drawn from their posterior, from probabilities given the steps so far.

    Parameters
    ----------
    share : (states, steps)
        What `filter_states` made.
    offsets, move, which
        As in `smooth`.
    chance : (steps,)
        Random numbers from 0 to 1.
    path : (steps,) int
        Is filled.
    """
    n_states = share.shape[0]
    weights = np.empty(n_states)
    for u in range(offsets.size - 1):
        for t in range(offsets[u + 1] - 1, offsets[u] - 1, -1):
            total, last = 0.0, t == offsets[u + 1] - 1
            for k in range(n_states):
                arrive = 1.0 if last else move[which[t + 1] if which.size else 0, k, path[t + 1]]
                total += share[k, t] * arrive
                weights[k] = total
            k = 0
            while k < n_states - 1 and weights[k] <= chance[t] * total:
                k += 1
            path[t] = k
