"""What commands that learn from a table share: names of results, notes in model files, the page, what is said at the end."""

import os

__all__ = ["FILES", "name_of", "notes_of", "outputs_of", "told", "write_page"]

FILES = {
    "groups": "the group of each row, with probabilities",
    "filled": "the table with its missing cells filled in",
    "cells": "each filled cell with its interval or probability",
}
"""Tables that are written, and what they hold."""


def name_of(arguments, table, folder, what):
    """Path of a table of results: NAME.WHAT.csv, or .parquet or .tsv where that was asked for or read."""
    is_tsv = _is_tsv(str(getattr(table.reader, "path", "")).lower())
    ending = arguments.format or ("tsv" if is_tsv else table.reader.format)
    return os.path.join(folder, f"{table.reader.name}.{what}.{ending}")


def _is_tsv(path):
    return path.endswith((".tsv", ".tsv.gz", ".tsv.bz2", ".tsv.xz"))


def outputs_of(arguments, table):
    """Where results are written: text with the separator and the decimal mark of the text that was read."""
    from ...tables import Outputs

    separator = getattr(table.reader, "separator", ",")
    if arguments.format and _is_tsv(str(getattr(table.reader, "path", "")).lower()):
        separator = ","
    return Outputs(separator, table.decimal)


def notes_of(command, table, arguments, selection, settings):
    """What a model file says about the table it was learned from, so that another is read in the same way."""
    columns = [column.saved() for column in table.used]
    file = os.path.basename(getattr(table.reader, "path", ""))
    return {
        "command": command, "table": {"name": table.reader.name, "file": file, "columns": columns}, "seed": arguments.seed,
        "selection": selection, "settings": settings,
    }  # fmt: skip


def write_page(outputs, path, findings):
    """Write the page of findings, in the command's words."""
    from dataclasses import replace

    from ...report.page import render
    from ..voice import said

    columns = tuple(
        replace(column, notes=tuple(map(said, column.notes)), left_out=said(column.left_out))
        for column in findings.columns
    )
    findings = replace(findings, columns=columns)
    with open(outputs.file(path), "w", encoding="utf-8") as file:
        file.write(render(findings))


def told(table, findings, title, rows, files):
    """What was found, for people: the columns, the summary, a table of numbers, the limits, the files."""
    from ..console import grid, heading, paragraph
    from ..telling import columns_text, wrote

    numbers = grid(rows, right=range(1, len(rows[0]))) if len(rows) > 1 else []
    parts = [
        columns_text(table),
        [heading("In short"), *(paragraph(sentence, "  ") for sentence in findings.summary)],
        [heading(title), *numbers] if numbers else [],
        [heading("Bear in mind"), *(paragraph(f"- {sentence}", "  ") for sentence in findings.limits)],
        wrote(files),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)
