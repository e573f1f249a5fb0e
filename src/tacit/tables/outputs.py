"""`Outputs`: files that appear all together at the end, or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import Any

from ..archive import CLOSED, TEMPORARY, settle, unwritten
from .csvwriter import CsvWriter

__all__ = ["Outputs"]


class Outputs:
    """A context in which files are written; they take their places when it ends well, and vanish when it does not.

    Files that were there before are replaced only when all new ones are on the disk.

    Parameters
    ----------
    separator, decimal : str
        What stands between cells of CSV files, and the decimal mark of their numbers.
    replace : bool
        Whether files that are there may be replaced; otherwise they are refused.

    Attributes
    ----------
    paths : list of str
        Where the files will be.

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

    def __init__(self, separator: str = ",", decimal: str = ".", replace: bool = True):
        self.separator, self.decimal, self.replace = separator, decimal, replace
        self.paths: list[str] = []
        self._temporary: list[str] = []
        self._writers: list[Any] = []

    def __enter__(self) -> Outputs:
        return self

    def file(self, path: Any) -> str:
        """The path to write a file to that shall be at `path` in the end."""
        path = os.fspath(path)
        folder = os.path.dirname(os.path.abspath(path))
        if os.path.isdir(path):
            raise ValueError(f"{path} is a folder; name a file to write.")
        if not os.path.isdir(folder):
            raise ValueError(f"the folder {folder} does not exist; create it or choose another.")
        if not self.replace and os.path.exists(path):
            raise ValueError(f"{path} is there already; allow it to be replaced, or choose another name.")
        self.paths.append(path)
        try:
            handle, temporary = tempfile.mkstemp(dir=folder, prefix=TEMPORARY, suffix=os.path.splitext(path)[1])
        except OSError as error:
            raise _worded(error, path) from None
        self._temporary.append(temporary)
        os.close(handle)
        return temporary

    def table(self, path: Any) -> Any:
        """A writer with ``write(columns)``, columns a dictionary of lists or arrays; CSV or Parquet, as the path ends.

        Cells of lists are written as they are, numbers of arrays with ten digits in CSV; None and NaN are missing.
        """
        place = self.file(path)
        if os.path.splitext(path)[1] == ".parquet":
            from ..source.writer import ArrowWriter

            self._writers.append(ArrowWriter(place))
        else:
            self._writers.append(CsvWriter(place, self.separator, self.decimal))
        return self._writers[-1]

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        try:
            if kind is None:
                self._finish()
        except OSError as fault:
            raise _worded(fault, self.paths[-1]) from None
        finally:
            self._discard()
        if isinstance(error, OSError) and self.paths and (found := _worded(error, self.paths[-1])) is not error:
            raise found from None

    def _finish(self) -> None:
        for writer in self._writers:
            writer.close()
        for temporary in self._temporary:
            settle(temporary)
        _swap(self._temporary, self.paths)

    def _discard(self) -> None:
        for writer in self._writers:
            with contextlib.suppress(Exception):  # a disk that is full fails again when what is left is written
                writer.close()
        for temporary in self._temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _swap(temporary: list[str], paths: list[str]) -> None:
    """Put files in their places; if one cannot be, all are as before."""
    kept: list[tuple[str, str]] = []
    try:
        for new, path in zip(temporary, paths):
            old = f"{new}.old" if os.path.exists(path) else ""
            if old:
                _set_aside(path, old)
            kept.append((old, path))
            os.replace(new, path)
    except BaseException:
        for old, path in reversed(kept):
            with contextlib.suppress(OSError):
                _put_back(old, path)
        raise
    for old, _ in kept:
        with contextlib.suppress(OSError):
            os.unlink(old)


def _put_back(old: str, path: str) -> None:
    """Make a place what it was; where that fails, the former file keeps the name it was set aside under."""
    if not old:
        return os.unlink(path)
    os.replace(old, path)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(old)  # two names of one file are not moved onto each other


def _set_aside(path: str, old: str) -> None:
    """A second name for a file, which is then replaced in one step; where a disk knows no links, another name."""
    try:
        os.link(path, old)
    except OSError:
        os.replace(path, old)


def _worded(error: OSError, path: str) -> Exception:
    """An error of the file system with its remedy; a folder that cannot be written to is a bad choice of a folder."""
    found = unwritten(error, path)
    return ValueError(str(found)) if found.errno in CLOSED else found
