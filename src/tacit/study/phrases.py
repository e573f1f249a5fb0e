"""Models, columns left out, and differences between a group and all rows, as phrases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..words import count, pair, share

__all__ = [
    "CLEAR", "CRITERIA", "LEAST", "STRONG", "group_phrase", "in_words", "left_out_words", "model_words", "phrase", "shape_words",
]  # fmt: skip

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

LEAST, CLEAR, STRONG = 0.2, 0.5, 1.2
"""Differences from the mean of all rows, in standard deviations, that set a group apart, are plain, and are told as "very"."""
MOST_PHRASES = 4
NARROWER = 1.5
"""A spread that differs by this factor is worth telling."""


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


# What sets a group apart: "flipper_length_mm very high (217 vs 201)"


def phrase(column: str, level: str | None, value: float, difference: float) -> str:
    """What a difference is like: "flipper_length_mm high", "island mostly Biscoe"."""
    if level is not None:
        if difference > 0:
            word = "always" if value >= 0.9995 else "mostly" if value >= 0.5 else "more often"
        else:
            word = "never" if value < 0.0005 else "rarely" if value < 0.1 else "less often"
        return f"{column} {word} {level}"
    size = "very " if abs(difference) >= STRONG else "" if abs(difference) >= CLEAR else "slightly "
    return f"{column} {size}{'high' if difference > 0 else 'low'}"


def in_words(column: str, level: str | None, value: float, overall: float, difference: float) -> str:
    """A difference with its numbers: "flipper_length_mm high (217 vs 201)", "island mostly Biscoe (98 % vs 49 %)"."""
    both = pair(value, overall) if level is None else (share(value, 0), share(overall, 0))
    return f"{phrase(column, level, value, difference)} ({' vs '.join(both)})"


def group_phrase(entries: Sequence[dict], spreads: Iterable[tuple[str, float]] = ()) -> str:
    """What sets a group apart, as one phrase, from `entries` with one each, the strongest first, one for each column.

    `spreads` are columns and how many times more the group's values spread than those of other rows: told where nothing else is.
    """
    if entries:
        return ", ".join(entry["phrase"] for entry in entries[:MOST_PHRASES])
    ranked = sorted(spreads, key=lambda each: -abs(np.log(each[1])))
    told = [(name, ratio) for name, ratio in ranked if not 1 / NARROWER < ratio < NARROWER][:MOST_PHRASES]
    if told:
        return ", ".join(f"{name} {'more' if ratio > 1 else 'less'} spread out" for name, ratio in told)
    return "like the table as a whole"
