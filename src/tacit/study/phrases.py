"""Models, columns left out, and differences between a group and all rows, as phrases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..words import count, pair, share

__all__ = [
    "CLAUSE", "CLEAR", "CRITERIA", "LEAST", "STRONG", "alikeness", "clauses", "counted_share", "distinct", "enough_known",
    "group_phrase", "in_words",
    "left_out_words", "model_words", "phrase", "shape_words",
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
FEWEST_KNOWN, WHOLE = 20, 0.95
"""Known cells from which shares are told, and the part of a group's rows that has them from which that need not be said."""
SAME_FACT = 0.85
"""Columns that correlate so much, or are so associated, say one fact."""
CLAUSE = ("phrase", "column", "level", "is_missing", "value", "rest", "overall", "difference", "known", "n_rows")
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


def counted_share(entry: dict) -> str:
    """The share that a group has of a level as a count of its known cells, where these are too few for a share; else none."""
    known, value = entry.get("known"), entry.get("value")
    few = entry.get("level") is not None and value is not None and known is not None and 0 < known < FEWEST_KNOWN
    return f"{round(value * known):,} of {known:,}" if few else ""  # type: ignore[operator]


def enough_known(known: int, n_rows: int) -> bool:
    """Whether shares, or counts where cells are few, may be told: of 20 known cells, or of most of a small group."""
    return known >= FEWEST_KNOWN or 2 * known >= n_rows > 0


def phrase(
    column: str,
    level: str | None,
    value: float,
    difference: float,
    known: int = FEWEST_KNOWN,
    n_rows: int | None = None,
) -> str:
    """What a difference is like: "flipper_length_mm high", "island mostly Biscoe", "phase mostly landing where known".

    `known` of the group's `n_rows` have the cell; a share of fewer than 20 is told as a count.
    """
    n_rows = known if n_rows is None else n_rows
    partly = " where known" if known < WHOLE * n_rows else ""
    if level is not None and known < FEWEST_KNOWN:
        only = "only " if difference < 0 else ""
        return f"{column} {level} in {only}{round(value * known)} of {known}{' known' if partly else ''}"
    if level is not None:
        if difference > 0:
            word = "always" if value >= 0.9995 else "mostly" if value >= 0.5 else "more often"
        else:
            word = "never" if value < 0.0005 else "rarely" if value < 0.1 else "less often"
        return f"{column} {word} {level}{partly}"
    size = "very " if abs(difference) >= STRONG else "" if abs(difference) >= CLEAR else "slightly "
    return f"{column} {size}{'high' if difference > 0 else 'low'}{partly}"


def in_words(
    column: str, level: str | None, value: float, overall: float, difference: float, known: int = FEWEST_KNOWN,
    n_rows: int | None = None,
) -> str:  # fmt: skip
    """A difference with its numbers and what they are of: "island mostly Biscoe (98 % of rows vs 49 %)"."""
    n_rows = known if n_rows is None else n_rows
    told = phrase(column, level, value, difference, known, n_rows)
    of = "rows" if known >= n_rows else f"{count(known, 'known cell')}"
    if level is None:
        return f"{told} ({' vs '.join(pair(value, overall))})"
    both = share(value, 0), share(overall, 0)
    return f"{told} ({both[0]} of {of} vs {both[1]})" if known >= FEWEST_KNOWN else f"{told} ({both[1]} of all known)"


def group_phrase(entries: Sequence[dict], spreads: Iterable[tuple[str, float]] = (), alike: Any = None) -> str:
    """What sets a group apart, as one phrase; see `clauses`."""
    return ", ".join(clause["phrase"] for clause in clauses(entries, spreads, alike)) or "like the table as a whole"


def clauses(entries: Sequence[dict], spreads: Iterable[tuple[str, float]] = (), alike: Any = None) -> list[dict]:
    """The clauses that describe a group, each with its figures: `entries` are one for each column, the strongest first.

    Of columns that say the same, as ``alike(key, other)`` tells of pairs (column, is_missing), only the strongest is told.
    `spreads` are columns and how many times more the group's values spread than those of other rows: told where nothing else is.
    """
    told: list[dict] = []
    for entry in entries:
        key = entry["column"], entry["is_missing"]
        if len(told) < MOST_PHRASES and not any(alike and alike(key, (e["column"], e["is_missing"])) for e in told):
            told.append({name: entry.get(name) for name in CLAUSE})
    if told:
        return told
    ranked = sorted(spreads, key=lambda each: -abs(np.log(each[1])))
    wide = [(name, ratio) for name, ratio in ranked if not 1 / NARROWER < ratio < NARROWER][:MOST_PHRASES]
    return [
        {"phrase": f"{name} {'more' if ratio > 1 else 'less'} spread out", "column": name, "spread": ratio}
        for name, ratio in wide
    ]


def distinct(described: list[list[dict]], profiles: list[list[dict]], n_rows: Sequence[int]) -> list[str]:
    """The words of all groups from their clauses, none like another's: of two alike, the later says how it differs."""
    words: list[str] = []
    for k, told in enumerate(described):
        own = ", ".join(clause["phrase"] for clause in told) or "like the table as a whole"
        while own in words:
            other = words.index(own)
            own = f"{own}, {_contrast(profiles[k], profiles[other], other + 1, told, (n_rows[k], n_rows[other]))}"
        words.append(own)
    return words


def _contrast(own: list[dict], others: list[dict], number: int, told: list[dict], sizes: tuple[int, int]) -> str:
    """How a group differs most from another one that is described alike, noted among its clauses."""
    beside = {(entry["column"], entry["level"], entry["is_missing"]): entry for entry in others}
    said = {(clause.get("column"), clause.get("against")) for clause in told}
    best: Any = None
    size = LEAST
    for entry in own:
        other: Any = beside.get((entry["column"], entry["level"], entry["is_missing"]))
        known = other is not None and None not in (entry["value"], other["value"])
        if not known or "value_text" in entry or (entry["column"], number) in said:  # a circle has no higher and lower
            continue
        gap = abs(entry["difference"] - other["difference"])
        few = min(entry.get("known") or 0, other.get("known") or 0)
        if gap >= size and gap * np.sqrt(few / 2) >= 2.0 and (entry["level"] is None or few >= FEWEST_KNOWN):
            best, size = (entry, other), gap
    if best is None:
        words = "fewer rows" if sizes[0] < sizes[1] else "no column that tells them apart"
        told.append(
            {"phrase": f"with {words} than group {number}" if sizes[0] < sizes[1] else words, "against": number}
        )
        return f"with fewer rows than group {number}" if sizes[0] < sizes[1] else f"not told apart from group {number}"
    entry, other = best
    more = entry["value"] > other["value"]
    often = f"{'more' if more else 'less'} often {entry['level']}"
    word = often if entry["level"] is not None else "higher" if more else "lower"
    phrase = f"{entry['column']} {word} than in group {number}"
    told.append(
        {name: entry.get(name) for name in CLAUSE} | {"phrase": phrase, "against": number, "other": other["value"]}
    )
    return phrase


def alikeness(cells: np.ndarray, columns: Sequence[Any]) -> Callable[[tuple, tuple], bool]:
    """Whether two columns, or their being missing, say the same of rows (n, d) of numbers and codes, NaN where missing."""
    names = [str(column.name) for column in columns]
    places = {name: j for j, name in enumerate(names)}

    @cache
    def together(key: tuple, other: tuple) -> bool:
        if key[1] != other[1]:
            return False
        x, y = (cells[:, places[each[0]]] for each in (key, other))
        if key[1]:
            x, y = np.isnan(x).astype(float), np.isnan(y).astype(float)
        elif columns[places[key[0]]].coded != columns[places[other[0]]].coded:
            return False
        both = ~np.isnan(x) & ~np.isnan(y)
        if both.sum() < 10 or not np.ptp(x[both]) or not np.ptp(y[both]):
            return False
        if key[1] or not columns[places[key[0]]].coded:
            return bool(abs(np.corrcoef(x[both], y[both])[0, 1]) >= SAME_FACT)
        _, x, y = None, *(np.unique(each[both], return_inverse=True)[1] for each in (x, y))
        table = np.zeros((x.max() + 1, y.max() + 1))
        np.add.at(table, (x, y), 1.0)
        expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
        v = ((table - expected) ** 2 / expected).sum() / table.sum() / (min(table.shape) - 1)
        return bool(np.sqrt(v) >= SAME_FACT)

    return lambda key, other: together(*sorted([key, other]))
