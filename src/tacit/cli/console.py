"""Text for people: headings, columns lined up, lines that fit the terminal."""

import os
import shutil
import sys
import textwrap

__all__ = ["grid", "heading", "is_styled", "paragraph"]

WIDEST = 110


def is_styled(stream=None):
    """Whether the output is a terminal that shows bold, and nobody asked for plain text."""
    stream = stream or sys.stdout
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


def heading(text):
    """A heading; bold on a terminal."""
    return f"\033[1m{text}\033[0m" if is_styled() else text


def width():
    """Characters of a line: those of the terminal, within reason."""
    return min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST) if sys.stdout.isatty() else WIDEST


def paragraph(text, indent=""):
    """A sentence broken into lines."""
    return textwrap.fill(
        printable(text), max(width(), 40), initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False,
        break_long_words=False,
    )  # fmt: skip


def grid(lines, right=(), indent="  ", widest=40):
    """Lines of cells as columns lined up; those whose numbers are in `right` to the right."""
    lines = [[_cut(printable(cell), widest) for cell in line] for line in lines]
    widths = [max(len(line[j]) for line in lines) for j in range(len(lines[0]))]
    return [
        indent
        + "  ".join(c.rjust(w) if j in right else c.ljust(w) for j, (c, w) in enumerate(zip(line, widths))).rstrip()
        for line in lines
    ]


def printable(text):
    """Text without line breaks and without what a terminal would take as a command."""
    return "".join(letter if letter.isprintable() else " " for letter in str(text))


def _cut(text, widest):
    return text if len(text) <= widest else text[: widest - 1] + "…"
