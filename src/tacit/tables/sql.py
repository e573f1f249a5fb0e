"""Queries: the rows of a database, scanned in batches and never copied to a file. No query can write."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pyarrow as pa

from .arrow import odd_columns
from .reader import Reader, checked_names

__all__ = ["ArrowQueryReader", "QueryReader", "open_query"]

SCHEMES = "duckdb://FILE, sqlite:///FILE or postgresql://USER@HOST/NAME"
FIRST_WORDS = ("select", "with", "from", "values", "table", "(")
COMMENTS = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
TABLE_NAME = re.compile(r"""\bfrom\s+(?:[\w"]+\.)*(?:"([^"]+)"|'([^']+)'|(\w+))""", re.IGNORECASE)


def open_query(url: Any, sql: str, missing: Iterable[str] = ()) -> QueryReader:
    """The reader of one query that only reads.

    The database is ``duckdb://FILE``, ``duckdb://`` (in memory, for queries of files), ``sqlite:///FILE`` or ``postgresql://…``.
    """
    scheme, found, _ = str(url).partition("://")
    scheme = scheme.lower().partition("+")[0]
    if not found or scheme not in ("duckdb", "sqlite", "postgresql", "postgres"):
        raise ValueError(f"{without_password(str(url))!r} is not a supported database; use {SCHEMES}.")
    sql = sql.strip().rstrip(";").strip()
    first = COMMENTS.sub(" ", sql).split(None, 1)
    if not first:
        raise ValueError("the query is empty; write one such as 'select * from visits'.")
    if not first[0].lower().startswith(FIRST_WORDS):
        raise ValueError(
            f"the query begins with {first[0]!r}, and only queries that read are run; begin with select or with."
        )
    if scheme == "duckdb":
        from .duck import DuckReader

        return DuckReader(file_of(url), sql, missing)
    if scheme == "sqlite":
        from .sqlite import SqliteReader

        return SqliteReader(file_of(url), sql, missing)
    from .postgres import PostgresReader

    return PostgresReader(url, sql, missing)


class QueryReader(Reader):
    """Base of readers of queries: `database` is what messages call the database, `errors` what it raises."""

    errors: tuple[type[BaseException], ...] = ()

    def __init__(self, database: str, sql: str, missing: Iterable[str] = ()):
        super().__init__(missing)
        self.sql = sql
        shown = " ".join(sql.split())
        self.place = f"{database}: {shown if len(shown) <= 60 else shown[:59] + '…'}"
        self.database = database
        named = TABLE_NAME.search(COMMENTS.sub(" ", sql))
        found = next(filter(None, named.groups())) if named else "query"
        self.name = re.sub(r"\W+", "_", os.path.splitext(os.path.basename(found))[0]).strip("_") or "query"

    def _run(self, rows: int) -> AbstractContextManager:
        """A context with the rows of the query, in parts of at most so many where the database can."""
        raise NotImplementedError

    def _learn_names(self, names: list[str]) -> None:
        if not names:
            raise ValueError(f"{self.place} gives no columns; begin the query with select or with.")
        self.names, _ = checked_names(names, self.place, self.notes)

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except self.errors as error:
            raise self.fault(error) from None

    def fault(self, error: BaseException) -> ValueError:
        """An error of the database in one line."""
        lines = [line.strip() for line in str(error).splitlines()]
        first = next((line for line in lines if line), type(error).__name__)
        return ValueError(f"{self.database}: {first.rstrip('.')}; correct the query.")


class ArrowQueryReader(QueryReader):
    """Base of readers of databases that give Arrow batches."""

    def _learn_columns(self) -> None:
        with self._run(1) as reader:
            schema = reader.schema
        self._learn_names(schema.names)
        self.odd = odd_columns(self.names, [getattr(kind, "storage_type", kind) for kind in schema.types])

    def read(self) -> Iterator[pa.RecordBatch]:
        with self._run(self.batch_rows) as reader:
            for part in reader:
                yield pa.RecordBatch.from_arrays(part.columns, names=self.names)


def file_of(url: Any) -> str | None:
    """Path of the database file that a URL names, None if it names none."""
    rest = unquote(str(url).partition("://")[2])
    if rest in ("", "/", ":memory:", "/:memory:"):
        return None
    # sqlite:///shop.db is beside us and sqlite:////data/shop.db is not; people write other numbers of slashes, too.
    for path in (rest.removeprefix("/"), rest):
        if os.path.exists(os.path.expanduser(path)):
            return os.path.expanduser(path)
    raise ValueError(f"there is no database file {rest.removeprefix('/') if not rest.startswith('//') else rest[1:]}.")


def without_password(url: str) -> str:
    """A URL without what must stay secret."""
    for secret in secrets_of(url):
        url = url.replace(secret, "***")
    return url


def secrets_of(url: str) -> list[str]:
    """Passwords in a URL, as they are written there and as they are meant; the longest first."""
    try:
        parts = urlsplit(url)
        found = {parts.password or ""} | {
            value for key, value in parse_qsl(parts.query, keep_blank_values=True) if "pass" in key.lower()
        }
    except ValueError:
        found = set()
    written = {text.partition("=")[2] for text in re.findall(r"pass\w*=[^&\s]*", url, re.IGNORECASE)}
    # Beside the URL's own rules, whatever stands between a colon and the last @.
    match = re.match(r"\w+://[^:/@]*:(.*)@", url)
    written |= {match[1]} if match else set()
    return sorted({form for text in found | written if text for form in (text, unquote(text))}, key=len, reverse=True)
