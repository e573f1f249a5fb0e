"""Models of topics that the engine learns.

    θ_d ~ Dirichlet(α),    β_k ~ Dirichlet(η),    z_di ~ θ_d,    word_di ~ β_z

`VariationalModel` raises the evidence lower bound; `CollapsedModel` integrates θ and β out and keeps the expected counts of
every pair of document and word, to zeroth order (CVB0). Tables are laid out (word, topic).
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln, psi

from ...arrays import Arrays, record
from ...declared import Either, Numbers, Spec
from ...engine import Model, Trace
from ...kernels import backend, empty, host, kernel
from ...notes import Note
from ...source import Block
from .priors import PriorRule, from_counts, from_logs

__all__ = [
    "AllocationModel",
    "CollapsedModel",
    "TopicParams",
    "TopicStats",
    "VariationalModel",
    "bound_of",
    "perplexity_of",
]

POSITIVE: dict[str, Any] = {"above": 0.0, "high": 1e300}


@record
class TopicParams(Arrays):
    """What is known of topics.

    Attributes
    ----------
    word : (V, K)
        Counts of words by topic, the prior's η among them.
    alpha : (K,) or (1,)
        Prior of a document's topics; one number stands for all.
    eta : (V or 1, K or 1)
        Prior of a topic's words.
    """

    word: np.ndarray
    alpha: np.ndarray
    eta: np.ndarray

    _saved: ClassVar[dict[str, Spec]] = {
        "word": Numbers("d K", **POSITIVE),
        "alpha": Either(Numbers("1", **POSITIVE), Numbers("K", **POSITIVE)),
        "eta": Either(Numbers("1 1", **POSITIVE), Numbers("d 1", **POSITIVE), Numbers("d K", **POSITIVE)),
    }

    @cached_property
    def topic_prior(self) -> np.ndarray:
        """α of every topic."""
        return np.ascontiguousarray(np.broadcast_to(self.alpha, self.word.shape[1]))

    @cached_property
    def share(self) -> np.ndarray:
        """β (V, K), the means of words by topic."""
        return self.word / self.word.sum(axis=0)

    @cached_property
    def expected_log(self) -> np.ndarray:
        """E log β (V, K)."""
        return psi(self.word) - psi(self.word.sum(axis=0))

    @cached_property
    def expected(self) -> np.ndarray:
        """The exponential of E log β (V, K)."""
        return np.exp(self.expected_log)


@record
class TopicStats(Arrays):
    """Sums over documents: expected counts (V, K), and of each topic what its prior is learned from, where it is."""

    loglik: float
    weight: float
    counts: np.ndarray
    spread: np.ndarray
    whole: float


@record
class DocumentTopics(Arrays):
    """What a document remembers: γ, or the counts of its topics."""

    topics: np.ndarray


class AllocationModel(Model):
    """Base of both models.

    Parameters
    ----------
    n_topics : int
    alpha, eta : PriorRule
        Priors of topics in documents and of words in topics.
    eta_table : (V, K), optional
        A prior of words by topic, instead of `eta`.
    n_updates, tol
        Updates of one document at most, and the mean change of its counts at which they end.
    perplexity_tol : float
        A smaller change of perplexity ends the fit; below 0 it never does.
    relative : bool
        Whether the change is measured in thousandths of the perplexity.
    """

    remembers = True
    first = 1.0  # what documents remember at first

    def __init__(
        self, n_topics: int, alpha: PriorRule, eta: PriorRule, eta_table: np.ndarray | None = None,
        n_updates: int = 100, tol: float = 1e-3, perplexity_tol: float = -1.0, relative: bool = False,
    ):  # fmt: skip
        self.n_topics, self.alpha, self.eta, self.eta_table = n_topics, alpha, eta, eta_table
        self.n_updates, self.tol = n_updates, tol
        self.perplexity_tol, self.relative = perplexity_tol, relative

    def init(self, sample: Block, rng: np.random.Generator, shape: float = 1.0) -> TopicParams:
        """Random topics about the words' shares of a sample of documents; the larger the `shape`, the more alike they are."""
        X = sample.X.matrix if backend(sample.X) == "sparse" else np.nan_to_num(host(sample.X))
        total = np.asarray(host(sample.weight) @ X, dtype=np.float64).ravel()
        eta = self.eta.start[:, None] if self.eta_table is None else self.eta_table
        counts = total[:, None] / self.n_topics * rng.standard_gamma(shape, (len(total), self.n_topics)) / shape
        if self.eta_table is not None:
            _guide(counts, self.eta_table > self.eta_table.min(axis=1, keepdims=True), X, host(sample.weight))
        return TopicParams(eta + counts, self.alpha.start, eta)

    def check_params(self, params: TopicParams, n_columns: int) -> None:
        params.check({"K": self.n_topics, "d": n_columns})

    def memory(self, block: Block) -> DocumentTopics:
        topics = empty((len(block), self.n_topics), block.X)
        topics[:] = self.first
        return DocumentTopics(topics)

    def _topics(self, block: Block) -> Any:
        kept: Any = self.memory(block) if block.memory is None else block.memory
        return kept.topics

    def settled(self, trace: Trace, params: TopicParams, image: TopicParams, tol: float) -> Note | None:
        """By perplexity, exp(−objective / words)."""
        if self.perplexity_tol < 0 or len(trace) < (10 if self.relative else 2):
            return None
        words = max(float((image.word - image.eta).sum()), 1e-12)
        before, now = (np.exp(np.clip(-value / words, -700.0, 700.0)) for value in trace.objectives[-2:])
        if abs(before - now) >= self.perplexity_tol * (1e-3 * now if self.relative else 1.0):
            return None
        return Note("perplexity", "perplexity changed by less than perp_tol={tol:g}", tol=self.perplexity_tol)

    def n_parameters(self, params: TopicParams) -> int:
        return params.word.size - self.n_topics


class VariationalModel(AllocationModel):
    """Variational Bayes: q(θ_d) = Dirichlet(γ_d), q(β_k) = Dirichlet(λ_k); documents remember γ, so the bound never falls."""

    def e_step(self, params: TopicParams, block: Block) -> TopicStats:
        gamma, counts = self._topics(block), np.zeros_like(params.word)
        bound = self._settle(params, block, gamma, self.n_updates, counts)
        weight = host(block.weight)
        spread = np.zeros(self.n_topics)
        if self.alpha.learns:
            found = host(gamma)
            spread = weight @ (psi(found) - psi(found.sum(axis=1, keepdims=True)))
        return TopicStats(float(weight @ bound), float(weight.sum()), counts, spread, 0.0)

    def _settle(self, params: TopicParams, block: Block, gamma: Any, n_updates: int, counts: np.ndarray) -> np.ndarray:
        run = kernel("variational", backend(block.X))
        along = params.expected, params.topic_prior, n_updates, self.tol, counts
        return run(block.X, block.local, block.weight, gamma, *along)

    def m_step(self, stats: TopicStats, params: TopicParams) -> TopicParams:
        word, alpha, eta = params.eta + stats.counts, params.alpha, params.eta
        if self.alpha.learns and stats.weight > 0:
            alpha = from_logs(alpha, stats.spread / stats.weight, self.alpha.symmetric)
        if self.eta.learns:
            mean_log = (psi(word) - psi(word.sum(axis=0))).mean(axis=1)
            eta = from_logs(eta[:, 0], mean_log, self.eta.symmetric, 5)[:, None]
        return TopicParams(word, alpha, eta)

    def log_prior(self, params: TopicParams) -> float:
        """−KL(q(β) ‖ p(β))."""
        word, eta = params.word, params.eta
        whole = np.broadcast_to(eta, word.shape).sum(axis=0)
        value = ((eta - word) * params.expected_log).sum() + gammaln(word).sum()
        value -= gammaln(eta).sum() * (word.size / eta.size)  # of those that one number stands for
        return float(value + (gammaln(whole) - gammaln(word.sum(axis=0))).sum())

    def posterior(self, params: TopicParams, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """θ (documents, topics), and what each document adds to the bound."""
        gamma, bound = self.documents(params, block)
        return gamma / gamma.sum(axis=1, keepdims=True), bound

    def documents(self, params: TopicParams, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """γ of documents, settled from scratch, and what each adds to the bound."""
        gamma = self.memory(block).topics
        bound = self._settle(params, block, gamma, self.n_updates, np.zeros((0, self.n_topics)))
        return host(gamma), bound


class CollapsedModel(AllocationModel):
    """CVB0: one sweep over all pairs a pass. Its objective, the log probability of every word given all others, may fall."""

    monotone = False
    first = 0.0

    def memory(self, block: Block) -> DocumentTopics:
        made: Any = super().memory(block).topics
        return DocumentTopics(made.float() if backend(block.X) == "torch" else made.astype(np.float32))

    def e_step(self, params: TopicParams, block: Block) -> TopicStats:
        # Blocks without a memory are batches: what they hold is seen once.
        if block.memory is None:
            return self.batch_step(params, block)
        out, counts = np.zeros_like(params.word), block.memory.topics  # type: ignore[attr-defined]
        run = kernel("collapsed", backend(block.X))
        along = counts, params.word, params.topic_prior, out
        loglik = run(block.X, block.local, block.weight, block.memory, *along)
        return self._stats(params, block, host(counts).astype(np.float64), loglik, out)

    def batch_step(self, params: TopicParams, block: Block) -> TopicStats:
        """Statistics of documents that are settled from scratch at the topics as they are (stochastic CVB0)."""
        out = np.zeros_like(params.word)
        counts, loglik = self._fold_in(params, block, out)
        return self._stats(params, block, counts, loglik, out)

    def _fold_in(self, params: TopicParams, block: Block, out: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        run = kernel("fold_in", backend(block.X))
        along = params.share, params.topic_prior, self.n_updates, self.tol, out
        return run(block.X, block.local, block.weight, *along)

    def _stats(self, params: TopicParams, block: Block, counts: np.ndarray, loglik: Any, out: Any) -> TopicStats:
        weight, spread, whole = host(block.weight), np.zeros(self.n_topics), 0.0
        if self.alpha.learns:
            prior = params.topic_prior
            spread = weight @ (psi(counts + prior) - psi(prior))
            whole = float(weight @ (psi(counts.sum(axis=1) + prior.sum()) - psi(prior.sum())))
        return TopicStats(float(weight @ loglik), float(weight.sum()), out, spread, whole)

    def m_step(self, stats: TopicStats, params: TopicParams) -> TopicParams:
        alpha, eta = params.alpha, params.eta
        if self.alpha.learns:
            alpha = from_counts(alpha, stats.spread, stats.whole, self.alpha.symmetric)
        if self.eta.learns:
            whole_prior = float(np.broadcast_to(eta[:, 0], len(stats.counts)).sum())
            spread = (psi(stats.counts + eta) - psi(eta)).sum(axis=1)
            whole = (psi(stats.counts.sum(axis=0) + whole_prior) - psi(whole_prior)).sum()
            eta = from_counts(eta[:, 0], spread, float(whole), self.eta.symmetric)[:, None]
        return TopicParams(stats.counts + eta, alpha, eta)

    def documents(self, params: TopicParams, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """α + n of documents, settled from scratch, and their log probabilities."""
        counts, loglik = self._fold_in(params, block, np.zeros((0, self.n_topics)))
        return counts + params.topic_prior, loglik

    def posterior(self, params: TopicParams, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """θ (documents, topics), and the log probability of each document's words at it."""
        topics, loglik = self.documents(params, block)
        return topics / topics.sum(axis=1, keepdims=True), loglik


def _guide(counts: np.ndarray, seeds: np.ndarray, X: Any, weight: np.ndarray) -> None:
    """Let topics with seed words (V, K) start from the words of the documents that hold these, and no other from the seeds."""
    length = np.maximum(np.asarray(X.sum(axis=1), dtype=np.float64).ravel(), 1e-300)
    for k in np.flatnonzero(seeds.any(axis=0)):
        about = weight * np.asarray(X @ seeds[:, k].astype(np.float64)).ravel() / length
        profile = np.asarray(about @ X, dtype=np.float64).ravel()
        if profile.sum() > 0:
            counts[:, k] = counts[:, k].sum() * profile / profile.sum()
    counts[seeds.any(axis=1, keepdims=True) & ~seeds] *= 0.01


def bound_of(params: TopicParams, model: VariationalModel, source: Any) -> float:
    """The evidence lower bound of the documents of a source at settled γ, the topics' own part included."""
    totals = source.map(partial(_weighted_bound, model, params))
    return float(sum(totals)) + model.log_prior(params)


def perplexity_of(bound: float, words: float) -> float:
    """exp(−bound / words); infinite where there is next to no word."""
    with np.errstate(over="ignore"):
        return float(np.exp(-bound / words))


def _weighted_bound(model: VariationalModel, params: TopicParams, block: Block) -> float:
    return float(host(block.weight) @ model.documents(params, block)[1])
