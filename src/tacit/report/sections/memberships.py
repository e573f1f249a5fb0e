"""How sure the groups are of their rows, and the rows they are least sure of."""

import numpy as np

from ..charts.figure import figure, strip
from ..charts.stacked import stacked
from ..markup import amount, cut, join, percent, plural, tag
from ..markup import table as table_of
from ..section import Section
from .common import said

__all__ = ["listed", "memberships"]

BANDS = ((0.99, "99 % or more"), (0.9, "90 to 99 %"), (0.7, "70 to 90 %"), (0.5, "50 to 70 %"), (0.0, "less than 50 %"))
MOST_LISTED = 100
NAMES = {
    "row": "Row", "group": "Group", "probability": "Probability", "other": "Or rather", "other_probability": "Probability",
    "reason": "Why", "outlier": "Farther out", "farther_out": "Farther out",
}  # fmt: skip


def memberships(findings):
    """Probabilities of the groups row by row, how many rows are how sure, and the uncertain ones."""
    if findings.memberships is None or len(findings.groups) < 2 or not len(findings.memberships):
        return None
    shares = np.asarray(findings.memberships, dtype=float)
    parts = [
        tag("div", figure(stacked(shares, findings.group), None), _bands(shares), class_="beside"),
        _uncertain(findings),
    ]
    lead = (
        "A thin bar for every row, coloured by the probability of each group; rows of one colour are certain, "
        "mixed ones lie between groups."
    )
    return Section("memberships", "How sure the groups are", "Certainty", join(parts), lead)


def _bands(shares):
    top = shares.max(axis=1)
    rows, above = [], np.inf
    for least, words in BANDS:
        count = int(((top >= least) & (top < above)).sum())
        rows.append([words, strip(count / len(top)), amount(count), percent(count / len(top))])
        above = least
    header = ["Sure of the group", "", "Rows", "Share"]
    return table_of(header, rows, numeric=(2, 3), caption="How many rows are how sure of their group", class_="bands")


def _uncertain(findings):
    title = tag("h3", "Rows that are less than 90 % sure")
    if not findings.n_uncertain:
        return join([title, tag("p", "None: every row belongs clearly to one group.", class_="note")])
    words = (
        f"{plural(findings.n_uncertain, 'row')} of {amount(findings.n_rows)} could belong to more than one group; the least "
        "certain come first."
    )
    return join([title, tag("p", words, class_="note"), listed(findings.uncertain, "Uncertain rows")])


def listed(entries, caption, names=None):
    """Rows given as dictionaries, as a table; the first few shown, more to unfold."""
    if not entries:
        return None
    keys = list(dict.fromkeys(key for entry in entries for key in entry))
    numeric = tuple(j for j, key in enumerate(keys) if key not in ("group", "other") and _are_numbers(entries, key))
    header = [(NAMES | (names or {})).get(key, cut(key, 40)) for key in keys]
    rows = [[said(key, entry.get(key)) for key in keys] for entry in entries[:MOST_LISTED]]
    made = table_of(header, rows[:8], numeric=numeric, caption=caption)
    if len(rows) <= 8:
        return made
    rest = table_of(header, rows[8:], numeric=numeric, caption=f"{caption}, continued")
    return join([made, tag("details", tag("summary", f"{len(rows) - 8} more"), rest, class_="numbers")])


def _are_numbers(entries, key):
    return all(isinstance(entry.get(key), (int, float, np.number, type(None))) for entry in entries)
