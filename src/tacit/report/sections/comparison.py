"""What differs between two tables or two models: the verdict, what was looked at, groups, rows of a new kind, caveats."""

from ...study.comparison import Comparison
from ..charts.bars import bar
from ..charts.colours import group_name
from ..markup import Markup, amount, breakable, cut, join, note, number, percent, signed, table, tag, unfolding
from .common import Section, claim
from .summary import header

__all__ = ["COMPARED", "compared"]

MOST = 30
"""Things looked at that are shown at once."""
WHAT = {"values": "values", "levels": "shares of levels", "missing": "missing cells", "group": "size of the group"}


def compared(found: Comparison, title: str) -> Markup:
    """The header: the verdict, and what chance alone would do."""
    a, b = (cut(name, 40) for name in found.names)
    figures: list[tuple[str, str, str | None]] = [(f"Rows of {a}", amount(found.n_rows[0]), None)]
    if found.kind == "tables":
        figures += [
            (f"Rows of {b}", amount(found.n_rows[1]), None),
            ("Things that differ", amount(len(found.moved)), f"of {amount(len(found.looked))}"),
            ("By chance", number(found.baseline["mean"], 2), "where rows are divided at random"),
            ("Rows of a new kind", amount(found.n_new), None),
        ]
    return header(
        "Two tables compared" if found.kind == "tables" else "Two models compared", title, found.summary, figures
    )


def _looked(found: Comparison) -> Section | None:
    """All that was looked at, the strongest first, with effects and their intervals."""
    if not found.looked:
        return None
    a, b = (cut(name, 40) for name in found.names)
    heads = ["", "What", f"Lower or higher in {b}", "Effect", "Interval", a, b, "p, corrected"]

    def made(tests: list[dict]) -> Markup:
        rows = [_line(test) for test in tests]
        return table(heads, rows, numeric=(3, 4, 5, 6, 7), caption="What was looked at", class_="profile")

    parts = [made(found.looked[:MOST])]
    if len(found.looked) > MOST:
        parts.append(unfolding(f"{len(found.looked) - MOST} more that differ less", made(found.looked[MOST:])))
    lead = (
        f"Everything that was tested, the clearest first; ✓ marks what differs beyond chance. The effect of values is the "
        f"probability that a cell of {b} is higher than one of {a}, less one half; of shares it is their difference. All "
        f"intervals hold together with a probability of {percent(found.level)}."
    )
    return Section("looked", "What was looked at", "Looked at", join(parts), lead)


def _line(test: dict) -> list:
    ranks = test["what"] == "values"
    effect, low, high = (test[key] - 0.5 * ranks for key in ("effect", "low", "high"))
    name = breakable(cut(test["column"], 40)) if test["column"] else group_name(test["group"])
    what = WHAT[test["what"]] + (f" ({cut(test['level'], 24)})" if test["level"] is not None else "")
    values = [number(test[key]) if ranks else percent(test[key]) for key in "ab"]
    ends = f"{signed(low)} to {signed(high)}"
    own = join(["✓ ", name]) if test["moved"] else name
    return [own, what, bar(effect, 0.5), signed(effect), ends, *values, number(test["adjusted"], 2)]


def _groups(found: Comparison) -> Section | None:
    """The groups of both."""
    if len(found.groups) < 2:
        return None
    a, b = (cut(name, 40) for name in found.names)
    if found.kind == "models":
        heads = ["Group", f"Matches of {b}", f"Rows of {a}", f"Rows of {b}", "In both"]
        rows = [
            [group_name(each["number"]), f"group {each['other']}" if each["other"] else "none",
             *(amount(each[key]) for key in ("n_a", "n_b", "shared"))] for each in found.groups
        ]  # fmt: skip
        return Section(
            "groups", "The groups", "Groups", table(heads, rows, numeric=(2, 3, 4), caption="Matched groups")
        )
    heads = ["Group", "What sets it apart", a, b, ""]
    rows = []
    for each in found.groups:
        grew = "grew" if each["share_b"] > each["share_a"] else "shrank"
        word = "new" if each["new"] else grew if each["moved"] else ""
        shares = percent(each["share_a"]), percent(each["share_b"])
        rows.append([group_name(each["number"]), cut(each["words"], 300), *shares, word])
    lead = "Groups of the rows of both, found by one model that does not know which row is whose."
    return Section("groups", "The groups", "Groups", table(heads, rows, numeric=(2, 3), caption="Groups of both"), lead)


def _rows(found: Comparison) -> Section | None:
    """Rows of a new kind."""
    if not found.rows:
        return None
    keys = list(found.rows[0])
    rows = [["" if row[key] is None else number(row[key], 2) if key in ("p", "adjusted") else cut(row[key]) for key in keys]
            for row in found.rows]  # fmt: skip
    made = table(keys, rows, numeric=range(len(keys) - 2, len(keys)), caption="Rows of a new kind")
    more = note(f"The first {len(rows)} of {found.n_new:,}.") if found.n_new > len(rows) else None
    lead = f"Rows of {cut(found.names[1], 40)} that are as improbable as hardly any row of {cut(found.names[0], 40)}."
    return Section("rows", "Rows of a new kind", "New rows", join([made, more]), lead)


def _limits(found: Comparison) -> Section | None:
    """Caveats."""
    words = tag("ul", [tag("li", claim(each)) for each in found.limits], class_="words")
    return Section("limits", "What not to conclude", "Caveats", words) if found.limits else None


COMPARED = (_looked, _groups, _rows, _limits)
