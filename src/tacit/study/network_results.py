"""`NetworkResults`: what a belief network says of every row of a table, and the missing cells that it fills."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.missing import Imputed
from ..graph.levels import centres, interval
from ..notes import Check, Claim, Option
from ..schema import labels_of, level_text
from ..source import Block
from ..tables import DataTable
from ..words import count, number, share
from .results import Part, Results
from .scores import Coder

__all__ = ["NetworkResults"]


class NetworkResults(Results):
    """Results of a network: how probable rows are, a column predicted from the others, cells filled in.

    Parameters
    ----------
    model, table, level, typed
        As of `Results`.
    target : str, optional
        The column to predict, whose own cells are not looked at.

    Attributes
    ----------
    n_missing : int
        Cells that are missing in the table itself.
    n_known, n_right : int
        Rows that know the target, and those of them whose level, or number, was predicted right.
    squares : float
        Of a target of numbers, the sum of squares of errors.
    """

    def __init__(
        self, model: Any, table: DataTable, *, level: float = 0.9, typed: bool = False, target: str | None = None
    ):
        super().__init__(model, table, level=level, typed=typed)
        self.coder = Coder(model.schema_, table)
        self.encode, self.columns = self.coder.encode, self.coder.columns
        self.target = None if target is None else model._target(target)
        self.n_missing = self.n_known = self.n_right = 0
        self.squares = 0.0

    def coded(self, cells: np.ndarray) -> np.ndarray:
        """Cells as the network takes them: numbers of columns that are cut as their levels."""
        pairs = zip(self.model.schema_.columns, cells.T)
        return np.column_stack([column.level_of(each) if column.cuts else each for column, each in pairs])

    def fill(self, part: Part) -> Imputed:
        """The cells of a part with missing ones filled in."""
        found = self.model._imputed(Block.of(self.coded(part.cells), first=part.start), self.level)
        return found._replace(filled=np.where(np.isnan(part.cells), found.filled, part.cells))

    def _note(self, part: Part) -> None:
        self.n_missing += int(part.missing.sum())

    def rows(self, part: Part) -> dict:
        """The log probability of each row and, of a target, what is predicted and how probable its levels are."""
        block = Block.of(self.coded(part.cells), first=part.start)
        told = part.rows | {"log_probability": self.model._scores(block)}
        return told if self.target is None else told | self._predicted(part, block, self.target)

    def _predicted(self, part: Part, block: Block, j: int) -> dict:
        model, hidden = self.model, self.model._without(block, j)
        if model.nodes_.continuous[j]:
            mean, ends = np.empty(len(block)), np.empty((len(block), 2))
            for each in model._row_parts(hidden, [], [j]):
                model._refuse_impossible(each, block)
                mean[each.rows], ends[each.rows] = each.moments(j)[0], each.interval(j, self.level)
            self._compare(part, j, mean)
            return {"predicted": mean, "low": ends[:, 0], "high": ends[:, 1]}
        p = np.empty((len(block), int(model.nodes_.cards[j])))
        for each in model._row_parts(hidden, [(j,)]):
            model._refuse_impossible(each, block)
            p[each.rows] = each.marginals
        shares = {f"probability_{level_text(s)}": each.round(6) + 0.0 for s, each in zip(model.nodes_.states[j], p.T)}
        column = model.schema_.columns[j] if j < len(model.schema_.columns) else None
        if column is not None and column.cuts:
            mean, ends = p @ centres(column), interval(column, p, self.level)
            self._compare(part, j, mean)
            return {"predicted": mean, "low": ends[:, 0], "high": ends[:, 1]} | shares
        best = p.argmax(axis=1)
        if column is None:
            return {"predicted": [level_text(model.nodes_.states[j][k]) for k in best.tolist()]} | shares
        known = ~np.isnan(part.cells[:, j])
        self.n_known += int(known.sum())
        self.n_right += int((part.cells[known, j] == best[known]).sum())
        return {"predicted": [level_text(level) for level in labels_of(column, best.astype(float))]} | shares

    def _compare(self, part: Part, j: int, mean: np.ndarray) -> None:
        """Take errors of predicted numbers in."""
        known = ~np.isnan(part.cells[:, j])
        self.n_known += int(known.sum())
        self.squares += float(((mean[known] - part.cells[known, j]) ** 2).sum())

    def told(self, filled: bool) -> list[str]:
        """What is said of the rows: how well a target was predicted, and of missing cells."""
        told = [self._target_words(), *([self._missing_words(filled)] if self.n_missing else [])]
        return [each for each in told if each]

    def _target_words(self) -> str:
        if self.target is None or not self.n_known:
            return ""
        name, n = self.model.nodes_.names[self.target], count(self.n_known, "row")
        basis = f"rows that know {name}, each predicted from its other cells"
        if self.model.nodes_.continuous[self.target] or self.model.schema_.columns[self.target].cuts:
            error = float(np.sqrt(self.squares / self.n_known))
            sentence = f"In {n} with known {name}, predictions are off by {number(error, 3)} (root mean square)."
            return Claim.of("predicted", sentence, basis, {"error": error, "rows": self.n_known})
        right = self.n_right / self.n_known
        sentence = f"In {n} with known {name}, {share(right)} are predicted right."
        return Claim.of("predicted", sentence, basis, {"right": right, "rows": self.n_known})

    def _missing_words(self, filled: bool) -> Claim:
        n, text = self.n_missing, "{cells} " + ("filled in." if filled else "({option} fills them in).")
        line = "{'filled': int(cells['value'].notna().sum())}" if filled else ""
        check = Check("counted in all missing cells of the table's own columns", {"filled": n}, line)
        return Claim("filled", text, check=check, cells=count(n, "missing cell"), option=Option("fill"))
