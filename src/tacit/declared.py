"""What a class declares of itself: the fitted attributes that a model file holds, with their shapes and ranges.

    _saved = RowsEstimator._saved | {"means_": Numbers("K d"), "weights_": Numbers("K", low=0, high=1)}

Letters are sizes, the same wherever they stand: those that the estimator's ``_sizes()`` names, and others, fixed by the first
array that has them. Records of arrays, families, priors and the other parts of an estimator declare what they are made of in the
same way. `load` holds a file to these declarations before anything is computed from it: compiled code trusts what they promise.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

__all__ = [
    "OBJECTIVE", "SAVABLE", "SQUARES", "Either", "Flag", "Label", "Listed", "Mapped", "Names", "Numbers", "Part", "Spec", "Text",
    "Whole", "check_declared", "declare", "savable",
]  # fmt: skip

T = TypeVar("T", bound=type)
SAVABLE: dict[str, type] = {}
"""Classes, beside records of arrays, families and priors, that an estimator may be made of."""
LARGEST = 2.0**53
"""Whole numbers beyond are not sizes or counts of anything."""
CELLS = 1e152
"""Numbers beyond have no squares that can be added up: no cell, and nothing in the units of cells, is larger."""
SQUARES = 1e307
"""What is in squares of the units of cells, such as variances, or in one over them, is no larger."""


def declare(**specs: Spec) -> dict[str, Spec]:
    """What is declared, by name."""
    return specs


def savable(cls: T) -> T:
    """Let a model file hold objects of a class, which are what its constructor is given."""
    SAVABLE[cls.__name__] = cls
    return cls


def check_declared(
    specs: dict[str, Spec], values: dict[str, Any], sizes: dict[str, int], owner: Any, kind: str | None = None
) -> None:
    """Raise ValueError where values are not what is declared of them, or not all are there.

    Parameters
    ----------
    specs : dict of str to Spec
        What is declared.
    values : dict of str to object
        What was read.
    sizes : dict of str to int
        Sizes that are known; those met for the first time are entered.
    owner : object
        Whose values they are.
    kind : str, optional
        What to call the owner; by default its class.
    """
    kind = kind or type(owner).__name__
    if unknown := values.keys() - specs.keys():
        raise ValueError(
            f"it sets {min(unknown)!r}, which is no attribute of {kind}; where another version of tacit wrote the file, fit and "
            "save the model again"
        )
    for name in [name for name in specs if name in values]:
        specs[name].check(name, values[name], sizes, owner)
    for name, spec in specs.items():
        if name not in values and (spec.needed(owner) if callable(spec.needed) else spec.needed):
            raise ValueError(f"it does not say {name!r}, which a {kind} needs")


def _settle(sizes: dict[str, int], letter: str, size: int, name: str) -> None:
    """Enter a size, or raise where it is known to be another."""
    if sizes.setdefault(letter, size) != size:
        raise ValueError(f"{name!r} is of size {size}, not {sizes[letter]}")


def _told(value: Any) -> str:
    """A value in one short line."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:60]}…"


@dataclass(frozen=True, kw_only=True)
class Spec:
    """What a fitted attribute is; `check` raises ValueError where a value is something else.

    Parameters
    ----------
    optional : bool
        Whether it may be None.
    needed : bool or callable
        Whether it must be there; a callable is given the estimator, whose settings and other attributes are checked.
    """

    optional: bool = False
    needed: bool | Callable[[Any], bool] = True

    def check(self, name: str, value: Any, sizes: dict[str, int], owner: Any) -> None:
        """Raise where a value is not what is declared; sizes that are met for the first time are entered."""
        if value is None and self.optional:
            return
        self.examine(name, value, sizes, owner)

    def examine(self, name: str, value: Any, sizes: dict[str, int], owner: Any) -> None:
        """`check` of a value that is there."""
        raise NotImplementedError


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))


@dataclass(frozen=True)
class Numbers(Spec):
    """A number, or an array of them.

    Parameters
    ----------
    shape : str or callable
        Sizes, as letters or numbers with blanks between, or several such with "|" between; a callable is given the estimator.
        Empty for a number.
    low, high, above : float
        What finite numbers lie between, and what they exceed; `low` is −`high` by default.
    below : str
        The size that they, as numbers of rows or classes, are smaller than.
    kind : {"f", "i", "b"}
        Floats (whole numbers will do), whole numbers, or truth values.
    beside : tuple of float
        Values besides, for what is undefined (NaN) or without limit (±infinity).
    total : float, optional
        What they sum to along the last axis.
    form : {"", "definite", "scatter", "factor"}
        "definite": symmetric positive definite matrices; "scatter": sums of squares and products, which may be singular;
        "factor": triangular factors of the first. Where the shape has no matrices, positive numbers, or none below 0.
    sparse : bool
        Whether it may be a sparse matrix.
    """

    shape: str | Callable[[Any], str] = ""
    low: float | None = None
    high: float = CELLS
    above: float = -math.inf
    below: str = ""
    kind: str = "f"
    beside: tuple[float, ...] = ()
    total: float | None = None
    form: str = ""
    sparse: bool = False

    def examine(self, name: str, value: Any, sizes: dict[str, int], owner: Any) -> None:
        shapes = [
            each.split() for each in (self.shape if isinstance(self.shape, str) else self.shape(owner)).split("|")
        ]
        is_sparse = self.sparse and hasattr(value, "tocsr")
        if not isinstance(value, (np.ndarray, np.generic, int, float)) and not is_sparse:
            raise ValueError(f"{name!r} is {_told(value)}, not {_KINDS[self.kind]}")
        array = value.data if is_sparse else np.asarray(value)
        if array.dtype.kind not in {"f": "fiu", "i": "iu", "b": "b"}[self.kind]:
            raise ValueError(f"{name!r} holds {array.dtype}, not {_KINDS[self.kind]}")
        found = np.shape(value) if not is_sparse else value.shape
        shape = next((each for each in shapes if len(each) == len(found)), shapes[0])
        expected = tuple(sizes.get(each, int(each) if each.isdigit() else -1) for each in shape)
        if len(found) != len(expected) or any(e not in (-1, f) for e, f in zip(expected, found)):
            told = " × ".join(each if e < 0 else str(e) for each, e in zip(shape, expected)) or "a single number"
            raise ValueError(f"{name!r} has shape {tuple(found)}, not {told}")
        for each, size in zip(shape, found):
            if not each.isdigit():
                _settle(sizes, each, int(size), name)
        if array.size and self.kind != "b":
            self._check_range(name, array, len(shape) > 1 and shape[-1] == shape[-2])
        if self.below and array.size and array.max() >= sizes[self.below]:
            raise ValueError(f"{name!r} holds {array.max()}, but there are {sizes[self.below]}")

    def _check_range(self, name: str, array: np.ndarray, matrices: bool) -> None:
        finite = np.isfinite(array)
        odd = array[~finite]
        for each in self.beside:
            odd = odd[~np.isnan(odd)] if math.isnan(each) else odd[odd != each]
        if odd.size:
            raise ValueError(f"{name!r} holds {odd.flat[0]}, which is no finite number")
        seen = array[finite]
        low, high = (float(seen.min()), float(seen.max())) if seen.size else (math.nan, math.nan)
        least = -self.high if self.low is None else self.low
        if self.form and not matrices:
            least = max(least, 0.0)
        if low < least or high > self.high:
            raise ValueError(f"{name!r} holds {low if low < least else high:g}, not from {least:g} to {self.high:g}")
        above = 0.0 if self.form in ("definite", "factor") and not matrices else self.above
        if low <= above or (above == 0 and low < 1.0 / self.high):  # one over it is a number as well
            raise ValueError(f"{name!r} holds {low:g}, which must be greater than {above:g}")
        if self.total is not None and (np.abs(array.sum(axis=-1) - self.total) > 1e-4).any():
            raise ValueError(f"{name!r} sums to {array.sum(axis=-1).flat[0]:g}, not to {self.total:g}")
        if self.form and matrices:
            _FORMS[self.form](name, array)


OBJECTIVE = Numbers(high=SQUARES, beside=(-math.inf,))
"""What a fit maximises, and −∞ before its first step."""
_KINDS = {"f": "numbers", "i": "whole numbers", "b": "truth values"}


def _units(array: np.ndarray) -> tuple[np.ndarray, Any]:
    """Matrices scaled to a diagonal of 1, and whether they are symmetric; not where a diagonal is not positive."""
    with np.errstate(all="ignore"):
        root = np.sqrt(np.diagonal(array, axis1=-2, axis2=-1))
        unit = array / (root[..., :, None] * root[..., None, :])
        return unit, (np.abs(unit - np.swapaxes(unit, -1, -2)) < 1e-4).all()  # NaN is not


def _check_definite(name: str, array: np.ndarray) -> None:
    """Raise where matrices have no Cholesky factor, or are those of no covariance; those without limit are so in all cells."""
    known = np.isfinite(array).all(axis=(-2, -1))
    sound = not np.isfinite(array[~known]).any()
    given = np.asarray(array[known], dtype=np.float64)
    unit, symmetric = _units(given)
    try:
        # Single precision may have rounded away what kept a matrix definite.
        np.linalg.cholesky(given if array.dtype == np.float64 else unit + 1e-6 * np.eye(array.shape[-1]))
    except np.linalg.LinAlgError:
        sound = False
    if not (sound and symmetric):
        raise ValueError(f"{name!r} must be symmetric and positive definite")


def _check_scatter(name: str, array: np.ndarray) -> None:
    """Raise where matrices are no sums of squares and products."""
    square = np.diagonal(array, axis1=-2, axis2=-1)
    if (square < 0).any():
        raise ValueError(f"{name!r} holds the square {square.min():g}, which must not be below 0")
    filled = array + np.where(square > 0, 0.0, 1.0)[..., None] * np.eye(array.shape[-1])
    unit, symmetric = _units(filled)
    if not symmetric or (np.abs(unit) > 1.0 + 1e-4).any():
        raise ValueError(f"{name!r} must be symmetric, and no product larger than its squares allow")


def _check_factor(name: str, array: np.ndarray) -> None:
    """Raise where matrices are not upper triangles with a positive diagonal."""
    if np.tril(array, -1).any() or (np.diagonal(array, axis1=-2, axis2=-1) <= 0).any():
        raise ValueError(f"{name!r} must be upper triangles with positive diagonals")


_FORMS = {"definite": _check_definite, "scatter": _check_scatter, "factor": _check_factor}


@dataclass(frozen=True)
class Whole(Spec):
    """A whole number, which may be a size."""

    low: float = -LARGEST
    high: float = LARGEST
    size: str = ""

    def examine(self, name: str, value: Any, sizes: dict[str, int], owner: Any) -> None:
        if not _is_whole(value) or not self.low <= value <= self.high:
            raise ValueError(f"{name!r} is {_told(value)}, not a whole number from {self.low:g} to {self.high:g}")
        if self.size:
            _settle(sizes, self.size, int(value), name)


@dataclass(frozen=True)
class Flag(Spec):
    """True or False."""

    def examine(self, name: str, value: Any, sizes: dict[str, int], owner: Any) -> None:
        if not isinstance(value, (bool, np.bool_)):
            raise ValueError(f"{name!r} is {_told(value)}, neither True nor False")


@dataclass(frozen=True)
class Text(Spec):
    """A text, which may be one of a few."""

    choices: tuple[str, ...] = ()

    def examine(self, name: str, value: Any, sizes: dict[str, int], owner: Any) -> None:
        if not isinstance(value, str):
            raise ValueError(f"{name!r} is {_told(value)}, not a text")
        if self.choices and value not in self.choices:
            raise ValueError(f"{name!r} is {_told(value)}, not one of {', '.join(map(repr, self.choices))}")


@dataclass(frozen=True)
class Label(Spec):
    """What a column or a level may be called: a text, a number or a truth value, or several in a tuple."""

    def examine(self, name: str, value: Any, sizes: dict[str, int], owner: Any) -> None:
        for each in value if isinstance(value, tuple) else (value,):
            if not isinstance(each, (str, int, float, bool, np.generic)):
                raise ValueError(f"{name!r} is {_told(value)}, which nothing is called")


@dataclass(frozen=True, init=False)
class Either(Spec):
    """What one of several declarations allows."""

    specs: tuple[Spec, ...]

    def __init__(self, *specs: Spec, **rest: Any) -> None:
        super().__init__(**rest)
        object.__setattr__(self, "specs", specs)

    def examine(self, name: str, value: Any, sizes: dict[str, int], owner: Any) -> None:
        for spec in self.specs[:-1]:
            with contextlib.suppress(ValueError):
                return spec.examine(name, value, sizes, owner)
        return self.specs[-1].examine(name, value, sizes, owner)


@dataclass(frozen=True)
class Names(Spec):
    """An array of texts, or of any labels where `labels`, of a size; no two are the same."""

    size: str
    labels: bool = False

    def examine(self, name: str, value: Any, sizes: dict[str, int], owner: Any) -> None:
        if not isinstance(value, np.ndarray) or value.ndim != 1:
            raise ValueError(f"{name!r} is {_told(value)}, not a list of names")
        if not self.labels and not all(isinstance(each, str) for each in value.tolist()):
            raise ValueError(f"{name!r} holds what is no text")
        if len(set(value.tolist())) < len(value):
            raise ValueError(f"{name!r} holds a name twice")
        _settle(sizes, self.size, len(value), name)


@dataclass(frozen=True)
class Listed(Spec):
    """A list or tuple.

    Parameters
    ----------
    member : Spec or tuple of Spec
        What every member is, or what each is.
    kind : type
        `list` or `tuple`.
    size, total : str
        The size that is its length, and the one that its members, whole numbers, sum to.
    """

    member: Spec | tuple[Spec, ...]
    kind: type[list | tuple] = list
    size: str = ""
    total: str = ""

    def examine(self, name: str, value: Any, sizes: dict[str, int], owner: Any) -> None:
        if not isinstance(value, self.kind):
            raise ValueError(f"{name!r} is {_told(value)}, not a {self.kind.__name__}")
        members = self.member if isinstance(self.member, tuple) else (self.member,) * len(value)
        if len(members) != len(value):
            raise ValueError(f"{name!r} has {len(value)} parts, not {len(members)}")
        for spec, each in zip(members, value):
            spec.check(name, each, sizes, owner)
        if self.size:
            _settle(sizes, self.size, len(value), name)
        if self.total:
            _settle(sizes, self.total, sum(value), name)


@dataclass(frozen=True)
class Mapped(Spec):
    """A dictionary of texts to numbers, texts and arrays, which whoever uses them checks.

    Parameters
    ----------
    members : callable, optional
        Given the estimator, what is declared of them; None is nothing.
    """

    members: Callable[[Any], dict[str, Spec] | None] | None = None

    def examine(self, name: str, value: Any, sizes: dict[str, int], owner: Any) -> None:
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            raise ValueError(f"{name!r} is {_told(value)}, not a dictionary of named values")
        declared = None if self.members is None else self.members(owner)
        if declared is not None:
            check_declared(declared, value, sizes, owner, name)


@dataclass(frozen=True)
class Part(Spec):
    """An object of a class, such as a schema, a table or another estimator; a callable gives a class that is not known yet.

    An estimator within another has as many columns as it, and what else `same` names.
    """

    kind: Any
    same: tuple[str, ...] = ()

    def examine(self, name: str, value: Any, sizes: dict[str, int], owner: Any) -> None:
        kind: Any = self.kind() if not isinstance(self.kind, (type, tuple)) else self.kind
        if not isinstance(value, kind):
            raise ValueError(f"{name!r} is a {type(value).__name__}, which it must not be")
        for each in self.same:
            _settle(sizes, each, getattr(value, "_sizes")()[each], name)  # noqa: B009
