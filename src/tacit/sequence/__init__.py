"""Sequences: hidden states, regimes and tags of rows that follow each other."""

from .choice import RegimeChoice, find_regimes
from .clock import Clock
from .crf import LinearChainCRF, scheme_pairs
from .drop_ins import CRF, GMMHMM, CategoricalHMM, GaussianHMM, MultinomialHMM, PoissonHMM
from .drop_ins.base import ConvergenceMonitor
from .forecast import Forecast, Predictive
from .hidden import HiddenMarkovModel
from .markov import MarkovChain
from .markov_mixture import MarkovMixture
from .markov_order import select_order
from .segmentation import Segmentation, segment
from .trial import Trial

__all__ = [
    "CRF", "GMMHMM", "CategoricalHMM", "Clock", "ConvergenceMonitor", "Forecast", "GaussianHMM", "HiddenMarkovModel",
    "LinearChainCRF", "MarkovChain", "MarkovMixture", "MultinomialHMM", "PoissonHMM", "Predictive", "RegimeChoice",
    "Segmentation", "Trial", "find_regimes", "scheme_pairs", "segment", "select_order",
]  # fmt: skip
