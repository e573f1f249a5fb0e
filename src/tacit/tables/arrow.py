"""Tables of Arrow and Parquet: read in batches, never whole."""

import contextlib
from functools import partial

from ..frames import Batch
from ..source.parquet import arrow
from ..survey.cells import cells_of_arrow
from .reader import Reader, checked_names

__all__ = ["ArrowReader", "arrow_batches", "odd_columns"]


class ArrowReader(Reader):
    """Read a Parquet or Arrow file.

    Parameters
    ----------
    path : str
        The file.
    kind : {"parquet", "arrow", "stream"}
        What it is.
    missing : iterable of str
        Texts that stand for missing beside the usual ones.
    only : list of str, optional
        The columns to read where there are too many for all.
    """

    format = "parquet"

    def __init__(self, path, kind="parquet", missing=(), only=None):
        super().__init__(missing)
        self.locate(path)
        self.path, self.kind = path, kind
        pa = arrow()
        with self._guarded():
            if kind == "parquet":
                with pa.parquet.ParquetFile(path) as file:
                    schema = file.schema_arrow
            else:
                with self._opened() as file:
                    schema = file.schema
        self.names, self.positions = checked_names(schema.names, self.place, self.notes, only)
        self.fields = [schema.names[position] for position in self.positions]
        self.odd = odd_columns(self.names, [schema.field(position).type for position in self.positions])

    @contextlib.contextmanager
    def _guarded(self):
        pa = arrow()
        try:
            yield
        except (pa.ArrowException, OSError, EOFError) as error:
            first = str(error).strip().split("\n")[0]
            raise ValueError(
                f"{self.place} cannot be read as {self.kind.title()} ({first}); it may be damaged, so write it again."
            ) from None

    def _opened(self):
        pa = arrow()
        if self.kind == "arrow":
            return pa.ipc.open_file(pa.memory_map(self.path))
        return pa.ipc.open_stream(self.path)

    def _parts(self):
        pa = arrow()
        if self.kind == "parquet":
            with pa.parquet.ParquetFile(self.path) as file:
                yield from file.iter_batches(batch_size=self.batch_rows, columns=self.fields)
            return
        with self._opened() as file:
            parts = map(file.get_batch, range(file.num_record_batches)) if self.kind == "arrow" else file
            yield from parts

    def read(self):
        parts = self._parts()
        while True:
            with self._guarded():
                part = next(parts, None)
            if part is None:
                return
            columns = [part.column(field) for field in self.fields]
            yield from arrow_batches(self, columns)


def arrow_batches(reader, columns):
    """Yield Arrow columns as batches of at most so many rows as the reader wants."""
    n_rows = len(columns[0])
    for start in range(0, n_rows, reader.batch_rows):
        parts = (column.slice(start, reader.batch_rows) for column in columns)
        cells = reader.missing.of_texts if reader.is_text else partial(cells_of_arrow, missing=reader.missing)
        yield Batch(zip(reader.names, map(cells, parts)))


def odd_columns(names, kinds):
    """Columns whose type no model can use, and what they hold in words."""
    types = arrow().types
    found = {}
    for name, kind in zip(names, kinds):
        if types.is_nested(kind) and not types.is_dictionary(kind):
            found[name] = "lists or records"
        elif types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
            found[name] = "binary data"
    return found
