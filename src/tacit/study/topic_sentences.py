"""What is said of topics, in words: the summary, the limits and the card of `TopicFindings`."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..notes import Claim
from ..topics.choice import TopicChoice
from ..topics.completion import Completion
from ..topics.corpus import Corpus
from ..words import count, joined, number, share

if TYPE_CHECKING:
    from .topics import TopicFindings

__all__ = ["card", "limits", "summary"]

FEW_DOCUMENTS, FEW_WORDS, FIRST_WORDS = 100, 20, 10
SMALL_GAIN, COHERENT, SIGNIFICANT = 0.05, 0.0, 0.05


def summary(found: TopicFindings, spent: float | None, choice: TopicChoice | None) -> list[str]:
    """The first sentences: what was found, how well it predicts, the largest topics, what changed over time."""
    k, cut_short = len(found.topics), choice is not None and choice.ended
    chosen = f", the number that predicts words of held-out documents about as well as the best of {len(found.selection)} tried" \
        if len(found.selection) > 1 and not cut_short else ""  # fmt: skip
    sentence = f"{count(found.n_documents, 'document')} are about {count(k, 'topic')}{chosen}."
    told: list[str] = [
        Claim.of("topics", sentence, "all documents", {"documents": found.n_documents, "topics": k},
                 "{'documents': len(proportions), 'topics': sum(c.startswith('topic_') for c in proportions.columns)}")
    ]  # fmt: skip
    if found.completion is not None:
        told.append(_predicted(found.completion))
    for topic in sorted(found.topics, key=lambda topic: -topic.share)[: 3 if k > 4 else k]:
        sentence = f"Topic {topic.number} ({share(topic.share)} of all words): {joined(topic.words[:8])}."
        figures = {"share": topic.share, "documents": topic.n_documents}
        pandas = f"topics.set_index('topic').loc[{topic.number}, ['share', 'documents']].astype(float).to_dict()"
        told.append(Claim.of("topic", sentence, "words of all documents, by relevance", figures, pandas))
    moved = _moved(found)
    if moved:
        told.append(moved)
    if spent is not None:
        sentence = f"The fit was ended at its budget of {number(spent)} s before it had settled: topics are those found so far."
        told.insert(0, Claim.of("budget", sentence, "steps of the fit", {"budget": spent}))
    if choice is not None and choice.ended and choice.budget is not None:
        sentence = (
            f"The search for the number of topics was ended at its budget of {number(choice.budget)} s; more topics may predict "
            "better."
        )
        figures = {"budget": choice.budget, "tried": len(found.selection)}
        told.insert(0, Claim.of("search", sentence, "numbers of topics tried", figures))
    return told


def _predicted(found: Completion) -> Claim:
    gain = 1.0 - found.perplexity / found.baseline
    figures_told = f"perplexity of {number(found.perplexity, 3)}, against {number(found.baseline, 3)} without topics"
    if gain > SMALL_GAIN:
        verdict = (
            f"Topics predict words of held-out documents: given half of the words of a document, the other half has a "
            f"{figures_told}."
        )
    else:
        verdict = f"Topics hardly predict words of held-out documents: a {figures_told}. They may describe these documents only."
    figures = {"perplexity": found.perplexity, "baseline": found.baseline, "words": found.n_words}
    basis = f"{found.n_words:,.0f} hidden words of {found.n_documents:,} documents that were left out of a fit"
    return Claim.of("completion", verdict, basis, figures)


def _moved(found: TopicFindings) -> Claim | None:
    """Whether a topic changed from the earliest third of the documents to the latest, and which did most."""
    drift = None if found.span is None else found.span.drift
    if drift is None:
        return None
    name, way = found.topics[drift.topic].name, "grew" if drift.after > drift.before else "shrank"
    basis = (
        f"mean proportions of {drift.n_documents:,} documents; some topic changes as much in {share(drift.p_value)} of "
        f"{drift.n_deals} deals of the same documents at random"
    )
    if drift.p_value <= SIGNIFICANT:
        sentence = (
            f"Topic {drift.topic + 1} ({name}) {way} most over time: from {share(drift.before)} of a document on average in "
            f"the earliest third of the documents to {share(drift.after)} in the latest."
        )
    else:
        sentence = "No topic changed over time by more than chance would explain (5 % level, all topics together)."
    figures = {"before": drift.before, "after": drift.after, "p_value": drift.p_value}
    return Claim.of("over_time", sentence, basis, figures)


def limits(found: TopicFindings, model: Any) -> list[str]:
    """What a reader must bear in mind."""
    told: list[str] = [
        "A topic is a list of words that go together in these documents; what it is about is for a reader to say.",
        "Proportions of a short document are uncertain; typical documents are chosen among long ones.",
    ]
    vague = [topic for topic in found.topics if topic.coherence is not None and topic.coherence < COHERENT]
    if vague:
        names = joined(f"{topic.number}" for topic in vague[:8])
        sentence = f"The first words of topic {names} seldom occur together (NPMI below 0): do not read much into it."
        told.append(
            Claim.of(
                "vague", sentence, "co-occurrence in documents", {f"topic_{t.number}": t.coherence for t in vague[:8]}
            )
        )
    told += [*_idle(found), *_alike(found)]
    if found.n_documents < FEW_DOCUMENTS:
        sentence = (
            f"{count(found.n_documents, 'document')} are few: other documents of the same kind may show other topics."
        )
        told.append(
            Claim.of(
                "few", sentence, "all documents", {"documents": found.n_documents}, "{'documents': len(proportions)}"
            )
        )
    mean = found.n_tokens / max(found.n_documents - found.n_empty, 1)
    if mean < FEW_WORDS:
        sentence = f"Documents have {number(mean, 2)} counted words on average: topics of such short texts are rough."
        told.append(Claim.of("short", sentence, "counted words of documents that have any", {"mean": mean}))
    if found.n_empty:
        one = found.n_empty == 1
        sentence = (
            f"{count(found.n_empty, 'document')} {'has' if one else 'have'} none of the words: {'its' if one else 'their'} "
            f"topic is left empty, and {'its' if one else 'their'} proportions tell nothing."
        )
        told.append(Claim.of("empty", sentence, "counted in all documents", {"empty": found.n_empty}))
    if found.kept < 0.5 and len(found.topics) > 3:
        sentence = (
            f"The map keeps {share(found.kept, 0)} of the squared distances between topics; neighbours may differ in "
            "words."
        )
        told.append(Claim.of("map", sentence, "classical scaling of the distances", {"kept": found.kept}))
    return told


def _idle(found: TopicFindings) -> list[str]:
    """Topics that are the main one of no document."""
    idle = [topic.number for topic in found.topics if not topic.n_documents]
    if not idle:
        return []
    names = (
        joined(map(str, idle[:8])) if len(idle) <= 8 else f"{', '.join(map(str, idle[:8]))} and {len(idle) - 8} more"
    )
    told = f"Topic {names} is" if len(idle) == 1 else f"Topics {names} are"
    sentence = f"{told} the main topic of no document; fewer topics may do."
    return [Claim.of("idle", sentence, "the largest proportion of each document", {"topics": len(idle)})]


def _alike(found: TopicFindings) -> list[str]:
    """The two topics that share most of their first words, where more than half are the same."""
    first = [set(topic.words[:FIRST_WORDS]) for topic in found.topics]
    if found.n_words < 2 * FIRST_WORDS or len(first) < 2:
        return []
    shared = {(a, b): len(first[a] & first[b]) for a, b in itertools.combinations(range(len(first)), 2)}
    pairs = [pair for pair, n in shared.items() if n > FIRST_WORDS / 2]
    if not pairs:
        return []
    a, b = max(pairs, key=shared.__getitem__)
    told = f"Topics {found.topics[a].number} and {found.topics[b].number} share {shared[a, b]} of their {FIRST_WORDS} first words"
    more = f", and {count(len(pairs) - 1, 'other pair')} more than half" if len(pairs) > 1 else ""
    figures = {"shared": shared[a, b], "pairs": len(pairs)}
    return [Claim.of("alike", f"{told}{more}; fewer topics may do.", "first words by relevance", figures)]


def card(model: Any, corpus: Corpus, seed: int) -> dict[str, str]:
    """What the model is."""
    lengths = np.asarray(corpus.counts.sum(axis=1)).ravel()
    told = {
        "Data": f"{corpus.name}: {len(corpus):,} documents, {int(lengths.sum()):,} counted words, "
        f"{len(corpus.words):,} of them different",
        "Model": f"{type(model).__name__}, {len(model.topic_word_)} topics",
        "Length of a document": f"{np.median(lengths):,.0f} counted words (median)",
    }
    if corpus.reading is not None:
        left = f", and function words ({corpus.reading.language.capitalize()})" if corpus.reading.language else ""
        told["Words"] = f"runs of letters; words that are everywhere or rare are left out{left}"
    fitted = getattr(model, "fit_", None)
    if fitted is not None:
        told["Fitted"] = f"{fitted.reason} ({model.n_iter_} steps)"
    return told | {"Seed": str(seed), "Version": f"tacit {__version__}"}
