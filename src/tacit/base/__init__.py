"""The scikit-learn face of every model, written once: opening rows, learning by EM, densities, classes, missing values."""

from .classes import LatentClassEstimator
from .density import DensityEstimator
from .draws import DrawsMissing
from .learning import EMEstimator, Task
from .rows import RowsEstimator, like

__all__ = ["DensityEstimator", "DrawsMissing", "EMEstimator", "LatentClassEstimator", "RowsEstimator", "Task", "like"]
