"""Latent Dirichlet allocation."""

from .lda import LatentDirichletAllocation
from .model import CollapsedModel, VariationalModel

__all__ = ["CollapsedModel", "LatentDirichletAllocation", "VariationalModel"]
