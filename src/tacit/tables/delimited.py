"""`DelimitedReader`: CSV, TSV and their kin, read by pyarrow in a stream.

A file of one block is text in every cell. Of a longer one, columns that hold numbers with decimals in the first block are read
as numbers at once, and their texts again only where somebody asks; where a later cell is no number, the file is read anew with
that column as text. Files that pyarrow refuses are read once more by the standard library, which says where the fault is.
"""

from __future__ import annotations

import contextlib
import csv
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from ..frames import Cells
from ..notes import Note, NoteError, Option
from ..survey.numerals import numbers_of
from .reader import Reader, checked_names, has_header, header_place, joined_names
from .store import Store
from .textfile import CORRUPT, Utf8, damaged, encoding_error, faulty, find_encoding, open_lines, plain_bytes

__all__ = ["DelimitedReader"]

SEPARATORS = ",;\t|"
NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " ", "bar": "|"}
LOOKED_AT = 20
LOOKED_AT_CHARACTERS = 1 << 20
LONGEST_LINE = 1 << 26
BLOCK = 1 << 23
TEXT, NUMBER = pa.dictionary(pa.int32(), pa.string()), pa.float64()
MOST_TRIALS = 3
"""Columns that are found not to be numbers one after the other; then all are taken as text."""


class DelimitedReader(Reader):
    """Read a text file with a separator, which may be packed by gzip, bzip2, xz or zstd; its first line names the columns.

    The default separator is whichever of comma, semicolon, tab and bar cuts the first lines alike; the default encoding UTF-8, or
    UTF-16 where the file begins with its mark. Lines of a title above the names are found and skipped; `skip` says how many, and
    ``header="no"`` that there are no names.
    """

    is_text = True

    def __init__(
        self, path: str, *, separator: str | None = None, encoding: str | None = None, missing: Iterable[str] = (),
        only: Iterable[str] | None = None, header: Any = None, skip: int | None = None,
    ):  # fmt: skip
        super().__init__(missing)
        self.locate(path)
        self.path = os.fspath(path)
        self.encoding = find_encoding(self.path, encoding)
        self.separator, self.skipped = "" if separator is None else _character(separator), skip or 0
        self.kinds: dict[str, pa.DataType] = {}
        self._stamp: tuple = ()
        self._window: tuple[int, Any] = 0, None
        self._texts: Iterator = iter(())
        with self._guarded():
            first = self._first_lines()
            self.separator = self.separator or _find_separator(first)
            self._read_names(only, has_header(header), skip is None)

    def _first_lines(self) -> list[str]:
        """The first lines; one that only tells the separator, as Excel writes it, is noted and skipped."""
        with open_lines(self.path, self.encoding) as file:
            lines = [file.readline(LONGEST_LINE) for _ in range(self.skipped + LOOKED_AT)]
        if len(lines[0]) >= LONGEST_LINE:
            raise ValueError(
                f"{self.place} has a first line of over {LONGEST_LINE >> 20} million characters; is it a table?"
            )
        told = re.fullmatch(r"sep=(.)[\r\n]*", lines[self.skipped])
        if told:
            self.skipped, self.separator = self.skipped + 1, self.separator or told[1]
        return [line for line in lines[self.skipped :] if line.strip()]

    def _read_names(self, only: Iterable[str] | None, named: bool, look: bool) -> None:
        rows, ends = self._first_rows()
        if not any(name.strip() for row in rows for name in row):
            place = f"below line {self.skipped} of {self.place}" if self.skipped else self.place
            raise ValueError(f"{place} holds nothing but blank lines; a line of names and at least one row are needed.")
        at = header_place(rows) if named and look else 0
        found, self.width = rows[at], len(rows[at])
        self.header_lines = ends[at] if named else ends[0] - 1 - sum(cell.count("\n") for cell in found)
        if not named:
            found = [f"column_{position + 1}" for position in range(self.width)]
        elif at:
            found = joined_names(rows[:at], found)
            text = "names of columns were found in line {line}, below {above!r}; to take other lines, use {option}"
            above = " ".join(cell for cell in rows[0] if cell.strip())[:40]
            self.notes.append(Note("title", text, line=ends[at], above=above, option=Option("skip", ends[at] - 1)))
        elif len(found) > 1 and numbers_of([name.strip() for name in found]) is not None:
            text = "the first line holds numbers only ({first}…) and was taken as names; if it is a row, use {option}"
            self.notes.append(Note("header", text, first=", ".join(found[:3]), option=Option("header", "no")))
        self.names, self.positions = checked_names(found, self.place, self.notes, only)

    def _first_rows(self) -> tuple[list[list[str]], list[int]]:
        """The first rows that are not empty, and the line that each ends in."""
        with open_lines(self.path, self.encoding) as file:
            parsed = csv.reader(islice(file, self.skipped, None), delimiter=self.separator)
            found, ends = [next((row for row in parsed if row), [])], [parsed.line_num + self.skipped]
            with contextlib.suppress(csv.Error):  # of rows, which are refused when they are read
                for row in islice(parsed, LOOKED_AT):
                    if row:
                        found.append(row)
                        ends.append(parsed.line_num + self.skipped)
        return found, ends

    # Reading

    def narrow(self, names: Sequence[str]) -> None:
        kept = [(name, place) for name, place in zip(self.names, self.positions) if name in names]
        self.names, self.positions = [name for name, _ in kept], [place for _, place in kept]

    def load(self) -> Store:
        self._stamp, trials = _stamp(self.path), 0
        while True:
            try:
                return super().load()
            except _Mistyped as fault:
                trials += 1
                self.kinds = {} if trials == MOST_TRIALS else self.kinds | {fault.column: TEXT}

    def read(self) -> Iterator[pa.RecordBatch]:
        parts: Any = self._parts(self.names, self.kinds)
        first, second = next(parts, None), next(parts, None)
        if first is None or second is None or self.kinds:
            yield from (part for part in (first, second) if part is not None)
            yield from parts
            return
        parts.close()
        self.kinds = {name: _kind(column, self.missing.texts) for name, column in zip(self.names, first.columns)}
        yield from self._parts(self.names, self.kinds)

    def _parts(self, columns: list[str], kinds: dict[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        """Yield some columns of all rows, in the types that are wished for or else as text."""
        n_rows = 0
        with self._guarded():
            content = plain_bytes(self.path, self.encoding, self.header_lines)
            file = Utf8(self.path, self.encoding, self.header_lines) if content is None else pa.BufferReader(content)
            with file:
                if not (file.at_end if content is None else not content.size):
                    for batch in self._parsed(file, columns, kinds):
                        n_rows += batch.num_rows
                        yield batch
            # A quote that is never closed makes one cell of all that follows.
            if file.has_nul or file.n_quotes % 2 if content is None else faulty(content):
                self._refuse()
        if not n_rows:
            raise ValueError(f"{self.place} has a line of names but no row below it.")

    def _parsed(self, file: Any, columns: list[str], kinds: dict[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        from pyarrow import csv as arrow_csv

        every = [str(position) for position in range(self.width)]
        wanted = {every[position]: name for name, position in zip(self.names, self.positions) if name in columns}
        reader = arrow_csv.open_csv(
            pa.PythonFile(file, "r") if isinstance(file, Utf8) else file,
            read_options=arrow_csv.ReadOptions(column_names=every, block_size=BLOCK),
            parse_options=arrow_csv.ParseOptions(delimiter=self.separator, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                column_types={place: kinds.get(name, TEXT) for place, name in wanted.items()}, include_columns=list(wanted),
                strings_can_be_null=False, null_values=self.missing.texts.to_pylist(),
            ),
        )  # fmt: skip
        with reader:
            for part in reader:
                if part.num_rows:
                    for name, column in zip(wanted.values(), part.columns):
                        if column.type == NUMBER and not _finite(column):
                            raise _Mistyped(name)
                    yield part.rename_columns(list(wanted.values()))

    # Cells

    def cells(self, name: str, column: pa.Array, start: int) -> Cells:
        if column.type != NUMBER:
            return self.missing.of_texts(column)
        gone = column.is_null().to_numpy(zero_copy_only=False)
        rows = np.arange(start, start + len(column))
        return Cells(column.to_numpy(zero_copy_only=False), gone, given=_Written(self, name, rows))

    def texts(self, name: str, rows: np.ndarray) -> pa.Array:
        """Texts of a column that was read as numbers, at some rows of one batch, in order; the file is read again for them."""
        if _stamp(self.path) != self._stamp:
            raise ValueError(f"{self.place} was changed while it was read, so start again.")
        start, window = self._window
        if window is None or rows[0] < start:
            columns = [name for name, kind in self.kinds.items() if kind == NUMBER]
            self._texts = self._parts(columns, dict.fromkeys(columns, pa.string()))
            start, window = 0, next(self._texts)
        while rows[0] >= start + window.num_rows:
            start, window = start + window.num_rows, next(self._texts)
        self._window = start, window
        texts, first = window.column(name), int(rows[0]) - start
        together = int(rows[-1]) - int(rows[0]) + 1 == len(rows)
        return compute.utf8_trim_whitespace(
            texts.slice(first, len(rows)) if together else texts.take(pa.array(rows - start))
        )

    # Faults

    def _refuse(self) -> None:
        """Raise where a line has a fault."""
        ended = False

        def lines() -> Iterator[str]:
            nonlocal ended
            for number, line in enumerate(islice(file, self.header_lines, None), self.header_lines + 1):
                if "\0" in line:
                    raise ValueError(f"{self.place}, line {number}: it holds a NUL character; is the file damaged?")
                yield line
            ended = True

        with open_lines(self.path, self.encoding) as file:
            parsed, before = csv.reader(lines(), delimiter=self.separator), self.header_lines
            try:
                for row in parsed:
                    number = self.header_lines + parsed.line_num
                    if ended:  # a row that comes after the end was asked for is one whose quote is open
                        line = number - "".join(row).rstrip("\r\n").count("\n")
                        raise ValueError(
                            f'{self.place}: a quote (") opens in or after line {max(line, 1)} and is never closed; close it.'
                        )
                    if row and len(row) != self.width:
                        raise self._wrong_width(before + 1 + sum(cell.count("\n") for cell in row), len(row))
                    before = number
            except csv.Error as error:
                told = str(error)
                if "field larger" in told:
                    told = (
                        f"a cell is longer than {csv.field_size_limit():,} characters; a quote is probably not closed in or "
                        "before that line"
                    )
                raise ValueError(f"{self.place}, line {self.header_lines + parsed.line_num}: {told}.") from None

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """Say errors of decoding and of parsing in words."""
        try:
            yield
        except CORRUPT as error:
            raise damaged(self.path, error) from None
        except csv.Error as error:
            raise self._no_table(error) from None
        except pa.ArrowException as error:
            if "invalid UTF8" in str(error):
                raise encoding_error(self.path, self.encoding) from None
            if found := re.match(r"In CSV column #(\d+): (?:Row #\d+: )?CSV conversion error to double", str(error)):
                raise _Mistyped(self.names[self.positions.index(int(found[1]))]) from None
            self._refuse()
            raise self._no_table(error) from None
        except UnicodeError:
            raise encoding_error(self.path, self.encoding) from None

    def _no_table(self, error: Exception) -> ValueError:
        return ValueError(f"{self.path} is not a table of text: {str(error).splitlines()[0].rstrip('.')}.")

    def _wrong_width(self, line: int, n: int) -> NoteError:
        cells = "1 cell" if n == 1 else f"{n} cells"
        return NoteError(
            "width", "{place}, line {line}: {cells} under {width} column names; quote cells that hold the separator, or use "
            "another than {option}.", place=self.place, line=line, cells=cells, width=self.width,
            option=Option("separator", self.separator),
        )  # fmt: skip


def _character(separator: str) -> str:
    """A separator that was asked for."""
    separator = NAMED.get(separator, separator)
    if len(separator) != 1 or separator in '"\r\n':
        raise NoteError(
            "separator", "{option} is not one character; use , ; | tab or space.", option=Option("separator", separator)
        )
    return separator


def _find_separator(lines: list[str]) -> str:
    """The separator that cuts most of the first lines into as many cells as the first, and into most cells."""
    lines = lines if sum(map(len, lines)) < LOOKED_AT_CHARACTERS else lines[:1]

    def score(separator: str) -> tuple:
        try:
            rows = [row for row in csv.reader(lines, delimiter=separator) if row]
        except csv.Error:
            return ()
        first = width = len(rows[0]) if rows else 1
        if first == 1 and rows:  # below a title, perhaps
            width = Counter(map(len, rows)).most_common(1)[0][0]
        alike = sum(len(row) == width for row in rows) / max(len(rows), 1)
        return width > 1, alike > 0.5, first > 1, first > 1 or alike, width

    return max(SEPARATORS, key=score)


def _stamp(path: str) -> tuple:
    """What changes when a file does."""
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns


# Columns of numbers


class _Mistyped(Exception):
    """A column that was read as numbers holds something else."""

    def __init__(self, column: str):
        super().__init__(column)
        self.column = column


class _Written:
    """Cells of a text file that were read as numbers, as they are written; `rows` are numbers of rows of the table."""

    def __init__(self, reader: DelimitedReader, name: str, rows: np.ndarray):
        self.reader, self.name, self.rows = reader, name, rows

    def take(self, rows: np.ndarray) -> _Written:
        return _Written(self.reader, self.name, self.rows[rows])

    def written(self) -> pa.Array:
        return self.reader.texts(self.name, self.rows) if len(self.rows) else pa.array([], pa.string())

    def to_pylist(self) -> list[str]:
        return self.written().to_pylist()


def _kind(column: pa.DictionaryArray, missing: pa.Array) -> pa.DataType:
    """The type that a column is read in: numbers with decimals as such; whole ones may be codes, whose texts count."""
    texts = column.dictionary.filter(compute.invert(compute.is_in(column.dictionary, missing)))
    try:
        values = texts.cast(NUMBER).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return TEXT
    return NUMBER if len(values) and np.isfinite(values).all() and (values != np.floor(values)).any() else TEXT


def _finite(column: pa.DoubleArray) -> bool:
    """Whether all cells but the missing ones are finite."""
    return int(np.isfinite(column.to_numpy(zero_copy_only=False)).sum()) == len(column) - column.null_count
