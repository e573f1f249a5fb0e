"""Sequences for conditional random fields: attributes of steps from dictionaries, texts or matrices, and labels of steps."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse, vstack

from ...checks import as_numpy, check_weight
from ...frames import is_table
from ..steps import check_lengths
from ..symbols import Symbols

__all__ = ["Items", "encode", "is_listed", "read_items", "read_labels", "read_matrices", "weights_of"]

BETWEEN = ":"


@dataclass(frozen=True)
class Items:
    """Steps of sequences.

    Attributes
    ----------
    rows : csr_matrix of shape (steps, attributes)
        Values of attributes.
    offsets : (sequences + 1,) int array
        Where sequences begin among the steps.
    listed : bool
        Whether they were given as a list of sequences, as which answers are then given.
    """

    rows: Any
    offsets: np.ndarray
    listed: bool

    def split(self, values: Any) -> Any:
        """Values of steps as a list of what belongs to each sequence; as they are where sequences were not given as a list."""
        if not self.listed:
            return values
        return [values[a:z] for a, z in zip(self.offsets, self.offsets[1:])]

    def place(self, step: int) -> str:
        """A step as messages name it."""
        sequence = int(np.searchsorted(self.offsets, step, side="right")) - 1
        return f"step {step - self.offsets[sequence]} of sequence {sequence}"


def is_listed(X: Any) -> bool:
    """Whether X is a list of sequences, rather than one matrix, table or nested list of numbers."""
    if isinstance(X, dict):
        raise ValueError(f"X is {X!r}, which is one step; give a list of sequences, each a list of steps.")
    if not isinstance(X, (list, tuple)) and not (isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1):
        return False
    first = X[0] if len(X) else []
    if isinstance(first, (str, bytes, dict)):
        raise ValueError(f"X begins with {first!r}, which is one step; give a list of sequences, each a list of steps.")
    return (
        is_matrix(first) or hasattr(first, "items") or not isinstance(next(iter(first), None), (int, float, np.number))
    )


def is_matrix(part: Any) -> bool:
    """Whether a sequence is given by a matrix with a row a step."""
    held = isinstance(part, (list, tuple, dict, str))
    return not held and (issparse(part) or is_table(part) or (isinstance(part, np.ndarray) and part.ndim == 2))


def read_items(X: Any, known: dict | None = None) -> tuple[Items, dict]:
    """Steps given as dictionaries or lists of texts, and numbers of their attributes.

    Parameters
    ----------
    X : iterable of sequences
        A step is a dictionary of names to numbers, truth values, texts (which become part of the name), or lists and dictionaries
        of these, or it is a list of names.
    known : dict, optional
        Numbers of the attributes that are known; others are left out. By default all are new.
    """
    numbers: Any = defaultdict(None) if known is None else known
    if known is None:
        numbers.default_factory = numbers.__len__
    cells, values, pointer, ends = array("q"), array("d"), array("q", [0]), array("q", [0])
    for u, sequence in enumerate(X):
        steps = sequence.items() if hasattr(sequence, "items") and not isinstance(sequence, dict) else sequence
        if isinstance(steps, (str, bytes, dict)) or not hasattr(steps, "__iter__"):
            raise TypeError(f"sequence {u} is a {type(steps).__name__}; give a list of steps.")
        for t, item in enumerate(steps):
            names, found = _attributes(item, t, u)
            if found is not None:
                values.extend(repeat(1.0, len(cells) - len(values)))  # of names before, which mostly are all there is
                values.extend(found)
            try:
                cells.extend(map(numbers.__getitem__, names) if known is None else map(numbers.get, names, repeat(-1)))
            except TypeError as error:
                raise TypeError(
                    f"step {t} of sequence {u} has an attribute that is no name: {error}; give texts."
                ) from None
            pointer.append(len(cells))
        ends.append(len(pointer) - 1)
    values.extend(repeat(1.0, len(cells) - len(values)))
    items = Items(_matrix(cells, values, pointer, len(numbers)), np.array(ends), True)
    if known is None:
        _check_names(items, numbers)
    _check_finite(items, numbers)
    return items, dict(numbers) if known is None else known


def _attributes(item: Any, t: int, u: int) -> tuple[Any, list | None]:
    """Names of a step's attributes, and their values where these are not 1."""
    if isinstance(item, (list, tuple, set, frozenset)):
        return item, None
    if not isinstance(item, dict):
        raise TypeError(
            f"step {t} of sequence {u} is {item!r}; give a dictionary of attributes, or a list of their names."
        )
    try:
        pairs = list(_pairs(item))
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"step {t} of sequence {u} has an attribute that cannot be read: {error}; give texts, or names with finite numbers."
        ) from None
    return [name for name, _ in pairs], [value for _, value in pairs]


def _pairs(item: dict, before: str = "") -> Iterator[tuple[str, float]]:
    """Names and values of attributes; texts become part of the name."""
    for key, value in item.items():
        name = before + _text(key)
        if isinstance(value, (str, bytes)):
            yield name + BETWEEN + _text(value), 1.0
        elif isinstance(value, dict):
            yield from _pairs(value, name + BETWEEN)
        elif isinstance(value, (list, tuple, set, frozenset)):
            yield from ((name + BETWEEN + _text(each), 1.0) for each in value)
        else:
            try:
                yield name, float(value)
            except (TypeError, ValueError):
                raise TypeError(f"{name!r} is {value!r}") from None


def _text(name: Any) -> str:
    if isinstance(name, bytes):
        return name.decode()
    if not isinstance(name, str):
        raise TypeError(f"{name!r} is no text")
    return name


def _matrix(cells: array, values: array, pointer: array, n_attributes: int) -> Any:
    """The rows of steps; cells of attributes that are not known are left out."""
    columns, numbers, starts = np.array(cells), np.array(values), np.array(pointer)
    seen = columns >= 0
    if not seen.all():
        starts = np.append(0, np.cumsum(seen))[starts]
        columns, numbers = columns[seen], numbers[seen]
    return csr_matrix((numbers, columns.astype(np.int32), starts), shape=(len(starts) - 1, n_attributes))


def _check_names(items: Items, numbers: dict) -> None:
    bad = next((name for name in numbers if not isinstance(name, str)), None)
    if bad is not None:
        cell = int(np.argmax(items.rows.indices == numbers[bad]))
        step = int(np.searchsorted(items.rows.indptr, cell, side="right")) - 1
        raise TypeError(f"{items.place(step)} has the attribute {bad!r}; names of attributes must be texts.")


def _check_finite(items: Items, numbers: dict) -> None:
    bad = np.flatnonzero(~np.isfinite(items.rows.data))
    if len(bad):
        step = int(np.searchsorted(items.rows.indptr, bad[0], side="right")) - 1
        name = list(numbers)[items.rows.indices[bad[0]]]
        raise ValueError(
            f"{items.place(step)} has {name!r} = {items.rows.data[bad[0]]}; values must be finite: leave out those that are "
            "missing."
        )


def read_matrices(X: Any, lengths: Any, validate: Any) -> Items:
    """Steps given as rows of a matrix with `lengths`, or as a list of matrices.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (steps, attributes), or list of them
    lengths : array-like of int, optional
    validate : callable
        Checks a matrix, and learns or checks its columns.
    """
    listed = is_listed(X)
    if listed:
        if lengths is not None:
            raise ValueError("X is a list of sequences, whose lengths are its own; leave lengths out.")
        parts = [csr_matrix(validate(part)) for part in X]
        return Items(vstack(parts, format="csr"), np.append(0, np.cumsum([p.shape[0] for p in parts])), True)
    rows = csr_matrix(validate(X))
    return Items(rows, check_lengths(lengths, rows.shape[0]), False)


def read_labels(y: Any, items: Items) -> tuple[np.ndarray, np.ndarray]:
    """Distinct labels and the number of each step's among them, −1 where it is None, NaN or −1."""
    flat = _flat_labels(y, items)
    cells = np.empty(len(flat), dtype=object)
    cells[:] = flat
    if all(type(cell) is int for cell in flat):
        cells = cells.astype(np.int64)
    known, codes = Symbols(cells, items.offsets, None).distinct()  # type: ignore[arg-type]
    unknown = np.array([not isinstance(label, str) and label == -1 for label in known.tolist()], dtype=bool)
    if unknown.any():
        number = np.where(unknown, -1, np.cumsum(~unknown) - 1)
        known, codes = known[~unknown], np.append(number, -1)[codes]
    return known, codes.astype(np.int64)


def _flat_labels(y: Any, items: Items) -> list:
    """Labels one after the other, as many as there are steps."""
    if y is None:
        raise ValueError(
            "LinearChainCRF requires y to be passed, but the target y is None; give a label for each step, None where it is not "
            "known."
        )
    y = as_numpy(y)
    given = np.asarray(y).tolist() if hasattr(y, "__array__") else list(y)
    if not items.listed and not any(isinstance(each, (list, tuple, np.ndarray)) for each in given):
        if len(given) != items.offsets[-1]:
            raise ValueError(
                f"y has {len(given)} labels, but X has {items.offsets[-1]} steps; give one label for each step."
            )
        return given
    if len(given) != len(items.offsets) - 1:
        raise ValueError(
            f"y has {len(given)} sequences, but X has {len(items.offsets) - 1}; give labels of every sequence."
        )
    parts = [part.tolist() if hasattr(part, "tolist") else list(part) for part in given]
    for u, (part, n_steps) in enumerate(zip(parts, np.diff(items.offsets))):
        if len(part) != n_steps:
            raise ValueError(
                f"sequence {u} has {n_steps} steps and {len(part)} labels; give one label for each step, None where it is "
                "not known."
            )
    return [label for part in parts for label in part]


def encode(y: Any, items: Items, classes: np.ndarray) -> np.ndarray:
    """Labels as numbers among known classes, −1 where they are not known; other labels are refused."""
    found, codes = read_labels(y, items)
    number = {label: code for code, label in enumerate(classes.tolist())}
    place = np.array([number.get(label, -1) for label in found.tolist()], dtype=np.int64)
    if (place < 0).any():
        step = int(np.argmax(codes == np.argmin(place)))
        raise ValueError(f"{items.place(step)} has the label {found[np.argmin(place)]!r}, which did not occur at fit.")
    return np.append(place, -1)[codes]


def weights_of(sample_weight: Any, items: Items) -> np.ndarray:
    """Weights of sequences, given for each of them, or for each step where those of a sequence are the same."""
    n_sequences, n_steps = len(items.offsets) - 1, items.offsets[-1]
    if sample_weight is None:
        return np.ones(n_sequences)
    given = np.asarray(as_numpy(sample_weight), dtype=np.float64)
    if given.shape == (n_steps,) != (n_sequences,):
        first = given[items.offsets[:-1]]
        spread = np.repeat(first, np.diff(items.offsets))
        if (given != spread).any():
            step = int(np.argmax(given != spread))
            raise ValueError(
                f"sample_weight holds {spread[step]:g} and {given[step]:g} in one sequence; a sequence has one weight."
            )
        given = first
    if given.shape != (n_sequences,):
        raise ValueError(
            f"sample_weight has shape {given.shape}; give one number for each of the {n_sequences} sequences."
        )
    checked = check_weight(given, n_sequences)
    return np.ones(n_sequences) if checked is None else checked
