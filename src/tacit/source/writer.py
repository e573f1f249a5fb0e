"""Columns written to a Parquet file in a stream, in types that suit all parts."""

import contextlib
import os
from typing import Any, Self

import numpy as np

from ..archive import replacing
from .parquet import arrow

__all__ = ["ArrowWriter", "ParquetWriter"]


class ArrowWriter:
    """Columns written as Parquet, part by part; None and NaN become nulls.

    The first part tells the types. Where a later one needs others (a column was empty so far, or whole numbers get decimals),
    what is written is copied to a file with types that suit both.
    """

    def __init__(self, path: Any) -> None:
        self.arrow, self.path = arrow(), path
        self.writer: Any = None
        self.schema: Any = None

    def write(self, columns: dict[str, Any]) -> None:
        """Append rows."""
        pa = self.arrow
        table = pa.table({name: self._array(values) for name, values in columns.items()})
        if self.schema is None:
            self._open(self.path, table.schema)
        elif table.schema.names != self.schema.names:
            raise ValueError(
                f"rows with the columns {', '.join(columns)} cannot follow {', '.join(self.schema.names)}."
            )
        wider = self._common(table.schema)
        if wider != self.schema:
            self._widen(wider)
        self.writer.write_table(table.cast(self.schema))

    def _array(self, values: Any) -> Any:
        pa = self.arrow
        if isinstance(values, (pa.Array, pa.ChunkedArray)):
            return values
        try:
            return pa.array(values, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):  # of several types
            cells = values.tolist() if isinstance(values, np.ndarray) else values
            return pa.array([None if cell is None or cell != cell else str(cell) for cell in cells], pa.string())

    def _open(self, path: Any, schema: Any) -> None:
        self.schema = schema
        self.writer = self.arrow.parquet.ParquetWriter(path, schema)

    def _common(self, schema: Any) -> Any:
        pa = self.arrow
        fields = []
        for ours, theirs in zip(self.schema, schema):
            try:
                fields.append(
                    pa.unify_schemas([pa.schema([ours]), pa.schema([theirs])], promote_options="permissive").field(0)
                )
            except (pa.ArrowInvalid, pa.ArrowTypeError):
                fields.append(pa.field(ours.name, pa.string()))
        return pa.schema(fields)

    def _widen(self, schema: Any) -> None:
        """Copy what is written to a file of other types."""
        pa = self.arrow
        self.writer.close()
        self.writer = None
        wide = f"{self.path}.wide"
        try:
            with pa.parquet.ParquetFile(self.path) as file:
                self._open(wide, schema)
                for group in range(file.num_row_groups):
                    self.writer.write_table(file.read_row_group(group).cast(schema))
            # The writer keeps its open file, whatever that is called.
            os.replace(wide, self.path)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(wide)

    def close(self) -> None:
        """Write what is left."""
        writer, self.writer = self.writer, None
        if writer is not None:
            writer.close()


class ParquetWriter(ArrowWriter):
    """The same to a file that appears whole or not at all."""

    def __init__(self, path: Any) -> None:
        folder = os.path.dirname(os.path.abspath(path))
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"the folder {folder!r} does not exist; create it first.")
        arrow()  # or say what to install, before there is a file to remove
        self.stack = contextlib.ExitStack()
        super().__init__(self.stack.enter_context(replacing(path)))
        self.stack.callback(self.close)  # before the file takes its place, which it does not where closing fails

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        return self.stack.__exit__(kind, error, trace)
