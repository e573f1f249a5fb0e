"""The search for medoids: from a start, exchange medoids for other rows while that lowers the loss.

FasterPAM takes the first exchange that helps, PAM the best of all; alternation makes the best member of each cluster its medoid.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from .partition import Pairs, Partition
from .starts import STARTS, build, heuristic

__all__ = ["METHODS", "Found", "search"]


@dataclass(frozen=True)
class Found:
    """Where a search ended: medoids, the loss at the start and after every iteration, and whether nothing was left to improve."""

    medoids: np.ndarray
    losses: tuple[float, ...]
    converged: bool


# Every method yields after an iteration, with whether it was the last, and ends where there is nothing to do.


def _fasterpam(partition: Partition) -> Iterator[bool]:
    """Take every exchange that helps as it comes, until a whole sweep found none."""
    n, position, quiet = len(partition.D), 0, 0  # quiet: candidates seen since the last exchange
    while quiet < n:
        stop = min(n, position + n - quiet)
        found = partition.first_exchange(position, stop)
        if found is None:
            quiet, position = quiet + stop - position, stop
        else:
            partition.exchange(*found)
            quiet, position = 0, found[0] + 1
        if position == n or quiet >= n:
            position = 0
            yield quiet >= n


def _fastpam(partition: Partition) -> Iterator[bool]:
    """Take the best exchange of all, until there is none."""
    while (found := partition.best_exchange()) is not None:
        partition.exchange(*found)
        yield False


def _alternate(partition: Partition) -> Iterator[bool]:
    """Assign rows to medoids and centre medoids in turn."""
    while True:
        before = partition.loss
        yield not partition.centre() or partition.loss >= before


METHODS = {"fasterpam": _fasterpam, "pam": _fastpam, "fastpam1": _fastpam, "alternate": _alternate}


def _improve(
    pairs: Pairs, medoids: np.ndarray, method: str, max_iter: int, report: Callable[[int, int, float], None]
) -> Found:
    partition = Partition(pairs, medoids)
    losses, ended, steps = [partition.loss], False, METHODS[method](partition)
    while not ended and len(losses) <= max_iter:
        last = next(steps, None)  # None where there was nothing to do
        ended = last is not False
        if last is not None:
            losses.append(partition.loss)
            report(len(medoids), len(losses) - 1, partition.loss)
    return Found(partition.medoids, tuple(losses), ended)


def search(
    pairs: Pairs, counts: list[int], init: str | np.ndarray, *, method: str, max_iter: int, rng: np.random.Generator,
    report: Callable[[int, int, float], None],
) -> list[Found]:  # fmt: skip
    """The medoids of a matrix for every number of medoids in `counts`, which rise, from a named start or from given rows.

    With several numbers every search also starts from the medoids of the number before and those that save most besides, and the
    better of the two ends counts. `report` takes the number of medoids, the iteration and the loss.
    """
    nested = build(pairs, counts[-1]) if isinstance(init, str) and init == "build" and counts[-1] > 1 else None
    results: list[Found] = []
    for k in counts:
        if k == 1:  # the best of all rows, whatever the method
            single = heuristic(pairs, 1)
            results.append(Found(single, (Partition(pairs, single).loss,), True))
            continue
        if nested is not None:
            starts = [nested[:k]]
        elif isinstance(init, str):
            starts = [STARTS[init](pairs, k, rng)]
        else:
            starts = [build(pairs, k, given=init[:k])]
        if results:
            starts.append(build(pairs, k, given=results[-1].medoids))
        ends: list[Found] = []
        for start in starts:
            if not any(set(start) == set(other.medoids) for other in ends):
                ends.append(_improve(pairs, start, method, max_iter, report))
        results.append(min(ends, key=lambda found: found.losses[-1]))
    return results
