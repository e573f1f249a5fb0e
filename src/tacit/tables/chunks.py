"""Plain text files in large pieces: cells are cut and read by compiled loops, and become Python texts only where they must."""

from functools import cached_property
from typing import Any

import numpy as np

from ..frames import Batch
from ..survey.cells import Texts

__all__ = ["LazyTexts", "chunk_batches"]

CHUNK = 1 << 22


class LazyTexts(Texts):
    """Cells of text that are still bytes.

    Parameters
    ----------
    chunk : Chunk
        Where they are.
    starts, ends : arrays
        Their places in it.
    found : (n,) array
        The numbers they hold, NaN where missing; None if some hold none.
    missing : (n,) array of bool
    marks : tuple of bool
        Whether numbers have decimal points, leading zeros, or more digits than double precision keeps.
    """

    numeric = False
    chunk: Any
    starts: np.ndarray
    ends: np.ndarray
    found: np.ndarray | None

    def __init__(self, chunk, starts, ends, found, missing, marks):
        self.__dict__.update(chunk=chunk, starts=starts, ends=ends, found=found, missing=missing)
        self.__dict__.update(levels=None, whole=False, given=None)
        if found is not None:
            self.__dict__["marks"] = tuple(map(bool, marks))

    @cached_property
    def values(self):  # type: ignore[override]
        """The cells as texts."""
        texts = np.empty(len(self.starts), dtype=object)
        texts[:] = self.chunk.texts(self.starts, self.ends)
        return texts

    def take(self, rows):
        """The cells of the rows with these numbers."""
        texts = np.empty(len(rows), dtype=object)
        texts[:] = self.chunk.texts(self.starts[rows], self.ends[rows])
        return Texts(texts, self.missing[rows])

    @cached_property
    def numbers(self):
        """The numbers of the texts that are not missing, None if one of them is no number."""
        if self.found is None:
            return super().numbers
        return self.found[~self.missing] if self.missing.any() else self.found


class Chunk:
    """Whole lines of a file, as bytes."""

    def __init__(self, content, encoding):
        self.content, self.encoding = content, encoding
        self.is_ascii = content.isascii()
        self._text = None if self.is_ascii else content.decode(encoding)  # refused here if it is not so encoded
        self.buffer = np.frombuffer(content, dtype=np.uint8)

    def texts(self, starts, ends):
        """Some cells as texts."""
        content = self.content
        pairs = zip(starts.tolist(), ends.tolist())
        if self.is_ascii:
            text = content.decode("ascii")
            return [text[start:end] for start, end in pairs]
        return [content[start:end].decode(self.encoding).strip() for start, end in pairs]

    def edges(self, separator, width):
        """Where rows and cells begin and end; None if a row has another number of cells."""
        from ..kernels.text import cut_rows

        edges = np.empty((self.content.count(b"\n"), width + 1), dtype=np.int64)
        n_rows = cut_rows(self.buffer, ord(separator), width, edges)
        return None if n_rows < 0 else edges[:n_rows]

    def cells(self, edges, column, missing):
        """The cells of a column as `LazyTexts`."""
        from ..kernels.text import EMPTY, NUMBER, read_numbers

        starts = edges[:, column] + (column > 0)
        ends = edges[:, column + 1].copy()
        values, kinds = np.empty(len(starts)), np.empty(len(starts), dtype=np.uint8)
        marks = read_numbers(self.buffer, starts, ends, values, kinds)
        gone = kinds == EMPTY
        odd = (kinds != NUMBER) & ~gone
        for number in missing.numbers:
            odd |= (values == number) & ~gone
        found: np.ndarray | None = values
        rows = np.flatnonzero(odd)
        if len(rows):
            texts = self.texts(starts[rows], ends[rows])
            gone[rows] = [text in missing.texts for text in texts]
            found = _with_hard(values, rows, texts, gone)
        if found is not None:
            found = np.where(gone, np.nan, found) if gone.any() else found
        return LazyTexts(self, starts, ends, found, gone, marks)


def _with_hard(values, rows, texts, gone):
    """Numbers with those put in that only Python reads; None if one of the texts is no number."""
    from ..survey.numerals import numbers_of

    seen = [(row, text) for row, text in zip(rows.tolist(), texts) if not gone[row]]
    if not seen:
        return values
    numbers = numbers_of([text for _, text in seen[:1]])
    numbers = numbers if numbers is None else numbers_of([text for _, text in seen])
    if numbers is None:
        return None
    values = values.copy()
    values[[row for row, _ in seen]] = numbers
    return values


def chunk_batches(reader, file):
    """Yield batches of a file of bytes that stands below the names, while its lines are plain.

    Returns
    -------
    bytes, int
        What was read but not used, beginning with a line that is not plain (with a quote, say), and the lines before it.
    """
    rest, n_lines = b"", reader.header_lines
    while True:
        read = file.read(CHUNK)
        content = rest + read
        cut = content.rfind(b"\n") + 1 if read else len(content)
        content, rest = content[:cut], content[cut:]
        if not content and not read:
            return b"", n_lines
        if not read and not content.endswith(b"\n"):
            content += b"\n"
        edges = None
        if not (b'"' in content or b"\0" in content or content.count(b"\r") != content.count(b"\r\n")):
            chunk = Chunk(content, reader.encoding)
            edges = (
                chunk.edges(reader.separator, reader.width) if content else np.empty((0, reader.width + 1), np.int64)
            )
        if edges is None:
            return content + rest, n_lines
        n_lines += content.count(b"\n")
        for start in range(0, len(edges), reader.batch_rows):
            part = edges[start : start + reader.batch_rows]
            yield Batch(
                (name, chunk.cells(part, position, reader.missing))
                for name, position in zip(reader.names, reader.positions)
            )
