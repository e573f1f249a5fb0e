"""Columns that repeat what others say: copies, rescaled copies, sums of others, the same categories under other names."""

import dataclasses

import numpy as np

from ..notes import Note, Option
from ..source.threads import one_blas_thread
from ..survey.column import ROLES
from ..survey.typed import as_typed

__all__ = ["MOST_ROWS", "note_copies"]

MOST_ROWS = 5000
MOST_COLUMNS = 100
EXACT = 1e-9
LARGEST = 1e150


def note_copies(columns, batches):
    """Note columns that follow exactly from others, as far as the first rows tell.

    Parameters
    ----------
    columns : tuple of ColumnInfo
    batches : list of Batch
        The first rows, as they were read.

    Returns
    -------
    tuple of ColumnInfo
    """
    used = [column for column in columns if column.used]
    numbers = [column for column in used if ROLES[column.role] in ("continuous", "count")][:MOST_COLUMNS]
    categories = [column for column in used if ROLES[column.role] == "category"][:MOST_COLUMNS]
    with one_blas_thread():
        found = _found(numbers, categories, batches)
    return tuple(
        dataclasses.replace(column, notes=(*column.notes, found[column.name]), copied=True)
        if column.name in found
        else column
        for column in columns
    )


def _found(numbers, categories, batches):
    found: dict = {}
    if len(numbers) > 1:
        X = np.column_stack([_first(column, batches) for column in numbers])
        found |= _dependent(X, [column.name for column in numbers])
    texts = {column.name: _first(column, batches) for column in categories}
    return found | _same_categories(texts)


def _first(column, batches):
    """The first cells of a column."""
    parts, n_rows = [], 0
    for batch in batches:
        cells = batch[column.name]
        rows = np.arange(min(MOST_ROWS - n_rows, len(cells.missing)))
        parts.append(as_typed(column, cells.take(rows)).values)
        n_rows += len(rows)
    return np.concatenate(parts)


def _dependent(X, names):
    """Notes on numbers that are linear functions of columns before them, by name."""
    found: dict = {}
    free: list = []
    for j, name in enumerate(names):
        terms = _single(X, j, free) or _several(X, j, free)
        if terms is None:
            free.append(j)
        else:
            found[name] = _sentence(name, [(factor, names[k]) for factor, k in terms[0]], terms[1])
    return found


def _single(X, j, free):
    """(factor, column) and constant if the column is a linear function of one other."""
    for k in free:
        both = ~np.isnan(X[:, j]) & ~np.isnan(X[:, k])
        if both.sum() < 4 or (np.isnan(X[:, j]) != np.isnan(X[:, k])).mean() > 0.5:
            continue
        terms = _fit(X[both], j, [k])
        if terms:
            return terms
    return None


def _several(X, j, free):
    """The same for a function of several others, where enough rows are complete."""
    if len(free) < 2:
        return None
    full = ~np.isnan(X[:, [j, *free]]).any(axis=1)
    if full.sum() < 2 * len(free) + 10 or not _nearly(X[full], j, free):
        return None
    return _fit(X[full], j, free)


def _nearly(X, j, others):
    """Whether correlations allow the column to be a function of others: quicker to say than to fit it."""
    Z = X[:, [j, *others]]
    if np.abs(Z).max() > LARGEST or not (Z.std(axis=0) > 0).all():
        return False
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    correlation = Z.T @ Z / len(Z)
    explained = correlation[0, 1:] @ np.linalg.lstsq(correlation[1:, 1:], correlation[0, 1:], rcond=1e-10)[0]
    return explained > 1 - 1e-6


def _fit(X, j, others):
    y, Z = X[:, j], X[:, others]
    if max(np.abs(y).max(), np.abs(Z).max()) > LARGEST:
        return None
    scale, spread = Z.std(axis=0), y.std()
    if not (scale > 0).all() or not spread > 0:
        return None
    centre = Z.mean(axis=0)
    Z, z = (Z - centre) / scale, (y - y.mean()) / spread
    weights = Z.T @ z / len(z) if len(others) == 1 else np.linalg.lstsq(Z, z, rcond=1e-10)[0]
    if np.abs(z - Z @ weights).max() > EXACT * max(1.0, np.abs(z).max()):
        return None
    factors = np.where(np.abs(weights) > 1e-7, weights * spread / scale, 0.0)
    return [(float(factor), k) for factor, k in zip(factors, others) if factor], float(y.mean() - factors @ centre)


def _sentence(name, terms, constant):
    parts: list = []
    for factor, other in terms[:6]:
        size = "" if abs(abs(factor) - 1) < 1e-9 else f"{abs(factor):.4g} × "
        parts.append(f"{'- ' if factor < 0 else '+ ' if parts else ''}{size}{other}")
    scale = max(1.0, *(abs(factor) for factor, _ in terms))
    if abs(constant) > 1e-6 * scale:
        parts.append(f"{'-' if constant < 0 else '+'} {abs(constant):.4g}")
    if len(terms) == 1 and len(parts) == 1 and parts[0] == terms[0][1]:
        return _note("a copy of {what}", parts[0], name)
    return _note("equals {what}", " ".join(parts) + (" + …" if len(terms) > 6 else ""), name)


def _note(text, what, name):
    return Note("copy", f"{text}; leave one of them out: {{option}}", what=what, option=Option("ignore", name))


def _same_categories(texts):
    """Notes on categories that tell the same rows apart as one before them, by name."""
    found: dict = {}
    kept: list = []
    for name, values in texts.items():
        pairs_of = None
        for other in kept:
            pairs = {pair for pair in zip(values, texts[other]) if None not in pair}
            sides = [set(side) for side in zip(*pairs)] or [set(), set()]
            if len(pairs) == len(sides[0]) == len(sides[1]) > 1:
                pairs_of = other
                break
        if pairs_of is None:
            kept.append(name)
        else:
            found[name] = _note("tells the same rows apart as {what}", pairs_of, name)
    return found
