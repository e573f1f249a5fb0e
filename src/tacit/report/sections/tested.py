"""Which columns differ between groups: the verdict, all tests with effects and their intervals, why each test, caveats."""

from ...assess.groups import GroupTests
from ..markup import Markup, amount, breakable, cut, join, number, percent, table, tag, unfolding
from .common import Section, claim
from .summary import header

__all__ = ["TESTED", "tested"]

MOST = 40
"""Tests that are shown at once."""
NARROW = 6
"""Groups up to which each has a column."""


def tested(found: GroupTests, title: str) -> Markup:
    """The header: the verdict and how much was looked at."""
    figures: list[tuple[str, str, str | None]] = [
        ("Rows", amount(found.n_rows), f"{amount(found.n_left_out)} without a group" if found.n_left_out else None),
        ("Groups", amount(len(found.groups)), f"of {cut(found.by, 30)}"),
        ("Tests that differ", amount(len(found.different)), f"of {amount(len(found.tests))}"),
    ]
    return header("Groups compared", title, found.summary, figures)


def _tests(found: GroupTests) -> Section:
    """All tests, the surest first."""
    names = [cut(group["name"], 24) for group in found.groups[:NARROW]]
    heads = ["", "What", *names, "Effect", "Interval", "p, corrected", "Found with 80 %"]

    def made(tests: list[dict]) -> Markup:
        rows = [_line(test, len(names)) for test in tests]
        return table(heads, rows, numeric=range(2, len(heads)), caption="All tests")

    parts = [made(found.tests[:MOST])]
    if len(found.tests) > MOST:
        parts.append(unfolding(f"{len(found.tests) - MOST} more that differ less", made(found.tests[MOST:])))
    lead = (
        "Every test, the surest first; ✓ marks what differs beyond chance. All intervals hold together with a probability of "
        f"{percent(1 - found.alpha)}. The last column is the smallest effect that is found with a probability of 80 %: an "
        "effect below it may be there where nothing was found."
    )
    return Section("tests", "What was tested", "Tests", join(parts), lead)


def _line(test: dict, n_groups: int) -> list:
    name = breakable(cut(test["column"], 40))
    what = {"values": test["measure"], "missing": "share missing"}.get(
        test["what"], f"share of {cut(test['level'] or '', 24)}"
    )
    shares = test["what"] != "values"
    values = [
        cell if isinstance(cell, str) else percent(cell) if shares else number(cell)
        for cell in test["values"][:n_groups]
    ]
    high = "∞" if test["high"] is None else number(test["high"], 3)
    ends = "–" if test["low"] is None else f"{number(test['low'], 3)} to {high}"
    effect = f"{test['effect_name']} {number(test['effect'], 3)}"
    least = "–" if test["detectable"] is None else number(test["detectable"], 3)
    own = join(["✓ ", name]) if test["differs"] else name
    return [own, what, *values, effect, ends, number(test["adjusted"], 2), least]


def _why(found: GroupTests) -> Section:
    """Which test each column has, and why that one."""
    heads = ["", "Test", "Why", "Statistic", "p", "Known", "Missing"]
    rows = [
        [breakable(cut(test["column"], 40)), test["test"], test["why"], f"{test['symbol']} = {number(test['statistic'])}",
         number(test["p"], 2), amount(sum(test["known"])), amount(sum(test["missing"]))] for test in found.tests
    ]  # fmt: skip
    made = table(heads, rows, numeric=(3, 4, 5, 6), caption="Tests and reasons")
    lead = "A test is chosen by what a column holds and by how values lie within groups, never by how far groups lie apart."
    return Section("why", "Which test, and why", "Why", made, lead)


def _skipped(found: GroupTests) -> Section | None:
    """What was not compared."""
    if not found.skipped:
        return None
    rows = [[breakable(cut(each["column"], 40)), cut(each["reason"], 200)] for each in found.skipped]
    return Section(
        "skipped", "What was not compared", "Not compared", table(["", "Reason"], rows, caption="Not compared")
    )


def _limits(found: GroupTests) -> Section:
    """Caveats."""
    words = tag("ul", [tag("li", claim(each)) for each in found.limits], class_="words")
    return Section("limits", "What not to conclude", "Caveats", words)


TESTED = (_tests, _why, _skipped, _limits)
