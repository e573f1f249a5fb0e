"""A vector per row: principal components, factors, canonical variates, and components of a kernel."""

from .cca import CCA
from .moments import Moments, moments

__all__ = ["CCA", "Moments", "moments"]
