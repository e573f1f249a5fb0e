"""`ParquetWriter`: columns written to a Parquet file in a stream."""

import os

from ..archive import replacing
from .parquet import arrow

__all__ = ["ParquetWriter"]


class ParquetWriter:
    """Write columns to a Parquet file in a stream; the file appears whole or not at all."""

    def __init__(self, path):
        folder = os.path.dirname(os.path.abspath(path))
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"the folder {folder!r} does not exist; create it first.")
        self.place = replacing(path)
        self.temporary = self.place.__enter__()
        self.writer = None

    def write(self, columns):
        """Append columns, a dictionary of arrays."""
        pa = arrow()
        table = pa.table(columns)
        if self.writer is None:
            self.writer = pa.parquet.ParquetWriter(self.temporary, table.schema)
        self.writer.write_table(table)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if self.writer is not None:
            self.writer.close()
        return self.place.__exit__(kind, error, trace)
