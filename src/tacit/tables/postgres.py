"""`PostgresReader`: a query of a PostgreSQL database, streamed as Arrow batches through ADBC."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

from .sql import ArrowQueryReader, secrets_of

__all__ = ["PostgresReader"]

PATIENCE = 15
"""Seconds to wait for a server."""
SETTINGS = (
    # One snapshot for all passes, in which nothing can be written.
    "set transaction isolation level repeatable read read only",
    # Rows must come in the same order at every pass.
    "set local synchronize_seqscans = off",
    "set local max_parallel_workers_per_gather = 0",
)


class PostgresReader(ArrowQueryReader):
    """Read a query of ``postgresql://user:password@host:port/name`` in one transaction that cannot write.

    The password appears in no message.
    """

    def __init__(self, url: str, sql: str, missing: Iterable[str] = ()):
        super().__init__(_shown(url), sql, missing)
        try:
            import pyarrow as pa
            from adbc_driver_manager import Error
            from adbc_driver_postgresql import dbapi
        except ImportError as error:
            raise ImportError(
                "reading postgresql:// needs adbc-driver-postgresql; install it with: pip install 'tacit[sql]'"
            ) from error
        self.errors, self.secrets = (Error, pa.ArrowException, OSError), secrets_of(url)
        self.connection = self._connect(dbapi, url)
        self._begin()
        self._learn_columns()
        # A query that failed while nobody was reading leaves the transaction unusable.
        self._begin()

    def _connect(self, dbapi: Any, url: str) -> Any:
        if "connect_timeout" not in url:
            url += f"{'&' if '?' in url else '?'}connect_timeout={PATIENCE}"
        try:
            connection = dbapi.connect(url)
        except self.errors as error:
            reason = self._reason(error).rpartition("failed: ")[2].removeprefix("FATAL: ").strip()
            raise ValueError(
                f"{self.database} cannot be reached: {reason}; check host, port, user and name in its address."
            ) from None
        # Left open between passes, for they share a transaction; a server that is to stop waits for it.
        weakref.finalize(self, connection.close)
        return connection

    def _begin(self) -> None:
        """Begin the transaction of all passes."""
        with self._guarded():
            self.connection.rollback()
            for setting in SETTINGS:
                with self.connection.cursor() as cursor:
                    cursor.execute(setting)

    def _reason(self, error: BaseException) -> str:
        """The line of an error that says what is wrong, without secrets."""
        text = str(error).split("Query was:")[0]
        for secret in self.secrets:
            text = text.replace(secret, "***")
        text = text.rpartition("ERROR:")[2] if "ERROR:" in text else text
        return next((line.strip() for line in text.splitlines() if line.strip()), type(error).__name__)

    def fault(self, error: BaseException) -> ValueError:
        reason = self._reason(error)
        if "read-only transaction" in reason:
            return ValueError(
                f"the query does more than read ({reason}), and only queries that read are run; begin with select."
            )
        return super().fault(ValueError(reason))

    @contextlib.contextmanager
    def _run(self, rows: int) -> Iterator[Any]:
        with self._guarded(), self.connection.cursor() as cursor:
            cursor.execute(self.sql)
            yield cursor.fetch_record_batch()


def _shown(url: str) -> str:
    """Host and name of a database, without user and password."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
        return f"postgresql://{parts.hostname or 'localhost'}{port}{parts.path}"
    except ValueError:
        raise ValueError(
            "the address of the database is not of the form postgresql://USER:PASSWORD@HOST:PORT/NAME."
        ) from None
