"""Pairwise networks: neighbours that want to be alike, or not; Ising models, Boltzmann machines, pictures, cuts."""

from .energy import PairwiseEnergy
from .minimise import Labelling, minimise_energy

__all__ = ["Labelling", "PairwiseEnergy", "minimise_energy"]
