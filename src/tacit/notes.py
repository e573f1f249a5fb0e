"""`Note`: a sentence of the library that also says, as a code and values, what it tells.

Whoever acts on a note, or words it differently, goes by the code; nobody reads the sentence. Remedies name a setting as an
`Option`, which the library words as Python writes it and the command as it is typed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

__all__ = ["Check", "Claim", "Note", "NoteError", "Option", "claims_in", "having", "missing"]


@dataclass(frozen=True)
class Option:
    """A setting that a sentence advises.

    Attributes
    ----------
    name : str
        Of the setting in Python.
    value : object
        Its value, None where only the setting is named; a pair of a column and a role where it is ``roles``.
    """

    name: str
    value: Any = None

    def __str__(self) -> str:
        if self.value is None:
            return self.name
        if self.name == "sql":
            return f"open_table({self.value!r}, sql='select …')"
        if self.name == "roles":
            return f"roles={{{self.value[0]!r}: {self.value[1]!r}}}"
        listed = self.name in ("missing", "ignore", "columns")
        return f"{self.name}={[self.value] if listed and isinstance(self.value, str) else self.value!r}"


class Note(str):
    """A sentence with a code and values.

    Parameters
    ----------
    code : str
        What is told, the same whatever the values.
    text : str
        The sentence, with values in braces.
    **values
        Text, numbers and options.

    Examples
    --------
    >>> from tacit.notes import Note
    >>> note = Note("max_iter", "max_iter={max_iter} steps were taken", max_iter=100)
    >>> note, note.code, note.values
    ('max_iter=100 steps were taken', 'max_iter', {'max_iter': 100})
    """

    code: str
    text: str
    values: dict[str, Any]

    def __new__(cls, code: str, text: str, **values: Any) -> Self:
        note = cls.told(code, text.format(**values), values)
        note.text = text
        return note

    @classmethod
    def told(cls, code: str, sentence: str, values: dict[str, Any]) -> Self:
        """A note whose sentence is made already."""
        note = super().__new__(cls, sentence)
        note.code, note.text, note.values = code, "", values
        return note

    def worded(self, option: Callable[[Option], str]) -> str:
        """The sentence with its options in other words."""
        if not self.text:
            return str(self)
        return self.text.format(**{
            name: option(value) if isinstance(value, Option) else value for name, value in self.values.items()
        })  # fmt: skip

    def __reduce__(self) -> tuple:
        if self.text:
            return _again, (type(self), self.code, self.text, self.values)
        return type(self).told, (self.code, str(self), self.values)


@dataclass(frozen=True)
class Check:
    """How a reader can check a sentence.

    Attributes
    ----------
    basis : str
        Where its figures come from: "counted in all 344 rows", "200 known cells, hidden and filled in again".
    figures : dict of str to number or str
        What the sentence states, in full precision.
    pandas : str
        An expression that gives the figures as a dict; empty where they were measured by refitting. It is over `table`, the file
        as `pandas.read_csv` has it (and `other`, the second of two that are compared), and over what was written, each by its
        name: NAME.VERB.filled is `filled`, NAME.VERB.cells is `cells`; `rows` is that of groups or scores, a line for each row.
    """

    basis: str
    figures: dict[str, Any]
    pandas: str = ""


class Claim(Note):
    """A sentence about data, with the check behind it.

    Parameters
    ----------
    code, text, **values
        As in `Note`.
    check : Check
        What the sentence rests on.

    Examples
    --------
    >>> from tacit.notes import Check, Claim
    >>> check = Check("counted in all 344 rows", {"n": 344}, "{'n': len(table)}")
    >>> Claim("n_rows", "The table has {n} rows.", check=check, n=344).check.figures
    {'n': 344}
    """

    check: Check

    def __new__(cls, code: str, text: str, *, check: Check, **values: Any) -> Self:
        claim = super().__new__(cls, code, text, **values)
        claim.check = check
        return claim

    @classmethod
    def of(cls, code: str, sentence: str, basis: str, figures: dict[str, Any], pandas: str = "") -> Claim:
        """The claim of a sentence that is made already; the rest is as in `Check`."""
        return cls(code, "{sentence}", check=Check(basis, figures, pandas), sentence=sentence)

    def __reduce__(self) -> tuple:
        return _claim, (self.code, self.text, self.check, self.values)


def _claim(code: str, text: str, check: Check, values: dict[str, Any]) -> Claim:
    return Claim(code, text, check=check, **values)


def claims_in(value: Any) -> Iterator[Claim]:
    """The claims among lists and dicts of anything, in their order."""
    if isinstance(value, Claim):
        yield value
    elif isinstance(value, (dict, list, tuple)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from claims_in(each)


def having(column: str, levels: Iterable[Any], name: str = "table") -> str:
    """Pandas for the rows of a table that have one of some levels, whether it reads them as texts, numbers or truths."""
    texts = dict.fromkeys(text for level in levels for text in _readings(level))
    return f"{name}[{column!r}].astype(str).str.strip().isin({list(texts)!r})"


def missing(column: str, name: str = "table") -> str:
    """Pandas for the rows of a table whose cell is missing, marks that pandas takes as values included."""
    return f"({name}[{column!r}].isna() | {name}[{column!r}].astype(str).str.strip().isin(['', '?', '.', '-']))"


def _readings(level: Any) -> list[str]:
    """The texts that a level may have where pandas read it as a number or as a truth."""
    text = str(level)
    try:
        value = float(level)
    except (TypeError, ValueError):
        return [text, text.title()] if text.lower() in ("true", "false") else [text]
    return [text, str(value), *([str(int(value))] if value.is_integer() else [])]


def _again(cls: type[Note], code: str, text: str, values: dict[str, Any]) -> Note:
    return cls(code, text, **values)


class NoteError(ValueError):
    """An error that is a note.

    Parameters
    ----------
    code, text, **values
        As in `Note`.
    """

    def __init__(self, code: str, text: str, **values: Any):
        self.note = Note(code, text, **values)
        super().__init__(str(self.note))

    def __reduce__(self) -> tuple:
        return _error, (self.note,)


def _error(note: Note) -> NoteError:
    return NoteError(note.code, note.text, **note.values)
