"""`Arrays`: records of arrays that can be added, scaled, flattened and saved.

Parameters and statistics are both `Arrays`, which is what lets one engine sum statistics over blocks, average them online,
extrapolate parameters and write either to disk.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self, TypeVar, cast, dataclass_transform

import numpy as np

from .declared import Spec, check_declared
from .kernels import backend, host

__all__ = ["Arrays", "record"]

T = TypeVar("T", bound=type)


@dataclass_transform(frozen_default=True, eq_default=False)
def record(cls: T) -> T:
    """Make a subclass of `Arrays` a frozen dataclass, compared by identity.

    Parameters
    ----------
    cls : type
        The subclass; its annotations are the arrays it holds.
    """
    return cast(T, dataclasses.dataclass(frozen=True, eq=False)(cls))


class Arrays:
    """Base of records whose fields are float arrays, floats, other `Arrays` or tuples of them.

    Subclasses are module-level frozen dataclasses (decorate with `record`). Values derived from the fields belong in
    `functools.cached_property`; they are recomputed after copying, adding or loading.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.arrays import Arrays, record
    >>> @record
    ... class Sums(Arrays):
    ...     weight: float
    ...     x: np.ndarray
    >>> (Sums(1.0, np.ones(2)) + 2 * Sums(1.0, np.ones(2))).to_vector()
    array([3., 3., 3.])
    """

    _saved: ClassVar[dict[str, Spec]] = {}  # shapes and ranges of the fields, where files hold such records
    _summed: ClassVar[dict[str, Spec]] = {}  # those of statistics, where sums cannot be any number

    def items(self) -> list[tuple[str, Any]]:
        """Pairs of field name and value."""
        return [(f.name, getattr(self, f.name)) for f in dataclasses.fields(self)]  # type: ignore[arg-type]

    def check(self, sizes: dict[str, int]) -> None:
        """Raise ValueError where the fields are not what the class declares of them, for sizes by letter."""
        check_declared(self._saved, dict(self.items()), sizes, self)

    def ranges(self, prefix: str = "") -> dict[str, Spec]:
        """What statistics declare of their arrays, under the names that `to_dict` gives these."""
        found = {prefix + name: spec for name, spec in self._summed.items()}
        for name, value in self.items():
            parts = enumerate(value) if isinstance(value, tuple) else [("", value)]
            for number, part in parts:
                if isinstance(part, Arrays):
                    found |= part.ranges(
                        f"{prefix}{name}.{number}." if isinstance(value, tuple) else f"{prefix}{name}."
                    )
        return found

    def map(self, function: Callable[..., Any], *others: Self) -> Self:
        """Apply `function` to each array of this record and the matching arrays of `others`."""
        for other in others:
            if type(other) is not type(self):
                raise TypeError(f"{type(self).__name__} and {type(other).__name__} hold different arrays.")
        values = {}
        for name, value in self.items():
            values[name] = _map(function, value, *(getattr(other, name) for other in others))
        return type(self)(**values)

    def on_host(self) -> Self:
        """The same record with NumPy arrays in place of tensors; itself where it has none."""
        return self.map(host) if any(_is_on_device(value) for _, value in self.items()) else self

    def __add__(self, other: Self) -> Self:
        if type(other) is not type(self):
            return NotImplemented
        return self.map(operator.add, other)

    def __iadd__(self, other: Self) -> Self:
        # Arrays are added to where they are: statistics may be large.
        if type(other) is not type(self):
            return NotImplemented
        return self.map(operator.iadd, other)

    def __mul__(self, factor: float) -> Self:
        return self.map(lambda value: value * factor)

    __rmul__ = __mul__

    @staticmethod
    def concatenate(records: Sequence[A]) -> A:
        """Records of the same kind end to end, along the first axis of their arrays."""
        return records[0].map(lambda *arrays: np.concatenate(arrays), *records[1:])

    def to_dict(self, prefix: str = "") -> dict[str, np.ndarray]:
        """Flat dictionary of arrays; nested fields are joined by dots."""
        flat: dict[str, np.ndarray] = {}
        for name, value in self.items():
            _flatten(value, prefix + name, flat)
        return flat

    def from_dict(self, flat: dict[str, np.ndarray], prefix: str = "") -> Self:
        """A record shaped like this one with the arrays of `flat`."""
        return type(self)(**{name: _restore(value, prefix + name, flat) for name, value in self.items()})

    def to_vector(self) -> np.ndarray:
        """All numbers in one float64 vector."""
        return np.concatenate([np.ravel(value).astype(np.float64) for value in self.to_dict().values()])

    def from_vector(self, vector: np.ndarray) -> Self:
        """A record shaped like this one with its numbers taken from `vector`."""
        flat, start = {}, 0
        for name, value in self.to_dict().items():
            flat[name] = np.reshape(vector[start : start + value.size], value.shape)
            start += value.size
        return self.from_dict(flat)

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.items())

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


A = TypeVar("A", bound=Arrays)


def _map(function: Callable[..., Any], value: Any, *others: Any) -> Any:
    """`Arrays.map` for one field."""
    if isinstance(value, Arrays):
        return value.map(function, *others)
    if isinstance(value, tuple):
        return tuple(_map(function, *parts) for parts in zip(value, *others, strict=True))
    return function(value, *others)


def _is_on_device(value: Any) -> bool:
    """Whether a field holds a tensor."""
    if isinstance(value, Arrays):
        return any(_is_on_device(part) for _, part in value.items())
    if isinstance(value, tuple):
        return any(map(_is_on_device, value))
    return hasattr(value, "shape") and backend(value) == "torch"


def _flatten(value: Any, name: str, flat: dict[str, np.ndarray]) -> None:
    """Enter one field into the flat dictionary of `Arrays.to_dict`."""
    if isinstance(value, Arrays):
        flat.update(value.to_dict(f"{name}."))
    elif isinstance(value, tuple):
        for number, part in enumerate(value):
            _flatten(part, f"{name}.{number}", flat)
    else:
        flat[name] = np.asarray(host(value))


def _restore(value: Any, name: str, flat: dict[str, np.ndarray]) -> Any:
    """One field like `value` from the flat dictionary of `Arrays.to_dict`."""
    if isinstance(value, Arrays):
        return value.from_dict(flat, f"{name}.")
    if isinstance(value, tuple):
        return tuple(_restore(part, f"{name}.{number}", flat) for number, part in enumerate(value))
    array = np.asarray(flat[name])
    return array if isinstance(value, np.ndarray) else array.item()
