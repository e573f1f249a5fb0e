"""What data look like given the hidden state."""

from .base import Family, responsibilities
from .counts import Geometric, NegativeBinomial, Poisson
from .dense import FullGaussian, TiedGaussian
from .diagonal import DiagonalGaussian, SphericalGaussian
from .discrete import Bernoulli, Binomial, Categorical
from .distribution import Distribution
from .gaussian import Gaussian
from .gaussian_priors import NormalInverseGamma, NormalInverseWishart, default_prior
from .positive import Exponential, Gamma, LogNormal
from .predictive import Predictive
from .priors import BetaPrior, DirichletPrior, GammaPrior, Prior
from .proportions import Beta, Dirichlet

GAUSSIANS = {"full": FullGaussian, "tied": TiedGaussian, "diag": DiagonalGaussian, "spherical": SphericalGaussian}

# The names people look for: independent Gaussian columns, and Gaussian rows.
Normal, MultivariateNormal = DiagonalGaussian, FullGaussian

__all__ = [
    "GAUSSIANS",
    "Bernoulli",
    "Beta",
    "BetaPrior",
    "Binomial",
    "Categorical",
    "DiagonalGaussian",
    "Dirichlet",
    "DirichletPrior",
    "Distribution",
    "Exponential",
    "Family",
    "FullGaussian",
    "Gamma",
    "GammaPrior",
    "Gaussian",
    "Geometric",
    "LogNormal",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "NormalInverseGamma",
    "NormalInverseWishart",
    "Poisson",
    "Predictive",
    "Prior",
    "SphericalGaussian",
    "TiedGaussian",
    "default_prior",
    "responsibilities",
]
