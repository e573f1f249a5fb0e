"""Displays of topics draw what the model says."""

import numpy as np
import pytest

from tacit.plot import DocumentTopicsDisplay, TopicMapDisplay, TopicTimeDisplay, TopicWordsDisplay
from tacit.topics import AnchorTopics, Corpus

TEXTS = ["sun moon sun moon star"] * 9 + ["fish sea fish sea ship"] * 9 + ["oak elm oak elm fir"] * 9


@pytest.fixture(scope="module")
def corpus():
    return Corpus.from_texts(TEXTS, times=[2000 + i % 9 // 3 if i < 18 else 2002 for i in range(27)])


@pytest.fixture(scope="module")
def model(corpus):
    return AnchorTopics(3).fit(corpus)


def test_bars_are_parts_of_all_of_a_word(model):
    display = TopicWordsDisplay.from_estimator(model, n=3)
    assert len(display.axes_) == 3
    labels = [tick.get_text() for tick in display.axes_[1].get_yticklabels()]
    assert labels == model.top_words(3, "relevance")[1]
    for k in range(3):
        assert (display.probabilities[k] <= display.overall[k] + 1e-9).all()
        np.testing.assert_allclose([bar.get_width() for bar in display.bars_[k]], display.probabilities[k])
    assert sum(part.sum() for part in display.probabilities) > 0.85
    some = TopicWordsDisplay.from_estimator(model, n=2, topics=[2])
    assert some.axes_[0].get_title().startswith("topic 3, ")


def test_bars_on_axes_that_are_given(model, pyplot):
    figure, axes = pyplot.subplots(1, 2)
    display = TopicWordsDisplay.from_estimator(model, n=3)
    again = TopicWordsDisplay(display.words, display.probabilities, display.overall, display.shares).plot(axes[1])
    assert again.figure_ is figure
    assert len(again.axes_) == 3


def test_the_map_has_a_circle_for_each_topic(model):
    display = TopicMapDisplay.from_estimator(model)
    made = np.linalg.norm(display.places[:, None] - display.places[None], axis=2)
    np.testing.assert_allclose(made, model.distances(), atol=1e-9)
    assert len(display.names_) == 3
    sizes = display.circles_.get_sizes()
    np.testing.assert_allclose(sizes / sizes.max(), model.topic_share_ / model.topic_share_.max())
    assert "keeps 100 %" in display.ax_.get_title()


def test_lines_are_mean_proportions_of_periods(model, corpus):
    display = TopicTimeDisplay.from_estimator(model, corpus)
    assert display.labels == ["2000", "2001", "2002"]
    theta = model.transform(corpus)
    np.testing.assert_allclose(display.lines_[0].get_ydata()[0], theta[corpus.times == 2000, 0].mean())
    with pytest.raises(ValueError, match="documents have no two times; give a corpus with times"):
        TopicTimeDisplay.from_estimator(model, Corpus.from_texts(TEXTS))


def test_the_strip_orders_documents_by_topic(model, corpus):
    display = DocumentTopicsDisplay.from_estimator(model, corpus)
    theta = model.transform(corpus)
    assert (np.diff(theta[display.order_].argmax(axis=1)) >= 0).all()
    np.testing.assert_allclose(display.image_.get_array(), theta[display.order_].T)
