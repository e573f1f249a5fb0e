"""A vector per row: principal components, factors, canonical variates, and components of a kernel."""

from .kernel_pca import KernelPCA
from .moments import Moments, moments

__all__ = ["KernelPCA", "Moments", "moments"]
