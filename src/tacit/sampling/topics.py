"""`gibbs_topics`: latent Dirichlet allocation by collapsed Gibbs sampling.

θ_d ~ Dirichlet(α),   φ_k ~ Dirichlet(β),   z ~ θ_d,   w ~ φ_z;      p(z = k | rest) ∝ (n_dk + α)(n_kw + β) / (n_k + V β)
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import gammaln

from ..checks import check_choice, check_memory, check_number, check_positive
from ..kernels import lazy
from ..notes import Note
from .chains import Chains
from .running import Run, Sampler, run_chains

__all__ = ["gibbs_topics"]

kernels = lazy("gibbs")


def gibbs_topics(
    X: Any,
    n_topics: int,
    *,
    alpha: float | None = None,
    beta: float = 0.01,
    keep: Sequence[str] = ("topics",),
    n_draws: int = 200,
    n_warmup: int = 500,
    n_chains: int = 2,
    n_thin: int = 5,
    random_state: Any = None,
    n_jobs: int | None = None,
    callback: Callable | None = None,
    checkpoint: Any = None,
) -> Chains:
    """Draw topics and proportions of documents from their posterior.

    Parameters
    ----------
    X : Corpus or array-like of shape (n_documents, n_words)
        Counts of words, sparse or not.
    n_topics : int
    alpha : float, optional
        Prior of every topic's share of a document; by default 1 / n_topics.
    beta : float
        Prior of every word's share of a topic.
    keep : sequence of {"topics", "proportions", "assignments"}
        What is kept of every draw besides the log probability of words and their topics.
    n_draws, n_warmup, n_chains, n_thin, random_state, n_jobs, callback, checkpoint
        As in `metropolis`; a step is a sweep over all words.

    Returns
    -------
    Chains
        Of ``log_joint``, log p(words, their topics), by which chains are compared; of ``topics`` (n_topics, n_words),
        ``proportions`` (n_documents, n_topics), and ``assignments`` (topics of words in the order of documents and
        columns), where they are
        kept. Topics have no order, which may differ from chain to chain.

    References
    ----------
    Griffiths and Steyvers (2004), Finding scientific topics.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.sampling import gibbs_topics
    >>> chains = gibbs_topics(np.kron(np.eye(2, dtype=int), np.full((5, 3), 4)), 2, random_state=0)
    >>> chains["topics"][0, -1].max(axis=1).round(1) < 0.6
    array([ True,  True])
    """
    from scipy.sparse import csr_matrix
    from sklearn.utils.validation import check_array

    from ..topics.corpus import counts_of

    check_number("n_topics", n_topics, numbers.Integral, 1)
    check_number("n_thin", n_thin, numbers.Integral, 1)
    alpha = 1.0 / n_topics if alpha is None else alpha
    check_positive("alpha", alpha)
    check_positive("beta", beta)
    for each in keep:
        check_choice("keep", each, ("topics", "proportions", "assignments"))
    run = Run(n_draws, n_warmup, n_chains, False, random_state, n_jobs, callback, checkpoint)
    counts = csr_matrix(check_array(counts_of(X), accept_sparse="csr"))
    if (counts.data < 0).any() or (counts.data != np.floor(counts.data)).any():
        bad = counts.data[(counts.data < 0) | (counts.data != np.floor(counts.data))][0]
        raise ValueError(f"X holds {bad}; counts of words must be whole numbers of at least 0.")
    if not counts.sum():
        raise ValueError("X holds no word; every count is 0.")
    sampler = _Topics(counts, np.full(n_topics, float(alpha)), float(beta), n_thin, tuple(keep))
    check_memory("n_draws", n_draws, 16.0 * n_chains * sampler.cells)
    streams = run.streams()
    return run_chains(sampler, [sampler.started(rng) for rng in streams], streams, run)


class _Topics(Sampler):
    name = "gibbs_topics"

    def __init__(self, counts: Any, alpha: np.ndarray, beta: float, n_thin: int, keep: tuple[str, ...]):
        self.alpha, self.beta, self.n_thin, self.keep, self.shape = alpha, beta, n_thin, keep, counts.shape
        times = counts.data.astype(np.int64)
        self.words = np.repeat(counts.indices, times).astype(np.int32)
        self.documents = np.repeat(np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr)), times).astype(
            np.int32
        )

    @property
    def cells(self) -> int:
        """Numbers kept of a draw."""
        k = len(self.alpha)
        sizes = {"topics": k * self.shape[1], "proportions": k * self.shape[0], "assignments": len(self.words)}
        return 1 + sum(sizes[each] for each in self.keep)

    def settings(self) -> dict:
        return {
            "alpha": self.alpha.tolist(),
            "beta": self.beta,
            "n_thin": self.n_thin,
            "keep": self.keep,
            "n": len(self.words),
        }

    def started(self, rng: np.random.Generator) -> dict:
        return {"topics": rng.integers(len(self.alpha), size=len(self.words)).astype(np.int32)}

    def tallies(self, topics: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Counts by document and topic, by word and topic, and by topic."""
        k = len(self.alpha)
        by_document = np.bincount(self.documents * k + topics, minlength=self.shape[0] * k).reshape(-1, k)
        by_word = np.bincount(self.words * k + topics, minlength=self.shape[1] * k).reshape(-1, k)
        return by_document.astype(float), by_word.astype(float), by_word.sum(axis=0).astype(float)

    def run(self, state: dict, n: int, rng: np.random.Generator) -> tuple:
        k, topics = len(self.alpha), state["topics"]
        tallies = self.tallies(topics)
        shapes = {"topics": (k, self.shape[1]), "proportions": (self.shape[0], k)}
        draws = {"log_joint": np.empty(n)} | {
            each: np.empty((n, *shapes[each])) for each in self.keep if each in shapes
        }
        if "assignments" in self.keep:
            draws["assignments"] = np.empty((n, len(topics)), np.int32)
        for i in range(n):
            kernels.topic_sweeps(self.words, self.documents, self.alpha, self.beta, self.n_thin, rng, topics, *tallies)
            draws["log_joint"][i] = self._log_joint(*tallies)
            for name in self.keep:
                if name == "assignments":
                    draws[name][i] = topics
                else:
                    shape = self.beta + tallies[1].T if name == "topics" else self.alpha + tallies[0]
                    draws[name][i] = _dirichlet(shape, rng)
        return draws, {"lp": draws["log_joint"]}

    def _log_joint(self, by_document: np.ndarray, by_word: np.ndarray, totals: np.ndarray) -> float:
        """The log of p(words, topics), proportions and topics being integrated out."""
        beta, n_words, alpha = self.beta, self.shape[1], self.alpha
        words = gammaln(by_word + beta).sum() - gammaln(totals + n_words * beta).sum()
        words += len(alpha) * (gammaln(n_words * beta) - n_words * gammaln(beta))
        documents = gammaln(by_document + alpha).sum() - gammaln(by_document.sum(axis=1) + alpha.sum()).sum()
        return float(words + documents + self.shape[0] * (gammaln(alpha.sum()) - gammaln(alpha).sum()))

    def notes(self, states: list[dict], statistics: dict) -> list[Note]:
        return [Note("exchangeable", "Topics have no order: compare chains by log_joint, not by topics of one number.")]


def _dirichlet(shape: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A draw for every row of shapes, which may be small: log gamma(a) = log gamma(a + 1) + log(u) / a."""
    logs = np.log(rng.standard_gamma(shape + 1.0)) + np.log1p(-rng.random(shape.shape)) / shape
    draw = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return draw / draw.sum(axis=-1, keepdims=True)
