"""Columns that repeat what others say: copies, rescaled copies, sums of others, the same categories under other names."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from threadpoolctl import threadpool_limits

from ..frames import Batch
from ..notes import Note, Option
from ..survey.column import ROLES, ColumnInfo
from ..survey.typed import as_typed

__all__ = ["MOST_ROWS", "first_cells", "note_copies"]

MOST_ROWS = 5000
MOST_COLUMNS = 100
EXACT = 1e-9
LARGEST = 1e150

Terms = tuple[list[tuple[float, int]], float]
"""Factors and columns, and a constant, that a column is the sum of."""


def note_copies(columns: tuple[ColumnInfo, ...], batches: list[Batch]) -> tuple[ColumnInfo, ...]:
    """Note columns that follow exactly from others, as far as the first rows tell, which are given as they were read."""
    used = [column for column in columns if column.used]
    numbers = [column for column in used if ROLES[column.role] in ("continuous", "count")][:MOST_COLUMNS]
    categories = [column for column in used if column.coded][:MOST_COLUMNS]
    with threadpool_limits(1, "blas"):
        found = _found(numbers, categories, batches)
    return tuple(
        dataclasses.replace(column, notes=(*column.notes, found[column.name]), copied=True)
        if column.name in found
        else column
        for column in columns
    )


def _found(numbers: list[ColumnInfo], categories: list[ColumnInfo], batches: list[Batch]) -> dict[str, Note]:
    found: dict[str, Note] = {}
    if len(numbers) > 1:
        X = np.column_stack([first_cells(column, batches) for column in numbers])
        found |= _dependent(X, [column.name for column in numbers])
    return found | _same_categories({column.name: first_cells(column, batches) for column in categories})


def first_cells(column: ColumnInfo, batches: list[Batch]) -> np.ndarray:
    """The first cells of a column."""
    parts, n_rows = [], 0
    for batch in batches:
        cells = batch[column.name]
        rows = np.arange(min(MOST_ROWS - n_rows, len(cells.missing)))
        parts.append(as_typed(column, cells.take(rows)).values)
        n_rows += len(rows)
    return np.concatenate(parts)


def _dependent(X: np.ndarray, names: list[str]) -> dict[str, Note]:
    """Notes on numbers that are linear functions of columns before them, by name."""
    found: dict[str, Note] = {}
    free: list[int] = []
    seen = ~np.isnan(X)
    for j, name in enumerate(names):
        terms = _terms(X, seen, j, free)
        if terms is None:
            free.append(j)
        else:
            found[name] = _sentence(name, [(factor, names[k]) for factor, k in terms[0]], terms[1])
    return found


def _terms(X: np.ndarray, seen: np.ndarray, j: int, free: list[int]) -> Terms | None:
    """The terms of a column that is a function of one other, or of all where enough rows are complete."""
    for k in free:
        both = seen[:, j] & seen[:, k]
        if both.sum() >= 4 and (seen[:, j] != seen[:, k]).mean() <= 0.5:
            terms = _fit(X[both], j, [k])
            if terms:
                return terms
    full = seen[:, [j, *free]].all(axis=1)
    enough = len(free) > 1 and full.sum() >= 2 * len(free) + 10
    return _fit(X[full], j, free) if enough else None


def _fit(X: np.ndarray, j: int, others: list[int]) -> Terms | None:
    Z = X[:, [j, *others]]
    if np.abs(Z).max() > LARGEST:
        return None
    centre, scale = Z.mean(axis=0), Z.std(axis=0)
    if not (scale > 0).all():
        return None
    Z = (Z - centre) / scale
    z, Z = Z[:, 0], Z[:, 1:]
    weights = Z.T @ z / len(z)
    if len(others) > 1:
        # Correlations say sooner than a fit to all rows that a column is no function of others.
        if weights @ np.linalg.lstsq(Z.T @ Z / len(z), weights, rcond=1e-10)[0] <= 1 - 1e-6:
            return None
        weights = np.linalg.lstsq(Z, z, rcond=1e-10)[0]
    if np.abs(z - Z @ weights).max() > EXACT * max(1.0, np.abs(z).max()):
        return None
    factors = np.where(np.abs(weights) > 1e-7, weights * scale[0] / scale[1:], 0.0)
    terms = [(float(factor), k) for factor, k in zip(factors, others) if factor]
    return terms, float(centre[0] - factors @ centre[1:])


def _sentence(name: str, terms: Sequence[tuple[float, str]], constant: float) -> Note:
    parts: list[str] = []
    for factor, other in terms[:6]:
        size = "" if abs(abs(factor) - 1) < 1e-9 else f"{abs(factor):.4g} × "
        parts.append(f"{'- ' if factor < 0 else '+ ' if parts else ''}{size}{other}")
    scale = max(1.0, *(abs(factor) for factor, _ in terms))
    if abs(constant) > 1e-6 * scale:
        parts.append(f"{'-' if constant < 0 else '+'} {abs(constant):.4g}")
    if len(terms) == 1 and len(parts) == 1 and parts[0] == terms[0][1]:
        return _note("a copy of {what}", parts[0], name)
    return _note("equals {what}", " ".join(parts) + (" + …" if len(terms) > 6 else ""), name)


def _note(text: str, what: str, name: str) -> Note:
    return Note("copy", f"{text}; leave one of them out: {{option}}", what=what, option=Option("ignore", name))


def _same_categories(texts: dict[str, np.ndarray]) -> dict[str, Note]:
    """Notes on categories that tell the same rows apart as one before them, by name."""
    found: dict[str, Note] = {}
    kept: list[str] = []
    for name, values in texts.items():
        same = next((other for other in kept if _tell_alike(values, texts[other])), None)
        if same is None:
            kept.append(name)
        else:
            found[name] = _note("tells the same rows apart as {what}", same, name)
    return found


def _tell_alike(values: np.ndarray, others: np.ndarray) -> bool:
    pairs = {pair for pair in zip(values, others) if None not in pair}
    return len(pairs) > 1 and all(len(set(side)) == len(pairs) for side in zip(*pairs))
