"""`ConformalRegressor`: intervals around any regressor that hold what they promise, whatever the distribution.

    E_i = max(l(x_i) − y_i, y_i − h(x_i)) / u(x_i),    [l(x) − u(x) Q, h(x) + u(x) Q],  Q the ⌈level (n + 1)⌉-th of the E_i

l = h is the prediction, or both ends of the regressor's own interval (conformalised quantiles); u is 1 or a scale that is
learned. Split: E of rows aside. CV+: each E_i by the model without the fold of row i, and the interval's ends are ranks of
l₍₋ᵢ₎(x) − u E_i and h₍₋ᵢ₎(x) + u E_i over i. Where rows are exchangeable, split intervals hold y with a probability of at least
`level`, for any n; those of CV+ and the jackknife+ of at least 2 level − 1, in practice about `level`.

References
----------
Lei, G'Sell, Rinaldo, Tibshirani and Wasserman (2018), Distribution-free predictive inference for regression, JASA 113.
Romano, Patterson and Candès (2019), Conformalized quantile regression, NeurIPS 32.
Barber, Candès, Ramdas and Tibshirani (2021), Predictive inference with the jackknife+, Annals of Statistics 49.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ..base.settings import KW_ONLY, settings
from ..checks import check_choice
from .data import Data, learned
from .exchangeable import Grouping, fewest, warn_of_few, weighted_quantile
from .scoring import check_level
from .splits import divide, hold_out

__all__ = ["Conformal", "ConformalRegressor"]

METHODS = ("split", "cv+", "jackknife+", "prefit")
LEAST_SCALE = 0.2
"""Times the mean error, below which no learned scale is taken."""
MOST = 10_000_000
"""Entries of a table of rows by calibration rows at a time."""


class Conformal(MetaEstimatorMixin, BaseEstimator):
    """What intervals and sets share: models learned without the rows that calibrate them."""

    estimator: Any
    method: str
    level: float
    cv: Any
    calibration: float
    by: Any
    weight: Callable | None
    random_state: Any

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        inner = get_tags(self._default() if self.estimator is None else self._one())
        tags.input_tags.allow_nan, tags.input_tags.sparse = inner.input_tags.allow_nan, inner.input_tags.sparse
        return tags

    def _one(self) -> Any:
        return self.estimator[0] if isinstance(self.estimator, (tuple, list)) else self.estimator

    def _default(self) -> Any:
        raise NotImplementedError

    def _check_settings(self) -> None:
        check_choice("method", self.method, METHODS)
        check_level(self.level)
        check_level(self.calibration, "calibration")
        if self.weight is not None and self.method in ("cv+", "jackknife+"):
            raise ValueError(f"weight needs rows that are set aside; use method='split' instead of {self.method!r}.")

    def _calibrated(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        """Learn the models, and score every row by one that did not see it."""
        self._check_settings()
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        base = self._default() if self.estimator is None else self.estimator
        data = Data.of(X, self._target(y), sample_weight, groups=groups)
        if data.n_rows < 2:
            raise ValueError(
                f"Found array with {data.n_rows} sample(s); some must be learned from and others calibrate."
            )
        if self.method == "prefit":
            splits = [(np.arange(0), np.arange(data.n_rows))]
            self.estimators_ = [base]
        else:
            splits = self._splits(data)
            self.estimators_ = [self._learned(base, data.take(train)) for train, _ in splits]
            whole = self.method in ("cv+", "jackknife+")
            self.estimator_ = self._learned(base, data) if whole else self.estimators_[0]
        if self.method == "prefit":
            self.estimator_ = base
        rows = np.concatenate([test for _, test in splits])
        self.fold_ = np.repeat(np.arange(len(splits)), [len(test) for _, test in splits])
        parts = [data.take(test) for _, test in splits]
        self.scores_ = np.concatenate([self._scores(model, part) for model, part in zip(self.estimators_, parts)])
        taken = data.take(rows)
        self.groups_ = self._calibration_groups(taken)
        self.weights_ = self._weights(taken.X)
        first = self._one_of(self.estimator_)
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(first, name):
                setattr(self, name, getattr(first, name))

    def _splits(self, data: Data) -> list:
        if self.method == "split":
            n = data.n_rows
            held = min(max(round(self.calibration * n), 1), n - 1)
            seed = self.random_state
            rng = np.random.default_rng(int(seed) if isinstance(seed, numbers.Integral) else None)
            if data.groups is not None:  # whole groups aside, until there are enough rows
                names = np.random.default_rng(0).permutation(np.unique(data.groups))
                sizes = np.cumsum([(data.groups == name).sum() for name in names])
                aside = np.isin(data.groups, names[: max(int(np.searchsorted(sizes, held)) + 1, 1)])
                if aside.all():
                    raise ValueError(
                        f"groups leaves nothing to learn from: {len(names)} groups; give more, or cv='cv+'."
                    )
                return [(np.flatnonzero(~aside), np.flatnonzero(aside))]
            return [hold_out(n, held, rng)]
        n = data.n_units
        cv = n if self.method == "jackknife+" else min(self.cv, n) if isinstance(self.cv, numbers.Integral) else self.cv
        if isinstance(cv, numbers.Integral) and data.groups is not None:
            cv = min(int(cv), len(np.unique(data.groups)))
        return divide(cv, n, y=self._folds_by(data), groups=data.groups, random_state=self.random_state)

    def _folds_by(self, data: Data) -> Any:
        return None

    def _target(self, y: Any) -> Any:
        return y

    def _learned(self, base: Any, data: Data) -> Any:
        return learned(base, data)

    def _one_of(self, fitted: Any) -> Any:
        return fitted

    def _scores(self, model: Any, part: Data) -> np.ndarray:
        raise NotImplementedError

    def _calibration_groups(self, data: Data) -> np.ndarray:
        return Grouping(self.by)(data.X)

    def _weights(self, X: Any) -> np.ndarray:
        """How much likelier rows are where predictions are asked for than where the model was learned."""
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if self.weight is None:
            return np.ones(n)
        weight = np.asarray(self.weight(X), dtype=float)
        if weight.shape != (n,) or not (np.isfinite(weight) & (weight >= 0)).all():
            raise ValueError(
                f"weight gives {weight.shape} for {n} rows; it must give one finite number of at least 0 for each."
            )
        return weight


@settings
class ConformalRegressor(RegressorMixin, Conformal):
    """Intervals of any regressor, whose coverage does not rest on its being right.

    Parameters
    ----------
    estimator : estimator or pair of estimators, optional
        Any regressor; default `tacit.linear_model.Ridge`. With ``ends="interval"`` one with `predict_interval`, or a pair that
        predicts the lower and the upper quantile.
    method : {"cv+", "split", "jackknife+", "prefit"}, default="cv+"
        Rows are scored by models without their fold; those aside by one model; each by a model without it; or all, by an
        estimator that is fitted already.
    level : float, default=0.9
        Probability of the intervals, unless another is asked for.
    cv : int or splitter, default=10
        Folds of "cv+".
    calibration : float, default=0.5
        Share of the rows that "split" sets aside.
    ends : {"mean", "interval"}, default="mean"
        Whether intervals are made around the prediction, or from the estimator's own intervals (conformalised quantiles).
    scale : None, "std" or estimator, default=None
        What misses are told in units of: none, the standard deviation that `predict(X, return_std=True)` tells, or what an
        estimator learns of absolute errors, so that intervals are wider where more is unsure.
    symmetric : bool, default=True
        Whether both ends move by as much; if not, each leaves out half, which suits skewed targets.
    by : callable, int or str, optional
        Groups of rows that are calibrated each by itself, so that the level holds in each (Mondrian): a function of X, or a
        column.
    weight : callable, optional
        Ratio of the density of rows where predictions are asked for to that where the model was learned, a function of X.
    random_state : int or None, default=0
        Draws the rows.

    Attributes
    ----------
    estimator_ : estimator
        What predicts; of "cv+" and "jackknife+" learned from all rows.
    estimators_ : list
        Models without the rows they score.
    scores_ : ndarray of shape (n_calibration, 2)
        How far each row is below and above, in units of the scale.
    fold_, groups_, weights_ : ndarray of shape (n_calibration,)
        The model, the group and the weight of each.

    Notes
    -----
    Rows must be exchangeable: not so in time, or with rows of one group on both sides; give `groups` to `fit`, or a `cv`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from tacit.assess import ConformalRegressor, interval_coverage
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ConformalRegressor(random_state=0).fit(X[:300], y[:300])
    >>> print(interval_coverage(y[300:], *model.predict_interval(X[300:], level=0.8)))
    81.7% of 142 inside (74.5% to 87.2%), mean width 157.5
    """

    estimator: Any = None
    _: KW_ONLY
    method: str = "cv+"
    level: float = 0.9
    cv: Any = 10
    calibration: float = 0.5
    ends: str = "mean"
    scale: Any = None
    symmetric: bool = True
    by: Any = None
    weight: Callable | None = None
    random_state: Any = 0

    def _default(self) -> Any:
        from ..linear_model import Ridge

        return Ridge()

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice("ends", self.ends, ("mean", "interval"))
        if isinstance(self.scale, str):
            check_choice("scale", self.scale, ("std",))
        if self.ends == "interval" and self.scale is not None:
            raise ValueError("scale is for ends='mean': intervals of the estimator have widths already; leave it out.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn the estimator, and how far it misses rows that it has not seen.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            For the estimator.
        groups : array-like of shape (n_samples,), optional
            Rows that belong together; none is scored by a model that saw another of its group.

        Returns
        -------
        self
        """
        self._calibrated(X, y, sample_weight, groups)
        return self

    def _target(self, y: Any) -> Any:
        target = np.asarray(y)
        if target.ndim != 1 and target.shape[1:] != (1,):
            raise ValueError(f"y has shape {target.shape}; intervals are those of one target.")
        return column_or_1d(target, warn=True)

    def _learned(self, base: Any, data: Data) -> Any:
        if isinstance(base, (tuple, list)):
            return tuple(learned(each, data) for each in base)
        model = learned(base, data)
        if self.scale is None or isinstance(self.scale, str):
            return model
        error = np.abs(np.asarray(data.y) - model.predict(data.X))
        return model, clone(self.scale).fit(data.X, error), LEAST_SCALE * float(error.mean())

    def _one_of(self, fitted: Any) -> Any:
        return fitted[0] if isinstance(fitted, tuple) else fitted

    def _ends(self, model: Any, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """l, h and u of rows."""
        if self.ends == "interval":
            if isinstance(model, (tuple, list)):
                low, high = (np.asarray(each.predict(X), dtype=float) for each in model)
            elif hasattr(model, "predict_interval"):
                low, high = (np.asarray(each, dtype=float) for each in model.predict_interval(X, self.level))
            else:
                raise ValueError(
                    f"{type(model).__name__} tells no intervals; give ends='mean', or a pair that predicts two quantiles."
                )
            return np.minimum(low, high), np.maximum(low, high), np.ones(len(low))
        own = self._one_of(model)
        if self.scale == "std":
            mean, unit = (np.asarray(each, dtype=float) for each in own.predict(X, return_std=True))
        else:
            mean = np.asarray(own.predict(X), dtype=float)
            # The floor comes from rows learned from alone, or calibration rows would not be exchangeable with others.
            unit = np.ones(len(mean)) if self.scale is None else np.maximum(model[1].predict(X), model[2])
        return mean, mean, np.maximum(unit, 1e-300)

    def _scores(self, model: Any, part: Data) -> np.ndarray:
        low, high, unit = self._ends(model, part.X)
        y = np.asarray(part.y, dtype=float)
        found = np.column_stack([(low - y) / unit, (y - high) / unit])
        if np.isnan(found).any():
            raise ValueError(
                f"{type(self._one_of(model)).__name__} predicts NaN of a calibration row; no interval follows."
            )
        return found if not self.symmetric else np.repeat(found.max(axis=1, keepdims=True), 2, axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """What the estimator predicts; the middle of its interval, where it is one of quantiles."""
        check_is_fitted(self, "scores_")
        if isinstance(self.estimator_, tuple) and self.ends == "interval":
            return 0.5 * (self.estimator_[0].predict(X) + self.estimator_[1].predict(X))
        return self._one_of(self.estimator_).predict(X)

    def predict_interval(self, X: Any, level: float | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Ends between which the target of a row lies with a probability of `level`.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        level : float, optional
            Default that of the settings.

        Returns
        -------
        low, high : ndarray of shape (n_samples,)
            Infinite where there are too few calibration rows for the level, which is told by a warning.
        """
        check_is_fitted(self, "scores_")
        level = check_level(self.level if level is None else level)
        told = np.array([self._ends(model, X) for model in self.estimators_])  # (models, 3, rows)
        tail = level if self.symmetric else 0.5 * (1.0 + level)
        low, high = np.full(told.shape[2], -np.inf), np.full(told.shape[2], np.inf)
        group, own = Grouping(self.by)(X), self._weights(X)
        for name in np.unique(group):
            rows, among = np.flatnonzero(group == name), np.flatnonzero(self.groups_ == name)
            if len(among) < fewest(tail) and self.weight is None:
                warn_of_few(len(among), level, "intervals are infinite", None if self.by is None else name)
                continue
            if len(self.estimators_) > 1:
                low[rows], high[rows] = self._between(told[:, :, rows], among, tail)
                continue
            (l, h, unit), weight = told[0][:, rows], self.weights_[among]
            down, up = (weighted_quantile(self.scores_[among, k], weight, own[rows], tail) for k in (0, 1))
            low[rows], high[rows] = l - unit * down, h + unit * up
        if self.weight is not None and np.isinf(high).any():
            warn_of_few(float(self.weights_.sum()), level, f"{int(np.isinf(high).sum())} intervals are infinite")
        crossed = low > high
        low[crossed] = high[crossed] = 0.5 * (low[crossed] + high[crossed])
        return low, high

    def _between(self, told: np.ndarray, among: np.ndarray, tail: float) -> tuple[np.ndarray, np.ndarray]:
        """Ends by ranks over calibration rows, each with the model that did not see it."""
        n, m = len(among), told.shape[2]
        fold, scores = self.fold_[among], self.scores_[among]
        rank = int(np.ceil(tail * (n + 1) - 1e-9))
        low, high = np.empty(m), np.empty(m)
        for part in np.array_split(np.arange(m), max(n * m // MOST, 1)):
            l, h, unit = (each[:, part][fold] for each in np.moveaxis(told, 1, 0))  # (n, rows)
            low[part] = np.partition(l - unit * scores[:, :1], n - rank, axis=0)[n - rank]
            high[part] = np.partition(h + unit * scores[:, 1:], rank - 1, axis=0)[rank - 1]
        return low, high
