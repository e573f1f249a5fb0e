"""Paths of states along chains: the likeliest one (Viterbi's), and draws from the posterior.

    v_1 = log π + log b_1,   v_t(j) = max_i (v_{t−1}(i) + log A_ij) + log b_t(j)

Sequences go side by side in lanes, those of like length together; a few long ones go one step after the other.
"""

import numpy as np

from .chain import settle_labels
from .jit import jit
from .vectors import LANES, best_moves_in_lanes

__all__ = ["decode", "draw_states"]

TILE = 8
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
    value, now, turned = np.empty((n_states, LANES)), np.empty((n_states, LANES)), log_move.T.copy()
    origin, tile = np.empty((longest, n_states, LANES), np.uint8), np.empty((TILE, n_states, LANES))
    for t in range(longest):
        if t % TILE == 0:
            turn(joint, begin, size, t, tile)
        here = tile[t % TILE]
        if t:
            best_moves_in_lanes(value, turned, here, now, origin[t])  # type: ignore[call-arg]
        for j in range(0 if t else n_states):
            for l in range(LANES):
                now[j, l] = log_start[j] + here[j, l]
        for l in range(LANES if t >= size[LANES - 1] else 0):
            for j in range(n_states if t >= size[l] else 0):
                now[j, l] = value[j, l]
        value, now = now, value
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
                last[l] = origin[t, last[l], l] if t else last[l]


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
