"""`learning_curve` and `validation_curve`: how a model does with more rows, and with other settings, with bands."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..checks import check_number
from ..table import Table
from .data import Data
from .estimates import Estimate
from .measures import Measure, measures_of
from .scoring import check_level
from .selecting import one_standard_error
from .splits import Split
from .validation import CrossValidation, _each, _judged, judged_folds, splits_of

__all__ = ["Curve", "learning_curve", "validation_curve"]


@dataclass(frozen=True, eq=False, repr=False)
class Curve:
    """A measure along the number of rows, or along a setting; made by `learning_curve` and `validation_curve`.

    Attributes
    ----------
    along : str
        "rows", or the setting.
    values : list
        Numbers of rows, or values of the setting.
    measure : Measure
    trials : list of CrossValidation or None
        At each value; None where nothing could be learned.
    failures : dict
        Why, by value.
    level : float
        Probability of the bands.
    """

    along: str
    values: list
    measure: Measure
    trials: list[CrossValidation | None]
    failures: dict[Any, str]
    level: float = 0.95

    @property
    def estimates(self) -> list[Estimate]:
        """The measure with its interval, at each value."""
        none = Estimate(float("nan"), float("nan"), float("nan"))
        return [none if each is None else each.estimate(level=self.level) for each in self.trials]

    @property
    def train(self) -> np.ndarray:
        """Means of the measure over the rows learned from."""
        return np.array([np.nan if each is None else np.nanmean(each.train_scores()) for each in self.trials])

    @property
    def best(self) -> Any:
        """The value of the best mean."""
        means = np.array([each.value for each in self.estimates])
        return self.values[int(np.nanargmax(means if self.measure.larger else -means))]

    def simplest(self, complexity: Sequence[float] | None = None) -> Any:
        """The first value within one standard error of the best, by the 1-SE rule.

        Parameters
        ----------
        complexity : sequence of float, optional
            What makes values less simple; default they are in order, the simplest first.
        """
        error = [np.nan if each is None else each.standard_error() for each in self.trials]
        means = [each.value for each in self.estimates]
        return self.values[one_standard_error(means, error, complexity=complexity, larger=self.measure.larger)]

    @property
    def table(self) -> Table:
        """A row for each value."""
        return Table(
            {self.along: value if isinstance(value, (int, float, str)) else str(value), self.measure.name: found.value,
             "low": found.low, "high": found.high, "train": None if np.isnan(train) else float(train),
             "failed": self.failures.get(place)}
            for place, (value, found, train) in enumerate(zip(self.values, self.estimates, self.train))
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"{self.measure.words} along {self.along}, {self.level:.0%} intervals\n{self.table}"

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve, and return the display; needs matplotlib."""
        from ..plot.curve import CurveDisplay

        return CurveDisplay(self).plot(ax)


def learning_curve(
    model: Any, X: Any, y: Any = None, sizes: Any = 5, *, cv: Any = 5, groups: Any = None, lengths: Any = None,
    sample_weight: Any = None, measure: Any = None, repeats: int = 1, level: float = 0.95, random_state: Any = 0,
    n_jobs: int | None = 1,
) -> Curve:  # fmt: skip
    """How a model does when it is learned from more and more rows, judged on the same rows always.

    Parameters
    ----------
    model, X, y, cv, groups, lengths, sample_weight, repeats, random_state, n_jobs
        As in `cross_validate`.
    sizes : int or sequence, default=5
        Rows to learn from (sequences, with `lengths`; groups are taken whole): how many sizes, evenly on a logarithmic scale up
        to all there are; or numbers, or shares, of them. The rows of a size are among those of the next.
    measure : str or callable, optional
        As `measures` there; one.
    level : float, default=0.95
        Probability of the bands.

    Returns
    -------
    Curve

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tacit.assess import learning_curve
    >>> from tacit.classification import GaussianBayes
    >>> X, y = load_iris(return_X_y=True)
    >>> learning_curve(GaussianBayes(), X, y, [30, 60, 120], measure="error").values
    [30, 60, 120]
    """
    check_level(level)
    data = Data.of(X, y, sample_weight, lengths, groups, model=model)
    taken = measures_of(measure, model, data)[0]
    splits = splits_of(data, model, cv, repeats, random_state)
    most = min(len(train) for train, _ in splits)
    numbers_of = _sizes(sizes, most)
    rng = np.random.default_rng(int(random_state) if isinstance(random_state, numbers.Integral) else 0)
    orders = [_mixed(train, data, model, rng) for train, _ in splits]
    trials: list[CrossValidation | None] = []
    failures: dict[Any, str] = {}
    for place, size in enumerate(numbers_of):
        parts = [(np.sort(order[:size]), test) for order, (_, test) in zip(orders, splits)]
        trials.append(_tried(model, data, taken, parts, n_jobs, failures, place))
    _check_any(trials, failures, model)
    return Curve("rows" if lengths is None else "sequences", numbers_of, taken, trials, failures, level)


def validation_curve(
    model: Any, X: Any, y: Any = None, *, setting: str, values: Sequence, cv: Any = 5, groups: Any = None,
    lengths: Any = None, sample_weight: Any = None, measure: Any = None, repeats: int = 1, level: float = 0.95,
    random_state: Any = 0, n_jobs: int | None = 1,
) -> Curve:  # fmt: skip
    """How a model does with other values of a setting, on rows held out and on those learned from (complexity curve).

    Parameters
    ----------
    model, X, y, cv, groups, lengths, sample_weight, repeats, random_state, n_jobs
        As in `cross_validate`.
    setting : str
        Which; `step__setting` of a pipeline.
    values : sequence
        The simplest first, for `Curve.simplest`.
    measure : str or callable, optional
        As `measures` there; one.
    level : float, default=0.95
        Probability of the bands.

    Returns
    -------
    Curve

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tacit.assess import validation_curve
    >>> from tacit.mixture import GaussianMixture
    >>> X, _ = load_iris(return_X_y=True)
    >>> curve = validation_curve(GaussianMixture(random_state=0), X, setting="n_components", values=[1, 2, 3])
    >>> bool(curve.best > 1)
    True
    """
    check_level(level)
    listed = list(values)
    if not listed:
        raise ValueError(f"values names no value of {setting!r}; give at least one.")
    if setting not in model.get_params():
        raise ValueError(
            f"setting={setting!r} is none of {type(model).__name__}; it has {', '.join(sorted(model.get_params()))}."
        )
    data = Data.of(X, y, sample_weight, lengths, groups, model=model)
    taken = measures_of(measure, model, data)[0]
    splits = splits_of(data, model, cv, repeats, random_state)
    trials: list[CrossValidation | None] = []
    failures: dict[Any, str] = {}
    for place, value in enumerate(listed):
        own = clone(model).set_params(**{setting: value})
        trials.append(_tried(own, data, taken, splits, n_jobs, failures, place))
    _check_any(trials, failures, model)
    return Curve(setting, listed, taken, trials, failures, level)


def _tried(
    model: Any, data: Data, measure: Measure, splits: Sequence[Split], n_jobs: int | None, failures: dict, place: int
) -> CrossValidation | None:
    """What one model came to; nothing where a fold failed, since the others are then no fair mean."""
    taken = {measure.name: measure}
    folds = _each(lambda split: _judged(model, data, split, taken, {}, True, False), splits, n_jobs)
    failed = [fold.failed for fold in folds if fold.failed]
    if failed:
        failures[place] = failed[0]
        return None
    return judged_folds(model, data, taken, folds)


def _check_any(trials: list, failures: dict, model: Any) -> None:
    if all(each is None for each in trials):
        raise ValueError(f"{type(model).__name__} could be learned and judged nowhere: {next(iter(failures.values()))}")


def _sizes(sizes: Any, most: int) -> list[int]:
    """Numbers of rows to learn from."""
    if isinstance(sizes, numbers.Integral) and not isinstance(sizes, bool):
        check_number("sizes", sizes, numbers.Integral, 2)
        least = max(min(10, most // 2), 2)
        return sorted({round(value) for value in np.geomspace(least, most, int(sizes)).tolist()})
    listed = [float(each) for each in sizes]
    if not listed:
        raise ValueError("sizes names no number of rows; give at least one.")
    shares = all(0 < each <= 1 for each in listed)
    found = sorted({max(round(each * most), 1) if shares else int(each) for each in listed})
    if found[-1] > most or found[0] < 1:
        wrong = found[-1] if found[-1] > most else found[0]
        raise ValueError(f"sizes holds {wrong}, but each fold has {most} rows to learn from; use 1 to {most}.")
    return found


def _mixed(train: np.ndarray, data: Data, model: Any, rng: np.random.Generator) -> np.ndarray:
    """Rows at random, classes in turn, so that few rows hold all of them; groups whole."""
    order = rng.permutation(train)
    by = data.classes(model) if data.groups is None else None
    if data.groups is not None:
        group = data.groups[order]
        first = {each: place for place, each in reversed(list(enumerate(group.tolist())))}
        return order[np.argsort([first[each] for each in group.tolist()], kind="stable")]
    if by is None:
        return order
    code = np.unique(by[order], return_inverse=True)[1]
    rank = np.zeros(len(order))
    for k in np.unique(code):  # each class is spread evenly along the order
        here = code == k
        rank[here] = (np.arange(here.sum()) + rng.random()) / here.sum()
    return order[np.argsort(rank, kind="stable")]
