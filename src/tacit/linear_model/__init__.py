"""Linear models for regression and classification, with scikit-learn's names."""

from .bayesian_logistic import BayesianLogisticRegression
from .logistic import LogisticRegression
from .perceptron import Perceptron

__all__ = ["BayesianLogisticRegression", "LogisticRegression", "Perceptron"]
