"""Mixtures: one hidden class per row."""

from .gaussian import GaussianMixture
from .model import MixtureModel
from .selection import Selection, select

__all__ = ["GaussianMixture", "MixtureModel", "Selection", "select"]
