"""`SqliteReader`: a query of an SQLite database, by the standard library.

SQLite has types of cells, not of columns. Drivers that speak Arrow fix a column's type by its first rows and fail, or drop
digits, where a later row differs; the standard library gives every cell as it is, and the survey decides when it has seen all.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from ..survey.cells import arrow_of
from .sql import QueryReader

__all__ = ["SqliteReader"]

READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, 33}  # 33: SQLITE_RECURSIVE


class SqliteReader(QueryReader):
    """Read a query of an SQLite database, opened for reading only."""

    errors = (sqlite3.Error, sqlite3.Warning)  # a warning up to Python 3.11

    def __init__(self, path: str | None, sql: str, missing: Iterable[str] = ()):
        if path is None:
            raise ValueError("sqlite:// needs a file, such as sqlite:///shop.db.")
        super().__init__(path, sql, missing)
        self.address = f"file:{quote(os.path.abspath(path))}?mode=ro"
        with self._run(1) as cursor:
            self._learn_names([column[0] for column in cursor.description or ()])

    @contextlib.contextmanager
    def _run(self, rows: int) -> Iterator[sqlite3.Cursor]:
        with self._guarded(), contextlib.closing(sqlite3.connect(self.address, uri=True)) as connection:
            connection.execute("pragma schema_version")  # opens the file, which a query of no table does not
            # ATTACH and VACUUM INTO write files even from a database that is opened for reading.
            connection.set_authorizer(_allow)
            yield connection.execute(self.sql)

    def fault(self, error: BaseException) -> ValueError:
        if "one statement at a time" in str(error):
            return ValueError("the query holds several statements; give one query that only reads.")
        if "not authorized" in str(error):
            return ValueError("the query does more than read, and only queries that read are run; begin with select.")
        return super().fault(error)

    def read(self) -> Iterator[pa.RecordBatch]:
        with self._run(self.batch_rows) as cursor:
            while rows := cursor.fetchmany(self.batch_rows):
                yield pa.RecordBatch.from_arrays(list(map(_column, zip(*rows))), names=self.names)


def _column(cells: tuple) -> pa.Array:
    return arrow_of([f"{len(cell)} bytes" if isinstance(cell, bytes) else cell for cell in cells])


def _allow(action: int, *_: Any) -> int:
    return sqlite3.SQLITE_OK if action in READING else sqlite3.SQLITE_DENY
