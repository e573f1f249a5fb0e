"""`SequenceEstimator`: the scikit-learn face of models with a hidden state per step, whatever describes the steps."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..base.missing import draw_cells
from ..base.rows import like
from ..checks import check_choice, check_number, check_out, check_weight
from ..declared import Numbers, Part
from ..frames import is_table
from ..kernels import backend
from ..mixture.columns import check_columns
from ..mixture.estimator import MixtureEstimator
from ..source import ArraySource, Block, Source, is_streamed
from ..source.writer import ParquetWriter
from .clock import Clock
from .model import ChainModel
from .seeding import shortened
from .stationary import stationary
from .steps import Steps, per_sequence
from .streamed import check_stream, is_held
from .structure import ChainParams

__all__ = ["SequenceEstimator"]

ALGORITHMS = ("viterbi", "map")
GAPS = ("missing", "ignore")
BLOCK_CELLS = 1 << 18
"""Steps times states of a block: its densities stay in a core's cache."""
LANES = 16
"""Sequences that the kernel of likeliest paths takes side by side."""
MOST_CELLS = 1 << 22
"""Steps times states of a block of sequences that are to go side by side."""


class SequenceEstimator(MixtureEstimator):
    """Base of hidden Markov models.

    A subclass defines ``_family()`` and ``_structure()``. Rows are steps of sequences: X is an array, with `lengths` where it
    holds several sequences, a list of arrays, or a table whose columns `sequence` and `time` say which row belongs where.
    """

    sequence: Any = None
    time: Any = None
    gaps: str = "missing"
    continuous_time: bool = False
    algorithm: str = "viterbi"
    clock_: Clock | None = None

    _saved = MixtureEstimator._saved | {
        "startprob_": Numbers("K", low=0, high=1, total=1),
        "transmat_": Numbers("K K"),
        "clock_": Part(Clock, optional=True),
    }
    startprob_: np.ndarray
    transmat_: np.ndarray

    # Settings

    def _check_sequences(self) -> None:
        """Raise where a setting of sequences is not what it must be."""
        check_choice("algorithm", self.algorithm, ALGORITHMS)
        check_choice("gaps", self.gaps, GAPS)
        if not isinstance(self.continuous_time, (bool, np.bool_)):
            raise ValueError(f"continuous_time={self.continuous_time!r} is neither True nor False.")
        if self.continuous_time and self.time is None:
            raise ValueError("continuous_time=True needs the time of every step; name its column by time='…'.")

    def _structure(self) -> Any:
        """How states follow each other."""
        raise NotImplementedError(f"{type(self).__name__} does not define _structure.")

    def _model(self) -> Any:
        return ChainModel(self._family(), self._structure(), "kmeans")

    # Opening sequences

    def _steps(self, X: Any, lengths: Any = None) -> Any:
        """X as `Steps`; what is streamed, and sources, as they are."""
        opened = type(X).__name__ == "DataTable"  # of tacit.tables, which is loaded where tables are read
        streamed = isinstance(X, (Steps, Source)) or (is_streamed(X) and not is_held(X))
        if (streamed or opened) and lengths is not None:
            raise ValueError("lengths are for arrays; sequences of files and sources are named by their column.")
        settings: dict[str, Any] = {"gaps": self.gaps, "continuous": self.continuous_time, "clock": self.clock_}
        if opened:
            return Steps.of_table(X, self.sequence, self.time, **settings)
        if streamed:
            return X
        return Steps.of(X, lengths, self.sequence, self.time, **settings)

    def _open(
        self,
        X: Any,
        weight: Any = None,
        labels: Any = None,
        targets: Any = None,
        *,
        reset: bool = False,
        together: int = 1,
    ) -> Source:
        """As of other estimators; with at least `together` sequences to a block where they are not too long for that."""
        if reset:
            self.clock_ = None
        steps = self._steps(X)
        if not isinstance(steps, Steps):
            if reset and hasattr(steps, "steps"):
                self.clock_ = steps.steps.clock
            return super()._open(steps, weight, labels, targets, reset=reset)
        if reset:
            self.clock_ = steps.clock
        if backend(steps.rows) == "torch":
            from ..source.torch import TorchSource

            tensor: Any = super()._open(steps.rows, reset=reset)  # checked, and its columns counted
            source: Source = TorchSource(tensor.X, **self._told_of(steps, weight, labels), unit=steps.unit)
        else:
            if type(steps.rows).__name__ == "DataTable":
                cells = np.concatenate([block.X for block in super()._open(steps.rows, reset=reset)])
                check_columns(self.family_, cells, self.schema_)
            else:
                cells = self._validate(steps.rows, reset=reset)
            if hasattr(cells, "tocsr"):
                raise TypeError(f"{type(self).__name__} takes no sparse rows; give it the rows as an ordinary array.")
            if reset and not is_table(steps.rows) and isinstance(steps.rows, np.ndarray):
                self._check_columns(cells)
            size = max(BLOCK_CELLS // self.n_components, 1)
            side_by_side = together * int(np.diff(steps.offsets).max())
            if side_by_side * self.n_components <= MOST_CELLS:
                size = max(size, side_by_side)
            told = self._told_of(steps, weight, labels)
            offsets = None if len(steps.offsets) == steps.n_steps + 1 else steps.offsets
            source = ArraySource(steps.spread(cells), **told, offsets=offsets, n_jobs=self.n_jobs, block_rows=size)
        source.columns, source.schema = self._known_names(), getattr(self, "schema_", None)
        source.steps = steps  # type: ignore[attr-defined]  # so that answers come in the order of the rows
        return source

    def _told_of(self, steps: Steps, weight: Any, labels: Any) -> dict[str, Any]:
        """What is known of steps beside their cells."""
        labels = np.concatenate(labels) if _is_ragged(labels) else labels
        return {
            "weight": check_weight(per_sequence(weight, steps, "sample_weight"), steps.n_steps),
            "labels": steps.spread(self._check_labels(labels, steps.n_rows), -1),
            "targets": None if steps.time is None else steps.time[:, None],
        }

    def _stream(self, X: Any, weight: Any, labels: Any, *, reset: bool, **more: Any) -> Source:
        if self.sequence is None and self.time is None:
            raise ValueError(
                f"{type(self).__name__} reads rows of a file as steps of sequences; name the column that tells them apart by "
                "sequence='…', and the time by time='…'."
            )
        more["targets"] = [] if self.time is None else [self.time]
        if self.sequence is not None:
            more["unit"] = self.sequence
        else:  # all rows are one sequence
            counted = super()._stream(X, weight, labels, reset=reset, **more)
            more["unit"] = np.zeros(counted.n_rows, np.int64)
        source = super()._stream(X, weight, labels, reset=reset, **more)
        clock = check_stream(
            source, self.time, gaps=self.gaps, continuous=self.continuous_time, clock=None if reset else self.clock_
        )
        if reset:
            self.clock_ = clock
        return source

    def _sample(self, source: Source, rng: np.random.Generator, n_rows: int | None = None) -> Block:
        n_rows = n_rows or self._sample_rows()
        return shortened(source.sample(n_rows, rng), n_rows)

    def _collected(self, source: Source, function: Callable[[Block], np.ndarray]) -> np.ndarray:
        found, steps = super()._collected(source, function), getattr(source, "steps", None)
        return found if steps is None else steps.collected(found)

    def _check_enough(self, source: Source) -> None:
        """One step is enough to begin with; states that nothing is seen of stay as they began."""

    # Parameters

    def _publish(self, params: ChainParams, dtype: np.dtype) -> None:
        self.startprob_, self.transmat_ = params.start, params.move
        self.weights_ = (
            params.weight if self.fit_.stats is None else self.fit_.stats.counts / self.fit_.stats.counts.sum()
        )
        self._publish_components(params.components, dtype)

    def _publish_components(self, components: Any, dtype: np.dtype) -> None:
        raise NotImplementedError(f"{type(self).__name__} does not define _publish_components.")

    def _components(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not define _components.")

    def _dwell(self) -> np.ndarray:
        """What is known of how long states last beyond their moves."""
        return np.zeros((self.n_components, 0))

    def _params(self) -> ChainParams:
        start, move = (np.asarray(each, dtype=np.float64) for each in (self.startprob_, self.transmat_))
        return ChainParams(start, move, self._dwell(), self._components())

    def _ready(self) -> None:
        """Raise where there are no parameters."""
        check_is_fitted(self, "startprob_")

    # Answers for steps

    def _states(
        self, X: Any, lengths: Any, function: Callable[[Any, Any, Block], np.ndarray], out: Any = None, names: Any = (),
        together: int = 1,
    ) -> Any:  # fmt: skip
        """function(model, params, block) of the steps of X, in the order of its rows; written as columns where `out` is given."""
        self._ready()
        model, params = self._model(), self._params()
        source = self._open(self._steps(X, lengths), together=together)
        steps = getattr(source, "steps", None)

        def found(block: Block) -> np.ndarray:
            return function(model, params, block)

        if out is None:
            return self._collected(source, found)
        check_out(X, out)
        with ParquetWriter(out) as writer:
            as_they_come = steps is None or steps.at is None
            for part in source.map(found) if as_they_come else [self._collected(source, found)]:
                writer.write(dict(zip(names, np.atleast_2d(part.T))))
        return out

    def predict(self, X: Any, lengths: Any = None, *, out: Any = None) -> Any:  # type: ignore[override]
        """The state of each step: that of the likeliest path, or the most probable one where ``algorithm="map"``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), list of arrays, or table
            Steps; NaN is missing.
        lengths : array-like of int, optional
            How many rows of an array each sequence has.
        out : path, optional
            A Parquet file to write to instead, block by block: for rows that do not fit memory.

        Returns
        -------
        ndarray of int of shape (n_samples,), or `out`
        """
        if out is None:
            return self.decode(X, lengths)[1]

        def best(model: Any, params: Any, block: Block) -> np.ndarray:
            viterbi = self.algorithm == "viterbi"
            path = model.decoded(params, block)[0] if viterbi else model.posterior(params, block)[0].argmax(axis=1)
            return path.astype(np.int64)

        return self._states(X, lengths, best, out, ["state"])

    def decode(self, X: Any, lengths: Any = None, algorithm: str | None = None) -> tuple[float, np.ndarray]:
        """The states of all steps, and the log probability of the path they are.

        Parameters
        ----------
        X, lengths
            As in `predict`.
        algorithm : {"viterbi", "map"}, optional
            Whether the path is the likeliest one, or every state the most probable of its step; default as the setting says.

        Returns
        -------
        log_prob : float
            Of the paths of all sequences together with their steps; with "map" the sum of the states' probabilities.
        states : ndarray of int of shape (n_samples,)
        """
        chosen = self.algorithm if algorithm is None else algorithm
        if chosen not in ALGORITHMS:
            raise ValueError(f"algorithm={chosen!r} is unknown; use one of {', '.join(map(repr, ALGORITHMS))}.")
        if chosen == "map":
            resp = self.predict_proba(X, lengths)
            return float(resp.max(axis=1).sum()), resp.argmax(axis=1)

        scores: dict[int, np.ndarray] = {}

        def best(model: Any, params: Any, block: Block) -> np.ndarray:
            path, scores[block.first] = model.decoded(params, block)
            return path

        states = self._states(X, lengths, best, together=LANES)
        return float(np.concatenate([scores[first] for first in sorted(scores)]).sum()), states.astype(int, copy=False)

    def predict_proba(self, X: Any, lengths: Any = None, *, out: Any = None) -> Any:  # type: ignore[override]
        """Probability of each state at each step, given all steps of its sequence (smoothing).

        Parameters
        ----------
        X, lengths, out
            As in `predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_components), or `out`
        """

        def smoothed(model: Any, params: Any, block: Block) -> np.ndarray:
            return like(block, model.posterior(params, block)[0])

        return self._states(X, lengths, smoothed, out, [f"state_{k}" for k in range(self.n_components)])

    def filter(self, X: Any, lengths: Any = None) -> np.ndarray:
        """Probability of each state at each step, given the steps so far.

        Parameters
        ----------
        X, lengths
            As in `predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """

        def known(model: Any, params: Any, block: Block) -> np.ndarray:
            share, _, chain = model.filtered(params, block)
            return like(block, model.gathered(share, chain).T)

        return self._states(X, lengths, known)

    def predict_pairs(self, X: Any, lengths: Any = None) -> np.ndarray:
        """Probability of each pair of states at the step before and at each step, given all steps.

        Parameters
        ----------
        X, lengths
            As in `predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_components, n_components)
            Entry [t, i, j] is the probability of state i at the step before t and of j at t; 0 at first steps of sequences.
        """
        return self._states(X, lengths, lambda model, params, block: like(block, model.pairs(params, block)))

    def sample_paths(self, X: Any, n_draws: int = 1, lengths: Any = None, random_state: Any = None) -> np.ndarray:
        """Paths of states drawn from their distribution given the steps.

        Parameters
        ----------
        X, lengths
            As in `predict`.
        n_draws : int, default=1
            Number of paths.
        random_state : int, RandomState instance or None, default=None
            Seeds the draws; by default the estimator's own does.

        Returns
        -------
        ndarray of int of shape (n_draws, n_samples)
        """
        check_number("n_draws", n_draws, numbers.Integral, 1)
        seed = int(self._rng(random_state).integers(2**32))

        def draw(model: Any, params: Any, block: Block) -> np.ndarray:
            return model.draw_paths(params, block, n_draws, np.random.default_rng([seed, block.first])).T

        return self._states(X, lengths, draw).T

    def _log_densities(self, X: Any, lengths: Any = None) -> np.ndarray:
        """Log density of each step given those before it."""
        return self._states(X, lengths, lambda model, params, block: model.filtered(params, block)[1])

    # Missing cells

    def impute(self, X: Any, return_std: bool = False, *, lengths: Any = None, **how: Any) -> Any:
        """Fill missing cells with their expectation given all observed ones of their sequence.

        Parameters
        ----------
        X, lengths
            As in `predict`.
        return_std, **how
            As in :meth:`tacit.mixture.Mixture.impute`: ``interval=0.9`` gives intervals.

        Returns
        -------
        filled : table of the same kind as X, or ndarray of shape (n_samples, n_features)
            And what is asked for besides.
        """
        return super().impute(self._steps(X, lengths), return_std, **how)

    def _as_given(self, cells: np.ndarray, X: Any) -> Any:
        return super()._as_given(cells, X.rows if isinstance(X, Steps) else X)

    def draw_missing(self, X: Any, n_draws: int = 1, random_state: Any = None, *, lengths: Any = None) -> Any:
        """Draw missing cells given the observed ones, for multiple imputation: states are drawn as paths.

        Parameters
        ----------
        X, lengths
            As in `predict`.
        n_draws : int, default=1
            Number of completed tables.
        random_state : int, RandomState instance or None, default=None
            Seeds the draws.

        Returns
        -------
        ndarray of shape (n_draws, n_samples, n_features), or list of tables of the same kind as X
        """
        return super().draw_missing(self._steps(X, lengths), n_draws, random_state)

    def _completed_rows(self, X: Any, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        source = self._open(X)
        drawn = draw_cells(self, source.take(np.arange(source.n_units)), n_draws, rng)
        steps = getattr(source, "steps", None)
        return drawn if steps is None else steps.collected(drawn, axis=1)

    # Rows far from all states

    def outlier_scores(self, X: Any, out: Any = None, *, lengths: Any = None) -> Any:
        """How far each step lies from the states it may be in, as :meth:`tacit.mixture.Mixture.outlier_scores` says."""
        return super().outlier_scores(self._steps(X, lengths), out)

    def outliers(self, X: Any, level: float | None = None, *, lengths: Any = None) -> np.ndarray:
        """Which steps are outliers, as :meth:`tacit.mixture.Mixture.outliers` says."""
        return super().outliers(self._steps(X, lengths), level)

    # The chain

    def get_stationary_distribution(self) -> np.ndarray:
        """Shares of the states in the long run, whatever the first state."""
        check_is_fitted(self, "transmat_")
        move = np.asarray(self.transmat_, dtype=np.float64)
        return stationary(move - np.eye(len(move)))

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, lengths: Any = None) -> Self:
        """Learn from one more batch of whole sequences, by stepwise EM; see :meth:`tacit.mixture.Mixture.partial_fit`.

        Parameters
        ----------
        X, y, sample_weight, lengths
            As in `fit`.

        Returns
        -------
        self
        """
        return super().partial_fit(self._steps(X, lengths), y, sample_weight)


def _is_ragged(labels: Any) -> bool:
    return isinstance(labels, (list, tuple)) and bool(labels) and all(np.ndim(part) == 1 for part in labels)
