"""Findings as the console shows them, and as JSON."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Any

from ..study.phrases import CRITERIA, counted_share, left_out_words, model_words
from ..study.tallies import defining
from ..words import count, number, pair, probability, share, signed
from .common import DataTable, Findings
from .console import grid, heading, paragraph
from .voice import said

__all__ = ["findings_data", "findings_text", "groups_data", "groups_text", "shares_rows", "wrote"]

SHOWN_ROWS = 10
SHOWN_COLUMNS = 5
MOST_COLUMNS, MOST_NOTES = 40, 6


def groups_text(
    findings: Findings, model: Any, table: DataTable, files: dict[str, str], commands: Sequence[str] = ()
) -> str:
    """Everything that was found about groups, for people."""
    parts = [_model(findings, model), _groups(findings), _uncertain(findings), _outliers(findings), _filled(findings)]
    after = [heading("Next"), *(f"  {command}" for command in commands)] if commands else []
    return _told(table, findings, parts, files, after)


def findings_text(
    table: DataTable, findings: Findings, title: str, rows: Sequence, files: dict[str, str], *more: tuple[str, Sequence]
) -> str:
    """What was found, for people, with tables of numbers: a title and rows each."""
    parts = [
        [heading(head), *grid(lines, right=range(1, len(lines[0])))]
        for head, lines in ((title, rows), *more)
        if len(lines) > 1
    ]
    return _told(table, findings, parts, files)


def shares_rows(findings: Findings) -> list[tuple]:
    """Levels of categories with filled cells, those whose shares moved most: shares of the known cells, and after filling."""
    levels = [row for row in findings.shares if row["level"] is not None]
    lines: list[tuple] = [("level", "of known", "of filled", "after filling")]
    for row in sorted(levels, key=lambda row: -abs(row["after"] - row["known"]))[:SHOWN_ROWS]:
        lines.append((f"{row['column']} = {row['level']}", *(share(row[key]) for key in ("known", "filled", "after"))))
    return lines


def _told(
    table: DataTable, findings: Findings, parts: list[list[str]], files: dict[str, str], after: Sequence[str] = ()
) -> str:
    """The columns and the summary, parts of a command's own, then the limits and the files."""
    summary = [heading("In short"), *(paragraph(said(sentence), "  ") for sentence in findings.summary)]
    limits = [heading("Bear in mind"), *(paragraph(f"- {said(sentence)}", "  ") for sentence in findings.limits)]
    every = [_columns(table), summary, *parts, limits, wrote(files), after]
    return "\n\n".join("\n".join(part) for part in every if part)


def _columns(table: DataTable) -> list[str]:
    """What was read, and how each column is taken."""
    used = [column for column in table.columns if column.used]
    lines = [heading(f"{table.reader.name}: {count(table.n_rows, 'row')}, {count(len(table.columns), 'column')}")]
    rows = [["column", "taken as", "because", "missing"]]
    for column in used[:MOST_COLUMNS]:
        rows.append([column.name, column.role, column.reason, f"{column.n_missing:,}" if column.n_missing else "-"])
    lines += grid(rows, right=(3,))
    if len(used) > MOST_COLUMNS:
        lines.append(f"  … and {count(len(used) - MOST_COLUMNS, 'more column')}")
    left_out = left_out_words((column for column in table.columns if not column.used), said=said)
    if left_out:
        shown = "; ".join(left_out[:MOST_COLUMNS]) + (" …" if len(left_out) > MOST_COLUMNS else "")
        lines.append(paragraph(f"left out: {shown}", "  "))
    notes = [f"{column.name}: {said(note)}" for column in table.columns for note in column.notes
             if note not in column.left_out]  # fmt: skip
    notes += [note for note in dict.fromkeys(map(said, table.notes)) if not any(note in each for each in notes)]
    lines += [paragraph(f"note: {note}", "  ") for note in notes[:MOST_NOTES]]
    more = len(notes) - MOST_NOTES
    return [*lines, f"  … and {count(more, 'more note')}; tacit inspect shows all"] if more > 0 else lines


def _model(findings: Findings, model: Any) -> list[str]:
    rows = findings.selection
    if not rows:
        return []
    criterion = rows[0]["criterion"]
    name = "log density per row left out" if criterion == "cv" else CRITERIA[criterion]
    student = bool(model.by_column)
    n = sum(column.role == "measurement" for column in findings.columns if column.name in findings.used)
    shape = rows[0]["covariance_type"] if n else None
    value = rows[0][criterion]
    told = f"{name} {number(value, 6)}" if value is not None else rows[0]["failed"]
    lines = [heading("Model"), paragraph(f"{model_words(rows[0]['n_components'], shape, student, n)}; {told}", "  ")]
    sampled = f" on {rows[0]['n_rows']:,} rows drawn at random" if "n_rows" in rows[0] else ""
    if len(rows) > 1:
        behind = [_behind(row, rows[0], criterion, shape) for row in rows[1:4]]
        lines.append(paragraph(f"the best of {len(rows)} tried{sampled}; next: {'; '.join(behind)}", "  "))
    failed = [row for row in rows if row["failed"]]
    if failed:
        first = f"{_short(failed[0], shape)}: {failed[0]['failed']}"
        first = f" ({first})" if len(failed) == 1 else f", such as {first}"
        lines.append(paragraph(f"{count(len(failed), 'model')} set aside{first}", "  "))
    return lines


def _short(row: dict, shape: str | None) -> str:
    return count(row["n_components"], "group") + (f" {row['covariance_type']}" if shape else "")


def _behind(row: dict, best: dict, criterion: str, shape: str | None) -> str:
    name = _short(row, shape)
    if row["failed"] or row[criterion] is None or best[criterion] is None:
        return f"{name} (set aside)"
    gap = row[criterion] - best[criterion]
    gap = gap if abs(gap) > 1e-9 * abs(best[criterion]) else 0.0
    return f"{name} ({'-' if gap < 0 else '+'}{number(abs(gap), 3)})"


def _groups(findings: Findings) -> list[str]:
    lines = [heading("Groups")]
    for group in findings.groups:
        size = f"{count(group.n_rows, 'row')}, {share(group.n_rows / findings.n_rows)}"
        lines.append(paragraph(f"{group.number}: {size}: {group.words}", "  "))
        entries = defining(group.profile)[:SHOWN_COLUMNS] if len(findings.groups) > 1 else group.profile[:MOST_COLUMNS]
        if not entries:
            continue
        partly = any(entry.get("known", 0) < entry.get("n_rows", 0) for entry in entries)
        known = [f"known of {entries[0].get('n_rows', 0):,}"] * partly
        rows = [["", "here", "all rows", "difference", *known] if len(findings.groups) > 1 else ["", "value", *known]]
        for entry in entries:
            label = entry["column"] if entry["level"] is None else f"{entry['column']} = {entry['level']}"
            values = _values(entry)
            told = [*values, f"{signed(entry['difference'], 1)} sd"] if len(findings.groups) > 1 else values[:1]
            rows.append([label, *told, *([f"{entry['known']:,}"] if partly else [])])
        lines += grid(rows, right=(1, 2, 3, 4), indent="       ")
    return lines


def _values(entry: dict) -> list[str]:
    """What the group has and what all rows have, with as many digits as tell the two apart."""
    if "value_text" in entry:
        return [entry["value_text"], entry["overall_text"]]
    if counted := counted_share(entry):
        return [counted, "-" if entry["overall"] is None else share(entry["overall"])]
    values = entry["value"], entry["overall"]
    if None in values or values[0] == values[1]:
        worded = number if entry["level"] is None else share
        return ["-" if value is None else worded(value) for value in values]
    return list(pair(*values)) if entry["level"] is None else [share(value) for value in values]


def _listed(
    rows: list[dict], n: int, title: str, heads: Sequence[str], own: Callable[[dict], Iterable], right: Iterable[int],
    widest: int = 40,
) -> list[str]:  # fmt: skip
    """The first rows of a list with their ids and what `own` says of each, under a title that tells how many there are."""
    known = ("row", "group", "probability", "other", "other_probability", "reason")
    ids = [key for key in rows[0] if key not in known]
    lines: list[list] = [["row", *ids, "group", *heads]]
    for row in rows[:SHOWN_ROWS]:
        named = ["" if row.get(name) is None else row[name] for name in ids]
        lines.append([row["row"], *named, row["group"], *own(row)])
    first = f"; the first {SHOWN_ROWS}" if n > SHOWN_ROWS else ""
    return [heading(f"{title}{first})"), *grid(lines, {j % len(lines[0]) for j in right}, widest=widest)]


def _uncertain(findings: Findings) -> list[str]:
    if not findings.uncertain:
        return []
    n = findings.n_uncertain
    return _listed(
        findings.uncertain, n, f"Uncertain rows ({n:,} under 90 %", ("probability", "or group", "probability"),
        lambda row: (probability(row["probability"]), row["other"], probability(row["other_probability"])),
        right=(0, -4, -3, -2, -1),
    )  # fmt: skip


def _outliers(findings: Findings) -> list[str]:
    if not findings.outliers:
        return []
    n = findings.n_outliers
    lines = _listed(
        findings.outliers, n, f"Unusual rows ({n:,}", ("chance", "because"),
        lambda row: (probability(row["probability"]), row["reason"]), right=(0,), widest=90,
    )  # fmt: skip
    note = "chance: how probable it is that a row of the same group lies as far out as this one"
    return [*lines, paragraph(note, "  ")]


def _filled(findings: Findings) -> list[str]:
    filled = {name: n for name, n in findings.n_filled.items() if n}
    if not filled:
        return []
    ranked = sorted(filled.items(), key=lambda each: -each[1])
    told = ", ".join(f"{name} {n:,}" for name, n in ranked[:12])
    more = f" and {count(len(ranked) - 12, 'more column')}" if len(ranked) > 12 else ""
    lines = [told + more]
    if findings.n_empty:
        lines.append(f"left empty: {', '.join(f'{name} {n:,}' for name, n in findings.n_empty.items())}")
    return [heading(f"Filled cells ({sum(filled.values()):,})"), *(paragraph(line, "  ") for line in lines)]


def wrote(files: dict[str, str]) -> list[str]:
    """What was written."""
    return [heading("Wrote"), *grid([[path, what] for path, what in files.items()], widest=400)] if files else []


# For programs


def findings_data(findings: Findings, files: Iterable[str], **more: Any) -> dict:
    """What all findings tell programs, and what some tell beside."""
    told = {"table": findings.title, "rows": findings.n_rows, "columns": findings.used} | more
    return told | {"summary": findings.summary, "limits": findings.limits, "files": list(files)}


def groups_data(findings: Findings, files: Iterable[str]) -> dict:
    """Everything that was found about groups but the sample of rows, for programs."""
    return findings_data(
        findings, files, columns=[asdict(column) for column in findings.columns], used=findings.used, card=findings.card,
        selection=findings.selection, groups=[asdict(group) for group in findings.groups],
        uncertain={"count": findings.n_uncertain, "rows": findings.uncertain},
        outliers={"count": findings.n_outliers, "rows": findings.outliers},
        filled=findings.n_filled, empty=findings.n_empty, trace=findings.trace, check=findings.check, shares=findings.shares,
        missingness=[asdict(each) for each in findings.missingness],
    )  # fmt: skip
