"""Non-negative factorisation and topics: what parts tables are made of, and what documents are about."""

from .allocation import DocumentSource, LatentDirichletAllocation, TopicChoice, choose_topics
from .anchors import AnchorTopics
from .coherence import coherence
from .completion import Completion, completion
from .corpus import Corpus
from .topic_model import TopicModel
from .vectorizer import TextVectorizer
from .words import topic_diversity

__all__ = [
    "AnchorTopics", "Completion", "Corpus", "DocumentSource", "LatentDirichletAllocation", "TextVectorizer", "TopicChoice",
    "TopicModel", "choose_topics", "coherence", "completion", "topic_diversity",
]  # fmt: skip
