"""What commands that apply a model to a table share: names of results, writing them, notes in model files, the page."""

import os
from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import Any

from ..common import DataTable, Findings, is_tsv, opened_outputs, result_path

__all__ = [
    "FILES",
    "Tables",
    "outputs_of",
    "told_parts",
    "with_labels",
    "worded",
    "write_learned",
    "write_model",
    "write_page",
    "write_tables",
    "write_text",
]

FILES = {
    "groups": "the group of each row, with probabilities",
    "filled": "the table with its missing cells filled in",
    "cells": "each filled cell with its interval or probability",
}
"""Tables that are written, and what they hold."""
Tables = Mapping[str, tuple[str, Callable | dict]]
"""Tables of results by name: what each holds, and its columns or what makes them of a part of the rows."""


def outputs_of(arguments: Namespace, folder: str, table: DataTable) -> Any:
    """Where results are written: text with the separator and the decimal mark of the text that was read."""
    separator = "," if arguments.format and is_tsv(table.reader) else getattr(table.reader, "separator", ",")
    return opened_outputs(arguments, folder, separator, table.decimal)


def write_tables(arguments: Namespace, folder: str, outputs: Any, results: Any, tables: Tables) -> dict[str, str]:
    """Write tables of results, NAME.VERB.WHAT.csv, or as was asked for or read; say what each path is."""
    files = {}
    for name, (what, make) in tables.items():
        path = result_path(arguments, results.table.reader, folder, name)
        files[path] = what
        if isinstance(make, dict):
            outputs.table(path).write(make)
        else:
            results.add(outputs.table(path), make)
    results.write()
    return files


def write_learned(
    arguments: Namespace, folder: str, results: Any, findings: Findings, tables: Tables,
    selection: list[dict], settings: dict, more: dict | None = None,
) -> dict[str, str]:  # fmt: skip
    """Write tables of results, the model and its page: everything or nothing. Returns what each file is, by path."""
    from ... import save

    table, command = results.table, arguments.command
    model, page = (result_path(arguments, table.reader, folder, ending) for ending in ("tacit", "html"))
    # A table for the model is read in the same way again.
    columns, file = [column.saved() for column in table.used], os.path.basename(getattr(table.reader, "path", ""))
    notes = {
        "command": command, "table": {"name": table.reader.name, "file": file, "columns": columns}, "seed": arguments.seed,
        "selection": selection, "settings": settings, **(more or {}),
    }  # fmt: skip
    with outputs_of(arguments, folder, table) as outputs:
        files = write_tables(arguments, folder, outputs, results, tables)
        save(results.model, outputs.file(model), notes=notes)
        files[model] = "the model"
        if not arguments.no_report:
            write_page(outputs, page, with_labels(findings, table.reader))
            files[page] = "the report; open it in a browser"
    return files


def write_model(
    arguments: Namespace, folder: str, outputs: Any, table: DataTable, model: Any, columns: list, settings: dict,
    render: Callable[[], str],
) -> dict[str, str]:  # fmt: skip
    """Write a model, with the columns that it was learned from, and its page; say what each path is."""
    from ... import save

    path, page = (result_path(arguments, table.reader, folder, ending) for ending in ("tacit", "html"))
    file = os.path.basename(getattr(table.reader, "path", "")) if table.reader.name != "stdin" else ""
    told = {"name": table.reader.name, "file": file, "columns": [column.saved() for column in columns]}
    notes = {"command": arguments.command, "seed": arguments.seed, "settings": settings, "table": told}
    save(model, outputs.file(path), notes=notes)
    files = {path: "the model, for new rows"}
    if not arguments.no_report:
        write_text(outputs, page, render)
        files[page] = "the page; open it in a browser"
    return files


def told_parts(
    choice: Any, found: Any, head: str, told: list[str], rest: list[list[str]], files: dict[str, str]
) -> str:
    """What was found of a table, for people: columns, those left out, the summary, further parts, limits and files."""
    from ..console import heading, paragraph
    from ..telling import wrote
    from ..voice import said

    told = [*told, f"columns: {', '.join(f'{column.name} ({column.role})' for column in choice.table.used)}"]
    used = {column.name for column in choice.table.used} | {getattr(found, "target", None)}
    left = [f"{column.name} ({said(column.left_out)})" for column in choice.table.columns if column.name not in used]
    told += [f"left out: {'; '.join(left)}"] if left else []
    told += [f"note: {said(each)}" for each in found.notes]
    limits = [paragraph(f"- {said(each)}", "  ") for each in found.limits]
    parts = [
        [heading(head), *(paragraph(line, "  ") for line in told)],
        [heading("In short"), *(paragraph(said(sentence), "  ") for sentence in found.summary)],
        *rest,
        [heading("Bear in mind"), *limits] if limits else [],
        wrote(files),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def with_labels(findings: Findings, reader: Any) -> Findings:
    """Findings with the titles and units of columns that the `tacit.toml` beside the table keeps."""
    from dataclasses import replace

    from ...tables.keeping import read_kept

    kept = read_kept(reader.folder, reader.name)
    return replace(findings, labels=kept.labels | findings.labels, units=kept.units | findings.units)


def write_page(outputs: Any, path: str, findings: Findings) -> None:
    """Write the page of findings, in the command's words."""
    from dataclasses import replace

    from ...report.page import render
    from ..voice import said, spoken

    columns = tuple(
        replace(column, notes=tuple(map(said, column.notes)), left_out=said(column.left_out))
        for column in findings.columns
    )
    summary, limits = (list(map(spoken, each)) for each in (findings.summary, findings.limits))
    worded = replace(findings, columns=columns, summary=summary, limits=limits)
    write_text(outputs, path, lambda: render(worded))


def write_text(outputs: Any, path: str, make: Callable[[], str]) -> None:
    """Write a page, made once its file is there: what goes wrong is said of that file."""
    with open(outputs.file(path), "w", encoding="utf-8", newline="\n") as file:
        file.write(make())


def worded(found: Any) -> Any:
    """Findings with their notes, summary and limits in the command's words."""
    from dataclasses import replace

    from ..voice import said, spoken

    summary, limits = (list(map(spoken, each)) for each in (found.summary, found.limits))
    return replace(found, notes=tuple(map(said, found.notes)), summary=summary, limits=limits)
