"""`Fills`: what becomes of the missing cells of a table, tallied while its rows go by: filled, or left empty and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.missing import impute_cells
from ..kernels import host
from ..source import Block
from ..survey.dates import DATE_READINGS
from ..tables import DataTable

__all__ = ["Fills", "emptied"]


def emptied(model: Any, cells: np.ndarray, filled: np.ndarray) -> dict[str, np.ndarray]:
    """Which missing cells a model leaves empty, by reason; `filled` are the rows as it fills them.

    "not applicable" where a rule of its calibration says so, "unsure" where no level is probable enough, and "unknown" where
    its group has hardly seen the column.
    """
    learned, known, rest = model._calibration, model._knowledge(), np.isnan(cells) & np.isnan(filled)
    found: dict[str, np.ndarray] = {}
    if rest.any() and learned is not None and learned.absent:
        found["not applicable"] = rest & learned.not_applicable(cells)
        rest &= ~found["not applicable"]
    if learned is not None and (rest & learned.coded).any():
        found["unsure"] = rest & learned.coded
        if known is not None:
            found["unsure"] &= ~known.empty(cells, host(model._model().posterior(model._params(), Block.of(cells))[0]))
        rest &= ~found["unsure"]
    found["unknown"] = rest
    return {reason: mask for reason, mask in found.items() if mask.any()}


class Fills:
    """Tallies of what is known and what is filled, of the columns of a model.

    Attributes
    ----------
    n_missing, n_empty : dict of str to int
        Missing cells of the columns, and those that are left empty, where there are any.
    why_empty : dict of str to dict
        The same by reason; see `emptied`.
    """

    def __init__(self, model: Any, table: DataTable, names: Sequence[Any], levels: Sequence[Sequence]):
        # Of dates the model knows the season or the day of the week, neither of which is a date.
        dated = [str(column.name) for column in table.used if column.cycle and column.reading in DATE_READINGS]
        self.never = np.isin([str(name) for name in names], dated)
        self.model, self.names, self.levels = model, [str(name) for name in names], levels
        self.why_empty: dict[str, dict[str, int]] = {}
        self.n_missing = dict.fromkeys(self.names, 0)
        # Cells, sums and squares of numbers, counts of levels: known, and filled.
        self.sums = np.zeros((2, len(self.names), 3))
        self.counts = [np.zeros((2, len(each))) for each in levels]

    def add(self, cells: np.ndarray) -> None:
        """Take in some rows."""
        gone = np.isnan(cells) & ~self.never
        self._tally(0, cells)
        rows = gone.any(axis=1)
        if not rows.any():
            return
        for name, n in zip(self.names, gone.sum(axis=0).tolist()):
            self.n_missing[name] += n
        filled = impute_cells(self.model, cells[rows], "mean")[0]
        for reason, mask in emptied(self.model, cells[rows], filled).items():
            told = self.why_empty.setdefault(reason, {})
            for name, n in zip(self.names, (mask & ~self.never).sum(axis=0).tolist()):
                if n:
                    told[name] = told.get(name, 0) + n
        self._tally(1, np.where(gone[rows], filled, np.nan))

    def _tally(self, place: int, cells: np.ndarray) -> None:
        seen = ~np.isnan(cells)
        centred = np.where(seen, cells, 0.0)
        self.sums[place] += np.column_stack([seen.sum(axis=0), centred.sum(axis=0), (centred**2).sum(axis=0)])
        for j, levels in enumerate(self.levels):
            if len(levels):
                self.counts[j][place] += np.bincount(cells[seen[:, j], j].astype(int), minlength=len(levels))[
                    : len(levels)
                ]

    @property
    def n_empty(self) -> dict[str, int]:
        """Cells that are left empty, by column."""
        told: dict[str, int] = {}
        for each in self.why_empty.values():
            for name, n in each.items():
                told[name] = told.get(name, 0) + n
        return {name: told[name] for name in self.names if name in told}

    @property
    def n_filled(self) -> dict[str, int]:
        """Cells that are filled, by column."""
        empty = self.n_empty
        return {name: n - empty.get(name, 0) for name, n in self.n_missing.items()}

    @property
    def shares(self) -> list[dict]:
        """What columns with filled cells hold before and after: shares of levels, or means (`level` is None)."""
        told = []
        learned = self.model._calibration
        around = () if learned is None else np.flatnonzero(learned.period)  # cyclic columns have no mean
        for j, (name, levels) in enumerate(zip(self.names, self.levels)):
            known, filled = self.sums[:, j]
            if not filled[0] or not known[0] or j in around:
                continue
            about = {"column": name, "n_known": int(known[0]), "n_filled": int(filled[0])}
            if not len(levels):
                told.append(about | {"level": None, "known": known[1] / known[0], "filled": filled[1] / filled[0],
                                     "after": (known[1] + filled[1]) / (known[0] + filled[0])})  # fmt: skip
                continue
            before, added = self.counts[j]
            for level, n, m in zip(levels, before.tolist(), added.tolist()):
                after = (n + m) / (known[0] + filled[0])
                told.append(
                    about | {"level": str(level), "known": n / known[0], "filled": m / filled[0], "after": after}
                )
        return told
