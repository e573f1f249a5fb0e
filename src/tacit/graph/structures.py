"""Structures that a network is given, or finds in a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import host
from ..source import Source
from .dag import as_nodes

__all__ = ["METHODS", "check_structure", "found_edges"]

METHODS = {"hill-climbing": "hill_climb", "chow-liu": "chow_liu", "pc": "pc"}
MOST_ROWS = 20_000_000
SEARCH = {"structure_score": "score", "required": "required", "forbidden": "forbidden", "max_parents": "max_parents"}


def check_structure(network: Any) -> None:
    """Raise where settings of the structure are not what they must be."""
    structure = network.structure
    if isinstance(structure, str) and structure not in METHODS:
        raise ValueError(
            f"structure={structure!r} is unknown; use one of {', '.join(map(repr, METHODS))}, or a list of edges."
        )
    if not isinstance(structure, str) and not hasattr(structure, "__iter__"):
        raise ValueError(f"structure={structure!r} is neither a list of edges nor a method.")
    if not isinstance(network.hidden, (dict, type(None))):
        raise ValueError(f"hidden={network.hidden!r} is not a dictionary of variables and their numbers of states.")
    if isinstance(structure, str) and network.hidden:
        raise ValueError(
            f"structure={structure!r} finds edges between columns only, but hidden names variables; give the edges."
        )
    if not isinstance(structure, str):
        for name in SEARCH:
            if getattr(network, name) not in (None, ()):
                raise ValueError(
                    f"{name}={getattr(network, name)!r} is for the search of a structure, but edges are given; leave it out."
                )


def found_edges(network: Any, source: Source, names: tuple, states: dict) -> list[tuple]:
    """Edges between variables, as given or as a search finds them in the rows."""
    structure = network.structure
    if not isinstance(structure, str):
        if hasattr(structure, "items") or hasattr(structure, "nodes"):
            return as_nodes(structure).edges
        return [tuple(edge) for edge in structure]
    gaussian = [v for v in names if not states[v]]
    if gaussian:
        raise ValueError(
            f"structure={structure!r} takes discrete columns, but {gaussian[0]!r} is to be continuous; give a list of edges, or "
            "continuous='auto', by which it is cut into levels."
        )
    from .structure import learn_structure

    rows = np.concatenate([host(block.X) for block in source])
    codes = np.where(np.isnan(rows), -1, rows).astype(np.int32)
    codes = np.repeat(codes, _times(np.concatenate([host(block.weight) for block in source]), structure), axis=0)
    number = {v: i for i, v in enumerate(names)}
    told = {SEARCH[name]: getattr(network, name) for name in SEARCH if getattr(network, name) not in (None, ())}
    for name in ("required", "forbidden"):
        if name in told:
            told[name] = [(_position(number, a, name), _position(number, b, name)) for a, b in told[name]]
    found = learn_structure(codes, [len(states[v]) for v in names], METHODS[structure], **told)
    return [(names[a], names[b]) for a, b in found]


def _times(weight: np.ndarray, structure: str) -> np.ndarray:
    """How often each row counts in a search, which counts rows."""
    whole = np.round(weight)
    if (whole != weight).any() or whole.sum() > MOST_ROWS:
        fault = f"holds {weight[whole != weight][0]:g}" if (whole != weight).any() else f"sums to {whole.sum():g}"
        raise ValueError(
            f"structure={structure!r} counts rows, but sample_weight {fault}; give whole numbers of at most {MOST_ROWS:,} in "
            "all, or a list of edges."
        )
    return whole.astype(np.int64)


def _position(number: dict, variable: Any, setting: str) -> int:
    if variable not in number:
        raise ValueError(f"{setting} names {variable!r}, which is no column.")
    return number[variable]
