"""Open a table by its path, or a query by its database."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import cache
from numbers import Integral
from typing import Any

from ..checks import check_choice, check_number
from ..frames import is_table, package
from ..notes import NoteError, Option
from ..schema import UNKNOWN, is_pattern, roles_by_name
from ..survey.column import parse_role
from ..survey.describe import Asked
from .data import DataTable
from .delimited import DelimitedReader
from .memory import FrameReader
from .reader import Reader, meant
from .surveying import read_like, survey

__all__ = ["as_table", "open_reader", "open_table"]


def open_reader(
    path: Any, *, sql: str | None = None, sheet: str | None = None, separator: str | None = None, decimal: str | None = None,
    encoding: str | None = None, missing: Iterable[str] = (), only: Iterable[str] | None = None,
    header: str | bool | None = None, skip: int | None = None,
) -> Reader:  # fmt: skip
    """The reader of a table.

    Parameters
    ----------
    path : str, path-like, or table in memory
        A file (CSV, TSV, Parquet, Arrow, Excel), or with `sql` a database: ``duckdb://path``, ``sqlite:///path`` or
        ``postgresql://user@host/name``; ``"-"`` is the standard input. A pandas or polars DataFrame, an Arrow
        table, a dictionary of columns or a 2-D array are read as they are.
    sql : str, optional
        The query.
    sheet : str, optional
        Sheet of an Excel file; default the first.
    separator, decimal, encoding : str, optional
        How a text file is written; default found out.
    missing : iterable of str
        Texts that stand for a missing cell beside the usual ones.
    only : list of str, optional
        The columns to read where there are too many for all.
    header : {"yes", "no"} or bool, optional
        Whether a text or Excel file names its columns, which it does by default; those without names are column_1, column_2, ….
    skip : int, optional
        Lines of a text file, or rows of a sheet, before its names or its first row; default found out.
    """
    if skip is not None:
        check_number("skip", skip, Integral, 0)
    if sql is not None:
        from .sql import open_query

        return open_query(path, sql, missing)
    if not isinstance(path, (str, os.PathLike)):
        if package(path) in ("pandas", "polars", "pyarrow", "numpy") or isinstance(path, dict) or is_table(path):
            return FrameReader(path, missing)
        raise ValueError(
            f"a table is a path, a data frame, a dictionary of columns or an array, not {type(path).__name__}."
        )
    path = os.fspath(path)
    if path == "-":
        reading: dict[str, Any] = {
            "sheet": sheet,
            "separator": separator,
            "decimal": decimal,
            "encoding": encoding,
            "missing": missing,
        }
        reader = open_reader(_standard_input(), only=only, header=header, skip=skip, **reading)
        reader.name, reader.place, reader.folder = "stdin", "the standard input", os.curdir
        return reader
    _refuse_places(path)
    kind = _kind_of(path)
    if sheet is not None and kind != "excel":
        text = "{option} is for Excel files, and {path} is none; leave it out."
        raise NoteError("sheet", text, option=Option("sheet", sheet), path=path)
    if kind == "text":
        told: Any = {"separator": separator, "encoding": encoding, "header": header, "skip": skip}
        return DelimitedReader(path, missing=missing, only=only, **told)
    if kind == "excel":
        from .excel import ExcelReader

        return ExcelReader(path, sheet, missing, header, skip)
    for name, asked in (("header", header), ("skip", skip)):
        if asked is not None:
            text = "{option} is for text and Excel files, and {path} is none; leave it out."
            raise NoteError(name, text, option=Option(name, asked), path=path)
    from .arrow import ArrowReader

    return ArrowReader(path, kind, missing, only)


@cache
def _standard_input() -> str:
    """The standard input, which can be read only once, as a file that goes with the process."""
    folder = tempfile.mkdtemp(prefix="tacit-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, "stdin")
    with open(path, "wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    if not os.path.getsize(path):
        raise ValueError("the standard input is empty; a line of names and at least one row are needed.")
    return path


def _refuse_places(path: str) -> None:
    """Refuse what is no file."""
    if "://" in path and not os.path.exists(path):
        scheme = path.partition("://")[0]
        if scheme in ("duckdb", "sqlite", "postgresql", "postgres"):
            raise _database(f"{scheme}://", f"{scheme}://…")
        raise ValueError(f"{scheme}://… is not a file on this machine; download it first.")
    if os.path.isdir(path):
        raise ValueError(f"{path} is a folder; give a file.")
    if not os.path.exists(path):
        folder = os.path.dirname(path) or "."
        near = get_close_matches(os.path.basename(path), os.listdir(folder), 1, 0.8) if os.path.isdir(folder) else []
        hint = f" Did you mean {os.path.join(os.path.dirname(path), near[0])}?" if near else ""
        raise ValueError(f"there is no file {path}.{hint}")


def _database(place: str, url: str) -> NoteError:
    """That a database needs a query."""
    text = "{place} is a database; say which rows to read by a query: {option}."
    return NoteError("database", text, place=place, option=Option("sql", url))


def _kind_of(path: str) -> str:
    """What a file is, by how it begins: names of files lie."""
    try:
        with open(path, "rb") as file:
            start = file.read(16)
    except PermissionError:
        raise ValueError(f"{path} cannot be read: permission denied.") from None
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith((b"ARROW1", b"FEA1")):
        return "arrow"
    if start.startswith(b"\xff\xff\xff\xff") and path.endswith((".arrow", ".arrows", ".ipc", ".feather")):
        return "stream"
    if start.startswith(b"SQLite format 3\0"):
        raise _database(path, f"sqlite:///{path}")
    if start[8:12] == b"DUCK":
        raise _database(path, f"duckdb://{path}")
    if start.startswith(b"PK\x03\x04"):
        return _kind_of_zip(path)
    if start.startswith(b"\xd0\xcf\x11\xe0"):
        return "excel"
    return "text"


def _kind_of_zip(path: str) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile:
        raise ValueError(f"{path} is a damaged Excel or zip file; save it again.") from None
    if "manifest.json" in names:
        raise ValueError(f"{path} is a saved model, not a table; give the table first, and the model to tacit predict.")
    if not any(name.startswith("xl/") or name == "content.xml" for name in names):
        raise ValueError(f"{path} is a zip file of {len(names)} files; unpack it and give the table.")
    return "excel"


def open_table(
    path: Any, *, roles: dict[str, str] | None = None, columns: list[str] | None = None, ignore: Iterable[str] = (),
    like: list[dict] | None = None, unknown: str = "missing", decimal: str | None = None,
    on_batch: Callable[[int], Any] | None = None, **reading: Any,
) -> DataTable:  # fmt: skip
    """Open a table and survey its columns.

    Parameters
    ----------
    path, decimal, **reading
        As in `open_reader`.
    roles : dict of name to role, optional
        Roles of columns that are known, as `tacit.survey.parse_role` takes them; a name may be a pattern such as ``"A*"``, or
        several with commas between.
    columns, ignore : list of str, optional
        Columns that models may use, and those that they may not.
    like : list of dict, optional
        Columns as `ColumnInfo.saved` gives them and the notes of a saved model hold them: the table is read with those roles.
    unknown : {"missing", "error"}
        What to do about texts that are no level of a category of `like`: take them as missing, with a note, or refuse the table.
    on_batch : callable, optional
        Called after every batch with the number of rows read in this pass.

    Returns
    -------
    DataTable

    Examples
    --------
    >>> from tacit.tables import open_table
    >>> table = open_table({"age": [31.5, None, 48.2, 50.1], "sex": ["f", "m", "m", None]})
    >>> [(column.name, column.role, column.n_missing) for column in table.columns]
    [('age', 'measurement', 1), ('sex', 'category', 1)]
    """
    roles = dict(roles or {})
    for name, role in roles.items():
        try:
            parse_role(role)
        except ValueError as error:
            raise ValueError(f"column {name!r} is asked for as {error}.") from None
    plain = [name for name in roles if not is_pattern(name)]
    named = None if len(plain) < len(roles) else [*(columns or ()), *plain, *(column["name"] for column in like or ())]
    reader = open_reader(path, decimal=decimal, only=named, **reading)
    reader.on_batch = on_batch
    roles = roles_by_name(roles, reader.names)
    _check_names(reader, columns=columns or (), ignore=ignore, roles=roles)
    check_choice("unknown", unknown, UNKNOWN)
    if like is not None:
        infos, n_rows, order, notes = read_like(reader, like, decimal, unknown)
        return DataTable(reader, infos, n_rows, order, (*reader.notes, *notes))
    infos, n_rows = survey(reader, Asked(roles, columns, tuple(ignore), decimal))
    return DataTable(reader, infos, n_rows, notes=tuple(reader.notes))


def as_table(table: Any, **reading: Any) -> DataTable:
    """A table that is open as it is, any other opened, with a warning about columns that no model uses and nobody left out.

    `reading` is as in `open_table`.
    """
    if not isinstance(table, DataTable):
        opened, asked = open_table(table, **reading), {*reading.get("ignore", ()), *reading.get("roles", ())}
        left = [column for column in opened.columns if not column.used and column.name not in asked]
        if left and reading.get("columns") is None and opened.used:
            told = "; ".join(f"{column.name!r} ({column.left_out})" for column in left)
            warnings.warn(
                f"left out: {told}. Say what they are by roles=…, or leave them out by ignore=….", stacklevel=3
            )
        return opened
    if reading:
        raise TypeError(f"the table is open already; give {', '.join(reading)} to tacit.tables.open_table instead.")
    return table


def _check_names(reader: Reader, **asked: Iterable[str]) -> None:
    known = set(reader.names)
    for option, names in asked.items():
        for name in names:
            if name not in known:
                text, hint = "{place} has no column {name!r}, which {option} names; {hint}", meant(name, reader.names)
                raise NoteError("no_column", text, place=reader.place, name=name, option=Option(option), hint=hint)
