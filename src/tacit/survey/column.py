"""`ColumnInfo`: what a column of a table holds, in what role a model takes it, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["CODED", "ROLES", "ColumnInfo"]

ROLES: dict[str, Any] = {
    "measurement": "continuous", "count": "count", "category": "category", "ordinal": "ordinal", "yes/no": "category",
    "date": None, "id": None, "text": None, "constant": None, "empty": None,
}  # fmt: skip
"""Roles of columns, and the kind of model column each becomes; None for those that models leave out."""
CODED = ("category", "ordinal")
"""Kinds of columns whose cells are levels."""


@dataclass(frozen=True)
class ColumnInfo:
    """A column as a survey of all its cells found it.

    Attributes
    ----------
    name : str
    role : str
        One of `ROLES`.
    reason : str
        Why it is taken so, in words: "numbers with decimals", "a different value in every row".
    left_out : str or Note
        Why no model uses it, in words; empty if models do.
    reading : {"number", "comma", "amount", "comma amount", "date", "date month first", "text"}
        How text is read: numbers with a decimal point or a decimal comma, the same with thousands separators and currencies,
        dates (with the day first where the year is last, or the month), or as it is.
    n_rows, n_missing : int
    levels : tuple of str
        Values of a category or an ordinal column, sorted.
    counts : tuple of int
        How often each level occurs.
    low, high, mean, std : float or None
        Of the observed numbers (days since 1970 for dates).
    whole : bool
        Whether they are all whole.
    n_distinct : int
        How many different values there are; about, beyond some ten thousand.
    copied : bool
        Whether the column follows exactly from others; a note says how.
    law : str
        The family that describes counts best, "poisson" or "negative_binomial"; empty for other roles.
    unknown : tuple of str
        Of a table that is read as a model knows it: texts that are no level of the model's.
    notes : tuple of tacit.notes.Note
        What the user may want to know or do: "-999 occurs 12 times …; if it stands for missing, set missing=['-999']".
    """

    name: str
    role: str
    reason: str = ""
    left_out: str = ""
    reading: str = "text"
    n_rows: int = 0
    n_missing: int = 0
    levels: tuple = ()
    counts: tuple = ()
    low: float | None = None
    high: float | None = None
    mean: float | None = None
    std: float | None = None
    whole: bool = False
    notes: tuple = ()
    n_distinct: int = 0
    copied: bool = False
    unknown: tuple = ()
    law: str = ""

    @property
    def coded(self) -> bool:
        """Whether its cells are levels."""
        return ROLES[self.role] in CODED

    @property
    def used(self) -> bool:
        """Whether models use it."""
        return not self.left_out

    def saved(self) -> dict:
        """The column as the notes of a saved model hold it, for `open_table(…, like=…)`."""
        return {"name": self.name, "role": self.role, "reading": self.reading, "levels": list(self.levels)}
