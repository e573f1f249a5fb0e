"""`RandomForestRegressor`, `ExtraTreesRegressor`: E[y | x] = Σ_b f_b(x) / B, and the distribution of y given x.

P(y ≤ t | x) = Σ_i w_i(x) 1[y_i ≤ t],    w_i(x) = mean over trees of the share of row i in the leaf of x
"""

from __future__ import annotations

import math
import numbers
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from ..base.settings import KW_ONLY, settings
from ..checks import check_number
from ..declared import Numbers, Spec
from ..kernels import lazy
from ..source.threads import all_of, slices, thread_count
from ..tree.growth import Targets
from ..tree.regressor import CRITERIA, DecisionTreeRegressor, ExtraTreeRegressor, open_numbers
from .forest import ForestEstimator

__all__ = ["ExtraTreesRegressor", "RandomForestRegressor"]

compiled = lazy("leaves")
CALIBRATED = 2000
"""Rows by which intervals are calibrated, at most."""
KNEE = 0.8
"""The share between quantiles up to which intervals widen by quantiles, and from which on by a distance."""


@settings
class RandomForestRegressor(RegressorMixin, ForestEstimator):
    """Regression by trees on rows drawn with replacement; tells intervals and quantiles of y, if asked to keep the rows' leaves.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, default="squared_error"
        As in :class:`tacit.tree.DecisionTreeRegressor`.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features, max_leaf_nodes, \
    min_impurity_decrease, ccp_alpha, monotonic_cst, categorical_features
        As in :class:`tacit.tree.DecisionTreeRegressor`; max_features=1.0 by default.
    bootstrap : bool, default=True
        Whether each tree is grown on rows drawn with replacement.
    oob_score : bool or callable, default=False
        Whether rows out of bag are predicted, with R² or a score of truth and prediction.
    n_jobs : int, optional
        Threads; None is all cores. The forest is the same for any number of them.
    random_state : int, RandomState instance or None
        Seeds what is drawn.
    verbose : int, default=0
        Taken for scikit-learn's sake.
    warm_start : bool, default=False
        Whether `fit` adds trees to those that there are.
    max_samples : int or float, optional
        Rows that are drawn for a tree; default as many as there are.
    intervals : bool, default=False
        Whether the leaves of the rows are kept, for `predict_quantiles` and `predict_interval`.

    Attributes
    ----------
    trees_ : list of Tree
    estimators_ : list of DecisionTreeRegressor
        The same as estimators.
    feature_importances_ : ndarray of shape (n_features,)
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Of rows by the trees that did not see them; 0 where all did.
    oob_score_ : float
    oob_curve_ : ndarray of shape (n_estimators,)
        Mean squared error out of bag of the first trees.
    seeds_ : ndarray of int, (n_estimators,)
        What the rows and columns of each tree were drawn by.
    n_drawn_, n_outputs_ : int
    levels_ : list of list
        Levels of the columns of categories.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
    targets_ : ndarray of shape (n_samples,)
    row_leaves_, bags_ : ndarray of int, (n_samples, n_estimators)
        With `intervals`, the targets, the leaves of their rows, and how often rows are in the bag of each tree.

    References
    ----------
    Breiman (2001), Random forests.
    Meinshausen (2006), Quantile regression forests.
    Romano, Patterson and Candès (2019), Conformalized quantile regression.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from tacit.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomForestRegressor(intervals=True, min_samples_leaf=5, random_state=0).fit(X[:300], y[:300])
    >>> low, high = forest.predict_interval(X[300:], level=0.9)
    >>> bool(((low <= y[300:]) & (y[300:] <= high)).mean() > 0.85)
    True
    """

    n_estimators: int = 100
    _: KW_ONLY
    criterion: str = "squared_error"
    intervals: bool = False

    _saved: ClassVar[dict[str, Spec]] = ForestEstimator._saved | {
        "oob_prediction_": Numbers(lambda self: "n" if self.n_outputs_ == 1 else "n o", needed=False),
        "targets_": Numbers("n", needed=lambda self: self.intervals),
        "row_leaves_": Numbers("n B", low=0, kind="i", needed=lambda self: self.intervals),
        "bags_": Numbers("n B", low=0, kind="i", needed=lambda self: self.intervals),
    }  # fmt: skip
    _criteria = CRITERIA

    def _check_settings(self) -> None:
        super()._check_settings()
        if not isinstance(self.intervals, (bool, np.bool_)):
            raise ValueError(f"intervals={self.intervals!r} must be True or False.")
        if self.intervals and not self.bootstrap:
            raise ValueError("intervals=True needs rows out of bag, which are only there with bootstrap=True; set it.")

    def _tree_class(self) -> Any:
        return DecisionTreeRegressor

    def _targets(self, y: Any, n_rows: int) -> tuple[Targets, np.ndarray]:
        self._n_rows = n_rows
        return Targets.numbers(open_numbers(self, y, n_rows), self.criterion), np.ones(n_rows)

    def predict(self, X: Any) -> np.ndarray:
        """The mean of the trees' predictions, (n_samples,) or (n_samples, n_outputs)."""
        value = self._mean_value(X)[:, :, 0]
        return value[:, 0] if self.n_outputs_ == 1 else value

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, n_more: int | None = None) -> Self:
        """Add trees that are grown on one more batch of rows; the trees there are stay.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        n_more : int, optional
            How many trees; default `n_estimators`.

        Returns
        -------
        self
        """
        self._check_settings()
        n_more = self.n_estimators if n_more is None else n_more
        check_number("n_more", n_more, numbers.Integral, 1)
        return self._add_trees(X, y, sample_weight, n_more, hasattr(self, "trees_"))

    def _score_out_of_bag(self, X: np.ndarray, targets: Targets, weight: np.ndarray) -> None:
        y = (targets.y + targets.origin[:, None]).T

        def error(total: np.ndarray, count: np.ndarray) -> float:
            seen = count > 0
            return float(((total[seen] / count[seen, None] - y[seen]) ** 2).mean()) if seen.any() else np.nan

        total, count, self.oob_curve_ = self._sums_out_of_bag(X, error)
        found = total / np.maximum(count, 1)[:, None]
        one = self.n_outputs_ == 1
        self.oob_prediction_ = found[:, 0] if one else found
        score = self.oob_score if callable(self.oob_score) else r2_score
        self.oob_score_ = float(score(y[:, 0] if one else y, self.oob_prediction_))

    def _truth(self, y: Any, n_rows: int) -> np.ndarray:
        return np.asarray(y, dtype=np.float64).reshape(n_rows, -1)

    def _errors(self, value: np.ndarray, told: np.ndarray) -> float:
        return float(((value[:, :, 0] - told) ** 2).mean())

    # The distribution of y

    def _after(self, X: np.ndarray, y: Any, targets: Targets, weight: np.ndarray) -> None:
        super()._after(X, y, targets, weight)
        if not self.intervals:
            return
        if self.n_outputs_ > 1:
            raise ValueError(
                f"intervals=True is for one output, but y has {self.n_outputs_} columns; fit a forest for each."
            )
        self.targets_ = targets.y[0] + targets.origin[0]
        self.row_leaves_ = self._forest.leaves(X, self.n_jobs)
        self.bags_ = np.stack([self._counts(int(seed), len(X)) for seed in self.seeds_], axis=1).astype(np.int32)

    def _by_leaf(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where the rows of each leaf begin, the rows by their rank among the targets, and their shares of the leaf."""
        if "_rows_by_leaf" not in self.__dict__:
            rank = np.empty(len(self.targets_), np.int64)
            rank[np.argsort(self.targets_, kind="stable")] = np.arange(len(rank))
            inside = self.bags_.ravel() > 0
            leaf = self.row_leaves_.ravel()[inside].astype(np.int64)
            row = np.repeat(rank, self.bags_.shape[1])[inside]
            weight = self.bags_.ravel()[inside].astype(np.float64)
            order = np.argsort(leaf, kind="stable")
            n_steps = len(self._forest.steps)
            first = np.concatenate([[0], np.cumsum(np.bincount(leaf, minlength=n_steps))])
            total = np.bincount(leaf, weights=weight, minlength=n_steps)
            self._rows_by_leaf = first, row[order].astype(np.int64), (weight / total[leaf])[order]
        return self._rows_by_leaf

    def _weights(self, leaves: np.ndarray, counted: np.ndarray) -> np.ndarray:
        """The weight of each target, in their order, for rows by their leaves in the trees that count."""
        out = np.zeros((len(leaves), len(self.targets_)))
        used = compiled.spread_weights(*self._by_leaf(), leaves, counted, out)
        return out / np.maximum(used, 1)[:, None]

    def _quantiles_of(self, leaves: np.ndarray, counted: np.ndarray, levels: np.ndarray) -> np.ndarray:
        """Quantiles of y, (rows, levels), by the rows' leaves in the trees that count."""
        ordered, found = np.sort(self.targets_), np.empty((len(leaves), len(levels)))
        self._by_leaf()  # made once, before threads ask for it

        def part(rows: slice) -> None:
            weights = self._weights(leaves[rows], counted[rows])
            cumulated = np.cumsum(weights, axis=1)
            for k, level in enumerate(levels):
                at = (cumulated < level * cumulated[:, -1:] * (1 - 1e-12)).sum(axis=1)
                found[rows, k] = ordered[np.minimum(at, len(ordered) - 1)]

        all_of(part, slices(len(leaves), len(ordered)), thread_count(self.n_jobs))
        return found

    def _told_intervals(self, X: Any) -> np.ndarray:
        X = self._rows(X)
        if not hasattr(self, "targets_"):
            raise ValueError("the leaves of the rows were not kept; fit with intervals=True.")
        return X

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> np.ndarray:
        """Quantiles of y given x, from the rows in its leaves (Meinshausen).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        quantiles : array-like of float
            Shares of y below, from 0 to 1.

        Returns
        -------
        ndarray of shape (n_samples, n_quantiles)
        """
        X, levels = self._told_intervals(X), np.atleast_1d(np.asarray(quantiles, dtype=np.float64))
        bad = levels[~((levels >= 0) & (levels <= 1))]
        if bad.size:
            raise ValueError(f"quantiles holds {bad[0]:g}; quantiles lie between 0 and 1.")
        leaves = self._forest.leaves(X, self.n_jobs)
        return self._quantiles_of(leaves, np.ones(leaves.shape, bool), levels)

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Bounds between which y lies with a probability: quantiles, chosen such that they hold as many targets out of bag.

        Where far quantiles do not hold enough, both are moved apart by the same distance. Intervals of a higher level contain
        those of a lower one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        level : float, default=0.9
            The probability, between 0 and 1.

        Returns
        -------
        low, high : ndarray of shape (n_samples,)
            Infinite where there are too few rows for the level.
        """
        if not 0 < level < 1:
            raise ValueError(f"level={level!r} is not a probability between 0 and 1, both excluded.")
        X, reach = self._told_intervals(X), self._reach(float(level))
        if np.isinf(reach):
            return np.full(len(X), -np.inf), np.full(len(X), np.inf)
        inside, beyond = min(reach, KNEE), max(reach - KNEE, 0.0)
        leaves = self._forest.leaves(X, self.n_jobs)
        found = self._quantiles_of(
            leaves, np.ones(leaves.shape, bool), np.array([0.5 - 0.5 * inside, 0.5 + 0.5 * inside])
        )
        return found[:, 0] - beyond, found[:, 1] + beyond

    def _reach(self, level: float) -> float:
        """The reach that holds ⌈(n + 1) level⌉ of n targets out of bag; infinite of too few targets.

        Up to `KNEE` it is the share between the two quantiles; what is above moves both ends outwards.
        """
        if "_reaches" not in self.__dict__:
            n = len(self.targets_)
            rows = np.unique(np.linspace(0, n - 1, min(n, CALIBRATED)).astype(int))
            counted = self.bags_[rows] == 0
            known = counted.any(axis=1)
            self._reaches = np.sort(self._reaches_of(rows[known], counted[known]))
        rank = math.ceil((len(self._reaches) + 1) * level - 1e-9)
        return float(self._reaches[rank - 1]) if rank <= len(self._reaches) else np.inf

    def _reaches_of(self, rows: np.ndarray, counted: np.ndarray) -> np.ndarray:
        """The least reach that holds the target of each row, by the trees that count."""
        ordered, y, found = np.sort(self.targets_), self.targets_[rows], np.empty(len(rows))
        below, upto = np.searchsorted(ordered, y), np.searchsorted(ordered, y, side="right")
        self._by_leaf()

        def part(at: slice) -> None:
            weights = self._weights(self.row_leaves_[rows[at]], counted[at])
            cumulated = np.concatenate([np.zeros((len(weights), 1)), np.cumsum(weights, axis=1)], axis=1)
            cumulated /= cumulated[:, -1:]
            place = np.arange(len(weights))
            share = np.maximum(1.0 - 2.0 * cumulated[place, upto[at]], 2.0 * cumulated[place, below[at]] - 1.0)
            least, most = (
                ordered[np.minimum((cumulated[:, 1:] < end * (1 - 1e-12)).sum(axis=1), len(ordered) - 1)]
                for end in (0.5 - 0.5 * KNEE, 0.5 + 0.5 * KNEE)
            )
            outside = np.maximum(least - y[at], y[at] - most)
            found[at] = np.where(outside > 0, KNEE + outside, np.clip(share + 1e-12, 0.0, KNEE))

        all_of(part, slices(len(rows), len(ordered)), thread_count(self.n_jobs))
        return found


@settings
class ExtraTreesRegressor(RandomForestRegressor):
    """Regression by trees whose thresholds are drawn: the best of one drawn threshold for each column drawn.

    Intervals need bootstrap=True: trees that saw a row say nothing of how far others lie.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, default="squared_error"
        As in :class:`tacit.tree.DecisionTreeRegressor`.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features, max_leaf_nodes, \
    min_impurity_decrease, ccp_alpha, monotonic_cst, categorical_features
        As in :class:`tacit.tree.DecisionTreeRegressor`; max_features=1.0 by default.
    bootstrap : bool, default=False
        Whether each tree is grown on rows drawn with replacement.
    oob_score : bool or callable, default=False
        Whether rows out of bag are predicted, with R² or a score of truth and prediction.
    n_jobs : int, optional
        Threads; None is all cores. The forest is the same for any number of them.
    random_state : int, RandomState instance or None
        Seeds what is drawn.
    verbose : int, default=0
        Taken for scikit-learn's sake.
    warm_start : bool, default=False
        Whether `fit` adds trees to those that there are.
    max_samples : int or float, optional
        Rows that are drawn for a tree; default as many as there are.
    intervals : bool, default=False
        As in :class:`RandomForestRegressor`.

    Attributes
    ----------
    trees_ : list of Tree
    estimators_ : list of DecisionTreeRegressor
        The same as estimators.
    feature_importances_ : ndarray of shape (n_features,)
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Of rows by the trees that did not see them; 0 where all did.
    oob_score_ : float
    oob_curve_ : ndarray of shape (n_estimators,)
        Mean squared error out of bag of the first trees.
    seeds_ : ndarray of int, (n_estimators,)
        What the rows and columns of each tree were drawn by.
    n_drawn_, n_outputs_ : int
    levels_ : list of list
        Levels of the columns of categories.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
    targets_, row_leaves_, bags_
        As in :class:`RandomForestRegressor`.

    References
    ----------
    Geurts, Ernst and Wehenkel (2006), Extremely randomized trees.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from tacit.ensemble import ExtraTreesRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> ExtraTreesRegressor(random_state=0).fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.4
    True
    """

    n_estimators: int = 100
    _: KW_ONLY
    bootstrap: bool = False
    splitter = "random"

    def _tree_class(self) -> Any:
        return ExtraTreeRegressor
