"""Graphical models: belief networks, Markov networks and factor graphs over variables with named states."""

from .belief import BeliefNetwork
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
from .formats import read_uai_factors
from .junction_tree import JunctionTree
from .noisy import noisy_or
from .potential import Potential
from .queries import Explanation, GaussianMarginal

__all__ = [
    "BeliefNetwork", "Explanation", "GaussianMarginal", "JunctionTree", "Potential", "ancestors", "ancestral", "cpdag",
    "d_separated",
    "descendants", "equivalent", "immoralities", "markov_blanket", "moral", "noisy_or", "read_uai_factors", "separated",
    "skeleton", "topological_order",
]  # fmt: skip
