"""Where rows come from: blocks of rows, summed or mapped over."""

from .array import ArraySource
from .base import OneBlock, Source
from .block import Block, Patterns
from .parquet import ParquetSource

__all__ = ["ArraySource", "Block", "OneBlock", "ParquetSource", "Patterns", "Source"]
