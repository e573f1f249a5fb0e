"""Starts that the models of a sweep share: assignments of one sample of rows to classes.

An assignment knows nothing of covariances, so what one structure found is a start for every other. With a class cut in two
it is a start for one class more; with two classes merged, for one fewer.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine import Fit, Model, SingularError, fit
from ..families.gaussian import WIDE
from ..source import Block, OneBlock, Source
from ..source.threads import one_blas_thread

__all__ = ["follow", "merges", "merit", "pinned", "race", "splits"]


def splits(resp: np.ndarray, Z: np.ndarray, weight: np.ndarray, most: int | None = None) -> list[np.ndarray]:
    """Assignments to one class more: each class cut at its mean, across the direction in which it is longest.

    Z are complete columns in which distance is meaningful; of the classes, the `most` that spread most are cut.
    """
    found = []
    for k in range(resp.shape[1]):
        share = resp[:, k] * weight
        if share.sum() <= 1e-6 * weight.sum():
            continue
        offset = Z - share @ Z / share.sum()
        spread, place = _longest(offset, share)
        found.append((-spread, k, place > 0))
    cuts = []
    for _, k, beyond in sorted(found, key=lambda each: each[:2])[:most]:
        cut = np.column_stack([resp, resp[:, k] * beyond])
        cut[:, k] *= ~beyond
        cuts.append(cut)
    return cuts


def _longest(offset: np.ndarray, share: np.ndarray) -> tuple[float, np.ndarray]:
    """The spread of rows along the axis on which they spread most, and their places on it."""
    if len(offset) >= offset.shape[1] or offset.shape[1] <= WIDE:
        spread, axes = np.linalg.eigh((offset * share[:, None]).T @ offset)
        return spread[-1], offset @ axes[:, -1]
    rows = offset * np.sqrt(share)[:, None]
    spread, left = np.linalg.eigh(rows @ rows.T)  # of the same eigenvalues as the larger matrix
    return spread[-1], offset @ (rows.T @ left[:, -1])


def merges(resp: np.ndarray, weight: np.ndarray) -> list[np.ndarray]:
    """Assignments to one class fewer: the pairs of classes that share rows most, as many as there are classes."""
    n_classes = resp.shape[1]
    common = (resp * weight[:, None]).T @ resp
    size = np.sqrt(np.maximum(np.diag(common), np.finfo(float).tiny))
    i, j = np.triu_indices(n_classes, 1)
    order = np.argsort(-(common / (size[:, None] * size))[i, j], kind="stable")[:n_classes]
    found = []
    for first, second in zip(i[order], j[order]):
        merged = np.delete(resp, second, axis=1)
        merged[:, first] += resp[:, second]
        found.append(merged)
    return found


def pinned(resp: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Assignments in which rows whose class is known are in it."""
    known = labels >= 0
    if not known.any():
        return resp
    return np.where(known[:, None], np.eye(resp.shape[1])[np.where(known, labels, 0)], resp)


def follow(model: Any, sample: Block, resp: np.ndarray) -> Any:
    """Parameters at given assignments, cautious ones where a class has too few rows for its own."""
    try:
        params = model.follow(sample, resp)
        if not model.collapsed(params):
            return params
    except (SingularError, np.linalg.LinAlgError):
        pass
    return model.start(sample, resp)


def merit(model: Model, learned: Fit) -> tuple[bool, float]:
    """What to rank fits by: those that did not collapse first, then by their objective."""
    objectives = learned.trace.objectives
    return not model.collapsed(learned.params), objectives[-1] if objectives else -np.inf


def race(
    model: Model, sample: Block, starts: Sequence[Any], heats: Sequence[tuple[int, int]], tick: Callable | None = None
) -> list:
    """The parameters that short runs on a sample lead to from the best starts, best first.

    Each heat says how many steps a run takes, and how many runs go on from there; `tick` is called at every step.
    """
    source = _Sample(sample)
    with one_blas_thread():
        for n_steps, n_kept in heats:
            runs = _heat(model, source, starts, n_steps, tick)
            ranked = _distinct(sorted(runs, key=lambda run: run.trace.objectives[-1], reverse=True))
            starts = [run.params for run in _proper_first(model, ranked, n_kept)]
    return list(starts)


class _Sample(OneBlock):
    """A block whose user has seen to the threads of BLAS, for hundreds of passes over few rows."""

    def sum(self, function: Callable[[Block], Any]) -> Any:
        return function(self._made(self.only))


def _heat(model: Model, source: Source, starts: Sequence[Any], n_steps: int, tick: Callable | None = None) -> list[Fit]:
    """A short run from each start; one that turns out singular is left out."""
    runs, failure = [], None
    for start in starts:
        try:
            runs.append(fit(model, source, start, max_iter=n_steps, tol=1e-6, callback=tick))
        except (SingularError, np.linalg.LinAlgError) as error:
            failure = error
            continue
        if runs[-1].interrupted:
            raise KeyboardInterrupt
    if not runs:
        raise SingularError(str(failure))
    return runs


def _proper_first(model: Model, ranked: list[Fit], n_kept: int) -> list[Fit]:
    """The first few fits that did not collapse, then those that did; the rest is not even looked at."""
    kept: list[Fit] = []
    collapsed: list[Fit] = []
    for run in ranked:
        if len(kept) == n_kept:
            break
        (collapsed if model.collapsed(run.params) else kept).append(run)
    return (kept + collapsed)[:n_kept]


def _distinct(ranked: list[Fit]) -> list[Fit]:
    """Fits in their order, without those that came to the same objective."""
    kept = ranked[:1]
    for run in ranked[1:]:
        last, value = kept[-1].trace.per_weight[-1], run.trace.per_weight[-1]
        if abs(last - value) > 1e-6 * (1.0 + abs(last)):
            kept.append(run)
    return kept
