"""`design`: the columns of a table as columns of numbers, z = (x − m) / s, with an indicator for every level.

All levels of a column have one scale, so that the column varies as much as one of numbers does and rare levels are not far from
all others. A missing level is at 0, the mean; a missing number, or one of two levels, is missing.
"""

from __future__ import annotations

import numpy as np

from ..schema import Column, Schema

__all__ = ["design", "moments_of", "origins"]


def moments_of(schema: Schema, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and scale of every column of numbers, (p,) each; 0 and 1 where a column was never seen or never varies."""
    raw = _raw(schema, cells)
    known = ~np.isnan(raw)
    n = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, raw, 0.0).sum(axis=0) / n
    spread = np.sqrt((np.where(known, raw - mean, 0.0) ** 2).sum(axis=0) / n)
    whole, own = np.zeros(len(schema.columns)), origins(schema)
    levels = _of_levels(schema)
    np.add.at(whole, own, spread**2)
    spread = np.where(levels, np.sqrt(whole[own]), spread)
    # What rounding leaves of a constant is no spread.
    return mean, np.where(spread > 1e-12 * np.abs(mean), spread, 1.0)


def design(schema: Schema, cells: np.ndarray, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """The columns of numbers of encoded cells, (n, p)."""
    Z = (_raw(schema, cells) - mean) / scale
    Z[np.isnan(Z) & _of_levels(schema)] = 0.0
    return Z


def origins(schema: Schema) -> np.ndarray:
    """Which column of the table each column of numbers comes from, (p,)."""
    return np.repeat(np.arange(len(schema.columns)), [_width(column) for column in schema.columns])


def _of_levels(schema: Schema) -> np.ndarray:
    """Which columns of numbers are indicators of more than two levels, (p,)."""
    levels = [column.kind == "category" and _width(column) > 1 for column in schema.columns]
    return np.array(levels, dtype=bool)[origins(schema)]


def _raw(schema: Schema, cells: np.ndarray) -> np.ndarray:
    return np.column_stack([_columns(column, cells[:, j]) for j, column in enumerate(schema.columns)])


def _width(column: Column) -> int:
    if column.cycle:
        return 2
    return len(column.levels) if column.kind == "category" and len(column.levels) > 2 else 1


def _columns(column: Column, x: np.ndarray) -> np.ndarray:
    """A column as one or more of numbers."""
    if column.cycle:
        angle = 2.0 * np.pi * (x - column.cycle[0]) / column.cycle[1]
        return np.column_stack([np.cos(angle), np.sin(angle)])
    if _width(column) == 1:
        return x[:, None]
    shown = (x[:, None] == np.arange(len(column.levels))).astype(float)
    shown[np.isnan(x)] = np.nan
    return shown
