"""A vector per row: principal components, factors, canonical variates, and components of a kernel."""

from .moments import Moments, moments
from .patches import average_patches, extract_patches, patch_blocks
from .ppca import ProbabilisticPCA

__all__ = ["Moments", "ProbabilisticPCA", "average_patches", "extract_patches", "moments", "patch_blocks"]
