"""`DelimitedReader`: CSV, TSV and their kin, by the standard library; every cell is text."""

import csv
import io
import os
import re
from itertools import chain, islice

from ..frames import Batch
from ..notes import NoteError, Option
from ..survey.cells import Missing
from ..survey.numerals import numbers_of
from .chunks import chunk_batches
from .reader import Reader, checked_names
from .textfile import CORRUPT, encoding_error, find_encoding, open_bytes, open_lines

__all__ = ["DelimitedReader"]

SEPARATORS = ",;\t|"
NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " ", "bar": "|"}
PLAIN = ("utf-8", "utf-8-sig", "ascii", "cp1252", "iso8859-1")
"""Encodings in which a separator is one byte, and no other letter holds that byte."""
LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
WORTH_COMPILING = 1 << 20
LOOKED_AT = 20
LOOKED_AT_CHARACTERS = 1 << 20
LONGEST_LINE = 1 << 26


class DelimitedReader(Reader):
    """Read a text file with a delimiter.

    Parameters
    ----------
    path : str
        The file, which may be packed by gzip, bzip2 or xz; its first line names the columns.
    separator : str, optional
        What stands between cells; default whichever of comma, semicolon, tab and bar cuts the first lines alike.
    encoding : str, optional
        Default UTF-8, or UTF-16 where the file begins with its mark.
    missing : iterable of str
        Texts that stand for missing beside the usual ones.
    only : list of str, optional
        The columns to read where there are too many for all.
    """

    is_text = True

    def __init__(self, path, *, separator=None, encoding=None, missing=(), only=None):
        super().__init__()
        self.locate(path)
        self.path, self.missing = os.fspath(path), Missing(missing)
        self.encoding = find_encoding(self.path, encoding)
        self.separator = _character(separator)
        self.skipped = 0
        first = self._first_lines()
        if self.separator is None:
            self.separator = _find_separator(first)
        self._read_names(only)

    def _first_lines(self):
        """The first lines; one that only tells the separator, as Excel writes it, is noted and skipped."""
        with self._guarded(), open_lines(self.path, self.encoding) as file:
            lines = [file.readline(LONGEST_LINE) for _ in range(LOOKED_AT)]
        if len(lines[0]) >= LONGEST_LINE:
            raise ValueError(
                f"{self.place} has a first line of over {LONGEST_LINE >> 20} million characters; is it a table?"
            )
        told = re.fullmatch(r"sep=(.)[\r\n]*", lines[0])
        if told:
            self.skipped, self.separator = 1, self.separator or told[1]
        return [line for line in lines[self.skipped :] if line.strip()]

    def _read_names(self, only):
        with self._guarded(), open_lines(self.path, self.encoding) as file:
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

    def read(self):
        n_rows = 0
        with self._guarded():
            for batch in self._plain() if self._is_plain() else self._quoted():
                n_rows += batch.n_rows
                yield batch
        if not n_rows:
            raise ValueError(f"{self.place} has a line of names but no row below it.")

    def _is_plain(self):
        """Whether compiled loops may read it; small files are read before those are loaded."""
        one_byte = self.encoding in PLAIN and ord(self.separator) < 128
        return one_byte and not self.separator.isspace() and os.path.getsize(self.path) >= WORTH_COMPILING

    def _plain(self):
        """Batches of the lines without quotes, and from the first that has one all others as they are."""
        with open_bytes(self.path) as file:
            if any(b"\r" in file.readline().rstrip(b"\r\n") for _ in range(self.header_lines)):
                file.close()
                yield from self._quoted()
                return
            rest, n_lines = yield from chunk_batches(self, file)
            if rest:
                lines = chain(io.BytesIO(rest), file) if rest.endswith(b"\n") else _joined(rest, file)
                yield from self._parse(_Lines(_decoded(lines, self.encoding), n_lines, self.place))

    def _quoted(self):
        with open_lines(self.path, self.encoding) as file:
            yield from self._parse(_Lines(islice(file, self.header_lines, None), self.header_lines, self.place))

    def _parse(self, lines):
        """Batches of lines that may hold anything."""
        parsed = csv.reader(lines, delimiter=self.separator)
        while not lines.ended:
            before = lines.number
            rows = self._parsed(parsed, lines)
            # A row that comes after the end was asked for is one whose quote is open.
            if lines.ended > (len(rows) < self.batch_rows):
                self._refuse_open_quote(lines, rows)
            kept = self._checked(rows, before) if rows else []
            if kept:
                yield self._batch(kept)

    def _parsed(self, rows, lines):
        try:
            return list(islice(rows, self.batch_rows))
        except csv.Error as error:
            line = lines.number
            if "field larger" in str(error):
                raise ValueError(
                    f"{self.place}, line {line}: a cell is longer than {csv.field_size_limit():,} characters; a quote is "
                    "probably not closed in or before that line."
                ) from None
            raise ValueError(f"{self.place}, line {line}: {error}.") from None

    def _refuse_open_quote(self, lines, rows):
        line = lines.number - "".join(rows[-1]).rstrip("\r\n").count("\n")
        raise ValueError(
            f'{self.place}: a quote (") opens in or after line {max(line, 1)} and is never closed; close it.'
        )

    def _checked(self, rows, line):
        """Rows that are not blank, all of as many cells as there are names."""
        if set(map(len, rows)) == {self.width}:
            return rows
        for row in rows:
            line += 1 + sum(cell.count("\n") for cell in row)
            if row and len(row) != self.width:
                cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
                raise NoteError(
                    "width", "{place}, line {line}: {cells} under {width} column names; quote cells that hold the separator, or "
                    "use another than {option}.", place=self.place, line=line, cells=cells, width=self.width,
                    option=Option("separator", self.separator),
                )  # fmt: skip
        return [row for row in rows if row]

    def _batch(self, rows):
        columns = list(zip(*rows))
        return Batch(zip(self.names, (self.missing.of_texts(columns[position]) for position in self.positions)))

    def _guarded(self):
        return _Guard(self.path, self.encoding)


class _Lines:
    """Lines below the names, counted; no cell may hold a NUL.

    It knows how often it was asked for more at the end: twice if a quoted cell was still open.
    """

    def __init__(self, lines, number, place):
        self.lines, self.number, self.place, self.ended = iter(lines), number, place, 0

    def __iter__(self):
        return self

    def __next__(self):
        for line in self.lines:
            self.number += 1
            if "\0" in line:
                raise ValueError(f"{self.place}, line {self.number}: it holds a NUL character; is the file damaged?")
            return line
        self.ended += 1
        raise StopIteration


def _decoded(lines, encoding):
    """Lines of text, which may also end as on old Macs."""
    for line in lines:
        text = line.decode(encoding)
        yield from LINES.findall(text) if "\r" in text else (text,)


def _joined(rest, file):
    """Lines of bytes of which the first were read in part."""
    *whole, last = rest.splitlines(keepends=True)
    yield from whole
    yield last + file.readline()
    yield from file


class _Guard:
    """A context that turns errors of decoding into words."""

    def __init__(self, path, encoding):
        self.path, self.encoding = path, encoding

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, UnicodeError):
            raise encoding_error(self.path, self.encoding) from None
        if isinstance(error, CORRUPT):
            raise ValueError(f"{self.path} is damaged ({error}); copy or pack it again.") from None
        if isinstance(error, csv.Error):
            raise ValueError(f"{self.path} is not a table of text: {error}.") from None


def _character(separator):
    if separator is None:
        return None
    separator = NAMED.get(separator, separator)
    if len(separator) != 1 or separator in '"\r\n':
        raise NoteError(
            "separator", "{option} is not one character; use , ; | tab or space.", option=Option("separator", separator)
        )
    return separator


def _find_separator(lines):
    """The separator that cuts most of the first lines into as many cells as the first, and into most cells."""
    lines = lines if sum(map(len, lines)) < LOOKED_AT_CHARACTERS else lines[:1]

    def score(separator):
        try:
            rows = [row for row in csv.reader(lines, delimiter=separator) if row]
        except csv.Error:
            return False, False, 0
        width = len(rows[0]) if rows else 1
        return width > 1, sum(len(row) == width for row in rows) / max(len(rows), 1) > 0.5, width

    return max(SEPARATORS, key=score)
