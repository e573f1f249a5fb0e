"""`DuckReader`: a query of DuckDB, which also reads files of many kinds where they are."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from .sql import ArrowQueryReader

__all__ = ["DuckReader"]


class DuckReader(ArrowQueryReader):
    """Read a query of a DuckDB database, opened for reading only.

    Without a file, queries read other files: ``select * from 'visits.parquet'``.
    """

    def __init__(self, path: str | None, sql: str, missing: Iterable[str] = ()):
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
        with self._guarded():
            self._refuse_writing(duckdb.StatementType.SELECT)
            # Rows must come in the same order at every pass, which threads of a query without an order do not promise.
            self.connection.execute("set threads = 1")
        self._learn_columns()

    def _refuse_writing(self, reading: Any) -> None:
        """A database in memory cannot be opened for reading only, and COPY writes files from any."""
        kinds = [statement.type for statement in self.connection.extract_statements(self.sql)]
        if kinds != [reading]:
            words = ", ".join(str(kind).rpartition(".")[2].lower() for kind in kinds)
            raise ValueError(
                f"the query holds {words}, and one query that only reads is run; begin with select or with."
            )

    @contextlib.contextmanager
    def _run(self, rows: int) -> Iterator[Any]:
        with self._guarded():
            relation: Any = self.connection.sql(self.sql)
            fetch = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader  # before DuckDB 1.4
            with fetch(rows) as reader:
                yield reader
