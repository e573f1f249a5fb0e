"""Predict a column of a table from the others: models compared by nested cross-validation, the best learned from all rows."""

from .choice import LearnChoice, choose_predictor
from .estimator import TableClassifier, TableRegressor

__all__ = ["LearnChoice", "TableClassifier", "TableRegressor", "choose_predictor"]
