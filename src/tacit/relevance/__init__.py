"""Relevance vector machines: kernel regression and classification at few rows, which the marginal likelihood chooses."""

from .classifier import RelevanceVectorClassifier
from .regressor import RelevanceVectorRegressor

__all__ = ["RelevanceVectorClassifier", "RelevanceVectorRegressor"]
