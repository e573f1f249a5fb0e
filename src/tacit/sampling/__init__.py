"""Monte Carlo methods and Markov chains."""

from .chains import Chains
from .draws import Interval, PosteriorSample
from .hamiltonian import hamiltonian
from .posterior import sample_posterior

__all__ = ["Chains", "Interval", "PosteriorSample", "hamiltonian", "sample_posterior"]
