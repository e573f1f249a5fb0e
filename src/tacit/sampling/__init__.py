"""Monte Carlo methods and Markov chains."""

from .chains import Chains
from .hamiltonian import hamiltonian

__all__ = ["Chains", "hamiltonian"]
