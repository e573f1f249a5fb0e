"""Non-negative factorisation and topics: what parts tables are made of, and what documents are about."""

from .anchors import AnchorTopics
from .choice import TopicChoice, choose_n_topics
from .coherence import coherence
from .completion import Completion, completion
from .corpus import Corpus
from .topic_model import TopicModel
from .vectorizer import TextVectorizer
from .words import topic_diversity

__all__ = [
    "AnchorTopics", "Completion", "Corpus", "TextVectorizer", "TopicChoice", "TopicModel", "choose_n_topics", "coherence",
    "completion", "topic_diversity",
]  # fmt: skip
