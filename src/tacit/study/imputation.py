"""What is said of a table whose missing cells were filled in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..impute.trial import FEWEST, SHARE, try_fills
from ..notes import Note, Option
from ..schema import Column
from ..tables import DataTable
from ..words import joined, share
from .findings import Findings, Sample, card_of, findings_of
from .sample import take_sample
from .sentences import empty_words

__all__ = ["study_fill", "tell_check"]

DULL = 0.95
"""Errors, relative to a column's spread, from which its mean would do as well."""
EXPECTED = (
    "Filled cells are what the model expects, not what was measured. Counted as measurements they make tests and intervals too "
    "sure; for those, analyse several tables of draws ({option}) and pool the results."
)
FEWEST_NAMED = 10
"""Hidden cells of a column below which nothing is said of it by name."""


def study_fill(
    model: Any, table: DataTable, *, selection: Sequence[dict] = (), seed: int = 0, level: float = 0.9, why: str = "",
    said: str = "",
) -> Findings:  # fmt: skip
    """Findings about a table whose missing cells a fitted Mixture, ProbabilisticPCA or FactorAnalysis fills in.

    `selection`, `level`, `why` and `said` are as in `tacit.impute.Choice` and in `Findings`; `seed` settles the rows shown, and
    which cells are hidden to see how good the fills are.
    """
    check = try_fills(model, table, level=level, seed=seed)
    sample = take_sample(model, table, level=level, seed=seed)
    empty = _left_empty(model, table)
    filled = {column.name: column.n_missing - empty.get(column.name, 0) for column in table.used}
    why = why or _phrase(model)
    intervals = f"central {share(level, 0)} of each cell's distribution given the row's observed cells"
    found = dict(sample=sample, selection=list(selection), n_filled=filled, n_empty=empty, check=check, level=level)
    summary, limits = _summary(table, filled, why, said, check, empty), _limits(model, table, sample, check, empty)
    card = card_of(model, table, seed, Model=f"{type(model).__name__}: {why}", Intervals=intervals)
    return findings_of("fill", model, table, **found, summary=summary, limits=limits, card=card)


def _left_empty(model: Any, table: DataTable) -> dict[str, int]:
    """Missing cells that the model cannot tell, by column, where there are any."""
    known = model._knowledge()
    if known is None:
        return {}
    rule, params = model._model(), model._params()
    counts = sum(table.source().map(lambda block: known.empty(block.X, rule.posterior(params, block)[0]).sum(axis=0)))
    return {name: int(n) for name, n in zip(table.schema.names, counts) if n}


def _phrase(model: Any) -> str:
    if model._study == "groups":
        return f"a {type(model).__name__} of {model.n_components} groups"
    return f"a {type(model).__name__} of {model.n_components_} {model._axis[model.n_components_ > 1]}"


def _summary(
    table: DataTable, missing: dict[str, int], why: str, said: str, check: dict | None, n_empty: dict[str, int]
) -> list[str]:
    """Sentences, the most important first."""
    total, n_cells = sum(missing.values()), table.n_rows * len(table.used)
    incomplete = [name for name, n in missing.items() if n]
    most = max(missing, key=lambda name: missing[name])
    told = [
        f"{total:,} missing cells in {len(incomplete)} of {len(table.used)} columns were filled, {share(total / n_cells, 1)} of "
        f"all; most of them in {most} ({missing[most]:,}).",
        f"They were filled by {why}.",
        *empty_words(n_empty),
        *filter(None, [said]),
        *tell_check(check),
    ]
    empty = [column.name for column in table.columns if column.role == "empty"]
    if empty:
        has, stays = ("has", "stays") if len(empty) == 1 else ("have", "stay")
        told.append(f"{', '.join(empty)} {has} no value in any row and {stays} empty.")
    kept = [column.name for column in table.columns if not column.used and column.n_missing and column.role != "empty"]
    if kept:
        told.append(f"Missing values remain in {', '.join(kept)}, which the model does not use.")
    return told


def tell_check(check: dict | None) -> list[str]:
    """How good the fills are, in sentences."""
    if check is None:
        return [
            f"Too few cells are observed to try how good the fills are: that takes at least {FEWEST / SHARE:.0f} in columns that "
            f"have missing values, {FEWEST} in each."
        ]
    told = []
    hidden = check["numbers"] + check["categories"]
    again = ", by a model learned without them" if check["refit"] else ""
    if check["numbers"]:
        told.append(
            f"On {hidden:,} cells hidden on purpose{again}, {share(check['covered'], 0)} of the numbers lay within their "
            f"{share(check['level'], 0)} intervals, and fills erred by {check['error']:.2f} of their columns' spread "
            "(1 would be no better than the column's mean)."
        )
    if check["categories"]:
        where = "Of the hidden categories" if told else f"On {hidden:,} cells hidden on purpose{again},"
        told.append(
            f"{where} {share(check['right'], 0)} were filled right; the most frequent level would have been right for "
            f"{share(check['usual'], 0)}."
        )
    return told + _weak_columns(check)


def _weak_columns(check: dict) -> list[str]:
    """Sentences about columns that are filled badly."""
    tried = [row for row in check["columns"] if row["cells"] >= FEWEST_NAMED]
    dull = [row["column"] for row in tried if row.get("error", 0.0) >= DULL]
    usual = [row["column"] for row in tried if "right" in row and row["right"] <= row["usual"]]
    narrow = [row for row in tried if "covered" in row and _too_few(row["covered"], row["cells"], check["level"])]
    told = [
        f"{joined(names)} {'is' if len(names) == 1 else 'are'} filled {how}."
        for names, how in (
            (dull, "hardly better than by the mean"),
            (usual, "no better than by the most frequent level"),
        )
        if names
    ]
    if narrow:
        shares = joined([f"{row['column']} ({share(row['covered'], 0)})" for row in narrow])
        told.append(
            f"Intervals are too narrow in {shares}: they should hold {share(check['level'], 0)} of the hidden cells."
        )
    return told


def _too_few(covered: float, n: int, level: float) -> bool:
    """Whether intervals held clearly fewer cells than they should."""
    return covered < level - 3 * np.sqrt(level * (1 - level) / n)


def _limits(model: Any, table: DataTable, sample: Sample, check: dict | None, n_empty: dict[str, int]) -> list[str]:
    told: list[str] = [
        Note("expected", EXPECTED, option=Option("draws")),
        "Whether a cell is missing may depend on the row's other cells, but not on the missing value itself: where it does, as "
        "with incomes that the rich keep to themselves, fills are off by an amount that no table can tell.",
    ]
    if not getattr(model, "draws_", None):
        told.append("Intervals take the fitted model as known; with few rows they are somewhat too narrow.")
    if n_empty:
        told.append(
            f"{sum(n_empty.values()):,} missing cells ({', '.join(n_empty)}) were left empty: they are likely in a group that "
            "shows no such cell, and any value would be made up."
        )
    for j, column in enumerate(table.used):
        if Column.of(column).least == 0 and (sample.low[:, j] == 0).any():
            told.append(f"No observed value of {column.name} is negative, so no fill or interval goes below 0.")
    covered = None if check is None else check["covered"]
    if check is not None and covered is not None and _too_few(covered, check["numbers"], check["level"]):
        told.append(
            f"Intervals that should hold {share(check['level'], 0)} held {share(covered, 0)} of the hidden numbers: take them as "
            "too narrow."
        )
    return told
