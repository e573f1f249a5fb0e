"""Many trees together: boosting, and what explains it."""

from .adaboost import AdaBoostClassifier
from .gradient_boosting import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

__all__ = [
    "AdaBoostClassifier", "GradientBoostingClassifier", "GradientBoostingRegressor", "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
]  # fmt: skip
