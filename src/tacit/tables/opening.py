"""Open a table by its path, or a query by its database."""

import os

from .data import DataTable
from .delimited import DelimitedReader
from .survey import survey

__all__ = ["open_reader", "open_table"]


def open_reader(path, *, sql=None, sheet=None, separator=None, decimal=None, encoding=None, missing=()):
    """The reader of a table.

    Parameters
    ----------
    path : str
        A file (CSV, TSV, Parquet, Arrow, Excel), or with `sql` a database: ``duckdb://path``, ``sqlite:///path`` or
        ``postgresql://user@host/name``.
    sql : str, optional
        The query.
    sheet : str, optional
        Sheet of an Excel file; default the first.
    separator, decimal, encoding : str, optional
        How a text file is written; default found out.
    missing : iterable of str
        Texts that stand for a missing cell beside the usual ones.
    """
    if os.path.isdir(path):
        raise ValueError(f"{path} is a folder; give a file.")
    if not os.path.exists(path):
        raise ValueError(f"there is no file {path}.")
    return DelimitedReader(path, separator=separator, encoding=encoding, missing=missing)


def open_table(path, *, roles=None, columns=None, ignore=(), **reading):
    """Open a table and survey its columns.

    Parameters
    ----------
    path, **reading
        As in `open_reader`.
    roles : dict of name to role, optional
        Roles of columns that are known (see `ROLES`).
    columns, ignore : list of str, optional
        Columns that models may use, and those that they may not.

    Returns
    -------
    DataTable
    """
    reader = open_reader(path, **reading)
    infos, n_rows = survey(reader, roles, columns, ignore)
    return DataTable(reader, infos, n_rows)
