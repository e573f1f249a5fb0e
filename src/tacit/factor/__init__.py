"""A vector per row: principal components, factors, canonical variates, and components of a kernel."""

from .adequacy import FitTest
from .cca import CCA
from .fa import FactorAnalysis
from .fa_base import HeywoodWarning
from .kernel import KernelPCA
from .moments import Moments, moments
from .patches import average_patches, extract_patches, patch_blocks
from .pca import PCA
from .pcca import ProbabilisticCCA
from .ppca import ProbabilisticPCA
from .rank import RankChoice, choose_rank
from .rotation import Rotation, oblimin, promax, quartimax, rotate, varimax
from .svd import TruncatedSVD

__all__ = [
    "CCA",
    "PCA",
    "FactorAnalysis",
    "FitTest",
    "HeywoodWarning",
    "KernelPCA",
    "Moments",
    "ProbabilisticCCA",
    "ProbabilisticPCA",
    "RankChoice",
    "Rotation",
    "TruncatedSVD",
    "average_patches",
    "choose_rank",
    "extract_patches",
    "moments",
    "oblimin",
    "patch_blocks",
    "promax",
    "quartimax",
    "rotate",
    "varimax",
]
