"""Monte Carlo methods and Markov chains."""

from .chains import Chains
from .draws import Interval, PosteriorSample
from .estimate import Estimate, expectation
from .gibbs import gibbs
from .hamiltonian import hamiltonian
from .ising import gibbs_ising
from .metropolis import metropolis
from .mixture import gibbs_mixture
from .monte_carlo import ImportanceSample, RejectionSample, importance_sample, rejection_sample
from .network import gibbs_network
from .points import latin_hypercube, quasi_random
from .posterior import sample_posterior
from .probit import gibbs_probit
from .running import SamplingProgress
from .topics import gibbs_topics

__all__ = [
    "Chains", "Estimate", "ImportanceSample", "Interval", "PosteriorSample", "RejectionSample", "SamplingProgress", "expectation",
    "gibbs", "gibbs_ising", "gibbs_mixture", "gibbs_network", "gibbs_probit", "gibbs_topics", "hamiltonian", "importance_sample",
    "latin_hypercube", "metropolis", "quasi_random", "rejection_sample", "sample_posterior",
]  # fmt: skip
