"""Text files of any encoding and compression, opened as lines; what is no text is refused with the remedy."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import zlib
from typing import Any

import numpy as np
import pyarrow as pa

from ..notes import NoteError, Option

__all__ = [
    "CORRUPT", "Utf8", "damaged", "encoding_error", "faulty", "find_encoding", "open_bytes", "open_lines", "plain_bytes",
]  # fmt: skip


def _open_zstd(path: str, mode: str) -> Any:
    return io.BufferedReader(pa.CompressedInputStream(pa.OSFile(path), "zstd"))


PACKED: dict = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open, b"\x28\xb5\x2f\xfd": _open_zstd}
"""Compressed files, by how they begin."""
CORRUPT = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)
MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
CHUNK = 1 << 20
CONTROLS = frozenset(range(32)) - frozenset(b"\t\n\r\f\x1a")


def open_bytes(path: str) -> Any:
    """The file's content, unpacked."""
    with open(path, "rb") as file:
        start = file.read(6)
    opener = next((opener for mark, opener in PACKED.items() if start.startswith(mark)), open)
    return opener(path, "rb")


def open_lines(path: str, encoding: str) -> io.TextIOWrapper:
    """The file as text; ends of lines are left as they are."""
    return io.TextIOWrapper(open_bytes(path), encoding=encoding, newline="")


def plain_bytes(path: str, encoding: str, n_lines: int) -> pa.Buffer | None:
    """What a file holds below its first lines, mapped into memory, if that is UTF-8 already and its lines end as usual."""
    file = open_bytes(path)
    with file:
        if encoding not in ("utf-8", "utf-8-sig", "ascii") or not isinstance(file, io.BufferedReader):
            return None
        lines = [file.readline() for _ in range(max(n_lines, 1))]
    if any(b"\r" in line.rstrip(b"\r\n") for line in lines):  # lines of old Macs
        return None
    with pa.memory_map(path) as mapped:
        return mapped.read_buffer().slice(sum(map(len, lines[:n_lines])))


def faulty(content: pa.Buffer) -> bool:
    """Whether bytes hold a NUL, or a quote that is never closed."""
    n_quotes, letters = 0, np.frombuffer(content, dtype=np.uint8)
    for start in range(0, len(letters), CHUNK):
        part = letters[start : start + CHUNK]
        n_quotes += int(np.count_nonzero(part == ord('"')))
        if not part.all():
            return True
    return n_quotes % 2 == 1


class Utf8:
    """The bytes of a text file below its first lines, unpacked and in UTF-8, whatever it is written in.

    It knows how many quotes were read, whether a NUL was, and whether there is nothing to read.
    """

    file: Any
    closed = False

    def __init__(self, path: str, encoding: str, n_lines: int):
        plain = encoding in ("utf-8", "utf-8-sig", "ascii")
        self.file = open_bytes(path) if plain else open_lines(path, encoding)
        self.n_quotes, self.has_nul, self.kept = 0, False, b""
        if plain and any(b"\r" in self.file.readline().rstrip(b"\r\n") for _ in range(n_lines)):  # lines of old Macs
            self.file.close()
            self.file, plain = open_lines(path, encoding), False
        if not plain:
            for _ in range(n_lines):
                self.file.readline()
        self.kept = self.read(1)
        self.at_end = not self.kept

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        if self.kept:
            found, self.kept = self.kept, b""
            return found
        found = self.file.read(size)
        found = found if isinstance(found, bytes) else found.encode()
        self.n_quotes += found.count(b'"')
        self.has_nul = self.has_nul or b"\0" in found
        return found

    def readable(self) -> bool:
        """It is."""
        return True

    def __enter__(self) -> Utf8:
        return self

    def __exit__(self, *fault: object) -> None:
        self.file.close()

    close = __exit__


def damaged(path: str, error: Exception) -> ValueError:
    """The error of a compressed file that cannot be unpacked."""
    return ValueError(f"{path} is damaged ({error}); copy or pack it again.")


def find_encoding(path: str, encoding: str | None = None) -> str:
    """The encoding asked for, or that which the file's first bytes tell; what cannot be a text file is refused."""
    try:
        with open_bytes(path) as file:
            start = file.read(1 << 16)
    except CORRUPT as error:
        raise damaged(path, error) from None
    if not start:
        raise ValueError(f"{path} is empty; a line of names and at least one row are needed.")
    if encoding is not None:
        return _known(encoding)
    for mark, name in MARKS.items():
        if start.startswith(mark):
            return name
    if b"\0" in start:
        raise _no_text(path, start)
    return "utf-8"


def _known(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        raise ValueError(
            f"the encoding {encoding!r} is unknown; use utf-8, utf-16, cp1252 (Windows, western) or latin-1, for instance."
        ) from None


def _no_text(path: str, start: bytes) -> ValueError:
    """The error of a file with NUL bytes."""
    pairs = len(start) // 2 or 1
    for name, first in (("utf-16-le", 1), ("utf-16-be", 0)):
        if start[first::2].count(0) > 0.4 * pairs and start[1 - first :: 2].count(0) < 0.1 * pairs:
            return NoteError(
                "encoding", "{path} looks like UTF-16 without its mark; use {option}.", path=path,
                option=Option("encoding", name),
            )  # fmt: skip
    line = start[: start.index(b"\0")].count(b"\n") + 1
    return ValueError(
        f"{path} is not a text file: it holds a NUL byte in line {line}; give CSV, TSV, Parquet, Arrow or Excel."
    )


def encoding_error(path: str, encoding: str) -> ValueError:
    """The error of a file that is not written in an encoding: where, and in which other it may be."""
    with open_bytes(path) as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError as error:
                return ValueError(
                    f"{os.fspath(path)} is not {encoding.upper()} text: byte 0x{line[error.start]:02x} in line {number}; "
                    f"{_guess(line)}"
                )
    return ValueError(f"{os.fspath(path)} is not {encoding.upper()} text; name its encoding.")


def _guess(line: bytes) -> str:
    if not CONTROLS & set(line):
        try:
            text = line.decode("cp1252")
            odd = [letter for letter in text if ord(letter) > 127]
            if sum(letter.isalpha() or letter in "€£§°²³µ–—’‘“”…«»½¼" for letter in odd) >= 0.7 * len(odd):
                return "it looks like cp1252 (Windows, western): name that encoding."
        except UnicodeDecodeError:
            pass
    return "if it is text, name its encoding; if not, give CSV, TSV, Parquet, Arrow or Excel."
