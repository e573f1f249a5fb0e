"""A vector per row: principal components, factors, canonical variates, and components of a kernel."""

from .cca import CCA
from .moments import Moments, moments
from .pcca import ProbabilisticCCA

__all__ = ["CCA", "Moments", "ProbabilisticCCA", "moments"]
