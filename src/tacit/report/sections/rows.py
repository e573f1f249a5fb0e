"""The table of results: all rows shown, with groups, probabilities and filled cells, for the script to sort and filter."""

import numpy as np

from ..markup import Markup, breakable, cut, join, percent, plural, tag
from ..section import Section
from .common import cell_text, filled_in, ids, is_category, outlying, unsure, used_columns

__all__ = ["rows"]

MOST_CELLS = 40_000


def rows(findings):
    """The rows, each with its results."""
    sample = findings.sample
    m = len(sample.rows)
    if not m:
        return None
    leads = _results(findings)
    cells, left_out = _cells(findings, max(4, MOST_CELLS // m - len(leads)))
    columns = leads + cells
    heads = [
        tag(
            "th",
            breakable(cut(name, 40)),
            scope="col",
            class_="n" if numeric else None,
            data_kind="number" if numeric else "text",
        )
        for name, numeric, _ in columns
    ]
    marks = _classes(findings)
    lines = [f"<tr{marks[i]}>" + "".join(texts[i] for _, _, texts in columns) for i in range(m)]
    made = tag(
        "table", tag("caption", "Rows and what was found about them", class_="hidden-text"), tag("thead", tag("tr", heads)),
        tag("tbody", Markup("".join(lines))), id="rows-table",
    )  # fmt: skip
    scroll = tag(
        "div",
        made,
        class_="scroll tall wide",
        tabindex="0",
        role="region",
        aria_label="Rows and what was found about them",
    )
    body = [
        _controls(findings),
        scroll,
        tag("div", class_="pager control", id="rows-pager"),
        _notes(findings, left_out),
    ]
    lead = "Sort by a click on a column's name. Values in italics were missing and have been filled in."
    return Section("rows", "The rows", "Rows", join(body), lead)


def _controls(findings):
    groups = [tag("option", f"Group {group.number}", value=group.number) for group in findings.groups]
    chosen = (
        tag("label", "Group ", tag("select", tag("option", "all", value=""), groups, id="rows-group"))
        if len(groups) > 1
        else None
    )
    flags = []
    if unsure(findings).any():
        flags.append(_flag("u", "only uncertain"))
    if outlying(findings).any():
        flags.append(_flag("o", "only outliers"))
    if filled_in(findings.sample).any():
        flags.append(_flag("f", "only with filled cells"))
    search = tag(
        "label", "Search ", tag("input", type="search", id="rows-search", autocomplete="off", spellcheck="false")
    )
    buttons = [
        tag("button", "Copy", type="button", id="rows-copy"), tag("button", "Download CSV", type="button", id="rows-save"),
    ]  # fmt: skip
    count = tag("output", id="rows-count", aria_live="polite")
    return tag("div", search, chosen, flags, tag("div", count, buttons, class_="break"), class_="filters control")


def _flag(kind, words):
    return tag("label", tag("input", type="checkbox", data_flag=kind), f" {words}")


def _notes(findings, left_out):
    m = len(findings.sample.rows)
    notes = []
    if m < findings.n_rows:
        notes.append(
            f"{plural(m, 'row')} drawn at random of {findings.n_rows:,}; the files written beside this page hold all."
        )
    if left_out:
        notes.append(f"{plural(left_out, 'more column')} {'is' if left_out == 1 else 'are'} not shown.")
    printed = tag("p", "Printed are at most the first 40 rows and 12 columns.", class_="note printed")
    return join([tag("p", " ".join(notes), class_="note") if notes else None, printed])


def _classes(findings):
    """What the script filters by: u uncertain, o outlier, f with filled cells; and the group."""
    flags = {"u": unsure(findings), "o": outlying(findings), "f": filled_in(findings.sample).any(axis=1)}
    lines = []
    for i in range(len(findings.sample.rows)):
        found = " ".join(name for name, flag in flags.items() if flag[i])
        group = f' data-g="{int(findings.group[i])}"' if findings.group is not None else ""
        lines.append((f' class="{found}"' if found else "") + group)
    return lines


def _td(text, kind=""):
    # Written short: end tags of cells may be left out, and there are tens of thousands. Those of text have the class: of the
    # cells of wide tables most are numbers.
    return f"<td{kind}>{join([text])}"


def _number(text):
    """A cell with a number; the script gives files the minus of programs."""
    return f"<td>{text.replace('-', '−')}"


def _results(findings):
    """Columns of results: name, whether numbers, cells."""
    sample = findings.sample
    known = [("Row", True, [_number(str(row)) for row in sample.rows])]
    known += [(name, False, _raw(sample.cells[name])) for name in ids(findings)]
    if findings.group is not None and len(findings.groups) > 1:
        known.append(("Group", True, [_number(str(int(group))) for group in findings.group]))
        if findings.memberships is not None:
            top = np.max(findings.memberships, axis=1)
            known.append(("Probability", True, [_number(f"{share:.4f}") for share in top]))
    if findings.axes is not None:
        for name, places in zip(findings.axes.names, np.asarray(findings.axes.scores, dtype=float).T):
            known.append((name, True, [_number(f"{place:.3f}") for place in places]))
    far = outlying(findings)
    if far.any():
        known.append(("Outlier", False, [_td("outlier" if flag else "", " class=t") for flag in far]))
    return known


def _cells(findings, most):
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


def _filled(findings, column, j):
    """Cells of a column of the model: observed, filled in with how sure they are, or left empty."""
    sample, numeric, level = findings.sample, not is_category(column), percent(findings.level)
    cells = []
    for i, value in enumerate(sample.encoded[:, j]):
        if np.isfinite(value):
            cells.append(_number(f"{value:.10g}") if numeric else _td(cell_text(column, value), " class=t"))
        elif not np.isfinite(sample.filled[i, j]):  # left empty: no group can say what it is
            cells.append('<td class="gone" title="missing, left empty">')
        elif numeric:
            between = f"{level}: {cell_text(column, sample.low[i, j])} to {cell_text(column, sample.high[i, j])}"
            text = cell_text(column, sample.filled[i, j]).replace(",", "")
            cells.append(_td(text, f' class="new" title="{join([between])}"'))
        else:
            sure = join([f"{percent(sample.sure[i, j])} probable"])
            cells.append(_td(cell_text(column, sample.filled[i, j]), f' class="t new" title="{sure}"'))
    return cells


def _raw(values):
    """Cells as they were read."""
    texts = ["" if value is None else f"{value:.10g}" if isinstance(value, float) else value for value in values]
    return [_td(cut(text), " class=t") for text in texts]
