"""Figures, as scikit-learn's display classes; they need matplotlib (``pip install tacit[plot]``)."""

from .gate import GateDisplay

__all__ = ["GateDisplay"]
