"""Rows that are unlike all others of their group."""

from ..markup import amount, join, note, plural
from .common import Findings, Section
from .memberships import listed

__all__ = ["outliers"]


def outliers(findings: Findings) -> Section | None:
    """The list of outliers."""
    if not findings.n_outliers or not findings.outliers:
        return None
    words = f"{plural(findings.n_outliers, 'row')} of {amount(findings.n_rows)}, the farthest out first."
    body = join([note(words), listed(findings.outliers, "Outliers", {"probability": "Lie farther out"})])
    lead = (
        "Rows so far from the middle of their group that hardly any other would be: slips of the pen, rare cases,"
        " or the most interesting rows of all."
    )
    return Section("outliers", "Outliers", "Outliers", body, lead)
