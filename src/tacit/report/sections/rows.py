"""The table of results: all rows shown, with groups, probabilities and filled cells, for the script to sort and filter."""

import numpy as np

from ..markup import Markup, cut, join, percent, plural, tag
from ..section import Section
from .common import cell_text, ids, is_category, outlying, unsure, used_columns

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
            "th", cut(name, 40), scope="col", class_="n" if numeric else None, data_kind="number" if numeric else "text"
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
        "div", made, class_="scroll tall", tabindex="0", role="region", aria_label="Rows and what was found about them"
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
    if np.isnan(findings.sample.encoded).any():
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
    printed = tag("p", "Printed are the first 40 rows.", class_="note printed") if m > 40 else None
    return join([tag("p", " ".join(notes), class_="note") if notes else None, printed])


def _classes(findings):
    """What the script filters by: u uncertain, o outlier, f with filled cells; and the group."""
    flags = {"u": unsure(findings), "o": outlying(findings), "f": np.isnan(findings.sample.encoded).any(axis=1)}
    lines = []
    for i in range(len(findings.sample.rows)):
        found = " ".join(name for name, flag in flags.items() if flag[i])
        group = f' data-g="{int(findings.group[i])}"' if findings.group is not None else ""
        lines.append((f' class="{found}"' if found else "") + group)
    return lines


def _td(text, kind=""):
    # Written short: end tags of cells may be left out, and there are tens of thousands.
    return f"<td{kind}>{join([text])}"


def _results(findings):
    """Columns of results: name, whether numbers, cells."""
    sample = findings.sample
    known = [("Row", True, [_td(str(row), ' class="n"') for row in sample.rows])]
    known += [(name, False, _raw(sample.cells[name])) for name in ids(findings)]
    if findings.group is not None and len(findings.groups) > 1:
        known.append(("Group", True, [_td(str(int(group)), ' class="n"') for group in findings.group]))
        if findings.memberships is not None:
            top = np.max(findings.memberships, axis=1)
            known.append(("Probability", True, [_td(f"{share:.4f}", ' class="n"') for share in top]))
    if findings.axes is not None:
        for name, places in zip(findings.axes.names, np.asarray(findings.axes.scores, dtype=float).T):
            known.append((name, True, [_td(f"{place:.3f}", ' class="n"') for place in places]))
    far = outlying(findings)
    if far.any():
        known.append(("Outlier", False, [_td("outlier" if flag else "") for flag in far]))
    return known


def _cells(findings, most):
    """The table's own columns, those of the model first, and how many there was no room for."""
    sample = findings.sample
    shown = [
        (column.name, not is_category(column), _filled(sample, column, j))
        for j, column in enumerate(used_columns(findings)[:most])
    ]
    taken = {*findings.used, *ids(findings)}
    others = [name for name in sample.cells if name not in taken]
    room = max(0, most - len(shown))
    shown += [(name, False, _raw(sample.cells[name])) for name in others[:room]]
    return shown, max(0, len(findings.used) - most) + len(others[room:])


def _filled(sample, column, j):
    numeric = not is_category(column)
    side, new = (' class="n"', ' class="n new"') if numeric else ("", ' class="new"')
    cells = []
    for i, value in enumerate(sample.encoded[:, j]):
        if np.isfinite(value):
            cells.append(_td(f"{value:.10g}" if numeric else cell_text(column, value), side))
        elif not np.isfinite(sample.filled[i, j]):  # left empty: no group can say what it is
            cells.append(_td("", side))
        elif numeric:
            between = f"90 %: {cell_text(column, sample.low[i, j])} to {cell_text(column, sample.high[i, j])}"
            cells.append(_td(_plain(column, sample.filled[i, j]), f'{new} title="{join([between])}"'))
        else:
            sure = join([f"{percent(sample.sure[i, j])} probable"])
            cells.append(_td(cell_text(column, sample.filled[i, j]), f'{new} title="{sure}"'))
    return cells


def _plain(column, value):
    """A number that programs can read."""
    return cell_text(column, value).replace("−", "-").replace(",", "") if np.isfinite(value) else ""


def _raw(values):
    return [
        _td("" if value is None else cut(f"{value:.10g}" if isinstance(value, float) else value)) for value in values
    ]
