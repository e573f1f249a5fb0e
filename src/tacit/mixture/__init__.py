"""Mixtures: one hidden class per row."""

from .bayesian import BayesianGaussianMixture
from .gaussian import GaussianMixture
from .model import MixtureModel
from .variational import VariationalMixture, VariationalPrior

__all__ = ["BayesianGaussianMixture", "GaussianMixture", "MixtureModel", "VariationalMixture", "VariationalPrior"]
