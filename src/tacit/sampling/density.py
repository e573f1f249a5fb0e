"""`Density`: log π(x) up to a constant, however it is given, at native speed where numba can compile it.

Given may be a Python function of a vector (or of a dict of arrays), a function compiled by numba, a distribution of
the library, a
frozen distribution of SciPy, a fitted estimator with ``score_samples``, or an object with ``value_and_gradient``.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ..kernels import lazy
from ..notes import Note
from .positions import Position

__all__ = ["Density", "by_rows", "compiled_or_none", "is_torch"]

walk, jit, compiling = lazy("walk"), lazy("jit"), lazy("compiled")
COMPILED = Note("compiled", "The density was compiled by numba.")


class Density:
    """A log density, opened.

    Parameters
    ----------
    given : callable or object
    position : Position
        What it takes.
    points : list of ndarray
        Where it is tried.
    """

    def __init__(self, given: Any, position: Position, points: list[np.ndarray], noun: str = "log_density"):
        self.given, self.position, self.points, self.noun = given, position, points, noun
        self.by_rows = by_rows(given)
        if self.by_rows is None and not callable(given) and not hasattr(given, "value_and_gradient"):
            raise TypeError(
                f"{noun}={given!r} is no density; give a function of a vector, a distribution, or an object with "
                "value_and_gradient."
            )

    def __call__(self, vector: np.ndarray) -> float:
        """The value at a vector, which the density cannot change."""
        vector = vector.view()
        vector.flags.writeable = False
        return self._number(self._value(self.position.unpack(vector)))

    def _value(self, x: Any) -> Any:
        if self.by_rows is not None:
            return np.ravel(self.by_rows(np.asarray(x)[None]))[0]
        if self.is_torch:
            return self.given(_tensors(x))
        return self.given(x) if callable(self.given) else self.given.value_and_gradient(x)[0]

    def _number(self, found: Any) -> float:
        if hasattr(found, "detach"):
            found = found.detach().cpu().numpy()
        if np.size(found) != 1 or np.ndim(found) > 1:
            raise ValueError(
                f"{self.noun} returned an array of shape {np.shape(found)} for one point; return a single number."
            )
        try:
            return float(np.reshape(found, ()))
        except (TypeError, ValueError):
            raise ValueError(f"{self.noun} returned {found!r}, which is not a number; return a float.") from None

    @cached_property
    def is_torch(self) -> bool:
        """Whether it is written in torch."""
        return is_torch(self.given)

    @cached_property
    def compiled(self) -> Any:
        """The density as compiled code calls it, or None; `note` then says why."""
        if self.position.named or self.by_rows is not None or self.is_torch or not callable(self.given):
            return None
        return self._tried[0]

    @cached_property
    def note(self) -> Note:
        """Whether it was compiled, and why not."""
        kinds = (
            (self.position.named, "it takes a dict"), (self.by_rows is not None, "it is given by a library"),
            (self.is_torch, "it is written in torch"), (not callable(self.given), "it is an object"),
        )  # fmt: skip
        for applies, reason in kinds:
            if applies:
                return Note("not_compiled", "The density is called from Python: {reason}.", reason=reason)
        return self._tried[1]

    @cached_property
    def _tried(self) -> tuple[Any, Note]:
        return compiled_or_none(self.given, walk.VALUE, lambda f: [f(x) for x in self.points], self, "density")

    @property
    def fastest(self) -> Any:
        """The compiled density, else the one in Python."""
        return self.compiled or self

    def rows(self, X: np.ndarray) -> np.ndarray:
        """Values of all rows, (n,): in one call where the density takes rows, else row by row."""
        if self.by_rows is not None:
            return np.asarray(self.by_rows(X), dtype=np.float64).reshape(len(X))
        out = np.empty(len(X))
        if self._takes_rows:
            out[:] = _array(self.given(_tensors(X) if self.is_torch else X))
        elif self.compiled is not None:
            walk.row_values(self.compiled, np.ascontiguousarray(X, dtype=np.float64), out)
        else:
            out[:] = [self(x) for x in X]
        return out

    @cached_property
    def _takes_rows(self) -> bool:
        """Whether a matrix of rows gives what its rows give one by one."""
        if self.position.named or not callable(self.given):
            return False
        X = np.stack([x * (1 + 0.01 * i) for i in range(self.position.size + 2) for x in self.points[:1]])
        if len(X) == X.shape[1]:
            X = np.vstack([X, X[:1]])
        try:
            with np.errstate(all="ignore"):
                found = _array(self.given(_tensors(X) if self.is_torch else X))
                return found.shape == (len(X),) and np.allclose(found, [self(x) for x in X], rtol=1e-9, equal_nan=True)
        except Exception:  # it was written for one row
            return False


def by_rows(given: Any) -> Callable | None:
    """The function of rows that a library's distribution has."""
    if hasattr(given, "log_prob") and hasattr(given, "sample"):
        return given.log_prob
    if hasattr(given, "score_samples"):
        return given.score_samples
    for name in ("logpdf", "logpmf"):
        if hasattr(given, name) and hasattr(given, "rvs"):
            function = getattr(given, name)
            if hasattr(given, "dist") and hasattr(given.dist, "shapes"):  # of one variable
                return lambda X: function(X[:, 0]) if X.shape[1] == 1 else function(X).sum(axis=1)
            return function
    return None


def compiled_or_none(
    function: Any, signature: Any, values: Callable, python: Any, noun: str, compile: Callable | None = None
) -> tuple[Any, Note]:
    """A function compiled by numba, or None where it cannot follow or finds other values than Python; and a note.

    Parameters
    ----------
    function : callable
    signature : numba signature
    values : callable
        Values of a version of the function, to compare.
    python : callable
        The version in Python.
    noun : str
        What to call it.
    compile : callable, optional
        Compiles instead of `compile_as`.
    """
    try:
        made = compile() if compile else compiling.compile_as(function, signature)
        found = values(made)
    except Exception as error:  # whatever keeps numba from compiling it must not keep the chain from running
        reason = " ".join(str(error).split())[:300]
        return None, Note(
            "not_compiled", "The {noun} is called from Python, because numba cannot compile it ({error}: {reason}).",
            noun=noun, error=type(error).__name__, reason=reason,
        )  # fmt: skip
    expected = values(python)
    if not np.allclose(found, expected, rtol=1e-7, atol=1e-12, equal_nan=True):
        return None, Note(
            "not_compiled",
            "The {noun} is called from Python, because numba's version of it gives other values.",
            noun=noun,
        )
    return made, COMPILED


def is_torch(function: Any) -> bool:
    """Whether a function uses torch, by the modules that it names."""
    if any(kind.__module__.partition(".")[0] == "torch" for kind in type(function).__mro__):
        return True
    function = getattr(function, "py_func", function)
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    names = {name: value for name, value in function.__globals__.items() if name in code.co_names}
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    return any(_of_torch(value) for value in (*names.values(), *held))


def _of_torch(value: Any) -> bool:
    name = value.__name__ if isinstance(value, types.ModuleType) else type(value).__module__
    return name.partition(".")[0] == "torch"


def _tensors(x: Any) -> Any:
    import torch

    if isinstance(x, dict):
        return {name: torch.tensor(value, dtype=torch.float64) for name, value in x.items()}
    return torch.tensor(np.asarray(x), dtype=torch.float64)


def _array(found: Any) -> np.ndarray:
    return np.asarray(found.detach().cpu().numpy() if hasattr(found, "detach") else found, dtype=np.float64)
