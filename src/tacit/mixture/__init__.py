"""Mixtures: one hidden class per row."""

from .experts import MixtureOfExperts
from .experts_classifier import MixtureOfExpertsClassifier
from .gaussian import GaussianMixture
from .generic import Mixture
from .model import MixtureModel
from .selection import Selection, select

__all__ = [
    "GaussianMixture",
    "Mixture",
    "MixtureModel",
    "MixtureOfExperts",
    "MixtureOfExpertsClassifier",
    "Selection",
    "select",
]
