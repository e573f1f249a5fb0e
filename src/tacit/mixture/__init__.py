"""Mixtures: one hidden class per row."""

from .experts import MixtureOfExperts
from .experts_classifier import MixtureOfExpertsClassifier
from .gaussian import GaussianMixture
from .model import MixtureModel

__all__ = ["GaussianMixture", "MixtureModel", "MixtureOfExperts", "MixtureOfExpertsClassifier"]
