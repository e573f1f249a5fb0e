"""Matrix factorisation."""

from .estimator import MatrixFactorization

__all__ = ["MatrixFactorization"]
