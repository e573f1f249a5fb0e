"""Hidden Markov models with hmmlearn's names, and conditional random fields with sklearn-crfsuite's."""

from .crf import CRF
from .discrete import CategoricalHMM, MultinomialHMM, PoissonHMM
from .gaussian import GMMHMM, GaussianHMM

__all__ = ["CRF", "GMMHMM", "CategoricalHMM", "GaussianHMM", "MultinomialHMM", "PoissonHMM"]
