"""Rows of a table that a study keeps: those that a page shows, and those that stand out most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..impute.trial import filled_cells
from ..tables import DataTable
from .findings import Sample

__all__ = ["TopRows", "take_sample"]

MOST_ROWS = 2000


def take_sample(
    model: Any,
    table: DataTable,
    *,
    level: float = 0.9,
    most: int = MOST_ROWS,
    seed: int = 0,
    encode: Callable | None = None,
) -> Sample:
    """Draw at most so many rows of a table, as they were read and with their missing cells filled in.

    `encode` makes the cells that the model uses of a batch; default as the table's own schema does.
    """
    rows, batch = table.sample(most, seed)
    shown = {name: cells.objects.tolist() for name, cells in batch.items()}
    encoded = (encode or table.schema.encode)(batch)
    return Sample(rows + 1, shown, encoded, *filled_cells(model, table, encoded, level))


class TopRows:
    """The rows of a table that come first by a key, at most so many, kept while all go by, and how many there are in all."""

    def __init__(self, most: int):
        self.most, self.n_rows = most, 0
        self.kept: list[tuple[float, dict]] = []

    def add(self, key: np.ndarray, chosen: np.ndarray, describe: Callable[[int], dict]) -> None:
        """Take in the rows that are `chosen`; `describe` of a row's place makes what is kept of it."""
        places = np.flatnonzero(chosen)
        self.n_rows += len(places)
        first = places[np.argsort(key[places], kind="stable")[: self.most]]
        found = [*self.kept, *((float(key[place]), describe(place)) for place in first)]
        self.kept = sorted(found, key=lambda each: each[0])[: self.most]  # ties go by the order of the table

    @classmethod
    def merged(cls, parts: list[TopRows], most: int) -> TopRows:
        """The rows of several that come first, and how many there are in all."""
        made = cls(most)
        made.n_rows = sum(part.n_rows for part in parts)
        every = [each for part in parts for each in part.kept]
        made.kept = sorted(every, key=lambda each: (each[0], each[1].get("row", 0)))[:most]
        return made

    @property
    def rows(self) -> list[dict]:
        """What is kept, the first first."""
        return [told for _, told in self.kept]
