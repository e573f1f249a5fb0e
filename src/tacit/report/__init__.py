"""What was found, told in words and shown in one page that needs nothing but a browser."""

from .findings import Axes, Findings, Group, Sample

__all__ = ["Axes", "Findings", "Group", "Sample"]
