"""Linear models of a target: regressions with missing features integrated out, and classifiers, with scikit-learn's names."""

from .basis import BasisExpansion
from .bayesian import BayesianLinearRegression, BayesianRidge
from .bayesian_logistic import BayesianLogisticRegression
from .least_squares import LinearRegression
from .logistic import LogisticRegression
from .perceptron import Perceptron
from .ridge import Ridge
from .sparse_bayesian import ARDRegression, SparseBayesianRegression

__all__ = [
    "ARDRegression",
    "BasisExpansion",
    "BayesianLinearRegression",
    "BayesianLogisticRegression",
    "BayesianRidge",
    "LinearRegression",
    "LogisticRegression",
    "Perceptron",
    "Ridge",
    "SparseBayesianRegression",
]
