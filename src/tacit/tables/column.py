"""`ColumnInfo`: what a column of a table holds, in what role a model takes it, and why."""

from dataclasses import dataclass

from ..schema import Column

__all__ = ["ROLES", "ColumnInfo"]

ROLES: dict = {
    "measurement": "continuous", "count": "count", "category": "category", "yes/no": "category",
    "date": None, "id": None, "text": None, "constant": None, "empty": None,
}  # fmt: skip
"""Roles of columns, and the kind of model column each becomes; None for those that models leave out."""


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
    left_out : str
        Why no model uses it, in words; empty if models do.
    reading : {"number", "comma", "date", "text"}
        How text is read: numbers with a decimal point or a decimal comma, dates, or as it is.
    n_rows, n_missing : int
    levels : tuple of str
        Values of a category, sorted.
    counts : tuple of int
        How often each level occurs.
    low, high, mean, std : float or None
        Of the observed numbers (days since 1970 for dates).
    notes : tuple of str
        What the user may want to know or do: "-999 occurs 12 times …; say --missing=-999".
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
    notes: tuple = ()

    @property
    def used(self):
        """Whether models use it."""
        return not self.left_out

    def schema_column(self):
        """The column as a `tacit.schema.Schema` has it."""
        return Column(self.name, ROLES[self.role], self.levels)
