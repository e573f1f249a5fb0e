"""What is said of a table whose missing cells were filled in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..impute.trial import FEWEST, SHARE, try_fills
from ..kernels import host
from ..notes import Claim, Note, Option, having
from ..schema import Column
from ..tables import DataTable
from ..words import count, joined, share
from .fills import Fills
from .findings import Findings, Sample, card_of, findings_of
from .missingness import diagnose_missing
from .sample import take_sample
from .sentences import FILLED, empty_words

__all__ = ["checked", "fill_words", "missing_words", "moved_words", "study_fill", "tell_check"]

DULL = 0.95
"""Errors, relative to that of a column's mean, from which the mean would do as well."""
MOVED = 0.02
"""By how much fills move the share of a level before that is told."""
REDRAWN = "to count levels, use tables of draws"
EXPECTED = (
    "Filled cells are what the model expects, not what was measured. Counted as measurements they make tests and intervals too "
    "sure; for those, analyse several tables of draws ({option}) and pool the results."
)
FEWEST_NAMED = 10
"""Hidden cells of a column below which nothing is said of it by name."""


def study_fill(
    model: Any, table: DataTable, *, selection: Sequence[dict] = (), seed: int = 0, level: float = 0.9, why: str = "",
    said: str = "", missingness: Sequence[Any] | None = None,
) -> Findings:  # fmt: skip
    """Findings about a table whose missing cells a fitted Mixture, ProbabilisticPCA or FactorAnalysis fills in.

    `selection`, `level`, `why` and `said` are as in `tacit.impute.Choice` and in `Findings`; `seed` settles the rows shown, and
    which cells are hidden to see how good the fills are, where the model is not calibrated yet.
    """
    found = diagnose_missing(table, seed=seed) if missingness is None else list(missingness)
    check = try_fills(model, table, level=level, seed=seed)
    sample = take_sample(model, table, level=level, seed=seed)
    fills = Fills(model, table, table.schema.names, [column.levels for column in table.used])
    for block in table.source():
        fills.add(host(block.X))
    why = why or _phrase(model)
    intervals = f"central {share(level, 0)} of each cell's distribution given the row's observed cells, calibrated"
    findings = findings_of(
        "fill", model, table, sample=sample, selection=list(selection), n_filled=fills.n_filled, n_empty=fills.n_empty,
        check=check, level=level, shares=fills.shares, missingness=found,
    )  # fmt: skip
    order = model.n_components if model._study == "groups" else model.n_components_
    summary = _summary(table, findings, why, int(order), said, fills.why_empty)
    limits = _limits(model, table, sample, check)
    card = card_of(model, table, seed, Model=f"{type(model).__name__}: {why}", Intervals=intervals)
    return replace(findings, summary=summary, limits=limits, card=card)


def checked(model: Any) -> dict | None:
    """How good the fills of a calibrated model are; None where that was not tried."""
    learned = model._calibration
    if learned is None or not learned.hidden.sum():
        return None
    return learned.check([column["name"] for column in model._columns_told()])


def fill_words(findings: Findings) -> list[str]:
    """Why cells are missing, where that is a rule, and how good fills are, in sentences."""
    if not findings.missingness:
        return []
    of = " of the model's own table" if findings.learned is not None else ""
    told = tell_check(findings.check, of) if sum(findings.n_filled.values()) else []
    return [*missing_words(findings.missingness), *told, *moved_words(findings.shares)]


def missing_words(found: Sequence[Any]) -> list[str]:
    """The findings about missing cells that change what is to be done about them."""
    return [each.text for each in found if each.kind in ("not applicable", "dropout", "detection limit", "marked")]


def moved_words(shares: Sequence[dict]) -> list[str]:
    """The level whose share fills moved most, where they moved it clearly."""
    levels = [row for row in shares if row["level"] is not None]
    if not levels:
        return []
    most = max(levels, key=lambda row: abs(row["after"] - row["known"]))
    if abs(most["after"] - most["known"]) < MOVED:
        return []
    name = most["column"]
    frequent = most["known"] >= max(row["known"] for row in levels if row["column"] == name)
    why = "most probable levels overstate the frequent" if frequent == (most["after"] > most["known"]) else REDRAWN
    sentence = (
        f"{most['level']} is {share(most['known'])} of the {most['n_known']:,} known cells of {name} and "
        f"{share(most['after'])} with the {most['n_filled']:,} filled ones: {why}."
    )
    told = f"cells[(cells['column'] == {name!r}) & cells['value'].notna()]"
    n, m = (f"int({having(name, [most['level']], place)}.sum())" for name, place in ((name, "filled"), ("value", told)))
    total = f"filled[{name!r}].notna().sum()"
    line = f"{{'known': ({n} - {m}) / ({total} - len({told})), 'after': {n} / {total}}}"
    figures = {"known": most["known"], "after": most["after"]}
    return [Claim.of("moved", sentence, f"counted in all cells of {name}, filled or not", figures, line)]


def _phrase(model: Any) -> str:
    if model._study == "groups":
        return f"a {type(model).__name__} of {model.n_components} groups"
    return f"a {type(model).__name__} of {model.n_components_} {model._axis[model.n_components_ > 1]}"


def _summary(table: DataTable, findings: Findings, why: str, order: int, said: str, why_empty: dict) -> list[str]:
    """Sentences, the most important first."""
    missing = findings.n_filled
    total, n_cells = sum(missing.values()), table.n_rows * len(table.used)
    incomplete = [name for name, n in missing.items() if n]
    told = ["No missing cell was filled."]
    if total:
        where = _where({name: missing[name] for name in incomplete})
        sentence = (
            f"{count(total, 'missing cell')} in {len(incomplete)} of {count(len(table.used), 'column')} "
            f"{'were' if total > 1 else 'was'} filled, {share(total / n_cells, 1)} of all; {where}."
        )
        figures = {name: missing[name] for name in incomplete}
        told = [
            Claim.of("filled", sentence, f"counted in all {n_cells:,} cells of the columns used", figures, FILLED),
            Claim.of(
                "by",
                f"{'They were' if total > 1 else 'It was'} filled by {why}.",
                "the model that was fitted to the rows",
                {"order": order},
            ),
        ]
    told += [*missing_words(findings.missingness), *empty_words(why_empty), *filter(None, [said])]
    told += [*(tell_check(findings.check) if total else []), *moved_words(findings.shares)]
    empty = [column.name for column in table.columns if column.role == "empty"]
    if empty:
        has, stays = ("has", "stays") if len(empty) == 1 else ("have", "stay")
        told.append(f"{', '.join(empty)} {has} no value in any row and {stays} empty.")
    kept = [column.name for column in table.columns if not column.used and column.n_missing and column.role != "empty"]
    if kept:
        told.append(f"Missing values remain in {', '.join(kept)}, which the model does not use.")
    return told


def _where(filled: dict[str, int]) -> str:
    """The columns that most of the filled cells are in, in words."""
    total, most = sum(filled.values()), max(filled.values())
    tied = [name for name, n in filled.items() if n == most]
    if len(filled) == 1:
        return f"{'all ' if total > 1 else ''}in {tied[0]}"
    if len(tied) == len(filled):
        return f"{most:,} in each"
    if len(tied) > 1:
        return f"as many in {joined(tied)} ({most:,} each)" if len(tied) <= 3 else f"at most {most:,} in a column"
    return f"{'most of them' if most > total / 2 else 'more than anywhere else'} in {tied[0]} ({most:,})"


def tell_check(check: dict | None, of: str = "") -> list[str]:
    """How good the fills are, in sentences; `of` says whose cells were hidden."""
    if check is None:
        sentence = (
            f"Too few cells are observed to try how good the fills are: that takes at least {FEWEST / SHARE:.0f} in columns that "
            f"have missing values, {FEWEST} in each."
        )
        return [Claim.of("untried", sentence, "the rule by which cells are hidden", {"needed": FEWEST / SHARE})]
    told: list[str] = []
    hidden, basis = check["numbers"] + check["categories"], _hidden(check)
    again = ", by a model learned without them" if check["refit"] else ""
    if check["numbers"]:
        naive = f"{check['naive']:.2f}" if check.get("naive") is not None else "1"
        sentence = (
            f"On {hidden:,} cells{of} hidden on purpose{again}, {share(check['covered'], 0)} of the numbers lay within their "
            f"{share(check['level'], 0)} intervals, and fills erred by {check['error']:.2f} of their columns' spread "
            f"(the columns' means by {naive})."
        )
        figures = {name: check.get(name) for name in ("numbers", "covered", "level", "error", "naive")}
        told.append(Claim.of("coverage", sentence, basis, figures))
    if check["categories"]:
        where = "Of the hidden categories" if told else f"On {hidden:,} cells{of} hidden on purpose{again},"
        sentence = (
            f"{where} {share(check['right'], 0)} were filled right; the most frequent level would have been right for "
            f"{share(check['usual'], 0)}."
        )
        told.append(
            Claim.of("right", sentence, basis, {name: check[name] for name in ("categories", "right", "usual")})
        )
    return told + _weak_columns(check)


def _hidden(check: dict) -> str:
    """Where figures about hidden cells come from."""
    return f"{check['numbers'] + check['categories']:,} known cells, hidden and filled in again"


def _weak_columns(check: dict) -> list[str]:
    """Sentences about columns that are filled badly."""
    tried = [row for row in check["columns"] if row["cells"] >= FEWEST_NAMED]
    plain = [row["column"] for row in check["columns"] if row.get("by_mean")]
    dull = [
        row["column"]
        for row in tried
        if row.get("error", 0.0) >= DULL * row.get("naive", 1.0) and row["column"] not in plain
    ]
    usual = [row["column"] for row in tried if "right" in row and row["right"] <= row["usual"]]
    narrow = [row for row in tried if "covered" in row and _too_few(row["covered"], row["cells"], check["level"])]
    basis = _hidden(check)
    told: list[str] = []
    for names, how, key in (
        (plain, "by the mean of known cells, which did as well on hidden ones as the model or better", "error"),
        (dull, "hardly better than by the mean", "error"),
        (usual, "no better than by the most frequent level", "right"),
    ):
        if names:
            figures = {row["column"]: row[key] for row in check["columns"] if row["column"] in names}
            sentence = f"{joined(names)} {'is' if len(names) == 1 else 'are'} filled {how}."
            told.append(Claim.of("weak", sentence, f"{key} of {basis}", figures))
    if narrow:
        shares = joined([f"{row['column']} ({share(row['covered'], 0)})" for row in narrow])
        sentence = (
            f"Intervals are too narrow in {shares}: they should hold {share(check['level'], 0)} of the hidden cells."
        )
        told.append(Claim.of("narrow", sentence, basis, {row["column"]: row["covered"] for row in narrow}))
    return told


def _too_few(covered: float, n: int, level: float) -> bool:
    """Whether intervals held clearly fewer cells than they should."""
    return covered < level - 3 * np.sqrt(level * (1 - level) / n)


def _limits(model: Any, table: DataTable, sample: Sample, check: dict | None) -> list[str]:
    told: list[str] = [
        Note("expected", EXPECTED, option=Option("draws")),
        "Whether a cell is missing may depend on the row's other cells, but not on the missing value itself: where it does, as "
        "with incomes that the rich keep to themselves, fills are off by an amount that no table can tell.",
    ]
    if check is None:
        told.append(
            "Intervals take the fitted model as known and could not be checked; with few rows they are somewhat too narrow."
        )
    for j, column in enumerate(table.used):
        if Column.of(column).least == 0 and (sample.low[:, j] == 0).any():
            sentence = f"No observed value of {column.name} is negative, so no fill or interval goes below 0."
            figures, line = {"negative": 0}, f"{{'negative': int((pd.to_numeric(filled[{column.name!r}]) < 0).sum())}}"
            told.append(Claim.of("least", sentence, f"the least known cell of {column.name}", figures, line))
    covered = None if check is None else check["covered"]
    if check is not None and covered is not None and _too_few(covered, check["numbers"], check["level"]):
        sentence = (
            f"Intervals that should hold {share(check['level'], 0)} held {share(covered, 0)} of the hidden numbers: take them as "
            "too narrow."
        )
        told.append(Claim.of("too_narrow", sentence, _hidden(check), {"covered": covered, "level": check["level"]}))
    return told
