"""What the columns of a table hold: one survey for frames in memory and for files."""

from .column import CODED, ROLES, ColumnInfo
from .describe import Asked, describe
from .tally import Tally

__all__ = ["CODED", "ROLES", "Asked", "ColumnInfo", "Tally", "describe"]
