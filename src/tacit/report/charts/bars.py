"""Bars: what sets groups apart from the other rows, and shares of all kinds."""

import math
from collections.abc import Callable, Sequence

from ...study.findings import Group
from ...study.phrases import counted_share
from ..markup import Markup, breakable, cut, framed, note, number, percent, signed, table, tag, unfolding
from .colours import colour, glyph
from .figure import stretched

__all__ = ["bar", "glance", "profile_bars"]

MOST_ROWS = 14
MOST_GLANCED = 16


Named = Callable[[str], str]
"""What a column is called, by its name."""


def _named(entry: dict, named: Named) -> Markup:
    """What a line of a profile is about."""
    if entry.get("level") is None:
        return breakable(cut(named(entry["column"]), 40))
    return breakable(f"{cut(named(entry['column']), 32)}: {cut(entry['level'], 28)}")


def _value_text(entry: dict, key: str, digits: int = 4) -> str:
    """A value of a profile in its units, a level's as a share of rows."""
    value = entry.get(key)
    if f"{key}_text" in entry:
        return entry[f"{key}_text"]
    if value is None or not math.isfinite(value):
        return "–"
    if key == "value" and (counted := counted_share(entry)):
        return counted
    return number(value, digits) if entry.get("level") is None else percent(value)


def _difference(entry: dict) -> float:
    value = entry.get("difference")
    return float(value) if value is not None and math.isfinite(value) else 0.0


def bar(value: float, most: float) -> Markup:
    """A bar to the left or right of the middle."""
    length = 50.0 * min(abs(value) / most, 1.0)
    left, side = (50.0 - length, "low") if value < 0 else (50.0, "high")
    bar = tag("rect", x=left, width=length, y=2.0, height=8.0, class_=side)
    middle = tag("rect", x=49.8, width=0.4, height=12.0, class_="zero")
    return stretched([bar, middle], "0 0 100 12", "lean", aria_hidden="true", focusable="false")


def profile_bars(group: Group, named: Named = str) -> Markup:
    """Columns and levels of one group with its bars; those that matter least are folded away."""
    entries = sorted(group.profile, key=lambda entry: -abs(_difference(entry)))
    most = max([1.0, *(abs(_difference(entry)) for entry in entries)])
    first, rest = entries[:MOST_ROWS], entries[MOST_ROWS:]
    parts = [_profile_table(group, first, most, named)]
    if rest:
        more = f"{len(rest)} more that set it apart less"
        parts.append(unfolding(more, _profile_table(group, rest[:200], most, named)))
    return tag("div", parts, class_=colour(group.number))


def _profile_table(group: Group, entries: list[dict], most: float, named: Named) -> Markup:
    rows = [
        [_named(e, named), bar(d, most), signed(d), _value_text(e, "value"), _value_text(e, "rest")]
        for e, d in ((e, _difference(e)) for e in entries)
    ]
    header = ["Column", "Lower or higher", "Difference (SD)", "This group", "Other rows"]
    return table(header, rows, numeric=(2, 3, 4), caption=f"Profile of group {group.number}", class_="profile")


def glance(groups: Sequence[Group], named: Named = str) -> Markup:
    """All groups side by side, the columns that differ most first, shaded by how much they differ."""
    by_name: dict = {}
    for group in groups:
        for entry in group.profile:
            by_name.setdefault((entry["column"], entry.get("level")), {})[group.number] = entry
    ranked = sorted(by_name.items(), key=lambda item: -max(abs(_difference(entry)) for entry in item[1].values()))
    head = [tag("th", "Column", scope="col")] + [
        tag("th", glyph(group.number), f" {group.number}", scope="col", class_="n", aria_label=f"Group {group.number}")
        for group in groups
    ]
    body = [
        tag(
            "tr", tag("th", _named(next(iter(entries.values())), named), scope="row"),
            [_shaded(entries.get(group.number)) for group in groups],
        )
        for _, entries in ranked[:MOST_GLANCED]
    ]  # fmt: skip
    words = (
        "Columns in which a group differs most from the mean of all rows come first. Shaded by how far it lies from it: blue ▲ "
        "higher, orange ▼ lower."
    )
    if len(ranked) > MOST_GLANCED:
        words += f" The {MOST_GLANCED} of {len(ranked)} columns and levels that differ most."
    return tag("div", framed(head, body, "Values of all groups", "glance"), note(words))


def _shaded(entry: dict | None) -> Markup:
    if entry is None:
        return tag("td", "–", class_="n")
    value = _difference(entry)
    depth = min(abs(value) / 1.5, 1.0)
    step = 0 if depth < 0.15 else 1 if depth < 0.35 else 2 if depth < 0.7 else 3
    side = "low" if value < 0 else "high"
    sign = "" if step == 0 or "value_text" in entry else "▲" if value > 0 else "▼"
    return tag(
        "td", _value_text(entry, "value", 3), tag("span", sign, class_="lean-sign", aria_hidden="true"),
        class_=f"n {side}{step}", title=f"{signed(value)} standard deviations from the mean of all rows",
    )  # fmt: skip
