"""Mixtures: one hidden class per row."""

from .gaussian import GaussianMixture
from .model import MixtureModel
from .student import StudentTMixture

__all__ = ["GaussianMixture", "MixtureModel", "StudentTMixture"]
