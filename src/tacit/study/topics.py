"""What is said of the topics of documents: `TopicFindings`, which the console, JSON and the page show and add nothing to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..topics.choice import TopicChoice
from ..topics.coherence import coherence
from ..topics.completion import Completion, completion
from ..topics.corpus import Corpus
from ..topics.distances import topic_map
from ..topics.words import ranked_words, word_scores
from ..words import count
from .topic_sentences import card, limits, summary

__all__ = ["Drift", "Topic", "TopicFindings", "TopicSpan", "study_topics", "topic_span"]

SHOWN_WORDS, TYPICAL, NAMED = 30, 5, 4
RELEVANCE = 0.6
STEPS = np.linspace(0.0, 1.0, 11)
"""Weights λ of which the page can show the best words exactly; between them nearly so."""
MOST_PERIODS, MOST_JUDGED = 40, 10
LEAST_DATED, N_DEALS = 10, 999
"""Documents in a third, and deals at random, by which changes over time are judged."""


@dataclass(frozen=True)
class Topic:
    """A topic.

    Attributes
    ----------
    number : int
        From 1, as the model has them.
    share : float
        Of all words.
    n_documents : int
        Documents of which it has the largest share.
    coherence : float or None
        Normalised pointwise mutual information of its ten most probable words, without those that are more frequent
        elsewhere; None where there is only one word.
    words : list of str
        The most relevant ones (λ = 0.6), the first four of which name it.
    entries : list of dict
        Words that some λ ranks among the first 30: `word`, `probability`, `overall` (its share of all words), and `topics`, the
        topics that have most of it with their shares of it.
    documents : list of dict
        Typical ones: `document` (from 1), `share`, `title` and `text`, each None where it is not known.
    """

    number: int
    share: float
    n_documents: int
    coherence: float | None
    words: list[str]
    entries: list[dict]
    documents: list[dict]

    @property
    def name(self) -> str:
        """Its first words."""
        return ", ".join(self.words[:NAMED])


@dataclass(frozen=True)
class Drift:
    """The topic whose mean proportion changed most, beyond its own spread, from the earliest third of documents to the latest.

    Attributes
    ----------
    topic : int
        From 0.
    before, after : float
        Mean proportions in the two thirds.
    p_value : float
        How often some topic changes as much where the same documents are dated at random.
    n_deals : int
        How many times that was tried.
    n_documents : int
        Documents in the two thirds together.
    """

    topic: int
    before: float
    after: float
    p_value: float
    n_deals: int
    n_documents: int


@dataclass(frozen=True)
class TopicSpan:
    """Topics over time.

    Attributes
    ----------
    labels : list of str
        Periods, the earliest first.
    shares : (periods, topics) array
        Mean proportions of the documents of each period; NaN where it has none.
    n_documents : (periods,) array
    drift : Drift or None
        Which topic changed most, where the documents are enough to tell.
    """

    labels: list[str]
    shares: np.ndarray
    n_documents: np.ndarray
    drift: Drift | None = None


@dataclass(frozen=True)
class TopicFindings:
    """Everything that was found about topics.

    Attributes
    ----------
    title : str
    n_documents, n_words, n_tokens, n_empty : int
        Documents, different words, all words, documents without any known word.
    topics : tuple of Topic
    places : (topics, 2) array
        The map of the topics, and `kept`, the share of squared distances that it keeps.
    kept : float
    distances : (topics, topics) array
    span : TopicSpan or None
    completion : Completion or None
        Measured on documents that were left out.
    diversity : float
    selection : list of dict
        Numbers of topics that were tried: `n_topics`, `perplexity`, `baseline` and `failed` of each.
    proportions : (documents, topics) array
    summary, limits : list of str
    card : dict of str to str
    trace : array
    """

    title: str
    n_documents: int
    n_words: int
    n_tokens: int
    n_empty: int
    topics: tuple[Topic, ...]
    places: np.ndarray
    kept: float
    distances: np.ndarray
    span: TopicSpan | None
    completion: Completion | None
    diversity: float
    selection: list[dict]
    proportions: np.ndarray
    summary: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)
    card: dict[str, str] = field(default_factory=dict)
    trace: np.ndarray = field(default_factory=lambda: np.empty(0))
    kind: str = "topics"

    def __repr__(self) -> str:
        return f"TopicFindings({self.title!r}: {self.summary[0] if self.summary else count(len(self.topics), 'topic')})"


def study_topics(
    model: Any, corpus: Corpus, *, seed: int = 0, judged: Any = None, choice: TopicChoice | None = None,
    spent: float | None = None,
) -> TopicFindings:  # fmt: skip
    """Findings about the topics of a corpus under a fitted model.

    Parameters
    ----------
    model : TopicModel
        Fitted to the corpus, or to another one with the same words.
    corpus : Corpus
    seed : int
        Seeds which documents are left out for the check.
    judged : TopicModel, optional
        A model like this one, not fitted, for the check on documents left out; none is made without it.
    choice : TopicChoice, optional
        How the number of topics was chosen, which is a check already.
    spent : float, optional
        Seconds after which the fit was ended, if it was.

    Returns
    -------
    TopicFindings
    """
    theta = np.asarray(model.transform(corpus), dtype=np.float64)
    topics = _topics(model, corpus, theta)
    distances = model.distances()
    places, kept = topic_map(distances)
    checked = None if choice is None else choice.check(len(topics))
    if checked is None and judged is not None and len(corpus) >= 10:
        checked = _checked(judged, corpus, seed)
    span = topic_span(corpus, theta)
    findings = TopicFindings(
        corpus.name, len(corpus), len(corpus.words), int(corpus.counts.sum()), corpus.n_empty, topics, places, kept, distances,
        span, checked, float(model.diversity()), _tried(choice), theta,
        trace=np.asarray(getattr(model, "lower_bounds_", ()), dtype=np.float64), card=card(model, corpus, seed),
    )  # fmt: skip
    findings.summary.extend(summary(findings, spent, choice))
    findings.limits.extend(limits(findings, model))
    return findings


def _checked(judged: Any, corpus: Corpus, seed: int) -> Completion | None:
    """Document completion of a fifth of the documents, left out of a fit."""
    order, n_left = np.random.default_rng(seed).permutation(len(corpus)), max(1, round(0.2 * len(corpus)))
    try:
        return completion(
            judged.fit(corpus.take(np.sort(order[n_left:]))), corpus.take(np.sort(order[:n_left])), seed=seed
        )
    except ValueError:  # too few documents or words to leave any out
        return None


def _tried(choice: TopicChoice | None) -> list[dict]:
    if choice is None:
        return []
    kept = ("n_topics", "perplexity", "baseline", "failed")
    rows = [{name: row[name] for name in kept} for row in choice.table]
    return [{name: None if value != value else value for name, value in row.items()} for row in rows]


def _topics(model: Any, corpus: Corpus, theta: np.ndarray) -> tuple[Topic, ...]:
    beta, overall, shares = model.topic_word_, model.word_share_, model.topic_share_
    main = np.bincount(theta[np.diff(corpus.counts.indptr) > 0].argmax(axis=1), minlength=len(beta))
    documents: list[list[dict]] = [[] for _ in beta]
    for row in model.typical_documents(corpus, TYPICAL):
        told = {name: row.get(name) for name in ("document", "share", "title", "text")}
        documents[row["topic"] - 1].append(told)
    relevant = ranked_words(word_scores(beta, overall, "relevance", RELEVANCE), SHOWN_WORDS)
    belongs = beta * shares[:, None]
    belongs = belongs / np.maximum(belongs.sum(axis=0), 1e-300)
    coherent = _coherence(model, corpus)
    found = []
    for k in range(len(beta)):
        words = [corpus.words[w] for w in relevant[k] if beta[k, w] > 0]
        entries = [
            _entry(corpus.words[w], beta[k, w], overall[w], belongs[:, w]) for w in _candidates(beta[k], overall)
        ]
        own = None if coherent is None else float(coherent[k])
        found.append(Topic(k + 1, float(shares[k]), int(main[k]), own, words, entries, documents[k]))
    return tuple(found)


def _coherence(model: Any, corpus: Corpus) -> np.ndarray | None:
    """Of the most probable words of each topic, those that other topics have more of left out."""
    if len(corpus.words) < 2:
        return None
    lists = []
    for row, first in zip(model.topic_word_, ranked_words(model.topic_word_, MOST_JUDGED)):
        own = [word for word in first if row[word] > model.word_share_[word]]
        lists.append(own if len(own) > 1 else first[:2])
    return coherence(lists, corpus, "npmi")


def _candidates(row: np.ndarray, overall: np.ndarray) -> np.ndarray:
    """Words that some λ ranks first, by relevance."""
    scores = [word_scores(row[None], overall, "relevance", float(step)) for step in STEPS]
    chosen = np.unique(np.concatenate([ranked_words(each, SHOWN_WORDS)[0] for each in scores]))
    chosen = chosen[row[chosen] > 0]
    return chosen[np.argsort(-word_scores(row[None], overall, "relevance", RELEVANCE)[0, chosen], kind="stable")]


def _entry(word: str, probability: float, overall: float, belongs: np.ndarray) -> dict:
    most = [int(k) for k in np.argsort(-belongs, kind="stable")[:6] if belongs[k] >= 0.01]
    told = {str(k + 1): round(float(belongs[k]), 3) for k in most}
    return {"word": word, "probability": float(probability), "overall": float(overall), "topics": told}


def topic_span(corpus: Corpus, theta: np.ndarray) -> TopicSpan | None:
    """Mean proportions by year, month or day: the finest of which there are at most forty; None without two times."""
    if corpus.times is None:
        return None
    times, known = corpus.times, np.diff(corpus.counts.indptr) > 0
    dated = known & ~(np.isnat(times) if times.dtype.kind == "M" else np.isnan(times))
    if dated.sum() < 2 or len(np.unique(times[dated])) < 2:
        return None
    own, part = times[dated], theta[dated]
    if own.dtype.kind == "M":
        units = [own.astype(f"datetime64[{unit}]") for unit in ("D", "M", "Y")]
        period = next((each for each in units if _length(each) <= MOST_PERIODS), units[-1])
        every = np.arange(period.min(), period.max() + 1)
        labels = [str(each) for each in every]
    else:
        whole = np.floor(own)
        width = max(1.0, np.ceil((whole.max() - whole.min() + 1) / MOST_PERIODS))
        period = np.floor(whole / width) * width
        every = np.arange(period.min(), period.max() + 1, width)
        labels = [f"{each:g}" if width == 1 else f"{each:g}–{each + width - 1:g}" for each in every]
    at = np.searchsorted(every, period)
    n = np.bincount(at, minlength=len(every))
    with np.errstate(invalid="ignore"):
        shares = np.array([np.bincount(at, column, minlength=len(every)) for column in part.T]).T / n[:, None]
    return TopicSpan(labels, shares, n, _drift(own, part)) if len(every) > 1 else None


def _drift(times: np.ndarray, theta: np.ndarray) -> Drift | None:
    """The largest change between thirds of the documents by time, judged by dealing the thirds out at random."""
    order = np.argsort(times, kind="stable")
    third = len(order) // 3
    early = order[:third][times[order[:third]] < times[order[-third]]] if third else order[:0]
    late = order[-third:][times[order[-third:]] > times[order[third - 1]]] if third else order[:0]
    if min(len(early), len(late)) < LEAST_DATED:
        return None
    part = theta[np.concatenate([early, late])]
    side = np.repeat([-1.0 / len(early), 1.0 / len(late)], [len(early), len(late)])
    spread = np.maximum(part.std(axis=0), 1e-12)
    rng = np.random.default_rng(0)
    dealt = np.array([np.abs(rng.permutation(side) @ part / spread).max() for _ in range(N_DEALS)])
    change = side @ part / spread
    k = int(np.abs(change).argmax())
    p_value = (1 + int((dealt >= abs(change[k])).sum())) / (1 + N_DEALS)
    return Drift(k, float(theta[early, k].mean()), float(theta[late, k].mean()), p_value, N_DEALS, len(part))


def _length(period: np.ndarray) -> int:
    return int((period.max() - period.min()).astype(np.int64)) + 1
