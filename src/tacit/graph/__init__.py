"""Graphical models: belief networks, Markov networks and factor graphs over variables with named states."""

from .potential import Potential

__all__ = ["Potential"]
