"""Places on the map: a latitude and a longitude, which models keep together."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from .cycles import words_of

__all__ = ["pair_places"]

LATITUDE, LONGITUDE = re.compile(r"\b(?:lat|latitude)\b"), re.compile(r"\b(?:lon|lng|long|longitude)\b")


def pair_places(columns: tuple) -> tuple:
    """Columns, surveyed or of a schema, with those marked that are latitudes and longitudes of the same places.

    They have decimals, stay within 90 and 180 degrees, and their names are alike but for "lat" and "lon".
    """
    stems: dict[str, dict[str, Any]] = {}
    for column in columns:
        words = words_of(str(column.name))
        for kind, pattern, end in (("latitude", LATITUDE, 90), ("longitude", LONGITUDE, 180)):
            if pattern.search(words) and _measured(column) and -end <= column.low <= column.high <= end:
                stems.setdefault(pattern.sub("…", words), {}).setdefault(kind, column)
    marked = {}
    for pair in stems.values():
        if len(pair) == 2:
            for kind, other in (("latitude", "longitude"), ("longitude", "latitude")):
                reason = f"{kind} in degrees, of places whose {other} is {pair[other].name}"
                marked[pair[kind].name] = dataclasses.replace(pair[kind], reason=reason, law="place")
    return tuple(marked.get(column.name, column) for column in columns)


def _measured(column: Any) -> bool:
    kind = getattr(column, "kind", None) or {"measurement": "continuous"}.get(column.role)
    return kind == "continuous" and column.low is not None and not column.whole and not getattr(column, "left_out", "")
