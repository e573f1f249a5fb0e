"""Tables of Arrow and Parquet: read in batches, never whole."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import ipc, types

from .reader import Reader, checked_names

__all__ = ["ArrowReader", "odd_columns"]


class ArrowReader(Reader):
    """Read a file of Parquet or Arrow; its `kind` is "parquet", "arrow" or "stream"."""

    format = "parquet"

    def __init__(self, path: str, kind: str, missing: Iterable[str] = (), only: Iterable[str] | None = None):
        super().__init__(missing)
        self.locate(path)
        self.path, self.kind, self.mapped = path, kind, kind == "arrow"
        with self._guarded(), self._opened() as file:
            schema = file.schema_arrow if kind == "parquet" else file.schema
        self.names, self.positions = checked_names(schema.names, self.place, self.notes, only)
        self.fields = [schema.names[position] for position in self.positions]
        # Parquet reads those columns alone; files of Arrow are mapped whole.
        self.places = range(len(self.fields)) if kind == "parquet" else self.positions
        self.odd = odd_columns(self.names, [schema.field(position).type for position in self.positions])

    def narrow(self, names: Sequence[str]) -> None:
        chosen = [place for place, name in enumerate(self.names) if name in names]
        self.positions, self.fields = (
            [self.positions[place] for place in chosen],
            [self.fields[place] for place in chosen],
        )
        self.names = [self.names[place] for place in chosen]
        self.places = range(len(self.fields)) if self.kind == "parquet" else self.positions

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except (pa.ArrowException, OSError, EOFError) as error:
            first = str(error).strip().split("\n")[0]
            raise ValueError(
                f"{self.place} cannot be read as {self.kind.title()} ({first}); it may be damaged, so write it again."
            ) from None

    def _opened(self) -> Any:
        if self.kind == "parquet":
            from pyarrow import parquet

            # Read ahead, the whole file would come to lie in memory.
            return parquet.ParquetFile(self.path, pre_buffer=False)
        return ipc.open_file(pa.memory_map(self.path)) if self.kind == "arrow" else ipc.open_stream(self.path)

    def _parts(self) -> Iterator[pa.RecordBatch]:
        with self._opened() as file:
            if self.kind == "parquet":
                yield from file.iter_batches(batch_size=self.batch_rows, columns=self.fields)
            else:
                yield from map(file.get_batch, range(file.num_record_batches)) if self.kind == "arrow" else file

    def read(self) -> Iterator[pa.RecordBatch]:
        parts = self._parts()
        while True:
            with self._guarded():
                part = next(parts, None)
            if part is None:
                return
            yield pa.RecordBatch.from_arrays([part.column(place) for place in self.places], names=self.names)


def odd_columns(names: Iterable[str], kinds: Iterable[pa.DataType]) -> dict[str, str]:
    """Columns whose type no model can use, and what they hold in words."""
    found = {}
    for name, kind in zip(names, kinds):
        if types.is_nested(kind) and not types.is_dictionary(kind):
            found[name] = "lists or records"
        elif types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
            found[name] = "binary data"
    return found
