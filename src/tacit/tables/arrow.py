"""Tables of Arrow and Parquet."""

from ..source.parquet import arrow

__all__ = ["ArrowWriter"]


class ArrowWriter:
    """Columns written as Parquet, part by part."""

    def __init__(self, path):
        self.arrow, self.path, self.writer = arrow(), path, None

    def write(self, columns):
        """Append rows."""
        table = self.arrow.table(columns)
        if self.writer is None:
            self.writer = self.arrow.parquet.ParquetWriter(self.path, table.schema)
        self.writer.write_table(table)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.writer is not None:
            self.writer.close()
