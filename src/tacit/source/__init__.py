"""Where rows come from: blocks of rows, summed or mapped over."""

from .array import ArraySource, as_source
from .block import Block, Patterns

__all__ = ["ArraySource", "Block", "Patterns", "as_source"]
