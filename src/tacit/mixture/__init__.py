"""Mixtures: one hidden class per row."""

from .gaussian import GaussianMixture
from .generic import Mixture
from .model import MixtureModel

__all__ = ["GaussianMixture", "Mixture", "MixtureModel"]
