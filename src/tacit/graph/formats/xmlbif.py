"""XMLBIF 0.3: BIF in XML, read by a parser that expands no entities and opens nothing."""

from __future__ import annotations

from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape

import numpy as np

from ..nodes import Nodes
from .text import Description, fault, number_of, read_text

__all__ = ["read_xmlbif", "write_xmlbif"]

DEEPEST = 16
HEAD = """<?xml version="1.0"?>
<BIF VERSION="0.3" xmlns="http://www.cs.ubc.ca/labs/lci/fopi/ve/XMLBIFv0_3">
<NETWORK>
<NAME>network</NAME>"""


class Reader:
    """Takes the elements of a file as the parser meets them."""

    def __init__(self, n_characters: int = 0) -> None:
        self.found = Description(n_characters)
        self.text: list[str] = []
        self.path: list[str] = []
        self.parts: dict[str, list[str]] = {}
        self.kind, self.line = "nature", 1
        self.parser = expat.ParserCreate("utf-8")  # text is decoded by now, whatever the file declares
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.EntityDeclHandler = self.refuse
        self.parser.ExternalEntityRefHandler = self.refuse

    def refuse(self, name: Any, *_: Any) -> int:
        """Refuse a file that declares entities, which could be made to expand without end or to read other files."""
        raise fault(
            self.parser.CurrentLineNumber, f"the file declares the entity {name!r}; files of networks need none."
        )

    def start(self, name: str, attributes: dict) -> None:
        """Enter an element."""
        if len(self.path) >= DEEPEST:
            raise fault(self.parser.CurrentLineNumber, f"elements lie {DEEPEST} deep; a network needs four.")
        self.path.append(name.upper())
        self.text = []
        if self.path[-1] in ("VARIABLE", "DEFINITION"):
            self.parts, self.line = {}, self.parser.CurrentLineNumber
            self.kind = str(attributes.get("TYPE", "nature"))

    def characters(self, text: str) -> None:
        """Take text in."""
        self.text.append(text)

    def end(self, name: str) -> None:
        """Leave an element."""
        self.path.pop()
        if name.upper() == "VARIABLE":
            self.variable()
        elif name.upper() == "DEFINITION":
            self.definition()
        else:
            self.parts.setdefault(name.upper(), []).append("".join(self.text).strip())
        self.text = []

    def variable(self) -> None:
        """Enter a variable."""
        names = self.parts.get("NAME", [])
        if len(names) != 1:
            raise fault(self.line, f"a variable has {len(names)} names; it must have one.")
        if self.kind != "nature":
            raise fault(
                self.line,
                f"{names[0]!r} is of type {self.kind!r}; decisions and utilities are no part of a belief network.",
            )
        self.found.variable(names[0], self.parts.get("OUTCOME", self.parts.get("VALUE", [])), self.line)

    def definition(self) -> None:
        """Enter a table."""
        for part in ("FOR", "TABLE"):
            if len(self.parts.get(part, [])) != 1:
                raise fault(self.line, f"a definition has {len(self.parts.get(part, []))} {part}; it must have one.")
        child = self.parts["FOR"][0]
        shape = self.found.family(child, self.parts.get("GIVEN", []), self.line)
        values = [number_of(text, self.line) for text in self.parts["TABLE"][0].split()]
        self.found.tables[child] = self.found.shaped(child, values, shape, self.line, child_first=False)


def read_xmlbif(path: Any) -> tuple[Nodes, np.ndarray]:
    """Nodes and tables of an XMLBIF file."""
    text = read_text(path)
    reader = Reader(len(text))
    try:
        reader.parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        told = expat.ErrorString(error.code)
        raise fault(error.lineno, f"this is not well-formed XML ({told}); the file may be cut off.") from None
    if not reader.found.names:
        raise fault(reader.parser.CurrentLineNumber, "the file has no variable; it is no XMLBIF file.")
    return reader.found.finished(reader.parser.CurrentLineNumber)


def write_xmlbif(nodes: Nodes, theta: np.ndarray) -> str:
    """A network as text in XMLBIF 0.3."""
    lines = [HEAD]
    for name, states in zip(nodes.names, nodes.states):
        outcomes = "".join(f"<OUTCOME>{_written(state)}</OUTCOME>" for state in states)
        lines.append(f'<VARIABLE TYPE="nature"><NAME>{_written(name)}</NAME>{outcomes}</VARIABLE>')
    for i, name in enumerate(nodes.names):
        given = "".join(f"<GIVEN>{_written(nodes.names[p])}</GIVEN>" for p in nodes.parents[i])
        values = " ".join(map(repr, theta[nodes.offsets[i] : nodes.offsets[i + 1]].tolist()))
        lines.append(f"<DEFINITION><FOR>{_written(name)}</FOR>{given}<TABLE>{values}</TABLE></DEFINITION>")
    return "\n".join([*lines, "</NETWORK>", "</BIF>"]) + "\n"


def _written(name: Any) -> str:
    """A name as XML writes it."""
    text = str(name)
    if text != text.strip() or not text.isprintable() or not text:
        raise ValueError(
            f"XMLBIF cannot write the name {text!r}; rename it without control characters and blanks at its ends."
        )
    return escape(text)
