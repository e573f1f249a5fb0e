"""The columns of the table: what each holds, in what role it was taken and why."""

from ...survey.column import ColumnInfo
from ...survey.dates import DATE_READINGS
from ..markup import Markup, amount, breakable, cut, framed, join, note, number, option, percent, sentence, tag
from .common import Findings, Section, missing_share, titled

__all__ = ["columns"]

MOST_COLUMNS = 400
MOST_LEVELS = 6


def columns(findings: Findings) -> Section | None:
    """All columns of the table."""
    if not findings.columns:
        return None
    used = set(findings.used)
    rows = [
        _row(column, column.name in used, titled(findings, column.name)) for column in findings.columns[:MOST_COLUMNS]
    ]
    heads = ("Column", "Taken as", "Why", "Missing", "What it holds")
    head = [tag("th", name, scope="col", class_="n" if name == "Missing" else None) for name in heads]
    body: list = [framed(head, rows, "Columns of the table", "columns-table")]
    if len(findings.columns) > MOST_COLUMNS:
        body.append(note(f"The first {MOST_COLUMNS} of {amount(len(findings.columns))} columns."))
    lead = "What each column was taken for. If one is taken wrongly, give its role: in the command by "
    lead = join([lead, option("--as NAME=ROLE"), ", in Python by ", option("roles={NAME: ROLE}"), "."])
    return Section("columns", "The columns", "Columns", join(body), lead)


def _row(column: ColumnInfo, used: bool, title: str) -> Markup:
    role = column.role if used else f"{column.role}, not used"
    why = column.reason if used else column.left_out or column.reason
    missing = f"{amount(column.n_missing)} ({percent(missing_share(column), 1)})" if column.n_missing else "0"
    notes = [tag("p", sentence(note, 300), class_="remark") for note in column.notes]
    return tag(
        "tr", tag("th", breakable(cut(column.name, 60)), _called(column.name, title), scope="row"),
        tag("td", role), tag("td", sentence(why, 200), notes),
        tag("td", missing, class_="n missing"),
        tag("td", _content(column)), class_=None if used else "unused",
    )  # fmt: skip


def _called(name: str, title: str) -> Markup | None:
    """What the user calls a column, where that is not its name."""
    return tag("p", title, class_="called") if title != cut(name, 60) else None


def _content(column: ColumnInfo) -> str:
    if column.levels:
        counts = column.counts or ("",) * len(column.levels)
        ranked = list(zip(column.levels, counts))
        if column.role != "ordinal":
            ranked.sort(key=lambda pair: -(pair[1] or 0))
        told = (cut(level, 30) + (f" ({amount(n)})" if n != "" else "") for level, n in ranked[:MOST_LEVELS])
        return ", ".join(told) + (f" and {len(ranked) - MOST_LEVELS} more levels" if len(ranked) > MOST_LEVELS else "")
    if column.cycle and column.reading in DATE_READINGS:
        return f"goes around in {number(column.cycle[1])} days"
    if column.low is not None and column.cycle:
        return f"{number(column.low)} to {number(column.high)}, goes around after {number(column.cycle[1])}"
    if column.low is not None and column.role in ("measurement", "count"):
        words = f"{number(column.low)} to {number(column.high)}"
        return words if column.mean is None else f"{words}, mean {number(column.mean, scale=column.std)}"
    return ""
