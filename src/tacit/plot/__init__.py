"""Displays in scikit-learn's style: made ``from_…`` something, drawn by ``plot(ax)``; they need matplotlib."""

from .clusters import ClustersDisplay
from .gate import GateDisplay
from .missingness import MissingnessDisplay
from .responsibilities import ResponsibilitiesDisplay
from .selection import SelectionDisplay
from .trace import TraceDisplay

__all__ = [
    "ClustersDisplay",
    "GateDisplay",
    "MissingnessDisplay",
    "ResponsibilitiesDisplay",
    "SelectionDisplay",
    "TraceDisplay",
]
