"""Mixtures: one hidden class per row."""

from .bayesian import BayesianGaussianMixture
from .conditional import ConditionalMixture
from .experts import MixtureOfExperts
from .experts_classifier import MixtureOfExpertsClassifier
from .gaussian import GaussianMixture
from .generic import Mixture
from .model import MixtureModel
from .selection import Selection, select
from .variational import VariationalMixture, VariationalPrior

__all__ = [
    "BayesianGaussianMixture",
    "ConditionalMixture",
    "GaussianMixture",
    "Mixture",
    "MixtureModel",
    "MixtureOfExperts",
    "MixtureOfExpertsClassifier",
    "Selection",
    "VariationalMixture",
    "VariationalPrior",
    "select",
]
