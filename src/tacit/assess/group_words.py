"""What `compare_groups` found, in sentences with the figures behind them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..notes import Claim, having, missing
from ..tables import DataTable
from ..words import count, joined, number, probability, share

if TYPE_CHECKING:
    from .groups import GroupTests

__all__ = ["worded"]

SHOWN = 12
KINDS = {"values": "", "levels": "the shares of its levels", "missing": "which cells are missing"}


def worded(found: GroupTests, table: DataTable) -> GroupTests:
    """The record with its sentences."""
    different, m, k = found.different, len(found.tests), len(found.groups)
    method = "Holm" if found.correction == "holm" else "Benjamini-Hochberg"
    which = joined(group["name"] for group in found.groups) if k <= 5 else f"the {k} groups"
    looked = f"{count(m, 'test')} of {count(len({test['column'] for test in found.tests}), 'column')}"
    basis = f"tests of {count(found.n_rows, 'row')}, corrected together ({method}, {share(found.alpha)})"
    if different:
        sentence = (
            f"{len(different)} of {looked} differ between {which} beyond chance ({method}, {share(found.alpha)})."
        )
        sentence = sentence.replace("differ between", "differs between") if len(different) == 1 else sentence
    else:
        sentence = (
            f"No difference between {which} beyond chance was found in {looked} ({method}, {share(found.alpha)})."
        )
    figures = {"tests": m, "different": len(different)}
    line = "{'tests': len(tests), 'different': int(tests['differs'].sum())}"
    words: list[str] = [Claim.of("verdict", sentence, basis, figures, line)]
    words += [_difference(test, found, table) for test in different[:SHOWN]]
    return replace(found, summary=words, limits=_limits(found))


def _difference(test: dict, found: GroupTests, table: DataTable) -> Claim:
    """A test that found a difference."""
    names = [group["name"] for group in found.groups]
    ends = f"{test['effect_name']} {number(test['effect'])}"
    if test["low"] is not None or test["high"] is not None:
        ends += f", {number(test['low'])} to {'∞' if test['high'] is None else number(test['high'])}"
    sure = f"corrected p {_equal(test['adjusted'])}; {ends}"
    values = test["values"]
    if test["what"] == "values" and isinstance(values[0], str):
        sentence = f"{test['column']}: the {test['measure']} is {_listed(values, names, str)} ({sure})."
    elif test["what"] == "values":
        sentence = f"{test['column']}: the {test['measure']} is {_listed(values, names, number)} ({sure})."
    elif test["what"] == "levels":
        sentence = f"{test['column']}, most of all {test['level']}: {_listed(values, names, share)} ({sure})."
    else:
        sentence = f"{test['column']} is missing in {_listed(values, names, share)} ({sure})."
    figures = {name: value for name, value in zip(names, values) if not isinstance(value, str)} or {"p": test["p"]}
    basis = f"{sum(test['known']):,} known cells" if test["what"] != "missing" else f"{found.n_rows:,} rows"
    return Claim.of(test["what"], sentence, basis, figures, _pandas(test, found, table))


def _listed(values: list, names: list[str], text: object) -> str:
    """Values of groups, the largest first; of many groups the ends only."""
    order = list(range(len(names)))
    if not isinstance(values[0], str):
        order.sort(key=lambda i: -values[i])
    parts = [f"{text(values[i])} in {names[i]}" for i in order]  # type: ignore[operator]
    return joined(parts) if len(parts) <= 6 else f"{joined(parts[:3])}, down to {parts[-1]}"


def _equal(p: float) -> str:
    text = probability(p)
    return text if text.startswith(("below", ">")) else f"= {text}"


def _pandas(test: dict, found: GroupTests, table: DataTable) -> str:
    """Pandas that gives the values of the groups again; none where it may read the cells in another way."""
    column = next(each for each in table.columns if each.name == test["column"])
    if column.reading not in ("number", "text") or column.notes or isinstance(test["values"][0], str):
        return ""
    if test["what"] == "values" and column.role not in ("measurement", "count"):
        return ""
    parts = []
    for group in found.groups:
        rows = f"table[{having(found.by, [group['name']])}]"
        if test["what"] == "missing":
            value = f"{missing(column.name, 'g')}.mean()"
        elif test["what"] == "levels":
            value = f"{having(column.name, [test['level']], 'g')}.sum() / (~{missing(column.name, 'g')}).sum()"
        else:
            value = f"g[{column.name!r}].{test['measure']}()"
        parts.append(f"{group['name']!r}: [float({value}) for g in [{rows}]][0]")
    return f"{{{', '.join(parts)}}}"


def _limits(found: GroupTests) -> list[str]:
    """What not to conclude."""
    limits: list[str] = []
    quiet = [test for test in found.tests if not test["differs"]]
    if quiet:
        told = [test for test in quiet if test["detectable"] is not None]
        text = "Where no difference was found there may be one that is too small for so few rows."
        if told:
            least = max(told, key=lambda test: test["known"] and sum(test["known"]))
            text += (
                f" In {least['column']}, {least['effect_name']} of {number(least['detectable'])} or more would be found with a "
                f"probability of {share(0.8)}."
            )
        figures = {"tests": len(quiet), "detectable": told and least["detectable"]} if told else {"tests": len(quiet)}
        limits.append(Claim.of("power", text, "the test's distribution under the alternative", figures))
    sure = share(1 - found.alpha)
    together = f"All intervals hold together with a probability of {sure}, and are wider than each alone would be."
    limits.append(
        Claim.of("intervals", together, "each at the level over the number of tests", {"level": 1 - found.alpha})
    )
    limits.append(
        "A difference between groups is not caused by what the groups are named after; rows must be independent."
    )
    if found.n_left_out:
        n = found.n_left_out
        text = f"{count(n, 'row')} without a value of {found.by} {'was' if n == 1 else 'were'} left out."
        limits.append(Claim.of("left_out", text, "counted in all rows", {"n": n}))
    lost = {test["column"]: sum(test["missing"]) for test in found.tests if sum(test["missing"])}
    if lost:
        parts = [f"{name} ({count(n, 'cell')})" for name, n in list(lost.items())[:8]]
        more = f" and {len(lost) - 8} more columns" if len(lost) > 8 else ""
        text = f"Missing cells were left out, column by column: {joined(parts)}{more}."
        limits.append(Claim.of("missing_cells", text, "counted in all rows compared", {"cells": sum(lost.values())}))
    if found.skipped:
        parts = [f"{each['column']} ({each['reason']})" for each in found.skipped[:6]]
        more = f" and {len(found.skipped) - 6} more" if len(found.skipped) > 6 else ""
        text = f"Not compared: {joined(parts)}{more}."
        limits.append(Claim.of("skipped", text, "the survey of the table", {"columns": len(found.skipped)}))
    return limits
