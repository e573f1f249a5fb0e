"""Linear models of a target: least squares, ridge and Bayesian regression, with missing features integrated out."""

from .basis import BasisExpansion
from .bayesian import BayesianLinearRegression, BayesianRidge
from .least_squares import LinearRegression
from .ridge import Ridge
from .sparse_bayesian import ARDRegression, SparseBayesianRegression

__all__ = [
    "ARDRegression",
    "BasisExpansion",
    "BayesianLinearRegression",
    "BayesianRidge",
    "LinearRegression",
    "Ridge",
    "SparseBayesianRegression",
]
