"""`cross_validate`: recommenders compared on the same folds, with intervals of their differences.

Ratings are crossed: errors of one user go together, and so do errors about one item. Intervals of measures of ratings therefore
rest on both, with each user and each item left out once (jackknife),

    variance = variance over users + variance over items,    t with (Σn)² / Σn² − 1 degrees of freedom,

n the ratings of each user, or of each item, whichever gives fewer. The sum counts what is neither a user's nor an item's twice,
which errs on the wide side. Folds are no basis: they share the users and the items, so that their differences vary too little,
and t over folds covers as little as 62 % where it claims 95 %, with the variance of Nadeau and Bengio as little as 80 %. Lists
have one value a user; their intervals rest on users.

References
----------
Owen (2007), The pigeonhole bootstrap, Annals of Applied Statistics 1.
Carter, Schnepel and Steigerwald (2017), Asymptotic behavior of a t-test robust to cluster heterogeneity, Review of Economics and
Statistics 99.
Nadeau and Bengio (2003), Inference for the generalization error, Machine Learning 52.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
from scipy.stats import t as student
from sklearn.base import clone

from ..assess.data import named as names_of
from ..assess.estimates import Estimate
from ..checks import check_number
from .evaluation import RANKINGS, RATINGS, Evaluation, Sums, evaluate, measure
from .ratings import as_ratings
from .splits import folds as cut

__all__ = ["CrossValidation", "Difference", "Estimate", "cross_validate"]

BETTER_LARGER = ("log_score", *RANKINGS)
"""Measures of which more is better."""


@dataclass(frozen=True)
class Difference(Estimate):
    """How much a measure of one recommender exceeds that of another, on the same ratings.

    Attributes
    ----------
    value, low, high : float
    name, other : str
        The one and the other.
    measure : str
        Which measure.
    """

    name: str = ""
    other: str = ""
    measure: str = ""

    @property
    def better(self) -> bool:
        """Whether the first is better, clearly or not."""
        return (self.value > 0) == (self.measure in BETTER_LARGER)

    def to_dict(self) -> dict[str, Any]:
        """All figures by name."""
        told = {
            "name": self.name,
            "other": self.other,
            "measure": self.measure,
            "clear": self.clear,
            "better": self.better,
        }
        return super().to_dict() | told


@dataclass(frozen=True)
class CrossValidation:
    """Recommenders judged on the same folds.

    Attributes
    ----------
    names : list of str
        The recommenders.
    evaluations : dict of name to list of Evaluation
        For each fold.
    confidence : float
        The probability of the intervals.
    """

    names: list[str]
    evaluations: dict[str, list[Evaluation]]
    confidence: float = 0.95

    def __repr__(self) -> str:
        told = (f"{name} {found.value:.4f}" for name in self.names if (found := self.estimate(name)) is not None)
        return f"CrossValidation({len(self.evaluations[self.names[0]])} folds; rmse: {', '.join(told) or 'none'})"

    def estimate(self, name: str, measure: str = "rmse") -> Estimate | None:
        """A measure over all folds with its interval; None where a recommender does not tell what is needed."""
        return self._interval(measure, name)

    def difference(self, name: str, other: str, measure: str = "rmse") -> Difference | None:
        """How much a measure of one recommender exceeds that of another, with its interval; None where one lacks it."""
        found = self._interval(measure, name, other)
        return (
            None
            if found is None
            else Difference(found.value, found.low, found.high, name=name, other=other, measure=measure)
        )

    def best(self, measure: str = "rmse") -> str:
        """The recommender with the best value of a measure."""
        told = {name: found.value for name in self.names if (found := self.estimate(name, measure)) is not None}
        if not told:
            raise ValueError(f"none of {', '.join(self.names)} tells {measure}; choose another measure.")
        return (max if measure in BETTER_LARGER else min)(told, key=lambda name: told[name])

    def table(self) -> dict[str, list]:
        """Columns of a table with a row for each recommender and fold: what `pandas.DataFrame` takes."""
        rows = [
            {"model": name, "fold": fold} | {key: getattr(found, key) for key in (*RATINGS, *RANKINGS)}
            for name in self.names for fold, found in enumerate(self.evaluations[name], 1)
        ]  # fmt: skip
        return {key: [row[key] for row in rows] for key in rows[0]}

    def to_dict(self) -> dict[str, Any]:
        """Estimates of all measures, differences from the first recommender and every fold, as plain numbers."""
        every = (*RATINGS, *RANKINGS)
        estimates = {
            name: {key: found.to_dict() for key in every if (found := self.estimate(name, key))} for name in self.names
        }
        others = [
            found.to_dict() for name in self.names[1:] for key in every if (found := self.difference(name, self.names[0], key))
        ]  # fmt: skip
        parts = {name: [each.to_dict() for each in found] for name, found in self.evaluations.items()}
        return {"confidence": self.confidence, "estimates": estimates, "differences": others, "folds": parts}

    def _interval(self, name: str, *models: str) -> Estimate | None:
        """A measure of one recommender, or that of one minus that of another."""
        for model in models:
            if model not in self.names:
                raise ValueError(f"there is no recommender {model!r}; there are {', '.join(self.names)}.")
        if name not in (*RATINGS, *RANKINGS):
            raise ValueError(f"measure={name!r} is unknown; use one of {', '.join((*RATINGS, *RANKINGS))}.")
        sums = [self._sums[model] for model in models]
        if name in RATINGS:
            column = RATINGS.index(name)
            sides = [[each.user[:, :, column] for each in sums], [each.item[:, :, column] for each in sums]]
        else:
            sides = [[_per_user(each.lists[:, :, RANKINGS.index(name)]) for each in sums]]
        return interval(name, sides, self.confidence)

    @cached_property
    def _sums(self) -> dict[str, Sums]:
        """Sums over all folds."""
        parts = {name: [each.sums for each in self.evaluations[name] if each.sums is not None] for name in self.names}
        return {name: reduce(add, each) for name, each in parts.items()}


def _per_user(sums: np.ndarray) -> np.ndarray:
    """The mean over folds of each user's lists, who then counts once."""
    times = np.maximum(sums[:, 1], 1.0)
    return sums / times[:, None]


def interval(name: str, sides: list[list[np.ndarray]], confidence: float) -> Estimate | None:
    """An interval of a measure, or of the difference of two.

    Parameters
    ----------
    name : str
        The measure.
    sides : list of lists of (n, 2) arrays
        For users, and for items, the sums of losses and counts of each of them, of one or of two recommenders.
    confidence : float
        Probability of the interval.
    """

    def value(sums: list[np.ndarray]) -> np.ndarray:
        told = [measure(name, each) for each in sums]
        return told[0] - told[1] if len(told) > 1 else told[0]

    estimate = float(value([each.sum(axis=0) for each in sides[0]]))
    if np.isnan(estimate):
        return None
    variance, freedom = 0.0, np.inf
    for side in sides:
        counted = side[0][:, 1] > 0
        n, count = int(counted.sum()), side[0][counted, 1]
        if n < 2:
            continue
        without = value([each.sum(axis=0) - each[counted] for each in side])
        variance += (n - 1) / n * float(((without - without.mean()) ** 2).sum())
        freedom = min(freedom, count.sum() ** 2 / (count**2).sum() - 1)
    if not np.isfinite(freedom) or freedom < 1e-6:
        return Estimate(estimate, -np.inf, np.inf)
    half = float(student.ppf(0.5 + confidence / 2, freedom) * np.sqrt(variance))
    return Estimate(estimate, estimate - half, estimate + half)


def cross_validate(
    models: Any, ratings: Any, folds: Any = 5, *, by: str = "random", k: int = 10, relevant: float | None = None,
    confidence: float = 0.95, random_state: int | None = 0, **along: Any,
) -> CrossValidation:  # fmt: skip
    """Judge recommenders on ratings that they were not fitted to, all on the same folds.

    Parameters
    ----------
    models : Recommender, list or dict of name to Recommender
        What is compared; each is cloned and fitted for each fold.
    ratings : Ratings, or any table of them
        What to learn from and to judge by.
    folds : int or array-like of int, default=5
        How many, or the number of the fold that each rating is in, as in `tacit.recommend.folds`.
    by : {"random", "user"}, default="random"
        Whether ratings are dealt to folds, or users with all their ratings.
    k, relevant
        As in `tacit.recommend.evaluate`.
    confidence : float, default=0.95
        Probability of the intervals.
    random_state : int, optional
        Seed of the folds.
    **along
        What `fit` takes besides, such as features of items.

    Returns
    -------
    CrossValidation
    """
    check_number("confidence", confidence, float, 0.0, 1.0)
    ratings, named = as_ratings(ratings), names_of(models)
    if not named:
        raise ValueError("there is no recommender to judge; give at least one.")
    found: dict[str, list[Evaluation]] = {name: [] for name in named}
    for train, test in cut(ratings, folds, by, random_state=random_state):
        for name, model in named.items():
            found[name].append(evaluate(clone(model).fit(train, **along), test, k=k, relevant=relevant))
    return CrossValidation(list(named), found, confidence)
