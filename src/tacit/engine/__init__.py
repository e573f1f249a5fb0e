"""Learn any model from any source of rows."""

from .accelerate import ACCELERATORS
from .checkpoint import Checkpoint
from .loop import Fit, fit, objective
from .model import Model, SingularError
from .online import Online, online_pass, online_step
from .progress import InertiaLines, Progress, ProgressBar, ProgressLines
from .restarts import fit_best, short_runs
from .trace import Trace

__all__ = [
    "ACCELERATORS",
    "Checkpoint",
    "Fit",
    "InertiaLines",
    "Model",
    "Online",
    "Progress",
    "ProgressBar",
    "ProgressLines",
    "SingularError",
    "Trace",
    "fit",
    "fit_best",
    "objective",
    "online_pass",
    "online_step",
    "short_runs",
]
