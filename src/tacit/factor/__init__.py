"""A vector per row: principal components, factors, canonical variates, and components of a kernel."""

from .analysis.adequacy import FitTest
from .analysis.estimator import FactorAnalysis
from .analysis.learning import HeywoodWarning
from .analysis.rotation import Rotation, oblimin, promax, quartimax, rotate, varimax
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
    "CCA", "PCA", "FactorAnalysis", "FitTest", "HeywoodWarning", "KernelPCA", "Moments", "ProbabilisticCCA",
    "ProbabilisticPCA", "RankChoice", "Rotation", "TruncatedSVD", "average_patches", "choose_rank", "extract_patches",
    "moments", "oblimin", "patch_blocks", "promax", "quartimax", "rotate", "varimax",
]  # fmt: skip
