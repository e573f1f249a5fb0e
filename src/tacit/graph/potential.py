"""`Potential`: a nonnegative function of discrete variables with named states, φ(x_1, …, x_d) ≥ 0, one array axis a variable."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["Potential", "state_number"]

MOST_AXES = 64  # of a NumPy array
MOST_CELLS = 2**28  # of one table that is multiplied out: 2 GB of float64


class Potential:
    """A nonnegative function of discrete variables: a probability table or a factor.

    Parameters
    ----------
    variables : sequence of hashable
        The variables, one per axis of `values`; a variable appears once.
    values : array-like
        Nonnegative finite values, of the shape that the numbers of states give; zeros are allowed.
    states : mapping of variable to sequence of hashable, optional
        Names of the states; default 0, 1, … by the shape of `values`.

    Attributes
    ----------
    variables : tuple
    states : dict of variable to tuple
    values : ndarray of float64, read-only

    References
    ----------
    Barber (2012), Bayesian Reasoning and Machine Learning, chapter 4.

    Examples
    --------
    >>> from tacit.graph import Potential
    >>> rain = Potential(["rain"], [0.2, 0.8], {"rain": ["yes", "no"]})
    >>> wet = Potential(["rain", "wet"], [[1, 0], [0.2, 0.8]], {"rain": ["yes", "no"], "wet": ["yes", "no"]})
    >>> (rain * wet).marginal(["wet"]).values.round(2).tolist()
    [0.36, 0.64]
    >>> (rain * wet).reduce({"wet": "yes"}).normalised().values.round(3).tolist()
    [0.556, 0.444]
    """

    __slots__ = ("states", "values", "variables")

    def __init__(
        self, variables: Sequence[Hashable], values: Any, states: Mapping[Any, Sequence[Hashable]] | None = None
    ) -> None:
        values = np.array(values, dtype=np.float64)
        self.variables = tuple(variables)
        if len(set(self.variables)) < len(self.variables):
            raise ValueError(f"variables={list(self.variables)} names a variable twice; give each once.")
        if states is None:
            states = {v: range(n) for v, n in zip(self.variables, values.shape)}
        missing = [v for v in self.variables if v not in states]
        if missing:
            raise ValueError(f"states does not tell the states of {missing[0]!r}; give a list of them.")
        self.states = {v: tuple(states[v]) for v in self.variables}
        shape = tuple(len(s) for s in self.states.values())
        if values.shape != shape:
            raise ValueError(f"values has shape {values.shape}, but the states of {self._told} give {shape}.")
        bad = values[~(np.isfinite(values) & (values >= 0))]
        if bad.size:
            raise ValueError(f"the table of {self._told} holds {bad[0]:g}; values must be finite and at least 0.")
        values.setflags(write=False)
        self.values = values

    @classmethod
    def _of(cls, variables: tuple, states: dict, values: np.ndarray) -> Potential:
        """A table of parts that are known to fit, unchecked."""
        table = object.__new__(cls)
        table.variables, table.states = variables, {v: states[v] for v in variables}
        values = np.asarray(values, dtype=np.float64)
        if values.flags.writeable:
            values = values.view()
            values.setflags(write=False)
        table.values = values
        return table

    # What it holds

    @property
    def _told(self) -> str:
        return ", ".join(map(str, self.variables)) or "no variable"

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of states of the variables."""
        return self.values.shape

    @property
    def log(self) -> np.ndarray:
        """Logarithms of the values, −∞ where a value is 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.values)

    @property
    def total(self) -> float:
        """The sum of all values."""
        return float(self.values.sum())

    def number(self, variable: Hashable, state: Any) -> int:
        """The number of a state of a variable, which is given by name."""
        self._check([variable])
        return state_number(variable, self.states[variable], state)

    def __repr__(self) -> str:
        return f"Potential({self._told}; {' × '.join(map(str, self.shape)) or '1'})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Potential):
            return NotImplemented
        same = set(self.variables) == set(other.variables) and all(
            self.states[v] == other.states[v] for v in self.variables
        )
        return same and np.array_equal(self.values, other.aligned(self.variables).values)

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[tuple[dict, float]]:
        """Every assignment with its value."""
        names = list(self.states.values())
        for at in np.ndindex(self.shape):
            yield {v: names[j][i] for j, (v, i) in enumerate(zip(self.variables, at))}, float(self.values[at])

    # Algebra

    def aligned(self, variables: Iterable[Hashable]) -> Potential:
        """The same table with its axes in the order of `variables`, which are all of its own."""
        order = tuple(variables)
        if len(order) != len(self.variables) or set(order) != set(self.variables):
            raise ValueError(f"the axes of the table of {self._told} cannot be put in the order {list(order)}.")
        axes = [self.variables.index(v) for v in order]
        return Potential._of(order, self.states, self.values.transpose(axes))

    def spread(self, variables: Sequence[Hashable]) -> np.ndarray:
        """Values as an array that broadcasts over `variables`, an axis of length 1 for each that is not the table's own."""
        own = [v for v in variables if v in self.states]
        at = self.aligned(own).values
        return at.reshape([len(self.states[v]) if v in self.states else 1 for v in variables])

    def __mul__(self, other: Potential | float) -> Potential:
        return self._combined(other, np.multiply)

    __rmul__ = __mul__

    def __truediv__(self, other: Potential | float) -> Potential:
        """The quotient, 0 / 0 being 0."""
        return self._combined(other, _quotient)

    def _combined(self, other: Any, function: Any) -> Potential:
        if not isinstance(other, Potential):
            return Potential._of(self.variables, self.states, function(self.values, np.float64(other)))
        variables = self.variables + tuple(v for v in other.variables if v not in self.states)
        for v in other.variables:
            if v in self.states and self.states[v] != other.states[v]:
                raise ValueError(
                    f"the states of {v!r} are {list(self.states[v])} in one table and {list(other.states[v])} in another; "
                    "give it the same ones in the same order."
                )
        check_size(variables, self.states | other.states)
        values = function(self.spread(variables), other.spread(variables))
        return Potential._of(variables, self.states | other.states, values)

    @staticmethod
    def product(tables: Iterable[Potential]) -> Potential:
        """The product of tables; of none, the constant 1."""
        result = Potential((), 1.0)
        for table in tables:
            result = result * table
        return result

    def marginal(self, keep: Iterable[Hashable]) -> Potential:
        """The sum over all variables but `keep`, in the order of `keep`."""
        return self._kept(keep, np.add)

    def max_marginal(self, keep: Iterable[Hashable]) -> Potential:
        """The maximum over all variables but `keep`, in the order of `keep`."""
        return self._kept(keep, np.maximum)

    def _kept(self, keep: Iterable[Hashable], reduction: np.ufunc) -> Potential:
        keep = tuple(keep)
        self._check(keep)
        gone = tuple(j for j, v in enumerate(self.variables) if v not in keep)
        values = reduction.reduce(self.values, axis=gone) if gone else self.values
        left = tuple(v for v in self.variables if v in keep)
        return Potential._of(left, self.states, np.asarray(values)).aligned(keep)

    def reduce(self, given: Mapping[Any, Any]) -> Potential:
        """The table at the states that `given` names; variables that are not its own are ignored."""
        at: list[Any] = [slice(None)] * len(self.variables)
        for j, v in enumerate(self.variables):
            if v in given:
                at[j] = self.number(v, given[v])
        left = tuple(v for v in self.variables if v not in given)
        return Potential._of(left, self.states, self.values[tuple(at)])

    def normalised(self) -> Potential:
        """The table divided by its total."""
        if not self.total > 0:
            raise ValueError(f"the table of {self._told} sums to {self.total:g}; it cannot be normalised.")
        return Potential._of(self.variables, self.states, self.values / self.total)

    def argmax(self) -> dict[Any, Any]:
        """The assignment of the largest value, the first of equals."""
        at = np.unravel_index(int(self.values.argmax()), self.shape) if self.variables else ()
        return {v: self.states[v][int(i)] for v, i in zip(self.variables, at)}

    def _check(self, variables: Iterable[Hashable]) -> None:
        unknown = [v for v in variables if v not in self.states]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no variable of the table of {self._told}.")


def _quotient(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """The quotient, 0 / 0 being 0."""
    zero = np.broadcast_to(
        (numerator == 0) & (denominator == 0), np.broadcast_shapes(np.shape(numerator), np.shape(denominator))
    )
    return np.divide(numerator, denominator, out=np.zeros(zero.shape), where=~zero)


def state_number(variable: Hashable, states: Sequence[Hashable], state: Any) -> int:
    """The number of a state that is given by name; a NumPy scalar or a whole float names what it equals."""
    try:
        return states.index(state)
    except (ValueError, TypeError):
        some = ", ".join(map(repr, states[:8])) + (", …" if len(states) > 8 else "")
        raise ValueError(f"{state!r} is no state of {variable!r}; its states are {some}.") from None


def check_size(variables: Sequence[Hashable], states: Mapping[Any, Sequence]) -> None:
    """Raise ValueError where a table over so many states cannot be made."""
    cells = 1
    for v in variables:
        cells *= len(states[v])
    if cells > MOST_CELLS or len(variables) > MOST_AXES:
        raise ValueError(
            f"a table of {len(variables)} variables has {cells:.3g} cells, {8.0 * cells:.3g} bytes; combine fewer tables at once."
        )
