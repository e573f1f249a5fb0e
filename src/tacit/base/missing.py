"""`MissingCells`: what a model of classes says of the missing cells of a row, p(x_M | x_O) = Σ_k p(k | x_O) p_k(x_M | x_O).

Where rows are few for the parameters, what they leave uncertain about these is part of the answer: p is then the mean of the
distributions under draws of the parameters (`tacit.base.augmentation`). Otherwise fitted parameters are taken as known.
"""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..checks import check_number, check_out
from ..families.laws import Law
from ..frames import as_given
from ..kernels import backend, host
from ..source import ArraySource, Block, Source, is_streamed
from ..source.writer import ParquetWriter
from .augmentation import draw_parameters
from .rows import RowsEstimator, like

__all__ = ["Imputed", "MissingCells", "UnseenPairsWarning", "draw_cells", "impute_cells"]

FEW = 50
"""Rows for each column and class below which parameters are uncertain enough to matter."""
MOST_WORK = 5e8
"""n d³ beyond which parameters are only drawn where asked for."""


MOST_COLUMNS = 1000
"""Columns up to which pairs that no row has both of are looked for."""


class UnseenPairsWarning(UserWarning):
    """Pairs of columns that are never observed together, of which the data cannot tell the correlation."""


class Imputed(NamedTuple):
    """Rows with their missing cells filled in, and how sure each is.

    Attributes
    ----------
    filled : table of the same kind as the rows, or ndarray of shape (n_samples, n_features)
        Expectations of numbers and the most probable levels of categories; a cell that the model cannot tell stays missing.
    low, high : ndarray of shape (n_samples, n_features)
        Central intervals of filled numbers and ordinal cells, whose ends are levels, or their places from 0 where levels are no
        numbers; NaN elsewhere.
    probability : ndarray of shape (n_samples, n_features)
        Probabilities of filled levels; NaN elsewhere.
    """

    filled: Any
    low: np.ndarray
    high: np.ndarray
    probability: np.ndarray


class MissingCells(RowsEstimator):
    """Base of estimators whose model has a class per row and a family: missing cells filled in, and drawn.

    A subclass has ``_model()`` and ``_params()``. ``_knowledge()`` tells which classes know which columns, where some do not, and
    ``_lowest()`` the least value that each column may have. A fit ends with ``_keep(source)``.
    """

    parameter_draws: Any = 0
    _n_draws = 20  # of the parameters, by default
    _seen: Block | None = None  # the rows of the fit, until parameters are drawn

    @property
    def _calibration(self) -> Any:
        """A Calibration, where hidden cells taught how good the fills are; None otherwise."""
        return self.__dict__.get("calibration_")

    @cached_property
    def draws_(self) -> list:
        """Draws of the parameters; none where the estimates are taken as known. Made when they are first asked for."""
        check_is_fitted(self)
        if self._seen is None:
            return []
        n_draws = self._n_draws if self.parameter_draws == "auto" else self.parameter_draws
        seed = int(self.random_state) if isinstance(self.random_state, numbers.Integral) else 0
        try:
            draws = draw_parameters(self._model(), self._params(), self._seen, n_draws, np.random.default_rng(seed))
        except NotImplementedError:  # a family of one's own need not know how to draw missing cells
            draws = []
        del self._seen  # rows are needed no more
        return draws

    def _uncertain(self) -> list:
        """Parameters that are as good as each other: draws of them, or the estimate alone."""
        return self.draws_ or [self._params()]

    def _keep(self, source: Source | None) -> None:
        """Remember the rows of a fit where parameters are to be drawn given them."""
        for name in ("draws_", "_seen", "calibration_"):
            self.__dict__.pop(name, None)
        asked = self.parameter_draws
        if source is not None:
            self._warn_unseen_pairs(source)
        if source is None or asked == 0:
            return
        n, d = source.n_rows, source.n_features
        if asked != "auto" or (n < FEW * d * (self._n_classes or 1) and n * d**3 <= MOST_WORK):
            block = source.sample(n, np.random.default_rng(0))
            weight = host(block.weight)
            # As elsewhere, only the proportions of weights matter: together they are worth the rows there are.
            weight = weight * (np.count_nonzero(weight) / weight.sum())
            targets = None if block.targets is None else host(block.targets)
            self._seen = Block.of(host(block.X), weight, host(block.labels), targets, units=block.units)

    def _warn_unseen_pairs(self, source: Source) -> None:
        """Say which pairs of columns no row has both of, where a Gaussian is to tell how they correlate; of rows in memory."""
        family, d = self._model().family, source.n_features
        related = np.zeros((d, d), dtype=bool)
        for part, columns in getattr(family, "parts", [(family, range(d))]):
            if getattr(part, "matrices", False):
                related[np.ix_(columns, columns)] = True
        if (
            not related.any()
            or not isinstance(source, ArraySource)
            or not 1 < d <= MOST_COLUMNS
            or backend(source.X) != "cpu"
        ):
            return
        together = np.zeros((d, d))
        for block in source:
            if block.patterns.is_complete:
                return
            seen = (~block.patterns.missing)[np.diff(block.patterns.starts) > 0].astype(np.float64)
            together += seen.T @ seen
        first, second = np.nonzero(np.triu(related & (together == 0), 1))
        if len(first):
            names = np.asarray(getattr(self, "feature_names_in_", [f"column {j}" for j in range(d)]))
            listed = [f"{names[i]} and {names[j]}" for i, j in zip(first[:5], second[:5])]
            more = f" and {len(first) - 5} pairs more" if len(first) > 5 else ""
            warnings.warn(
                f"no row has both of {', '.join(listed)}{more}: how they correlate, beyond what other columns tell, comes from "
                "the model and not from the data.",
                UnseenPairsWarning,
                stacklevel=4,
            )

    def _check_draws(self) -> None:
        if self.parameter_draws != "auto":
            check_number("parameter_draws", self.parameter_draws, numbers.Integral, 0)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        for each in self.__dict__.get("draws_", ()):
            self._model().check_drawn(each, self.n_features_in_)
        if self._calibration is not None:
            self._calibration.check_columns(self.n_features_in_)

    def __getstate__(self) -> Any:
        if self._seen is not None:
            self.draws_  # noqa: B018  # what is written is what was learned from the rows, not the rows
        return super().__getstate__()

    def _knowledge(self) -> Any:
        return None

    def _lowest(self) -> np.ndarray | None:
        return None

    def _possible(self, cells: np.ndarray) -> np.ndarray:
        """Filled cells as values that a row can have."""
        return self._model().family.possible(cells)

    def _as_given(self, cells: np.ndarray, X: Any) -> Any:
        """Cells as a table of the kind of X."""
        return as_given(cells, X)

    def _answered(self, found: np.ndarray, X: Any, none: float) -> np.ndarray:
        """Answers about missing cells, (rows, answers, d), as they are given: `none` where nothing is said."""
        return found

    def _labelled(self, cells: np.ndarray) -> dict[str, np.ndarray]:
        """Cells as columns of a file."""
        return dict(zip(self._column_names(), cells.T))

    def impute(
        self,
        X: Any,
        return_std: bool = False,
        *,
        interval: float | None = None,
        lowest: Any = None,
        whole: bool = True,
        out: Any = None,
    ) -> Any:
        """Fill missing cells with their expectation given the observed ones, categories with their most probable level.

        Expectations of columns of a table whose type holds whole numbers only are rounded. A level that the model does not know
        and takes as missing (``unknown="missing"``) stays what it is, and nothing is said of it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), table, path, Arrow data, Dask collection or source
            Rows; NaN is missing.
        return_std : bool, default=False
            Also return the standard deviation of each cell, 0 where observed; for a category, the probability that another
            level is the true one.
        interval : float, optional
            Also return, for every filled cell, the interval that holds it with this probability (at least this for a count,
            whose quantiles are whole numbers), and the probability of a filled level. Quantiles are exact, also where a cell
            may belong to either of two classes.
        lowest : float or array-like of shape (n_features,), optional
            Least values that filled cells and intervals may have, −inf for none; default what the columns showed at fit,
            where the model has a schema that says so.
        whole : bool, default=True
            Whether fills of counts are rounded to whole numbers, so that the filled table may be given back to `predict`; if not
            they are expectations, with decimals.
        out : path, optional
            A Parquet file to write the filled columns to, in a stream, instead of returning them.

        Returns
        -------
        filled : table of the same kind as X, or ndarray of shape (n_samples, n_features)
        std : ndarray of shape (n_samples, n_features)
            Only if `return_std`.
        low, high, probability : ndarray of shape (n_samples, n_features)
            Only with `interval`: the result is then an `Imputed`.
        """
        check_is_fitted(self)
        if return_std and interval is not None:
            raise ValueError(
                f"return_std=True and interval={interval!r} exclude each other; call impute once for each."
            )
        if out is not None and (return_std or interval is not None):
            asked = "return_std=True" if return_std else f"interval={interval!r}"
            raise ValueError(f"{asked} gives arrays, so it does not go with out; call impute once for each.")
        if interval is not None and not (isinstance(interval, numbers.Real) and 0 < interval < 1):
            raise ValueError(f"interval={interval!r} must be a probability between 0 and 1, both excluded.")
        fill = self._filler("std" if return_std else "mean" if interval is None else interval, lowest)
        source, possible = self._open(X), self._possible if whole else np.asarray
        if out is not None:
            check_out(X, out)
            with ParquetWriter(out) as writer:
                for part in source.map(fill):
                    writer.write(self._labelled(possible(part[:, 0])))
            return out
        found = self._collected(source, fill)
        filled = self._as_given(possible(found[:, 0]), X)
        found = self._answered(found, X, 0.0 if return_std else np.nan)
        if return_std:
            return filled, found[:, 1]
        return filled if interval is None else Imputed(filled, *np.moveaxis(found[:, 1:], 1, 0))

    def _filler(self, what: Any, lowest: Any = None) -> Callable[[Block], np.ndarray]:
        """A function of a block to the answers about its rows, (rows, answers, d); see `_answers`."""
        model, known, draws, learned = self._model(), self._knowledge(), self._uncertain(), self._calibration
        least = self._lowest() if lowest is None else np.broadcast_to(np.asarray(lowest, float), self.n_features_in_)
        family = model.family

        def fill(block: Block) -> np.ndarray:
            given, block, doubted = block, *_undoubted(block, learned)
            cells = block.missing_cells
            if what == "mean" and known is None and learned is None and len(draws) == 1:
                resp = _classes(model, draws[0], block)
                told = family.filled(draws[0].components, block, resp)[cells][None]
            elif len(cells[0]):
                each = [host(_classes(model, params, block)) for params in draws]
                resp = np.mean(each, axis=0)
                shared = [one[cells[0]] if known is None else known.shared(one[cells[0]], cells[1]) for one in each]
                laws = [family.law(params.components, block) for params in draws]
                law = type(laws[0]).pooled(laws) if len(laws) > 1 else laws[0]
                weight = np.hstack(shared) / len(draws)
                told = np.array(list(_answers(what, law, weight)))
                if learned is not None:
                    told = learned.apply(what, told, cells[1], law.probability(weight))
                    told[:, learned.not_applicable(host(given.X))[cells]] = np.nan
                if known is not None:
                    told[:, known.empty(block.X, resp)[cells]] = np.nan
            else:
                told = np.zeros((N_ANSWERS.get(what, 4), 0))
            if least is not None:  # of NaN, NaN
                bounded = told[: 1 if what in N_ANSWERS else 3]
                np.maximum(bounded, least[cells[1]], out=bounded)
            out = np.full((len(block), len(told), block.X.shape[1]), 0.0 if what == "std" else np.nan)
            out[:, 0] = host(given.X)
            if doubted is not None:
                asked = ~doubted[cells]
                cells, told = (cells[0][asked], cells[1][asked]), told[:, asked]
            out[cells[0], :, cells[1]] = told.T
            return like(given, out)

        return fill

    def draw_missing(self, X: Any, n_draws: int = 1, random_state: Any = None) -> Any:
        """Draw missing cells given the observed ones, for multiple imputation.

        Where rows are few for the parameters, each table has parameters of its own (see `draws_`), as proper multiple imputation
        asks.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or table
            Rows; NaN is missing.
        n_draws : int, default=1
            Number of completed tables.
        random_state : int, RandomState instance or None, default=None
            Seeds the draws; by default the estimator's own does.

        Returns
        -------
        ndarray of shape (n_draws, n_samples, n_features), or list of tables of the same kind as X
        """
        check_number("n_draws", n_draws, numbers.Integral, 1)
        check_is_fitted(self)
        if is_streamed(X):
            raise ValueError("draw_missing takes rows in memory; read the part you need first.")
        drawn = self._completed_rows(X, n_draws, self._rng(random_state))
        tables = [self._as_given(cells, X) for cells in drawn]
        return drawn if all(isinstance(table, np.ndarray) and table.dtype.kind == "f" for table in tables) else tables

    def _completed_rows(self, X: Any, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        """Completed rows, (n_draws, n_samples, n_features)."""
        return draw_cells(self, Block.of(self._validate(X, reset=False)), n_draws, rng)


def impute_cells(estimator: MissingCells, cells: np.ndarray, what: Any, lowest: Any = None) -> np.ndarray:
    """As `MissingCells.impute`, for rows that are numbers already: categories are codes, and stay so.

    Filled rows and, as `what` asks, their "std", or low, high and probability at a level: (answers, rows, d).
    """
    rows = np.flatnonzero(np.isnan(cells).any(axis=1))  # nothing is asked about the others
    out = np.full((N_ANSWERS.get(what, 4), *cells.shape), 0.0 if what == "std" else np.nan)
    out[0] = cells
    if len(rows):
        found = ArraySource(cells[rows], n_jobs=estimator.n_jobs).map(estimator._filler(what, lowest))
        out[:, rows] = np.moveaxis(np.concatenate(list(found)), 1, 0)
    return out


def draw_cells(
    estimator: MissingCells, block: Block, n_draws: int, rng: np.random.Generator, lowest: Any = None
) -> np.ndarray:
    """As `MissingCells.draw_missing`, for a block of rows."""
    model, known, learned, cells = estimator._model(), estimator._knowledge(), estimator._calibration, block.X
    block, _ = _undoubted(block, learned)
    least, empty = estimator._lowest() if lowest is None else lowest, np.False_
    uncertain = [(params, _classes(model, params, block)) for params in estimator._uncertain()]
    if known is not None:
        empty = known.empty(block.X, np.mean([host(resp) for _, resp in uncertain], axis=0))
        uncertain = [(params, known.shared_rows(resp, block.X, empty)) for params, resp in uncertain]
    # As many tables of each as of the others, or one more.
    chosen = rng.permutation(len(uncertain))[:n_draws]
    sizes = [len(part) for part in np.array_split(np.arange(n_draws), len(chosen))]
    parts = ((*uncertain[i], size) for i, size in zip(chosen, sizes))
    drawn = np.concatenate([model.draw_cells(params, block, resp, size, rng) for params, resp, size in parts])
    if least is not None:
        drawn = np.where(np.isnan(block.X), np.maximum(drawn, least), drawn)
    if learned is not None:
        empty = empty | (np.isnan(block.X) & learned.not_applicable(cells))
        drawn = np.where(np.isnan(block.X), np.clip(drawn, learned.least, learned.most), drawn)
    return like(block, np.where(np.isnan(cells), np.where(empty, np.nan, drawn), cells))


def _undoubted(block: Block, learned: Any) -> tuple[Block, np.ndarray | None]:
    """A block without the cells that its fills must not rest on, and which these are; itself and None where there are none."""
    doubted = None if learned is None else learned.doubted(host(block.X))
    if doubted is None or not doubted.any():
        return block, None
    return Block.of(np.where(doubted, np.nan, host(block.X))), doubted


N_ANSWERS = {"mean": 1, "std": 2}


def _answers(what: Any, law: Law, weight: np.ndarray) -> Iterator[np.ndarray]:
    """What is said of missing cells: expectations; with "std" deviations; with a level low, high and probability."""
    yield law.mean(weight)
    if what == "std":
        yield law.std(weight)
    elif what != "mean":
        yield law.quantile(0.5 * (1.0 - what), weight)
        yield law.quantile(0.5 * (1.0 + what), weight)
        yield law.probability(weight)


def _classes(model: Any, params: Any, block: Block) -> Any:
    """Probabilities of the classes of each row."""
    return model.posterior(params, block)[0] if model.n_classes > 1 else np.ones((len(block), 1))
