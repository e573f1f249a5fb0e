"""The scikit-learn face of every model, written once: opening rows, learning by EM, densities, classes, missing values."""

from .classes import LatentClassEstimator
from .density import DensityEstimator
from .learning import EMEstimator, Task
from .missing import Imputed, MissingCells, UnseenPairsWarning
from .rows import RowsEstimator, Saved, like
from .supervised import Supervised, coded_classes

__all__ = [
    "DensityEstimator", "EMEstimator", "Imputed", "LatentClassEstimator", "MissingCells", "RowsEstimator", "Saved",
    "Supervised", "Task", "UnseenPairsWarning", "coded_classes", "like",
]  # fmt: skip
