"""The cells that were filled in, with how sure each is, against what was observed."""

import numpy as np

from ...survey.column import ColumnInfo
from ..charts.imputation import filled_levels, filled_numbers
from ..markup import Markup, amount, cut, join, note, number, percent, plural, table, tag, unfolding
from .common import Findings, Section, cell_text, filled_in, how_sure, ids, is_category, of_sample, used_columns

__all__ = ["filled"]

MOST_COLUMNS = 24
MOST_CELLS = 300
MOST_SHARES = 40


def filled(findings: Findings) -> Section | None:
    """A small chart for each column with missing values, and the list of filled cells."""
    sample, columns = findings.sample, used_columns(findings)
    missing = filled_in(sample)
    incomplete = [j for j in np.argsort(-missing.sum(axis=0), kind="stable") if missing[:, j].any()]
    if not incomplete:
        return None
    charts = [_chart(findings, int(j), columns[j], missing[:, j]) for j in incomplete[:MOST_COLUMNS]]
    body = [
        tag("div", charts, class_="multiples"),
        _cells(findings, columns, missing),
        _check(findings),
        _shares(findings),
    ]
    if len(incomplete) > MOST_COLUMNS:
        body.insert(1, note(f"The {MOST_COLUMNS} columns with most filled cells of {len(incomplete)}."))
    lead = (
        "Grey bars are observed values. Above them, each filled cell is a dot at its expected value with the "
        f"interval that holds the true one with {percent(findings.level)} probability{_achieved(findings)}: a wide "
        f"one says that the other "
        f"cells of the row tell little about it.{of_sample(findings)}"
    )
    return Section("filled", "The cells that were filled in", "Filled cells", join(body), lead)


def _achieved(findings: Findings) -> str:
    covered = (findings.check or {}).get("covered")
    return "" if covered is None else f" ({percent(covered)} of the hidden cells)"


def _check(findings: Findings) -> Markup | None:
    """How good the fills are, where cells were hidden on purpose to see it."""
    check = findings.check or {}
    listed = check.get("columns") or []
    if not listed:
        return None
    rows = [
        [
            cut(entry["column"], 40), amount(entry["cells"]), number(entry.get("error"), 2),
            number(entry["naive"], 2) if "naive" in entry else number(None),
            *(percent(entry.get(share)) for share in ("covered", "right", "usual")),
        ]
        for entry in listed
    ]  # fmt: skip
    header = [
        "Column",
        "Hidden cells",
        "Error (SD)",
        "Error of the mean",
        "Within interval",
        "Right level",
        "Most frequent level right",
    ]
    words = (
        "Cells that are known were hidden on purpose and filled; what is told here comes from cells whose rows took "
        "no part in the "
        "calibration. Errors are in standard deviations of the column, beside those of filling in its mean; intervals "
        "should hold about "
        f"{percent(check.get('level', findings.level))} of the numbers; levels should be right more often than by "
        f"always guessing the most "
        "frequent one."
    )
    poor = [
        entry["column"]
        for entry in listed
        if entry.get("error", 0.0) > entry.get("naive", 1.0) or entry.get("right", 1.0) < entry.get("usual", 0.0)
    ]
    if poor:
        more = f" and {len(poor) - 12} more" if len(poor) > 12 else ""
        words += f" No better than a guess: {', '.join(cut(name, 40) for name in poor[:12])}{more}."
    made = table(header, rows, numeric=range(1, 7), caption="How good the filled cells are")
    return join([tag("h3", "How good they are"), note(words), made])


def _shares(findings: Findings) -> Markup | None:
    """What columns hold before and after filling."""
    if not findings.shares:
        return None
    rows = []
    for row in sorted(
        findings.shares, key=lambda row: -abs(row["after"] - row["known"]) if row["level"] is not None else 1.0
    )[:MOST_SHARES]:
        worded = percent if row["level"] is not None else number
        label = "mean" if row["level"] is None else cut(row["level"], 40)
        values = [worded(row[key]) for key in ("known", "filled", "after")]
        rows.append([cut(row["column"], 40), label, amount(row["n_known"]), amount(row["n_filled"]), *values])
    header = ["Column", "Level", "Known cells", "Filled cells", "Of the known", "Of the filled", "After filling"]
    words = (
        "Shares of levels, and means of numbers, among the known cells, among the filled ones, and after filling; "
        "levels whose shares moved "
        "most come first. A fill is the most probable level, so that frequent ones gain: to count levels, use tables of draws."
    )
    made = table(header, rows, numeric=range(2, 7), caption="Before and after filling")
    return join([tag("h3", "Before and after filling"), note(words), made])


def _chart(findings: Findings, j: int, column: ColumnInfo, missing: np.ndarray) -> Markup:
    sample, name = findings.sample, f"filled{j}"
    seen = sample.encoded[~missing, j]
    seen = seen[np.isfinite(seen)]
    values, low, high, sure = (part[missing, j] for part in (sample.filled, sample.low, sample.high, sample.sure))
    if is_category(column):
        return filled_levels(name, column, seen.astype(int), values, sure)
    return filled_numbers(name, column, seen, values, low, high)


def _cells(findings: Findings, columns: list[ColumnInfo], missing: np.ndarray) -> Markup:
    sample, known = findings.sample, ids(findings)
    places = np.argwhere(missing)
    rows = []
    for i, j in places[:MOST_CELLS]:
        column = columns[j]
        value, sure = cell_text(column, sample.filled[i, j]), how_sure(sample, column, i, j)
        named = [cut(sample.cells[name][i] if sample.cells[name][i] is not None else "–", 40) for name in known]
        rows.append([str(sample.rows[i]), *named, cut(column.name, 40), value, sure])
    header = ["Row", *(cut(name, 40) for name in known), "Column", "Filled with"]
    header.append(f"{percent(findings.level)} interval or probability")
    words = f"List of the {plural(len(places), 'filled cell')}"
    if len(places) > MOST_CELLS:
        words = f"List of the first {MOST_CELLS} of {plural(len(places), 'filled cell')}"
    return unfolding(words, table(header, rows, numeric=(0,), caption="Filled cells"))
