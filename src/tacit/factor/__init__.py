"""A vector per row: principal components, factors, canonical variates, and components of a kernel."""

from .moments import Moments, moments

__all__ = ["Moments", "moments"]
