"""Tables of named columns, for functions that take rows of codes: levels become codes, names numbers, and back in the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np

from ...schema import Schema
from .structure import Structure

__all__ = ["coded", "over_tables"]

MOST_LEVELS = 256
EDGES = ("required", "forbidden", "allowed", "start")


def coded(table: Any) -> tuple[list, np.ndarray, np.ndarray]:
    """Names of the columns, codes (n, d) with −1 where missing, and numbers of levels (d,).

    Parameters
    ----------
    table : DataFrame, Arrow table or 2-D array
        Every column is taken as a category.
    """
    names = list(getattr(table, "column_names", getattr(table, "columns", range(np.shape(table)[-1]))))
    schema = Schema.of(table, dict.fromkeys(names, "category"))
    for column in schema.columns:
        if len(column.levels) > MOST_LEVELS:
            raise ValueError(
                f"column {column.name!r} has {len(column.levels)} levels, more than {MOST_LEVELS}; cut it into classes, or leave "
                "it out."
            )
    cells = schema.encode(table)
    codes = np.where(np.isnan(cells), -1, cells).astype(np.int64)
    return schema.names, codes, np.array([len(column.levels) for column in schema.columns])


def over_tables(function: Callable[..., Structure]) -> Callable[..., Structure]:
    """Let a function of codes take a table too, where no cardinalities are given."""

    @wraps(function)
    def taking(X: Any, cardinalities: Any = None, *arguments: Any, **settings: Any) -> Structure:
        if cardinalities is not None:
            return function(X, cardinalities, *arguments, **settings)
        names, codes, sizes = coded(X)
        number = {name: position for position, name in enumerate(names)}
        for setting in EDGES:
            given = settings.get(setting)
            if given is not None and not isinstance(given, str):
                settings[setting] = [tuple(_numbered(setting, end, number) for end in edge) for edge in given]
        if "root" in settings:
            settings["root"] = _numbered("root", settings["root"], number)
        return _named(function(codes, sizes, *arguments, **settings), names)

    return taking


def _numbered(setting: str, name: Any, number: dict) -> int:
    if name not in number:
        raise ValueError(f"{setting} names {name!r}, which is no column; there are {', '.join(map(str, number))}.")
    return number[name]


def _named(found: Structure, names: list) -> Structure:
    """The structure with names instead of numbers."""
    parts: dict[str, Any] = {
        part: [(names[a], names[b]) for a, b in getattr(found, part)] for part in ("edges", "directed", "undirected")
    }
    separating = {
        frozenset(names[x] for x in pair): tuple(names[x] for x in given) for pair, given in found.separating.items()
    }
    return replace(found, **parts, separating=separating)
