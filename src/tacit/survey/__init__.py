"""What the columns of a table hold: one survey for frames in memory and for files."""

from .column import ASKED, CODED, ROLES, ColumnInfo, parse_role
from .describe import Asked, describe
from .tally import Tally

__all__ = ["ASKED", "CODED", "ROLES", "Asked", "ColumnInfo", "Tally", "describe", "parse_role"]
