"""Hidden Markov models with hmmlearn's names."""

from .crf import CRF
from .discrete import CategoricalHMM, MultinomialHMM, PoissonHMM
from .gaussian import GMMHMM, GaussianHMM

__all__ = ["CRF", "GMMHMM", "CategoricalHMM", "GaussianHMM", "MultinomialHMM", "PoissonHMM"]
