"""Differences between a group and all rows as phrases: "flipper_length_mm very high (217 vs 201)"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..words import pair, share

__all__ = ["CLEAR", "LEAST", "STRONG", "group_phrase", "in_words", "phrase"]

LEAST, CLEAR, STRONG = 0.2, 0.5, 1.2
"""Differences from the mean of all rows, in standard deviations, that set a group apart, are plain, and are told as "very"."""
MOST_PHRASES = 4
NARROWER = 1.5
"""A spread that differs by this factor is worth telling."""


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
