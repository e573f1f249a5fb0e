"""Mixtures: one hidden class per row."""

from .bayesian import BayesianGaussianMixture
from .conditional import ConditionalMixture
from .gaussian import GaussianMixture
from .model import MixtureModel
from .variational import VariationalMixture, VariationalPrior

__all__ = [
    "BayesianGaussianMixture",
    "ConditionalMixture",
    "GaussianMixture",
    "MixtureModel",
    "VariationalMixture",
    "VariationalPrior",
]
