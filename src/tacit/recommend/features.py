"""Features of users or items: numbers about their mean in units of their spread, and columns of 0 and 1 for what has levels.

A missing cell, and an id without a row, is the mean of its column: 0 in numbers, no level in the others.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types
from scipy import sparse

from ..notes import Note, NoteError, Option
from .cells import numbers, seconds, whole
from .ids import codes_of
from .reading import NAMES, Parts, parts_of

__all__ = ["Features", "features_of", "ids_in"]

RARE = 5
"""Ids below which those of a level are pooled with other rare ones."""
MOST_LEVELS = 200
"""Levels of a column beyond which the rarest are pooled."""
DENSE = 0.25
"""Share of cells other than 0 from which a matrix is an ordinary array."""
SEPARATOR = "|"


@dataclass(frozen=True)
class Features:
    """Numbers that describe users or items, a row for each id.

    Attributes
    ----------
    matrix : (n_ids, p) ndarray or CSR array
        Features, in the order of the ids.
    names : (p,) ndarray of str
        What each column is: ``age``, ``genre=Drama``.
    known : (n_ids,) bool
        Which ids have a row.
    notes : tuple of Note
        What was found out when they were read: columns that were left out, ids without a row.
    """

    matrix: Any
    names: np.ndarray
    known: np.ndarray
    notes: tuple[Note, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """Ids and features."""
        return self.matrix.shape


def features_of(table: Any, ids: np.ndarray, what: str = "item", *, id: Any = None, **reading: Any) -> Features:
    """Features of ids.

    Parameters
    ----------
    table : Features, data frame, Arrow table, dict of columns, path, array or sparse matrix
        A table with a column of ids, found by its name or else the first; or numbers with a row for each id in their order,
        which are taken as they are.
    ids : ndarray
        Whose features are wanted.
    what : {"user", "item"}
        What the ids are of, in names and messages.
    id : name of a column, optional
        The column of ids.
    **reading
        How a file or a query is read, as in `tacit.tables.open_reader`.

    Returns
    -------
    Features

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.recommend.features import features_of
    >>> films = {"item": [1, 2, 3], "year": [1990, 2000, 2010], "genre": ["War|Drama", "Drama", "War"]}
    >>> found = features_of(films, np.array([2, 3, 9]))
    >>> found.names.tolist(), found.known.tolist()
    (['year', 'genre=Drama', 'genre=War'], [True, True, False])
    """
    if isinstance(table, Features):
        return _checked(table, ids, what)
    if sparse.issparse(table) or (isinstance(table, np.ndarray) and table.dtype.kind in "biuf"):
        return _as_they_are(table, ids, what)
    parts = parts_of(table, **reading)
    columns = _columns(parts)
    key = _id_column(parts, what, id)
    row = _rows(parts.ids(columns.pop(key)), ids, what, parts.place)
    known, notes, made = row >= 0, [], []
    for name, column in columns.items():
        found = _encoded(str(name), column, parts, row)
        if isinstance(found, Note):
            notes.append(found)
        else:
            made.extend(found)
    if not known.all():
        text = "{n:,} of {all:,} {what}s have no row in {place}; their features are taken as the mean"
        notes.append(Note("no_features", text, n=int((~known).sum()), all=len(ids), what=what, place=parts.place))
    if not made:
        raise ValueError(f"{parts.place} has no column besides {key!r} that describes {what}s; give at least one.")
    names = np.array([name for name, _ in made], dtype=object)
    return Features(_packed([column for _, column in made]), names, known, tuple(notes))


def ids_in(table: Any, what: str = "item", id: Any = None, **reading: Any) -> np.ndarray:
    """Ids that a table of features has rows for; none where it is no table but numbers in the order of ids."""
    if table is None or isinstance(table, (Features, np.ndarray)) or sparse.issparse(table):
        return np.empty(0, dtype=np.int64)
    parts = parts_of(table, **reading)
    column = parts.ids(_columns(parts)[_id_column(parts, what, id)])
    found = column if isinstance(column, np.ndarray) else column.to_numpy(zero_copy_only=False)
    return found[[each is not None and each == each for each in found.tolist()]]


def _checked(found: Features, ids: np.ndarray, what: str) -> Features:
    if found.matrix.shape[0] != len(ids):
        raise ValueError(
            f"the features have {found.matrix.shape[0]} rows, but there are {len(ids)} {what}s; make them for these ids."
        )
    return found


def _as_they_are(matrix: Any, ids: np.ndarray, what: str) -> Features:
    """Numbers with a row for each id."""
    if matrix.ndim != 2 or matrix.shape[0] != len(ids):
        raise ValueError(
            f"features of the shape {matrix.shape} do not have a row for each of the {len(ids)} {what}s; give a table with a "
            "column of ids, or rows in their order."
        )
    matrix = sparse.csr_array(matrix, dtype=np.float64) if sparse.issparse(matrix) else matrix.astype(np.float64)
    cells = matrix.data if sparse.issparse(matrix) else matrix
    if not np.isfinite(cells).all():
        raise ValueError(
            "the features hold NaN or infinity; give a table with a column of ids, where cells may be missing."
        )
    names = np.array([f"{what}_feature_{place}" for place in range(matrix.shape[1])], dtype=object)
    return Features(matrix, names, np.ones(len(ids), bool))


# Rows


def _columns(parts: Parts) -> dict[Any, Any]:
    """All columns, each in one piece."""
    read = list(parts.read(list(parts.names)))
    if not read:
        raise ValueError(f"{parts.place} has no rows; at least one is needed.")
    return {name: _joined([whole(part[name]) for part in read]) for name in parts.names}


def _joined(pieces: list) -> Any:
    if len(pieces) == 1:
        return pieces[0]
    if all(isinstance(piece, pa.Array) and piece.type == pieces[0].type for piece in pieces):
        return whole(pa.chunked_array(pieces))
    return np.array([cell for piece in pieces for cell in getattr(piece, "to_pylist", piece.tolist)()], dtype=object)


def _id_column(parts: Parts, what: str, id: Any) -> Any:
    """The column of ids: as asked for, by its name, or the first."""
    if id is not None:
        if id not in parts.names:
            listed = ", ".join(map(repr, parts.names[:20]))
            text = "{place} has no column {name!r}, which {option} names; it has {columns}."
            raise NoteError("no_column", text, place=parts.place, name=id, option=Option("id"), columns=listed)
        return id
    plain = {re.sub(r"[\W_]+", "", str(name)).lower(): name for name in reversed(parts.names)}
    named = (plain[name] for name in (*NAMES[what], "id", f"{what}s") if name in plain and name != "title")
    return next(named, parts.names[0])


def _rows(column: Any, ids: np.ndarray, what: str, place: str) -> np.ndarray:
    """The row of each id; −1 where it has none."""
    found = column if isinstance(column, np.ndarray) else column.to_numpy(zero_copy_only=False)
    codes = codes_of(found, ids)
    rows, times = np.full(len(ids), -1), np.bincount(codes[codes >= 0], minlength=len(ids))
    if (times > 1).any():
        twice = ids[int(times.argmax())]
        raise ValueError(f"{place} has {times.max()} rows for the {what} {twice!r}; leave one row for each {what}.")
    if not times.any():
        raise ValueError(
            f"no id in {place} is that of a {what} of the ratings, such as {ids[0]!r}; name the column of ids by id=…."
        )
    rows[codes[codes >= 0]] = np.flatnonzero(codes >= 0)
    return rows


# Columns


def _encoded(name: str, column: Any, parts: Parts, row: np.ndarray) -> list[tuple[str, Any]] | Note:
    """Features made of a column, with their names; a note where none can be."""
    values = _as_numbers(column, name, parts)
    if values is not None:
        return _standardised(name, np.append(values, np.nan)[row])
    labels = _labels(column, parts)
    return _leveled(name, [labels[place] if place >= 0 else () for place in row.tolist()], int((row >= 0).sum()))


def _as_numbers(column: Any, name: str, parts: Parts) -> np.ndarray | None:
    """Cells as numbers, dates as seconds; None where they are names."""
    kind = getattr(column, "type", None)
    if kind is not None and (types.is_dictionary(kind) and not parts.written):
        return None
    try:
        return (seconds if kind is not None and not types.is_boolean(kind) else numbers)(column, name, parts.missing)
    except NoteError:
        return None


def _standardised(name: str, values: np.ndarray) -> list[tuple[str, Any]] | Note:
    """About the mean in units of the spread; cells of 0 and 1 only about the mean."""
    values = np.where(np.isfinite(values), values, np.nan)
    seen = values[~np.isnan(values)]
    spread = float(seen.std()) if len(seen) else 0.0
    if spread <= 1e-12 * max(float(np.abs(seen).max()) if len(seen) else 0.0, 1e-300):
        return Note("constant", "column {name!r} is the same for all and was left out", name=name)
    return [(name, np.nan_to_num((values - seen.mean()) / spread))]


def _labels(column: Any, parts: Parts) -> list[tuple[str, ...]]:
    """The labels of each cell: one, or several with bars between."""
    if parts.written:
        column = parts.ids(column)
    cells = column.tolist() if isinstance(column, np.ndarray) else column.to_pylist()
    gone = {*parts.missing.texts.to_pylist(), "(no genres listed)"}
    found = []
    for cell in cells:
        pieces = cell if isinstance(cell, (list, tuple)) else str(cell).split(SEPARATOR) if cell is not None else ()
        found.append(tuple(text for piece in pieces if (text := str(piece).strip()) not in gone))
    return found


def _leveled(name: str, labels: list[tuple[str, ...]], n_known: int) -> list[tuple[str, Any]] | Note:
    """A column of 0 and 1 for each label; those of few ids are pooled. `n_known` ids have a row."""
    count = Counter(label for cell in labels for label in set(cell))
    least = RARE if len(labels) > 10 * RARE else 1
    kept = sorted(label for label, times in count.most_common(MOST_LEVELS) if times >= least)
    rare = len(count) - len(kept)
    if not count or (len(count) == 1 and count.total() == n_known):
        return Note("constant", "column {name!r} is the same for all and was left out", name=name)
    if sum(count[label] for label in kept) < 0.5 * count.total():
        text = "column {name!r} was left out: most of its {n:,} values belong to fewer than {least} ids"
        return Note("rare", text, name=name, n=len(count), least=least)
    place = {label: number for number, label in enumerate(kept)}
    made = np.zeros((len(labels), len(kept) + (rare > 0)), np.float32)
    for row, cell in enumerate(labels):
        for label in cell:
            made[row, place.get(label, -1)] = 1.0
    told = [f"{name}={label}" for label in kept] + [f"{name}: other"] * (rare > 0)
    return list(zip(told, made.T))


def _packed(columns: list[np.ndarray]) -> Any:
    """Columns side by side, as a sparse matrix where most cells are 0."""
    filled = sum(int(np.count_nonzero(column)) for column in columns)
    if filled >= DENSE * len(columns) * len(columns[0]):
        return np.column_stack(columns).astype(np.float64)
    return sparse.csr_array(sparse.hstack([sparse.csc_array(column[:, None]) for column in columns]), dtype=np.float64)
