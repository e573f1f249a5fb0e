"""Monte Carlo methods and Markov chains."""

from .chains import Chains
from .estimate import Estimate, expectation
from .hamiltonian import hamiltonian
from .metropolis import metropolis
from .monte_carlo import ImportanceSample, RejectionSample, importance_sample, rejection_sample
from .points import latin_hypercube, quasi_random
from .running import SamplingProgress

__all__ = [
    "Chains", "Estimate", "ImportanceSample", "RejectionSample", "SamplingProgress", "expectation", "hamiltonian",
    "importance_sample", "latin_hypercube", "metropolis", "quasi_random", "rejection_sample",
]  # fmt: skip
