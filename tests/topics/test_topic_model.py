"""What every model of topics tells: words, documents, completion, the number of topics, distances, findings."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from tacit.source import Block, SparseRows
from tacit.study.topics import study_topics, topic_span
from tacit.topics import AnchorTopics, Corpus, choose_topics, completion
from tacit.topics.choice import _between
from tacit.topics.completion import Completion
from tacit.topics.distances import jensen_shannon, topic_map
from tacit.topics.documents import halves
from tacit.topics.words import word_scores

GROUPS = ["sun moon star comet", "fish sea ship tide", "oak elm fir ash"]


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    texts, years = [], []
    for i in range(120):
        texts.append(" ".join(rng.choice(GROUPS[i % 3].split(), 12, p=[0.4, 0.3, 0.2, 0.1])))
        years.append(2000 + i // 12 if i % 3 else 2000)
    return Corpus.from_texts(texts, titles=[f"text {i}" for i in range(120)], times=years)


@pytest.fixture(scope="module")
def model(corpus):
    return AnchorTopics(3).fit(corpus)


def test_words_by_probability_relevance_and_lift(model, corpus):
    for by in ("probability", "relevance", "lift"):
        assert {frozenset(words) for words in model.top_words(4, by)} == {frozenset(group.split()) for group in GROUPS}
    first = [words[0] for words in model.top_words(4)]
    assert set(first) == {"sun", "fish", "oak"}
    scores = word_scores(model.topic_word_, model.word_share_, "relevance", 0.3)
    k, w = 1, int(np.argmax(model.topic_word_[1]))
    beta, share = model.topic_word_[k, w], model.word_share_[w]
    assert scores[k, w] == pytest.approx(0.3 * np.log(beta) + 0.7 * np.log(beta / share))
    assert model.top_words(2, words=[f"v{j}" for j in range(12)])[0][0].startswith("v")
    with pytest.raises(ValueError, match="by='rank' is unknown"):
        model.top_words(by="rank")
    with pytest.raises(ValueError, match="5 words are given for a model of 12"):
        model.top_words(words=list("abcde"))
    with pytest.raises(ValueError, match=r"relevance=2 is not a number of at least 0 and at most 1"):
        model.top_words(by="relevance", relevance=2)


def test_tables(model, corpus):
    topics = model.topic_table(4)
    assert topics.columns == ["topic", "share", "words"]
    assert sum(topics["share"]) == pytest.approx(1.0)
    documents = model.document_table(corpus)
    assert documents[5]["title"] == "text 5"
    assert documents[5]["document"] == 6
    shares = [documents[5][f"topic_{k}"] for k in (1, 2, 3)]
    assert sum(shares) == pytest.approx(1.0)
    assert documents[5]["topic"] == 1 + int(np.argmax(shares))
    typical = model.typical_documents(corpus, 2)
    assert len(typical) == 6
    assert all(row["share"] > 0.9 for row in typical)
    for row in typical:
        own = set(model.top_words(4)[row["topic"] - 1])
        assert set(corpus.texts[row["document"] - 1].split()) <= own
    assert model.typical_documents(corpus.texts, 1)["document"] == model.typical_documents(corpus, 1)["document"]
    assert "title" not in model.typical_documents(corpus.counts, 1).columns


def test_halves_are_halves_whatever_the_blocks(corpus):
    whole = Block.of(SparseRows.of(corpus.counts))
    before = corpus.counts.copy()
    first, second = (half.X.matrix for half in halves(3, whole))
    assert ((first + second) != corpus.counts).nnz == 0
    assert (corpus.counts != before).nnz == 0
    np.testing.assert_array_equal(first.sum(axis=1), second.sum(axis=1))  # twelve words each
    late = Block.of(SparseRows.of(corpus.counts[50:]), first=50)
    assert (halves(3, late)[0].X.matrix != first[50:]).nnz == 0
    assert (halves(4, whole)[0].X.matrix != first).nnz > 0
    # A fraction stays whole.
    parts = halves(0, Block.of(SparseRows.of(csr_matrix([[2.5, 0.25]]))))
    assert {float(value) % 1 for half in parts for value in half.X.data} <= {0.0, 0.25, 0.5}


def test_completion_beats_words_of_all_documents(model, corpus):
    found = completion(model, corpus)
    # Given its topic, a word is as open as exp of the entropy of (.4, .3, .2, .1); without it thrice so.
    truth = np.exp(-sum(p * np.log(p) for p in (0.4, 0.3, 0.2, 0.1)))
    assert found.perplexity == pytest.approx(truth, rel=0.1)
    assert found.baseline == pytest.approx(3 * truth, rel=0.1)
    assert (found.n_words, found.n_documents) == (720, 120)
    assert model.completion(corpus) == found
    with pytest.raises(ValueError, match="no document has two words"):
        completion(model, np.eye(12))


def test_the_number_of_topics_is_found(corpus):
    found = choose_topics(AnchorTopics(), corpus)
    assert found.simplest == 3
    assert found.n_topics == (
        2,
        3,
        4,
        5,
        7,
    )  # up to two past the best, and what lies between the best and its neighbours
    assert repr(found).startswith("TopicChoice: best 3, simplest 3\nn_topics  perplexity")
    assert found.check(3).baseline > 2 * found.check(3).perplexity
    assert choose_topics(AnchorTopics(), corpus, [2, 3], budget=0.0).ended
    with pytest.raises(ValueError, match="no number of topics could be fitted: n_components=99 exceeds"):
        choose_topics(AnchorTopics(), corpus, [99])
    with pytest.raises(TypeError, match=r"model is a Corpus, .* the order is choose_topics\(model, X, n_topics\)"):
        choose_topics(corpus, range(2, 9))


def test_numbers_between_the_best_and_its_neighbours():
    def tried(**perplexity):
        return {int(name[1:]): [Completion(value, 100.0, 10.0, 1)] for name, value in perplexity.items()}

    assert _between(tried(n3=9.0, n5=7.0, n7=8.0)) == [4, 6]
    assert _between(tried(n28=9.0, n40=7.0, n57=8.0)) == [32, 36, 46, 51]
    assert _between(tried(n2=7.0, n3=8.0, n5=9.0)) == []
    assert _between(tried(n5=9.0, n7=8.0)) == [6]
    assert _between({2: []}) == []


def test_topics_without_documents_and_topics_alike_are_told(corpus):
    words = [f"w{i}{j}" for i in "abcde" for j in "abcde"]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words[:13] if i % 2 else words[12:], 30)) for i in range(40)]
    own = Corpus.from_texts([*texts, ""])
    model = AnchorTopics(2).fit(own)
    model.topic_word_ = np.vstack([model.topic_word_, 0.9 * model.topic_word_[0] + 0.1 * model.topic_word_[1]])
    model.topic_share_ = np.array([0.4, 0.5, 0.1])
    model.transform = lambda X: np.where(
        np.arange(X.counts.shape[0])[:, None] % 2 == 0, [[0.6, 0.1, 0.3]], [[0.1, 0.6, 0.3]]
    )
    limits = {sentence.code: sentence for sentence in study_topics(model, own).limits if hasattr(sentence, "code")}
    assert limits["idle"] == "Topic 3 is the main topic of no document; fewer topics may do."
    assert limits["alike"].startswith("Topics 1 and 3 share ")
    assert limits["alike"].endswith(" of their 10 first words; fewer topics may do.")
    assert (
        limits["empty"]
        == "1 document has none of the words: its topic is left empty, and its proportions tell nothing."
    )


def test_a_search_that_was_ended_is_told(model, corpus):
    choice = choose_topics(AnchorTopics(), corpus, [3, 2], budget=0.0)
    told = study_topics(model, corpus, choice=choice).summary
    assert (
        told[0] == "The search for the number of topics was ended at its budget of 0 s; more topics may predict better."
    )
    assert told[1] == "120 documents are about 3 topics."
    assert not any("settled" in sentence for sentence in told)


def test_distances_and_their_map():
    p = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.0]])
    distances = jensen_shannon(p)
    assert distances[0, 1] == pytest.approx(1.0)
    np.testing.assert_allclose(distances, distances.T)
    assert distances[0, 2] == pytest.approx(distances[1, 2])
    places, kept = topic_map(distances)
    assert kept == pytest.approx(1.0)
    made = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.testing.assert_allclose(made, distances, atol=1e-12)
    assert topic_map(np.zeros((1, 1)))[0].shape == (1, 2)


def test_findings_state_checked_figures(model, corpus):
    found = study_topics(model, corpus, judged=AnchorTopics(3))
    codes = [sentence.code for sentence in found.summary]
    assert codes[:2] == ["topics", "completion"]
    assert found.completion.perplexity < found.completion.baseline
    assert [topic.n_documents for topic in found.topics] == [40, 40, 40]
    assert found.span.labels[0] == "2000"
    assert found.span.n_documents.sum() == 120
    np.testing.assert_allclose(np.nansum(found.span.shares, axis=1), 1.0)
    for topic in found.topics:
        assert {entry["word"] for entry in topic.entries} >= set(topic.words)
        assert topic.coherence > 0.3
    assert found.summary[-1].code == "over_time"


def test_topics_change_over_time_only_where_chance_would_not_do_it(model, corpus):
    rng = np.random.default_rng(0)
    theta = rng.dirichlet(np.full(8, 0.3), 150)
    years = [rng.permutation(150) / 15.0 for _ in range(60)]
    counts = corpus.counts[np.zeros(150, int)]

    def drift(times):
        return topic_span(Corpus(counts, corpus.words, times=times), theta).drift

    told = [drift(own) for own in years]
    assert np.mean([each.p_value <= 0.05 for each in told]) < 0.15
    theta[100:, 2] += 0.3
    late = drift(np.arange(150) / 15.0)
    assert late.topic == 2
    assert late.p_value == pytest.approx(0.001)
    assert late.after - late.before > 0.2
    shuffled = Corpus(corpus.counts, corpus.words, times=rng.permutation(120) / 12.0)
    assert "No topic changed over time" in study_topics(model, shuffled).summary[-1]
