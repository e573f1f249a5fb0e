"""Non-negative factorisation and topics: what parts tables are made of, and what documents are about."""

from .allocation import LatentDirichletAllocation
from .anchors import AnchorTopics
from .choice import TopicChoice, choose_topics
from .coherence import coherence
from .completion import Completion, completion
from .corpus import Corpus
from .documents import DocumentSource
from .factorisation.function import non_negative_factorization
from .factorisation.minibatch import MiniBatchNMF
from .factorisation.nmf import NMF
from .factorisation.topics import NMFTopics
from .topic_model import TopicModel
from .vectorizer import TextVectorizer
from .words import topic_diversity

__all__ = [
    "NMF", "AnchorTopics", "Completion", "Corpus", "DocumentSource", "LatentDirichletAllocation", "MiniBatchNMF", "NMFTopics",
    "TextVectorizer", "TopicChoice", "TopicModel", "choose_topics", "coherence", "completion", "non_negative_factorization",
    "topic_diversity",
]  # fmt: skip
