"""`cut_column`: columns of numbers as levels, each with about as many rows, for networks of discrete variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..frames import Cells
from ..kernels import host
from ..schema import Column, Schema

__all__ = ["centres", "cut_column", "cut_table", "default_levels", "drawn", "interval"]

POINTS = 20
"""Quantiles that are kept of the numbers in a level."""
SLACK = 0.12
"""How far a cut may be from its quantile, in levels, to be a round number."""
FEW, MANY = 500, 5000
FEWEST = 20
"""Numbers, none of them negative, from which none is taken to be."""
TAIL = 3.0
"""How far numbers go on beyond the outermost known one, in mean distances between neighbours of its level."""
KEPT = 8
"""Different numbers of a column of a file up to which each is a level."""


def default_levels(n_known: int) -> int:
    """How many levels so many numbers are cut into."""
    return 3 if n_known < FEW else 4 if n_known < MANY else 5


def cut_column(
    name: Any, cells: Cells, n_levels: int | None = None, *, kind: str = "continuous", kept: int = 0, **known: Any
) -> Column:
    """A column of numbers, cut into levels.

    Parameters
    ----------
    name : object
    cells : Cells
        Numbers, of which there are at least two different ones.
    n_levels : int, optional
        Default by how many are known.
    kind : {"continuous", "count", "cyclic"}
    kept : int
        Where there are at most so many different numbers, each is a level.
    **known
        Further attributes of the column.
    """
    values = np.sort(host(cells.values)[~cells.missing].astype(np.float64))
    distinct = np.unique(values)
    if len(distinct) < 2:
        raise ValueError(
            f"column {name!r} is {values[0]:g} in every row; leave it out, or name states for it."
            if len(values) else f"column {name!r} has no observed value; drop it."
        )  # fmt: skip
    cuts = distinct[1:] if len(distinct) <= kept else _cuts(values, distinct, n_levels or default_levels(len(values)))
    parts = np.split(values, np.searchsorted(values, cuts))
    whole = bool((distinct == np.round(distinct)).all())
    lows, highs = [-np.inf, *cuts], [*(cuts - 1.0 if whole else cuts), np.inf]
    least = 0.0 if values[0] >= 0 and len(values) >= FEWEST else -np.inf
    points = np.concatenate([_points(*each, least) for each in zip(parts, lows, highs)])
    told = {"low": float(values[0]), "high": float(values[-1]), "whole": whole, "n_observed": len(values)} | known
    labels = _labels(cuts, parts) if len(distinct) > kept else tuple(map(_text, distinct))
    return Column(
        name, kind, labels, "cut into levels", cuts=tuple(cuts.tolist()), points=tuple(points.tolist()), **told
    )


def _cuts(values: np.ndarray, distinct: np.ndarray, n_levels: int) -> np.ndarray:
    """The least number of every level but the first: near quantiles, round, and different."""
    below = np.searchsorted(values, distinct[1:]) / len(values)  # shares of a cut at each number
    found = []
    for k in range(1, n_levels):
        away = np.abs(below - k / n_levels)
        near = np.flatnonzero(away <= max(away.min(), SLACK / n_levels))
        found.append(_roundest(float(distinct[near[0]]), float(distinct[near[-1] + 1])))
    # Two cuts between the same neighbours are one.
    _, first = np.unique(np.searchsorted(values, np.unique(found)), return_index=True)
    return np.unique(found)[first]


def _roundest(low: float, high: float) -> float:
    """The number above `low`, up to `high`, that has the fewest digits."""
    largest = int(np.ceil(np.log10(max(abs(low), abs(high)))))
    for exponent in range(largest, largest - 17, -1):
        for step in (1.0, 0.5, 0.2):
            unit = step * 10.0**exponent
            made = float(f"{np.floor(high / unit * (1 + 1e-15)) * unit:.15g}")
            if low < made <= high:
                return made
    return high


def _points(part: np.ndarray, low: float, high: float, least: float) -> np.ndarray:
    """Quantiles of a new number in a level, of which n are known: it is between any two neighbours, or beyond the last, with
    probability 1 / (n + 1).
    """
    if part[0] == part[-1] and (part[0] == low or np.isfinite(high)):
        return np.full(POINTS, part[0])
    beyond = TAIL * (part[-1] - part[0]) / len(part)
    low = max(part[0] - beyond, least) if np.isinf(low) else low
    high = part[-1] + beyond if np.isinf(high) else max(high, part[-1])
    places = np.arange(len(part) + 2) / (len(part) + 1)
    return np.interp((np.arange(POINTS) + 0.5) / POINTS, places, [min(low, part[0]), *part, high])


def _labels(cuts: np.ndarray, parts: list[np.ndarray]) -> tuple:
    """What levels are called; one that holds a single number is that number."""
    texts, last = list(map(_text, cuts)), len(cuts)
    made = []
    for k, part in enumerate(parts):
        if part[0] == part[-1] and k < last:
            made.append(_text(part[0]))
        elif k == 0:
            made.append(f"under {texts[0]}")
        else:
            made.append(f"{texts[k - 1]} to under {texts[k]}" if k < last else f"{texts[-1]} and over")
    return tuple(made)


def _text(value: float) -> str:
    """A number as it is written, without digits that are rounding."""
    short = f"{value:.12g}"
    return short if float(short) == value or abs(float(short) - value) < 1e-14 * abs(value) else repr(float(value))


def cut_table(table: Any, n_levels: int | None = None) -> Schema:
    """The columns of a table as networks of discrete variables take them.

    Parameters
    ----------
    table : tacit.tables.DataTable
    n_levels : int, optional
        As in `cut_column`.
    """
    made = []
    for column, values in zip(table.schema.columns, table.cells.T):
        if not column.coded:
            known = {name: getattr(column, name) for name in ("type", "law", "cycle")}
            cells = Cells(values, np.isnan(values))
            column = cut_column(column.name, cells, n_levels, kind=column.kind, kept=KEPT, **known)
        made.append(column)
    return Schema(tuple(made), table.schema.container)


# Numbers of levels


def centres(column: Column) -> np.ndarray:
    """The mean of the numbers in each level."""
    return np.array(column.points).reshape(len(column.levels), -1).mean(axis=1)


def drawn(column: Column, codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Numbers drawn from levels."""
    points = np.array(column.points).reshape(len(column.levels), -1)
    last = points.shape[1] - 1
    place = rng.uniform(0, last, len(codes))
    at = np.minimum(place.astype(int), max(last - 1, 0))
    own = points[codes.astype(int)]
    rows = np.arange(len(codes))
    low, high = own[rows, at], own[rows, np.minimum(at + 1, last)]
    made = low + (place - at) * (high - low)
    return np.round(made) if column.whole else made


def interval(column: Column, p: np.ndarray, level: float) -> np.ndarray:
    """Central intervals of numbers whose levels have probabilities.

    Parameters
    ----------
    column : Column
    p : (rows, levels) array
    level : float

    Returns
    -------
    (rows, 2) array
    """
    points, n = np.array(column.points), len(column.points) // len(column.levels)
    weight = np.repeat(p / n, n, axis=1)
    total = np.cumsum(weight, axis=1)
    # A point stands for the half of its weight on either side.
    places = (total - 0.5 * weight) / total[:, -1:]
    shares = (0.5 - 0.5 * level, 0.5 + 0.5 * level)
    return np.array([np.interp(shares, row, points) for row in places]).reshape(-1, 2)
