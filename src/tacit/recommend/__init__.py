"""Recommenders: ratings are a table of users by items with missing values."""

from .base import Explanation, Recommendations, Recommender
from .factorization import MatrixFactorization
from .ratings import Ratings

__all__ = ["Explanation", "MatrixFactorization", "Ratings", "Recommendations", "Recommender"]
