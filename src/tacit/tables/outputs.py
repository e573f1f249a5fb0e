"""`Outputs`: files that appear all together at the end, or not at all."""

import contextlib
import csv
import os

from ..archive import replacing

__all__ = ["Outputs"]


class Outputs:
    """A context in which files are written; they take their places when it ends well, and vanish when it does not.

    Examples
    --------
    >>> import os, tempfile
    >>> from tacit.tables import Outputs
    >>> folder = tempfile.mkdtemp()
    >>> with Outputs() as outputs:
    ...     groups = outputs.table(os.path.join(folder, "groups.csv"))
    ...     groups.write({"row": [1, 2], "group": [2, None]})
    >>> print(open(os.path.join(folder, "groups.csv")).read().strip())
    row,group
    1,2
    2,
    """

    def __init__(self):
        self.stack = contextlib.ExitStack()
        self.paths = []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return self.stack.__exit__(*error)

    def file(self, path):
        """The path to write a file to that shall be at `path` in the end."""
        self.paths.append(path)
        return self.stack.enter_context(replacing(path))

    def table(self, path):
        """A writer with ``write(columns)``, columns a dictionary of lists or arrays; CSV or Parquet, as the path ends."""
        place = self.file(path)
        if os.path.splitext(path)[1] == ".parquet":
            from .arrow import ArrowWriter

            return self.stack.enter_context(ArrowWriter(place))
        return self.stack.enter_context(CsvWriter(place))


class CsvWriter:
    """Columns written as CSV, part by part; None and NaN become empty cells."""

    def __init__(self, path):
        self.file = open(path, "w", newline="", encoding="utf-8")  # noqa: SIM115
        self.writer = csv.writer(self.file, lineterminator="\n")
        self.started = False

    def write(self, columns):
        """Append rows."""
        if not self.started:
            self.writer.writerow(columns)
            self.started = True
        self.writer.writerows(zip(*(map(_text, values) for values in columns.values())))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.file.close()


def _text(value):
    if value is None or value != value:
        return ""
    return f"{value:.10g}" if isinstance(value, float) else value
