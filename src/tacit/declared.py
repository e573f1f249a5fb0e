"""What a class declares of itself: the fitted attributes that a model file holds, with their shapes and ranges.

    _saved = RowsEstimator._saved | {"means_": Numbers("K d"), "weights_": Numbers("K", low=0, high=1)}

Letters are sizes, the same wherever they stand: those that the estimator's ``_sizes()`` names, and others, fixed by the first
array that has them. `load` holds a file to these declarations before anything is computed from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

__all__ = ["SAVABLE", "Flag", "Listed", "Mapped", "Names", "Numbers", "Part", "Spec", "Text", "Whole", "savable"]

T = TypeVar("T", bound=type)
SAVABLE: dict[str, type] = {}
"""Classes, beside records of arrays, families and priors, that an estimator may be made of."""


def savable(cls: T) -> T:
    """Let a model file hold objects of a class, which are what its constructor is given."""
    SAVABLE[cls.__name__] = cls
    return cls


class Spec:
    """What a fitted attribute is; `check` raises ValueError where a value is something else.

    Parameters
    ----------
    optional : bool
        Whether it may be None.
    """

    optional: bool = False

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
    low, high : float
        What numbers lie between.
    kind : {"f", "i", "b"}
        Floats (whole numbers will do), whole numbers, or truth values.
    finite : bool
        Whether none may be infinite or NaN.
    optional, sparse : bool
        Whether it may be None, and a sparse matrix.
    """

    shape: str | Callable[[Any], str] = ""
    low: float = -math.inf
    high: float = math.inf
    kind: str = "f"
    finite: bool = True
    optional: bool = False
    sparse: bool = False

    def examine(self, name: str, value: Any, sizes: dict[str, int], owner: Any) -> None:
        shapes = [
            each.split() for each in (self.shape if isinstance(self.shape, str) else self.shape(owner)).split("|")
        ]
        is_sparse = self.sparse and sparse.issparse(value)
        array = value.data if is_sparse else np.asarray(value)
        allowed = {"f": "fiu", "i": "iu", "b": "b"}[self.kind]
        if array.dtype.kind not in allowed or (
            not isinstance(value, (np.ndarray, np.generic, int, float)) and not is_sparse
        ):
            raise ValueError(f"{name!r} holds {array.dtype}, not {_KINDS[self.kind]}")
        found = np.shape(value) if not is_sparse else value.shape
        shape = next((each for each in shapes if len(each) == len(found)), shapes[0])
        expected = tuple(sizes.get(each, int(each) if each.isdigit() else -1) for each in shape)
        if len(found) != len(expected) or any(e not in (-1, f) for e, f in zip(expected, found)):
            told = " × ".join(each if e < 0 else str(e) for each, e in zip(shape, expected)) or "a single number"
            raise ValueError(f"{name!r} has shape {tuple(found)}, not {told}")
        for each, size in zip(shape, found):
            if not each.isdigit():
                sizes.setdefault(each, int(size))
        if array.size and self.kind != "b":
            self._check_range(name, array)

    def _check_range(self, name: str, array: np.ndarray) -> None:
        if self.finite and not np.isfinite(array).all():
            raise ValueError(f"{name!r} holds {array[~np.isfinite(array)].flat[0]}, which is no finite number")
        low, high = np.nanmin(array), np.nanmax(array)
        if low < self.low or high > self.high:
            raise ValueError(
                f"{name!r} holds {low if low < self.low else high:g}, not from {self.low:g} to {self.high:g}"
            )


_KINDS = {"f": "numbers", "i": "whole numbers", "b": "truth values"}


@dataclass(frozen=True)
class Whole(Spec):
    """A whole number."""

    low: float = -math.inf
    high: float = math.inf
    optional: bool = False

    def examine(self, name: str, value: Any, sizes: dict[str, int], owner: Any) -> None:
        if not _is_whole(value) or not self.low <= value <= self.high:
            raise ValueError(f"{name!r} is {value!r}, not a whole number from {self.low:g} to {self.high:g}")


@dataclass(frozen=True)
class Flag(Spec):
    """True or False."""

    def examine(self, name: str, value: Any, sizes: dict[str, int], owner: Any) -> None:
        if not isinstance(value, (bool, np.bool_)):
            raise ValueError(f"{name!r} is {value!r}, neither True nor False")


@dataclass(frozen=True)
class Text(Spec):
    """A text."""

    optional: bool = False

    def examine(self, name: str, value: Any, sizes: dict[str, int], owner: Any) -> None:
        if not isinstance(value, str):
            raise ValueError(f"{name!r} is {type(value).__name__}, not a text")


@dataclass(frozen=True)
class Names(Spec):
    """An array of texts, or of any labels where `labels`, of a size."""

    size: str
    labels: bool = False

    def examine(self, name: str, value: Any, sizes: dict[str, int], owner: Any) -> None:
        if not isinstance(value, np.ndarray) or value.ndim != 1:
            raise ValueError(f"{name!r} is {type(value).__name__}, not a list of names")
        if not self.labels and not all(isinstance(each, str) for each in value.tolist()):
            raise ValueError(f"{name!r} holds what is no text")
        if sizes.setdefault(self.size, len(value)) != len(value):
            raise ValueError(f"{name!r} has {len(value)} names, not {sizes[self.size]}")


@dataclass(frozen=True)
class Listed(Spec):
    """A list or tuple, every member of which is of one kind."""

    member: Spec
    optional: bool = False
    kind: type[list | tuple] = list

    def examine(self, name: str, value: Any, sizes: dict[str, int], owner: Any) -> None:
        if not isinstance(value, self.kind):
            raise ValueError(f"{name!r} is {type(value).__name__}, not a {self.kind.__name__}")
        for each in value:
            self.member.check(name, each, sizes, owner)


@dataclass(frozen=True)
class Mapped(Spec):
    """A dictionary of texts to numbers, texts and arrays, which whoever uses them checks."""

    optional: bool = False

    def examine(self, name: str, value: Any, sizes: dict[str, int], owner: Any) -> None:
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            raise ValueError(f"{name!r} is {type(value).__name__}, not a dictionary of named values")


@dataclass(frozen=True)
class Part(Spec):
    """An object of a class, such as a schema, a table or another estimator; `check` may look further."""

    kind: Any
    optional: bool = False
    look: Callable[[Any, dict[str, int]], None] | None = None

    def examine(self, name: str, value: Any, sizes: dict[str, int], owner: Any) -> None:
        kind = self.kind() if not isinstance(self.kind, (type, tuple)) else self.kind
        if not isinstance(value, kind):
            raise ValueError(f"{name!r} is a {type(value).__name__}, which it must not be")
        if self.look is not None:
            self.look(value, sizes)
