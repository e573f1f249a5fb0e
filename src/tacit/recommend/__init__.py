"""Recommenders: ratings are a table of users by items with missing values."""

from .base import Explanation, Recommendations, Recommender
from .ratings import Ratings

__all__ = ["Explanation", "Ratings", "Recommendations", "Recommender"]
