"""A vector per row: principal components, factors, canonical variates, and components of a kernel."""

from .adequacy import FitTest
from .fa import FactorAnalysis
from .fa_base import HeywoodWarning
from .moments import Moments, moments
from .ppca import ProbabilisticPCA
from .rotation import Rotation, oblimin, promax, quartimax, rotate, varimax

__all__ = [
    "FactorAnalysis",
    "FitTest",
    "HeywoodWarning",
    "Moments",
    "ProbabilisticPCA",
    "Rotation",
    "moments",
    "oblimin",
    "promax",
    "quartimax",
    "rotate",
    "varimax",
]
