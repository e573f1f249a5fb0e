"""What sections share: which columns a model uses, what a cell says, which rows are uncertain or outlying."""

import math

import numpy as np

from ...survey.column import ROLES
from ..charts.colours import glyph
from ..markup import cut, number, percent, tag

__all__ = [
    "SURE", "cell_text", "filled_in", "group_mark", "ids", "is_category", "missing_share", "outlying", "unsure",
    "used_columns",
]  # fmt: skip

SURE = 0.9
"""Rows less sure of their group than this are uncertain."""
FAR = 0.05
"""Rows are outliers if a row of their group lies farther out with less than this probability, divided by the number of rows."""


def used_columns(findings):
    """The columns of the model, in its order."""
    by_name = {column.name: column for column in findings.columns}
    return [by_name[name] for name in findings.used]


def is_category(column):
    """Whether its cells are codes of levels."""
    return ROLES[column.role] == "category"


def ids(findings):
    """Names of the columns that say which row it is."""
    return [column.name for column in findings.columns if column.role == "id" and column.name in findings.sample.cells]


def cell_text(column, value):
    """A cell of the model as text."""
    if value is None or not math.isfinite(value):
        return "–"
    if is_category(column):
        code = int(value)
        return cut(column.levels[code]) if 0 <= code < len(column.levels) else number(value)
    return number(value, 4 if column.std is None or column.std == 0 else _digits(column.std, value))


def _digits(std, value):
    """Significant digits that resolve a hundredth of the column's spread."""
    if value == 0:
        return 2
    return int(np.clip(math.floor(math.log10(abs(value))) - math.floor(math.log10(std)) + 3, 2, 9))


def filled_in(sample):
    """Which cells were missing and have been filled in, (m, d) bool; a few may have been left empty."""
    return np.isnan(sample.encoded) & np.isfinite(sample.filled)


def missing_share(column):
    """Share of its cells that are missing."""
    return column.n_missing / column.n_rows if column.n_rows else 0.0


def unsure(findings):
    """Which of the sample's rows are uncertain; none where there are no groups."""
    if findings.memberships is None or len(findings.groups) < 2:
        return np.zeros(len(findings.sample.rows), bool)
    return np.max(findings.memberships, axis=1) < SURE


def outlying(findings):
    """Which of the sample's rows are outliers."""
    listed = np.isin(findings.sample.rows, [entry.get("row", -1) for entry in findings.outliers])
    if findings.outlier is None or not findings.n_outliers:
        return listed
    return listed | (np.nan_to_num(np.asarray(findings.outlier, dtype=float), nan=1.0) < FAR / max(findings.n_rows, 1))


def group_mark(group):
    """Mark and name of a group, in one piece."""
    return tag("span", glyph(group), f" Group {group}", class_="whole")


def said(key, value):
    """A value of a list of rows, as text."""
    if key in ("group", "other") and isinstance(value, (int, np.integer)):
        return group_mark(int(value))
    if value is None:
        return "–"
    if isinstance(value, (float, np.floating)):
        likely = key.startswith("probability") or key in ("other_probability", "outlier", "farther_out")
        return percent(float(value), 1 if value >= 0.001 else 4) if likely else number(float(value))
    return cut(value)
