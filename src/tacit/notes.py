"""`Note`: a sentence of the library that also says, as a code and values, what it tells.

Whoever acts on a note, or words it differently, goes by the code; nobody reads the sentence.
"""

from __future__ import annotations

from typing import Any, Self

__all__ = ["Note"]


class Note(str):
    """A sentence with a code and values.

    Parameters
    ----------
    code : str
        What is told, the same whatever the values.
    text : str
        The sentence, with values in braces.
    **values
        Text and numbers.

    Examples
    --------
    >>> from tacit.notes import Note
    >>> note = Note("max_iter", "max_iter={max_iter} steps were taken", max_iter=100)
    >>> note, note.code, note.values
    ('max_iter=100 steps were taken', 'max_iter', {'max_iter': 100})
    """

    code: str
    values: dict[str, Any]

    def __new__(cls, code: str, text: str, **values: Any) -> Self:
        return cls.told(code, text.format(**values), values)

    @classmethod
    def told(cls, code: str, sentence: str, values: dict[str, Any]) -> Self:
        """A note whose sentence is made already."""
        note = super().__new__(cls, sentence)
        note.code, note.values = code, values
        return note

    def __reduce__(self) -> tuple:
        return type(self).told, (self.code, str(self), self.values)
