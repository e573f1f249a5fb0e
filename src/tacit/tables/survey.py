"""What the columns of a table hold, found out in one pass over all its rows."""

from collections import Counter

import numpy as np

from .column import ROLES, ColumnInfo

__all__ = ["survey"]

MANY_LEVELS = 20
CODES = 6
MOST_COUNTED = 50
DISTINCT = 10_000


def survey(reader, roles=None, columns=None, ignore=()):
    """Survey a table.

    Parameters
    ----------
    reader : Reader
        The table.
    roles : dict of name to role, optional
        Roles that are known; the others are inferred.
    columns : list of str, optional
        Columns that models may use; default all that suit.
    ignore : iterable of str
        Columns that models may not use.

    Returns
    -------
    columns : tuple of ColumnInfo
    n_rows : int
    """
    tallies = {name: Tally(name) for name in reader.names}
    n_rows = 0
    for batch in reader.batches():
        n_rows += batch.n_rows
        for name, cells in batch.items():
            tallies[name].add(cells)
    roles = roles or {}
    infos = []
    for name, tally in tallies.items():
        left_out = "not asked for" if (columns and name not in columns) or name in ignore else ""
        infos.append(tally.info(roles.get(name), left_out))
    return tuple(infos), n_rows


class Tally:
    """What is kept of a column while its cells go by."""

    def __init__(self, name):
        self.name, self.n_rows, self.n_missing = name, 0, 0
        self.counts: Counter = Counter()
        self.overflow = False
        self.numbers = True
        self.whole = True
        self.low, self.high, self.total, self.squares = np.inf, -np.inf, 0.0, 0.0

    def add(self, cells):
        """Take some cells in."""
        self.n_rows += len(cells.missing)
        self.n_missing += int(cells.missing.sum())
        seen = cells.values[~cells.missing]
        if not self.overflow:
            self.counts.update(seen.tolist())
            self.overflow = len(self.counts) > DISTINCT
        if not self.numbers or not len(seen):
            return
        try:
            values = seen.astype(np.float64)
        except ValueError:
            self.numbers = False
            return
        self.whole = self.whole and bool((values == np.floor(values)).all())
        self.low, self.high = min(self.low, values.min()), max(self.high, values.max())
        self.total += values.sum()
        self.squares += (values**2).sum()

    def info(self, role=None, left_out=""):
        """The column as it is now known."""
        seen = self.n_rows - self.n_missing
        found, reason = self._role(seen)
        role = role or found
        told: dict = {}
        if self.numbers and seen:
            mean = self.total / seen
            told = dict(
                low=float(self.low), high=float(self.high), mean=float(mean),
                std=float(np.sqrt(max(self.squares / seen - mean**2, 0.0))), reading="number",
            )  # fmt: skip
        if ROLES[role] == "category":
            levels = sorted(self.counts)
            told |= dict(levels=tuple(map(str, levels)), counts=tuple(self.counts[level] for level in levels))
        if ROLES[role] is None:
            left_out = left_out or reason
        return ColumnInfo(self.name, role, reason, left_out, n_rows=self.n_rows, n_missing=self.n_missing, **told)

    def _role(self, seen):
        """The role of the column and the reason."""
        distinct = len(self.counts)
        if not seen:
            return "empty", "no value in any row"
        if distinct == 1:
            return "constant", "the same value in every row"
        if not self.numbers:
            if distinct == seen or self.overflow:
                return "id", "a different value in every row"
            if distinct > max(MANY_LEVELS, seen // 2):
                return "text", f"{distinct} different texts"
            return ("yes/no" if distinct == 2 else "category"), f"{distinct} levels"
        if self.whole and distinct == seen and seen == self.high - self.low + 1 and seen > MANY_LEVELS:
            return "id", "a row number"
        if self.whole and distinct <= CODES < seen and (self.low != 0 or distinct == 2):
            return ("yes/no" if distinct == 2 else "category"), f"only {distinct} distinct whole numbers"
        if self.whole and self.low >= 0 and self.high <= MOST_COUNTED:
            return "count", "whole numbers from 0 on"
        return "measurement", "whole numbers" if self.whole else "numbers with decimals"
