"""Ensembles of trees: many trees on rows and columns that are drawn, f(x) = Σ_b f_b(x) / B."""

from .bagging import BaggingClassifier, BaggingRegressor
from .classifier import ExtraTreesClassifier, RandomForestClassifier
from .imputer import ForestImputer
from .regressor import ExtraTreesRegressor, RandomForestRegressor

__all__ = [
    "BaggingClassifier", "BaggingRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor", "ForestImputer",
    "RandomForestClassifier", "RandomForestRegressor",
]  # fmt: skip
