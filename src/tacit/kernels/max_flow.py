"""Maximal flow by trees that grow from source and sink (Boykov and Kolmogorov), on graphs given by arcs and on grids.

An arc a leads from p to q = head(a), and its sister back. Of a graph, arcs first[p] … first[p + 1] − 1 leave p, with `heads` and
`sisters`. Of a grid, 2^bits arcs leave every node, arc k to node p + steps[k], and k ^ 1 leads back: nothing is stored but
capacities. A grid has a border of nodes without capacities, so that arcs need no check.
"""

import numpy as np

from .jit import jit

__all__ = ["max_flow"]

FREE, SOURCE, SINK = 0, 1, 2
TERMINAL, NONE, ORPHAN = -1, -2, -3
FAR = 1 << 30


@jit
def head(a, heads, steps, bits):
    """Where an arc leads."""
    if len(heads):
        return heads[a]
    return (a >> bits) + steps[a & ((1 << bits) - 1)]


@jit
def sister(a, heads, sisters, steps, bits):
    """The arc back."""
    if len(heads):
        return sisters[a]
    return (head(a, heads, steps, bits) << bits) + ((a & ((1 << bits) - 1)) ^ 1)


@jit
def arcs_of(p, first, bits):
    """The first arc of a node, and the one after its last."""
    if len(first):
        return first[p], first[p + 1]
    return p << bits, (p + 1) << bits


@jit
def max_flow(first, heads, sisters, steps, bits, capacity, terminal, side):
    """Push the maximal flow, and say which nodes the source still reaches.

    Parameters
    ----------
    first, heads, sisters : (n + 1,), (arcs,), (arcs,) integers
        Of a graph; empty for a grid.
    steps, bits : (2 ** bits,) integers, int
        Of a grid; empty and 0 for a graph.
    capacity : (arcs,) float64
    terminal : (n,) float64
        Capacity from the source where positive, minus that to the sink where negative.
    side : (n,) int8
        1 where a node is on the source's side of the cut that is nearest to the source, else 0.

    Returns
    -------
    flow : float
    """
    n, capacity, terminal = len(terminal), capacity.copy(), terminal.copy()
    tree, parent = side, np.full(n, NONE, np.int32)
    stamp, distance = np.zeros(n, np.int32), np.zeros(n, np.int32)
    queue, queued = np.empty(n + 1, np.int32), np.zeros(n, np.bool_)
    orphans = np.empty(n + 1, np.int32)
    begin, end = 0, 0
    flow = between_neighbours(first, heads, sisters, steps, bits, capacity, terminal)
    for p in range(n):
        tree[p] = FREE
        if terminal[p] != 0.0:
            tree[p] = SOURCE if terminal[p] > 0.0 else SINK
            parent[p], distance[p], queued[p] = TERMINAL, 1, True
            queue[end] = p
            end += 1
    time, current = 0, -1
    while True:
        if current < 0 or tree[current] == FREE:
            current = -1
            while begin != end:
                p = queue[begin]
                begin = begin + 1 if begin < n else 0
                queued[p] = False
                if tree[p] != FREE:
                    current = p
                    break
            if current < 0:
                break
        bridge, end = grow(
            current, first, heads, sisters, steps, bits, capacity, tree, parent, stamp, distance, queue, queued, end
        )
        if bridge < 0:
            current = -1
            continue
        time += 1
        pushed, n_orphans = augment(bridge, heads, sisters, steps, bits, capacity, terminal, parent, orphans)
        flow += pushed
        end = adopt(
            n_orphans, time, first, heads, sisters, steps, bits, capacity, tree, parent, stamp, distance, queue, queued, end,
            orphans,
        )  # fmt: skip
    for p in range(n):
        tree[p] = tree[p] == SOURCE
    return flow


@jit
def between_neighbours(first, heads, sisters, steps, bits, capacity, terminal):
    """Push over single arcs from neighbours of the source to those of the sink, for which trees would be a long way round."""
    flow = 0.0
    for p in range(len(terminal)):
        if terminal[p] <= 0.0:
            continue
        start, stop = arcs_of(p, first, bits)
        for a in range(start, stop):
            if capacity[a] <= 0.0:
                continue
            q = head(a, heads, steps, bits)
            if terminal[q] < 0.0:
                least = min(capacity[a], terminal[p], -terminal[q])
                capacity[a] -= least
                capacity[sister(a, heads, sisters, steps, bits)] += least
                terminal[p] -= least
                terminal[q] += least
                flow += least
                if terminal[p] <= 0.0:
                    break
    return flow


@jit
def grow(p, first, heads, sisters, steps, bits, capacity, tree, parent, stamp, distance, queue, queued, end):
    """Let a tree take the free neighbours of one of its nodes; returns an arc from source tree to sink tree, or −1."""
    n, own = len(tree), tree[p]
    start, stop = arcs_of(p, first, bits)
    for a in range(start, stop):
        back = sister(a, heads, sisters, steps, bits)
        if (capacity[a] if own == SOURCE else capacity[back]) <= 0.0:
            continue
        q = head(a, heads, steps, bits)
        if tree[q] == FREE:
            tree[q], parent[q], stamp[q], distance[q] = own, back, stamp[p], distance[p] + 1
            if not queued[q]:
                queued[q] = True
                queue[end] = q
                end = end + 1 if end < n else 0
        elif tree[q] != own:
            return (a if own == SOURCE else back), end
        elif stamp[q] <= stamp[p] and distance[q] > distance[p]:
            # A way to the root that is known to be as short.
            parent[q], stamp[q], distance[q] = back, stamp[p], distance[p] + 1
    return -1, end


@jit
def augment(bridge, heads, sisters, steps, bits, capacity, terminal, parent, orphans):
    """Push what the path over a bridge can take; nodes that lose the arc to their parent are orphans."""
    back = sister(bridge, heads, sisters, steps, bits)
    left, right = head(back, heads, steps, bits), head(bridge, heads, steps, bits)
    least = capacity[bridge]
    p = left
    while parent[p] != TERMINAL:
        least = min(least, capacity[sister(parent[p], heads, sisters, steps, bits)])
        p = head(parent[p], heads, steps, bits)
    least = min(least, terminal[p])
    p = right
    while parent[p] != TERMINAL:
        least = min(least, capacity[parent[p]])
        p = head(parent[p], heads, steps, bits)
    least = min(least, -terminal[p])
    capacity[bridge] -= least
    capacity[back] += least
    n_orphans, p = 0, left
    while True:
        a = parent[p]
        if a == TERMINAL:
            terminal[p] -= least
            rest, up = terminal[p], p
        else:
            back, up = sister(a, heads, sisters, steps, bits), head(a, heads, steps, bits)
            capacity[a] += least
            capacity[back] -= least
            rest = capacity[back]
        if rest <= 0.0:
            parent[p], orphans[n_orphans] = ORPHAN, p
            n_orphans += 1
        if a == TERMINAL:
            break
        p = up
    p = right
    while True:
        a = parent[p]
        if a == TERMINAL:
            terminal[p] += least
            rest, up = -terminal[p], p
        else:
            back, up = sister(a, heads, sisters, steps, bits), head(a, heads, steps, bits)
            capacity[back] += least
            capacity[a] -= least
            rest = capacity[a]
        if rest <= 0.0:
            parent[p], orphans[n_orphans] = ORPHAN, p
            n_orphans += 1
        if a == TERMINAL:
            break
        p = up
    return least, n_orphans


@jit
def depth(q, time, heads, steps, bits, parent, stamp, distance):
    """Arcs from a node to its root, FAR where it has none; what is known of this time is used."""
    p, d = q, 0
    while True:
        if stamp[p] == time:
            return d + distance[p]
        a = parent[p]
        d += 1
        if a == TERMINAL:
            stamp[p], distance[p] = time, 1
            return d
        if a == ORPHAN:
            return FAR
        p = head(a, heads, steps, bits)


@jit
def adopt(
    n_orphans,
    time,
    first,
    heads,
    sisters,
    steps,
    bits,
    capacity,
    tree,
    parent,
    stamp,
    distance,
    queue,
    queued,
    end,
    orphans,
):
    """Give orphans the parent nearest to the root, or set them free with their children as orphans."""
    n, at = len(tree), 0
    size = n + 1
    while n_orphans > 0:
        p = orphans[at]
        at = at + 1 if at < n else 0
        n_orphans -= 1
        own, best, nearest = tree[p], NONE, FAR
        start, stop = arcs_of(p, first, bits)
        for a in range(start, stop):
            room = capacity[sister(a, heads, sisters, steps, bits)] if own == SOURCE else capacity[a]
            if room <= 0.0:
                continue
            q = head(a, heads, steps, bits)
            if tree[q] != own or parent[q] == NONE:
                continue
            d = depth(q, time, heads, steps, bits, parent, stamp, distance)
            if d < FAR:
                if d < nearest:
                    best, nearest = a, d
                while stamp[q] != time:
                    stamp[q], distance[q] = time, d
                    d -= 1
                    q = head(parent[q], heads, steps, bits)
        if nearest < FAR:
            parent[p], stamp[p], distance[p] = best, time, nearest + 1
            continue
        for a in range(start, stop):
            q = head(a, heads, steps, bits)
            if tree[q] != own:
                continue
            room = capacity[sister(a, heads, sisters, steps, bits)] if own == SOURCE else capacity[a]
            if room > 0.0 and not queued[q]:
                queued[q] = True
                queue[end] = q
                end = end + 1 if end < n else 0
            if parent[q] >= 0 and head(parent[q], heads, steps, bits) == p:
                parent[q] = ORPHAN
                orphans[(at + n_orphans) % size] = q
                n_orphans += 1
        tree[p], parent[p] = FREE, NONE
    return end
