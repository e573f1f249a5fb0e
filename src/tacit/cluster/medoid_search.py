"""The search for medoids: from a start, exchange medoids for other rows while that lowers the loss.

FasterPAM takes the first exchange that helps, PAM the best of all; alternation makes the best member of each cluster its medoid.
"""

from dataclasses import dataclass

import numpy as np

from .medoid_partition import Partition
from .medoid_starts import best_single, build, start_medoids

__all__ = ["METHODS", "Found", "search"]


@dataclass(frozen=True)
class Found:
    """Where a search ended.

    Attributes
    ----------
    medoids : (k,) array of int
        Rows of the matrix.
    losses : tuple of float
        Loss at the start and after every iteration.
    n_iter : int
        Iterations: sweeps over all rows, or exchanges of PAM.
    converged : bool
        Whether nothing was left to improve.
    """

    medoids: np.ndarray
    losses: tuple
    n_iter: int
    converged: bool


def _fasterpam(partition, max_iter, report):
    """Take every exchange that helps as it comes, until a whole sweep found none."""
    n, position, quiet = len(partition.D), 0, 0  # quiet: candidates seen since the last exchange
    losses = [partition.loss]
    while quiet < n and len(losses) <= max_iter:
        stop = min(n, position + n - quiet)
        found = partition.first_exchange(position, stop)
        if found is None:
            quiet, position = quiet + stop - position, stop
        else:
            partition.exchange(found[1], found[0])
            quiet, position = 0, found[0] + 1
        if position == n or quiet >= n:
            position = 0
            losses.append(partition.loss)
            report(len(losses) - 1, partition.loss)
    return losses, quiet >= n


def _fastpam(partition, max_iter, report):
    """Take the best exchange of all, until there is none."""
    losses = [partition.loss]
    while len(losses) <= max_iter:
        found = partition.best_exchange()
        if found is None:
            return losses, True
        partition.exchange(found[1], found[0])
        losses.append(partition.loss)
        report(len(losses) - 1, partition.loss)
    return losses, False


def _alternate(partition, max_iter, report):
    """Assign rows to medoids and centre medoids in turn."""
    losses = [partition.loss]
    while len(losses) <= max_iter:
        moved = partition.centre()
        losses.append(partition.loss)
        report(len(losses) - 1, partition.loss)
        if not moved or losses[-1] >= losses[-2]:
            return losses, True
    return losses, False


METHODS = {"fasterpam": _fasterpam, "pam": _fastpam, "fastpam1": _fastpam, "alternate": _alternate}


def _improve(pairs, medoids, method, max_iter, report):
    partition = Partition(pairs, medoids)
    losses, converged = METHODS[method](partition, max_iter, report)
    return Found(partition.medoids, tuple(losses), len(losses) - 1, converged)


def _single(pairs):
    """One medoid: the best of all rows, whatever the method."""
    medoids = [best_single(pairs)]
    return Found(np.array(medoids), (Partition(pairs, medoids).loss,), 0, True)


def search(pairs, counts, init, method, max_iter, rng, report):
    """The medoids of a matrix for every number of medoids in `counts`, which rise.

    With several numbers every search also starts from the medoids of the number before and those that save most besides, and the
    better of the two ends counts.

    Parameters
    ----------
    init : str or array of int
        The name of a start, or rows to start from.
    report : callable
        Takes the number of medoids, the iteration and the loss.

    Returns
    -------
    list of Found
    """
    named = isinstance(init, str)
    nested = build(pairs, counts[-1]) if named and init == "build" and counts[-1] > 1 else None
    results: list[Found] = []
    for k in counts:
        if k == 1:
            results.append(_single(pairs))
            continue
        if nested is not None:
            starts = [nested[:k]]
        elif named:
            starts = [start_medoids(init, pairs, k, rng)]
        else:
            starts = [build(pairs, k, given=list(init[:k]))]
        if results:
            starts.append(build(pairs, k, given=list(results[-1].medoids)))
        ends: list[Found] = []
        for start in starts:
            if not any(set(start) == set(other.medoids) for other in ends):
                ends.append(_improve(pairs, start, method, max_iter, lambda *at, k=k: report(k, *at)))
        results.append(min(ends, key=lambda found: found.losses[-1]))
    return results
