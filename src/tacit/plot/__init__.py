"""Displays in scikit-learn's style: made ``from_…`` something, drawn by ``plot(ax)``; they need matplotlib."""

from .clusters import ClustersDisplay
from .missingness import MissingnessDisplay
from .responsibilities import ResponsibilitiesDisplay
from .selection import SelectionDisplay
from .trace import TraceDisplay

__all__ = ["ClustersDisplay", "MissingnessDisplay", "ResponsibilitiesDisplay", "SelectionDisplay", "TraceDisplay"]
