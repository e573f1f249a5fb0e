"""BIF, the Bayesian interchange format: variables with named states, and a row of probabilities per state of the parents."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np

from ..nodes import Nodes
from .text import Description, Words, fault, number_of, read_text

__all__ = ["read_bif", "write_bif"]

PATTERN = r"""(?P<skip>(?:\s+|//[^\n]*|/\*.*?\*/)+)|(?P<word>"[^"]*"|[{}()\[\]|,;]|(?!/\*)[^\s{}()\[\]|,;"]+)"""
PLAIN = re.compile(r'[^\s{}()\[\]|,;"]+')


def read_bif(path: Any) -> tuple[Nodes, np.ndarray]:
    """Nodes and tables of a BIF file."""
    text = read_text(path)
    words, found = Words(text, PATTERN), Description(len(text))
    while not words.ended:
        kind = words.word()
        if kind == "network":
            while words.next != "{":
                words.take()
            _skip_block(words)
        elif kind == "variable":
            _variable(words, found)
        elif kind == "probability":
            _probability(words, found)
        else:
            raise fault(words.last, f"found {kind[:40]!r} where 'network', 'variable' or 'probability' must stand.")
    if not found.names:
        raise fault(words.line, "the file has no variable; it is no BIF file.")
    return found.finished(words.line)


def _skip_block(words: Words) -> None:
    words.expect("{")
    depth = 1
    while depth:
        depth += {"{": 1, "}": -1}.get(words.word(), 0)


def _name(words: Words) -> str:
    word, line = words.word(), words.last
    if word in "{}()[]|,;":
        raise fault(line, f"found {word!r} where a name must stand.")
    return word.strip('"')


def _property(words: Words) -> None:
    while words.word() != ";":
        pass


def _variable(words: Words, found: Description) -> None:
    name, line = _name(words), words.last
    states: list[str] = []
    words.expect("{")
    while words.next != "}":
        kind = words.word()
        if kind == "property":
            _property(words)
        elif kind == "type":
            states = _states(words, name)
        else:
            raise fault(words.last, f"found {kind[:40]!r} where 'type' or 'property' must stand.")
    words.take()
    found.variable(name, states, line)


def _states(words: Words, name: str) -> list[str]:
    """States of ``type discrete [ 2 ] { yes, no };``."""
    kind = words.word()
    if kind != "discrete":
        raise fault(words.last, f"{name!r} is of type {kind[:40]!r}, but only discrete variables can be read.")
    words.expect("[")
    told = words.word()
    words.expect("]")
    words.expect("{")
    states = [_name(words)]
    while words.next != "}":
        if words.next == ",":
            words.take()
        states.append(_name(words))
    words.take()
    words.expect(";")
    if told != str(len(states)):
        raise fault(words.last, f"{name!r} is said to have {told} states but {len(states)} are named.")
    return states


def _probability(words: Words, found: Description) -> None:
    words.expect("(")
    child, line, parents = _name(words), words.last, []
    if words.next == "|":
        words.take()
        while words.next != ")":
            parents.append(_name(words))
            if words.next == ",":
                words.take()
    words.expect(")")
    shape = found.family(child, parents, line)
    table = np.full(shape, np.nan)
    words.expect("{")
    while words.next != "}":
        _row(words, found, child, parents, table)
    words.take()
    blank = np.isnan(table[..., 0])
    if blank.any():
        at = np.unravel_index(int(blank.argmax()), blank.shape)
        states = ", ".join(found.states[p][k] for p, k in zip(parents, at))
        raise fault(line, f"the table of {child!r} has no row for ({states}).")
    found.tables[child] = table


def _row(words: Words, found: Description, child: str, parents: list, table: np.ndarray) -> None:
    """One statement of a table: a property, all values, the values of a default, or those at states of the parents."""
    kind, line = words.word(), words.last
    if kind == "property":
        _property(words)
    elif kind == "table":
        if not np.isnan(table).all():
            raise fault(line, f"the table of {child!r} is given twice.")
        table[...] = found.shaped(child, _values(words), table.shape, line, child_first=True)
    elif kind == "default":
        table[np.isnan(table[..., 0])] = _exactly(_values(words), child, table.shape[-1], line)
    elif kind == "(":
        at = []
        for parent in parents:
            state = _name(words)
            if state not in found.codes[parent]:
                raise fault(words.last, f"{state!r} is no state of {parent!r}.")
            at.append(found.codes[parent][state])
            if words.next == ",":
                words.take()
        words.expect(")")
        if not np.isnan(table[(*at, 0)]):
            told = ", ".join(found.states[p][k] for p, k in zip(parents, at))
            raise fault(line, f"the row ({told}) of the table of {child!r} is given twice.")
        table[tuple(at)] = _exactly(_values(words), child, table.shape[-1], line)
    else:
        raise fault(line, f"found {kind[:40]!r} where 'table', 'default' or '(' must stand.")


def _values(words: Words) -> list[float]:
    values = []
    while words.next != ";":
        if words.next == ",":
            words.take()
            continue
        values.append(number_of(words.word(), words.last))
    words.take()
    return values


def _exactly(values: list[float], child: str, n: int, line: int) -> list[float]:
    if len(values) != n:
        raise fault(line, f"a row of the table of {child!r} has {len(values)} values, but {child!r} has {n} states.")
    return values


def write_bif(nodes: Nodes, theta: np.ndarray) -> str:
    """A network as text in BIF."""
    lines = ["network unknown {", "}"]
    for name, states in zip(nodes.names, nodes.states):
        told = ", ".join(_written(state) for state in states)
        lines += [f"variable {_written(name)} {{", f"  type discrete [ {len(states)} ] {{ {told} }};", "}"]
    for i, name in enumerate(nodes.names):
        parents = nodes.parents[i]
        rows = theta[nodes.offsets[i] : nodes.offsets[i + 1]].reshape(-1, len(nodes.states[i])).tolist()
        given = f" | {', '.join(_written(nodes.names[p]) for p in parents)}" if parents else ""
        lines.append(f"probability ( {_written(name)}{given} ) {{")
        for at, row in zip(itertools.product(*(nodes.states[p] for p in parents)), rows):
            head = f"({', '.join(map(_written, at))})" if parents else "table"
            lines.append(f"  {head} {', '.join(map(repr, row))};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _written(name: Any) -> str:
    """A name as BIF writes it."""
    text = str(name)
    if '"' in text or "\n" in text or not text:
        raise ValueError(f"BIF cannot write the name {text!r}; rename it without quotes and line breaks.")
    plain = PLAIN.fullmatch(text) and "//" not in text and "/*" not in text
    return text if plain else f'"{text}"'
