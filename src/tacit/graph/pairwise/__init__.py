"""Pairwise networks: neighbours that want to be alike, or not; Ising models, Boltzmann machines, pictures, cuts."""

from .boltzmann import BoltzmannMachine
from .denoising import Denoised, compare_denoising, denoise
from .energy import PairwiseEnergy
from .ising import IsingModel
from .minimise import Labelling, minimise_energy

__all__ = [
    "BoltzmannMachine", "Denoised", "IsingModel", "Labelling", "PairwiseEnergy", "compare_denoising", "denoise",
    "minimise_energy",
]  # fmt: skip
