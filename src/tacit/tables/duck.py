"""`DuckReader`: a query of DuckDB, which also reads files of many kinds where they are."""

from typing import Any

import pyarrow as pa

from .arrow import arrow_batches, odd_columns
from .reader import checked_names
from .sql import QueryReader

__all__ = ["DuckReader"]


class DuckReader(QueryReader):
    """Read a query of a DuckDB database, opened for reading only.

    Parameters
    ----------
    path : str or None
        The database file; None for none, where queries read files: ``select * from 'visits.parquet'``.
    sql : str
        The query.
    missing : iterable of str
        Texts that stand for missing beside the usual ones.
    """

    def __init__(self, path, sql, missing=()):
        super().__init__(path or "duckdb", sql, missing)
        try:
            import duckdb
        except ImportError as error:
            raise ImportError("reading duckdb:// needs duckdb; install it with: pip install 'tacit[sql]'") from error
        self.errors = (duckdb.Error, pa.ArrowException, RuntimeError)
        try:
            self.connection = duckdb.connect(path or ":memory:", read_only=path is not None)
        except self.errors as error:
            reason = str(error).splitlines()[0]
            raise ValueError(f"{path} cannot be opened as a DuckDB database: {reason}") from None
        try:
            self._refuse_writing(duckdb)
            # Rows must come in the same order at every pass, which threads of a query without an order do not promise.
            self.connection.execute("set threads = 1")
            with self._run(1) as reader:
                schema = reader.schema
        except self.errors as error:
            raise self.fault(error) from None
        self.names, _ = checked_names(schema.names, self.place, self.notes)
        self.odd = odd_columns(self.names, schema.types)

    def _refuse_writing(self, duckdb):
        """A database in memory cannot be opened for reading only, and COPY writes files from any."""
        statements = self.connection.extract_statements(self.sql)
        kinds = [statement.type for statement in statements]
        if kinds != [duckdb.StatementType.SELECT]:
            words = ", ".join(str(kind).rpartition(".")[2].lower() for kind in kinds)
            raise ValueError(
                f"the query holds {words}, and one query that only reads is run; begin with select or with."
            )

    def _run(self, rows):
        relation = self.connection.sql(self.sql)
        if hasattr(relation, "to_arrow_reader"):
            return relation.to_arrow_reader(rows)
        older: Any = self.connection.execute(self.sql)
        return older.fetch_record_batch(rows)  # before DuckDB 1.4

    def read(self):
        try:
            with self._run(self.batch_rows) as reader:
                for part in reader:
                    yield from arrow_batches(self, part.columns)
        except self.errors as error:
            raise self.fault(error) from None
