"""Mixtures: one hidden class per row."""

from .bootstrap import BootstrapTest, SequentialTest, bootstrap_lrt
from .gaussian import GaussianMixture
from .model import MixtureModel
from .selection import Selection, select
from .uncertainty import StandardErrors, standard_errors

__all__ = [
    "BootstrapTest",
    "GaussianMixture",
    "MixtureModel",
    "Selection",
    "SequentialTest",
    "StandardErrors",
    "bootstrap_lrt",
    "select",
    "standard_errors",
]
