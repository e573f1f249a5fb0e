"""A vector per row: principal components, factors, canonical variates, and components of a kernel."""

from .cca import CCA
from .kernel import KernelPCA
from .moments import Moments, moments
from .pca import PCA
from .pcca import ProbabilisticCCA
from .ppca import ProbabilisticPCA
from .rank import RankChoice, choose_rank
from .svd import TruncatedSVD

__all__ = [
    "CCA",
    "PCA",
    "KernelPCA",
    "Moments",
    "ProbabilisticCCA",
    "ProbabilisticPCA",
    "RankChoice",
    "TruncatedSVD",
    "choose_rank",
    "moments",
]
