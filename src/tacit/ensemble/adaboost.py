"""`AdaBoostClassifier`: weak classifiers h_m, each learned from rows by how often those before were wrong about them.

    ε_m = Σ_i w_i [h_m(x_i) ≠ y_i],    α_m = η (log((1 − ε_m) / ε_m) + log(K − 1)),    w_i ← w_i exp(α_m [h_m(x_i) ≠ y_i])
    ŷ(x) = argmax_k Σ_m α_m [h_m(x) = k]

For two classes this descends the exponential loss (1/n) Σ_i exp(−y_i f(x_i)) of f = ½ Σ_m α_m h_m. For any K no more rows of
training are wrong than the bound Σ_i w_i exp(½ Σ_m α_m (1 − 2 [h_m(x_i) = y_i])), w being the weights at the start.
"""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin, clone
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from ..base.rows import RowsEstimator
from ..base.settings import KW_ONLY, settings
from ..base.supervised import Supervised, coded_classes
from ..checks import check_number, check_rows, check_weight
from ..declared import SQUARES, Listed, Names, Numbers, Part, Spec
from ..kernels import lazy
from ..tree.classifier import DecisionTreeClassifier
from ..tree.grown import LEAF, Forest, Tree
from .boosting import coded_columns

__all__ = ["AdaBoostClassifier"]

compiled = lazy("stumps")
LEAST = np.finfo(float).eps


class Sorted:
    """Columns sorted once, by which stumps are found."""

    def __init__(self, X: np.ndarray):
        self.X = np.asfortranarray(X)
        self.order = np.ascontiguousarray(np.argsort(self.X, axis=0, kind="stable").T.astype(np.uint32))
        self.seen = (~np.isnan(self.X)).sum(axis=0)
        cells = np.take_along_axis(self.X.T, self.order.astype(np.int64), axis=1)
        self.differs = np.zeros(cells.shape, bool)
        self.differs[:, :-1] = cells[:, :-1] < cells[:, 1:]

    def stump(self, y: np.ndarray, weight: np.ndarray, n_classes: int) -> tuple[Tree, np.ndarray]:
        """The tree of one split with the least impurity, whose leaves hold shares of classes, and the leaf of each row."""
        n, d = self.X.shape
        left, right = np.empty(n_classes), np.empty(n_classes)
        j, place, missing_left, gain = compiled.best_stump(
            self.order, self.seen, self.differs, y, weight, n_classes, left, right
        )
        total = np.bincount(y, weight, minlength=n_classes)
        if j < 0:
            return Tree.of(
                [LEAF], [LEAF], [-1], [-1], total[None] / total.sum(), d, n_classes=np.array([n_classes])
            ), np.zeros(n, np.int64)
        x = self.X[:, j]
        here = x[self.order[j, place]]
        threshold = np.inf
        if place + 1 < self.seen[j]:
            there = x[self.order[j, place + 1]]
            threshold = 0.5 * here + 0.5 * there
            threshold = here if threshold >= there else threshold
        goes = np.empty(n, bool)
        compiled.goes_left(x, threshold, bool(missing_left), goes)
        value = np.stack([part / part.sum() for part in (total, left, right)])
        weights = np.array([total.sum(), left.sum(), right.sum()])
        tree = Tree.of(
            [j, LEAF, LEAF], [threshold, LEAF, LEAF], [1, -1, -1], [2, -1, -1], value, d,
            missing_left=np.full(3, bool(missing_left)), gain=np.array([gain, 0.0, 0.0]), weight=weights,
            impurity=1.0 - (value**2).sum(axis=1), n_rows=np.array([n, goes.sum(), n - goes.sum()]),
            n_classes=np.array([n_classes]),
        )  # fmt: skip
        return tree, np.where(goes, 1, 2)


class Votes(Supervised):
    """What is known of AdaBoost once it is fitted."""

    estimators_: list
    estimator_weights_: np.ndarray
    estimator_errors_: np.ndarray
    bounds_: np.ndarray
    train_errors_: np.ndarray
    weights_: np.ndarray


@settings
class AdaBoostClassifier(ClassifierMixin, Votes):
    """Classification by votes of weak classifiers, each learned from rows by how often those before were wrong about them.

    Works where scikit-learn's does, with the same settings and attributes, by SAMME for several classes. Without `estimator`
    its classifiers are trees of one split, found in columns that are sorted once, which take missing cells; they are told as
    records of `tacit.tree.Tree`, or, of data frames with categories or text, as `tacit.tree.DecisionTreeClassifier`. Beyond it:
    the training error, and the bound on it, are told after each round.

    Parameters
    ----------
    estimator : classifier, optional
        What is boosted; it takes `sample_weight`. None: trees of one split.
    n_estimators : int, default=50
        Most rounds.
    learning_rate : float, default=1.0
        η: by what each α is multiplied.
    random_state : int, RandomState or None, default=None
        Seeds estimators that draw.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    estimators_ : list of Tree, or of classifiers
        One for each round.
    estimator_weights_, estimator_errors_ : ndarray of shape (n_estimators,)
        α and ε of each round; 0 and 1 of rounds after the end.
    train_errors_, bounds_ : ndarray of shape (n_rounds,)
        Share of the training rows' weight that is predicted wrongly after each round, and the bound above on it.
    weights_ : ndarray of shape (n_samples,)
        Weights of rows after the last round.
    feature_importances_ : ndarray of shape (n_features,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Freund and Schapire (1997), A decision-theoretic generalization of on-line learning and an application to boosting. JCSS 55.
    Zhu, Zou, Rosset and Hastie (2009), Multi-class AdaBoost. Statistics and Its Interface 2.

    Examples
    --------
    >>> from tacit.ensemble import AdaBoostClassifier
    >>> X, y = [[0], [1], [2], [3], [4], [5]], [0, 0, 1, 1, 0, 0]
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> model.predict(X).tolist(), model.train_errors_.round(2).tolist()
    ([0, 0, 1, 1, 0, 0], [0.33, 0.33, 0.0])
    """

    estimator: Any = None
    _: KW_ONLY
    n_estimators: int = 50
    learning_rate: float = 1.0
    random_state: Any = None

    _saved: ClassVar[dict[str, Spec]] = RowsEstimator._saved | {
        "classes_": Names("K", labels=True),
        "estimators_": Listed(Part((Tree, RowsEstimator))),
        "estimator_weights_": Numbers("m"),
        "estimator_errors_": Numbers("m", low=0, high=1),
        "train_errors_": Numbers("r", low=0, high=1),
        "bounds_": Numbers("r", low=0, high=SQUARES),
        "weights_": Numbers("n", low=0, high=SQUARES),
    }
    _min_rows = 1
    _largest = np.inf
    _takes_sparse = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.estimator is not None
        return tags

    @property
    def n_classes_(self) -> int:
        """How many classes there are."""
        return len(self.classes_)

    def _check_settings(self) -> None:
        check_number("n_estimators", self.n_estimators, numbers.Integral, 1)
        check_number("learning_rate", self.learning_rate, numbers.Real, 0)
        if self.learning_rate == 0:
            raise ValueError(f"learning_rate={self.learning_rate!r} is not a number above 0.")
        if self.estimator is not None and not has_fit_parameter(self.estimator, "sample_weight"):
            raise ValueError(
                f"{type(self.estimator).__name__} doesn't support sample_weight, by which AdaBoost teaches; use another."
            )

    def _check_loaded(self) -> None:
        trees = [each for each in self.estimators_ if isinstance(each, Tree)]
        for tree in trees:
            tree.check({})
            told = tree.n_features, tree.flat.shape[1]
            if told != (self.n_features_in_, self.n_classes_):
                raise ValueError(f"a tree is of {told[0]} columns and {told[1]} classes, which the others are not")
        self._pack()

    def _rows(self, X: Any, *, reset: bool) -> Any:
        """Rows as the estimators take them: cells, or, where they are no stumps, whatever these take."""
        if self._is_mixed(X, reset):  # as an array all its columns would be categories
            _check_feature_names(self, X, reset=reset)
            _check_n_features(self, X, reset=reset)
            return X
        if self.estimator is None:
            return check_rows(self, X, reset=reset, ensure_all_finite=False)
        return validate_data(
            self, X, reset=reset, dtype=None, allow_nd=True, accept_sparse=["csr", "csc"], ensure_all_finite=False
        )

    def _is_mixed(self, X: Any, reset: bool) -> bool:
        """Whether X is a data frame with categories or text, and goes to estimators as it is."""
        return (reset or self._forest is None) and coded_columns(X) is not None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn classifiers, one after the other.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; NaN is missing. Sparse rows are taken where `estimator` takes them.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights at the start.

        Returns
        -------
        self
        """
        self._check_settings()
        mixed, X = self._is_mixed(X, True), self._rows(X, reset=True)
        by_stumps = self.estimator is None and not mixed
        self.classes_, codes = coded_classes(self, y)
        n = X.shape[0]
        if len(codes) != n:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {n} rows and y {len(codes)}."
            )
        weight = check_weight(sample_weight, n)
        weight = np.full(n, 1.0 / n) if weight is None else weight / weight.sum()
        kept = np.arange(n)
        if by_stumps:  # rows of no weight would move thresholds
            kept = np.flatnonzero(weight)
            X, codes, weight = X[kept], codes[kept], weight[kept]
        self.estimators_, told = [], []
        self.estimator_weights_, self.estimator_errors_ = np.zeros(self.n_estimators), np.ones(self.n_estimators)
        learn = self._stumps(X, codes) if by_stumps else self._others(X, codes)
        start, counted, votes = weight, weight > 0, np.zeros((len(kept), self.n_classes_))
        margin = np.zeros(len(kept))
        for m in range(self.n_estimators):
            weight = np.where(counted, np.maximum(weight, LEAST), 0.0)
            estimator, said = learn(weight)
            wrong = said != codes
            error = float(weight[wrong].sum() / weight.sum())
            if error >= 1 - 1 / self.n_classes_ and error > 0:
                if not self.estimators_:
                    raise ValueError(
                        "BaseClassifier in AdaBoostClassifier ensemble is worse than random, ensemble can not be fit."
                    )
                break
            alpha = 1.0
            if error > 0:
                alpha = self.learning_rate * (np.log((1 - error) / error) + np.log(max(self.n_classes_ - 1.0, 1.0)))
            self.estimators_.append(estimator)
            self.estimator_weights_[m], self.estimator_errors_[m] = alpha, max(error, 0.0)
            votes[np.arange(len(kept)), said] += alpha
            margin += np.where(wrong, 0.5 * alpha, -0.5 * alpha)
            with np.errstate(over="ignore"):
                told.append((start[votes.argmax(axis=1) != codes].sum(), start @ np.exp(margin)))
                weight = weight * np.where(wrong, np.exp(alpha), 1.0)
            if error == 0:
                break
            total = weight.sum()
            if not np.isfinite(total):
                warnings.warn(
                    f"Sample weights have reached infinite values, at iteration {m}, causing overflow. Iterations stopped. Try "
                    "lowering the learning rate.",
                    stacklevel=2,
                )
                weight = start
                break
            weight = weight / total
        self.train_errors_, self.bounds_ = np.clip(np.array(told).T, 0.0, [[1.0], [SQUARES]])
        self.weights_ = np.zeros(n)
        self.weights_[kept] = weight
        self._pack()
        return self

    def _stumps(self, X: np.ndarray, codes: np.ndarray) -> Any:
        """A function of weights that gives the best stump, and what it says of each row."""
        columns = Sorted(X)

        def learn(weight: np.ndarray) -> tuple[Tree, np.ndarray]:
            tree, leaf = columns.stump(codes, weight, self.n_classes_)
            return tree, tree.flat.argmax(axis=1)[leaf]

        return learn

    def _others(self, X: Any, codes: np.ndarray) -> Any:
        """The same of the user's estimator."""
        rng, y = check_random_state(self.random_state), self.classes_[codes]

        def learn(weight: np.ndarray) -> tuple[Any, np.ndarray]:
            estimator = DecisionTreeClassifier(max_depth=1) if self.estimator is None else clone(self.estimator)
            seeds = [name for name in sorted(estimator.get_params(deep=True)) if name.split("__")[-1] == "random_state"]
            estimator.set_params(**{name: int(rng.randint(np.iinfo(np.int32).max)) for name in seeds})
            estimator.fit(X, y, sample_weight=weight)
            return estimator, np.searchsorted(self.classes_, estimator.predict(X))

        return learn

    # Votes

    def _pack(self) -> None:
        """Lay stumps out by which rows are predicted, each leaf with its vote."""
        self._forest = None
        if self.estimators_ and all(isinstance(each, Tree) for each in self.estimators_):
            self._forest = Forest.of(self.estimators_, [votes for _, votes in self._terms()])

    def _coded_votes(self, said: np.ndarray) -> np.ndarray:
        """A vote as scores of classes: 1 and −1 / (K − 1)."""
        n = self.n_classes_
        return np.where(said[:, None] == np.arange(n), 1.0, -1.0 / max(n - 1, 1))

    def _terms(self) -> list[tuple[Tree, np.ndarray]]:
        """Stumps with what each adds to the score of every class."""
        total = self.estimator_weights_.sum()
        found = []
        for each, alpha in zip(self.estimators_, self.estimator_weights_):
            tree = each if isinstance(each, Tree) else each.tree_
            said = tree.flat.argmax(axis=1)
            if each is not tree:
                said = np.searchsorted(self.classes_, each.classes_[said])
            found.append((tree, alpha / total * self._coded_votes(said)))
        return found

    def _explained(self, X: Any) -> tuple:
        """What `shap_values` explains: cells, trees with what each adds to every score, and the constant."""
        first = self.estimators_[0]
        if not isinstance(first, (Tree, DecisionTreeClassifier)):
            raise TypeError(
                f"votes of {type(first).__name__} are not those of tacit's trees; use estimator=None, or a "
                "tacit.tree.DecisionTreeClassifier."
            )
        cells, terms, base = self._rows(X, reset=False), self._terms(), np.zeros(self.n_classes_)
        if isinstance(first, DecisionTreeClassifier):
            cells = first._rows(cells)
        if self.n_classes_ == 2:  # the decision is the difference
            return cells, [(tree, value[:, 1:] - value[:, :1]) for tree, value in terms], base[:1]
        return cells, terms, base

    def _said(self, estimator: Any, X: Any) -> np.ndarray:
        if isinstance(estimator, Tree):
            return estimator.flat.argmax(axis=1)[estimator.apply(X)]
        return np.searchsorted(self.classes_, estimator.predict(X))

    def _scores(self, X: Any) -> np.ndarray:
        """Scores of classes, (rows, classes)."""
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        if self.n_classes_ == 1:
            return np.zeros((X.shape[0], 1))
        if self._forest is not None:
            return self._forest.total(X)
        total = np.zeros((X.shape[0], self.n_classes_))
        for estimator, alpha in zip(self.estimators_, self.estimator_weights_):
            total += alpha * self._coded_votes(self._said(estimator, X))
        return total / self.estimator_weights_.sum()

    def _staged_scores(self, X: Any) -> Iterator[np.ndarray]:
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        total, weight = np.zeros((X.shape[0], self.n_classes_)), 0.0
        for estimator, alpha in zip(self.estimators_, self.estimator_weights_):
            total += alpha * self._coded_votes(self._said(estimator, X))
            weight += alpha
            yield total / weight

    def _decided(self, scores: np.ndarray) -> np.ndarray:
        return scores[:, 1] - scores[:, 0] if self.n_classes_ == 2 else scores

    def _shares(self, scores: np.ndarray) -> np.ndarray:
        if self.n_classes_ == 1:
            return np.ones((len(scores), 1))
        # Of two classes the scores are s and −s, and the decision 2 s.
        return softmax(scores if self.n_classes_ == 2 else scores / (self.n_classes_ - 1), axis=1)

    def decision_function(self, X: Any) -> np.ndarray:
        """Weighted votes: of two classes their difference, else a score of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        f : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        return self._decided(self._scores(X))

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """`decision_function` after each round.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Yields
        ------
        f : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        for scores in self._staged_scores(X):
            yield self._decided(scores)

    def _classes_of(self, scores: np.ndarray) -> np.ndarray:
        if self.n_classes_ == 2:
            return self.classes_[(scores[:, 1] - scores[:, 0] > 0).astype(int)]
        return self.classes_[scores.argmax(axis=1)]

    def predict(self, X: Any) -> np.ndarray:
        """The classes with most of the weighted votes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self._classes_of(self._scores(X))

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """`predict` after each round.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,)
        """
        for scores in self._staged_scores(X):
            yield self._classes_of(scores)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Softmax of scores / (K − 1), which orders classes but is not calibrated.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
        """
        return self._shares(self._scores(X))

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """`predict_proba` after each round.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Yields
        ------
        P : ndarray of shape (n_samples, n_classes)
        """
        for scores in self._staged_scores(X):
            yield self._shares(scores)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of `predict_proba`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
        """
        return np.log(self.predict_proba(X))

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Share of rows predicted rightly after each round.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Yields
        ------
        score : float
        """
        for said in self.staged_predict(X):
            yield accuracy_score(y, said, sample_weight=sample_weight)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Importances of the columns to each classifier, by α."""
        if not getattr(self, "estimators_", None):
            raise ValueError("Estimator not fitted, call `fit` before `feature_importances_`.")
        try:
            each = [
                one.compute_feature_importances() if isinstance(one, Tree) else one.feature_importances_
                for one in self.estimators_
            ]
        except AttributeError as error:
            raise AttributeError(
                "Unable to compute feature importances since estimator does not have a feature_importances_ attribute"
            ) from error
        alpha = self.estimator_weights_[: len(each)]
        return alpha @ np.array(each) / alpha.sum()
