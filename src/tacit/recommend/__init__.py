"""Recommenders: ratings are a table of users by items with missing values."""

from . import metrics
from .base import Explanation, Recommendations, Recommender
from .choice import RecommenderChoice, choose_recommender
from .content import ContentRecommender
from .evaluation import Evaluation, evaluate
from .factorization import MatrixFactorization
from .features import Features, features_of
from .neighbours import NeighbourhoodRecommender
from .ratings import Ratings
from .splits import folds, split_ratings
from .two_sided import TwoSidedMixture
from .validation import CrossValidation, cross_validate

__all__ = [
    "ContentRecommender", "CrossValidation", "Evaluation", "Explanation", "Features", "MatrixFactorization",
    "NeighbourhoodRecommender", "Ratings", "Recommendations", "Recommender", "RecommenderChoice", "TwoSidedMixture",
    "choose_recommender", "cross_validate", "evaluate", "features_of", "folds", "metrics", "split_ratings",
]  # fmt: skip
