"""Graphical models: networks of variables, learned from tables, asked and drawn."""

from .belief import BeliefNetwork
from .beliefs import Beliefs, Solution
from .choice import NetworkChoice, find_network
from .dag import (
    ancestors,
    ancestral,
    cpdag,
    d_separated,
    descendants,
    equivalent,
    immoralities,
    markov_blanket,
    moral,
    separated,
    skeleton,
    topological_order,
)
from .factor_graph import FactorGraph
from .formats import read_uai_factors
from .junction_tree import JunctionTree
from .markov_network import MarkovNetwork
from .noisy import noisy_or
from .pairwise import (
    BoltzmannMachine,
    Denoised,
    IsingModel,
    Labelling,
    PairwiseEnergy,
    compare_denoising,
    denoise,
    minimise_energy,
)
from .potential import Potential
from .queries import Explanation, GaussianMarginal
from .structure import (
    Structure,
    chow_liu,
    find_structure,
    hill_climb,
    independence_test,
    learn_structure,
    mutual_information,
    pc_stable,
    score_structure,
)

__all__ = [
    "BeliefNetwork", "Beliefs", "BoltzmannMachine", "Denoised", "Explanation", "FactorGraph", "GaussianMarginal",
    "IsingModel", "JunctionTree", "Labelling", "MarkovNetwork", "NetworkChoice", "PairwiseEnergy", "Potential", "Solution",
    "Structure", "ancestors", "ancestral", "chow_liu", "compare_denoising", "cpdag", "d_separated", "denoise",
    "descendants", "equivalent", "find_network", "find_structure", "hill_climb", "immoralities", "independence_test",
    "learn_structure", "markov_blanket", "minimise_energy", "moral", "mutual_information", "noisy_or", "pc_stable",
    "read_uai_factors", "score_structure", "separated", "skeleton", "topological_order",
]  # fmt: skip
