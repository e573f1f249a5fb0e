"""A vector per row: principal components, factors, canonical variates, and components of a kernel."""

from .moments import Moments, moments
from .patches import average_patches, extract_patches, patch_blocks
from .pca import PCA
from .ppca import ProbabilisticPCA
from .rank import RankChoice, choose_rank
from .svd import TruncatedSVD

__all__ = [
    "PCA",
    "Moments",
    "ProbabilisticPCA",
    "RankChoice",
    "TruncatedSVD",
    "average_patches",
    "choose_rank",
    "extract_patches",
    "moments",
    "patch_blocks",
]
