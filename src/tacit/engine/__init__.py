"""Learn any model from any source of rows."""

from .accelerate import ACCELERATORS
from .ascent import Constraint, Slope, climb
from .checkpoint import Checkpoint
from .loop import Fit, fit, objective
from .model import Model, SingularError
from .newton import Newton
from .online import Online, online_pass, online_step
from .orthant import Orthant
from .progress import InertiaLines, Progress, ProgressBar, ProgressLines, Until
from .restarts import fit_best, short_runs
from .trace import Trace

__all__ = [
    "ACCELERATORS", "Checkpoint", "Constraint", "Fit", "InertiaLines", "Model", "Newton", "Online", "Orthant", "Progress",
    "ProgressBar", "ProgressLines", "SingularError", "Slope", "Trace", "Until", "climb", "fit", "fit_best", "objective",
    "online_pass", "online_step", "short_runs",
]  # fmt: skip
