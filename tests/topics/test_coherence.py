"""Coherence against gensim's figures, and by hand."""

import numpy as np
import pytest

from tacit.topics import AnchorTopics, Corpus, coherence, topic_diversity
from tacit.topics.tokens import Reading

WORDS = [f"w{a}{b}" for a in "abcdefghijklmno" for b in "abcdefghijklmno"]
TOPICS = [WORDS[start : start + 6] for start in (0, 40, 90)]
GENSIM = {
    "u_mass": [-0.5879397540, -0.5388535827, -0.4484435267],
    "npmi": [-0.1005157549, -0.3003710626, -0.0291042500],
    "c_v": [0.3818136372, 0.4246935581, 0.4355173590],
}
"""By gensim 4.4: CoherenceModel(...).get_coherence_per_topic() of "u_mass", "c_npmi" and "c_v"."""


@pytest.fixture(scope="module")
def corpus():
    """Texts in which no word comes twice: gensim forgets a word when its first occurrence leaves the window."""
    rng = np.random.default_rng(0)
    weight = rng.gamma(5.0, size=len(WORDS))
    texts = []
    for _ in range(80):
        n = int(rng.integers(5, 200))
        texts.append(" ".join(rng.choice(WORDS, n, replace=False, p=weight / weight.sum())))
    return Corpus.from_texts(texts, min_df=1, max_df=1.0)


def measured(corpus):
    return {
        "u_mass": coherence(TOPICS, corpus, "u_mass", smoothing=1e-12 * len(corpus)),
        "npmi": coherence(TOPICS, corpus, "npmi", window=10),
        "c_v": coherence(TOPICS, corpus, "c_v"),
    }


@pytest.mark.parametrize("measure", GENSIM)
def test_figures_are_those_of_gensim(measure, corpus):
    np.testing.assert_allclose(measured(corpus)[measure], GENSIM[measure], rtol=1e-6)


def test_gensim_says_the_same_here(corpus):
    models = pytest.importorskip("gensim.models")
    corpora = pytest.importorskip("gensim.corpora")
    tokens = [Reading().words(text) for text in corpus.texts]
    dictionary = corpora.Dictionary(tokens)
    told = {"topics": TOPICS, "dictionary": dictionary, "texts": tokens, "processes": 1}
    bags = [dictionary.doc2bow(words) for words in tokens]
    for name, measure in (("u_mass", "u_mass"), ("c_npmi", "npmi"), ("c_v", "c_v")):
        theirs = models.CoherenceModel(coherence=name, corpus=bags, **told).get_coherence_per_topic()
        np.testing.assert_allclose(measured(corpus)[measure], theirs, rtol=1e-6)


def test_windows_by_hand():
    corpus = Corpus.from_texts(["sun x sun moon", "moon y y y y sun", "sea"], min_df=1, max_df=1.0)
    found = coherence([["sun", "moon"]], corpus, "npmi", window=2)
    # Of 3 + 5 + 1 windows sun is in 4, moon in 2, both in 1.
    expected = np.log((1 / 9) / (4 / 9 * 2 / 9)) / -np.log(1 / 9)
    np.testing.assert_allclose(found, [expected])


def test_words_that_never_meet_are_worst():
    corpus = Corpus.from_texts(["sun moon", "fish sea"] * 5, min_df=1, max_df=1.0)
    assert coherence([["sun", "fish"]], corpus)[0] == pytest.approx(-1.0, abs=0.1)
    assert coherence([["sun", "moon"]], corpus)[0] == pytest.approx(1.0)


def test_without_texts_c_v_falls_back_to_documents(corpus):
    counted = Corpus.from_counts(corpus.counts, corpus.words)
    np.testing.assert_allclose(coherence(TOPICS, counted, "c_v"), coherence(TOPICS, corpus, "c_v", window=None))
    with pytest.raises(ValueError, match="windows need texts"):
        coherence(TOPICS, counted, "c_v", window=10)


def test_models_tell_their_coherence_and_diversity():
    texts = ["sun moon sun moon star"] * 9 + ["fish sea fish sea ship"] * 9 + ["oak elm oak elm fir"] * 9
    corpus = Corpus.from_texts(texts)
    model = AnchorTopics(3).fit(corpus)
    np.testing.assert_allclose(model.coherence(corpus, n=3), 1.0)
    assert model.diversity(3) == 1.0
    assert topic_diversity([["a", "b"], ["a", "b"]]) == 0.5


def test_bad_input(corpus):
    with pytest.raises(ValueError, match="measure='umass' is unknown"):
        coherence(TOPICS, corpus, "umass")
    with pytest.raises(ValueError, match="the word 'zebra' is no column of X"):
        coherence([["zebra", "waa"]], corpus)
    with pytest.raises(ValueError, match=r"a topic of 1 word\(s\) has no coherence"):
        coherence([["waa"]], corpus)
    with pytest.raises(ValueError, match="there are no topics"):
        coherence([], corpus)
