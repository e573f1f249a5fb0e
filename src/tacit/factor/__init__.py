"""A vector per row: principal components, factors, canonical variates, and components of a kernel."""

from .analysis.adequacy import Adequacy, FitTest
from .analysis.estimator import FactorAnalysis, FactorErrors
from .analysis.learning import HeywoodWarning
from .analysis.rotation import Rotation, bifactor, geomin, oblimin, promax, quartimax, rotate, target, varimax
from .canonical.cca import CCA
from .canonical.pcca import ProbabilisticCCA
from .kernel import KernelPCA
from .moments import Moments, moments
from .patches import average_patches, extract_patches, patch_blocks
from .principal.pca import PCA
from .principal.ppca import ProbabilisticPCA
from .principal.rank import RankChoice, choose_rank
from .principal.svd import TruncatedSVD

__all__ = [
    "CCA", "PCA", "Adequacy", "FactorAnalysis", "FactorErrors", "FitTest", "HeywoodWarning", "KernelPCA", "Moments",
    "ProbabilisticCCA", "ProbabilisticPCA", "RankChoice", "Rotation", "TruncatedSVD", "average_patches", "bifactor",
    "choose_rank", "extract_patches", "geomin", "moments", "oblimin", "patch_blocks", "promax", "quartimax", "rotate",
    "target", "varimax",
]  # fmt: skip
