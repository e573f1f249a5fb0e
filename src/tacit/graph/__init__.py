"""Graphical models: networks of variables, learned from tables, asked and drawn."""

from .beliefs import Beliefs, Solution
from .factor_graph import FactorGraph
from .markov_network import MarkovNetwork
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
    "Beliefs", "BoltzmannMachine", "Denoised", "FactorGraph", "IsingModel", "Labelling", "MarkovNetwork", "PairwiseEnergy",
    "Potential", "Solution", "Structure", "chow_liu", "compare_denoising", "denoise", "find_structure", "hill_climb",
    "independence_test", "learn_structure", "minimise_energy", "mutual_information", "pc_stable", "score_structure",
]  # fmt: skip
