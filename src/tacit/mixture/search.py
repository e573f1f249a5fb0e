"""Where Gaussian mixtures of few rows start: one race of many starts, and a search around its winner.

Partitions of the rows by k-means, by Ward's hierarchy and at random run side by side, some of them annealed, and the best go on.
Unless several runs have come to the same maximum, the winner is then disturbed, by other weights of the rows or by merging two
classes and splitting a third, and what leads higher is kept. All runs are compiled (`kernels/runs.py`).

References
----------
Ueda and Nakano (1998), Deterministic annealing EM algorithm.
Ueda, Nakano, Ghahramani and Hinton (2000), SMEM algorithm for mixture models.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ..engine.restarts import Lead
from ..families.dense import FullGaussian, TiedGaussian
from ..families.diagonal import DiagonalGaussian, SphericalGaussian
from ..families.gaussian import location_and_scale
from ..kernels import EXPECT, backend, kernel, lazy
from ..kernels.layout import strip_width
from ..source import Block
from ..source.threads import one_blas_thread
from .model import MixtureModel, MixtureParams
from .seeds import ORDER

__all__ = ["Found", "can_search", "search"]

compiled = lazy("runs")
FORMS: dict[type, int] = {FullGaussian: 0, TiedGaussian: 1, DiagonalGaussian: 2, SphericalGaussian: 3}
MOST_COLUMNS = 64
WARD_ROWS = 250
SAME = 0.01
"""Two runs came to the same maximum where their objectives differ by less, in nats for all rows together."""
AGREED = 0.8
"""Where so large a share of a few starts leads to the same maximum, others would too."""
APART = 0.98
"""Rows are this sure of their class on average where classes lie apart."""
PATIENCE = 4
"""So many rounds of moves that lead nowhere, or so many runs at the same maximum, and the search is over."""
EFFORT = 150_000.0
"""Microseconds or so that the search may take."""
MOST_STARTS = 32
FEW_ROWS = 1000
QUICK = 10_000.0
"""Microseconds or so that are not worth saving."""


@dataclass(frozen=True)
class Found:
    """Parameters to start from, and what led to them."""

    params: MixtureParams
    lead: Lead


def can_search(model: Any, sample: Block) -> bool:
    """Whether there are compiled runs for a model and rows: a plain Gaussian mixture, and nothing missing or known."""
    return (
        type(model) is MixtureModel
        and type(model.family) in FORMS
        and model.family.prior is None
        and model.init_method == "kmeans"
        and not model.one_start
        and backend(sample.X) == "cpu"
        and sample.X.shape[1] <= MOST_COLUMNS
        and sample.patterns.is_complete
        and not (sample.labels >= 0).any()
    )


@dataclass
class Runs:
    """Runs side by side: weights (runs, classes), means about the origin, covariances, and what they came to."""

    share: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray
    value: np.ndarray
    steps: np.ndarray
    low: np.ndarray

    @classmethod
    def at(cls, share: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> Runs:
        """Runs that have not begun."""
        n = len(share)
        return cls(share, mean, covariance, np.full(n, -np.inf), np.zeros(n, np.int64), np.zeros(n, np.int64))

    def __getitem__(self, which: Any) -> Runs:
        return Runs(*(values[which] for values in vars(self).values()))

    def __len__(self) -> int:
        return len(self.share)

    @classmethod
    def joined(cls, parts: list[Runs]) -> Runs:
        """All runs of several groups."""
        return cls(*(np.concatenate(values) for values in zip(*(vars(part).values() for part in parts))))


class Search:
    """Runs of one model over one sample of rows."""

    def __init__(self, model: Any, sample: Block, rng: np.random.Generator, patience: int = PATIENCE):
        self.model, self.rng, self.n_classes, self.patience = model, rng, model.n_components, patience
        self.kind = FORMS[type(model.family)]
        self.X = np.ascontiguousarray(sample.X, dtype=np.float64)
        self.weight, self.labels = np.ascontiguousarray(sample.weight, dtype=np.float64), sample.labels
        self.origin, self.scale = location_and_scale(sample)
        if ORDER not in sample.local:
            sample.local[ORDER] = kernel("row_order", "cpu")(sample.X)
        self.order = sample.local[ORDER]
        n, d = self.X.shape
        self.rows, self.total = np.arange(n, dtype=np.int32), self.weight.sum()
        # What is soon dropped need not have seen all rows.
        self.some = np.sort(self.order[:: -(-n // FEW_ROWS)]).astype(np.int32)
        self.shifted = self.X - self.origin
        self.scatter = (self.shifted * self.weight[:, None]).T @ self.shifted
        self.flat = self.shifted / np.sqrt(self.scale)
        self.round = self._whitened()
        ordered = self.X[self.order]
        self.distinct = self.order[np.r_[True, (ordered[1:] != ordered[:-1]).any(axis=1)]]
        # Steps that the search may take: what one costs was measured.
        cost = 2.5 + 1e-4 * n * self.n_classes * (d + 4) ** 2
        self.n_left, self.n_spare = EFFORT / cost, (EFFORT - QUICK) / cost
        self.n_ended = self.n_reached = 0
        # A class of fewer rows has no covariance of its own: its likelihood tells of rounding and of the floor.
        self.same = SAME * self.total / n
        self.fewest = (d + 1.0, 0.0, 2.0, 1.0)[self.kind] * self.total / n

    def _whitened(self) -> np.ndarray:
        """Rows that are uncorrelated, by a triangle: eigenvectors would turn where rounding says so."""
        try:
            lower = np.linalg.cholesky(self.scatter / self.total)
            return solve_triangular(lower, self.shifted.T, lower=True, check_finite=False).T
        except np.linalg.LinAlgError:
            return self.flat

    # Partitions of the rows, (partitions, rows). Draws go along the cumulated weight of the sorted rows: neither their order nor
    # a row given twice instead of weight 2 changes them.

    def _drawn(self, chance: np.ndarray, size: int) -> np.ndarray:
        """Rows drawn in proportion to chance (partitions, rows), so many for each partition."""
        cumulated = np.cumsum(chance[:, self.order], axis=1)
        at = self.rng.random((len(chance), size)) * cumulated[:, -1:]
        place = (cumulated[:, None, :] <= at[:, :, None]).sum(axis=2)
        return self.order[np.minimum(place, len(self.order) - 1)]

    def _nearest(self, Z: np.ndarray, center: np.ndarray) -> np.ndarray:
        """The nearest of the centres (partitions, classes, columns) to each row."""
        apart = (center**2).sum(axis=2)[:, :, None] - 2.0 * (center @ Z.T)
        return apart.argmin(axis=1)

    def _members(self, labels: np.ndarray) -> np.ndarray:
        """Weights of the rows in the classes of partitions, (partitions, classes, rows)."""
        return (labels[:, None, :] == np.arange(self.n_classes)[:, None]) * self.weight

    def by_means(self, Z: np.ndarray, n: int) -> np.ndarray:
        """k-means from seeds drawn far apart."""
        square = (Z**2).sum(axis=1)
        near = np.ones((n, len(Z)))
        center = np.empty((n, self.n_classes, Z.shape[1]))
        for k in range(self.n_classes):
            candidates = Z[self._drawn(near * self.weight, 3)]
            apart = square - 2.0 * (candidates @ Z.T) + (candidates**2).sum(axis=2)[:, :, None]
            apart = np.maximum(apart if k == 0 else np.minimum(apart, near[:, None, :]), 0.0)
            best = (apart @ self.weight).argmin(axis=1)
            center[:, k], near = candidates[range(n), best], apart[range(n), best]
        for _ in range(5):
            members = self._members(self._nearest(Z, center))
            count = members.sum(axis=2, keepdims=True)
            center = np.where(count > 0, members @ Z / np.where(count > 0, count, 1.0), center)
        return self._nearest(Z, center)

    def by_rows(self, Z: np.ndarray, n: int) -> np.ndarray:
        """The nearest of random rows."""
        return self._nearest(Z, Z[self._drawn(np.tile(self.weight, (n, 1)), self.n_classes)])

    def by_cuts(self, Z: np.ndarray, n: int) -> np.ndarray:
        """Random directions, each cut at random shares of the rows."""
        place = self.rng.standard_normal((n, Z.shape[1])) @ Z.T
        order = place.argsort(axis=1, kind="stable")
        cumulated = np.cumsum(self.weight[order], axis=1)
        at = self.rng.random((n, self.n_classes - 1, 1)) * self.total
        cut = np.minimum((cumulated[:, None, :] < at).sum(axis=2), len(self.rows) - 1)
        threshold = np.take_along_axis(place, np.take_along_axis(order, cut, axis=1), axis=1)
        return (place[:, None, :] > threshold[:, :, None]).sum(axis=1)

    def by_hierarchy(self, Z: np.ndarray) -> np.ndarray:
        """Ward's clusters of the distinct rows, of at most a few hundred of them; other rows join the nearest mean."""
        from scipy.cluster.hierarchy import fcluster, linkage

        distinct = self.distinct
        if len(distinct) > WARD_ROWS:
            distinct = distinct[np.linspace(0, len(distinct) - 1, WARD_ROWS).astype(int)]
        labels = fcluster(linkage(Z[distinct], "ward"), self.n_classes, "maxclust") - 1
        center = np.stack([Z[distinct[labels == k]].mean(axis=0) for k in range(labels.max() + 1)])
        return self._nearest(Z, center[None])

    # Runs

    def starts(self, members: np.ndarray, pooled: bool = True) -> Runs:
        """Where runs begin from memberships (starts, classes, rows): classes share a covariance, or have each their own."""
        count = members.sum(axis=2)
        share = np.maximum(count, 0.1 * self.total / self.n_classes**2)
        mean = members @ self.shifted / np.where(count > 0, count, 1.0)[:, :, None]
        ridge = np.diag(max(self.model.family.floor, 1e-9) * self.scale)
        if pooled:
            between = np.swapaxes(mean * count[:, :, None], 1, 2) @ mean
            within = ((self.scatter - between) / self.total + ridge)[:, None]
            covariance = np.repeat(within, self.n_classes, axis=1)
        else:
            second = np.array([[(self.shifted.T * row) @ self.shifted for row in start] for start in members])
            outer = mean[:, :, :, None] * mean[:, :, None, :]
            covariance = second / np.where(count > 0, count, 1.0)[:, :, None, None] - outer + ridge
        return Runs.at(share / share.sum(axis=1, keepdims=True), mean, np.ascontiguousarray(covariance))

    def run(
        self, runs: Runs, n_steps: int, *, tol: float = 1e-6, heat: float = 1.0, n_warm: int = 0, weights: Any = None,
        rows: Any = None,
    ) -> Runs:  # fmt: skip
        """The runs, so many steps further, over some of the rows unless others are named."""
        rows = self.some if rows is None else rows
        weights, before = self.weight[None] if weights is None else weights, runs.steps.sum()
        family, alpha = self.model.family, self.model.weight_prior
        compiled.runs(
            self.X, rows, self.origin, self.scale, float(family.floor), self.kind, alpha, strip_width(self.X.shape[1]), EXPECT,
            weights, self.labels, n_steps, tol, heat, n_warm, *vars(runs).values(),
        )  # fmt: skip
        self.n_left -= (runs.steps.sum() - before) * len(rows) / len(self.rows)
        return runs

    def sound(self, runs: Runs) -> np.ndarray:
        """Which runs have not collapsed: no class on the floor, or of too few rows for a covariance."""
        return (runs.low == 0) & (runs.share.min(axis=1) * self.total > self.fewest) & np.isfinite(runs.value)

    def best(self, runs: Runs, n: int) -> Runs:
        """The best runs at different objectives, sound ones first; of those at the same one the first started is kept."""
        order = np.lexsort((-runs.value, ~self.sound(runs)))
        kept: list = []
        for i in order[np.isfinite(runs.value[order])]:
            near = [j for j, at in enumerate(kept) if abs(runs.value[at] - runs.value[i]) <= self.same]
            if near:
                kept[near[0]] = min(kept[near[0]], i)
            elif len(kept) == n:
                break
            else:
                kept.append(i)
        return runs[kept]

    def params(self, runs: Runs) -> MixtureParams:
        """The parameters of the first run."""
        covariance = runs.covariance[0]
        if self.kind == 1:
            covariance = covariance[0]
        elif self.kind > 1:
            covariance = np.diagonal(covariance, axis1=1, axis2=2)
            covariance = covariance[:, 0] if self.kind == 3 else covariance
        family = self.model.family
        components = family.params(runs.mean[0] + self.origin, np.array(covariance), self.origin, self.scale)
        return MixtureParams(runs.share[0], components)

    def search(self) -> Runs | None:
        """The best run of a race or, unless nearly all runs agree, what a search around it found; None if all collapsed."""
        runs = self.run(self.started(1, 1, 0, hierarchy=True), 15)
        if not self.sound(runs).any():
            return None
        best = self.best(runs, 1)
        if self._at(runs, best) >= AGREED * len(runs) or self._is_plain(runs, best):
            self._count(runs, best)
            return best
        best = self._improved(self._race(runs))
        return best if self.sound(best).any() else None

    def _is_plain(self, runs: Runs, best: Runs) -> bool:
        """Whether classes lie apart, and k-means and Ward's hierarchy found the same ones in one of the two spaces."""
        if max(self._at(runs[[0, 2]], best), self._at(runs[[3, 5]], best)) < 2:
            return False
        resp = self.model.posterior(self.params(best), Block.of(self.X[self.some]))[0]
        return float(self.weight[self.some] @ resp.max(axis=1)) >= APART * self.weight[self.some].sum()

    def started(self, n_means: int, n_rows: int, n_cuts: int, hierarchy: bool = False) -> Runs:
        """Starts from partitions of every kind, so many for each of two spaces."""
        found = []
        for Z in (self.flat, self.round):
            found += [self.by_means(Z, n_means), self.by_rows(Z, n_rows), self.by_cuts(Z, n_cuts)]
            found += [self.by_hierarchy(Z)] * hierarchy
        return self.starts(self._members(np.concatenate(found)))

    def _race(self, first: Runs) -> Runs:
        """The runs that came to the end of a race between many more starts, some of them annealed."""
        n = int(np.clip(self.n_left / 80, 4, MOST_STARTS // 2))
        runs = self.started(n - n // 2, n // 4, n // 2 - n // 4)
        cold, warm, hot = runs[::2], runs[1::4], runs[3::4]
        groups = self.run(cold, 10), self.run(warm, 24, heat=0.4, n_warm=20), self.run(hot, 24, heat=0.2, n_warm=20)
        runs = self.run(self.best(Runs.joined([first, *groups]), 2 * n // 3), 30)
        return self.ended(self.best(runs, max(n // 5, 2)))

    def _improved(self, runs: Runs) -> Runs:
        """The best of the runs, or what moves away from it lead to."""
        best, idle = self.best(runs, 1), 0
        if not len(best):  # all fell onto the floor, and further steps made them singular
            return best
        self._count(runs, best)
        while self.n_left > 0 and self.sound(best)[0]:
            if idle >= (1 if self.n_reached >= self.patience and self.n_left < self.n_spare else self.patience):
                break
            moved = self.run(Runs.joined([self.reweighted(best, 6), *self.regrouped(best, 4)]), 20)
            moved = self.ended(self.best(moved, 2))
            winner = self.best(Runs.joined([best, moved]), 1)
            idle = 0 if self._is_better(winner, best) else idle + 1
            if idle == 0:
                best, self.n_reached = winner, 0
            self._count(moved, best)
        return best

    def ended(self, runs: Runs) -> Runs:
        """The runs, followed until they hardly gain."""
        return self.run(runs, 150, tol=1e-7, rows=self.rows)

    def _is_better(self, new: Runs, old: Runs) -> bool:
        """Whether a run came to a better maximum than another."""
        sound = self.sound(new)[0], self.sound(old)[0]
        return sound[0] > sound[1] or (sound[0] == sound[1] and new.value[0] > old.value[0] + self.same)

    def _count(self, ended: Runs, best: Runs) -> None:
        self.n_ended += len(ended)
        self.n_reached += self._at(ended, best)

    def _at(self, runs: Runs, best: Runs) -> int:
        """How many runs are where the best is."""
        return int((np.abs(runs.value - best.value[0]) <= self.same).sum())

    # Moves

    def reweighted(self, best: Runs, n: int) -> Runs:
        """Runs that leave the best one under other weights of the rows, random waves over their space, while annealed."""
        phase = 4.0 * self.rng.standard_normal((n, self.X.shape[1])) @ self.flat.T
        weights = self.weight * np.exp(1.4 * np.cos(phase + 2.0 * np.pi * self.rng.random((n, 1))))
        return self.run(best[np.zeros(n, int)], 8, heat=0.5, n_warm=8, weights=weights)

    def regrouped(self, best: Runs, n: int) -> list[Runs]:
        """Starts from the best run with two classes merged, likely ones that overlap, and another cut in two."""
        if self.n_classes < 3:
            return []
        resp = self.model.posterior(self.params(best), Block.of(self.X))[0].T * self.weight
        common, pairs = resp @ resp.T, np.transpose(np.triu_indices(self.n_classes, 1))
        size = np.sqrt(np.maximum(np.diag(common), np.finfo(float).tiny))
        likely = np.array([common[i, j] / (size[i] * size[j]) for i, j in pairs]) + 0.05
        found = []
        for i, j in pairs[self.rng.choice(len(pairs), size=n, p=likely / likely.sum())]:
            k = self.rng.choice(np.setdiff1d(range(self.n_classes), (i, j)))
            place = self.round @ self.rng.standard_normal(self.round.shape[1])
            mean, square = resp[k] @ np.transpose([place, place**2]) / resp[k].sum()
            beyond = place > mean + 0.7 * np.sqrt(max(square - mean**2, 0.0)) * self.rng.standard_normal()
            members = resp.copy()
            members[i] += resp[j]
            members[j], members[k] = resp[k] * beyond, resp[k] * ~beyond
            found.append(members)
        return [self.starts(np.stack(found), pooled=False)]


def search(model: MixtureModel, sample: Block, rng: np.random.Generator, patience: int = PATIENCE) -> Found | None:
    """The best maximum that a race and the search around its winner came to; None where all that was found collapsed."""
    with one_blas_thread():
        task = Search(model, sample, rng, patience)
        if len(task.distinct) < task.n_classes:
            return None
        best = task.search()
        if best is None:
            return None
        return Found(task.params(best), Lead(int(best.steps[0]), task.n_ended, task.n_reached))
