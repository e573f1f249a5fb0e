"""What data look like given the hidden state."""

from functools import partial
from typing import Any

from .counts import Geometric, NegativeBinomial, Poisson
from .cyclic import VonMises
from .dense import FullGaussian, TiedGaussian
from .diagonal import DiagonalGaussian, SphericalGaussian
from .discrete import Bernoulli, Binomial, Categorical
from .distribution import Distribution
from .factor import FactorGaussian
from .family import Family, responsibilities
from .gaussian import Gaussian
from .gaussian_priors import NormalInverseGamma, NormalInverseWishart, default_prior
from .multinomial import Multinomial
from .ordinal import Ordinal
from .positive import Exponential, Gamma, LogNormal
from .predictive import Predictive
from .priors import BetaPrior, DirichletPrior, GammaPrior, Prior
from .product import Product
from .proportions import Beta, Dirichlet
from .structured import StructuredDense, StructuredDiagonal, StructuredSpherical
from .structures import STRUCTURES
from .student import StudentT
from .tree import ChowLiu

GAUSSIANS: dict[str, Any] = {
    "full": FullGaussian,
    "tied": TiedGaussian,
    "diag": DiagonalGaussian,
    "spherical": SphericalGaussian,
    "EII": partial(StructuredSpherical, "EII"),
    "VII": SphericalGaussian,
    **{name: partial(StructuredDiagonal, name) for name in ("EEI", "VEI", "EVI")},
    "VVI": DiagonalGaussian,
    "EEE": TiedGaussian,
    **{name: partial(StructuredDense, name) for name in ("VEE", "EVE", "VVE", "EEV", "VEV", "EVV")},
    "VVV": FullGaussian,
}
"""Gaussian families by the name of their covariances: scikit-learn's four, and the fourteen of three letters."""

NAMED: dict[str, Any] = {
    "bernoulli": Bernoulli,
    "beta": Beta,
    "exponential": Exponential,
    "gamma": Gamma,
    "geometric": Geometric,
    "lognormal": LogNormal,
    "multinomial": Multinomial,
    "negative_binomial": NegativeBinomial,
    "normal": DiagonalGaussian,
    "poisson": Poisson,
    "student": StudentT,
}
"""Families that can be asked for by name, beside the Gaussian structures and the categorical."""

# The names people look for: independent Gaussian columns, and Gaussian rows.
Normal, MultivariateNormal = DiagonalGaussian, FullGaussian

__all__ = [
    "GAUSSIANS", "NAMED", "STRUCTURES", "Bernoulli", "Beta", "BetaPrior", "Binomial", "Categorical", "ChowLiu",
    "DiagonalGaussian", "Dirichlet", "DirichletPrior", "Distribution", "Exponential", "FactorGaussian", "Family",
    "FullGaussian", "Gamma", "GammaPrior", "Gaussian", "Geometric", "LogNormal", "Multinomial", "MultivariateNormal",
    "NegativeBinomial", "Normal", "NormalInverseGamma", "NormalInverseWishart", "Ordinal", "Poisson", "Predictive", "Prior",
    "Product", "SphericalGaussian", "StructuredDense", "StructuredDiagonal", "StructuredSpherical", "StudentT",
    "TiedGaussian", "VonMises", "default_prior", "responsibilities",
]  # fmt: skip
