"""What a fitted model says of a table, as records of numbers and words that the command, the page and Python all show."""

from typing import Any

from .findings import Alternative, Axes, Findings, Group, Sample

__all__ = ["Alternative", "Axes", "Findings", "Group", "Sample", "study"]


def __getattr__(name: str) -> Any:
    # Loaded when asked for: studies need models and tables.
    if name == "study":
        from .subject import study

        return study
    raise AttributeError(f"module 'tacit.study' has no attribute {name!r}")
