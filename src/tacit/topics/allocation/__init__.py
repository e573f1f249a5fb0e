"""Latent Dirichlet allocation."""

from .choice import TopicChoice, choose_topics
from .documents import DocumentSource
from .lda import LatentDirichletAllocation
from .model import CollapsedModel, VariationalModel

__all__ = [
    "CollapsedModel", "DocumentSource", "LatentDirichletAllocation", "TopicChoice", "VariationalModel", "choose_topics",
]  # fmt: skip
