"""What data look like given the hidden state."""

from functools import partial
from typing import Any

from .base import Family, responsibilities
from .counts import Poisson
from .dense import FullGaussian, TiedGaussian
from .diagonal import DiagonalGaussian, SphericalGaussian
from .discrete import Bernoulli, Categorical
from .gaussian import Gaussian
from .structured import StructuredDense, StructuredDiagonal, StructuredSpherical
from .structures import STRUCTURES
from .student import StudentT

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

__all__ = [
    "GAUSSIANS",
    "STRUCTURES",
    "Bernoulli",
    "Categorical",
    "DiagonalGaussian",
    "Family",
    "FullGaussian",
    "Gaussian",
    "Poisson",
    "SphericalGaussian",
    "StructuredDense",
    "StructuredDiagonal",
    "StructuredSpherical",
    "StudentT",
    "TiedGaussian",
    "responsibilities",
]
