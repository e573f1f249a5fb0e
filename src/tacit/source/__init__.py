"""Where rows come from: blocks of rows, summed or mapped over."""

from .array import ArraySource
from .base import OneBlock, Source
from .block import Block, Patterns

__all__ = ["ArraySource", "Block", "OneBlock", "Patterns", "Source"]
