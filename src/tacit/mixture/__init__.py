"""Mixtures: one hidden class per row."""

from .gaussian import GaussianMixture
from .model import MixtureModel

__all__ = ["GaussianMixture", "MixtureModel"]
