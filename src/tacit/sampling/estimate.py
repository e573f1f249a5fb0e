"""`Estimate` of E[f(x)] by an average, and `expectation`: value ± standard error, σ / √ESS."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import check_number
from ..notes import Note
from .chains import Chains, diagnostics
from .points import open_proposal

__all__ = ["Estimate", "RowFunction", "expectation"]

CELLS = 1 << 20
"""Numbers of a block of draws: 8 MB."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """An average with its Monte Carlo error.

    Parameters
    ----------
    value, standard_error : float or ndarray
        Of the shape of what the function returns.
    ess : float or ndarray
        Effective sample size: so many independent draws are as precise.
    n : int
        Draws.
    notes : tuple of Note
        What speaks against it.
    """

    value: Any
    standard_error: Any
    ess: Any
    n: int
    notes: tuple[Note, ...] = ()

    def __str__(self) -> str:
        return f"{self.value} ± {self.standard_error} ({self.n} draws)"

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """The interval of Student's t about the average, with ESS − 1 degrees of freedom.

        Parameters
        ----------
        level : float
        """
        from scipy.special import stdtrit

        if not 0 < level < 1:
            raise ValueError(f"level={level!r} must be between 0 and 1.")
        half = stdtrit(np.maximum(self.ess - 1.0, 1.0), 0.5 + 0.5 * level) * self.standard_error
        return self.value - half, self.value + half


def expectation(
    f: Callable, draws: Any, n: int | None = None, *, correlated: bool = False, block: int | None = None,
    random_state: Any = None,
) -> Estimate:  # fmt: skip
    """Average of a function over draws, with its standard error.

    Parameters
    ----------
    f : callable
        Of one draw, or of many (rows, or arrays with a leading axis): which is found out. Draws of `Chains` with
        several variables are dicts. It may return a number or an array.
    draws : array, Chains, ImportanceSample, distribution or callable
        An array of draws (n, d) or (n,); of chains (n_chains, n_draws, d) where `correlated`; what a sampler
        returned; or what draws are made of: a distribution of `tacit.families` or SciPy, or a function
        ``sample(n, rng)``.
    n : int, optional
        How many draws to make, where they are made.
    correlated : bool
        Whether an array holds draws of Markov chains.
    block : int, optional
        Draws that are made or passed to the function at a time; by default as many as take 8 MB.
    random_state : int, Generator or None

    Returns
    -------
    Estimate

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from tacit.sampling import expectation
    >>> second = expectation(lambda x: x[:, 0] ** 2, norm(0, 2), 100_000, random_state=0)
    >>> abs(second.value - 4) < 3 * second.standard_error
    np.True_
    """
    if not callable(f):
        raise TypeError(f"f={f!r} is no function; give one of a draw or of rows of draws.")
    if hasattr(draws, "expectation"):
        return draws.expectation(f)
    if block is not None:
        check_number("block", block, numbers.Integral, 1)
    if isinstance(draws, Chains):
        return _of_chains(f, draws.draws, (draws.n_chains, draws.n_draws), block, draws.warnings())
    if hasattr(draws, "shape") or isinstance(draws, (list, tuple)):
        return _of_array(f, np.asarray(draws), correlated, block)
    if n is None:
        raise ValueError("n=None, but draws are still to be made; say how many.")
    check_number("n", n, numbers.Integral, 2)
    return _made(f, _sampler(draws), int(n), block, np.random.default_rng(random_state))


def _sampler(draws: Any) -> Callable:
    if callable(draws) and not hasattr(draws, "rvs") and not hasattr(draws, "sample"):
        return draws
    return open_proposal(draws).sample


def _of_array(f: Callable, draws: np.ndarray, correlated: bool, block: int | None) -> Estimate:
    if correlated:
        if draws.ndim < 2:
            draws = draws[None]
        values = np.asarray(draws)
        return _of_chains(f, {"x": values}, values.shape[:2], block, ())
    if len(draws) < 2:
        raise ValueError(f"draws has {len(draws)} rows; a standard error takes at least 2.")
    parts = iter([draws[rows] for rows in _blocks(len(draws), draws[0].size, block)])
    return _average(f, parts)


def _made(f: Callable, sample: Callable, n: int, block: int | None, rng: np.random.Generator) -> Estimate:
    first = np.asarray(sample(2, rng))
    sizes = _blocks(n - 2, max(first[0].size, 1), block)

    def parts() -> Iterator[np.ndarray]:
        yield first
        for rows in sizes:
            yield np.asarray(sample(rows.stop - rows.start, rng))

    return _average(f, parts())


def _blocks(n: int, width: int, block: int | None) -> list[slice]:
    step = block or max(1, CELLS // max(width, 1))
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def _average(f: Callable, parts: Iterator[np.ndarray]) -> Estimate:
    """Mean and variance of independent draws, block by block (Chan's update)."""
    function, count, mean, squares = RowFunction(f), 0, 0.0, 0.0
    for part in parts:
        values = function(part)
        size, here = len(values), values.mean(axis=0)
        change = here - mean
        squares = squares + ((values - here) ** 2).sum(axis=0) + change**2 * count * size / (count + size)
        mean = mean + change * size / (count + size)
        count += size
    spread = np.sqrt(squares / (count - 1))
    sizes = np.full(np.shape(mean), float(count))[()]
    return Estimate(mean, spread / math.sqrt(count), sizes, count, constant(spread, count))


def constant(spread: np.ndarray, n: int) -> tuple[Note, ...]:
    """A note where a function had one value at all draws: an event that none or all of them met."""
    if not np.any(flat := np.asarray(spread) == 0):
        return ()
    return (Note(
        "constant", "{flat} of {of} values of f are the same at all {n} draws, so that the standard error of 0 tells nothing: "
        "the probability of an event that none of them met may be as large as {bound:.2g}; draw more, or where the event "
        "happens.",
        flat=int(flat.sum()), of=flat.size, n=n, bound=3.0 / n,
    ),)  # fmt: skip


def _of_chains(f: Callable, draws: dict, shape: tuple, block: int | None, notes: tuple[Note, ...]) -> Estimate:
    flat = {name: value.reshape(-1, *value.shape[2:]) for name, value in draws.items()}
    single = next(iter(flat.values())) if len(flat) == 1 else None
    width = sum(value[0].size for value in flat.values())
    function, found = RowFunction(f), []
    for rows in _blocks(shape[0] * shape[1], width, block):
        found.append(function(single[rows] if single is not None else {k: v[rows] for k, v in flat.items()}))
    values = np.concatenate(found)
    told = diagnostics(values.reshape(*shape, -1))
    outer = values.shape[1:]
    ess, error = told["ess_bulk"].reshape(outer)[()], told["mcse"].reshape(outer)[()]
    return Estimate(
        values.mean(axis=0), error, ess, len(values), tuple(note for note in notes if note.code in SPEAKING)
    )


SPEAKING = ("r_hat", "ess", "one_chain", "divergent", "stuck", "never_accepted", "interrupted")
"""Codes of notes that speak against an average."""


class RowFunction:
    """A function of one draw or of many, called on many.

    Parameters
    ----------
    function : callable
    """

    def __init__(self, function: Callable):
        self.function = function
        self.many: bool | None = None

    def __call__(self, draws: Any) -> np.ndarray:
        """Values of all draws, (n, ...); ValueError where one is not finite."""
        n = len(next(iter(draws.values())) if isinstance(draws, dict) else draws)
        if self.many is None:
            self.many = self._takes_many(draws, n)
        found = self.function(draws) if self.many else [self.function(_part(draws, i)) for i in range(n)]
        values = np.asarray(found, dtype=np.float64)
        if not np.isfinite(values).all():
            bad = values[~np.isfinite(values)]
            raise ValueError(f"f returned {bad[0]} for {len(bad)} of {n} draws; it must be finite wherever draws lie.")
        return values

    def _takes_many(self, draws: Any, n: int) -> bool:
        # Two sizes, so that a function of one draw of as many numbers is not taken for one of many.
        for size in {min(n, 7), max(min(n, 7) - 1, 1)}:
            part = _part(draws, slice(size))
            found = self._tried(part)
            if found is None or found.shape[:1] != (size,):
                return False
            single = [self._tried(_part(part, i)) for i in range(size)]
            # A function of rows, such as x[:, 0], cannot be asked about one draw.
            if all(each is not None and each.shape == found.shape[1:] for each in single) and not np.allclose(
                found, np.stack(single), rtol=1e-9, equal_nan=True  # type: ignore[arg-type]
            ):  # fmt: skip
                return False
        return True

    def _tried(self, part: Any) -> np.ndarray | None:
        try:
            with np.errstate(all="ignore"):
                return np.asarray(self.function(part), dtype=np.float64)
        except Exception:  # it is not what the function takes
            return None


def _part(draws: Any, which: Any) -> Any:
    return {name: value[which] for name, value in draws.items()} if isinstance(draws, dict) else draws[which]
