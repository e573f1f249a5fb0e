"""A vector per row: principal components, factors, canonical variates, and components of a kernel."""

from .moments import Moments, moments
from .rotation import Rotation, oblimin, promax, quartimax, rotate, varimax

__all__ = ["Moments", "Rotation", "moments", "oblimin", "promax", "quartimax", "rotate", "varimax"]
