"""Texts read as numbers, the way the whole column is written: 1.5, 1,5, 1,234.5 or € 1.234,50."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["NUMBER_READINGS", "canonical", "numbers_of", "shape_of"]

SYMBOLS = "€$£¥₹%‰"
CURRENCIES = re.compile(rf"[{SYMBOLS}]|\b(?:EUR|USD|GBP|CHF|JPY)\b|\s", re.IGNORECASE)
POINT = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:[eE][+-]?\d+)?")
COMMA = re.compile(r"[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+)?(?:,\d*)?(?:[eE][+-]?\d+)?")
EITHER = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
LONGEST = 40


def numbers_of(texts: list[str]) -> np.ndarray | None:
    """The numbers that texts hold, written with a decimal point; None if one of them is no finite number."""
    try:
        values = np.array(list(map(float, texts)))
    except ValueError:
        return None
    # Python takes 1_000 for a number, and "infinity"; tables do not mean it.
    if not np.isfinite(values).all() or "_" in "".join(texts):
        return None
    return values


def _comma(texts: list[str]) -> np.ndarray | None:
    """Numbers with a decimal comma, or with either mark."""
    return numbers_of([text.replace(",", ".") for text in texts])


def _amounts(texts: list[str], pattern: re.Pattern, thousands: str, decimal: str) -> np.ndarray | None:
    """Numbers with thousands separators, currencies or percent signs."""
    bare = [CURRENCIES.sub("", text).replace("−", "-") if len(text) <= LONGEST else "" for text in texts]
    if not all(text and pattern.fullmatch(text) for text in bare):
        return None
    return numbers_of([text.replace(thousands, "").replace(decimal, ".") for text in bare])


NUMBER_READINGS: dict[str, Callable[[list[str]], np.ndarray | None]] = {
    "number": numbers_of,
    "comma": _comma,
    "amount": lambda texts: _amounts(texts, POINT, ",", "."),
    "comma amount": lambda texts: _amounts(texts, COMMA, ".", ","),
}
"""How a column of texts may hold numbers; each function returns None where a text does not fit."""


def canonical(value: Any) -> str:
    """A number as the name of a level, the same whatever it was read from; texts as they are."""
    if isinstance(value, str):
        return value
    return f"{value:.15g}" if value else "0"


def shape_of(text: str) -> str:
    """What a cell of a column that is not all numbers looks like."""
    if len(text) > LONGEST:
        return "text"
    if numbers_of([text]) is not None:
        return "point" if "." in text else "number"
    if text.lstrip("+-").lower() in ("inf", "infinity"):
        return "infinity"
    if EITHER.fullmatch(text):
        return "either"
    if "," in text and _comma([text]) is not None:
        return "comma"
    readings = ("amount", "comma amount") if any(digit in text for digit in "0123456789") else ()
    if all(NUMBER_READINGS[reading]([text]) is None for reading in readings):
        return "text"
    return "percent" if "%" in text else "thousands" if not CURRENCIES.search(text) else "money"
