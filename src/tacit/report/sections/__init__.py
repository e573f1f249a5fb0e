"""Sections of the page, one family a file: functions of `Findings` that give a `Section`, or None where there is nothing to show.

To add one, write such a function and name it in `ORDER`.
"""

from .alternatives import alternatives
from .axes import axes, scores
from .card import card, convergence
from .columns import columns
from .comparison import COMPARED, compared
from .distributions import distributions
from .groups import groups, profiles, selection
from .imputation import filled
from .map import groups_map
from .memberships import memberships, outliers
from .missing import missing_values
from .rows import rows
from .summary import summary
from .tested import TESTED, tested

__all__ = ["COMPARED", "ORDER", "TESTED", "compared", "summary", "tested"]

ORDER = (
    groups, groups_map, profiles, distributions, memberships, outliers, axes, scores, missing_values, filled, rows, selection,
    alternatives,     convergence, card, columns,
)  # fmt: skip
