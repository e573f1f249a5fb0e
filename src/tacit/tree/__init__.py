"""Decision trees: a column and a threshold, or a set of levels, at every node."""

from .grown import Forest, Tree

__all__ = ["Forest", "Tree"]
