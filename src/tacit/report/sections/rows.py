"""The table of results: all rows shown, with groups, probabilities and filled cells, for the script to sort and filter."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...survey.column import ColumnInfo
from ..markup import Markup, breakable, cut, framed, join, note, percent, plural, tag
from .common import Findings, Section, cell_text, filled_in, how_sure, ids, is_category, outlying, unsure, used_columns

__all__ = ["rows"]

MOST_CELLS = 40_000
FLAGS = {"u": "uncertain", "o": "outliers", "f": "with filled cells"}
Columns = list[tuple[str, bool, list[str]]]
"""Names, whether they hold numbers, and cells."""


def rows(findings: Findings) -> Section | None:
    """The rows, each with its results."""
    sample = findings.sample
    m = len(sample.rows)
    if not m:
        return None
    leads = _results(findings)
    cells, left_out = _cells(findings, max(4, MOST_CELLS // m - len(leads)))
    columns = leads + cells
    kinds = {True: {"class_": "n", "data_kind": "number"}, False: {"data_kind": "text"}}
    heads = [tag("th", breakable(cut(name, 40)), scope="col", **kinds[numeric]) for name, numeric, _ in columns]
    marks = _classes(findings)
    lines = [f"<tr{marks[i]}>" + "".join(texts[i] for _, _, texts in columns) for i in range(m)]
    caption, body = "Rows and what was found about them", Markup("".join(lines))
    scroll = framed(heads, body, caption, scroll="scroll tall wide", id="rows-table")
    pager = tag("div", class_="pager control", id="rows-pager")
    parts = [_controls(findings), scroll, pager, _notes(findings, left_out)]
    lead = "Sort by a click on a column's name. Values in italics were missing and have been filled in."
    return Section("rows", "The rows", "Rows", join(parts), lead)


def _controls(findings: Findings) -> Markup:
    groups = [tag("option", f"Group {group.number}", value=group.number) for group in findings.groups]
    select = tag("select", tag("option", "all", value=""), groups, id="rows-group")
    chosen = tag("label", "Group ", select) if len(groups) > 1 else None
    flags = [
        tag("label", tag("input", type="checkbox", data_flag=kind), f" only {FLAGS[kind]}")
        for kind, found in _flags(findings).items()
        if found.any()
    ]
    search = tag(
        "label", "Search ", tag("input", type="search", id="rows-search", autocomplete="off", spellcheck="false")
    )
    buttons = [
        tag("button", "Copy", type="button", id="rows-copy"), tag("button", "Download CSV", type="button", id="rows-save"),
    ]  # fmt: skip
    count = tag("output", id="rows-count", aria_live="polite")
    return tag("div", search, chosen, flags, tag("div", count, buttons, class_="break"), class_="filters control")


def _flags(findings: Findings) -> dict[str, Any]:
    """What the script filters by, row by row."""
    return {"u": unsure(findings), "o": outlying(findings), "f": np.any(filled_in(findings.sample), axis=1)}


def _notes(findings: Findings, left_out: int) -> Markup:
    m = len(findings.sample.rows)
    notes = []
    if m < findings.n_rows:
        notes.append(
            f"{plural(m, 'row')} drawn at random of {findings.n_rows:,}; the files written beside this page hold all."
        )
    if left_out:
        notes.append(f"{plural(left_out, 'more column')} {'is' if left_out == 1 else 'are'} not shown.")
    printed = tag("p", "Printed are at most the first 40 rows and 12 columns.", class_="note printed")
    return join([note(" ".join(notes)), printed])


def _classes(findings: Findings) -> list[str]:
    """Attributes of the rows: their flags and their group."""
    flags, lines = _flags(findings), []
    for i in range(len(findings.sample.rows)):
        found = " ".join(name for name, flag in flags.items() if flag[i])
        group = f' data-g="{int(findings.group[i])}"' if findings.group is not None else ""
        lines.append((f' class="{found}"' if found else "") + group)
    return lines


def _td(text: str, kind: str = "") -> str:
    # Written short: end tags of cells may be left out, and there are tens of thousands. Those of text have the class: of the
    # cells of wide tables most are numbers.
    return f"<td{kind}>{join([text])}"


def _number(text: str) -> str:
    """A cell with a number; the script gives files the minus of programs."""
    return f"<td>{text.replace('-', '−')}"


def _results(findings: Findings) -> Columns:
    sample = findings.sample
    known = [("Row", True, [_number(str(row)) for row in sample.rows])]
    known += [(name, False, _raw(sample.cells[name])) for name in ids(findings)]
    if findings.group is not None and len(findings.groups) > 1:
        known.append(("Group", True, [_number(str(int(group))) for group in findings.group]))
        if findings.memberships is not None:
            top = (
                np.floor(np.max(findings.memberships, axis=1) * 1e4 + 1e-9) / 1e4
            )  # what is not sure is not rounded to 1
            known.append(("Probability", True, [_number(f"{share:.4f}") for share in top]))
    if findings.axes is not None:
        for name, places in zip(findings.axes.names, np.asarray(findings.axes.scores, dtype=float).T):
            known.append((name, True, [_number(f"{place:.3f}") for place in places]))
    far = outlying(findings)
    if far.any():
        known.append(("Outlier", False, [_td("outlier" if flag else "", " class=t") for flag in far]))
    return known


def _cells(findings: Findings, most: int) -> tuple[Columns, int]:
    """The table's own columns, those of the model first, and how many there was no room for."""
    sample = findings.sample
    shown = [
        (column.name, not is_category(column), _filled(findings, column, j))
        for j, column in enumerate(used_columns(findings)[:most])
    ]
    taken = {*findings.used, *ids(findings)}
    others = [name for name in sample.cells if name not in taken]
    room = max(0, most - len(shown))
    shown += [(name, False, _raw(sample.cells[name])) for name in others[:room]]
    return shown, max(0, len(findings.used) - most) + len(others[room:])


def _filled(findings: Findings, column: ColumnInfo, j: int) -> list[str]:
    """Cells of a column of the model: observed, filled in with how sure they are, or left empty."""
    sample, numeric, cells = findings.sample, not is_category(column), []
    for i, value in enumerate(sample.encoded[:, j]):
        if np.isfinite(value):
            cells.append(_number(f"{value:.10g}") if numeric else _td(cell_text(column, value), " class=t"))
        elif not np.isfinite(sample.filled[i, j]):  # left empty: no group can say what it is
            cells.append('<td class="gone" title="missing, left empty">')
        else:
            text, sure = cell_text(column, sample.filled[i, j]), how_sure(sample, column, i, j)
            text, kind = (text.replace(",", ""), "new") if numeric else (text, "t new")
            sure = join([f"{percent(findings.level)}: " if numeric else "", sure])
            cells.append(_td(text, f' class="{kind}" title="{sure}"'))
    return cells


def _raw(values: Iterable) -> list[str]:
    """Cells as they were read."""
    texts = ["" if value is None else f"{value:.10g}" if isinstance(value, float) else value for value in values]
    return [_td(cut(text), " class=t") for text in texts]
