"""Monte Carlo methods and Markov chains."""

from .chains import Chains
from .draws import Interval, PosteriorSample
from .hamiltonian import hamiltonian
from .metropolis import metropolis
from .points import latin_hypercube, quasi_random
from .posterior import sample_posterior
from .running import SamplingProgress

__all__ = [
    "Chains", "Interval", "PosteriorSample", "SamplingProgress", "hamiltonian", "latin_hypercube", "metropolis", "quasi_random",
    "sample_posterior",
]  # fmt: skip
