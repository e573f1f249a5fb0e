"""What a fitted model says of a table, as records of numbers and words that the command, the page and Python all show."""

from importlib import import_module
from typing import Any

from .findings import Alternative, Axes, Findings, Group, Sample

__all__ = [
    "Alternative", "Axes", "Comparison", "Explanation", "Findings", "Group", "Missingness", "Sample", "compare", "compare_models",
    "diagnose_missing", "explain", "study",
]  # fmt: skip

# Loaded when asked for: studies need models and tables.
PLACES = {
    "study": "subject", "explain": "explanation", "Explanation": "explanation", "compare": "comparison",
    "Comparison": "comparison", "compare_models": "matching",
    "Missingness": "missingness", "diagnose_missing": "missingness",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in PLACES:
        return getattr(import_module(f".{PLACES[name]}", __name__), name)
    raise AttributeError(f"module 'tacit.study' has no attribute {name!r}")
