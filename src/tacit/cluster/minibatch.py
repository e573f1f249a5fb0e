"""`MiniBatchKMeans`: k-means that learns from small random batches, c_k = mean of all rows that centre k ever got."""

import numbers
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from ..base import Task
from ..base.settings import KW_ONLY, settings
from ..checks import check_number
from ..declared import Whole
from ..engine import Fit, Online, Trace
from ..kernels import host
from ..notes import Note
from ..source import OneBlock, Source
from .centers import Centers, CenterStats, KMeansModel, moved_within
from .estimator import Spread, check_enough
from .kmeans import KMeans
from .seeds import filled

__all__ = ["MiniBatchKMeans"]


@settings
class MiniBatchKMeans(KMeans):
    """K-means by small random batches, for rows too many to pass over often.

    Drop-in for scikit-learn's ``MiniBatchKMeans``; takes missing cells, sparse rows and streams as `KMeans` does. Every row is
    drawn once before any is drawn again. Rows that come in a stream are not drawn: their blocks are the batches.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init, verbose, random_state, n_jobs, device
        As in `KMeans`.
    max_iter : int, default=100
        Most times that every row is drawn.
    batch_size : int, default=1024
        Rows in a batch.
    compute_labels : bool, default=True
        Whether to find the labels and the loss of all rows in the end.
    tol : float, default=0.0
        As in `KMeans`, of the movement in one batch; 0 does not stop.
    max_no_improvement : int or None, default=10
        Stop after so many batches in which the smoothed loss of a batch did not improve.
    init_size : int, optional
        Rows to draw starts from; default three batches.
    n_init : int or "auto", default="auto"
        Number of starts, of which the best on another sample is learned from; ``auto`` is 1 where they lie far apart, else 3.
    reassignment_ratio : float, default=0.01
        A centre that got less than this share of the rows of the largest one is moved to a random row now and then.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row, if they were computed.
    inertia_ : float
        Weighted sum of squared distances of rows to their centres; an estimate from the last batches if labels were not computed.
    n_iter_ : int
        Passes over the rows that were begun.
    n_steps_ : int
        Batches.
    fit_ : Fit
        What was learned, with the smoothed loss of a row after every batch (negated) and the reason why it stopped.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Sculley (2010), Web-scale k-means clustering.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.cluster import MiniBatchKMeans
    >>> X = np.repeat([[0.0, 1.0], [9.0, 8.0]], 50, axis=0)
    >>> kmeans = MiniBatchKMeans(2, batch_size=20, random_state=0).fit(X)
    >>> np.bincount(kmeans.labels_)
    array([50, 50])
    """

    _: KW_ONLY
    max_iter: int = 100
    batch_size: int = 1024
    compute_labels: bool = True
    tol: float = 0.0
    max_no_improvement: int = 10
    init_size: Any = None
    reassignment_ratio: float = 0.01
    algorithm: ClassVar = "lloyd"  # type: ignore[misc]  # a batch is seen once, so that bounds would never be used
    copy_x: ClassVar = True  # type: ignore[misc]
    callback: ClassVar = None  # type: ignore[misc]

    _saved = KMeans._saved | {"n_steps_": Whole(0)}

    def _model(self) -> KMeansModel:
        model = super()._model()
        model.monotone = False  # objectives are those of batches
        return model

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("batch_size", self.batch_size, numbers.Integral, 1)
        check_number("reassignment_ratio", self.reassignment_ratio, numbers.Real, 0)
        check_number("max_no_improvement", self.max_no_improvement, numbers.Integral, 0, also=(None,))
        check_number("init_size", self.init_size, numbers.Integral, 1, also=(None,))

    def _n_starts(self, model: Any) -> int:
        n_starts = super()._n_starts(model)
        return 3 if self.n_init == "auto" and n_starts > 1 else n_starts

    def _init_rows(self, source: Source) -> int:
        """Rows to draw starts from."""
        size = 3 * self.batch_size if self.init_size is None else self.init_size
        return min(size if size >= self.n_clusters else 3 * self.n_clusters, source.n_rows)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # type: ignore[override]  # no checkpoints
        """Find the clusters.

        Parameters
        ----------
        X, y, sample_weight
            As in `KMeans`.

        Returns
        -------
        self
        """
        self._check_settings()
        source = self._open(X, sample_weight, reset=True)
        check_enough(source.n_rows, self.n_clusters)
        model, rng = self._model(), self._rng()
        start, known = self._best_start(model, source, rng)
        state, progress = Online(start), _Progress(self, source, self.tol * known.variance)
        whole = source.in_memory and self.batch_size >= source.n_rows
        try:
            for batch in self._batches(source, rng):
                # Where a batch is all rows, what they were assigned to before says nothing that they do not say better now.
                known_so_far = replace(state, stats=None) if whole else state
                before, state = state.params, self._step(model, batch, known_so_far, rng)
                if progress.ended(before, state, batch.n_rows):
                    break
        except KeyboardInterrupt:
            progress.interrupt(state)
        self._publish_batches(source, state, progress)
        return self

    def _publish_batches(self, source: Source, state: Online, progress: "_Progress") -> None:
        fit = Fit(state.params, progress.trace, progress.reason, progress.converged, progress.interrupted)
        self._publish_fit(fit, source.dtype)
        self._online, self.n_steps_, self._init_size = state, state.steps, self._init_rows(source)
        self.n_iter_ = -(-progress.rows_seen // source.n_rows)
        if self.compute_labels:
            self._label(source)
            self._check_distinct()
            return
        self.__dict__.pop("labels_", None)
        self.inertia_ = progress.smooth * float(sum(host(block.weight).sum() for block in source))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Find the clusters and return the one of each row."""
        self.fit(X, y, sample_weight)
        return self.labels_ if self.compute_labels else self.predict(X)

    def _best_start(self, model: KMeansModel, source: Source, rng: np.random.Generator) -> tuple[Centers, Spread]:
        """The start that fits a second sample of rows best, and what is known of all rows."""
        known, size = self._prepare(source), self._init_rows(source)
        if self.init_size is not None and self.init_size < self.n_clusters:
            warnings.warn(
                f"init_size={self.init_size} should be larger than n_clusters={self.n_clusters}. Setting it to {size}.",
                RuntimeWarning,
                stacklevel=3,
            )
        sample, check = (source.sample(size, rng) for _ in range(2))
        n_starts, starts = self._n_starts(model), []
        for number in range(n_starts):
            params = self._start(model, Task(source, sample, rng, known))
            starts.append((model.assign(params, check)[1], params))
            if self.verbose:
                print(f"Init {number + 1}/{n_starts} has the inertia {starts[-1][0]:.8g}")
        return min(starts, key=lambda start: start[0])[1], known

    def _batches(self, source: Any, rng: np.random.Generator) -> Iterator[Source]:
        """Batches of rows: random ones where rows are in memory, else the blocks of the stream."""
        if not source.in_memory:
            for _ in range(self.max_iter):
                yield from (OneBlock(block) for block in source if host(block.weight).any())
            return
        eligible, size = source.eligible(), min(self.batch_size, source.n_rows)
        waiting = np.empty(0, eligible.dtype)
        for _ in range(max(self.max_iter * source.n_rows // size, 1)):
            while len(waiting) < size:
                waiting = np.append(waiting, rng.permutation(eligible))
            yield source.subset(np.sort(waiting[:size]))
            waiting = waiting[size:]

    def _count(self, state: Online) -> None:
        self.n_iter_ = self.n_steps_ = state.steps

    def _first(self, source: Source) -> Centers:
        return self._best_start(self._model(), source, self._rng())[0]

    def _tend(
        self, model: KMeansModel, batch: Source, state: Online, total: CenterStats, image: Centers,
        rng: np.random.Generator | None,
    ) -> tuple[CenterStats, Centers]:  # fmt: skip
        """Move centres that got few rows, as often as every cluster may be expected to have had ten new ones."""
        before, after = (steps * batch.n_rows // (10 * self.n_clusters) for steps in (state.steps, state.steps + 1))
        if self.reassignment_ratio > 0 and (after > before or (total.counts <= 0).any()):
            if rng is None:  # batches that come one by one draw by their number
                rng = np.random.default_rng([check_random_state(self.random_state).randint(2**31), state.steps])
            return self._reassign(batch, total, image, rng)
        return total, image

    def _reassign(
        self, batch: Source, total: CenterStats, image: Centers, rng: np.random.Generator
    ) -> tuple[CenterStats, Centers]:
        """Move centres with few rows to random rows of the batch, where they count as much as the least of the others."""
        few = np.flatnonzero(total.counts < self.reassignment_ratio * total.counts.max())
        few = few[np.argsort(total.counts[few], kind="stable")][: batch.n_rows // 2]
        eligible = batch.eligible()
        few = few[: len(eligible)]
        if not len(few):
            return total, image
        rows = np.sort(rng.choice(eligible, len(few), replace=False))
        points = filled(batch.take(rows))
        center, counts, cells, sums = (array.copy() for array in (image.center, total.counts, total.cells, total.sums))
        center[few] = points
        counts[few] = np.delete(counts, few).min()
        cells[few] = counts[few, None]
        sums[few] = counts[few, None] * (points - image.origin)
        if self.verbose:
            print(f"[MiniBatchKMeans] Reassigning {len(few)} cluster centers.")
        return CenterStats(total.loglik, total.weight, counts, cells, sums), Centers(center, image.origin)


class _Progress:
    """When to stop: the centres stand still, or the smoothed loss of a row has not improved for long."""

    def __init__(self, estimator: MiniBatchKMeans, source: Source, tol: float):
        self.estimator, self.n_rows = estimator, source.n_rows
        self.tol, self.patience = tol, estimator.max_no_improvement
        self.trace, self.smooth, self.least = Trace(), np.nan, np.inf
        self.rows_seen = self.waited = 0
        self.converged, self.interrupted = False, False
        self.reason = Note("max_iter", "max_iter={max_iter} passes were made", max_iter=estimator.max_iter)

    def ended(self, before: Centers, state: Online, n_rows: int) -> bool:
        """Whether this batch was the last, after `before` moved to the state."""
        self.rows_seen += n_rows
        loss = -state.score
        share = min(2.0 * n_rows / (self.n_rows + 1), 1.0)
        # The loss of the first batch is that of the start, which is much worse than what follows.
        fresh = state.steps <= 2
        self.smooth = loss if fresh else (1.0 - share) * self.smooth + share * loss
        self.trace.record(-self.smooth, 1.0)
        if self.estimator.verbose:
            print(f"Minibatch step {state.steps}: mean batch inertia: {loss:.8g}, ewa inertia: {self.smooth:.8g}")
        if state.steps == 1:
            return False
        moved = float(((state.params.center - before.center) ** 2).sum())
        if self.tol > 0.0 and moved <= self.tol:
            return self._end("small centers change", moved_within(moved, self.tol))
        self.waited = 0 if self.smooth < self.least else self.waited + 1
        self.least = min(self.least, self.smooth)
        if self.patience is not None and self.waited >= self.patience:
            reason = Note("no_improvement", "the loss did not improve for {batches} batches", batches=self.waited)
            return self._end("lack of improvement in inertia", reason)
        return False

    def interrupt(self, state: Online) -> None:
        """End where the user said so; what was learned so far is kept."""
        if not state.steps:
            raise KeyboardInterrupt from None
        told = "interrupted by the user after {batches} batches"
        self.interrupted, self.reason = True, Note("interrupted", told, batches=state.steps)
        warnings.warn(f"{self.reason}; what was learned so far is kept.", UserWarning, stacklevel=3)

    def _end(self, line: str, reason: Note) -> bool:
        self.converged, self.reason = True, reason
        if self.estimator.verbose:
            print(f"Converged ({line})")
        return True
