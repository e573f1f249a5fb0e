"""`survey`: what the columns of a table hold, found out in one pass over all its rows."""

from __future__ import annotations

import dataclasses

from ..frames import Batch
from ..survey.column import ColumnInfo
from ..survey.describe import Asked, describe
from ..survey.roles import says_id
from ..survey.tally import Tally
from .copies import MOST_ROWS, note_copies
from .reader import Reader

__all__ = ["survey", "tally_columns"]


def survey(reader: Reader, asked: Asked) -> tuple[tuple[ColumnInfo, ...], int]:
    """The columns of a table, and the number of its rows."""
    tallies, first, n_rows = tally_columns(reader)
    infos = [describe(tally, asked, reader.odd.get(name)) for name, tally in tallies.items()]
    if not any(info.used for info in infos):
        infos = [_rescued(info, tallies[info.name], asked) for info in infos]
    return note_copies(tuple(infos), first), n_rows


def _rescued(info: ColumnInfo, tally: Tally, asked: Asked) -> ColumnInfo:
    """A column of numbers that look like those of rows, but do not say so, where there is no other to use."""
    if info.role != "id" or info.reading != "number" or says_id(info.name):
        return info
    if info.name in asked.roles or info.name in asked.ignore or asked.columns is not None:
        return info
    return describe(tally, dataclasses.replace(asked, roles={**asked.roles, info.name: "measurement"}))


def tally_columns(reader: Reader) -> tuple[dict[str, Tally], list[Batch], int]:
    """A `Tally` of every column by name, the first batches, and the number of rows."""
    first_of_several = reader.names[0] if len(reader.names) > 1 else None
    tallies = {name: Tally(name, leads=name == first_of_several) for name in reader.names}
    first: list[Batch] = []
    n_rows = 0
    for batch in reader.batches():
        if n_rows < MOST_ROWS:
            first.append(batch)
        n_rows += batch.n_rows
        for name, cells in batch.items():
            tallies[name].add(cells)
    if not n_rows:
        raise ValueError(f"{reader.place} has no rows; at least one is needed.")
    return tallies, first, n_rows
