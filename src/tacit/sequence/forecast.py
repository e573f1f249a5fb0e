"""What comes next: p(x_{T+h} | x_1 … x_T) = Σ_k p(z_{T+h} = k | x_1 … x_T) p(x | θ_k), for every sequence."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import check_number
from ..families.laws import Law
from ..source import Block, Source
from .estimator import SequenceEstimator
from .steps import Steps

__all__ = ["Forecast", "Predictive", "Predictor"]


@dataclass(frozen=True)
class Forecast:
    """Steps ahead of every sequence.

    Attributes
    ----------
    mean : ndarray of shape (n_sequences, n_steps, n_features)
        Expectations of numbers, codes of the most probable levels of categories.
    low, high : ndarray of the same shape
        Central intervals of numbers; NaN of categories.
    probability : ndarray of the same shape
        Probabilities of the levels of categories; NaN of numbers.
    states : ndarray of shape (n_sequences, n_steps, n_components)
        Probabilities of the states.
    time : ndarray of shape (n_sequences, n_steps) or None
        When the steps are, where times are known: numbers, or days since 1970.
    names : list or None
        Names of the sequences.
    columns : list
        Names of the columns.
    interval : float
        What the intervals hold with.
    levels : dict
        Levels of the columns that are categories, by their names.
    """

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    probability: np.ndarray
    states: np.ndarray
    time: np.ndarray | None
    names: list | None
    columns: list
    interval: float
    levels: dict

    def __repr__(self) -> str:
        n_sequences, n_steps, _ = self.mean.shape
        lines = [
            f"{n_steps} steps ahead of {n_sequences} sequence{'s' * (n_sequences > 1)}, intervals of {self.interval:.0%}"
        ]
        for j, name in enumerate(self.columns[:8]):
            cells = [self._told(name, (0, h, j)) for h in range(min(n_steps, 4))]
            lines.append(f"  {name}: {', '.join(cells)}{', …' if n_steps > 4 else ''}")
        return "\n".join(lines)

    def _told(self, name: Any, at: tuple[int, int, int]) -> str:
        if name in self.levels:
            return f"{self.levels[name][int(self.mean[at])]} ({self.probability[at]:.0%})"
        return f"{self.mean[at]:.4g} ({self.low[at]:.4g} to {self.high[at]:.4g})"


class Predictive:
    """The distribution of steps given the steps before them, column by column; made by `Predictor.predictive`.

    Attributes
    ----------
    states : ndarray of shape (n_samples, n_components)
        Probabilities of the states before a step is seen.
    log_density : ndarray of shape (n_samples,)
        Log density of each step given those before.
    """

    def __init__(
        self, law: Law, weight: np.ndarray, states: np.ndarray, log_density: np.ndarray, shape: tuple[int, int]
    ):
        self._law, self._weight, self._shape = law, weight, shape
        self.states, self.log_density = states, log_density

    def mean(self) -> np.ndarray:
        """Expectations, (n_samples, n_features)."""
        return self._law.mean(self._weight).reshape(self._shape)

    def std(self) -> np.ndarray:
        """Standard deviations, (n_samples, n_features)."""
        return self._law.std(self._weight).reshape(self._shape)

    def quantile(self, q: float) -> np.ndarray:
        """The q-quantile of every cell, (n_samples, n_features)."""
        return self._law.quantile(q, self._weight).reshape(self._shape)

    def interval(self, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Central intervals that hold a cell with probability `level`."""
        return self.quantile(0.5 * (1.0 - level)), self.quantile(0.5 * (1.0 + level))


class Predictor(SequenceEstimator):
    """What a hidden Markov model says of steps that are not seen yet."""

    def predictive(self, X: Any, lengths: Any = None) -> Predictive:
        """The distribution of every step given the steps before it in its sequence.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), list of arrays, or table
            Steps in memory; NaN is missing.
        lengths : array-like of int, optional
            How many rows of an array each sequence has.

        Returns
        -------
        Predictive
            With `mean`, `std`, `quantile`, `interval`, `states` and `log_density`.
        """
        self._ready()
        source = self._open(self._steps(X, lengths))
        block, model, steps = source.take(np.arange(source.n_units)), self._model(), getattr(source, "steps", None)
        order = np.arange(len(block)) if steps is None else steps.collected(np.arange(len(block)))
        states = [_before(model, params, block)[order] for params in self._uncertain()]
        law, weight = self._laws(model, states, len(order))
        log_density = model.filtered(self._params(), block)[1][order]
        return Predictive(law, weight, np.mean(states, axis=0), log_density, (len(order), self.n_features_in_))

    def _laws(self, model: Any, states: list[np.ndarray], n_rows: int) -> tuple[Law, np.ndarray]:
        """The law of all cells of steps whose states have these probabilities under each draw of the parameters, and weights."""
        empty = Block.of(np.full((n_rows, self.n_features_in_), np.nan))
        laws = [model.family.law(params.components, empty) for params in self._uncertain()]
        law = type(laws[0]).pooled(laws) if len(laws) > 1 else laws[0]
        rows = empty.missing_cells[0]
        return law, np.hstack([each[rows] for each in states]) / len(states)

    def forecast(
        self, X: Any, n_steps: int = 1, *, lengths: Any = None, interval: float = 0.9, times: Any = None
    ) -> Forecast:
        """The steps that follow each sequence, with intervals.

        Parameters
        ----------
        X, lengths
            As in `predictive`; steps whose cells are missing count as steps.
        n_steps : int, default=1
            How many steps ahead.
        interval : float, default=0.9
            Probability that an interval holds its cell.
        times : array-like of shape (n_steps,), optional
            In continuous time, how long after the last step; default multiples of the usual time between steps.

        Returns
        -------
        Forecast
        """
        self._ready()
        check_number("n_steps", n_steps, numbers.Integral, 1)
        if not (isinstance(interval, numbers.Real) and 0 < interval < 1):
            raise ValueError(f"interval={interval!r} must be a probability between 0 and 1, both excluded.")
        source = self._open(self._steps(X, lengths))
        ahead, when = self._times_ahead(source, n_steps, times)
        model, n = self._model(), source.n_units
        states = [self._states_ahead(model, params, source, ahead) for params in self._uncertain()]
        law, weight = self._laws(model, [each.reshape(n * n_steps, -1) for each in states], n * n_steps)
        shape = n, n_steps, self.n_features_in_
        tails = 0.5 * (1.0 - interval), 0.5 * (1.0 + interval)
        told = [law.mean(weight), *(law.quantile(q, weight) for q in tails)]
        mean, low, high = (np.maximum(part.reshape(shape), self._lowest()) for part in told)  # as of cells filled in
        probability = law.probability(weight).reshape(shape)
        names = getattr(getattr(source, "steps", None), "names", None)
        columns, schema = self._names() or self._column_names(), getattr(self, "schema_", None)
        levels = {} if schema is None else schema.levels
        return Forecast(mean, low, high, probability, np.mean(states, axis=0), when, names, columns, interval, levels)

    def _times_ahead(self, source: Source, n_steps: int, times: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """How long after the last step the steps ahead are, and when that is for each sequence."""
        steps: Steps | None = getattr(source, "steps", None)
        if steps is None or steps.time is None:
            return np.arange(1.0, n_steps + 1), None
        last = steps.time[steps.offsets[1:] - 1]
        if self.continuous_time:
            if times is None:
                gaps = np.diff(steps.time)
                inside = np.ones(len(gaps), bool)
                inside[steps.offsets[1:-1] - 1] = False
                usual = float(np.median(gaps[inside])) if inside.any() else 1.0
                times = usual * np.arange(1, n_steps + 1)
            times = np.asarray(times, dtype=float)
            if times.shape != (n_steps,) or (np.diff(times, prepend=0.0) <= 0).any():
                raise ValueError(f"times={times.tolist()} must be {n_steps} increasing times after the last step.")
            return times, last[:, None] + times
        clock = self.clock_ or steps.clock
        if clock is None:
            return np.arange(1.0, n_steps + 1), None
        return np.arange(1.0, n_steps + 1), np.array([clock.ahead(each, n_steps) for each in last])

    def _states_ahead(self, model: Any, params: Any, source: Source, ahead: np.ndarray) -> np.ndarray:
        """Probabilities of states after the last step of every sequence, (sequences, steps ahead, states)."""
        gaps = np.diff(ahead, prepend=0.0)
        future = Block.of(
            np.zeros((len(gaps) + 1, 1)), targets=np.append(0.0, ahead)[:, None], units=np.array([0, len(gaps) + 1])
        )
        chain = model.structure.chain(params, future)

        def go_on(block: Block) -> np.ndarray:
            share, _, _ = model.filtered(params, block)
            now, found = share[:, block.offsets[1:] - 1], []
            for h in range(len(gaps)):
                now = (chain.move[chain.which[h + 1] if chain.which.size else 0]).T @ now
                found.append(model.gathered(now, chain).T)
            return np.stack(found, axis=1)

        return np.concatenate(list(source.map(go_on)))


def _before(model: Any, params: Any, block: Block) -> np.ndarray:
    """Probabilities of states at each step given the steps before it, (steps, states)."""
    share, _, chain = model.filtered(params, block)
    found = np.tile(chain.start[:, None], len(block))
    later = np.setdiff1d(np.arange(len(block)), block.offsets[:-1])
    if chain.which.size:
        found[:, later] = np.einsum("in,nij->jn", share[:, later - 1], chain.move[chain.which[later]])
    else:
        found[:, later] = chain.move[0].T @ share[:, later - 1]
    return model.gathered(found, chain).T
