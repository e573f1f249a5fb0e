"""Stochastic learning of topics: statistics of a batch, scaled up to all documents, are blended in with a decaying step.

λ ← (1 − ρ_t) λ + ρ_t (η + D / |batch| · counts(batch)),    ρ_t = (offset + t)^−decay
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from functools import partial

from ...engine import Fit, Progress, Trace
from ...engine.loop import finish, interrupted_after, progress_of
from ...notes import Note
from ...source import Source
from .model import AllocationModel, TopicParams, TopicStats

__all__ = ["AllocationLines", "online_fit", "online_update"]


def online_update(
    model: AllocationModel, batch: Source, params: TopicParams, size: float, n_documents: float
) -> tuple[TopicParams, TopicStats]:
    """Parameters after one more batch, and its statistics.

    Parameters
    ----------
    model : AllocationModel
    batch : Source
        Documents.
    params : TopicParams
        What was learned before.
    size : float
        Weight of the batch.
    n_documents : float
        How many documents there are in all.
    """
    stats = batch.sum(partial(model.e_step, params))
    if stats.weight <= 0.0:
        return params, stats
    image = model.m_step((n_documents / stats.weight) * stats, params)
    word = params.word * (1.0 - size)
    word += size * image.word
    alpha, eta = (
        (1.0 - size) * old + size * new for old, new in ((params.alpha, image.alpha), (params.eta, image.eta))
    )
    return TopicParams(
        word, alpha if model.alpha.learns else params.alpha, eta if model.eta.learns else params.eta
    ), stats


def online_fit(
    model: AllocationModel,
    source: Source,
    split: Callable[[], Iterator[Source]],
    params: TopicParams,
    update: Callable[[TopicParams, Source], tuple[TopicParams, TopicStats]],
    max_iter: int,
    callback: Callable | None,
) -> Fit:
    """Passes over batches, with the progress, interruption and record of any fit.

    Parameters
    ----------
    model : AllocationModel
    source : Source
        Documents.
    split : callable
        Yields them in batches.
    params : TopicParams
        Where to start.
    update : callable
        Learns from a batch.
    max_iter : int
        Passes.
    callback : callable, optional
        Called with a `Progress` after every pass.
    """
    trace = Trace()
    state = partial(progress_of, trace, source, (1, 1), max_iter, 0.0, time.perf_counter())
    done = partial(finish, trace, callback, state)
    try:
        while trace.passes < max_iter:
            before, loglik, weight = params, 0.0, 0.0
            for batch in split():
                params, stats = update(params, batch)
                loglik, weight = loglik + stats.loglik, weight + stats.weight
            trace.passes += 1
            trace.record(loglik + model.log_prior(params), max(weight, 1e-12))
            if callback:
                callback(state())
            if settled := model.settled(trace, before, params, 0.0):
                return done(params, settled, converged=True)
    except KeyboardInterrupt:
        return done(params, interrupted_after(trace), interrupted=True)
    return done(params, Note("max_iter", "max_iter={max_iter} steps were taken", max_iter=max_iter))


class AllocationLines:
    """Lines on standard output after every pass, as ``verbose`` of scikit-learn's estimator prints them.

    Parameters
    ----------
    evaluate_every : int
        Passes between those whose perplexity is told; below 1 there are none.
    n_words : float
        Words of all documents.
    """

    def __init__(self, evaluate_every: int, n_words: float):
        self.evaluate_every, self.n_words = evaluate_every, max(n_words, 1e-12)

    def __call__(self, progress: Progress) -> None:
        if progress.done:
            return
        line = f"iteration: {progress.step} of max_iter: {progress.max_iter}"
        if self.evaluate_every > 0 and progress.step % self.evaluate_every == 0:
            line += f", perplexity: {math.exp(-progress.objective * progress.weight / self.n_words):.4f}"
        print(line)
