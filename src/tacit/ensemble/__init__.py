"""Ensembles of trees: averages of trees on rows and columns that are drawn, and sums of trees on what is left to learn.

forests and bagging   f(x) = Σ_b f_b(x) / B
boosting              f_m(x) = f_{m−1}(x) + η h_m(x)
"""

from .adaboost import AdaBoostClassifier
from .bagging import BaggingClassifier, BaggingRegressor
from .classifier import ExtraTreesClassifier, RandomForestClassifier
from .gradient_boosting import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from .imputer import ForestImputer
from .regressor import ExtraTreesRegressor, RandomForestRegressor

__all__ = [
    "AdaBoostClassifier", "BaggingClassifier", "BaggingRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor",
    "ForestImputer", "GradientBoostingClassifier", "GradientBoostingRegressor", "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor", "RandomForestClassifier", "RandomForestRegressor",
]  # fmt: skip
