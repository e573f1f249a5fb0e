"""`PostgresReader`: a query of a PostgreSQL database, streamed as Arrow batches through ADBC."""

import weakref
from urllib.parse import urlsplit

from .arrow import arrow_batches, odd_columns
from .reader import checked_names
from .sql import QueryReader, secrets_of

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


class PostgresReader(QueryReader):
    """Read a query of a PostgreSQL database in one transaction that cannot write.

    Parameters
    ----------
    url : str
        ``postgresql://user:password@host:port/name``; the password appears in no message.
    sql : str
        The query.
    missing : iterable of str
        Texts that stand for missing beside the usual ones.
    """

    def __init__(self, url, sql, missing=()):
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
        with self._run() as reader:
            schema = reader.schema
        # A query that failed while nobody was reading leaves the transaction in ruins.
        self._begin()
        if not schema.names:
            raise ValueError(f"{self.place} gives no columns; begin the query with select or with.")
        self.names, _ = checked_names(schema.names, self.place, self.notes)
        self.odd = odd_columns(self.names, [getattr(kind, "storage_type", kind) for kind in schema.types])

    def _connect(self, dbapi, url):
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

    def _begin(self):
        """Begin the transaction of all passes."""
        try:
            self.connection.rollback()
            for setting in SETTINGS:
                with self.connection.cursor() as cursor:
                    cursor.execute(setting)
        except self.errors as error:
            raise self.fault(error) from None

    def _reason(self, error):
        """The line of an error that says what is wrong, without secrets."""
        text = str(error).split("Query was:")[0]
        for secret in self.secrets:
            text = text.replace(secret, "***")
        text = text.rpartition("ERROR:")[2] if "ERROR:" in text else text
        return next((line.strip() for line in text.splitlines() if line.strip()), type(error).__name__)

    def fault(self, error):
        """An error of the database in one line."""
        reason = self._reason(error)
        if "read-only transaction" in reason:
            return ValueError(
                f"the query does more than read ({reason}), and only queries that read are run; begin with select."
            )
        return super().fault(ValueError(reason))

    def _run(self):
        return _Result(self)

    def read(self):
        with self._run() as reader:
            for part in reader:
                yield from arrow_batches(self, part.columns)


class _Result:
    """Rows of a query while they are read."""

    def __init__(self, owner):
        self.owner = owner

    def __enter__(self):
        self.cursor = self.owner.connection.cursor()
        try:
            self.cursor.execute(self.owner.sql)
            return self.cursor.fetch_record_batch()
        except self.owner.errors as error:
            self.cursor.close()
            raise self.owner.fault(error) from None

    def __exit__(self, kind, error, trace):
        self.cursor.close()
        if isinstance(error, self.owner.errors):
            raise self.owner.fault(error) from None


def _shown(url):
    """Host and name of a database, without user and password."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
        return f"postgresql://{parts.hostname or 'localhost'}{port}{parts.path}"
    except ValueError:
        raise ValueError(
            "the address of the database is not of the form postgresql://USER:PASSWORD@HOST:PORT/NAME."
        ) from None
