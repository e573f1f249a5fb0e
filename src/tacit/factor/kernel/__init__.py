"""Principal components of φ(x), known through a kernel k(x, y) = φ(x)·φ(y) alone."""

from .estimator import KernelPCA

__all__ = ["KernelPCA"]
