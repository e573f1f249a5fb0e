"""Where k-medoids may start: medoids chosen one after the other, each by what it saves, or drawn."""

from collections.abc import Callable, Sequence

import numpy as np

from ...kernels import lazy
from ...source.threads import over_ranges
from .partition import CHUNK_CELLS, Pairs

__all__ = ["STARTS", "build", "heuristic"]

kernels = lazy("medoids")


def _over_candidates(function: Callable[[int, int], None], pairs: Pairs) -> None:
    """Run function(start, stop) over all candidates."""
    over_ranges(function, len(pairs.D), pairs.threads, max(1, CHUNK_CELLS // len(pairs.D)))


def heuristic(pairs: Pairs, k: int, rng: np.random.Generator | None = None) -> np.ndarray:
    """The k rows with the least weighted distance to all rows."""
    totals = np.empty(len(pairs.D))
    _over_candidates(lambda a, b: kernels.totals(pairs.D, pairs.weight, a, b, totals), pairs)
    totals[~pairs.candidate] = np.inf
    return np.argsort(totals, kind="stable")[:k]


def build(
    pairs: Pairs, k: int, rng: np.random.Generator | None = None, given: Sequence[int] | np.ndarray = ()
) -> np.ndarray:
    """The greedy start BUILD: every medoid saves most, given those before it, of which some may be given.

    Savings can only fall as medoids are added, so what a candidate once saved bounds what it saves now, and a candidate below
    the best is not looked at: the result is that of looking at all, mostly in two passes over the matrix instead of k.
    """
    D, weight = pairs.D, pairs.weight
    medoids = list(given) or list(heuristic(pairs, 1))
    nearest = np.min(D[medoids], axis=0).astype(np.float64)
    bound = np.empty(len(D))
    if len(medoids) < k:
        _over_candidates(lambda a, b: kernels.savings(D, nearest, weight, a, b, bound), pairs)
    bound[~pairs.candidate] = -1.0
    bound[medoids] = -1.0
    while len(medoids) < k:
        order = np.argsort(-bound, kind="stable")
        best = kernels.first_addition(D, nearest, weight, order, bound)
        medoids.append(best)
        bound[best] = -1.0
        np.minimum(nearest, D[best], out=nearest)
    return np.array(medoids)


def lab(pairs: Pairs, k: int, rng: np.random.Generator) -> np.ndarray:
    """Linear approximative BUILD: every medoid saves most among 10 + √n rows drawn anew, measured on these."""
    D, weight = pairs.D, pairs.weight
    medoids, nearest = [], np.full(len(D), np.inf)
    free = pairs.candidate.copy()
    for _ in range(k):
        rows = np.flatnonzero(free)
        size = min(len(rows), 10 + int(np.ceil(np.sqrt(len(rows)))))
        rows = np.sort(rng.choice(rows, size, replace=False))
        loss = np.minimum(nearest[rows], D[np.ix_(rows, rows)]) @ weight[rows]
        best = rows[np.argmin(loss)]
        medoids.append(best)
        free[best] = False
        nearest = np.minimum(nearest, D[best])
    return np.array(medoids)


def plus_plus(pairs: Pairs, k: int, rng: np.random.Generator) -> np.ndarray:
    """Rows drawn in proportion to weight × distance to the medoids drawn before."""
    medoids: list[int] = []
    nearest = np.ones(len(pairs.D))
    for _ in range(k):
        chance = np.where(pairs.candidate, pairs.weight * nearest, 0.0)
        chance[medoids] = 0.0
        if not chance.any():  # all that is left lies on medoids
            chance = np.where(pairs.candidate, pairs.weight, 0.0)
            chance[medoids] = 0.0
        steps = np.cumsum(chance)
        best = int(np.searchsorted(steps, rng.random() * steps[-1], side="right"))
        best = min(best, int(np.flatnonzero(chance)[-1]))  # the product may round up to the last step
        row = pairs.D[best].astype(np.float64)
        nearest = np.minimum(nearest, row) if medoids else row
        medoids.append(best)
    return np.array(medoids)


def at_random(pairs: Pairs, k: int, rng: np.random.Generator) -> np.ndarray:
    """Rows drawn in proportion to their weight, none twice."""
    chance = np.where(pairs.candidate, pairs.weight, 0.0)
    return rng.choice(len(chance), k, replace=False, p=chance / chance.sum())


STARTS: dict[str, Callable[[Pairs, int, np.random.Generator], np.ndarray]] = {
    "build": build, "lab": lab, "k-medoids++": plus_plus, "heuristic": heuristic, "random": at_random
}  # fmt: skip
