"""Monte Carlo methods and Markov chains."""

from .chains import Chains
from .hamiltonian import hamiltonian
from .metropolis import metropolis
from .points import latin_hypercube, quasi_random
from .running import SamplingProgress

__all__ = ["Chains", "SamplingProgress", "hamiltonian", "latin_hypercube", "metropolis", "quasi_random"]
