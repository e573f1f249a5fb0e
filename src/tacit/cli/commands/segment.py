"""Find regimes of a series or of many, say how long they last, forecast, and fill missing steps.

Reads a table with a row for each step; --time names the column of times (found where there is one of dates) and --sequence the
column that tells series apart. Steps that regular times leave out are missing steps; irregular times are taken as they are, in
continuous time. Writes beside the table: NAME.segment.segments.csv (start, end, length and regime of each segment),
NAME.segment.steps.csv (each step's regime with probabilities, and its values with missing ones filled in),
NAME.segment.filled.csv (the table, imputed), NAME.segment.cells.csv (each filled cell with its interval or probability),
NAME.segment.forecast.csv (steps ahead with intervals), NAME.segment.tacit (the model, for `tacit predict`) and NAME.segment.html
(a page: the series in the colours of its regimes, probabilities, moves, forecast, checks).
"""

import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import Any

from ..common import (
    add_budget,
    add_columns,
    add_family,
    add_output,
    add_table,
    families_asked,
    open_usable,
    page_asked,
    probability,
    result_path,
    whole_range,
)
from ..outcome import Outcome
from ..parser import whole_number

HELP = "find regimes of series, forecast them, fill missing steps"
EXAMPLE = "tacit segment earthquakes.csv --forecast 10"
TAKES = ("sequence", "time")
TABLES = {
    "segments": "each segment's start, end, length and regime", "steps": "each step's regime, with probabilities, and values",
    "filled": "the table with its missing cells filled in", "cells": "each filled cell with its interval or probability",
    "forecast": "steps ahead, with intervals",
}  # fmt: skip
AHEAD = 12


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    add_table(parser)
    add_columns(parser)
    group = parser.add_argument_group("model")
    group.add_argument(
        "--states", type=whole_range, metavar="A-B",
        help="numbers of regimes to try, the one with the least BIC is taken (1-6, or fewer where rows are)",
    )  # fmt: skip
    group.add_argument(
        "--duration", type=_duration, metavar="D",
        help="how long regimes last: at least so many steps (5), a sum of r geometric lengths (negative_binomial:3), or any "
        "distribution up to a longest stay (any:30); geometric by default",
    )  # fmt: skip
    group.add_argument(
        "--forecast",
        type=whole_number("--forecast", AHEAD, 0),
        default=AHEAD,
        metavar="H",
        help=f"steps ahead, or 0 for none ({AHEAD})",
    )
    group.add_argument(
        "--interval", type=probability, default=0.9, metavar="P", help="probability of the intervals (0.9)"
    )
    add_family(parser)
    add_budget(parser)
    add_output(parser, page=True)


def _duration(text: str) -> int | tuple[str, int]:
    found = re.fullmatch(r"(?:(negative_binomial|any):)?([1-9]\d{0,3})", text)
    if not found:
        raise ArgumentTypeError(f"{text!r} is no length of stay such as 5, negative_binomial:3 or any:30")
    return (found[1], int(found[2])) if found[1] else int(found[2])


def run(arguments: Namespace) -> Outcome:
    """Read the table, choose and learn a model, write."""
    from ...sequence.choice import find_regimes
    from ..progress import Progress

    results = [name for name in TABLES if name != "forecast" or arguments.forecast]
    table, folder = open_usable(arguments, [*results, "tacit", *page_asked(arguments)])
    with Progress(arguments.quiet) as progress:
        progress.show(None, "looking for regimes")
        choice = find_regimes(
            table, sequence=arguments.sequence, time=arguments.time, states=arguments.states, duration=arguments.duration,
            families=families_asked(arguments), level=arguments.interval, seed=arguments.seed, budget=arguments.budget,
            on_try=lambda what: progress.show(None, what),
        )  # fmt: skip
        progress.show(None, "looking at the regimes")
        found = choice.study(n_ahead=arguments.forecast, seed=arguments.seed)
        progress.show(None, "writing")
        files = _write(arguments, choice, found, folder, results)
    return Outcome(_text(choice, found, files), _data(choice, found, files))


def _write(arguments: Namespace, choice: Any, found: Any, folder: str, names: list[str]) -> dict[str, str]:
    """Write the tables, the model and the page: everything or nothing. Returns what each file is, by path."""
    import os

    from ... import save
    from ...report.segment import render_regimes
    from ._results import outputs_of, worded, write_tables, write_text

    table = choice.table
    settings = {
        "sequence": choice.model.sequence, "time": choice.model.time, "level": arguments.interval, "forecast": arguments.forecast,
        "n_rows": table.n_rows,
    }  # fmt: skip
    file = os.path.basename(getattr(table.reader, "path", "")) if table.reader.name != "stdin" else ""
    notes = {
        "command": "segment", "seed": arguments.seed, "selection": choice.selection, "settings": settings,
        "table": {"name": table.reader.name, "file": file, "columns": [column.saved() for column in table.used]},
    }  # fmt: skip
    model, page = (result_path(arguments, table.reader, folder, ending) for ending in ("tacit", "html"))
    with outputs_of(arguments, folder, table) as outputs:
        files = write_tables(arguments, folder, outputs, *made_tables(arguments, choice.model, table, found, names))
        save(choice.model, outputs.file(model), notes=notes)
        files[model] = "the model, for new series"
        if not arguments.no_report:
            write_text(outputs, page, lambda: render_regimes(worded(found)))
            files[page] = "the page; open it in a browser"
    return files


def made_tables(arguments: Namespace, model: Any, table: Any, found: Any, names: list[str]) -> tuple[Any, dict]:
    """Tables of regimes as `write_tables` takes them, and the results that write those of a line for each row."""
    from . import _regimes

    results = _regimes.RegimeResults(model, table, found, typed=arguments.format == "parquet")
    made = {
        name: (TABLES[name], results.filled if name == "filled" else getattr(_regimes, f"{name}_columns")(found))
        for name in names
    }
    return results, made


# What is told


def _text(choice: Any, found: Any, files: dict[str, str]) -> str:
    from ...words import count
    from ..console import heading, paragraph
    from ..telling import wrote
    from ..voice import said

    table, model = choice.table, choice.model
    head = f"{found.title}: {count(found.n_rows, 'row')}, {count(found.segmentation.n_sequences, 'series', 'series')}"
    roles = [
        f"{name} ({role})" for role, name in (("sequence", model.sequence), ("time", model.time)) if name is not None
    ]
    told = [f"columns: {', '.join([*(f'{column.name} ({column.role})' for column in table.used), *roles])}"]
    told += [f"note: {said(each)}" for each in found.notes]
    parts = [
        [heading(head), *(paragraph(line, "  ") for line in told)],
        [heading("In short"), *(paragraph(said(sentence), "  ") for sentence in found.summary)],
        _moves(found), _ahead(found),
        [heading("Bear in mind"), *(paragraph(f"- {said(each)}", "  ") for each in found.limits)] if found.limits else [],
        wrote(files),
    ]  # fmt: skip
    return "\n\n".join("\n".join(part) for part in parts if part)


def _moves(found: Any) -> list[str]:
    from ...words import share
    from ..console import grid, heading

    if len(found.regimes) < 2:
        return []
    rows = [["from", "lasts on average", *(f"to {regime.number}" for regime in found.regimes)]]
    for regime, row in zip(found.regimes, found.moves):
        cells = ["-" if regime.number == k or not regime.n_left else share(float(p)) for k, p in enumerate(row, 1)]
        rows.append([f"regime {regime.number}", regime.lasts or "never left", *cells])
    return [heading("Moves"), *grid(rows, right=range(2, len(rows[0])))]


def _ahead(found: Any) -> list[str]:
    """The first steps ahead of the first series."""
    from ...words import number
    from ..console import grid, heading

    ahead = found.forecast
    numbers = [j for j, column in enumerate(found.columns) if not column.levels][:4]
    if ahead is None or not numbers or found.segmentation.n_sequences > 1:
        return []
    rows = [["when", *(str(found.columns[j].name) for j in numbers)]]
    for h, when in enumerate(found.times_ahead(0)[:6]):
        ends = ([number(float(part[0, h, j]), 4) for part in (ahead.mean, ahead.low, ahead.high)] for j in numbers)
        rows.append(
            [number(when, 8) if isinstance(when, float) else str(when), *(f"{a} ({b} to {c})" for a, b, c in ends)]
        )
    return [heading("Ahead"), *grid(rows, right=range(1, len(rows[0])))]


def _data(choice: Any, found: Any, files: dict[str, str]) -> dict:
    from dataclasses import asdict

    segments, ahead = found.segmentation, found.forecast
    return {
        "table": found.title, "rows": found.n_rows, "columns": [column.name for column in choice.table.used],
        "sequence": choice.model.sequence, "time": choice.model.time, "sequences": segments.n_sequences, "steps": len(segments),
        "unit": found.unit, "continuous_time": choice.model.continuous_time, "segments": len(segments.segment_states),
        "regimes": [asdict(regime) for regime in found.regimes], "moves": found.moves, "sure": found.sure,
        "missing": found.n_missing, "left_out": found.n_left_out,
        "ahead": None if found.ahead is None else asdict(found.ahead),
        "hidden": None if found.hidden is None else asdict(found.hidden),
        "forecast": None if ahead is None else {
            name: getattr(ahead, name) for name in ("mean", "low", "high", "probability", "states", "interval")
        },
        "selection": found.selection, "summary": found.summary, "limits": found.limits, "notes": list(found.notes),
        "files": list(files),
    }  # fmt: skip
