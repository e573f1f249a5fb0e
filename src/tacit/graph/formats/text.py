"""`Words`: a text as words with the lines they stand on, so that every error of a file names its line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..nodes import MOST_TABLE, Nodes, closest

__all__ = ["Description", "Words", "fault", "number_of", "read_text"]

MOST_BYTES = 2**29
"""Files of networks are no larger."""

UNWRITTEN = 2**22
"""Cells that tables may have, however short the file is: a default stands for many rows."""


def read_text(path: Any) -> str:
    """The text of a file, or of an object with ``read``."""
    if hasattr(path, "read"):
        text = path.read()
        return text if isinstance(text, str) else _decoded("the file", text)
    size = os.path.getsize(path)
    if size > MOST_BYTES:
        raise ValueError(f"{os.fspath(path)!r} has {size:,} bytes; files of networks may have at most {MOST_BYTES:,}.")
    with open(path, "rb") as file:
        return _decoded(repr(os.fspath(path)), file.read())


def _decoded(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ValueError(
            f"line {line} of {name} is not UTF-8 text; it is no network, or convert its encoding."
        ) from None


def fault(line: int, what: str) -> ValueError:
    """An error that names the line."""
    return ValueError(f"line {line}: {what}")


def number_of(text: str, line: int) -> float:
    """A number that a file holds."""
    try:
        value = float(text)
    except ValueError:
        raise fault(line, f"{text!r} is not a number.") from None
    if not np.isfinite(value):
        raise fault(line, f"{text} is not a finite number.")
    return value


class Words:
    """The words of a text, one after the other.

    Parameters
    ----------
    text : str
    pattern : str
        A regular expression with the groups ``skip`` (blanks and comments) and ``word``.
    """

    def __init__(self, text: str, pattern: str) -> None:
        self._found = self._scan(text, re.compile(pattern, re.DOTALL))
        self.line, self.last = 1, 1
        self._next: str | None = None
        self.take()

    def _scan(self, text: str, pattern: re.Pattern) -> Iterator[tuple[str, int]]:
        at, line = 0, 1
        while at < len(text):
            found = pattern.match(text, at)
            if found is None or found.end() == at:
                raise fault(line, f"{text[at : at + 20]!r} cannot be read.")
            if found.lastgroup == "word":
                yield found.group("word"), line
            line += text.count("\n", at, found.end())
            at = found.end()

    @property
    def next(self) -> str:
        """The word that comes next; an error where the text ends."""
        if self._next is None:
            raise fault(self.line, "the file ends here, in the middle; it was cut off.")
        return self._next

    @property
    def ended(self) -> bool:
        """Whether there is no further word."""
        return self._next is None

    def take(self) -> str:
        """The next word, which is gone then."""
        word = self._next or ""
        self.last = self.line
        self._next, self.line = next(self._found, (None, self.line))
        return word

    def word(self) -> str:
        """The next word, which must be there."""
        self.next  # noqa: B018
        return self.take()

    def expect(self, word: str) -> None:
        """Take a word that must come now."""
        if self.next != word:
            raise fault(self.line, f"found {self.next[:40]!r} where {word!r} must stand.")
        self.take()


@dataclass
class Description:
    """What a file of some characters says of a network, before it is put together."""

    n_characters: int = 0
    n_cells: float = 0
    names: list = field(default_factory=list)
    states: dict = field(default_factory=dict)
    codes: dict = field(default_factory=dict)
    parents: dict = field(default_factory=dict)
    tables: dict = field(default_factory=dict)

    def variable(self, name: str, states: list, line: int) -> None:
        """Enter a variable."""
        if name in self.states:
            raise fault(line, f"the variable {name!r} is there twice.")
        if not states or len(set(states)) < len(states):
            raise fault(line, f"the states of {name!r} are {states[:8]}; give at least one, and each once.")
        self.names.append(name)
        self.states[name] = tuple(states)
        self.codes[name] = {state: k for k, state in enumerate(states)}

    def family(self, child: str, parents: list, line: int) -> tuple[int, ...]:
        """Enter what a variable depends on; the shape of its table, parents first."""
        for v in (child, *parents):
            if v not in self.states:
                raise fault(line, f"{v!r} is no variable of the file; {closest(v, self.names)}")
        if child in self.parents:
            raise fault(line, f"the probabilities of {child!r} are given twice.")
        if len({child, *parents}) <= len(parents):
            raise fault(line, f"{child!r} has a parent twice, or itself as one.")
        self.parents[child] = tuple(parents)
        shape = tuple(len(self.states[v]) for v in (*parents, child))
        cells = np.prod(shape, dtype=np.float64)
        self.n_cells += cells
        if self.n_cells > min(MOST_TABLE, max(UNWRITTEN, self.n_characters)):
            raise fault(
                line, f"the table of {child!r} would have {cells:.3g} cells, more than a file of this length can give."
            )
        return shape

    def shaped(self, child: str, values: list, shape: tuple[int, ...], line: int, child_first: bool) -> np.ndarray:
        """A table from its values in one row; where these sum to 1 the other way around only, they are read that way."""
        size = int(np.prod(shape))
        if len(values) != size:
            raise fault(
                line,
                f"the table of {child!r} has {len(values)} values, but its states and those of its parents need {size}.",
            )
        flat = np.array(values)
        last = flat.reshape(shape)
        first = np.moveaxis(flat.reshape(shape[-1], *shape[:-1]), 0, -1)
        ways = (first, last) if child_first else (last, first)
        return next((way for way in ways if np.allclose(way.sum(axis=-1), 1.0, atol=1e-3)), ways[0])

    def finished(self, line: int) -> tuple[Nodes, np.ndarray]:
        """The nodes and their tables in one vector."""
        without = [v for v in self.names if v not in self.tables]
        if without:
            raise fault(line, f"the probabilities of {without[0]!r} are missing; the file may be cut off.")
        number = {v: i for i, v in enumerate(self.names)}
        parents = tuple(tuple(number[p] for p in self.parents[v]) for v in self.names)
        nodes = Nodes(tuple(self.names), tuple(self.states[v] for v in self.names), parents)
        theta = np.concatenate([np.ravel(self.tables[v]) for v in self.names])
        return nodes, nodes.check_tables(theta)
