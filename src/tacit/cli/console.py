"""Text for people: headings, columns lined up, lines that fit the terminal."""

import os
import shutil
import sys
import textwrap
from collections.abc import Container, Sequence
from typing import Any, TextIO

__all__ = ["grid", "heading", "is_styled", "paragraph"]

WIDEST = 110


def is_styled(stream: TextIO | None = None) -> bool:
    """Whether the output is a terminal that shows bold, and nobody asked for plain text."""
    stream = stream or sys.stdout
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


def heading(text: str) -> str:
    """A heading; bold on a terminal."""
    return f"\033[1m{text}\033[0m" if is_styled() else text


def width() -> int:
    """Characters of a line: those of the terminal, within reason."""
    return min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST) if sys.stdout.isatty() else WIDEST


def paragraph(text: Any, indent: str = "") -> str:
    """A sentence broken into lines."""
    return textwrap.fill(
        printable(text), max(width(), 40), initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False,
        break_long_words=False,
    )  # fmt: skip


def grid(lines: Sequence[Sequence], right: Container[int] = (), indent: str = "  ", widest: int = 40) -> list[str]:
    """Lines of cells as columns lined up; those whose numbers are in `right` to the right."""
    columns = []
    for j, cells in enumerate(zip(*([_cut(printable(cell), widest) for cell in line] for line in lines))):
        wide = max(map(len, cells))
        columns.append([cell.rjust(wide) if j in right else cell.ljust(wide) for cell in cells])
    return [indent + "  ".join(line).rstrip() for line in zip(*columns)]


def printable(text: Any) -> str:
    """Text without line breaks and without what a terminal would take as a command."""
    return "".join(letter if letter.isprintable() else " " for letter in str(text))


def _cut(text: str, widest: int) -> str:
    return text if len(text) <= widest else text[: widest - 1] + "…"
