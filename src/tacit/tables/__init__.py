"""Tables where people keep them: CSV, Parquet, Arrow, Excel, databases; read in batches, their columns surveyed."""

from ..survey.column import ROLES, ColumnInfo
from .data import DataTable
from .opening import open_reader, open_table
from .outputs import Outputs
from .reader import Reader

__all__ = ["ROLES", "ColumnInfo", "DataTable", "Outputs", "Reader", "open_reader", "open_table"]
