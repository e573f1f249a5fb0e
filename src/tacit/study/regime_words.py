"""What sets a regime apart from others, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..words import number, pair, share

if TYPE_CHECKING:
    from .segment import Regime

__all__ = ["regime_words"]

APART, FAR, SPREAD, MORE_OFTEN = 0.5, 1.5, 1.4, 0.15
"""Differences of means in standard deviations, ratios of spreads and differences of shares from which they are told."""
MOST_TOLD = 3


def regime_words(regime: Regime, n_regimes: int) -> str:
    """What sets a regime apart from the others, the largest difference first."""
    if n_regimes == 1:
        return _plainly(regime)
    told: dict[str, tuple[float, str]] = {}
    for entry in regime.profile:  # of a category, the level that differs most
        if (each := _apart(entry)) and each[0] > told.get(entry["column"], (0.0, ""))[0]:
            told[entry["column"]] = each
    ranked = sorted(told.values(), key=lambda each: -each[0])
    return "; ".join(words for _, words in ranked[:MOST_TOLD]) or _plainly(regime)


def _plainly(regime: Regime) -> str:
    """What a regime is like, whatever the others are."""
    return (
        "; ".join(_alone(entry) for entry in regime.profile[:MOST_TOLD] if entry["n"])
        or "nothing is known of its steps"
    )


def _alone(entry: dict) -> str:
    if entry["level"] is not None:
        return f"{entry['column']} = {entry['level']} {share(entry['mean'])}"
    return f"{entry['column']} {number(entry['mean'])} on average (standard deviation {number(entry['std'], 3)})"


def _apart(entry: dict) -> tuple[float, str] | None:
    """How far a column is apart from other regimes, and in words; None where it is not."""
    here, rest = entry["mean"], entry["rest_mean"]
    if here is None or rest is None or here == rest:
        return None
    if entry["level"] is not None:
        if abs(here - rest) < MORE_OFTEN:
            return None
        often = "more often" if here > rest else "less often"
        return abs(here - rest) / 0.3, (
            f"{entry['column']} {often} {entry['level']} ({share(here)} of the steps, {share(rest)} in other regimes)"
        )
    gap = (here - rest) / entry["spread"] if entry["spread"] > 0 else 0.0
    if abs(gap) >= APART:
        far = "much " if abs(gap) >= FAR else ""
        own, other = pair(here, rest)
        return abs(gap), (
            f"{entry['column']} {far}{'higher' if gap > 0 else 'lower'} (mean {own}, {other} in other regimes)"
        )
    if not entry["std"] or not entry["rest_std"]:
        return None
    ratio = entry["std"] / entry["rest_std"]
    if max(ratio, 1.0 / ratio) < SPREAD:
        return None
    far = "much " if max(ratio, 1.0 / ratio) >= SPREAD**2 else ""
    own, other, mean = (number(entry[name], 3) for name in ("std", "rest_std", "mean"))
    how = "more volatile" if ratio > 1 else "steadier"
    figures = f"standard deviation {own}, {other} within the other regimes; mean {mean}"
    return abs(np.log(ratio)), f"{entry['column']} {far}{how} ({figures})"
