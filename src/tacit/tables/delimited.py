"""`DelimitedReader`: CSV, TSV and their kin, cut into cells by pyarrow in a stream; every cell is text.

Files that pyarrow refuses are read once more by the standard library, which says where the fault is.
"""

from __future__ import annotations

import contextlib
import csv
import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice

import pyarrow as pa

from ..frames import Batch
from ..notes import NoteError, Option
from ..survey.numerals import numbers_of
from .arrow import arrow_batches
from .reader import Reader, checked_names
from .textfile import CORRUPT, Utf8, damaged, encoding_error, find_encoding, open_lines

__all__ = ["DelimitedReader"]

SEPARATORS = ",;\t|"
NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " ", "bar": "|"}
LOOKED_AT = 20
LOOKED_AT_CHARACTERS = 1 << 20
LONGEST_LINE = 1 << 26
BLOCK = 1 << 22


class DelimitedReader(Reader):
    """Read a text file with a separator, which may be packed by gzip, bzip2 or xz; its first line names the columns.

    The default separator is whichever of comma, semicolon, tab and bar cuts the first lines alike; the default encoding UTF-8, or
    UTF-16 where the file begins with its mark.
    """

    is_text = True

    def __init__(
        self, path: str, *, separator: str | None = None, encoding: str | None = None, missing: Iterable[str] = (),
        only: Iterable[str] | None = None,
    ):  # fmt: skip
        super().__init__(missing)
        self.locate(path)
        self.path = os.fspath(path)
        self.encoding = find_encoding(self.path, encoding)
        self.separator, self.skipped = "" if separator is None else _character(separator), 0
        with self._guarded():
            first = self._first_lines()
            self.separator = self.separator or _find_separator(first)
            self._read_names(only)

    def _first_lines(self) -> list[str]:
        """The first lines; one that only tells the separator, as Excel writes it, is noted and skipped."""
        with open_lines(self.path, self.encoding) as file:
            lines = [file.readline(LONGEST_LINE) for _ in range(LOOKED_AT)]
        if len(lines[0]) >= LONGEST_LINE:
            raise ValueError(
                f"{self.place} has a first line of over {LONGEST_LINE >> 20} million characters; is it a table?"
            )
        told = re.fullmatch(r"sep=(.)[\r\n]*", lines[0])
        if told:
            self.skipped, self.separator = 1, self.separator or told[1]
        return [line for line in lines[self.skipped :] if line.strip()]

    def _read_names(self, only: Iterable[str] | None) -> None:
        with open_lines(self.path, self.encoding) as file:
            rows = csv.reader(islice(file, self.skipped, None), delimiter=self.separator)
            found = next((row for row in rows if row), [])
            self.header_lines = rows.line_num + self.skipped
        if not any(name.strip() for name in found):
            raise ValueError(
                f"{self.place} holds nothing but blank lines; a line of names and at least one row are needed."
            )
        self.width = len(found)
        if len(found) > 1 and numbers_of([name.strip() for name in found]) is not None:
            self.notes.append(
                f"the first line holds numbers only ({', '.join(found[:3])}…) and was taken as names; if it is a row, write a "
                "line of names above it"
            )
        self.names, self.positions = checked_names(found, self.place, self.notes, only)

    def read(self) -> Iterator[Batch]:
        n_rows = 0
        with self._guarded(), Utf8(self.path, self.encoding, self.header_lines) as file:
            for batch in self._parsed(file):
                n_rows += batch.n_rows
                yield batch
            if file.has_nul or file.n_quotes % 2:  # a quote that is never closed makes one cell of all that follows
                self._refuse()
        if not n_rows:
            raise ValueError(f"{self.place} has a line of names but no row below it.")

    def _parsed(self, file: Utf8) -> Iterator[Batch]:
        from pyarrow import csv as arrow_csv

        if file.at_end:
            return
        names = [str(position) for position in range(self.width)]
        wanted = [names[position] for position in self.positions]
        reader = arrow_csv.open_csv(
            pa.PythonFile(file, "r"),
            read_options=arrow_csv.ReadOptions(column_names=names, block_size=BLOCK),
            parse_options=arrow_csv.ParseOptions(delimiter=self.separator, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(wanted, pa.string()), strings_can_be_null=False, include_columns=wanted
            ),
        )
        for part in reader:
            if part.num_rows:
                yield from arrow_batches(self, part.columns)

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

    def score(separator: str) -> tuple[bool, bool, int]:
        try:
            rows = [row for row in csv.reader(lines, delimiter=separator) if row]
        except csv.Error:
            return False, False, 0
        width = len(rows[0]) if rows else 1
        return width > 1, sum(len(row) == width for row in rows) / max(len(rows), 1) > 0.5, width

    return max(SEPARATORS, key=score)
