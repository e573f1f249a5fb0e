"""Mixtures: one hidden class per row."""

from .gaussian import GaussianMixture
from .model import Mixture

__all__ = ["GaussianMixture", "Mixture"]
