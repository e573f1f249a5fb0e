"""Say why a row is in its group: which of its cells speak for the group and which against, and which typical rows are nearest.

ROW is a number from 1, NAME=VALUE of a column that says which row it is, the value of an id, or a file whose rows are explained
one by one. The table is looked for beside the model where it is not given. The evidence of a cell is the logarithm of how many
times likelier it makes the row's group than the next likeliest one; all of them and that of the groups' sizes add up to the odds
of the two groups. Of a model of `tacit recommend`, ROW is a user and what follows an item, and the parts of the expected rating
are told. Nothing is written.
"""

import os
from argparse import ArgumentParser, Namespace
from typing import Any

from ..common import DataTable, add_table, add_unknown, reading_asked
from ..outcome import Outcome
from ..parser import whole_number
from ..saved import beside, open_like, open_model

HELP = "say why a row is in its group"
EXAMPLE = "tacit explain penguins.fit.tacit 17"
MOST = 20
"""Rows of a file that are explained."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "model", metavar="MODEL", help="the model that tacit fit or tacit recommend wrote: NAME.fit.tacit"
    )
    parser.add_argument(
        "row",
        metavar="ROW",
        help="number of the row, NAME=VALUE, the value of an id, or a file of rows; or a user, before an item",
    )
    add_table(parser)
    group = parser.add_argument_group("model")
    help = "the group to compare with (the next likeliest)"
    group.add_argument("--group", type=whole_number("--group", 2, 1), metavar="K", help=help)
    add_unknown(group)


def run(arguments: Namespace) -> Outcome:
    """Read, explain, tell."""
    from ...study.explanation import explain_rows
    from ..console import grid, heading, paragraph

    model, noted = open_model(arguments.model)
    if model._study == "ratings":
        return _pair(arguments, model, noted)
    if model._study != "groups":
        raise ValueError(
            f"{arguments.model} has no groups to explain: it is a {type(model).__name__}; use a model of tacit fit."
        )
    from ...words import signed

    table, among, rows = _opened(arguments, model, noted)
    found = explain_rows(model._for_study(), table, rows, among=among, other=arguments.group)
    text: list[str] = []
    for each in found:
        lines = [["column", "cell", "evidence", f"group {each.group}", f"group {each.other}"]]
        lines += [_line(cell) for cell in each.cells]
        if each.other:
            lines += [
                ["sizes of the groups", "", signed(each.prior), "", ""],
                ["sum", "", signed(each.evidence), "", ""],
            ]
        ids = ", ".join(f"{name} {value}" for name, value in each.ids.items())
        text += [heading(f"Row {each.row}{f' ({ids})' if ids else ''}"), paragraph(each.words, "  ")]
        text += [*(grid(lines, right=(2, 3, 4)) if each.cells else []), ""]
    more = (
        f"the first {MOST} of {table.n_rows:,} rows are explained" if table is not among and table.n_rows > MOST else ""
    )
    data = {"table": table.reader.name, "rows": table.n_rows, "explained": [_data(each) for each in found], "files": []}
    notes = list(map(str, table.notes)) + ([more] if more else [])
    text += [paragraph(f"note: {note}") for note in notes]
    return Outcome("\n".join(text).rstrip(), data | {"summary": [each.words for each in found], "notes": notes})


def _pair(arguments: Namespace, model: Any, noted: dict) -> Outcome:
    """Why a user is expected to rate an item as told."""
    from dataclasses import asdict

    from ...study.reasons import explain_pair
    from ...words import number, signed
    from ..console import grid, heading, paragraph

    if not arguments.file:
        raise ValueError(
            f"{arguments.model} is a recommender, which explains a pair; name the item after the user: tacit explain "
            f"{arguments.model} {arguments.row} ITEM."
        )
    if arguments.group:
        raise ValueError("--group is for groups, and this is a recommender; leave it out.")
    found = explain_pair(model, arguments.row, arguments.file, _names(arguments, model, noted))
    rows = [
        ["part", "rating"],
        *([name, number(value, 4) if name == "all ratings" else signed(value)] for name, value in found.parts.items()),
    ]
    rows.append(["sum", number(found.total, 4)])
    because = [["rated by the user", "rating", "adds"]] + [
        [name, number(rated), signed(adds, 3)] for _, rated, adds, name in found.because
    ]
    text = [heading(f"User {found.user}, item {found.item}"), paragraph(found.words, "  "), *grid(rows, right=(1,))]
    text += ["", *grid(because, right=(1, 2))] if len(because) > 1 else []
    data = {
        "table": None,
        "rows": None,
        "explained": [],
        "pair": asdict(found),
        "files": [],
        "summary": [found.words],
        "notes": found.notes,
    }
    return Outcome("\n".join([*text, *(paragraph(f"note: {each}") for each in found.notes)]), data)


def _names(arguments: Namespace, model: Any, noted: dict) -> Any:
    """What items are called, where the model notes it and the table is there."""
    from ..ratings import noted_names, ratings_asked

    settings, table = noted.get("settings", {}), None
    if settings.get("label") and not settings.get("items"):
        try:
            file = beside(arguments.model, noted, "")
            table = ratings_asked(Namespace(**vars(arguments) | {"file": file}))
        except ValueError:
            return None
    return noted_names(arguments.model, table, settings, model.items_)


def _line(cell: dict) -> list[str]:
    from ...words import number, share, signed

    worded = share if cell["level"] else number
    value = cell["value"] if isinstance(cell["value"], str) else number(cell["value"])
    return [cell["column"], value, signed(cell["evidence"]), worded(cell["here"]), worded(cell["there"])]


def _data(each: Any) -> dict:
    from dataclasses import asdict

    return asdict(each) | {"evidence": each.evidence}


def _opened(arguments: Namespace, model: Any, noted: dict) -> tuple[DataTable, DataTable | None, list[int]]:
    """The table of the rows, that of typical rows, and the numbers of the rows."""
    place, reading = reading_asked(arguments)
    if os.path.isfile(arguments.row):
        rows = open_like(model, noted, arguments.row, reading, unknown=arguments.unknown)
        try:
            kept = place or beside(arguments.model, noted, "")
        except ValueError:
            return rows, None, list(range(1, min(rows.n_rows, MOST) + 1))
        among = open_like(model, noted, kept, reading if place else {}, unknown=arguments.unknown)
        return rows, among, list(range(1, min(rows.n_rows, MOST) + 1))
    place = place or beside(arguments.model, noted, f"explain {arguments.model} {arguments.row}")
    table = open_like(model, noted, place, reading, unknown=arguments.unknown)
    return table, table, [_number(table, arguments.row)]


def _number(table: DataTable, text: str) -> int:
    """The row that a text means."""
    if text.isdigit():
        return int(text)
    name, _, value = text.rpartition("=")
    names = [name] if name else table.ids
    known = [column.name for column in table.columns]
    if name and name not in known:
        from ...tables.reader import meant

        raise ValueError(f"{table.reader.place} has no column {name!r}, which {text!r} names; {meant(name, known)}")
    start, found = 0, []
    for batch in table.batches():
        for each in names:
            same = (i for i, cell in enumerate(batch[each].originals()) if cell is not None and str(cell) == value)
            found += [start + i + 1 for i in same]
        start += batch.n_rows
    if not found:
        where = f"in {', '.join(map(repr, names))}" if names else "as it has no column of ids"
        raise ValueError(
            f"{table.reader.place} has no row {value!r} {where}; give a row by its number, or as NAME=VALUE."
        )
    if len(set(found)) > 1:
        raise ValueError(
            f"{len(found):,} rows have {text!r}, the first of them {found[0]} and {found[1]}; give one by its number."
        )
    return found[0]
