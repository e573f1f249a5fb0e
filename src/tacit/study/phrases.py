"""Models and columns left out, as phrases."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..words import count

__all__ = ["CRITERIA", "left_out_words", "model_words", "shape_words"]

CRITERIA = {"bic": "BIC", "aic": "AIC", "icl": "ICL", "cv": "cross-validation"}

MODEL_SHAPES = {
    "full": "each group with its own spread and correlations", "tied": "all groups with the same spread and correlations",
    "diag": "columns independent inside a group", "spherical": "round",
}  # fmt: skip
LETTERS = (
    {"E": "equal volume", "V": "varying volume"},
    {"E": "equal shape", "V": "varying shape", "I": "round"},
    {"E": "equal orientation", "V": "varying orientation", "I": "columns independent inside a group"},
)


def left_out_words(columns: Iterable[Any], brief: bool = False, said: Callable[[str], str] = str) -> list[str]:
    """Columns that are left out, those for the same reason together: "species, island (axes take numbers only)".

    `said` words a note; where `brief`, without what to do about it.
    """
    names: dict[str, list[str]] = {}
    for column in columns:
        reason = said(column.left_out)
        names.setdefault(reason.partition(";")[0] if brief else reason, []).append(column.name)
    return [f"{', '.join(each)} ({reason})" for reason, each in names.items()]


def shape_words(covariance_type: str, n_measurements: int = 2) -> str:
    """A covariance structure of so many measurements in words."""
    if covariance_type in MODEL_SHAPES:
        words = MODEL_SHAPES[covariance_type]
        return words if n_measurements > 1 else words.replace(" and correlations", "")
    return ", ".join(words[letter] for words, letter in zip(LETTERS, covariance_type))


def model_words(
    n_components: int, covariance_type: str | None = None, student: bool = False, n_measurements: int = 2
) -> str:
    """A model as a phrase: "5 groups, round (spherical)"."""
    parts = [count(n_components, "group")]
    if covariance_type is not None and n_components == 1:
        parts[0] += f" ({covariance_type})"
    elif covariance_type is not None:
        parts.append(f"{shape_words(covariance_type, n_measurements)} ({covariance_type})")
    if student:
        parts.append("heavy tails")
    return ", ".join(parts)
