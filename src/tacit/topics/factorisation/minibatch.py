"""`MiniBatchNMF`: multiplicative steps on batches of rows, H = A / B, where A and B are sums that forget: A ← ρ A + a(batch)."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...base.settings import KW_ONLY, settings
from ...checks import check_number
from ...declared import Whole
from ...engine import Fit, Trace
from ...kernels import host
from ...notes import Note
from ...source import Block, Source
from .estimator import PartsEstimator
from .model import CountStats, Factors, PartsModel
from .nmf import _Shaped

__all__ = ["MiniBatchNMF"]

H_RESTS = Note("tol", "the parts moved by less than tol")
NO_GAIN = Note("no_improvement", "the mean loss did not improve any more")


@settings
class MiniBatchNMF(PartsEstimator):
    """Non-negative matrix factorisation by batches of rows.

    Drop-in for scikit-learn's ``MiniBatchNMF``; missing cells drop out of all sums.

    Parameters
    ----------
    n_components, init, beta_loss, tol, max_iter, alpha_W, alpha_H, l1_ratio, random_state, verbose, column_weight, n_jobs, device
        As in :class:`NMF`; `max_iter` counts passes over all rows, and `tol` is how far H must move in a batch, relative to its
        length.
    batch_size : int, default=1024
        Rows of a batch. Rows that are streamed come in the blocks of their source.
    max_no_improvement : int or None, default=10
        Batches without a better smoothed loss after which the fit ends.
    forget_factor : float, default=0.7
        What is left of old batches after a pass over all rows.
    fresh_restarts : bool, default=False
        Solve for W anew in every batch.
    fresh_restarts_max_iter : int, default=30
        Most steps of W then.
    transform_max_iter : int, optional
        Most steps of W in `transform`; default `max_iter`.

    Attributes
    ----------
    components_, n_components_, reconstruction_err_, n_features_in_, feature_names_in_, fit_
        As in :class:`NMF`.
    n_iter_ : int
        Passes over all rows that were begun.
    n_steps_ : int
        Batches.

    References
    ----------
    Lefèvre, Bach and Févotte (2011), Online algorithms for nonnegative matrix factorization with the Itakura–Saito divergence.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.topics import MiniBatchNMF
    >>> X = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [1.0, 3.0, 2.0], [2.0, 3.0, 4.0]])
    >>> MiniBatchNMF(2, batch_size=2, random_state=0).fit(X).components_.shape
    (2, 3)
    """

    n_components: Any = "auto"
    _: KW_ONLY
    init: Any = None
    batch_size: int = 1024
    beta_loss: Any = "frobenius"
    tol: float = 1e-4
    max_no_improvement: int | None = 10
    max_iter: int = 200
    alpha_W: float = 0.0
    alpha_H: Any = "same"
    l1_ratio: float = 0.0
    forget_factor: float = 0.7
    fresh_restarts: bool = False
    fresh_restarts_max_iter: int = 30
    transform_max_iter: int | None = None
    random_state: Any = None
    verbose: int = 0
    column_weight: Any = None
    n_jobs: int | None = None

    _saved = PartsEstimator._saved | {"n_steps_": Whole(0)}

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("batch_size", self.batch_size, numbers.Integral, 1)
        check_number("max_no_improvement", self.max_no_improvement, numbers.Integral, 1, also=(None,))
        check_number("forget_factor", self.forget_factor, numbers.Real, 0, 1)
        check_number("fresh_restarts_max_iter", self.fresh_restarts_max_iter, numbers.Integral, 1)
        check_number("transform_max_iter", self.transform_max_iter, numbers.Integral, 1, also=(None,))

    def _model(self, *given: Any) -> PartsModel:
        model = super()._model(*given)
        model.monotone = False  # objectives are those of batches
        return model

    @property
    def _most_steps(self) -> int:
        return self.max_iter if self.transform_max_iter is None else self.transform_max_iter

    def _solve(self, block: Block) -> Any:
        from .estimator import check_cells

        check_cells(self._told_name, block)
        return self._model().solved(self._params(), block, self.tol, self._most_steps)

    def fit_transform(
        self, X: Any, y: Any = None, W: Any = None, H: Any = None, sample_weight: Any = None
    ) -> np.ndarray:
        """Learn the parts and return how much of each is in every row.

        Parameters
        ----------
        X, y, W, H, sample_weight
            As in :meth:`NMF.fit_transform`.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        self._check_settings()
        source = self._open(X, sample_weight, reset=True)
        self._facts_ = self._check_rows(source)
        W, H = self._check_given(_Shaped(source), W, H)
        self._resolve(source, self._facts_, H)
        model = self._model(self._started(len(source.eligible())))
        scores = np.full((source.n_rows, self.n_components_), self.level_) if W is None else W
        steps = Steps(self, model, self._begun(model, source, H), source.n_rows)
        reason, trace = self._over_batches(steps, source, scores)
        self._publish_steps(steps, source, reason, trace)
        if self.fresh_restarts or not source.in_memory:
            scores = np.concatenate([np.asarray(host(part)) for part in source.map(self._solve)])
        loss = sum(
            model.loss(steps.params, np.ascontiguousarray(scores[rows]), block) for rows, block in self._batches(source)
        )
        self.reconstruction_err_ = float(np.sqrt(2.0 * max(loss, 0.0)))
        self._measure(source, loss, scores)
        del self._facts_
        self._warn_unfinished(reason is not None or self.n_iter_ < self.max_iter)
        return scores.astype(source.dtype)

    def _begun(self, model: PartsModel, source: Source, H: np.ndarray | None) -> Factors:
        rng = self._rng()
        drawn = np.random.default_rng(0) if model.one_start else rng
        return model.init(source.sample(self._sample_rows(), drawn), rng) if H is None else Factors(H)

    def _batches(self, source: Source) -> Iterator[tuple[slice, Block]]:
        """Batches of rows in order, each with its place."""
        if not source.in_memory:
            for block in source:
                yield slice(block.first, block.first + block.n_units), block
            return
        size = min(self.batch_size, source.n_rows)
        for start in range(0, source.n_rows, size):
            rows = slice(start, min(start + size, source.n_rows))
            yield rows, source.take(np.arange(rows.start, rows.stop))

    def _over_batches(self, steps: Steps, source: Source, scores: np.ndarray) -> tuple[Note | None, Trace]:
        """Steps over all batches again and again; why they ended, and the mean losses."""
        kept, trace = list(self._batches(source)) if source.in_memory else None, Trace()
        for _ in range(self.max_iter):
            for rows, block in kept or self._batches(source):
                part = None if self.fresh_restarts else np.ascontiguousarray(scores[rows])
                cost, part = steps.take(block, part)
                scores[rows] = part
                trace.record(-cost, 1.0)
                if (reason := steps.ended(cost, len(block))) is not None:
                    return reason, trace
        return None, trace

    def _publish_steps(self, steps: Steps, source: Source, reason: Note | None, trace: Trace) -> None:
        per_pass = (
            -(-source.n_rows // min(self.batch_size, source.n_rows)) if source.in_memory else len(list(source.parts()))
        )
        told = reason or Note("max_iter", "max_iter={max_iter} passes were taken", max_iter=self.max_iter)
        self._publish_fit(Fit(steps.params, trace, told, converged=reason is not None), source.dtype)
        self.n_steps_, self.n_iter_ = steps.n_steps, -(-steps.n_steps // per_pass)
        self._steps = steps

    def partial_fit(self, X: Any, y: Any = None, W: Any = None, H: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one more batch of rows.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit_transform`.
        W, H
            Where the first batch starts, with ``init="custom"``.

        Returns
        -------
        self
        """
        self._check_settings()
        first = not hasattr(self, "components_")
        source = self._open(X, sample_weight, reset=first)
        facts = self._check_rows(source)
        if first:
            _, H = self._check_given(_Shaped(source), W, H)
            self._resolve(source, facts, H)
            model = self._model(self._started(len(source.eligible())))
            self._steps, self.n_steps_ = Steps(self, model, self._begun(model, source, H), source.n_rows), 0
        elif not hasattr(self, "_steps"):
            self._steps = Steps(self, self._model(), self._params(), source.n_rows)
        cost, _ = self._steps.take(source.take(np.arange(source.n_rows)), None)
        self.n_steps_ += 1
        trace = Trace()
        trace.record(-cost, 1.0)
        reason = Note("batches", "{batches} batches were seen", batches=self.n_steps_)
        self._publish_fit(Fit(self._steps.params, trace, reason), source.dtype)
        self.n_iter_ = self.n_steps_
        return self

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows from how much of each part is in them; see :meth:`NMF.inverse_transform`."""
        check_is_fitted(self)
        return super().inverse_transform(X)


class Steps:
    """What batches have taught so far."""

    def __init__(self, estimator: MiniBatchNMF, model: PartsModel, start: Factors, n_rows: int):
        self.model, self.params, self.n_rows, self.n_steps = model, start, n_rows, 0
        self.above, self.below = start.components.copy(), np.ones_like(start.components)
        self.keep = estimator.forget_factor ** (min(estimator.batch_size, n_rows) / n_rows)
        self.fresh, self.tol = estimator.fresh_restarts_max_iter, estimator.tol
        self.patience, self.verbose = estimator.max_no_improvement, estimator.verbose
        self.moved, self.mean, self.best, self.waited = np.inf, np.nan, np.inf, 0

    def take(self, block: Block, scores: np.ndarray | None) -> tuple[float, np.ndarray]:
        """Learn from a batch, whose scores are given or solved for; its mean loss before, and the scores."""
        model, H = self.model, self.params.components
        solved = scores is None
        scores = model.solved(self.params, block, self.tol, self.fresh) if scores is None else scores
        stats = model.sums(self.params, block, scores, 0 if solved else 1)
        if isinstance(stats, CountStats):
            above, below = stats.counts, model.beneath(stats, self.params)
        else:
            above, below = H * stats.cross.T, model.beneath_squares(stats, self.params)
        self.above, self.below = (
            self.keep * self.above + above,
            self.keep * self.below + np.broadcast_to(below, H.shape),
        )
        self.params, self.n_steps = Factors(model.ratio(self.above, self.below)), self.n_steps + 1
        # A batch of zeros moves nothing, and tells nothing of whether others would.
        step, length = (float(np.linalg.norm(each)) for each in (self.params.components - H, self.params.components))
        self.moved = step / max(length, 1e-300) if above.any() else np.inf
        return -stats.loglik / stats.weight, scores

    def ended(self, cost: float, n_rows: int) -> Note | None:
        """Why no further batch is to be taken, or None; the smoothed loss follows batches as scikit-learn's does."""
        if self.verbose:
            print(f"Minibatch step {self.n_steps}: mean batch cost: {cost}")
        if self.n_steps == 1:
            return None
        share = min(n_rows / (self.n_rows + 1), 1.0)
        self.mean = cost if np.isnan(self.mean) else self.mean * (1.0 - share) + cost * share
        if self.tol > 0 and self.moved <= self.tol:
            return H_RESTS
        self.waited, self.best = (0, self.mean) if self.mean < self.best else (self.waited + 1, self.best)
        return NO_GAIN if self.patience is not None and self.waited >= self.patience else None
