"""Fill the holes of a table."""

from .gaussian import GaussianImputer

__all__ = ["GaussianImputer"]
