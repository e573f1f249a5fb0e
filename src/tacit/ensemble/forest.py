"""`ForestEstimator`: what forests share: f(x) = Σ_b f_b(x) / B, tree b grown on rows and columns drawn by a seed of its own."""

from __future__ import annotations

import numbers
import warnings
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..base.rows import RowsEstimator
from ..base.settings import KW_ONLY, settings
from ..checks import check_n_jobs, check_number, check_weight
from ..declared import SQUARES, Label, Listed, Numbers, Part, Spec, Whole
from ..source.threads import all_of, thread_count
from ..tree.estimator import Grown, check_growth, features_drawn, monotone_of, rules_of
from ..tree.grown import Forest, Tree
from ..tree.growth import Ranked, Rules, Targets, grow
from ..tree.pruning import Collapse, pruned
from ..tree.reading import open_rows

__all__ = ["ForestEstimator"]

CACHES = ("_laid_out", "_made", "_rows_by_leaf", "_reaches")
"""What is made again where it is gone."""


@settings
class ForestEstimator(Grown):
    """Base of forests; made by its subclasses, which describe the settings."""

    n_estimators: int = 100
    _: KW_ONLY
    criterion: str = "squared_error"
    max_depth: int | None = None
    min_samples_split: Any = 2
    min_samples_leaf: Any = 1
    min_weight_fraction_leaf: float = 0.0
    max_features: Any = 1.0
    max_leaf_nodes: int | None = None
    min_impurity_decrease: float = 0.0
    bootstrap: bool = True
    oob_score: Any = False
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0
    warm_start: bool = False
    ccp_alpha: float = 0.0
    max_samples: Any = None
    monotonic_cst: Any = None
    categorical_features: Any = "from_dtype"

    _saved: ClassVar[dict[str, Spec]] = RowsEstimator._saved | {
        "trees_": Listed(Part(Tree)),
        "levels_": Listed(Listed(Label())),
        "n_outputs_": Whole(1),
        "seeds_": Numbers("B", low=0, kind="i"),
        "n_drawn_": Whole(0),
        "oob_score_": Numbers(needed=False, high=SQUARES),
        "oob_curve_": Numbers("e", needed=False, high=SQUARES, beside=(np.nan,)),
    }
    _criteria: ClassVar[tuple[str, ...]] = ()
    _takes_sparse = True
    _min_rows = 1
    splitter = "best"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name not in CACHES}

    def _check_settings(self) -> None:
        check_growth(self, self._criteria)
        check_number("n_estimators", self.n_estimators, numbers.Integral, 1)
        check_n_jobs(self.n_jobs)
        if self.max_samples is not None:
            whole = isinstance(self.max_samples, numbers.Integral)
            check_number("max_samples", self.max_samples, numbers.Real, 1 if whole else 0)
            if not whole and not self.max_samples > 0:
                raise ValueError(f"max_samples={self.max_samples!r} must be above 0.")
        if self.max_samples is not None and not self.bootstrap:
            raise ValueError(
                f"`max_sample` cannot be set if `bootstrap=False`. Either switch to `bootstrap=True` or set "
                f"`max_sample=None`, which is now {self.max_samples!r}."
            )
        if self.oob_score and not self.bootstrap:
            raise ValueError("Out of bag estimation only available if bootstrap=True; set it, or oob_score=False.")

    def _check_loaded(self) -> None:
        for tree in self.trees_:
            if tree.n_features != self.n_features_in_ or tree.n_outputs != self.n_outputs_:
                raise ValueError(
                    f"a tree is of {tree.n_features} columns and {tree.n_outputs} outputs, unlike the forest"
                )
        if len(self.seeds_) != len(self.trees_):
            raise ValueError(f"there are {len(self.seeds_)} seeds, but {len(self.trees_)} trees")

    def _targets(self, y: Any, n_rows: int) -> tuple[Targets, np.ndarray]:
        """What is to be predicted, and by what the weight of each row is multiplied."""
        raise NotImplementedError

    def _bag_share(self, targets: Targets, counts: np.ndarray) -> np.ndarray | float:
        """By what the weights of a bag are multiplied, by its own classes."""
        return 1.0

    # Growth

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : {array-like, sparse matrix, table} of shape (n_samples, n_features)
            Rows; NaN is missing. Columns of categories or texts of a data frame are split as categories.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            What is to be predicted.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of rows.

        Returns
        -------
        self
        """
        self._check_settings()
        kept = getattr(self, "trees_", []) if self.warm_start else []
        if kept and self.n_estimators < len(kept):
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to len(estimators_)={len(kept)} when warm_start==True"
            )
        if kept and self.n_estimators == len(kept):
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.", UserWarning, stacklevel=2
            )
            if not self.oob_score or hasattr(self, "oob_score_"):
                return self
        else:
            self.__dict__.pop("oob_score_", None)
        return self._add_trees(X, y, sample_weight, self.n_estimators - len(kept), bool(kept))

    def _among(self, known: Any, y: Any) -> Any:
        """y, all of whose classes must be known."""
        return y

    def _renumbered(self, targets: Targets, share: np.ndarray, known: Any, n_rows: int) -> tuple[Targets, np.ndarray]:
        """Targets by the classes that were known before."""
        return targets, share

    def _add_trees(self, X: Any, y: Any, sample_weight: Any, n_more: int, going_on: bool, classes: Any = None) -> Self:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        if hasattr(y, "tocsr"):
            raise ValueError("sparse multilabel-indicator for y is not supported; give y.toarray().")
        known = getattr(self, "classes_", None) if going_on else classes
        X = open_rows(self, X, reset=not going_on)
        targets, share = self._targets(y if known is None else self._among(known, y), len(X))
        if known is not None:
            targets, share = self._renumbered(targets, share, known, len(X))
        weight = check_weight(sample_weight, len(X))
        weight = share if weight is None else weight * share
        if not weight.any():
            raise ValueError(
                "sample_weight and class_weight leave no row with a weight above 0; at least one must count."
            )
        self._counted = None if weight.all() else np.flatnonzero(weight > 0).astype(np.int32)
        if not going_on:
            self._rng_state = check_random_state(self.random_state)
            self.trees_, self.seeds_ = [], np.empty(0, np.int64)
        rng = getattr(self, "_rng_state", None) or check_random_state(self.random_state)
        self.n_drawn_ = self._draws(len(X)) if self.bootstrap else 0
        seeds = np.array([rng.randint(2**31 - 1) for _ in range(n_more)], dtype=np.int64)
        threads = thread_count(self.n_jobs)
        monotone = monotone_of(self, self.n_outputs_, int(targets.n_classes.max()))
        rules = rules_of(self, len(X), float(weight.sum()), monotone)
        ranked = Ranked.of(X, [len(levels) for levels in self.levels_] or None, threads, rules)
        if len(X) > 1:
            _ = ranked.by_row  # made once, before threads ask for it
        new = all_of(lambda seed: self._tree(ranked, targets, weight, rules, int(seed)), seeds, threads)
        self.trees_ = self.trees_ + new
        self.seeds_ = np.concatenate([self.seeds_, seeds])
        for name in CACHES:
            self.__dict__.pop(name, None)
        self._laid_out = Forest.of(self.trees_)
        self._after(X, y, targets, weight)
        return self

    def _draws(self, n_rows: int) -> int:
        """Rows that are drawn for a tree."""
        if self.max_samples is None:
            return n_rows
        if isinstance(self.max_samples, numbers.Integral):
            return int(self.max_samples)
        return max(round(n_rows * self.max_samples), 1)

    def _counts(self, seed: int, n_rows: int) -> np.ndarray:
        """How often each row is in the bag of a tree."""
        if not self.bootstrap:
            return np.ones(n_rows)
        return np.bincount(self._bag(seed, n_rows), minlength=n_rows).astype(np.float64)

    def _bag(self, seed: int, n_rows: int) -> np.ndarray:
        """The rows in the bag of a tree, which are those of scikit-learn's forests of the same seed."""
        rows = np.random.RandomState(seed).randint(0, n_rows, self.n_drawn_, dtype=np.int32)
        counted = self.__dict__.get("_counted")
        if counted is None or np.isin(rows, counted).any():
            return rows
        # A bag without weight teaches nothing: it is drawn among the rows that have some.
        return counted[np.random.RandomState(seed).randint(0, len(counted), self.n_drawn_)]

    def _tree(self, ranked: Ranked, targets: Targets, weight: np.ndarray, rules: Rules, seed: int) -> Tree:
        counts = self._counts(seed, len(weight))
        bag = counts * weight * self._bag_share(targets, counts)
        # As a tree of this seed draws, so that it can be grown again alone.
        tree = grow(ranked, targets, bag, rules, check_random_state(seed).randint(2**31 - 1))
        if self.ccp_alpha > 0:
            risk = tree.impurity * tree.weight / tree.weight[0]
            tree = pruned(tree, Collapse.of(tree, risk).leaves_at(tree, self.ccp_alpha * (1 + 1e-12)))
        return tree

    def _after(self, X: np.ndarray, y: Any, targets: Targets, weight: np.ndarray) -> None:
        """What is learned from the rows once the trees are there."""
        if self.oob_score:
            self._score_out_of_bag(X, targets, weight)

    # Out of bag

    def _score_out_of_bag(self, X: np.ndarray, targets: Targets, weight: np.ndarray) -> None:
        raise NotImplementedError

    def _out_of_bag(self, n_rows: int) -> np.ndarray:
        """Which rows are not in the bag of each tree, (trees, rows)."""
        return np.stack([self._counts(int(seed), n_rows) == 0 for seed in self.seeds_])

    def _sums_out_of_bag(self, X: np.ndarray, score: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Σ of the values of trees that did not see a row, how many those are, and score(sums, counts) after each tree."""
        width = self.trees_[0].flat.shape[1]
        total, count, curve = np.zeros((len(X), width)), np.zeros(len(X)), []
        for seed, tree in zip(self.seeds_, self.trees_):
            out = np.flatnonzero(self._counts(int(seed), len(X)) == 0)
            total[out] += tree.flat[tree.apply(X[out])]
            count[out] += 1
            curve.append(score(total, count))
        if (count == 0).any():
            warnings.warn(
                f"Some inputs do not have OOB scores. This probably means too few trees were used to compute any reliable OOB "
                f"estimates: {int((count == 0).sum())} rows are in the bags of all {len(self.trees_)} trees.",
                UserWarning, stacklevel=5,
            )  # fmt: skip
        return total, count, np.array(curve)

    def permutation_importance(self, X: Any, y: Any) -> np.ndarray:
        """By how much predictions of rows out of bag get worse where a column is shuffled among them (Breiman 2001).

        Parameters
        ----------
        X, y
            The rows of `fit`, in their order.

        Returns
        -------
        ndarray of shape (n_features,)
            Rise of the share of errors, or of the mean squared error, averaged over trees.
        """
        X = self._rows(X)
        if not self.bootstrap:
            raise ValueError("rows out of bag are only there if bootstrap=True.")
        n_fit = self.__dict__.get("_n_rows", self.n_drawn_ if self.max_samples is None else len(X))
        if len(X) != n_fit:
            raise ValueError(
                f"permutation_importance shuffles rows out of bag and needs the {n_fit} rows of fit in their order, but X has "
                f"{len(X)} rows; for other rows use sklearn.inspection.permutation_importance."
            )
        told = self._truth(y, len(X))
        rise = np.zeros(self.n_features_in_)
        for seed, tree in zip(self.seeds_, self.trees_):
            out = np.flatnonzero(self._counts(int(seed), len(X)) == 0)
            if not len(out):
                continue
            rows, rng = X[out].copy(), np.random.default_rng([int(seed), 1])
            before = self._errors(tree.value[tree.apply(rows)], told[out])
            for j in np.unique(tree.feature[tree.feature >= 0]):
                column = rows[:, j].copy()
                rows[:, j] = rng.permutation(column)
                rise[j] += self._errors(tree.value[tree.apply(rows)], told[out]) - before
                rows[:, j] = column
        return rise / len(self.trees_)

    def _truth(self, y: Any, n_rows: int) -> np.ndarray:
        raise NotImplementedError

    def _errors(self, value: np.ndarray, told: np.ndarray) -> float:
        raise NotImplementedError

    # Answers

    def _rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return open_rows(self, X, reset=False)

    @property
    def _forest(self) -> Forest:
        if "_laid_out" not in self.__dict__:
            self._laid_out = Forest.of(self.trees_)
        return self._laid_out

    def _mean_value(self, X: Any) -> np.ndarray:
        """The mean of the trees' values, (rows, outputs, classes)."""
        X = self._rows(X)
        total = self._forest.total(X, self.n_jobs) / len(self.trees_)
        return total.reshape(len(X), self.n_outputs_, -1)

    @property
    def estimators_(self) -> list:
        """The trees as estimators of their own."""
        if not hasattr(self, "trees_"):
            raise AttributeError(f"{type(self).__name__} has no attribute 'estimators_' before it is fitted.")
        if "_made" not in self.__dict__:
            self._made = [self._as_estimator(tree, int(seed)) for tree, seed in zip(self.trees_, self.seeds_)]
        return self._made

    def _tree_class(self) -> Any:
        raise NotImplementedError

    def _as_estimator(self, tree: Tree, seed: int) -> Any:
        kind = self._tree_class()
        names = kind().get_params().keys() & self.get_params().keys()
        made = kind(**{name: getattr(self, name) for name in names} | {"random_state": seed})
        made.tree_, made.levels_, made.n_outputs_ = tree, self.levels_, self.n_outputs_
        made.n_features_in_ = self.n_features_in_
        made.max_features_ = features_drawn(self.max_features, self.n_features_in_)
        if hasattr(self, "classes_"):
            codes = [np.arange(float(n)) for n in np.atleast_1d(self.n_classes_)]
            made.classes_, made.n_classes_ = (codes[0] if self.n_outputs_ == 1 else codes), self.n_classes_
        return made

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows in the bag of each tree, as often as they are in it."""
        n_rows = self._n_rows
        if not self.bootstrap:
            return [np.arange(n_rows, dtype=np.int32) for _ in self.seeds_]
        return [self._bag(int(seed), n_rows) for seed in self.seeds_]

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, index: Any) -> Any:
        return self.estimators_[index]

    def __iter__(self) -> Any:
        return iter(self.estimators_)

    def apply(self, X: Any) -> np.ndarray:
        """The leaf of each row in each tree, (n_samples, n_estimators)."""
        X = self._rows(X)
        return self._forest.node[self._forest.leaves(X, self.n_jobs)].astype(np.int64)

    def decision_path(self, X: Any) -> tuple[Any, np.ndarray]:
        """The nodes that each row goes through in all trees, sparse, and where the nodes of each tree begin."""
        from scipy.sparse import hstack

        X = self._rows(X)
        paths = [tree.decision_path(X) for tree in self.trees_]
        return hstack(paths).tocsr(), np.concatenate([[0], np.cumsum([path.shape[1] for path in paths])])

    @property
    def feature_importances_(self) -> np.ndarray:
        """By how much splits on each column lowered the impurity, the mean of trees, as shares that sum to 1."""
        check_is_fitted(self)
        grown = [tree.compute_feature_importances() for tree in self.trees_ if tree.node_count > 1]
        if not grown:
            return np.zeros(self.n_features_in_)
        mean = np.mean(grown, axis=0)
        return mean / mean.sum() if mean.sum() > 0 else mean

    def proximities(self, X: Any, Y: Any = None) -> np.ndarray:
        """In what share of the trees two rows fall into the same leaf.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        Y : array-like of shape (n_others, n_features), optional
            Other rows; default those of X.

        Returns
        -------
        ndarray of shape (n_samples, n_others)
        """
        from scipy.sparse import csr_matrix

        def marks(rows: np.ndarray) -> Any:
            leaves = self._forest.leaves(rows, self.n_jobs)
            n, n_trees = leaves.shape
            shape = n, len(self._forest.steps)
            return csr_matrix(
                (np.ones(leaves.size), leaves.ravel(), np.arange(0, n * n_trees + 1, n_trees)), shape=shape
            )

        first = marks(self._rows(X))
        second = first if Y is None else marks(self._rows(Y))
        return (first @ second.T).toarray() / len(self.trees_)
