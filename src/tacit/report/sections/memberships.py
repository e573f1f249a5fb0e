"""How sure the groups are of their rows, the rows they are least sure of, and those that are unlike all others."""

from typing import Any

import numpy as np

from ..charts.figure import figure, strip
from ..charts.stacked import mean_memberships, stacked
from ..markup import Markup, amount, cut, join, note, number, percent, plural, table, tag, unfolding
from .common import Findings, Section, group_mark, of_sample

__all__ = ["memberships", "outliers"]

BANDS = ((0.99, "99 % or more"), (0.9, "90 to 99 %"), (0.7, "70 to 90 %"), (0.5, "50 to 70 %"), (0.0, "less than 50 %"))
MOST_LISTED = 100
TINY = 1e-300
NAMES = {
    "row": "Row", "group": "Group", "probability": "Probability", "other": "Or rather", "other_probability": "Probability",
    "reason": "Why", "outlier": "Farther out", "farther_out": "Farther out",
}  # fmt: skip


def memberships(findings: Findings) -> Section | None:
    """Probabilities of the groups row by row, how many rows are how sure, and the uncertain ones."""
    if findings.memberships is None or len(findings.groups) < 2 or not len(findings.memberships):
        return None
    shares = np.asarray(findings.memberships, dtype=float)
    parts = [
        tag(
            "div",
            figure(stacked(shares, findings.group), data=mean_memberships(shares, findings.group)),
            _bands(shares),
            class_="beside",
        ),
        _uncertain(findings),
    ]
    lead = (
        "A thin bar for every row, coloured by the probability of each group; rows of one colour are certain, "
        f"mixed ones lie between groups.{of_sample(findings)}"
    )
    return Section("memberships", "How sure the groups are", "Certainty", join(parts), lead)


def _bands(shares: np.ndarray) -> Markup:
    top = shares.max(axis=1)
    rows, above = [], np.inf
    for least, words in BANDS:
        count = int(((top >= least) & (top < above)).sum())
        rows.append([words, strip(count / len(top)), amount(count), percent(count / len(top))])
        above = least
    header = ["Sure of the group", "", "Rows", "Share"]
    return table(header, rows, numeric=(2, 3), caption="How many rows are how sure of their group", class_="bands")


def _uncertain(findings: Findings) -> Markup:
    title = tag("h3", "Rows that are less than 90 % sure")
    if not findings.n_uncertain:
        return join([title, note("None: every row belongs clearly to one group.")])
    words = (
        f"{plural(findings.n_uncertain, 'row')} of {amount(findings.n_rows)} could belong to more than one group; the least "
        "certain come first."
    )
    return join([title, note(words), _listed(findings.uncertain, "Uncertain rows")])


def outliers(findings: Findings) -> Section | None:
    """The list of outliers."""
    if not findings.n_outliers or not findings.outliers:
        return None
    words = f"{plural(findings.n_outliers, 'row')} of {amount(findings.n_rows)}, the farthest out first."
    body = join([note(words), _listed(findings.outliers, "Outliers", {"probability": "Lie farther out"})])
    lead = (
        "Rows so far from the middle of their group that hardly any other would be: errors of entry, rare cases, "
        "or the most interesting rows of all."
    )
    return Section("outliers", "Outliers", "Outliers", body, lead)


def _listed(entries: list[dict], caption: str, names: dict[str, str] | None = None) -> Markup | None:
    """Rows given as dictionaries, as a table; the first few shown, more to unfold."""
    if not entries:
        return None
    keys = list(dict.fromkeys(key for entry in entries for key in entry))
    numeric = tuple(j for j, key in enumerate(keys) if key not in ("group", "other") and _are_numbers(entries, key))
    header = [(NAMES | (names or {})).get(key, cut(key, 40)) for key in keys]
    rows = [[_said(key, entry.get(key)) for key in keys] for entry in entries[:MOST_LISTED]]
    made = table(header, rows[:8], numeric=numeric, caption=caption)
    if len(rows) <= 8:
        return made
    rest = table(header, rows[8:], numeric=numeric, caption=f"{caption}, continued")
    return join([made, unfolding(f"{len(rows) - 8} more", rest)])


def _said(key: str, value: Any) -> str:
    """A value of a list of rows, as text."""
    if key in ("group", "other") and isinstance(value, (int, np.integer)):
        return group_mark(int(value))
    if value is None:
        return "–"
    if isinstance(value, (float, np.floating)):
        likely = key.startswith("probability") or key in ("other_probability", "outlier", "farther_out")
        # A chance that underflows is small, not none.
        return percent(max(float(value), TINY), 1 if value >= 0.001 else 4) if likely else number(float(value))
    return cut(value)


def _are_numbers(entries: list[dict], key: str) -> bool:
    return all(isinstance(entry.get(key), (int, float, np.number, type(None))) for entry in entries)
