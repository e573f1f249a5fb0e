"""What data look like given the hidden state."""

from .base import Family, responsibilities
from .counts import Poisson
from .dense import FullGaussian, TiedGaussian
from .diagonal import DiagonalGaussian, SphericalGaussian
from .discrete import Bernoulli, Categorical
from .gaussian import Gaussian
from .product import Product

GAUSSIANS = {"full": FullGaussian, "tied": TiedGaussian, "diag": DiagonalGaussian, "spherical": SphericalGaussian}
NAMED = {"bernoulli": Bernoulli, "poisson": Poisson, "normal": DiagonalGaussian}
"""Families that can be asked for by name, beside the Gaussian structures and the categorical."""

__all__ = [
    "GAUSSIANS",
    "NAMED",
    "Bernoulli",
    "Categorical",
    "DiagonalGaussian",
    "Family",
    "FullGaussian",
    "Gaussian",
    "Poisson",
    "Product",
    "SphericalGaussian",
    "TiedGaussian",
    "responsibilities",
]
