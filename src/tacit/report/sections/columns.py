"""The columns of the table: what each holds, in what role it was taken and why."""

from ..markup import amount, breakable, cut, join, number, option, percent, sentence, tag
from ..section import Section
from .common import missing_share

__all__ = ["columns"]

MOST_COLUMNS = 400
MOST_LEVELS = 6


def columns(findings):
    """All columns of the table."""
    if not findings.columns:
        return None
    used = set(findings.used)
    rows = [_row(column, column.name in used) for column in findings.columns[:MOST_COLUMNS]]
    heads = ("Column", "Taken as", "Why", "Missing", "What it holds")
    head = tag("tr", [tag("th", name, scope="col", class_="n" if name == "Missing" else None) for name in heads])
    caption = tag("caption", "Columns of the table", class_="hidden-text")
    made = tag("table", caption, tag("thead", head), tag("tbody", rows), class_="columns-table")
    body = [tag("div", made, class_="scroll", tabindex="0", role="region", aria_label="Columns of the table")]
    if len(findings.columns) > MOST_COLUMNS:
        body.append(tag("p", f"The first {MOST_COLUMNS} of {amount(len(findings.columns))} columns.", class_="note"))
    lead = join(
        [
            "What each column was taken for. If one is taken wrongly, say so when you run it again: ",
            option("--as NAME=ROLE"),
            ".",
        ]
    )
    return Section("columns", "The columns", "Columns", join(body), lead)


def _row(column, used):
    role = column.role if used else f"{column.role}, not used"
    why = column.reason if used else column.left_out or column.reason
    missing = f"{amount(column.n_missing)} ({percent(missing_share(column), 1)})" if column.n_missing else "0"
    notes = [tag("p", sentence(note, 300), class_="remark") for note in column.notes]
    return tag(
        "tr", tag("th", breakable(cut(column.name, 60)), scope="row"), tag("td", role), tag("td", sentence(why, 200), notes),
        tag("td", missing, class_="n missing"),
        tag("td", _content(column)), class_=None if used else "unused",
    )  # fmt: skip


def _content(column):
    if column.levels:
        counts = column.counts or ("",) * len(column.levels)
        ranked = sorted(zip(column.levels, counts), key=lambda pair: -(pair[1] or 0))
        words = ", ".join(
            f"{cut(level, 30)} ({amount(count)})" if count != "" else cut(level, 30)
            for level, count in ranked[:MOST_LEVELS]
        )
        return words + (f" and {len(ranked) - MOST_LEVELS} more levels" if len(ranked) > MOST_LEVELS else "")
    if column.low is not None and column.role in ("measurement", "count"):
        words = f"{number(column.low)} to {number(column.high)}"
        return words if column.mean is None else f"{words}, mean {number(column.mean)}"
    return ""
