"""`cross_validate`: how well a model does on rows that it has not seen, whatever the model answers.

Models of classes and numbers, of densities, of sequences, topics and ratings, those that fill cells, and any estimator of
scikit-learn are learned and judged by one loop; trials of the library are this one.
"""

from __future__ import annotations

import numbers
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from ..checks import check_choice, check_number
from ..table import Table
from .data import Data, learned
from .estimates import Estimate, by_folds, by_rows, together
from .measures import Measure, measures_of
from .scoring import check_level
from .selecting import one_standard_error
from .splits import Split, divide

__all__ = ["CrossValidation", "Fold", "cross_validate", "judged_folds", "splits_of"]


@dataclass(eq=False)
class Fold:
    """What became of one fold.

    Attributes
    ----------
    train, test : int array
        Units learned from and judged.
    scores, train_scores : dict of str to float
        Means over the rows judged, and over those learned from where asked for.
    rows : dict of str to array
        What each judged row came to, of measures that tell it.
    fit_seconds, score_seconds : float
    settings : dict
        What was chosen within the rows learned from, where there was a choice.
    model : estimator or None
        Where it is kept.
    failed : str
        Why there is nothing; empty where there is.
    """

    train: np.ndarray
    test: np.ndarray
    scores: dict[str, float] = field(default_factory=dict)
    train_scores: dict[str, float] = field(default_factory=dict)
    rows: dict[str, np.ndarray] = field(default_factory=dict)
    fit_seconds: float = 0.0
    score_seconds: float = 0.0
    settings: dict[str, Any] = field(default_factory=dict)
    model: Any = None
    failed: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation:
    """How well a model did on rows held out; made by `cross_validate`.

    Attributes
    ----------
    model : estimator
        As it was given, not fitted.
    measures : dict of str to Measure
    folds : list of Fold
    row_scores : dict of str to ndarray of shape (n_samples,)
        What each row came to, averaged over repeats; NaN where it was not judged. Of measures that tell it.
    weight, cluster : ndarray or None
        Weights of rows, and which belong together.
    n_train : float
        Rows that models were learned from, on average.
    ordered : bool
        Whether folds are stretches of time, so that neighbouring rows are judged together and intervals rest on folds.
    """

    model: Any
    measures: dict[str, Measure]
    folds: list[Fold]
    row_scores: dict[str, np.ndarray]
    weight: np.ndarray | None
    cluster: np.ndarray | None
    n_train: float
    ordered: bool

    @property
    def failures(self) -> list[str]:
        """Why folds came to nothing."""
        return [fold.failed for fold in self.folds if fold.failed]

    @property
    def chosen(self) -> list[dict]:
        """Settings that were chosen without each fold."""
        return [fold.settings for fold in self.folds]

    def scores(self, measure: str | None = None) -> np.ndarray:
        """A measure of each fold, NaN where it failed; default the first measure."""
        name = self._name(measure)
        return np.array([fold.scores.get(name, np.nan) for fold in self.folds])

    def train_scores(self, measure: str | None = None) -> np.ndarray:
        """The same of the rows learned from."""
        name = self._name(measure)
        return np.array([fold.train_scores.get(name, np.nan) for fold in self.folds])

    def standard_error(self, measure: str | None = None) -> float:
        """Standard deviation of the folds' scores over the root of their number, as the 1-SE rule takes it."""
        scores = self.scores(measure)
        scores = scores[~np.isnan(scores)]
        return float(scores.std(ddof=1) / np.sqrt(len(scores))) if len(scores) > 1 else float("nan")

    def estimate(self, measure: str | None = None, level: float = 0.95) -> Estimate:
        """A measure over all folds, with its interval.

        Parameters
        ----------
        measure : str, optional
            Default the first.
        level : float, default=0.95
            Probability of the interval.
        """
        name = self._name(measure)
        return self._interval(
            self.measures[name].scale, self.row_scores.get(name), self.scores(name), check_level(level)
        )

    def difference(self, other: CrossValidation, measure: str | None = None, level: float = 0.95) -> Estimate:
        """How much a measure of this model exceeds that of another on the same folds, with its interval.

        Parameters
        ----------
        other : CrossValidation
            Made with the same `cv`.
        measure, level
            As in `estimate`.
        """
        name = self._name(measure)
        same = len(self.folds) == len(other.folds) and all(
            np.array_equal(a.test, b.test) and np.array_equal(a.train, b.train) for a, b in zip(self.folds, other.folds)
        )
        if not same:
            raise ValueError("the models were judged on different folds; give both the same cv and random_state.")
        mine, theirs = self.row_scores.get(name), other.row_scores.get(name)
        rows = None if mine is None or theirs is None else mine - theirs
        return self._interval("linear", rows, self.scores(name) - other.scores(name), check_level(level))

    def _interval(self, scale: str, rows: np.ndarray | None, folds: np.ndarray, level: float) -> Estimate:
        if rows is not None and not self.ordered:
            return by_rows(rows, self.weight, self.cluster, self.n_train, level, scale=scale)
        return by_folds(list(folds), self.n_train, float(np.mean([len(fold.test) for fold in self.folds])), level)

    def _name(self, measure: str | None) -> str:
        if measure is None:
            return next(iter(self.measures))
        if measure not in self.measures:
            raise ValueError(f"measure={measure!r} was not taken; there are {', '.join(self.measures)}.")
        return measure

    @property
    def table(self) -> Table:
        """A row for each fold."""
        return Table(
            {"fold": k, "n_train": len(fold.train), "n_test": len(fold.test)}
            | {name: fold.scores.get(name) for name in self.measures}
            | {f"train {name}": fold.train_scores.get(name) for name in self.measures if fold.train_scores}
            | {name: str(value) for name, value in fold.settings.items()}
            | {"seconds": fold.fit_seconds, "failed": fold.failed or None}
            for k, fold in enumerate(self.folds, 1)
        )

    def __repr__(self) -> str:
        lines = [f"CrossValidation of {type(self.model).__name__}, {len(self.folds)} folds"]
        for name, measure in self.measures.items():
            found = self.estimate(name)
            lines.append(f"{measure.words}: {found.value:.4g} (95 % interval {found.low:.4g} to {found.high:.4g})")
        lines += [f"{len(self.failures)} folds failed: {self.failures[0]}"] if self.failures else []
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Estimates and folds as plain numbers."""
        estimates = {name: self.estimate(name).to_dict() for name in self.measures}
        return {"model": type(self.model).__name__, "estimates": estimates, "folds": list(self.table)}


def cross_validate(
    model: Any, X: Any, y: Any = None, *, cv: Any = 5, groups: Any = None, lengths: Any = None, sample_weight: Any = None,
    measures: Any = None, repeats: int = 1, grid: Any = None, inner: Any = 3, rule: str = "best", train_scores: bool = False,
    keep_models: bool = False, random_state: Any = 0, n_jobs: int | None = 1,
) -> CrossValidation:  # fmt: skip
    """Learn a model from parts of the rows, and judge it on the others.

    Parameters
    ----------
    model : estimator
        Of this library or of scikit-learn, supervised or not; cloned for each fold.
    X : array-like, frame, sparse matrix, list, Corpus or Ratings
        Rows in memory.
    y : array-like, optional
        Targets.
    cv : int, scikit-learn splitter, array-like or iterable, default=5
        How many folds: at random, classes spread evenly, or whole groups or sequences. Or who divides, as
        `tacit.assess.BlockedKFold` and scikit-learn's `TimeSeriesSplit` do in time; or the fold of each row; or pairs.
    groups : array-like of shape (n_samples,), optional
        Rows that belong together; none is learned from while another of its group is judged.
    lengths : array-like of int, optional
        Steps of each sequence, where rows are steps; sequences are never cut.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of rows, in learning and judging.
    measures : str, callable, or several of these, optional
        How to judge; default by what the model answers. See `tacit.assess.measures.MEASURES`; scikit-learn's scorers work too.
    repeats : int, default=1
        How often `cv` folds are drawn anew.
    grid : dict or list of dict, optional
        Settings to choose from within the rows learned from (nested cross-validation): what is told is then how well the choice
        does.
    inner : int or splitter, default=3
        Folds of that choice.
    rule : {"best", "1se"}, default="best"
        What is chosen: the best by the first measure, or the first of the grid within one standard error of it.
    train_scores : bool, default=False
        Whether models are judged on the rows learned from as well.
    keep_models : bool, default=False
        Whether fitted models are kept.
    random_state : int or None, default=0
        Draws the folds.
    n_jobs : int or None, default=1
        Threads that folds run on.

    Returns
    -------
    CrossValidation

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tacit.assess import cross_validate
    >>> from tacit.mixture import GaussianMixture
    >>> X, y = load_iris(return_X_y=True)
    >>> found = cross_validate(GaussianMixture(3, random_state=0), X, cv=3)
    >>> list(found.measures), len(found.folds)
    (['log_likelihood'], 3)
    """
    check_number("repeats", repeats, numbers.Integral, 1)
    check_choice("rule", rule, ("best", "1se"))
    data = Data.of(X, y, sample_weight, lengths, groups, model=model)
    taken = {each.name: each for each in measures_of(measures, model, data)}
    splits = splits_of(data, model, cv, repeats, random_state)
    settings = list(ParameterGrid(grid)) if grid is not None else []

    def run(split: Split) -> Fold:
        best = _chosen(model, data.take(split[0]), settings, taken, inner, rule, random_state) if settings else {}
        own = clone(model).set_params(**best) if best else model
        return _judged(own, data, split, taken, best, train_scores, keep_models)

    return judged_folds(model, data, taken, _each(run, splits, n_jobs))


def splits_of(data: Data, model: Any, cv: Any, repeats: int, random_state: Any) -> list[Split]:
    """Units to learn from and to judge, of every fold of every repeat."""
    found: list[Split] = []
    for repeat in range(repeats):
        seed = random_state if not isinstance(random_state, numbers.Integral) else int(random_state) + repeat
        found += divide(cv, data.n_units, y=data.classes(model), groups=data.groups, random_state=seed, what=data.what)
    return found


def judged_folds(model: Any, data: Data, measures: Mapping[str, Measure], folds: Sequence[Fold]) -> CrossValidation:
    """What folds came to, together; where all failed, their error."""
    if all(fold.failed for fold in folds):
        raise ValueError(f"{type(model).__name__} could be learned and judged on no fold: {folds[0].failed}")
    rows: dict[str, np.ndarray] = {}
    for name in measures:
        if all(fold.failed or name in fold.rows for fold in folds):
            parts = []
            for fold in folds:
                if not fold.failed:
                    each = np.full(data.n_rows, np.nan)
                    each[data.rows(fold.test)] = fold.rows[name]
                    parts.append(each)
            rows[name] = together(parts)
    cluster = data.groups
    if data.lengths is not None:
        of_unit = np.arange(data.n_units) if cluster is None else cluster
        cluster = np.repeat(of_unit, data.lengths)
    n_train = float(np.mean([len(data.rows(fold.train)) for fold in folds]))
    ordered = len(folds) > 1 and data.groups is None and all(_stretch(fold.test) for fold in folds) and data.n_units > 3
    return CrossValidation(model, dict(measures), list(folds), rows, data.weight, cluster, n_train, ordered)


def _stretch(units: np.ndarray) -> bool:
    return len(units) > 1 and bool((np.diff(units) == 1).all())


def _each(run: Any, splits: Sequence[Split], n_jobs: int | None) -> list[Fold]:
    if n_jobs == 1 or len(splits) == 1:
        return [run(split) for split in splits]
    from joblib import Parallel, delayed

    return list(Parallel(n_jobs=n_jobs or -1, prefer="threads")(delayed(run)(split) for split in splits))


def _judged(
    model: Any, data: Data, split: Split, measures: Mapping[str, Measure], settings: Mapping = MappingProxyType({}),
    train_scores: bool = False, keep: bool = False,
) -> Fold:  # fmt: skip
    """Learn from one part, judge on the other; an error is told and ends this fold alone."""
    fold = Fold(*split, settings=dict(settings))
    train, test = data.take(split[0]), data.take(split[1])
    started = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of many fits some stop early or see few rows of a class
            fitted = learned(model, train)
            fold.fit_seconds = time.perf_counter() - started
            for name, measure in measures.items():
                fold.scores[name], rows = _scored(measure, fitted, test)
                if rows is not None:
                    fold.rows[name] = rows
                if train_scores:
                    fold.train_scores[name] = _scored(measure, fitted, train)[0]
    except (ValueError, np.linalg.LinAlgError) as error:
        fold.failed = _told(error)
        fold.scores, fold.rows = {}, {}
        return fold
    fold.score_seconds = time.perf_counter() - started - fold.fit_seconds
    fold.model = fitted if keep else None
    return fold


def _told(error: Exception) -> str:
    """The first line of an error, with what helps where cells are missing."""
    line = str(error).splitlines()[0] if str(error) else type(error).__name__
    if "contains NaN" in line and "X" in line and ";" not in line:
        line = f"{line.rstrip('.')}; put an imputer before it: make_pipeline(tacit.impute.GaussianImputer(), model)."
    return line


def _scored(measure: Measure, model: Any, part: Data) -> tuple[float, np.ndarray | None]:
    """The mean of a measure, and what each row came to, where it is told."""
    found = np.asarray(measure.of(model, part), dtype=float)
    if found.ndim == 0:
        return float(found), None
    if part.lengths is not None and len(found) == part.n_units != part.n_rows:
        found = np.repeat(found / np.maximum(part.lengths, 1), part.lengths)  # shared by the steps of a sequence
    if len(found) != part.n_rows:
        return float(np.nanmean(found)), None
    known = ~np.isnan(found)
    if not known.any():
        return float("nan"), found
    weight = None if part.weight is None else part.weight[known]
    if weight is not None and not weight.any():
        return float("nan"), found
    return float(np.average(found[known], weights=weight)), found


def _chosen(
    model: Any,
    data: Data,
    settings: list[dict],
    measures: Mapping[str, Measure],
    inner: Any,
    rule: str,
    random_state: Any,
) -> dict:
    """The settings that do best within some rows."""
    name, measure = next(iter(measures.items()))
    splits = splits_of(data, model, inner, 1, random_state)
    scores = np.full((len(settings), len(splits)), np.nan)
    failed = ""
    for k, each in enumerate(settings):
        own = clone(model).set_params(**each)
        for j, split in enumerate(splits):
            fold = _judged(own, data, split, {name: measure})
            failed = fold.failed or failed
            scores[k, j] = fold.scores.get(name, np.nan)
    means = scores.mean(axis=1)
    if np.isnan(means).all():
        raise ValueError(f"none of the {len(settings)} settings could be learned within a fold: {failed}")
    if rule == "1se" and len(splits) > 1:
        return settings[one_standard_error(scores, larger=measure.larger)]
    return settings[int(np.nanargmax(means if measure.larger else -means))]
