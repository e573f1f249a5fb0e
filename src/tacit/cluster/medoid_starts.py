"""Where k-medoids may start: medoids chosen one after the other, each by what it saves, or drawn."""

import numpy as np

from ..kernels import medoids as kernels
from .medoid_partition import CHUNK_CELLS, SMALL, ranges
from .threads import spread

__all__ = ["STARTS", "best_single", "build", "start_medoids"]


def _over_candidates(function, D, threads):
    """Run function(start, stop) over all candidates."""
    n = len(D)
    threads = 1 if n * n < SMALL else threads
    starts, step = ranges(n, threads, max(1, CHUNK_CELLS // n))
    spread(lambda a: function(a, min(a + step, n)), starts, threads)


def _totals(D, weight, threads):
    out = np.empty(len(D))
    _over_candidates(lambda a, b: kernels.totals(D, weight, a, b, out), D, threads)
    out[weight == 0] = np.inf
    return out


def best_single(D, weight, threads=1):
    """The row with the least weighted distance to all rows."""
    return int(np.argmin(_totals(D, weight, threads)))


def build(D, weight, k, threads=1, given=()):
    """The greedy start BUILD: every medoid saves most, given those before it, of which some may be given.

    Savings can only fall as medoids are added, so what a candidate once saved bounds what it saves now, and a candidate below
    the best is not looked at: the result is that of looking at all, mostly in two passes over the matrix instead of k.
    """
    medoids = list(given) or [best_single(D, weight, threads)]
    nearest = np.min(D[medoids], axis=0).astype(np.float64)
    bound = np.empty(len(D))
    if len(medoids) < k:
        _over_candidates(lambda a, b: kernels.savings(D, nearest, weight, a, b, bound), D, threads)
    bound[weight == 0] = -1.0
    bound[medoids] = -1.0
    while len(medoids) < k:
        order = np.argsort(-bound, kind="stable")
        best = kernels.first_addition(D, nearest, weight, order, bound)
        medoids.append(best)
        bound[best] = -1.0
        np.minimum(nearest, D[best], out=nearest)
    return np.array(medoids)


def lab(D, weight, k, rng):
    """Linear approximative BUILD: every medoid saves most among 10 + √n rows drawn anew, measured on these."""
    medoids, nearest = [], np.full(len(D), np.inf)
    free = weight > 0
    for _ in range(k):
        rows = np.flatnonzero(free)
        size = min(len(rows), 10 + int(np.ceil(np.sqrt(len(rows)))))
        rows = np.sort(rng.choice(rows, size, replace=False))
        near = D[np.ix_(rows, rows)]
        loss = np.minimum(nearest[rows], near) @ weight[rows]
        best = rows[np.argmin(loss)]
        medoids.append(best)
        free[best] = False
        nearest = np.minimum(nearest, D[best])
    return np.array(medoids)


def plus_plus(D, weight, k, rng):
    """Rows drawn in proportion to weight × distance to the medoids drawn before."""
    medoids: list[int] = []
    nearest = np.ones(len(D))
    for _ in range(k):
        chance = weight * nearest
        chance[medoids] = 0.0
        if not chance.any():  # all that is left lies on medoids
            chance = weight.copy()
            chance[medoids] = 0.0
        steps = np.cumsum(chance)
        best = int(np.searchsorted(steps, rng.random() * steps[-1], side="right"))
        medoids.append(best)
        nearest = np.array(D[best], dtype=np.float64) if len(medoids) == 1 else np.minimum(nearest, D[best])
    return np.array(medoids)


def heuristic(D, weight, k, threads=1):
    """The k rows with the least weighted distance to all rows."""
    return np.argsort(_totals(D, weight, threads), kind="stable")[:k]


def at_random(weight, k, rng):
    """Rows drawn in proportion to their weight, none twice."""
    return rng.choice(len(weight), k, replace=False, p=weight / weight.sum())


STARTS = ("build", "lab", "k-medoids++", "heuristic", "random")


def start_medoids(init, D, weight, k, rng, threads=1):
    """Rows to start from by the name of the start."""
    if init == "build":
        return build(D, weight, k, threads)
    if init == "heuristic":
        return heuristic(D, weight, k, threads)
    if init == "lab":
        return lab(D, weight, k, rng)
    return plus_plus(D, weight, k, rng) if init == "k-medoids++" else at_random(weight, k, rng)
