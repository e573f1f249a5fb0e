"""`compare`: several models on the same held-out rows: who does best, and what the data cannot tell apart.

    difference of A and B = mean over rows of (score of A − score of B), with the interval of `tacit.assess.estimates`

p-values of all pairs are corrected by Holm's method; intervals hold each for itself. On several data sets models are ranked on
each, and Friedman's test and Nemenyi's tell which mean ranks differ.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.stats import rankdata

from ..table import Table
from ..words import joined, number
from .adjusting import adjust
from .blocks import Nemenyi, friedman, nemenyi
from .data import Data, named
from .estimates import Estimate
from .measures import Measure, measures_of
from .result import TestResult
from .result import _equal as p_text
from .scoring import check_level
from .validation import CrossValidation, _each, _judged, judged_folds, splits_of

__all__ = ["ModelComparison", "compare"]


@dataclass(frozen=True, eq=False, repr=False)
class ModelComparison:
    """Models compared on the same folds; made by `compare`, printed as a table and a sentence.

    Attributes
    ----------
    names : list of str
        The models.
    measures : dict of str to Measure
        How they were judged; the first one decides.
    trials : dict of str to dict of str to CrossValidation
        By data set and model; those that could not be learned are absent.
    failures : dict of (str, str) to str
        By data set and model, why.
    level : float
        Probability of the intervals, and 1 − the level of the tests.
    """

    names: list[str]
    measures: dict[str, Measure]
    trials: dict[str, dict[str, CrossValidation]]
    failures: dict[tuple[str, str], str]
    level: float = 0.95

    @property
    def measure(self) -> Measure:
        """What decides."""
        return next(iter(self.measures.values()))

    def _only(self) -> dict[str, CrossValidation]:
        if len(self.trials) > 1:
            raise ValueError(
                f"there are {len(self.trials)} data sets, {', '.join(self.trials)}; take `scores`, `friedman` and `nemenyi`."
            )
        return next(iter(self.trials.values()))

    @cached_property
    def scores(self) -> np.ndarray:
        """The deciding measure, (data sets, models); NaN where a model could not be learned."""
        return np.array(
            [
                [trials[name].estimate().value if name in trials else np.nan for name in self.names]
                for trials in self.trials.values()
            ]
        )

    @property
    def ranks(self) -> np.ndarray:
        """Ranks of the models on each data set, 1 the best; those that could not be learned come last."""
        worse = np.where(np.isnan(self.scores), np.inf, -self.scores if self.measure.larger else self.scores)
        return rankdata(worse, axis=1)

    @property
    def best(self) -> str:
        """The model of the best mean, or of the best mean rank over several data sets."""
        return self.names[int(np.argmin(self.ranks.mean(axis=0)))]

    @cached_property
    def differences(self) -> dict[tuple[str, str], Estimate]:
        """Every pair's difference of the deciding measure, on one data set; p-values are Holm's for all pairs."""
        trials = self._only()
        pairs = list(itertools.combinations([name for name in self.names if name in trials], 2))
        found = [trials[a].difference(trials[b], level=self.level) for a, b in pairs]
        p = np.array([each.p_value for each in found])
        known = ~np.isnan(p)
        p[known] = adjust(p[known])
        return {pair: Estimate(each.value, each.low, each.high, float(own)) for pair, each, own in zip(pairs, found, p)}

    def difference(self, name: str, other: str) -> Estimate:
        """How much the measure of one model exceeds that of another; the p-value is corrected for all pairs."""
        for each in (name, other):
            if each not in self.names:
                raise ValueError(f"there is no model {each!r}; there are {', '.join(self.names)}.")
        if (name, other) in self.differences:
            return self.differences[name, other]
        if (other, name) not in self.differences:
            failed = name if any(key[1] == name for key in self.failures) else other
            raise ValueError(f"{failed} could not be learned, so that nothing is compared with it.")
        found = self.differences[other, name]
        return Estimate(-found.value, -found.high, -found.low, found.p_value)

    @cached_property
    def friedman(self) -> TestResult:
        """Whether the models do equally well over data sets."""
        self._check_several()
        return friedman(self.ranks, alpha=1.0 - self.level)

    @cached_property
    def nemenyi(self) -> Nemenyi:
        """Which pairs of mean ranks differ over data sets."""
        self._check_several()
        return nemenyi(self.ranks, self.names, best="low", alpha=1.0 - self.level)

    def _check_several(self) -> None:
        if len(self.trials) < 2:
            raise ValueError("there is 1 data set, which tells of no ranks over data sets; take `differences`.")

    @property
    def table(self) -> Table:
        """A row for each model, the best first."""
        if len(self.trials) > 1:
            return self._over_data_sets()
        trials, best, ranks = self._only(), self.best, self.ranks[0]
        rows = []
        for place in np.argsort(ranks, kind="stable"):
            name = self.names[place]
            row: dict[str, Any] = {"model": name, "rank": float(ranks[place])}
            trial = trials.get(name)
            for key in self.measures:
                found = None if trial is None else trial.estimate(key, self.level)
                row |= {
                    key: found and found.value,
                    f"{key} low": found and found.low,
                    f"{key} high": found and found.high,
                }
            apart = None if trial is None or name == best else self.difference(name, best)
            row |= {"difference": apart and apart.value, "low": apart and apart.low, "high": apart and apart.high,
                    "p": apart and apart.p_value}  # fmt: skip
            row["seconds"] = None if trial is None else float(sum(fold.fit_seconds for fold in trial.folds))
            row["failed"] = next((why for (_, own), why in self.failures.items() if own == name), None)
            rows.append(row)
        return Table(rows)

    def _over_data_sets(self) -> Table:
        ranks = self.ranks.mean(axis=0)
        return Table(
            {"model": self.names[k], "mean rank": float(ranks[k])}
            | {data: None if np.isnan(row[k]) else float(row[k]) for data, row in zip(self.trials, self.scores)}
            for k in np.argsort(ranks, kind="stable")
        )

    @property
    def sentence(self) -> str:
        """What the data can and cannot tell apart."""
        return _over_data_sets(self) if len(self.trials) > 1 else _on_one(self)

    def __repr__(self) -> str:
        return f"{self.table}\n{self.sentence}"

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain numbers."""
        told: dict[str, Any] = {"measure": self.measure.name, "models": list(self.table), "sentence": self.sentence}
        if len(self.trials) == 1:
            told["differences"] = [
                {"model": a, "other": b, **found.to_dict(), "p": found.p_value}
                for (a, b), found in self.differences.items()
            ]
        return told

    def plot(self, ax: Any = None) -> Any:
        """Draw the models with intervals of their differences from the best; needs matplotlib."""
        from ..plot.comparison import ComparisonDisplay

        return ComparisonDisplay(self).plot(ax)


def compare(
    models: Any, X: Any, y: Any = None, *, cv: Any = 5, groups: Any = None, lengths: Any = None, sample_weight: Any = None,
    measures: Any = None, repeats: int = 1, level: float = 0.95, random_state: Any = 0, n_jobs: int | None = 1,
) -> ModelComparison:  # fmt: skip
    """Judge models on rows that they were not learned from, all on the same folds.

    Parameters
    ----------
    models : list of estimators, or dict of name to estimator
        Of this library and of scikit-learn.
    X : array-like, frame or other rows in memory; or dict of name to (X, y) or X
        One data set, or several.
    y : array-like, optional
        Targets, where there is one data set.
    cv, groups, lengths, sample_weight, repeats, random_state, n_jobs
        As in `cross_validate`.
    measures : str, callable, or several of these, optional
        How to judge, the first decides; default what all models can be judged by: probabilities of classes, squared errors,
        held-out log-likelihood, hidden cells and so on.
    level : float, default=0.95
        Probability of the intervals.

    Returns
    -------
    ModelComparison

    References
    ----------
    Demšar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tacit.assess import compare
    >>> from tacit.mixture import GaussianMixture
    >>> X, _ = load_iris(return_X_y=True)
    >>> found = compare({"three": GaussianMixture(3, random_state=0), "one": GaussianMixture(1)}, X)
    >>> found.best, found.difference("three", "one").clear
    ('three', np.True_)
    """
    check_level(level)
    known = named(models)
    if len(known) < 2:
        raise ValueError(f"there is {len(known)} model; compare two or more, or judge one with cross_validate.")
    sets = _data_sets(X, y)
    several = len(sets) > 1
    if several and (groups is not None or lengths is not None or sample_weight is not None):
        raise ValueError("groups, lengths and sample_weight are those of one data set; compare on each by itself.")
    taken: dict[str, Measure] = {}
    trials: dict[str, dict[str, CrossValidation]] = {}
    failures: dict[tuple[str, str], str] = {}
    for name, (cells, target) in sets.items():
        first = next(iter(known.values()))
        data = Data.of(cells, target, sample_weight, lengths, groups, model=first)
        taken = taken or {each.name: each for each in _shared(measures, known, data)}
        splits = splits_of(data, first, cv, repeats, random_state)
        trials[name] = {}
        for own, model in known.items():
            run = partial(_judged, model, data, measures=taken)
            folds = _each(run, splits, n_jobs)
            if failed := [fold.failed for fold in folds if fold.failed]:
                failures[name, own] = failed[0]
            else:
                trials[name][own] = judged_folds(model, data, taken, folds)
        if not trials[name]:
            raise ValueError(f"no model could be learned and judged: {next(iter(failures.values()))}")
    return ModelComparison(list(known), taken, trials, failures, level)


def _data_sets(X: Any, y: Any) -> dict[str, tuple[Any, Any]]:
    if not isinstance(X, Mapping):
        return {"data": (X, y)}
    if y is not None:
        raise ValueError("several data sets carry their own targets: give X as {name: (X, y)}, and y=None.")
    if not X:
        raise ValueError("X holds no data set; give at least one.")
    return {str(name): each if isinstance(each, tuple) and len(each) == 2 else (each, None) for name, each in X.items()}


def _shared(asked: Any, models: dict[str, Any], data: Data) -> list[Measure]:
    """The measures that were asked for, or those that all models have."""
    usual = {name: measures_of(asked, model, data) for name, model in models.items()}
    first, *others = usual.values()
    common = [each for each in first if all(each.name in {own.name for own in other} for other in others)]
    if not common:
        told = joined(f"{name} by {found[0].name}" for name, found in usual.items())
        raise ValueError(f"no measure fits all models: {told}; say by what they are compared with measures=.")
    return common


def _on_one(found: ModelComparison) -> str:
    (trials,), best, words = found.trials.values(), found.best, found.measure.words
    apart: list[str] = []
    open_: list[str] = []
    for name in sorted(
        (each for each in trials if each != best), key=lambda each: found.ranks[0][found.names.index(each)]
    ):
        gap = found.difference(name, best)
        told = (
            f"{name} ({number(trials[name].estimate().value)}; difference {number(gap.value)}, {found.level:.0%} interval "
            f"{number(gap.low)} to {number(gap.high)}, p {p_text(gap.p_value)})"
        ).replace("%", " %")
        sure = gap.p_value <= 1.0 - found.level
        more = ""
        if not sure and gap.value != 0 and np.isfinite(gap.low):
            times = (0.5 * (gap.high - gap.low) / abs(gap.value)) ** 2
            more = f"; about {times:.0f} times as many rows would be needed" if 1.5 < times < 1000 else ""
        (apart if sure else open_).append(told[:-1] + more + ")")
    start = f"{best} does best ({words} {number(trials[best].estimate().value)})"
    parts = []
    if apart:
        parts.append(f"is told apart from {joined(apart)}")
    if open_:
        parts.append(
            f"{'but ' if apart else ''}is not told apart from {joined(open_)}, which does not show that they do equally well"
        )
    text = f"{start} and {', '.join(parts)}." if parts else f"{start}; there is no other to compare it with."
    for (_, name), why in found.failures.items():
        text += f" {name} could not be learned: {why.rstrip('.')}."
    return text


def _over_data_sets(found: ModelComparison) -> str:
    n, ranks = len(found.trials), found.ranks.mean(axis=0)
    text = f"Over {n} data sets {found.best} has the best mean rank, {number(float(ranks.min()), 3)}. {found.friedman.sentence} "
    return text + found.nemenyi.sentence
