"""Displays in scikit-learn's style: made ``from_…`` something, drawn by ``plot(ax)``; they need matplotlib."""

from .clusters import ClustersDisplay
from .gate import GateDisplay
from .k_selection import KSelectionDisplay
from .missingness import MissingnessDisplay
from .profiles import ProfilesDisplay
from .responsibilities import ResponsibilitiesDisplay
from .selection import SelectionDisplay
from .silhouette import SilhouetteDisplay
from .spectrum import SpectrumDisplay
from .trace import TraceDisplay

__all__ = [
    "ClustersDisplay",
    "GateDisplay",
    "KSelectionDisplay",
    "MissingnessDisplay",
    "ProfilesDisplay",
    "ResponsibilitiesDisplay",
    "SelectionDisplay",
    "SilhouetteDisplay",
    "SpectrumDisplay",
    "TraceDisplay",
]
