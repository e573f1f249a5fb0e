"""A vector per row: principal components, factors, canonical variates, and components of a kernel."""

from .adequacy import FitTest
from .fa import FactorAnalysis
from .fa_base import HeywoodWarning
from .moments import Moments, moments
from .pca import PCA
from .ppca import ProbabilisticPCA
from .rank import RankChoice, choose_rank
from .rotation import Rotation, oblimin, promax, quartimax, rotate, varimax
from .svd import TruncatedSVD

__all__ = [
    "PCA",
    "FactorAnalysis",
    "FitTest",
    "HeywoodWarning",
    "Moments",
    "ProbabilisticPCA",
    "RankChoice",
    "Rotation",
    "TruncatedSVD",
    "choose_rank",
    "moments",
    "oblimin",
    "promax",
    "quartimax",
    "rotate",
    "varimax",
]
