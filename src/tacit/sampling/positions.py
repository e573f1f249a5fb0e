"""`Position`: what a chain draws, arrays with names, as one vector; where chains start; and their streams of random numbers."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Position", "seeds", "starts"]


@dataclass(frozen=True)
class Position:
    """Names and shapes of variables; a vector without a name is ``"x"``.

    Parameters
    ----------
    shapes : dict of str to tuple
    named : bool
        Whether densities take a dict.
    """

    shapes: dict[str, tuple[int, ...]]
    named: bool

    @classmethod
    def of(cls, start: Any) -> Position:
        """The variables of a start."""
        if isinstance(start, Mapping):
            return cls({str(name): np.shape(value) for name, value in start.items()}, True)
        return cls({"x": (np.size(start),)}, False)

    @property
    def size(self) -> int:
        """Numbers in all."""
        return sum(math.prod(shape) for shape in self.shapes.values())

    def pack(self, value: Any, what: str = "start") -> np.ndarray:
        """The vector of a dict, or of a vector; its shapes must be these."""
        if not self.named:
            vector = np.array(value, dtype=np.float64).reshape(-1)
            if vector.size != self.size:
                raise ValueError(f"{what} has {vector.size} entries, but {self.size} are expected.")
            return vector
        if not isinstance(value, Mapping) or set(value) != set(self.shapes):
            found = ", ".join(map(str, value)) if isinstance(value, Mapping) else type(value).__name__
            raise ValueError(f"{what} names {found}, but the variables are {', '.join(self.shapes)}.")
        for name, shape in self.shapes.items():
            if np.shape(value[name]) != shape:
                raise ValueError(f"{what}: {name} has shape {np.shape(value[name])}, but {shape} is expected.")
        parts = [np.asarray(value[name], dtype=np.float64).reshape(-1) for name in self.shapes]
        return np.concatenate([*parts, np.empty(0)])

    def unpack(self, vector: Any) -> Any:
        """What a density takes: the vector, or a dict of views of it."""
        return self.parts(vector) if self.named else vector

    def parts(self, values: Any) -> dict[str, Any]:
        """Variables by name, of one vector or of an array of them."""
        found, at = {}, 0
        for name, shape in self.shapes.items():
            size = math.prod(shape)
            found[name] = values[..., at : at + size].reshape((*values.shape[:-1], *shape))
            at += size
        return found


def seeds(random_state: Any, n: int) -> list[np.random.Generator]:
    """A stream for every chain, whatever the number of threads."""
    if isinstance(random_state, np.random.SeedSequence):
        sequence = random_state
    elif isinstance(random_state, np.random.Generator):
        sequence = np.random.SeedSequence(int(random_state.integers(2**63)))
    elif isinstance(random_state, np.random.RandomState):
        sequence = np.random.SeedSequence(int(random_state.randint(2**31)))
    elif random_state is None:
        sequence = np.random.SeedSequence()
    elif isinstance(random_state, numbers.Integral) and int(random_state) >= 0:
        sequence = np.random.SeedSequence(int(random_state))
    else:
        raise ValueError(
            f"random_state={random_state!r} is no seed; use a whole number of at least 0, a Generator or None."
        )
    return [np.random.Generator(np.random.PCG64(child)) for child in sequence.spawn(n)]


def starts(start: Any, n_chains: int, streams: list[np.random.Generator]) -> tuple[Position, list[np.ndarray]]:
    """The variables, and where each chain starts."""
    if isinstance(start, Callable):  # type: ignore[arg-type]
        given = [start(rng) for rng in streams]
    elif isinstance(start, Mapping):
        given = [start] * n_chains
    elif isinstance(start, (list, tuple)) and start and isinstance(start[0], Mapping):
        given = list(start)
    else:
        try:
            array = np.asarray(start, dtype=np.float64)
        except (TypeError, ValueError):
            raise TypeError(
                f"start={start!r} is no array of numbers; give a vector, or a row for each chain."
            ) from None
        if array.ndim > 2:
            raise ValueError(f"start has shape {array.shape}; give one vector, or a row for each chain.")
        given = list(array) if array.ndim == 2 else [np.atleast_1d(array)] * n_chains
    if len(given) != n_chains:
        raise ValueError(
            f"start has {len(given)} rows, but n_chains={n_chains}; give a row for each chain, or one vector for all."
        )
    position = Position.of(given[0])
    if not position.size:
        raise ValueError("start is empty; give at least one number.")
    vectors = [position.pack(each, f"start of chain {i}") for i, each in enumerate(given)]
    for i, vector in enumerate(vectors):
        if not np.isfinite(vector).all():
            raise ValueError(f"start of chain {i} holds {vector[~np.isfinite(vector)][0]}; give finite numbers.")
    return position, vectors
