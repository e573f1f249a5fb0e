"""A vector per row: principal components, factors, canonical variates, and components of a kernel."""

from .moments import Moments, moments
from .ppca import ProbabilisticPCA

__all__ = ["Moments", "ProbabilisticPCA", "moments"]
