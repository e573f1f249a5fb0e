"""Cells of any origin as the survey takes them: float64 or text, with one rule of what is missing."""

import datetime
import re
from decimal import Decimal
from functools import cached_property
from itertools import product

import numpy as np

from ..frames import Cells
from .dates import date_text
from .numerals import canonical, numbers_of

__all__ = ["CODES", "MARKS", "MISSING", "Missing", "Texts"]

PLAIN = ("", "na", "n/a", "#n/a", "<na>", "nan", "nat", "null")
MARKS = ("?", ".", "-")
MISSING = (*PLAIN, *MARKS)
"""Texts that stand for a missing cell, whatever their case; "none" is an answer more often than a hole. Marks may be levels as
well (of a test that is + or -), so columns of text say where they were taken as missing."""
EXACT = 2.0**53
CODES = re.compile(r"^(?:0\d+|\d{16,})$", re.MULTILINE)
"""Whole numbers that are names: 007, or with more digits than double precision keeps."""


class Texts(Cells):
    """Cells of text that remember the numbers they hold."""

    @cached_property
    def seen(self):
        """The texts that are not missing."""
        return (self.values[~self.missing] if self.missing.any() else self.values).tolist()

    @cached_property
    def numbers(self):
        """The numbers of the texts that are not missing, None if one of them is no number."""
        return numbers_of(self.seen)

    @cached_property
    def marks(self):
        """Whether numbers have decimal points, leading zeros (007), or more digits than double precision keeps."""
        joined = "\n".join(self.seen)
        codes = [code[0] for code in CODES.finditer(joined)]
        return "." in joined, any(code[0] == "0" for code in codes), any(len(code) > 15 for code in codes)


class Missing:
    """What stands for a missing cell, and cells made by that rule.

    Parameters
    ----------
    texts : iterable of str
        Texts that stand for missing beside the usual ones; those that are numbers do so in columns of numbers as well.
    """

    def __init__(self, texts=()):
        texts = [str(text).strip() for text in texts]
        # All spellings, so that a cell is looked up without changing its case first.
        self.texts = frozenset(spelling for text in (*MISSING, *texts) for spelling in _spellings(text))
        self.numbers = sorted({number for number in map(_number, texts) if number is not None})

    def of_texts(self, texts):
        """Cells of text."""
        texts, gone = list(map(str.strip, texts)), self.texts
        values = np.empty(len(texts), dtype=object)
        values[:] = texts
        return Texts(values, np.array([text in gone for text in texts], dtype=bool))

    def of_numbers(self, values, whole=False, given=None):
        """Cells of numbers; NaN is missing."""
        values = np.asarray(values, dtype=np.float64)
        missing = np.isnan(values)
        for number in self.numbers:
            missing |= values == number
        if self.numbers:
            values = np.where(missing, np.nan, values)
        return Cells(values, missing, whole=whole, given=given)

    def of_objects(self, cells, given=None):
        """Cells of Python objects: numbers if all are, else text."""
        cells = [None if _is_missing(cell) else cell for cell in cells]
        kinds = {type(cell) for cell in cells} - {type(None)}
        given = cells if given is None else given
        if kinds and all(issubclass(kind, (int, float, Decimal, np.number)) and kind is not bool for kind in kinds):
            whole = all(issubclass(kind, (int, np.integer)) for kind in kinds)
            values = np.array([np.nan if cell is None else float(cell) for cell in cells])
            if not (whole and (np.abs(values) > EXACT).any()):  # such numbers are names, and all their digits count
                return self.of_numbers(values, whole, given)
        out = self.of_texts([_text(cell) for cell in cells])
        return Texts(out.values, out.missing, given=None if kinds <= {str} else given)


def _spellings(text):
    """A text in every mix of upper and lower case; only the usual ones if it is long."""
    if len(text) > 10:
        return {text, text.lower(), text.upper(), text.title(), text.capitalize()}
    return {"".join(letters) for letters in product(*({letter.lower(), letter.upper()} for letter in text))}


def _number(text):
    try:
        return float(text)
    except ValueError:
        return None


def _is_missing(cell):
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell)


def _text(cell):
    if isinstance(cell, str):
        return cell
    if cell is None:
        return ""
    if isinstance(cell, (float, np.floating)):
        return canonical(cell)
    if isinstance(cell, (datetime.date, datetime.time, datetime.timedelta)):
        return date_text(cell)
    return str(cell)
