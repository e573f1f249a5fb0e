"""Non-negative factorisation and topics: what parts tables are made of, and what documents are about."""

from .allocation import DocumentSource, LatentDirichletAllocation, TopicChoice, choose_topics

__all__ = ["DocumentSource", "LatentDirichletAllocation", "TopicChoice", "choose_topics"]
