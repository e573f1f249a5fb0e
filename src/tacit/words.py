"""Numbers, shares, counts and lists as people write them: the one place where they become text."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

__all__ = ["count", "joined", "number", "pair", "probability", "share"]

NOTHING = "–"


def count(n: int, noun: str, plural: str | None = None) -> str:
    """A number of things: "1 row", "12,345 rows", "no rows"."""
    if n == 1:
        return f"1 {noun}"
    return f"{n:,} {plural or noun + 's'}" if n else f"no {plural or noun + 's'}"


def joined(parts: Iterable[Any], last: str = "and") -> str:
    """Parts of a list as people say them: "a, b and c"."""
    parts = [str(part) for part in parts]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}" if parts else ""


def number(value: float | None, digits: int = 4) -> str:
    """A number with so many digits that count, no exponent where people would not write one, "–" where there is none."""
    if value is None or not math.isfinite(value):
        return NOTHING
    value = float(value)
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    if not -4 <= size < 12:
        return f"{value:.{digits}g}"
    decimals = max(digits - 1 - size, 0)
    text = f"{value:,.{decimals}f}" if size >= 4 else f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def share(value: float | None, decimals: int | None = None) -> str:
    """A share in percent, with a decimal below 10 % and above 99.5 % unless told otherwise.

    What is neither none nor all is never said to be.
    """
    if value is None or not math.isfinite(value):
        return NOTHING
    if decimals is None:
        decimals = int(0 < value < 0.0995 or 0.995 <= value < 1)
    text, least = f"{100 * value:.{decimals}f}", 10.0**-decimals
    if value > 0 and float(text) == 0:
        return f"< {least:g} %"
    if value < 1 and float(text) == 100:
        return f"> {100 - least:g} %"
    return f"{text} %"


def probability(value: float) -> str:
    """A probability, however small."""
    value = float(value)
    if value >= 0.01:
        return f"{value:.2f}"
    return f"{value:.1g}" if value > 1e-12 else "below 1e-12"


def pair(value: float, other: float) -> tuple[str, str]:
    """Two different numbers with as many digits as tell them apart, two of each that count, and no zero that is none."""
    gap, largest = abs(value - other), max(abs(value), abs(other))
    decimals = 1 - math.floor(math.log10(gap))
    if decimals > 6 or largest >= 1e7:
        digits = max(decimals + math.floor(math.log10(largest)) + 1, 2)
        return f"{value:.{digits}g}", f"{other:.{digits}g}"
    return _rounded(value, max(decimals, 0), gap), _rounded(other, max(decimals, 0), gap)


def _rounded(value: float, decimals: int, gap: float) -> str:
    if abs(value) < 1e-4 * gap:
        return f"{0.0:.{decimals}f}"
    decimals = max(decimals, min(1 - math.floor(math.log10(abs(value))), 6))
    return f"{value:,.{decimals}f}" if abs(value) >= 10_000 else f"{value:.{decimals}f}"
