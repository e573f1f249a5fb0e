"""Monte Carlo methods and Markov chains."""

from .chains import Chains
from .estimate import Estimate, expectation
from .gibbs import gibbs
from .hamiltonian import hamiltonian
from .ising import gibbs_ising
from .metropolis import metropolis
from .mixture import gibbs_mixture
from .monte_carlo import ImportanceSample, RejectionSample, importance_sample, rejection_sample
from .network import gibbs_network
from .points import latin_hypercube, quasi_random
from .probit import gibbs_probit
from .running import SamplingProgress
from .topics import gibbs_topics

__all__ = [
    "Chains", "Estimate", "ImportanceSample", "RejectionSample", "SamplingProgress", "expectation", "gibbs", "gibbs_ising",
    "gibbs_mixture", "gibbs_network", "gibbs_probit", "gibbs_topics", "hamiltonian", "importance_sample", "latin_hypercube",
    "metropolis", "quasi_random", "rejection_sample",
]  # fmt: skip
