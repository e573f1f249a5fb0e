"""Documents for commands: a column of texts of a table, or a file of one document per line."""

import os
from argparse import Namespace
from dataclasses import dataclass
from typing import Any

from .common import reading_asked

__all__ = ["Documents", "documents_asked", "read_corpus", "text_asked"]

LINES = (".txt", ".text", ".lines", ".txt.gz", ".txt.bz2", ".txt.xz", ".txt.zst")


@dataclass(frozen=True)
class Documents:
    """Where documents are, as far as is known before they are read; results are named and placed by it as by a reader.

    Attributes
    ----------
    name, folder, format, place, path : str
        As in `tacit.tables.Reader`.
    reader : Reader or None
        Of the table; None for a file of lines.
    reading : dict
        How the file is read.
    """

    name: str
    folder: str
    format: str
    place: str
    path: str
    reader: Any
    reading: dict


def documents_asked(arguments: Namespace, text: str | None) -> Documents:
    """The documents that the options ask for: those of a table where a column of texts is named, else lines."""
    place, reading = reading_asked(arguments)
    if not place:
        raise ValueError(
            "give the documents: a table with --text NAME, a file of one document per line, or - for the standard input."
        )
    if text is not None or arguments.sql:
        from ..tables import open_reader

        reader = open_reader(place, **reading)
        if text is None:
            raise ValueError(
                f"--text NAME says which column holds the texts; there are {', '.join(reader.names[:20])}."
            )
        path = str(getattr(reader, "path", ""))
        return Documents(reader.name, reader.folder, reader.format, reader.place, path, reader, reading)
    return _lines(place, reading)


def text_asked(arguments: Namespace, told: dict) -> str | None:
    """The column of texts: the one asked for, or where a table is given the one that a model was learned from."""
    place = arguments.database or arguments.file or ""
    noted = told.get("settings", {}).get("text")
    return arguments.text or (None if place == "-" or place.lower().endswith(LINES) else noted)


def _lines(place: str, reading: dict) -> Documents:
    name = os.path.basename(place)
    ending = next((each for each in LINES if name.lower().endswith(each)), "")
    if not ending and place != "-":
        kind = os.path.splitext(name.lower().removesuffix(".gz"))[1]
        if kind in (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".xlsx", ".xls", ".ods"):
            raise ValueError(
                f"{place} is a table; say which column holds the texts with --text NAME (see tacit inspect)."
            )
    if place == "-":
        from ..tables.opening import _standard_input

        return Documents("stdin", os.curdir, "csv", "the standard input", _standard_input(), None, reading)
    name = name[: -len(ending)] if ending else name.partition(".")[0]
    return Documents(name or "corpus", os.path.dirname(place) or os.curdir, "csv", place, place, None, reading)


def read_corpus(
    documents: Documents, text: str | None, time: str | None = None, title: str | None = None, vectorizer: Any = None
) -> Any:
    """The documents, read and counted."""
    from ..topics import Corpus

    if documents.reader is not None:
        return Corpus.from_table(documents, text or "", time=time, title=title, vectorizer=vectorizer)
    if time or title:
        raise ValueError(
            f"--{'time' if time else 'id'} names a column of a table, and {documents.place} is a file of lines; leave it out."
        )
    return Corpus.from_lines(documents.path, encoding=documents.reading.get("encoding") or "utf-8", vectorizer=vectorizer,
                             name=documents.name)  # fmt: skip
