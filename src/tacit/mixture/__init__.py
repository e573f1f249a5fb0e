"""Mixtures: one hidden class per row."""

from .gaussian import GaussianMixture
from .generic import Mixture
from .model import MixtureModel
from .selection import Selection, select

__all__ = ["GaussianMixture", "Mixture", "MixtureModel", "Selection", "select"]
