"""Learn any model from any source of rows."""

from .loop import Fit, SingularError, fit, objective
from .progress import Progress, ProgressBar, ProgressLines
from .restarts import fit_best, short_runs
from .trace import Trace

__all__ = [
    "Fit",
    "Progress",
    "ProgressBar",
    "ProgressLines",
    "SingularError",
    "Trace",
    "fit",
    "fit_best",
    "objective",
    "short_runs",
]
