"""Hidden Markov models with hmmlearn's names."""

from .discrete import CategoricalHMM, MultinomialHMM, PoissonHMM
from .gaussian import GMMHMM, GaussianHMM

__all__ = ["GMMHMM", "CategoricalHMM", "GaussianHMM", "MultinomialHMM", "PoissonHMM"]
