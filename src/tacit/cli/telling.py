"""Findings about groups as the console shows them, and as JSON."""

from dataclasses import asdict

import numpy as np

from ..study.phrases import CRITERIA, left_out_words, model_words
from ..study.scores import Scorer
from ..study.tallies import defining
from ..words import count, number, pair, probability, share
from .console import grid, heading, paragraph
from .voice import said

__all__ = ["columns_text", "groups_data", "groups_text", "plain", "wrote"]

SHOWN_ROWS = 10
SHOWN_COLUMNS = 5
MOST_COLUMNS, MOST_NOTES = 40, 6


def groups_text(findings, model, table, files, commands=()):
    """Everything that was found, for people."""
    parts = [
        columns_text(table), _summary(findings), _model(findings, model), _groups(findings), _uncertain(findings),
        _outliers(findings), _filled(findings), _limits(findings), wrote(files), _commands(commands),
    ]  # fmt: skip
    return "\n\n".join("\n".join(part) for part in parts if part)


def columns_text(table):
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


def _summary(findings):
    return [heading("In short"), *(paragraph(sentence, "  ") for sentence in findings.summary)]


def _model(findings, model):
    rows = findings.selection
    if not rows:
        return []
    criterion = rows[0]["criterion"]
    name = "log density per row left out" if criterion == "cv" else CRITERIA[criterion]
    student = bool(model.by_column)
    n = Scorer(model).n_measurements
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


def _short(row, shape):
    return count(row["n_components"], "group") + (f" {row['covariance_type']}" if shape else "")


def _behind(row, best, criterion, shape):
    name = _short(row, shape)
    if row["failed"] or row[criterion] is None or best[criterion] is None:
        return f"{name} (set aside)"
    gap = row[criterion] - best[criterion]
    gap = gap if abs(gap) > 1e-9 * abs(best[criterion]) else 0.0
    return f"{name} ({'-' if gap < 0 else '+'}{number(abs(gap), 3)})"


def _groups(findings):
    lines = [heading("Groups")]
    for group in findings.groups:
        size = f"{count(group.n_rows, 'row')}, {share(group.n_rows / findings.n_rows)}"
        lines.append(paragraph(f"{group.number}: {size}: {group.words}", "  "))
        entries = defining(group.profile)[:SHOWN_COLUMNS] if len(findings.groups) > 1 else group.profile[:MOST_COLUMNS]
        if not entries:
            continue
        rows = [["", "here", "all rows", "difference"] if len(findings.groups) > 1 else ["", "value"]]
        for entry in entries:
            label = entry["column"] if entry["level"] is None else f"{entry['column']} = {entry['level']}"
            values = _values(entry)
            rows.append([label, *values, f"{entry['difference']:+.1f} sd"][: len(rows[0])])
        lines += grid(rows, right=(1, 2, 3), indent="       ")
    return lines


def _values(entry):
    """What the group has and what all rows have, with as many digits as tell the two apart."""
    values = entry["value"], entry["overall"]
    if None in values or values[0] == values[1]:
        return ["-" if value is None else _value(entry, value) for value in values]
    return list(pair(*values)) if entry["level"] is None else [share(value) for value in values]


def _value(entry, value):
    return number(value) if entry["level"] is None else share(value)


def _which(row):
    """The ids of a listed row."""
    known = ("row", "group", "probability", "other", "other_probability", "reason")
    return {key: value for key, value in row.items() if key not in known}


def _uncertain(findings):
    if not findings.uncertain:
        return []
    shown = findings.uncertain[:SHOWN_ROWS]
    rows = [["row", *_which(shown[0]), "group", "probability", "or group", "probability"]]
    for row in shown:
        ids = ["" if value is None else value for value in _which(row).values()]
        odds = [f"{row['probability']:.2f}", row["other"], f"{row['other_probability']:.2f}"]
        rows.append([row["row"], *ids, row["group"], *odds])
    title = f"Uncertain rows ({findings.n_uncertain:,} under 90 %{_first(findings.n_uncertain)})"
    return [heading(title), *grid(rows, right=(0, *range(len(rows[0]) - 4, len(rows[0]))))]


def _outliers(findings):
    if not findings.outliers:
        return []
    shown = findings.outliers[:SHOWN_ROWS]
    rows = [["row", *_which(shown[0]), "group", "chance", "because"]]
    for row in shown:
        ids = ["" if value is None else value for value in _which(row).values()]
        rows.append([row["row"], *ids, row["group"], probability(row["probability"]), row["reason"]])
    title = f"Unusual rows ({findings.n_outliers:,}{_first(findings.n_outliers)})"
    note = "chance: how probable it is that a row of the same group lies as far out as this one"
    return [heading(title), *grid(rows, right=(0,), widest=90), paragraph(note, "  ")]


def _first(n):
    return f"; the first {SHOWN_ROWS}" if n > SHOWN_ROWS else ""


def _filled(findings):
    filled = {name: n for name, n in findings.n_filled.items() if n}
    if not filled:
        return []
    ranked = sorted(filled.items(), key=lambda each: -each[1])
    told = ", ".join(f"{name} {n:,}" for name, n in ranked[:12])
    more = f" and {count(len(ranked) - 12, 'more column')}" if len(ranked) > 12 else ""
    left = (
        [f"left empty: {', '.join(f'{name} {n:,}' for name, n in findings.n_empty.items())}"]
        if findings.n_empty
        else []
    )
    lines = [told + more, *left]
    return [heading(f"Filled cells ({sum(filled.values()):,})"), *(paragraph(line, "  ") for line in lines)]


def _limits(findings):
    return [heading("Bear in mind"), *(paragraph(f"- {sentence}", "  ") for sentence in findings.limits)]


def wrote(files):
    """What was written."""
    return [heading("Wrote"), *grid([[path, what] for path, what in files.items()], widest=400)] if files else []


def _commands(commands):
    return [heading("Next"), *(f"  {command}" for command in commands)] if commands else []


# For programs


def groups_data(findings, files):
    """Everything that was found but the sample of rows, for programs."""
    return plain({
        "table": findings.title, "rows": findings.n_rows, "columns": [asdict(column) for column in findings.columns],
        "used": findings.used, "summary": findings.summary, "limits": findings.limits, "card": findings.card,
        "selection": findings.selection, "groups": [asdict(group) for group in findings.groups],
        "uncertain": {"count": findings.n_uncertain, "rows": findings.uncertain},
        "outliers": {"count": findings.n_outliers, "rows": findings.outliers},
        "filled": findings.n_filled, "empty": findings.n_empty, "trace": findings.trace, "files": list(files),
    })  # fmt: skip


def plain(value):
    """A value as JSON can hold it: no arrays, and None for numbers that are not finite."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, np.ndarray)):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
