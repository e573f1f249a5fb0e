"""`GradientBoostingRegressor` and `GradientBoostingClassifier`: drop-ins for scikit-learn's HistGradientBoosting.

regression      ŷ = f(x), or exp f(x) with the Poisson and gamma losses
two classes     P(y = 1 | x) = 1 / (1 + exp(−f(x)))
K classes       P(y = k | x) = exp f_k(x) / Σ_l exp f_l(x)
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ..assess.exchangeable import limits
from ..assess.splits import divide
from ..base.settings import KW_ONLY, settings
from ..base.supervised import coded_classes
from ..base.targets import refuse_text
from ..checks import as_numpy, check_choice, check_number
from ..declared import Names, Numbers, Spec
from .boosting import Boosting
from .losses import CLASSES, NUMBERS
from .stopping import Rows

__all__ = [
    "GradientBoostingClassifier", "GradientBoostingRegressor", "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
]  # fmt: skip


@settings
class GradientBoostingRegressor(RegressorMixin, Boosting):
    """Regression by a sum of trees, each grown on the slopes of the loss at the sum so far.

    Works where scikit-learn's `HistGradientBoostingRegressor` does, with the same settings; missing cells are taken as they are,
    each split learning where they go. Beyond it: sums of gradients are exact, so that the model is the same for any number of
    threads; Huber's loss; rows are drawn; rows are read from files block by block, 2 bytes a cell in memory; intervals come from
    rows held out; every prediction can be explained (`tacit.tree.shap_values`).

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma"}, default="squared_error"
    quantile : float, optional
        The quantile of loss="quantile".
    alpha : float, default=0.9
        With loss="huber", the share of residuals that are taken as squares.
    interval_cv : int, optional
        Folds whose rows are predicted by models learned without them, so that `predict_interval` is available.
    learning_rate : float, default=0.1
        η: by what each tree is multiplied.
    max_iter : int, default=100
        Most rounds.
    max_leaf_nodes : int or None, default=31
        Most leaves of a tree; the split that gains most comes first.
    max_depth : int or None, default=None
        Most splits above a leaf.
    min_samples_leaf : int, default=20
        Fewest rows of a leaf.
    l2_regularization : float, default=0
        λ.
    max_features : float, default=1.0
        Share of the columns that each split may ask for, drawn anew.
    subsample : float, default=1.0
        Share of the rows that each tree is grown on, drawn without replacement.
    max_bins : int, default=255
        Bins of a column of numbers, beside that of missing cells.
    categorical_features : {"from_dtype"}, list or None, default="from_dtype"
        Columns that hold categories, which are split into sets: by their types, or a mask, numbers or names. Levels that were not
        seen are missing.
    monotonic_cst : list of {-1, 0, 1} or dict, optional
        Columns with which predictions must not rise (−1) or fall (1).
    interaction_cst : {"pairwise", "no_interactions"} or list of sets, optional
        Columns that may be asked for on one path.
    warm_start : bool, default=False
        Whether `fit` adds trees to those that are there.
    early_stopping : bool or "auto", default="auto"
        End where scores no longer rise; "auto" above 10,000 rows.
    scoring : str, callable or None, default="loss"
        What is to rise.
    validation_fraction : float, int or None, default=0.1
        Rows held out to tell scores; None takes those learned from.
    n_iter_no_change : int, default=10
        Rounds without a better score before the end.
    tol : float, default=1e-7
        By how much a score is better.
    verbose : int, default=0
    random_state : int, RandomState or None, default=None
        Draws rows held out, rows that bins are made from, `max_features` and `subsample`.
    n_jobs : int, optional
        Threads; None is all cores. Results do not depend on it.

    Attributes
    ----------
    trees_ : list of list of tacit.tree.Tree
        A list for each round, with a tree for each output.
    baseline_ : ndarray
        The constant that the sum begins with.
    n_iter_ : int
    train_score_, validation_score_ : ndarray
        Scores before the first round and after each, where it may end early.
    feature_importances_ : ndarray of shape (n_features,)
        Shares of what all splits gained.
    is_categorical_ : ndarray of bool or None
    errors_ : ndarray
        Errors y − ŷ of rows held out, in order, with `interval_cv`.
    do_early_stopping_ : bool
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Friedman (2001), Greedy function approximation: a gradient boosting machine. Annals of Statistics 29.
    Ke et al. (2017), LightGBM: a highly efficient gradient boosting decision tree. NeurIPS 30.
    Vovk, Gammerman and Shafer (2005), Algorithmic Learning in a Random World. Springer.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.ensemble import GradientBoostingRegressor
    >>> X = np.arange(200.0)[:, None]
    >>> model = GradientBoostingRegressor().fit(X, X[:, 0] > 100)
    >>> model.predict([[50.0], [150.0], [np.nan]]).round(2)
    array([0., 1., 0.])
    """

    loss: str = "squared_error"
    _: KW_ONLY
    quantile: float | None = None
    alpha: float = 0.9
    interval_cv: int | None = None

    _saved: ClassVar[dict[str, Spec]] = Boosting._saved | {"errors_": Numbers("e", needed=False)}

    @property
    def _loss_setting(self) -> float:
        return self.alpha if self.loss == "huber" else 0.5 if self.quantile is None else float(self.quantile)

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice("loss", self.loss, NUMBERS)
        if self.quantile is not None:
            check_number("quantile", self.quantile, (int, float, np.number), 0, 1)
        elif self.loss == "quantile":
            raise ValueError("quantile=None is no quantile; loss='quantile' needs one from 0 to 1.")
        check_number("alpha", self.alpha, (int, float, np.number), 0, 1)
        check_number("interval_cv", self.interval_cv, int, 2, also=(None,))

    def _coded(self, y: Any) -> np.ndarray:
        if y is not None:
            refuse_text(self, y)
            y = column_or_1d(as_numpy(y), warn=True)
        return self._suited(self._checked_targets(y)[:, 0])

    _coded_again = _coded

    def _suited(self, y: np.ndarray) -> np.ndarray:
        """Targets that the loss is for."""
        self.n_trees_per_iteration_ = 1
        if self.loss == "gamma" and not (y > 0).all():
            raise ValueError(f"loss='gamma' requires strictly positive y. The least is {y.min():g}.")
        if self.loss == "poisson" and not ((y >= 0).all() and y.sum() > 0):
            raise ValueError(f"loss='poisson' requires non-negative y and sum(y) > 0. The least is {y.min():g}.")
        return y

    def _streamed(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        rows = self._taken(self._open_targets(X, y, sample_weight))
        rows.y = self._suited(rows.y)
        return rows

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:  # fmt: skip
        """Grow trees.

        Parameters
        ----------
        X : array-like, DataFrame, path or source
            Rows; NaN is missing. Of a file, which is read block by block, `y` and `sample_weight` name columns.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), optional
        X_val, y_val, sample_weight_val : array-like, optional
            Rows by which boosting ends early, instead of some of `X`.

        Returns
        -------
        self
        """
        super().fit(X, y, sample_weight, X_val=X_val, y_val=y_val, sample_weight_val=sample_weight_val)
        if self.interval_cv is not None:
            self.errors_ = np.sort(self._errors_held_out(X, y, sample_weight))
        return self

    def _errors_held_out(self, X: Any, y: Any, sample_weight: Any) -> np.ndarray:
        """Errors of each fold's rows by a model learned from the others."""
        if self._is_streamed(X):
            raise ValueError(f"interval_cv={self.interval_cv} needs rows in memory; use None where they are streamed.")
        y, errors = self._coded(y), []
        weight = None if sample_weight is None else np.asarray(as_numpy(sample_weight), dtype=float)
        n = len(y)
        if n < int(self.interval_cv or 0):
            remedy = f"at most {n}" if n > 1 else "interval_cv=None"
            raise ValueError(f"interval_cv={self.interval_cv} exceeds the {n} sample(s) of X; use {remedy}.")
        take = (lambda rows: X.iloc[rows]) if hasattr(X, "iloc") else (lambda rows: X[rows])
        X = X if hasattr(X, "columns") else np.asarray(as_numpy(X))
        model = clone(self).set_params(interval_cv=None, warm_start=False, max_iter=max(self.n_iter_, 1))
        for train, test in divide(self.interval_cv, n, random_state=self._random_seed % (1 << 32), name="interval_cv"):
            model.set_params(early_stopping=False)
            model.fit(take(train), y[train], None if weight is None else weight[train])
            errors.append((y[test] - model.predict(take(test)))[slice(None) if weight is None else weight[test] > 0])
        return np.concatenate(errors)

    def predict(self, X: Any) -> np.ndarray:
        """Predict targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        raw = self._raw_predict(X)
        return self._loss.answer(raw)

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Predict targets after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,)
        """
        for raw in self._staged_raw_predict(X):
            yield self._loss.answer(raw)

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Ends between which a target lies with a probability of about `level`, by errors of rows held out.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        level : float

        Returns
        -------
        low, high : ndarray of shape (n_samples,)
            Infinite where there are too few rows for the level.
        """
        check_is_fitted(self)
        if not hasattr(self, "errors_"):
            raise ValueError(
                "intervals need errors of rows held out; set interval_cv=5, or another number of folds, and fit."
            )
        if not isinstance(level, numbers.Real):
            raise ValueError(f"level={level!r} is not a probability between 0 and 1, both excluded.")
        ends, mean = limits(self.errors_, level), self.predict(X)
        low, high = mean + ends[0], mean + ends[1]
        return (np.maximum(low, 0.0), high) if self.loss in ("poisson", "gamma") else (low, high)


@settings
class GradientBoostingClassifier(ClassifierMixin, Boosting):
    """Classification by sums of trees, each grown on the slopes of the logistic loss at the sum so far.

    Works where scikit-learn's `HistGradientBoostingClassifier` does, with the same settings; missing cells are taken as they are,
    each split learning where they go. Beyond it: sums of gradients are exact, so that the model is the same for any number of
    threads; rows are drawn; rows are read from files block by block, 2 bytes a cell in memory; every prediction can be explained
    (`tacit.tree.shap_values`).

    Parameters
    ----------
    loss : {"log_loss"}, default="log_loss"
    class_weight : dict or "balanced", optional
        By what rows of a class are multiplied.
    learning_rate, max_iter, max_leaf_nodes, max_depth, min_samples_leaf, l2_regularization, max_features, subsample, max_bins, categorical_features, monotonic_cst, interaction_cst, warm_start, early_stopping, scoring, validation_fraction, n_iter_no_change, tol, verbose, random_state, n_jobs
        As in `GradientBoostingRegressor`; monotone constraints are for two classes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    trees_, baseline_, n_iter_, train_score_, validation_score_, feature_importances_, is_categorical_, do_early_stopping_, n_features_in_, feature_names_in_
        As in `GradientBoostingRegressor`; of more than two classes, each has a tree in every round.

    References
    ----------
    Friedman (2001), Greedy function approximation: a gradient boosting machine. Annals of Statistics 29.
    Ke et al. (2017), LightGBM: a highly efficient gradient boosting decision tree. NeurIPS 30.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tacit.ensemble import GradientBoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GradientBoostingClassifier(max_iter=20).fit(X, y)
    >>> model.predict_proba(X[[0, 75]]).round(2)
    array([[0.99, 0.01, 0.01],
           [0.01, 0.98, 0.02]])
    """  # noqa: E501

    loss: str = "log_loss"
    _: KW_ONLY
    class_weight: Any = None

    _saved: ClassVar[dict[str, Spec]] = Boosting._saved | {"classes_": Names("K", labels=True)}

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice("loss", self.loss, CLASSES)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        n = len(self.classes_)
        if len(self.baseline_) != (1 if n <= 2 else n):
            raise ValueError(f"its outputs are not those of {n} classes")

    def _coded(self, y: Any) -> np.ndarray:
        self.classes_, codes = coded_classes(self, y)
        return self._counted(codes)

    def _counted(self, codes: np.ndarray) -> np.ndarray:
        self.n_trees_per_iteration_ = 1 if len(self.classes_) <= 2 else len(self.classes_)
        return codes.astype(np.float64)

    def _coded_again(self, y: Any) -> np.ndarray:
        y = column_or_1d(as_numpy(y), warn=True)
        unknown = [label for label in np.unique(y).tolist() if label not in self.classes_.tolist()]
        if unknown:
            raise ValueError(f"y_val contains {unknown[0]!r}, which is no class of y; give only classes seen in y.")
        return np.searchsorted(self.classes_, y).astype(np.float64)

    def _told_targets(self, y: np.ndarray) -> np.ndarray:
        return self.classes_[y.astype(int)]

    def _weighted(self, weight: np.ndarray | None, y: np.ndarray) -> np.ndarray | None:
        if self.class_weight is None:
            return weight
        codes, n_classes = y.astype(int), len(self.classes_)
        if self.class_weight == "balanced":  # by weights of rows, of which two are as a row that occurs twice
            total = np.bincount(codes, weight, minlength=n_classes)
            factor = total.sum() / (np.count_nonzero(total) * np.where(total > 0, total, 1.0))
        else:
            factor = compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_[codes])
        return factor[codes] if weight is None else weight * factor[codes]

    def _streamed(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        source, self.classes_ = self._open_classes(X, y, sample_weight)
        rows = self._taken(source)
        self._counted(rows.y)
        return rows

    def predict(self, X: Any) -> np.ndarray:
        """Predict classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self._classes_of(self._raw_predict(X))

    def _classes_of(self, raw: np.ndarray) -> np.ndarray:
        return self.classes_[(raw[:, 0] > 0).astype(int) if raw.shape[1] == 1 else raw.argmax(axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
        """
        return self._shares(self._raw_predict(X))

    def _shares(self, raw: np.ndarray) -> np.ndarray:
        return np.ones((len(raw), 1)) if len(self.classes_) == 1 else self._loss.answer(raw)

    def decision_function(self, X: Any) -> np.ndarray:
        """Sums of trees: of two classes the logarithm of the odds, else a score of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        f : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        return _flat(self._raw_predict(X))

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """`predict` after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,)
        """
        for raw in self._staged_raw_predict(X):
            yield self._classes_of(raw)

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """`predict_proba` after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        P : ndarray of shape (n_samples, n_classes)
        """
        for raw in self._staged_raw_predict(X):
            yield self._shares(raw)

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """`decision_function` after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        f : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        for raw in self._staged_raw_predict(X):
            yield _flat(raw)


def _flat(raw: np.ndarray) -> np.ndarray:
    return raw[:, 0] if raw.shape[1] == 1 else raw


@settings
class HistGradientBoostingRegressor(GradientBoostingRegressor):
    """`GradientBoostingRegressor` by the name that scikit-learn has for it, so that replacing the import is enough.

    Parameters
    ----------
    loss, quantile, alpha, interval_cv, learning_rate, max_iter, max_leaf_nodes, max_depth, min_samples_leaf, l2_regularization, max_features, subsample, max_bins, categorical_features, monotonic_cst, interaction_cst, warm_start, early_stopping, scoring, validation_fraction, n_iter_no_change, tol, verbose, random_state, n_jobs
        As in `GradientBoostingRegressor`.

    Attributes
    ----------
    trees_, baseline_, n_iter_, train_score_, validation_score_, feature_importances_, is_categorical_, errors_, do_early_stopping_, n_features_in_, feature_names_in_
        As in `GradientBoostingRegressor`.

    References
    ----------
    Friedman (2001), Greedy function approximation: a gradient boosting machine. Annals of Statistics 29.

    Examples
    --------
    >>> from tacit.ensemble import HistGradientBoostingRegressor
    >>> HistGradientBoostingRegressor(min_samples_leaf=1).fit([[0], [1], [2]], [0, 1, 2]).predict([[1]]).round(2)
    array([1.])
    """  # noqa: E501


@settings
class HistGradientBoostingClassifier(GradientBoostingClassifier):
    """`GradientBoostingClassifier` by the name that scikit-learn has for it, so that replacing the import is enough.

    Parameters
    ----------
    loss, class_weight, learning_rate, max_iter, max_leaf_nodes, max_depth, min_samples_leaf, l2_regularization, max_features, subsample, max_bins, categorical_features, monotonic_cst, interaction_cst, warm_start, early_stopping, scoring, validation_fraction, n_iter_no_change, tol, verbose, random_state, n_jobs
        As in `GradientBoostingClassifier`.

    Attributes
    ----------
    classes_, trees_, baseline_, n_iter_, train_score_, validation_score_, feature_importances_, is_categorical_, do_early_stopping_, n_features_in_, feature_names_in_
        As in `GradientBoostingClassifier`.

    References
    ----------
    Friedman (2001), Greedy function approximation: a gradient boosting machine. Annals of Statistics 29.

    Examples
    --------
    >>> from tacit.ensemble import HistGradientBoostingClassifier
    >>> HistGradientBoostingClassifier(min_samples_leaf=1).fit([[0], [1], [2]], ["a", "a", "b"]).predict([[2]])
    array(['b'], dtype='<U1')
    """  # noqa: E501
