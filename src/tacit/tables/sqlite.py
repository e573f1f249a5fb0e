"""`SqliteReader`: a query of an SQLite database, by the standard library.

SQLite has types of cells, not of columns. Drivers that speak Arrow fix a column's type by its first rows and fail, or drop
digits, where a later row differs; the standard library gives every cell as it is, and the survey decides when it has seen all.
"""

import contextlib
import os
import sqlite3
from urllib.parse import quote

from ..frames import Batch
from .reader import checked_names
from .sql import QueryReader

__all__ = ["SqliteReader"]

READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, 33}  # 33: SQLITE_RECURSIVE


class SqliteReader(QueryReader):
    """Read a query of an SQLite database, opened for reading only.

    Parameters
    ----------
    path : str or None
        The database file.
    sql : str
        The query.
    missing : iterable of str
        Texts that stand for missing beside the usual ones.
    """

    def __init__(self, path, sql, missing=()):
        if path is None:
            raise ValueError("sqlite:// needs a file, such as sqlite:///shop.db.")
        super().__init__(path, sql, missing)
        self.address = f"file:{quote(os.path.abspath(path))}?mode=ro"
        with self._cursor() as cursor:
            names = [column[0] for column in cursor.description or ()]
        if not names:
            raise ValueError(f"{self.place} gives no columns; begin the query with select or with.")
        self.names, _ = checked_names(names, self.place, self.notes)

    @contextlib.contextmanager
    def _cursor(self):
        connection = None
        try:
            connection = sqlite3.connect(self.address, uri=True)
            connection.execute("pragma schema_version")  # opens the file, which a query of no table does not
            # ATTACH and VACUUM INTO write files even from a database that is opened for reading.
            connection.set_authorizer(_allow)
            yield connection.execute(self.sql)
        except (sqlite3.Error, sqlite3.Warning) as error:  # a warning up to Python 3.11
            if "one statement at a time" in str(error):
                raise ValueError("the query holds several statements; give one query that only reads.") from None
            if "not authorized" in str(error):
                raise ValueError(
                    "the query does more than read, and only queries that read are run; begin with select."
                ) from None
            raise self.fault(error) from None
        finally:
            if connection is not None:
                connection.close()

    def read(self):
        with self._cursor() as cursor:
            while rows := cursor.fetchmany(self.batch_rows):
                yield Batch(zip(self.names, map(self._cells, zip(*rows))))

    def _cells(self, cells):
        return self.missing.of_objects([f"{len(cell)} bytes" if isinstance(cell, bytes) else cell for cell in cells])


def _allow(action, *_):
    return sqlite3.SQLITE_OK if action in READING else sqlite3.SQLITE_DENY
