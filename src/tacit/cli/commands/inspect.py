"""`tacit inspect TABLE`: what a table holds, column by column, and what to run next."""

import re
import shlex
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ...notes import Claim, Option, having
from ...words import count, number, share
from ..common import ColumnInfo, DataTable, add_columns, add_force, add_table, open_asked, table_options
from ..outcome import Outcome
from ..voice import as_typed, said

__all__ = ["add_arguments", "run"]

HELP = "what is in a table: types, missing values, outlying cells, repeated rows, and what to run next"
EXAMPLE = "tacit inspect penguins.csv"
FIRST, FEWEST = 50, 40
MARK = re.compile(
    r"[?.*#/\\_-]+|#?n/?a\.?|n\.a\.?|nan|null|nil|none|missing|unknown|unk|not (?:known|available|recorded|reported|asked)|"
    r"no (?:data|answer|response)|refused|don'?t know|dk|tba|tbd",
    re.IGNORECASE,
)
"""Texts that say that a cell is missing."""
SHOWN = ("name", "role", "reason", "reading", "n_missing", "n_distinct", "low", "high", "mean", "std", "copied")
"""What is told of columns for programs."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    add_table(parser)
    add_columns(parser)
    group = parser.add_argument_group("kept for all commands, in tacit.toml beside the table")
    for name in ("label", "unit"):
        what = {"label": "title", "unit": "unit"}[name]
        group.add_argument(
            f"--{name}",
            type=_said,
            action="append",
            default=[],
            metavar="NAME=TEXT",
            help=f"the {what} of a column on pages",
        )
    group.add_argument(
        "--keep", action="store_true", help="keep roles (--as, --id), titles and units of the table's columns"
    )
    add_force(group)
    parser.add_argument("--all", action="store_true", help=f"show all columns, not the first {FIRST} only")


def run(arguments: Namespace) -> Outcome:
    """Survey, inspect, tell."""
    from ...study.missingness import diagnose_missing
    from ...tables.inspection import inspect_table

    table = open_asked(arguments)
    seen, missing = inspect_table(table), diagnose_missing(table)
    steps, shown = _next_steps(arguments, table), table.columns[: None if arguments.all else FIRST]
    recommended = _best_step(table, steps)
    summary = [_headline(table), *_rows(table, seen)]
    sections = [
        summary[0], _columns(table, shown), _outlying(table, seen), _section("Rows", summary[1:]), _patterns(table, seen),
        _why_missing(missing), _notes(table, shown), _recommended(recommended), _steps(steps),
    ]  # fmt: skip
    files = _keep(arguments, table)
    sections.append("\n".join(f"wrote {path}" for path in files))
    return Outcome(
        "\n\n".join(section for section in sections if section),
        _data(table, seen, steps, missing) | {"files": files, "recommended": recommended, "summary": summary},
    )


def _said(text: str) -> tuple[str, str]:
    name, _, told = text.partition("=")
    if not name or not told:
        raise ArgumentTypeError(f"{text!r} is not NAME=TEXT, such as mass='Body mass'")
    return name, told


def _keep(arguments: Namespace, table: DataTable) -> list[str]:
    """Keep what the options say of the table; the files written."""
    from ...tables.keeping import keep
    from ...tables.reader import meant

    if not arguments.keep:
        if arguments.label or arguments.unit:
            raise ValueError("--label and --unit are kept for pages; add --keep.")
        return []
    roles = dict(arguments.roles) | dict.fromkeys(arguments.id, "id")
    said = {"roles": roles, "labels": dict(arguments.label), "units": dict(arguments.unit)}
    known = [column.name for column in table.columns]
    lost = next((name for section in ("labels", "units") for name in said[section] if name not in known), None)
    if lost is not None:
        raise ValueError(f"{table.reader.place} has no column {lost!r}; {meant(lost, known)}")
    told: dict = {("tables", table.reader.name, section): entries for section, entries in said.items() if entries}
    if not told:
        raise ValueError(
            "--keep has nothing to keep; say roles with --as or --id, titles with --label, units with --unit."
        )
    return [keep(table.reader.folder, told, replace=arguments.force)]


def _section(title: str, lines: Sequence[str]) -> str:
    return "\n".join([title, *(f"  {line}" for line in lines)]) if lines else ""


def _headline(table: DataTable) -> str:
    from ...study.missingness import missing_claim

    cells = table.n_rows * len(table.columns)
    missing = sum(column.n_missing for column in table.columns)
    told = f"{missing:,} of {cells:,} cells missing ({share(missing / cells)})" if missing else "no cell missing"
    sentence = f"{table.reader.place}: {count(table.n_rows, 'row')}, {count(len(table.columns), 'column')}; {told}"
    return missing_claim("table", sentence, table, table.columns)


def _columns(table: DataTable, shown: Sequence[ColumnInfo]) -> str:
    from ...table import Table

    rows = [
        {
            "column": column.name, "taken as": column.role,
            "missing": f"{column.n_missing:,} ({share(column.n_missing / table.n_rows)})" if column.n_missing else "none",
            "values": _values(column),
            "because": column.reason if column.used else f"left out: {said(column.left_out).partition(';')[0]}",
        }
        for column in shown
    ]  # fmt: skip
    more = len(table.columns) - len(shown)
    return str(Table(rows)) + (
        f"\n… and {count(more, 'more column')}; --all shows {'it' if more == 1 else 'them'}" if more else ""
    )


def _values(column: Any) -> str:
    if column.counts:
        ordered = sorted(zip(column.counts, column.levels), key=lambda pair: -pair[0])
        shown = ", ".join(f"{level} ({times:,})" for times, level in ordered[:4])
        return shown + (f", {len(ordered) - 4} more" if len(ordered) > 4 else "")
    if column.low is not None and column.reading.startswith("date"):
        return f"{_date(column.low)} to {_date(column.high)}"
    if column.low is not None and column.role == "date":  # 20240131
        return f"{column.low:.0f} to {column.high:.0f}"
    if column.low is not None and column.cycle:
        return " to ".join(map(number, (column.low, column.high))) + f", around {number(column.cycle[1])}"
    if column.low is not None and column.role not in ("id", "code"):
        return " to ".join(map(number, (column.low, column.high))) + f", mean {number(column.mean, scale=column.std)}"
    return f"{column.n_distinct:,} different" if column.n_distinct else ""


def _date(days: float) -> str:
    import datetime

    return (datetime.date(1970, 1, 1) + datetime.timedelta(days=int(days // 1))).isoformat()


def _told(column: ColumnInfo, n_rows: int) -> str:
    """What is said of the values of a column, with the figures behind it."""
    text, line, name = f"{column.name}: {_values(column)}", "", column.name
    figures: dict[str, Any] = {}
    if column.counts:
        ordered = sorted(zip(column.counts, column.levels), key=lambda pair: -pair[0])[:4]
        figures = {level: int(times) for times, level in ordered}
        line = ", ".join(f"{level!r}: int({having(name, [level])}.sum())" for level in figures)
    elif column.mean is not None and column.low is not None and column.role in ("measurement", "count"):
        figures = {"low": column.low, "high": column.high, "mean": column.mean}
        means = {"low": "min", "high": "max", "mean": "mean"}
        line = ", ".join(f"{key!r}: float(table[{name!r}].{means[key]}())" for key in figures)
    line = f"{{{line}}}" if line and column.reading in ("number", "text") and not column.notes else ""
    return Claim.of("values", text, f"counted in all {count(n_rows, 'row')}", figures, line) if figures else text


def _outlying(table: DataTable, seen: Any) -> str:
    from ...table import Table
    from ...tables.inspection import SAMPLE

    if not seen.outlying:
        return ""
    rows = [
        {
            "column": found["column"], "cells": found["n"], "median": number(found["median"]),
            "most extreme": number(found["value"]), "in row": found["row"],
        }
        for found in seen.outlying[:10]
    ]  # fmt: skip
    sampled = f" of {SAMPLE:,} rows drawn at random" if table.n_rows > SAMPLE else ""
    return str(Table(rows, f"Outlying cells, more than 5 robust deviations from the median{sampled}"))


def _rows(table: DataTable, seen: Any) -> list[str]:
    lines: list[str] = []
    basis = f"counted in all {count(table.n_rows, 'row')}"
    if seen.n_repeated:
        about = "" if seen.repeated_exact else "about "
        verb = "repeats" if seen.n_repeated == 1 else "repeat"
        sentence = f"{about}{count(seen.n_repeated, 'row')} {verb} an earlier row in every column"
        plain = seen.repeated_exact and all(column.reading in ("number", "text") for column in table.columns)
        line = "{'repeated': int(table.duplicated().sum())}" if plain else ""
        basis = (
            basis
            if seen.repeated_exact
            else f"counted in a part of {count(table.n_rows, 'row')}, chosen by their cells"
        )
        lines.append(Claim.of("repeated", sentence, basis, {"repeated": seen.n_repeated}, line))
    if seen.n_blank:
        sentence = f"{count(seen.n_blank, 'row')} without any value" + (" but the id" if table.ids else "")
        lines.append(
            Claim.of("blank", sentence, f"counted in all {count(table.n_rows, 'row')}", {"blank": seen.n_blank})
        )
    return lines


def _patterns(table: DataTable, seen: Any) -> str:
    if not any(pattern["missing"] for pattern in seen.patterns):
        return ""
    lines = []
    for pattern in seen.patterns:
        names = pattern["missing"]
        told = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        lines.append(
            f"  {count(pattern['n_rows'], 'row'):>12} ({share(pattern['n_rows'] / table.n_rows)}): {told or 'complete'}"
        )
    more = seen.n_patterns - len(seen.patterns)
    return "\n".join(["Missing together", *lines] + ([f"  and {count(more, 'more pattern')}"] if more else []))


def _why_missing(missing: list) -> str:
    """Why cells are missing: what was found column by column, and in one line the columns of which nothing was."""
    lines = [f"  {each.text}" for each in missing if each.kind not in ("unrelated", "few")]
    for kind, what in (("unrelated", "no relation to other columns was found"), ("few", "too few cells to say")):
        names = [each.column for each in missing if each.kind == kind]
        told = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
        lines += [f"  {told}: {what}"] if names else []
    return "\n".join(["Why cells are missing", *lines]) if lines else ""


def _notes(table: DataTable, shown: Sequence[ColumnInfo]) -> str:
    lines = [f"  {said(note)}" for note in table.notes]
    lines += [f"  {column.name}: {said(note)}" for column in shown for note in column.notes]
    return "Notes\n" + "\n".join(lines) if lines else ""


def _next_steps(arguments: Namespace, table: DataTable) -> list[dict]:
    """What to do next, as sentences with the command that does it."""
    from ...tables.advice import rating_columns, text_column

    options = table_options(
        arguments, missing=_marks(table), ignore=[column.name for column in table.used if column.copied]
    )
    used = [column for column in table.used if not column.copied]
    steps = []
    plain = Namespace(**{**vars(arguments), "roles": [], "columns": None, "ignore": None, "id": None})
    if rating_columns(table) is not None:
        steps.append({"why": "to recommend items to users", "command": f"tacit recommend {table_options(plain)}"})
    if (prose := text_column(table)) is not None:
        command = f"tacit topics {table_options(plain)} --text {shlex.quote(prose)}"
        steps.append({"why": f"to find what the texts of {prose} are about", "command": command})
    if not used:
        return steps or [{"why": "no column can be used yet; say in which role one is to be taken, such as",
                 "command": f"tacit inspect {options} {_role_option(table)}"}]  # fmt: skip
    if any(column.n_missing for column in used):
        steps.append({"why": "to impute the missing values only", "command": f"tacit impute {options}"})
    if sum(column.role in ("measurement", "count") for column in used) >= 4:
        steps.append({"why": "to see what lies behind the numbers", "command": f"tacit reduce {options}"})
    more = " and impute the missing values" if any(column.n_missing for column in used) else ""
    steps.append({"why": f"to find groups of rows{more}", "command": f"tacit fit {options}"})
    dated = next((column.name for column in table.columns if column.role == "date"), None)
    if dated is not None and table.n_rows >= FEWEST:
        command = f"tacit compare {options} --time {shlex.quote(dated)}"
        steps.append({"why": f"to see what changed with {dated}", "command": command})
        command = f"tacit segment {options} --time {shlex.quote(dated)}"
        steps.append({"why": "to find regimes, if rows are steps of a series", "command": command})
    return steps


def _best_step(table: DataTable, steps: list[dict]) -> dict | None:
    """The command that fits the table best, and why."""
    from ...tables.advice import advise

    verb, because = advise(table)
    command = next((step["command"] for step in steps if step["command"].startswith(f"tacit {verb} ")), None)
    return {"command": command, "because": because} if command else None


def _recommended(step: dict | None) -> str:
    return f"Recommended\n  {step['command']}\n  because {step['because']}" if step else ""


def _role_option(table: DataTable) -> str:
    """The option that a note advises, so that a column can be used; a category for want of any note."""
    advised = (note.values.get("option") for column in table.columns for note in column.notes)
    found = next((option for option in advised if option is not None and option.name == "roles"), None)
    return as_typed(found or Option("roles", (table.columns[0].name, "category")))


def _marks(table: DataTable) -> list[str]:
    """What surely stands for missing cells: words for it, and numbers far from all others.

    The option is for all columns, so that a mark of one must not be a value of another.
    """
    found: dict[str, str] = {}
    for column in table.used:
        for note in column.notes:
            option = note.values.get("option")
            if note.code in ("sentinel", "strangers") and option is not None:
                texts = [option.value] if isinstance(option.value, str) else list(option.value)
                found |= {
                    text: column.name for text in texts if note.code == "sentinel" or MARK.fullmatch(text.strip())
                }
    return [
        text
        for text, name in found.items()
        if not any(_may_hold(column, text) for column in table.columns if column.name != name)
    ]


def _may_hold(column: ColumnInfo, text: str) -> bool:
    """Whether a text may be a value of a column."""
    if text in column.levels:
        return True
    try:
        value = float(text)
    except ValueError:
        return False
    marked = any(note.code == "sentinel" and note.values.get("value") == value for note in column.notes)
    return column.low is not None and column.high is not None and column.low <= value <= column.high and not marked


def _steps(steps: list[dict]) -> str:
    width = max(len(step["why"]) for step in steps) + 1
    return "Next\n" + "\n".join(f"  {step['why'] + ':':<{width}} {step['command']}" for step in steps)


def _data(table: DataTable, seen: Any, steps: list[dict], missing: list) -> dict:
    columns = [
        {name: getattr(column, name) for name in SHOWN}
        | {"left_out": column.left_out}
        | {
            "levels": dict(zip(column.levels, column.counts)),
            "notes": column.notes,
            "values": _told(column, table.n_rows),
        }
        for column in table.columns
    ]
    return {
        "table": table.reader.place, "rows": table.n_rows, "n_rows": table.n_rows, "columns": columns,
        "notes": table.notes,
        "outlying": [{key: found[key] for key in ("column", "n", "median", "value", "row")} for found in seen.outlying],
        "repeated_rows": seen.n_repeated, "repeated_rows_exact": seen.repeated_exact, "blank_rows": seen.n_blank,
        "patterns": seen.patterns, "n_patterns": seen.n_patterns, "missingness": [asdict(each) for each in missing],
        "next": steps,
    }  # fmt: skip
