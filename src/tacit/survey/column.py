"""`ColumnInfo`: what a column of a table holds, in what role a model takes it, and why."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

__all__ = ["ASKED", "CODED", "ROLES", "ColumnInfo", "parse_role"]

ROLES: dict[str, Any] = {
    "measurement": "continuous", "count": "count", "category": "category", "ordinal": "ordinal", "yes/no": "category",
    "cyclic": "cyclic", "date": None, "id": None, "code": None, "text": None, "constant": None, "empty": None,
}  # fmt: skip
"""Roles of columns, and the kind of model column each becomes; None for those that models leave out."""
CODED = ("category", "ordinal")
"""Kinds of columns whose cells are levels."""

PERIODS = {"hour": 24.0, "weekday": 7.0, "month": 12.0, "quarter": 4.0, "bearing": 360.0, "season": 365.2425}
"""Cycles by name, and their periods; dates go around in days."""
DATE_PERIODS = {"hour": 1.0, "weekday": 7.0, "month": 365.2425, "quarter": 365.2425, "season": 365.2425}
OTHER_NAMES = {"number": "measurement", "trend": "measurement"}
ASKED = (*(role for role in ROLES if role not in ("constant", "empty")), *PERIODS, *OTHER_NAMES)
"""Roles as they may be asked for, beside "cyclic:28" for a cycle of any period."""


def parse_role(text: str) -> tuple[str, str | float | None]:
    """The role that a text asks for and, of a cycle, its name or period; ValueError where there is no such role.

    Examples
    --------
    >>> from tacit.survey.column import parse_role
    >>> parse_role("number"), parse_role("hour"), parse_role("cyclic:28")
    (('measurement', None), ('cyclic', 'hour'), ('cyclic', 28.0))
    """
    word, colon, rest = text.partition(":")
    if word in PERIODS and not colon:
        return "cyclic", word
    if word == "cyclic" and colon:
        try:
            period = float(rest)
        except ValueError:
            period = math.nan
        if not 0 < period < math.inf:
            raise ValueError(f"{text!r}; say how long the cycle is, such as cyclic:24")
        return "cyclic", period
    role = OTHER_NAMES.get(text, text)
    if role not in ROLES:
        raise ValueError(f"{text!r}; roles are {', '.join(ASKED)}, and cyclic:28 for a cycle of any period")
    return role, None


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
        The family that describes counts best, "poisson" or "negative_binomial"; "place" of a latitude or a longitude that
        models keep together; empty for others.
    cycle : tuple of float
        Of a cyclic column its least value and its period, such as (0, 24) of hours; of dates the period is in days.
    scores : tuple of (str, float)
        Of levels in order that are taken as numbers, every level and its number; `levels` are then none.
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
    cycle: tuple = ()
    scores: tuple = ()

    @property
    def coded(self) -> bool:
        """Whether its cells are levels."""
        return ROLES[self.role] in CODED and not self.scores

    def unrolled(self, x: Any, about: Any) -> Any:
        """Places of a cyclic column as the nearest to others, so that they compare as numbers do: 1 is 25 about 23."""
        if not self.cycle:
            return x
        period = self.cycle[1]
        return about + (x - about + 0.5 * period) % period - 0.5 * period

    @property
    def used(self) -> bool:
        """Whether models use it."""
        return not self.left_out

    def saved(self) -> dict:
        """The column as the notes of a saved model hold it, for `open_table(…, like=…)`."""
        told = {"name": self.name, "role": self.role, "reading": self.reading, "levels": list(self.levels)}
        told |= {"cycle": list(self.cycle)} if self.cycle else {}
        return told | ({"scores": [list(pair) for pair in self.scores]} if self.scores else {})
