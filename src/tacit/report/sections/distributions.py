"""How the columns are distributed in every group, against the whole table."""

import math

import numpy as np

from ..charts.distribution import FEW, distribution
from ..markup import join, note, plural, tag
from .common import Findings, Section, drawn_rows, group_title, titled, used_columns

__all__ = ["distributions"]

MOST_COLUMNS = 12
MOST_GROUPS = 12


def distributions(findings: Findings) -> Section | None:
    """A chart for each of the columns in which groups differ most."""
    if len(findings.groups) < 2 or findings.group is None:
        return None
    columns, group = used_columns(findings), np.asarray(findings.group, dtype=int)
    known = np.isfinite(findings.sample.encoded).sum(axis=0)
    order = [j for j in np.argsort(-_apart(findings), kind="stable") if known[j] >= FEW]
    if not order:
        return None
    groups = {part.number: group_title(findings, part.number) for part in findings.groups[:MOST_GROUPS]}
    charts = [
        distribution(
            f"spread{j}", columns[j], titled(findings, columns[j].name), findings.sample.encoded[:, j], group, groups
        )
        for j in order[:MOST_COLUMNS]
    ]
    notes = []
    if len(order) > MOST_COLUMNS:
        notes.append(f"The {MOST_COLUMNS} of {plural(len(order), 'column')} that differ most.")
    if len(findings.groups) > MOST_GROUPS:
        notes.append(f"The first {MOST_GROUPS} of {len(findings.groups)} groups.")
    lead = (
        f"Known cells of {drawn_rows(len(group), findings)}: each group in its colour, all rows in grey behind, both with the "
        "same area. Columns in which groups differ most come first; a long tail is drawn on a logarithmic scale. "
        f"Groups with fewer than {FEW} known cells show them one by one."
    )
    body = [tag("div", charts, class_="multiples spread"), note(" ".join(notes))]
    return Section("distributions", "How the groups are spread", "Spread", join(body), lead)


def _apart(findings: Findings) -> np.ndarray:
    """By how much groups differ at most in each column of the model, in standard deviations."""
    most = dict.fromkeys(findings.used, 0.0)
    for part in findings.groups:
        for entry in part.profile:
            size = abs(entry.get("difference") or 0.0)
            if entry["column"] in most and math.isfinite(size) and not entry.get("is_missing"):
                most[entry["column"]] = max(most[entry["column"]], size)
    return np.array(list(most.values()))
