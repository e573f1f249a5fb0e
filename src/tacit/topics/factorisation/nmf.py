"""`NMF`: rows as sums of non-negative parts, X ≈ W H with W, H ≥ 0."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...base.learning import Task
from ...base.settings import KW_ONLY, settings
from ...checks import check_choice
from ...engine import Fit, Model, Trace
from ...kernels import backend, host, lazy
from ...notes import Note
from ...source import ArraySource, Block, Source
from ...source.threads import one_blas_thread
from .estimator import PartsEstimator
from .model import STEADY, Factors, PartsModel

__all__ = ["NMF"]

compiled = lazy("nonnegative")


@settings
class NMF(PartsEstimator):
    """Non-negative matrix factorisation: every row is a sum of non-negative parts.

    Drop-in for scikit-learn's ``NMF``. Squared errors are brought down by coordinate descent with several sweeps for each product
    with the rows; other divergences by multiplicative steps. Missing cells drop out of all sums.

    Parameters
    ----------
    n_components : int, "auto", "cells" or None, default="auto"
        Number of parts. "cells" is the number that fills hidden cells best. "auto" and None are the number of columns, or that of
        the rows of a given H, as in scikit-learn; where cells are missing they are "cells".
    init : {"random", "nndsvd", "nndsvda", "nndsvdar", "custom"}, default=None
        Where to start: random numbers, parts of singular vectors (with zeros left, at the mean, at small random numbers), or
        given W and H. None is "nndsvda", or "random" where there are more parts than rows or columns.
    solver : {"cd", "hals", "als", "mu"}, default="cd"
        "cd" and "hals" are coordinate descent, a few sweeps a pass; "als" solves for W and H in turn; "mu" takes
        multiplicative steps, which all losses but "frobenius" need.
    beta_loss : {"frobenius", "kullback-leibler", "itakura-saito"} or float, default="frobenius"
        The loss; a number is the β of a divergence.
    tol : float, default=1e-4
        As in scikit-learn: the share of the first slope at which coordinate descent ends, or the share of the first error that
        ten multiplicative steps must gain.
    max_iter : int, default=200
        Most passes.
    random_state : int, RandomState instance or None, default=None
        Seeds random starts.
    alpha_W, alpha_H : float, default=0.0 and "same"
        Penalties of W and H, scaled as in scikit-learn.
    l1_ratio : float, default=0.0
        Share of the penalties that is absolute; the rest is squared.
    verbose : int, default=0
        Print progress.
    shuffle : bool, default=False
        Ignored, for compatibility: coordinates are visited in order.
    n_init : int, default=1
        Number of random starts, of which the best is kept.
    column_weight : array-like of shape (n_features,), optional
        Weights of the columns in the loss.
    n_jobs : int, optional
        Threads; default all cores. Results do not depend on it.
    device : {"auto", "cpu", "cuda", "cuda:0", …}, optional
        Where to compute; by default where the rows are. "auto" is a GPU where there is one and the rows are many.
    callback : callable, optional
        Called with a `tacit.engine.Progress` after every pass.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        H, the parts.
    n_components_ : int
    reconstruction_err_ : float
        √(2 × loss) at the end; with "frobenius" the length of X − WH.
    rank_choice_ : RankChoice or None
        The curve of errors of hidden cells, with ``n_components="cells"``.
    noise_ : float
        Variance of cells about WH, with "frobenius".
    n_iter_ : int
        Passes.
    fit_ : Fit
        What was learned, with minus the loss after every pass in ``fit_.trace``.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Lee and Seung (1999), Learning the parts of objects by non-negative matrix factorization. Gillis and Glineur (2012),
    Accelerated multiplicative updates and hierarchical ALS. Févotte and Idier (2011), Algorithms for NMF with the
    beta-divergence.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.topics import NMF
    >>> X = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [1.0, 3.0, 2.0], [2.0, 3.0, np.nan]])
    >>> parts = NMF(2).fit(X)
    >>> parts.impute(X).round(2)[3]
    array([2., 3., 4.])
    """

    n_components: Any = "auto"
    _: KW_ONLY
    init: Any = None
    solver: str = "cd"
    beta_loss: Any = "frobenius"
    tol: float = 1e-4
    max_iter: int = 200
    random_state: Any = None
    alpha_W: float = 0.0
    alpha_H: Any = "same"
    l1_ratio: float = 0.0
    verbose: int = 0
    shuffle: bool = False
    n_init: int = 1
    column_weight: Any = None
    n_jobs: int | None = None
    callback: Callable | None = None

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice("solver", self.solver, ("cd", "hals", "als", "mu"))
        if self.solver != "mu" and self._beta != 2.0:
            raise ValueError(
                f"Invalid beta_loss parameter: solver {self.solver!r} does not handle beta_loss = {self.beta_loss!r}; use "
                "solver='mu'."
            )
        if self.solver == "mu" and self.init == "nndsvd":
            warnings.warn(
                "The multiplicative update ('mu') solver cannot update zeros present in the initialization, and so leads to "
                "poorer results when used jointly with init='nndsvd'. You may try init='nndsvda' or init='nndsvdar' instead.",
                UserWarning,
                stacklevel=4,
            )

    def fit_transform(
        self, X: Any, y: Any = None, W: Any = None, H: Any = None, sample_weight: Any = None, *, checkpoint: Any = None,
        checkpoint_every: float = 60.0,
    ) -> np.ndarray:  # fmt: skip
        """Learn the parts and return how much of each is in every row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), sparse matrix, path, Arrow data, Dask collection or source
            Rows without negative cells; NaN is missing.
        y : None
            Ignored.
        W, H : array-like of shape (n_samples, n_components) and (n_components, n_features), optional
            Where to start, with ``init="custom"``.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights: weight 2 counts as the row given twice. For a path, the name of a column.
        checkpoint : path, optional
            A file that keeps the state of the fit. If it exists, the fit goes on from there; it is removed at the end.
        checkpoint_every : float, default=60
            Seconds between writes of the checkpoint.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        self._check_settings()
        source = self._open(X, sample_weight, reset=True)
        with one_blas_thread() if self._is_small(source) else nullcontext():  # asked for once, not for every step
            scores = self._learn_parts(source, W, H, checkpoint, checkpoint_every)
        return scores.astype(source.dtype)

    def _learn_parts(self, source: Source, W: Any, H: Any, checkpoint: Any, checkpoint_every: float) -> np.ndarray:
        """Learn the parts, publish them and return the scores."""
        facts = self._facts_ = self._check_rows(source)
        W, H = self._check_given(_Shaped(source), W, H)
        self._resolve(source, facts, H)
        start = None if H is None else [Factors(H)]
        self._given_scores = W
        try:
            if self._is_small(source) and checkpoint is None:
                scores = self._run(source, None if start is None else start[0])
            else:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    self._learn(source, starts=start, checkpoint=checkpoint, checkpoint_every=checkpoint_every)
                scores = self._recalled(source)
        finally:
            del self._given_scores
        loss = self._publish_loss(source, scores)
        self._measure(source, loss, scores)
        del self._facts_
        if not self.fit_.interrupted:
            self._warn_unfinished(self.converged_)
        return scores

    def _publish_loss(self, source: Source, scores: np.ndarray) -> float:
        """Set the error at the parts and scores that were found; the loss."""
        model, params = self._model(), self.fit_.params

        def lost(block: Block) -> float:
            mine = scores[block.first : block.first + block.n_units]
            return model.loss(params, _on(block, mine), block)

        loss = float(sum(source.map(lost)))
        self.reconstruction_err_ = float(np.sqrt(2.0 * max(loss, 0.0)))
        return loss

    def _model_for(self, known: Any) -> PartsModel:
        return self._model(self._started(known), getattr(self, "_given_scores", None))

    def _prepare(self, source: Source) -> int:
        return len(source.eligible())

    def _start(self, model: Model, task: Task) -> Any:
        return model.init(task.sample, task.rng)

    def _recalled(self, source: Source) -> np.ndarray:
        """Scores of all rows as they were when the fit ended, or solved for where another start came later."""
        memory = source.recall() if self.fit_.n_runs == 1 else None
        if memory is not None:
            return memory.scores  # type: ignore[attr-defined]
        return np.concatenate([np.asarray(host(part)) for part in source.map(self._solve)])

    # Few rows: all passes in one call

    def _is_small(self, source: Source) -> bool:
        plain = self._beta == 2.0 and self.solver in ("cd", "hals") and not self.verbose and self.callback is None
        return (
            plain and type(source) is ArraySource and source.n_blocks == 1 and next(iter(source)).patterns.is_complete
        )

    def _run(self, source: Source, start: Factors | None) -> np.ndarray:
        """Learn from few complete rows; the scores of the best start."""
        rng, block = self._rng(), next(iter(source))
        model = self._model_for(self._prepare(source))
        sample = source.sample(self._sample_rows(), np.random.default_rng(0) if model.one_start else rng)
        n_starts = 1 if start is not None else self._n_starts(model)
        best: tuple[Fit, np.ndarray] | None = None
        for _ in range(n_starts):
            found = self._run_once(model, block, start or model.init(sample, rng))
            if best is None or found[0].trace.objectives[-1] > best[0].trace.objectives[-1]:
                best = found
        assert best is not None
        self._publish_fit(best[0], source.dtype)
        self._online = None
        return best[1]

    def _run_once(self, model: PartsModel, block: Block, start: Factors) -> tuple[Fit, np.ndarray]:
        scores, table = np.array(model.memory(block).scores), np.array(start.components.T, order="C")
        columns, (l1, l2) = model.columns(start), model.column_penalty
        X, objectives = np.ascontiguousarray(block.X, dtype=np.float64), np.zeros(self.max_iter)
        (rows, rest, _), (others, *_) = model.inner(X.shape[1]), model.inner(float(block.weight.sum()))
        with one_blas_thread():  # more take longer for products as small as these
            n_iter, settled, violation, first = compiled.run_squares(
                X, block.weight, compiled.square_sums(X, columns), scores, table, columns, model.row_penalty, l1 / columns,
                l2 / columns, (rows, others), rest, self.max_iter, self.tol, start.first, objectives,
            )  # fmt: skip
        trace, weight = Trace(), float(block.weight.sum())
        for value in objectives[:n_iter].tolist():
            trace.record(value, weight)
        trace.passes = n_iter
        reason = STEADY if settled else Note("max_iter", "max_iter={max_iter} steps were taken", max_iter=self.max_iter)
        params = Factors(np.ascontiguousarray(table.T), violation, first)
        return Fit(params, trace, reason, converged=settled), scores

    # Batches

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one more batch of rows; old batches count less and less.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit_transform`. The first batch sets the start.

        Returns
        -------
        self
        """
        self._learn_batch(X, sample_weight)
        return self

    def _check_first_batch(self, source: Source) -> None:
        self._resolve(source, self._check_rows(source))

    def _first(self, source: Source) -> Any:
        model, rng = self._model_for(self._prepare(source)), self._rng()
        return model.init(source.sample(self._sample_rows(), rng), rng)


class _Shaped:
    """The shape and dtype of rows, wherever they are."""

    def __init__(self, source: Source):
        self.shape, self.dtype = (source.n_rows, source.n_features), source.dtype


def _on(block: Block, scores: np.ndarray) -> Any:
    """Scores of a block's rows where the block is."""
    if backend(block.X) != "torch":
        return np.ascontiguousarray(scores)
    import torch

    return torch.as_tensor(scores, device=block.X.device)
