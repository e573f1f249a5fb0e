"""`gibbs`: every variable in turn is drawn from its distribution given all others, x_k ~ p(x_k | x_rest)."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..checks import check_number
from ..kernels import lazy
from ..notes import Note
from .chains import Chains
from .density import compiled_or_none
from .positions import Position, starts
from .running import Run, Sampler, run_chains

__all__ = ["gibbs"]

kernels, compiling = lazy("gibbs"), lazy("compiled")


def gibbs(
    conditionals: Any,
    start: Any,
    *,
    n_draws: int = 1000,
    n_warmup: int = 1000,
    n_chains: int = 4,
    n_thin: int = 1,
    keep_warmup: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
    callback: Callable | None = None,
    checkpoint: Any = None,
) -> Chains:
    """Draw by Gibbs sampling from conditional distributions.

    Parameters
    ----------
    conditionals : sequence of functions, or dict of str to function
        Where `start` is a vector: for every coordinate a function ``f(x, rng)`` that returns a draw of it; or pairs of
        coordinates (a number, a list of numbers or a slice) and such a function. They are compiled where numba can
        follow them, and a note says why where not. Where `start` is a dict: for every variable a function ``f(state,
        rng)`` of the dict,
        called from Python.
    start : array of shape (d,) or (n_chains, d), dict of arrays, list of n_chains of these, or callable
        Where chains start.
    n_draws, n_warmup, n_chains, n_thin, keep_warmup, random_state, n_jobs, callback, checkpoint
        As in `metropolis`; a step is a sweep over all variables.

    Returns
    -------
    Chains

    References
    ----------
    Geman and Geman (1984), Stochastic relaxation, Gibbs distributions, and the Bayesian restoration of images.

    Examples
    --------
    >>> from tacit.sampling import gibbs
    >>> pair = [lambda x, rng: 0.8 * x[1] + 0.6 * rng.standard_normal(), lambda x, rng: 0.8 * x[0] + 0.6 * rng.standard_normal()]
    >>> chains = gibbs(pair, [0.0, 0.0], random_state=0)
    >>> round(float((chains["x"][..., 0] * chains["x"][..., 1]).mean()), 1)
    0.8
    """
    run = Run(n_draws, n_warmup, n_chains, keep_warmup, random_state, n_jobs, callback, checkpoint)
    check_number("n_thin", n_thin, numbers.Integral, 1)
    streams = run.streams()
    position, vectors = starts(start, n_chains, streams)
    sampler = _Gibbs(_parts(conditionals, position), position, n_thin, vectors)
    return run_chains(sampler, [{"x": vector} for vector in vectors], streams, run)


def _parts(conditionals: Any, position: Position) -> list[tuple[Any, Any, Callable]]:
    """Names, coordinates and functions."""
    if position.named:
        if not isinstance(conditionals, Mapping) or set(conditionals) != set(position.shapes):
            given = ", ".join(map(str, conditionals)) if isinstance(conditionals, Mapping) else repr(conditionals)
            raise ValueError(
                f"conditionals names {given}, but the variables are {', '.join(position.shapes)}; give a function for each."
            )
        where = position.parts(np.arange(position.size))
        parts = [(name, np.ravel(where[name]), function) for name, function in conditionals.items()]
    else:
        if not isinstance(conditionals, Sequence):
            raise TypeError(f"conditionals={conditionals!r} is no list; give a function for every coordinate.")
        pairs = [each if isinstance(each, tuple) else (i, each) for i, each in enumerate(conditionals)]
        everything = np.arange(position.size)
        parts = []
        for index, function in pairs:
            try:
                parts.append((f"x[{index}]", everything[index], function))
            except (IndexError, TypeError):
                raise ValueError(f"conditionals are of x[{index}], but start has {position.size} entries.") from None
        drawn = np.concatenate([np.ravel(index) for _, index, _ in parts]) if parts else everything[:0]
        if missing := sorted(set(everything.tolist()) - set(drawn.tolist())):
            raise ValueError(f"No conditional draws x[{missing[0]}]; give a function for every coordinate.")
    for name, _, function in parts:
        if not callable(function):
            raise TypeError(f"the conditional of {name} is {function!r}, which is no function.")
    return parts


class _Gibbs(Sampler):
    name = "gibbs"

    def __init__(self, parts: list, position: Position, n_thin: int, vectors: list[np.ndarray]):
        self.parts, self.n_thin = parts, n_thin
        self.position: Position = position
        self.compiled: Any = None
        if position.named:
            self.note = Note("not_compiled", "The conditionals are called from Python: they take a dict.")
        else:
            self.compiled, self.note = compiled_or_none(
                None, None, lambda sweep: [_swept(sweep, x) for x in vectors], self.sweep, "list of conditionals", self._compile
            )  # fmt: skip
        self.threads = self.compiled is not None

    def settings(self) -> dict:
        return {"n_thin": self.n_thin, "parts": [name for name, _, _ in self.parts]}

    def _compile(self) -> Any:
        indices = [int(index) if np.ndim(index) == 0 else index for _, index, _ in self.parts]
        return compiling.compile_as(_Fold(indices), kernels.SWEEP, tuple(function for _, _, function in self.parts))

    def sweep(self, x: np.ndarray, rng: np.random.Generator) -> None:
        """One sweep in Python, which changes x."""
        for name, index, function in self.parts:
            value = np.asarray(function(self.position.unpack(x), rng), dtype=np.float64)
            if value.size != np.size(index):
                raise ValueError(
                    f"the conditional of {name} returned an array of shape {value.shape}; {np.size(index)} numbers are expected."
                )
            x[index] = value.reshape(np.shape(index))

    def run(self, state: dict, n: int, rng: np.random.Generator) -> tuple:
        draws = np.empty((n, self.position.size))
        if self.compiled is not None:
            kernels.gibbs_steps(self.compiled, state["x"], self.n_thin, rng, draws)
        else:
            for i in range(n):
                for _ in range(self.n_thin):
                    self.sweep(state["x"], rng)
                draws[i] = state["x"]
        bad = ~np.isfinite(draws)
        if bad.any():
            k = int(bad[bad.any(axis=1).argmax()].argmax())
            name = next(name for name, index, _ in self.parts if k in np.ravel(index))
            raise ValueError(f"the conditional of {name} returned {draws[bad][0]}; it must return finite numbers.")
        return draws, {}

    def notes(self, states: list[dict], statistics: dict) -> list[Note]:
        return [self.note]


def _swept(sweep: Callable, x: np.ndarray) -> np.ndarray:
    x = x.copy()
    sweep(x, np.random.default_rng(0))
    return x


class _Fold:
    """Makes one sweep of conditionals that are compiled."""

    def __init__(self, indices: list):
        self.indices = indices

    def __call__(self, *functions: Any) -> Callable:
        import numba

        def nothing(x: Any, rng: Any) -> None:
            pass

        sweep: Any = nothing
        for index, function in zip(self.indices, functions):
            sweep = _after(numba.njit(nogil=True, boundscheck=True)(sweep), function, index)
        return sweep


def _after(before: Any, function: Any, index: Any) -> Callable:
    def sweep(x: Any, rng: Any) -> None:
        before(x, rng)
        x[index] = function(x, rng)

    return sweep
