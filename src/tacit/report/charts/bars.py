"""Bars: what sets groups apart from the other rows, and shares of all kinds."""

import math

from ..markup import breakable, cut, number, percent, table, tag
from .colours import colour, glyph

__all__ = ["glance", "named", "profile_bars", "value_text"]

MOST_ROWS = 14
MOST_GLANCED = 16


def named(entry):
    """What a line of a profile is about."""
    return (
        cut(entry["column"], 40)
        if entry.get("level") is None
        else f"{cut(entry['column'], 32)}: {cut(entry['level'], 28)}"
    )


def value_text(entry, key, digits=4):
    """A value of a profile in its units, a level's as a share of rows."""
    value = entry.get(key)
    if value is None or not math.isfinite(value):
        return "–"
    return number(value, digits) if entry.get("level") is None else percent(value)


def _difference(entry):
    value = entry.get("difference")
    return float(value) if value is not None and math.isfinite(value) else 0.0


def _bar(value, most):
    """A bar to the left or right of the middle."""
    length = 50.0 * min(abs(value) / most, 1.0)
    bar = tag(
        "rect",
        x=50.0 - length if value < 0 else 50.0,
        width=length,
        y=2.0,
        height=8.0,
        class_="low" if value < 0 else "high",
    )
    middle = tag("rect", x=49.8, width=0.4, height=12.0, class_="zero")
    return tag(
        "svg",
        bar,
        middle,
        class_="lean",
        viewBox="0 0 100 12",
        preserveAspectRatio="none",
        aria_hidden="true",
        focusable="false",
    )


def _signed(value):
    return f"{value:+.2f}".replace("-", "−") if abs(value) >= 0.005 else "0.00"


def profile_bars(group):
    """Columns and levels of one group with its bars; those that matter least are folded away."""
    entries = sorted(group.profile, key=lambda entry: -abs(_difference(entry)))
    most = max([1.0, *(abs(_difference(entry)) for entry in entries)])
    first, rest = entries[:MOST_ROWS], entries[MOST_ROWS:]
    parts = [_profile_table(group, first, most)]
    if rest:
        summary = tag("summary", f"{len(rest)} more that set it apart less")
        parts.append(tag("details", summary, _profile_table(group, rest[:200], most), class_="numbers"))
    return tag("div", parts, class_=colour(group.number))


def _profile_table(group, entries, most):
    rows = [
        [
            breakable(named(e)),
            _bar(_difference(e), most),
            _signed(_difference(e)),
            value_text(e, "value"),
            value_text(e, "rest"),
        ]
        for e in entries
    ]
    header = ["Column", "Lower or higher", "Difference (SD)", "This group", "Other rows"]
    return table(header, rows, numeric=(2, 3, 4), caption=f"Profile of group {group.number}", class_="profile")


def glance(groups):
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
            "tr", tag("th", breakable(named(next(iter(entries.values())))), scope="row"),
            [_shaded(entries.get(group.number)) for group in groups],
        )
        for _, entries in ranked[:MOST_GLANCED]
    ]  # fmt: skip
    made = tag(
        "table", tag("caption", "Values of all groups", class_="hidden-text"), tag("thead", tag("tr", head)),
        tag("tbody", body), class_="glance",
    )  # fmt: skip
    note = (
        "Columns in which a group differs most from the mean of all rows come first. Shaded by how far it lies from it: blue ▲ "
        "higher, orange ▼ lower."
    )
    if len(ranked) > MOST_GLANCED:
        note += f" The {MOST_GLANCED} of {len(ranked)} columns and levels that differ most."
    scroll = tag("div", made, class_="scroll", tabindex="0", role="region", aria_label="Values of all groups")
    return tag("div", scroll, tag("p", note, class_="note"))


def _shaded(entry):
    if entry is None:
        return tag("td", "–", class_="n")
    value = _difference(entry)
    depth = min(abs(value) / 1.5, 1.0)
    step = 0 if depth < 0.15 else 1 if depth < 0.35 else 2 if depth < 0.7 else 3
    side = "low" if value < 0 else "high"
    sign = "" if step == 0 else "▲" if value > 0 else "▼"
    return tag(
        "td", value_text(entry, "value", 3), tag("span", sign, class_="lean-sign", aria_hidden="true"),
        class_=f"n {side}{step}", title=f"{_signed(value)} standard deviations from the mean of all rows",
    )  # fmt: skip
