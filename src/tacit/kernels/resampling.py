"""Sums over rows drawn with replacement: every replicate has random numbers of its own, so that order does not matter.

Numbers come from splitmix64, whose n-th output is a function of the seed and n; a row is drawn without bias by Lemire's method:
the high half of u · n, unless the low half tells that u is one of the few that would favour some rows.
"""

import numpy as np

from .jit import inner, jit

__all__ = ["draw_rows", "draw_sums"]

GOLDEN, FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
MASK, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


@inner
def mixed(z):
    """The output of splitmix64 at a state."""
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    return z ^ (z >> np.uint64(31))


@inner
def stream(seed, replicate):
    """Where the stream of a replicate starts."""
    return mixed(mixed(seed + GOLDEN) + np.uint64(replicate) * FIRST)


@jit
def draw_rows(seed, replicate, n, out):
    """Rows 0 … n − 1 drawn with replacement, as many as `out` holds.

    Parameters
    ----------
    seed : uint64
    replicate, n : int
    out : (m,) int64
        Written.
    """
    state, rows = stream(seed, replicate), np.uint64(n)
    least = (np.uint64(1 << 32) - rows) % rows
    for i in range(len(out)):
        while True:
            state += GOLDEN
            product = (mixed(state) >> HALF) * rows
            if (product & MASK) >= least:
                break
        out[i] = np.int64(product >> HALF)


@jit
def draw_sums(x, seed, first, out):
    """Σ xᵏ over n rows drawn with replacement, k = 1 … order, of replicates `first` and on.

    Parameters
    ----------
    x : (n,) float64
        About their center, where powers are wanted.
    seed : uint64
    first : int
        Number of the first replicate.
    out : (replicates, order) float64
        Written; the order is at most 4.
    """
    n, order = len(x), out.shape[1]
    rows = np.uint64(n)
    least = (np.uint64(1 << 32) - rows) % rows
    for b in range(len(out)):
        state = stream(seed, first + b)
        one, two, three, four = 0.0, 0.0, 0.0, 0.0
        left = n
        while left > 0:
            # Two rows of every number, its halves.
            state += GOLDEN
            u = mixed(state)
            upper, lower = (u >> HALF) * rows, (u & MASK) * rows
            if (upper & MASK) >= least:
                v = x[upper >> HALF]
                one += v
                if order > 1:
                    two += v * v
                    three += v * v * v
                    four += v * v * v * v
                left -= 1
            if left > 0 and (lower & MASK) >= least:
                v = x[lower >> HALF]
                one += v
                if order > 1:
                    two += v * v
                    three += v * v * v
                    four += v * v * v * v
                left -= 1
        out[b, 0] = one
        if order > 1:
            out[b, 1] = two
        if order > 2:
            out[b, 2] = three
        if order > 3:
            out[b, 3] = four
