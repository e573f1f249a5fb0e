"""Numbers, shares, counts and lists as people write them: the one place where they become text.

The command, the page and sentences follow one rule. Counts of things have separators from 1,000; values of columns from 10,000,
so that years have none. What is nothing beside the column's own spread is 0, not the rounding that was left of it. Shares that
are neither none nor all are never rounded to either.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["count", "joined", "number", "pair", "probability", "share", "signed", "ticks"]

NOTHING = "–"
ROUNDING = 1e-12
"""Share of a column's spread below which a number is what rounding left of 0."""


def count(n: int, noun: str, plural: str | None = None) -> str:
    """A number of things: "1 row", "12,345 rows", "no rows"."""
    if n == 1:
        return f"1 {noun}"
    return f"{n:,} {plural or noun + 's'}" if n else f"no {plural or noun + 's'}"


def joined(parts: Iterable[Any], last: str = "and") -> str:
    """Parts of a list as people say them: "a, b and c"."""
    parts = [str(part) for part in parts]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}" if parts else ""


def number(value: float | None, digits: int = 4, scale: float | None = None) -> str:
    """A number with so many digits that count, no exponent where people would not write one, "–" where there is none.

    `scale` is the spread, or the size, of what it is a number of: beside it, rounding is 0.
    """
    if value is None or not math.isfinite(value):
        return NOTHING
    value = float(value)
    if value == 0 or (scale is not None and abs(value) < ROUNDING * abs(scale)):
        return "0"
    size = math.floor(math.log10(abs(value)))
    if not -4 <= size < 12:
        return _short(f"{value:.{digits}g}")
    text = _grouped(value, max(digits - 1 - size, 0))
    return text.rstrip("0").rstrip(".") if "." in text else text


def _grouped(value: float, decimals: int, least: float = 10_000) -> str:
    """With separators from `least` on."""
    return f"{value:,.{decimals}f}" if abs(value) >= least else f"{value:.{decimals}f}"


def _short(text: str) -> str:
    """An exponent without zeros that say nothing: 1e-9."""
    return re.sub(r"e([+-])0*(\d+)", r"e\1\2", text).replace("e+", "e")


def signed(value: float | None, decimals: int = 2) -> str:
    """A number with its sign, and none where it rounds to 0."""
    if value is None or not math.isfinite(value):
        return NOTHING
    text = f"{value:+.{decimals}f}"
    return text if float(text) else text[1:]


def ticks(values: Sequence[float]) -> list[str]:
    """Numbers of an axis, equally far apart, with as many decimals as tell them apart and all written alike."""
    step = values[1] - values[0] if len(values) > 1 else abs(values[0] if values else 1.0) or 1.0
    largest = max(map(abs, values), default=1.0) or 1.0
    # One digit more for steps of 2.5.
    decimals = 1 - math.floor(math.log10(step) + 1e-9)
    if not 1e-4 <= largest < 1e7:
        digits = int(min(max(math.log10(largest) + decimals, 0), 12))
        texts = [re.sub(r"\.?0*e", "e", f"{value:.{digits}e}") for value in values]
        return ["0" if value == 0 else _short(text) for value, text in zip(values, texts)]
    least = 1000 if largest >= 10_000 else math.inf
    texts = [_grouped(value, max(decimals, 0), least) for value in values]
    while decimals > 0 and all(text.endswith("0") for text in texts):
        texts, decimals = [text[:-1].rstrip(".") for text in texts], decimals - 1
    return ["0" if value == 0 else text for value, text in zip(values, texts)]


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
        return "> 0.99" if 0.995 <= value < 1 else f"{value:.2f}"
    return _short(f"{value:.1g}") if value > 1e-12 else "below 1e-12"


def pair(value: float, other: float) -> tuple[str, str]:
    """Two different numbers with as many digits as tell them apart, two of each that count, and no zero that is none."""
    gap, largest = abs(value - other), max(abs(value), abs(other))
    decimals = 1 - math.floor(math.log10(gap))
    if decimals > 6 or largest >= 1e7:
        digits = max(decimals + math.floor(math.log10(largest)) + 1, 2)
        return _short(f"{value:.{digits}g}"), _short(f"{other:.{digits}g}")
    return _rounded(value, max(decimals, 0), gap), _rounded(other, max(decimals, 0), gap)


def _rounded(value: float, decimals: int, gap: float) -> str:
    if abs(value) < 1e-4 * gap:
        return f"{0.0:.{decimals}f}"
    decimals = max(decimals, min(1 - math.floor(math.log10(abs(value))), 6))
    return _grouped(value, decimals)
