"""`Segmentation`: the state of every step of every sequence, ẑ = argmax p(z | x), and stretches in which it stays the same."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..table import Table
from .clock import Clock
from .steps import Steps

__all__ = ["Segmentation", "segment"]


@dataclass(frozen=True, eq=False)
class Segmentation:
    """Steps of sequences, those that times leave out included, and their states; made by `segment`.

    Attributes
    ----------
    cells : ndarray of shape (n_steps, n_features)
        What was observed, as numbers: codes of categories; NaN where nothing was.
    states : ndarray of int of shape (n_steps,)
        The likeliest path.
    probability : ndarray of shape (n_steps, n_components)
        Probability of each state given all steps of the sequence.
    offsets : ndarray of int of shape (n_sequences + 1,)
        Where sequences begin.
    row : ndarray of int of shape (n_steps,)
        The row of each step, −1 of a step that times leave out.
    time : ndarray of shape (n_steps,) or None
        When steps are: numbers, or days since 1970.
    names : list or None
        Names of the sequences.
    clock : Clock or None
    columns : list
        Names of the columns.
    """

    cells: np.ndarray
    states: np.ndarray
    probability: np.ndarray
    offsets: np.ndarray
    row: np.ndarray
    time: np.ndarray | None
    names: list | None
    clock: Clock | None
    columns: list

    def __len__(self) -> int:
        return len(self.states)

    @property
    def n_sequences(self) -> int:
        """How many sequences there are."""
        return len(self.offsets) - 1

    @property
    def dated(self) -> bool:
        """Whether times are dates."""
        return self.clock is not None and self.clock.dated

    @cached_property
    def bounds(self) -> np.ndarray:
        """Where segments begin, and the number of steps at the end, (n_segments + 1,)."""
        begins = np.diff(self.states, prepend=-1) != 0
        begins[self.offsets[:-1]] = True
        return np.append(np.flatnonzero(begins), len(self))

    @cached_property
    def sequence(self) -> np.ndarray:
        """The number of the sequence of each segment."""
        return np.searchsorted(self.offsets, self.bounds[:-1], side="right") - 1

    @cached_property
    def segment_states(self) -> np.ndarray:
        """The state of each segment."""
        return self.states[self.bounds[:-1]]

    @cached_property
    def segment_probability(self) -> np.ndarray:
        """Mean probability of the state of a segment over its steps."""
        own = self.probability[np.arange(len(self)), self.states]
        return np.add.reduceat(own, self.bounds[:-1]) / np.diff(self.bounds)

    def when(self, steps: Any) -> list:
        """Times of steps as people write them: numbers, dates, or the number of the step in its sequence from 1."""
        steps = np.asarray(steps, dtype=int)
        if self.time is None:
            first = self.offsets[np.searchsorted(self.offsets, steps, side="right") - 1]
            return (steps - first + 1).tolist()
        return moments(self.time[steps], self.dated)

    def name(self, sequence: int) -> str:
        """What a sequence is called."""
        return str(sequence + 1) if self.names is None else str(self.names[sequence])

    def table(self) -> Table:
        """Segments as a table: sequence, start, end, length, state, probability."""
        starts, ends = self.when(self.bounds[:-1]), self.when(self.bounds[1:] - 1)
        parts = zip(self.sequence, starts, ends, np.diff(self.bounds), self.segment_states, self.segment_probability)
        names = ("sequence", "start", "end", "length", "state", "probability")
        return Table([
            dict(zip(names, (self.name(s), start, end, int(n), int(state), float(p)))) for s, start, end, n, state, p in parts
        ])  # fmt: skip


def moments(times: np.ndarray, dated: bool) -> list:
    """Times as numbers or, where they are days since 1970, as dates in ISO's way."""
    if not dated:
        whole = bool((times == np.round(times)).all()) and bool((np.abs(times) < 2**53).all())
        return (times.astype(np.int64) if whole else times).tolist()
    seconds = np.round(np.asarray(times) * 86400.0).astype("datetime64[s]")
    if (seconds == seconds.astype("datetime64[D]")).all():
        return seconds.astype("datetime64[D]").astype(str).tolist()
    return [text.replace("T", " ") for text in seconds.astype(str).tolist()]


def segment(model: Any, X: Any, lengths: Any = None) -> Segmentation:
    """The states of the steps of sequences under a fitted model.

    Parameters
    ----------
    model : HiddenMarkovModel
        Fitted.
    X : array-like of shape (n_samples, n_features), list of arrays, or table
        Steps in memory; NaN is missing.
    lengths : array-like of int, optional
        How many rows of an array each sequence has.

    Returns
    -------
    Segmentation

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.sequence import HiddenMarkovModel, segment
    >>> x = np.concatenate([np.random.default_rng(0).normal(m, 1, 40) for m in (0, 9, 0)])[:, None]
    >>> print(segment(HiddenMarkovModel(2, random_state=0).fit(x), x).table()["length"])
    [40, 40, 40]
    """
    model._ready()
    source = model._open(model._steps(X, lengths))
    inner, params = model._model(), model._params()

    def along(block: Any) -> np.ndarray:
        path = inner.decoded(params, block)[0]
        return np.column_stack([path, inner.posterior(params, block)[0]])

    found = np.concatenate(list(source.map(along)))
    cells = np.concatenate([np.asarray(block.X, dtype=np.float64) for block in source])
    steps: Steps | None = getattr(source, "steps", None)
    if steps is None:
        raise TypeError("segment takes steps in memory: an array, a list of arrays or a table.")
    row = np.arange(len(cells)) if steps.at is None else steps.at
    names = [str(name) for name in model._names() or model._column_names()]
    return Segmentation(
        cells, found[:, 0].astype(int), found[:, 1:], steps.offsets, row, steps.time, steps.names,
        model.clock_ or steps.clock, names,
    )  # fmt: skip
