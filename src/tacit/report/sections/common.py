"""What sections share: `Section` itself, the columns a model uses, what a cell says, which rows are uncertain or outlying."""

import math
import re
import shlex
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.classes import outlier_threshold
from ...study.findings import Findings, Sample
from ...study.scores import SURE
from ...survey.column import ColumnInfo
from ...words import joined
from ..charts.colours import group_name
from ..markup import Markup, cut, number, percent, plural, sentence, tag

__all__ = [
    "Findings", "Section", "cell_text", "choices", "claim", "drawn_rows", "filled_in", "group_mark", "group_title", "how_sure",
    "ids", "is_category", "missing_share", "named_files", "of_sample", "outlying", "titled", "unsure", "used_columns",
]  # fmt: skip


@dataclass(frozen=True)
class Section:
    """A part of the page, with a heading.

    Attributes
    ----------
    name : str
        Its anchor.
    title : str
        Its heading.
    short : str
        What the navigation calls it.
    body : Markup
    lead : str
        One or two sentences that say what it shows and how to read it.
    """

    name: str
    title: str
    short: str
    body: Markup
    lead: str = ""


def claim(words: str, class_: str | None = None) -> Markup:
    """A sentence; one that has a check behind it can be opened to see it."""
    check = getattr(words, "check", None)
    if check is None:
        return tag("p", sentence(words), class_=class_) if class_ else sentence(words)
    told = {name: value for name, value in check.figures.items() if value is not None and value != ""}
    figures = [f"{name} = {_figure(value)}" for name, value in told.items()]
    shown = [tag("p", sentence(check.basis[:1].upper() + check.basis[1:]), ".") if check.basis else None]
    shown += [tag("p", tag("code", ", ".join(figures))) if figures else None]
    if check.pandas:
        how = f"In pandas, with table the file that was read{_written(check.pandas)}:"
        shown += [tag("p", how), tag("pre", tag("code", check.pandas), tabindex="0")]
    return tag("details", tag("summary", sentence(words)), shown, class_=f"claim {class_ or ''}".rstrip())


def _written(line: str) -> str:
    """Which of the files that were written a line of pandas reads."""
    files = {
        "other": "the second one",
        "rows": "the groups or scores that were written",
        "looked": "what was looked at",
    }
    files |= {
        "filled": "the filled table",
        "cells": "the list of filled cells",
        "users": "the table of users that was written",
    }
    files |= {"edges": "the list of edges that was written", "levels": "the list of levels that was written"}
    files |= {"items": "the table of items that was written", "check": "the ratings held out that were written"}
    told = [f"{name} {what}" for name, what in files.items() if re.search(rf"(?<!')\b{name}\b(?!')", line)]
    return f" and {joined(told)}" if told else ""


def _figure(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else cut(value, 200)


def used_columns(findings: Findings) -> list[ColumnInfo]:
    """The columns of the model, in its order."""
    by_name = {column.name: column for column in findings.columns}
    return [by_name[name] for name in findings.used]


def is_category(column: ColumnInfo) -> bool:
    """Whether its cells are codes of levels."""
    return column.coded


def ids(findings: Findings) -> list[str]:
    """Names of the columns that say which row it is."""
    return [column.name for column in findings.columns if column.role == "id" and column.name in findings.sample.cells]


def cell_text(column: ColumnInfo, value: float | None) -> str:
    """A cell of the model as text."""
    if value is None or not math.isfinite(value):
        return "–"
    if is_category(column):
        code = int(value)
        return cut(column.levels[code]) if 0 <= code < len(column.levels) else number(value)
    return number(value, 4 if not column.std else _digits(column.std, value), column.std)


def _digits(std: float, value: float) -> int:
    """Significant digits that resolve a hundredth of the column's spread."""
    if value == 0:
        return 2
    return int(np.clip(math.floor(math.log10(abs(value))) - math.floor(math.log10(std)) + 3, 2, 9))


def how_sure(sample: Sample, column: ColumnInfo, i: int, j: int) -> str:
    """How sure a filled cell is: its probability, or its interval."""
    if is_category(column):
        return f"{percent(sample.sure[i, j])} probable"
    return f"{cell_text(column, sample.low[i, j])} to {cell_text(column, sample.high[i, j])}"


def filled_in(sample: Sample) -> np.ndarray:
    """Which cells were missing and have been filled in, (m, d) bool; a few may have been left empty."""
    return np.isnan(sample.encoded) & np.isfinite(sample.filled)


def missing_share(column: ColumnInfo) -> float:
    """Share of its cells that are missing."""
    return column.n_missing / column.n_rows if column.n_rows else 0.0


def unsure(findings: Findings) -> np.ndarray:
    """Which of the sample's rows are uncertain; none where there are no groups."""
    if findings.memberships is None or len(findings.groups) < 2:
        return np.zeros(len(findings.sample.rows), bool)
    return np.max(findings.memberships, axis=1) < SURE


def outlying(findings: Findings) -> np.ndarray:
    """Which of the sample's rows are outliers."""
    listed = np.isin(findings.sample.rows, [entry.get("row", -1) for entry in findings.outliers])
    if findings.outlier is None or not findings.n_outliers:
        return listed
    farther = np.nan_to_num(np.asarray(findings.outlier, dtype=float), nan=1.0)
    return listed | (farther < outlier_threshold(findings.n_rows))


def drawn_rows(m: int, findings: Findings) -> str:
    """Which rows a map shows."""
    return f"{plural(m, 'row')} drawn at random of {findings.n_rows:,}" if m < findings.n_rows else "every row"


def of_sample(findings: Findings) -> str:
    """That what a section shows is of some rows only; nothing where it is of all."""
    m = len(findings.sample.rows)
    return f" Charts and counts are of {drawn_rows(m, findings)}." if m < findings.n_rows else ""


def titled(findings: Findings, name: str) -> str:
    """What a column is called, with its unit where it is known."""
    label, unit = findings.labels.get(name, name), findings.units.get(name)
    return f"{cut(label, 60)} ({cut(unit, 20)})" if unit else cut(label, 60)


def group_title(findings: Findings, number: int) -> str:
    """What a group is called."""
    given = findings.group_names.get(number)
    return f"Group {number}: {cut(given, 60)}" if given else f"Group {number}"


def named_files(findings: Findings) -> tuple[str, str] | None:
    """How the table and the model are called on a command line; None where they are no files."""
    place = findings.card.get("Table", "")
    if "." not in place or len(place) > 200:
        return None
    return shlex.quote(place), shlex.quote(f"{findings.title}.fit.tacit")


def group_mark(group: int) -> Markup:
    """Mark and name of a group, in one piece."""
    return tag("span", group_name(group), class_="whole")


def choices(name: str, labels: list[Any], what: str = "What to show") -> Markup | None:
    """Buttons that choose one of several panels."""
    if len(labels) < 2:
        return None
    buttons = [
        tag("button", label, type="button", data_show=k, aria_pressed="false" if k else "true")
        for k, label in enumerate(labels)
    ]
    return tag("div", buttons, class_="choices control", role="group", aria_label=what, data_set=name)
