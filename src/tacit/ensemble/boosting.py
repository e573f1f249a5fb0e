"""`Boosting`: a sum of small trees, each grown on the slopes of the loss at the sum so far.

    f_m(x) = f_{m−1}(x) + η h_m(x),    h_m = argmin Σ_i w_i [ g_i h(x_i) + ½ c_i h(x_i)² ] + ½ λ Σ_leaves value²

g and c are the first and second derivatives of the loss by f. Columns are cut into bins once, so that a split is found from sums
by bin; see `tacit.kernels.histogram`.
"""

from __future__ import annotations

import itertools
import numbers
import time
from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state, resample
from sklearn.utils.validation import _check_monotonic_cst, check_is_fitted

from ..base.settings import KW_ONLY, settings
from ..base.supervised import Supervised
from ..checks import as_numpy, check_choice, check_n_jobs, check_number, check_rows, check_weight
from ..declared import Flag, Listed, Numbers, Part, Spec, Whole
from ..frames import as_numbers, as_objects, columns_of, is_numeral
from ..kernels import host
from ..source import Source
from ..source.dask import is_dask
from ..source.parquet import is_arrow
from ..tree.grown import Forest, Tree
from .bins import SAMPLE, Bins, Cells
from .growing import Grower, Limits
from .levels import Levels, categorical_columns
from .losses import Loss, loss_of
from .stopping import Judge, Keeper, Rows

__all__ = ["Boosting", "coded_columns"]

AUTO_ROWS = 10_000
"""Rows above which boosting ends early by itself, and rows that scores of training are computed of."""


class Boosted(Supervised):
    """What is known of boosting once it is fitted."""

    loss: Any
    trees_: list[list[Tree]]
    baseline_: np.ndarray
    levels_: Levels | None
    is_categorical_: np.ndarray | None
    errors_: np.ndarray
    train_score_: np.ndarray
    validation_score_: np.ndarray
    _raw_given: np.ndarray | None = None


@settings
class Boosting(Boosted):
    """Base of gradient boosting."""

    _: KW_ONLY
    learning_rate: float = 0.1
    max_iter: int = 100
    max_leaf_nodes: int | None = 31
    max_depth: int | None = None
    min_samples_leaf: int = 20
    l2_regularization: float = 0.0
    max_features: float = 1.0
    subsample: float = 1.0
    max_bins: int = 255
    categorical_features: Any = "from_dtype"
    monotonic_cst: Any = None
    interaction_cst: Any = None
    warm_start: bool = False
    early_stopping: Any = "auto"
    scoring: Any = "loss"
    validation_fraction: Any = 0.1
    n_iter_no_change: int = 10
    tol: float = 1e-7
    verbose: int = 0
    random_state: Any = None
    n_jobs: int | None = None

    _saved: ClassVar[dict[str, Spec]] = Supervised._saved | {
        "trees_": Listed(Listed(Part(Tree))),
        "baseline_": Numbers("k"),
        "train_score_": Numbers("s", beside=(np.nan, np.inf, -np.inf)),
        "validation_score_": Numbers("v", beside=(np.nan, np.inf, -np.inf)),
        "is_categorical_": Numbers("d", kind="b", optional=True),
        "levels_": Part(Levels, optional=True),
        "do_early_stopping_": Flag(),
        "n_trees_per_iteration_": Whole(1),
    }
    _min_rows = 1
    _largest = np.inf
    # What a subclass defines

    @property
    def _loss_setting(self) -> float:
        return 0.5

    def _coded(self, y: Any) -> np.ndarray:
        """Targets as numbers."""
        raise NotImplementedError

    def _coded_again(self, y: Any) -> np.ndarray:
        """Targets of other rows."""
        raise NotImplementedError

    def _told_targets(self, y: np.ndarray) -> np.ndarray:
        """Targets as a scorer takes them."""
        return y

    def _weighted(self, weight: np.ndarray | None, y: np.ndarray) -> np.ndarray | None:
        """Weights of rows with those of their classes."""
        return weight

    # Settings

    def _check_settings(self) -> None:
        whole, real = (numbers.Integral, numbers.Real)
        for name, kind, least, most, also in (
            ("learning_rate", real, 0, np.inf, ()), ("max_iter", whole, 1, np.inf, ()),
            ("max_leaf_nodes", whole, 2, np.inf, (None,)),
            ("max_depth", whole, 1, np.inf, (None,)), ("min_samples_leaf", whole, 1, np.inf, ()),
            ("l2_regularization", real, 0, np.inf, ()), ("max_features", real, 0, 1, ()), ("subsample", real, 0, 1, ()),
            ("max_bins", whole, 2, 255, ()), ("n_iter_no_change", whole, 1, np.inf, ()), ("tol", real, 0, np.inf, ()),
            ("validation_fraction", real, 0, np.inf, (None,)),
        ):  # fmt: skip
            value = getattr(self, name)
            check_number(name, value, kind, least, most, also)
            if name in ("learning_rate", "max_features", "subsample", "validation_fraction") and value == 0:
                raise ValueError(f"{name}={value!r} is not a number above 0.")
        if isinstance(self.validation_fraction, float) and self.validation_fraction >= 1:
            raise ValueError(
                f"validation_fraction={self.validation_fraction!r} is not a share below 1, nor a number of rows."
            )
        if not isinstance(self.early_stopping, (bool, np.bool_)):
            check_choice("early_stopping", self.early_stopping, ("auto",))
        check_n_jobs(self.n_jobs)

    def _check_interaction_cst(self, n_features: int) -> list[set] | None:
        """Groups of columns that may be asked for together; columns in none are a group."""
        if self.interaction_cst is None:
            return None
        given: Any = self.interaction_cst
        if isinstance(given, str):
            check_choice("interaction_cst", given, ("pairwise", "no_interactions"))
            columns = range(n_features)
            given = itertools.combinations(columns, 2) if given == "pairwise" else [[j] for j in columns]
        try:
            groups = [set(group) for group in given]
        except TypeError:
            raise ValueError(
                f"Interaction constraints must be a sequence of tuples or lists, got: {self.interaction_cst!r}."
            ) from None
        for group in groups:
            if not all(isinstance(j, (int, np.integer)) and 0 <= j < n_features for j in group):
                raise ValueError(
                    f"Interaction constraints must consist of integer indices in [0, n_features - 1] = [0, {n_features - 1}], "
                    f"specifying the position of features, got invalid indices: {group!r}"
                )
        rest = set(range(n_features)).difference(*groups)
        return [*groups, rest] if rest else groups

    def _constraints(self) -> tuple[np.ndarray, np.ndarray]:
        """Monotone signs of columns, and groups of them as a mask."""
        sign = np.asarray(_check_monotonic_cst(self, self.monotonic_cst), np.int8)
        if sign.any() and self.n_trees_per_iteration_ > 1:
            raise ValueError("monotonic constraints are not supported for multiclass classification.")
        if self.is_categorical_ is not None and sign[self.is_categorical_].any():
            raise ValueError("Categorical features cannot have monotonic constraints.")
        d = self.n_features_in_
        groups = self._check_interaction_cst(d)
        mask = np.ones((1, d), bool) if groups is None else np.array([[j in each for j in range(d)] for each in groups])
        return sign, mask

    # Rows

    def _validate(self, X: Any, *, reset: bool) -> np.ndarray:
        """Cells as floats, levels as their numbers."""
        if reset:
            self.is_categorical_ = self._categorical(X)
            self.levels_ = None
            if self.is_categorical_ is not None:
                self.levels_ = Levels.of(X, self.is_categorical_, self.max_bins)
        if self.levels_ is not None and np.ndim(X) == 2 and np.shape(X)[1] == len(self.levels_.mask):
            X = self.levels_.numbered(X)
        return check_rows(self, X, reset=reset, ensure_all_finite=False)

    def _categorical(self, X: Any) -> np.ndarray | None:
        """Which columns hold categories: those asked for, or those whose type says so and those of text."""
        found = categorical_columns(self.categorical_features, X)
        return coded_columns(X) if isinstance(self.categorical_features, str) else found

    def _is_streamed(self, X: Any) -> bool:
        return is_arrow(X) or is_dask(X) or isinstance(X, Source) or type(X).__name__ == "DataTable" or _is_tensor(X)

    def _streamed(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Rows that are read block by block: their targets and weights, and where cells are."""
        raise NotImplementedError

    def _taken(self, source: Source) -> Rows:
        """Targets and weights of a source's rows."""
        if self.categorical_features is not None and not isinstance(self.categorical_features, str):
            raise ValueError("categorical_features of streamed rows are not read; give the rows in memory, or None.")
        self.is_categorical_, self.levels_ = None, None
        y, weight = zip(*((host(block.targets)[:, 0], host(block.weight)) for block in source))
        weights = np.concatenate(weight)
        return Rows(source, np.concatenate(y), None if (weights == 1).all() else weights)

    def _opened(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Rows to learn from, those of no weight left out."""
        if self._is_streamed(X):
            rows = self._streamed(X, y, sample_weight)
        else:
            cells = self._validate(X, reset=True)
            rows = Rows(cells, self._coded(y), check_weight(sample_weight, len(cells)))
            if len(rows.y) != len(cells):
                raise ValueError(
                    f"Found input variables with inconsistent numbers of samples: X has {len(cells)} rows and y {len(rows.y)}."
                )
        rows.weight = self._weighted(rows.weight, rows.y)
        if rows.weight is not None and (rows.weight == 1).all():
            rows.weight = None
        if rows.weight is not None and not rows.weight.all() and not isinstance(rows.X, Source):
            kept = np.flatnonzero(rows.weight)
            rows = Rows(rows.X[kept], rows.y[kept], rows.weight[kept])
        return rows

    def _held_out(self, rows: Rows) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Numbers of the rows to learn from and of those that tell when to end; None is all and none."""
        if not self.do_early_stopping_ or self.validation_fraction is None:
            return None, None
        stratify = rows.y if is_classifier(self) else None
        try:
            train, test = train_test_split(
                np.arange(len(rows.y)),
                test_size=self.validation_fraction,
                stratify=stratify,
                random_state=self._random_seed,
            )
        except ValueError as error:
            raise ValueError(
                f"early_stopping={self.early_stopping!r} holds out validation_fraction={self.validation_fraction!r} of the "
                f"{len(rows.y)} sample(s){' by class' if stratify is not None else ''}, which are too few: use "
                f"early_stopping=False, or give X_val and y_val. {error}"
            ) from None
        return train, test

    def _binned(self, rows: Rows, train: np.ndarray | None) -> tuple[Bins, Cells]:
        """How columns are cut, by the rows to learn from, and the cells of all rows."""
        n_levels = np.zeros(self.n_features_in_, np.int64) if self.levels_ is None else self.levels_.n_levels
        rng = np.random.default_rng(self._random_seed)
        if isinstance(rows.X, Source):
            sample = rows.X.sample(SAMPLE, rng)
            X, weight = host(sample.X), None if rows.weight is None else host(sample.weight)
        else:
            chosen = np.arange(len(rows.y)) if train is None else train
            if len(chosen) > SAMPLE:
                chosen = np.sort(rng.choice(chosen, SAMPLE, replace=False))
            whole = len(chosen) == len(rows.y)
            X, weight = rows.X if whole else rows.X[chosen], None
            if rows.weight is not None:
                weight = rows.weight if whole else rows.weight[chosen]
        bins = Bins.of(X, weight, self.max_bins, n_levels, self.n_jobs)
        return bins, bins.cells(rows.X, self.n_jobs)

    # Fitting

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
        self._check_settings()
        rows = self._opened(X, y, sample_weight)
        given = self._given_validation(X_val, y_val, sample_weight_val)
        again = self.warm_start and bool(getattr(self, "trees_", None))
        if not again:
            rng = check_random_state(self.random_state)
            self._random_seed = int(rng.randint(np.iinfo(np.uint32).max, dtype="u8"))
        elif self.max_iter < self.n_iter_:
            raise ValueError(
                f"max_iter={self.max_iter} must be larger than or equal to n_iter_={self.n_iter_} when warm_start==True"
            )
        self.do_early_stopping_ = bool(
            len(rows.y) > AUTO_ROWS if self.early_stopping == "auto" else self.early_stopping
        )
        train, test = (None, None) if given is not None else self._held_out(rows)
        self._boost(rows, train, test, given, again)
        self._pack()
        return self

    def _given_validation(self, X_val: Any, y_val: Any, sample_weight_val: Any) -> Rows | None:
        for here, there, told in ((X_val, y_val, ("X_val", "y_val")), (y_val, X_val, ("y_val", "X_val"))):
            if here is not None and there is None:
                raise ValueError(f"{told[0]} is provided, but {told[1]} was not provided.")
        if X_val is None:
            return None
        if self.early_stopping is False:
            raise ValueError(
                "X_val and y_val are passed to fit while at the same time early_stopping is False. When passing X_val and y_val "
                "to fit, early_stopping should be set to either 'auto' or True."
            )
        X = self._validate(X_val, reset=False)
        return Rows(X, self._coded_again(y_val), check_weight(sample_weight_val, len(X)))

    def _boost(
        self, rows: Rows, train: np.ndarray | None, test: np.ndarray | None, given: Rows | None, again: bool
    ) -> None:  # fmt: skip
        """Add trees until there are enough, or until rows held out gain nothing more."""
        started = time.perf_counter()
        sign, groups = self._constraints()
        loss = loss_of(self.loss, self.n_trees_per_iteration_, self._loss_setting)
        bins, cells = self._binned(rows, train)
        if isinstance(rows.X, Source) and rows.weight is not None and not rows.weight.all():
            train = np.intersect1d(np.arange(len(rows.y)) if train is None else train, np.flatnonzero(rows.weight))
        own, mine = rows, cells
        if train is not None:
            X = rows.X if isinstance(rows.X, Source) else rows.X[train] if again or self._scores_rows else None
            own = Rows(X, rows.y[train], None if rows.weight is None else rows.weight[train])
            mine = cells.rows(train)
        judge = None
        if given is not None:
            judge = Judge(given, bins.cells(given.X, self.n_jobs).codes)
        elif test is not None:
            X = None if isinstance(rows.X, Source) or not self._scores_rows else rows.X[test]
            judge = Judge(Rows(X, rows.y[test], None if rows.weight is None else rows.weight[test]), cells.codes[test])
        del cells
        limits = Limits(
            self.max_leaf_nodes,
            self.max_depth,
            self.min_samples_leaf,
            float(self.l2_regularization),
            float(self.max_features),
        )
        n_before = self.n_iter_ if again else 0
        grower = Grower(
            bins,
            mine,
            limits,
            sign,
            groups,
            loss.even and own.weight is None,
            self._random_seed + n_before,
            self.n_jobs,
        )
        if again:
            raw = self._raw_of(rows.X, train) if isinstance(rows.X, Source) else self._raw_of(own.X, None)
            scores = self.train_score_.tolist(), self.validation_score_.tolist()
        else:
            self.baseline_, self.trees_ = loss.start(own.y, own.weight), []
            raw, scores = self._from_baseline(len(own.y)), ([], [])
            loss.look(own.y, raw, own.weight, grower.over)
        if judge is not None:
            judge.raw = self._from_baseline(len(judge.rows.y))
            if again:
                judge.raw += self._raw_of(given.X, None) - self.baseline_ if given is not None else (
                    self._raw_of(rows.X, test) - self.baseline_
                )  # fmt: skip
        self._pack()
        keeper = Keeper(self, loss, own, raw, judge, scores)
        if not again:
            keeper.look()
        for number in range(n_before, self.max_iter):
            self.trees_.append(self._round(grower, loss, own, raw, judge, number))
            if self.verbose > 1:
                print(f"[{number + 1}/{self.max_iter}] {self._leaves_told(self.trees_[-1])}{keeper.told()}")
            if keeper.look():
                break
        self.train_score_, self.validation_score_ = (np.asarray(each, dtype=float) for each in scores)
        if self.verbose:
            leaves = sum(tree.n_leaves for each in self.trees_ for tree in each)
            print(
                f"[{type(self).__name__}] {self.n_iter_} rounds, {leaves} leaves, in {time.perf_counter() - started:.3f} s"
            )

    def _round(
        self, grower: Grower, loss: Loss, rows: Rows, raw: np.ndarray, judge: Judge | None, number: int
    ) -> list[Tree]:  # fmt: skip
        """The trees of one round, by which predictions move on."""
        drawn = None
        n = len(rows.y)
        if self.subsample < 1:
            rng = np.random.default_rng([self._random_seed, number])
            drawn = np.sort(rng.choice(n, max(1, round(self.subsample * n)), replace=False)).astype(np.uint32)
        weight = np.empty(0) if rows.weight is None else rows.weight
        seen, made = loss.look(rows.y, raw, rows.weight, grower.over), []
        for k in range(raw.shape[1]):
            grower.descend(partial(loss.slopes, k, seen, rows.y, raw, weight))
            nodes = grower.grow(drawn)
            leaves = np.flatnonzero(nodes["left"] < 0).tolist()
            if len(nodes) == 1:
                nodes["value"] = 0.0
            elif loss.renews:
                for leaf in leaves:
                    own = grower.rows_of(leaf)
                    step = loss.renewed(rows.y[own] - raw[own, k], None if rows.weight is None else rows.weight[own])
                    nodes["value"][leaf] = min(max(step, nodes["low"][leaf]), nodes["high"][leaf])
            nodes["value"][leaves] *= self.learning_rate
            grower.add_to(raw[:, k], drawn is not None)
            if judge is not None:
                grower.walk(judge.codes, judge.raw[:, k])
            made.append(grower.tree(rows.weight))
        return made

    def _leaves_told(self, trees: list[Tree]) -> str:
        return f"{len(trees)} trees, {sum(tree.n_leaves for tree in trees)} leaves, depth {max(t.max_depth for t in trees)}"

    @property
    def _scores_rows(self) -> bool:
        """Whether a scorer is to be given rows."""
        return self.do_early_stopping_ and self.scoring != "loss"

    def _get_small_trainset(self, X: Any, y: Any, sample_weight_train: Any, seed: Any) -> tuple:
        """At most 10,000 rows of those learned from, by which a scorer judges."""
        n = len(y)
        if n <= AUTO_ROWS:
            return X, y, sample_weight_train, slice(None)
        stratify = y if is_classifier(self) else None
        chosen = resample(np.arange(n), n_samples=AUTO_ROWS, replace=False, random_state=seed, stratify=stratify)
        weight = None if sample_weight_train is None else sample_weight_train[chosen]
        return X[chosen], y[chosen], weight, chosen

    def _should_stop(self, scores: list) -> bool:
        """Whether none of the latest scores is better than the one before them by more than tol."""
        if len(scores) < self.n_iter_no_change + 1:
            return False
        reference = scores[-self.n_iter_no_change - 1] + self.tol
        return not any(score > reference for score in scores[-self.n_iter_no_change :])

    # Predictions

    @property
    def n_iter_(self) -> int:
        """Rounds of boosting."""
        return len(self.trees_)

    @property
    def feature_importances_(self) -> np.ndarray:
        """What splits on each column gained, as shares of the whole."""
        check_is_fitted(self)
        total = np.zeros(self.n_features_in_)
        for tree in itertools.chain.from_iterable(self.trees_):
            inner = ~tree.is_leaf
            total += np.bincount(tree.feature[inner], weights=tree.gain[inner], minlength=len(total))
        return total / total.sum() if total.sum() > 0 else total

    @property
    def _loss(self) -> Loss:
        return loss_of(self.loss, self.n_trees_per_iteration_, self._loss_setting)

    def _pack(self) -> None:
        """Lay trees out by which rows are predicted: those of one output together."""
        self._forests = (
            [Forest.of([each[k] for each in self.trees_]) for k in range(len(self.baseline_))] if self.trees_ else []
        )

    def _check_loaded(self) -> None:
        if any(len(each) != len(self.baseline_) for each in self.trees_):
            raise ValueError("its rounds do not have a tree for each output")
        for tree in itertools.chain.from_iterable(self.trees_):
            tree.check({})
            if tree.n_features != self.n_features_in_:
                raise ValueError(f"a tree is of {tree.n_features} columns, not of {self.n_features_in_}")
        self._pack()

    def _from_baseline(self, n_rows: int) -> np.ndarray:
        return np.asfortranarray(np.tile(self.baseline_, (n_rows, 1)))

    def _raw_cells(self, X: np.ndarray) -> np.ndarray:
        raw = self._from_baseline(len(X))
        for k, forest in enumerate(self._forests):
            forest.total(X, self.n_jobs, out=raw[:, k : k + 1])
        return raw

    def _raw_of(self, X: Any, rows: np.ndarray | None) -> np.ndarray:
        """What is predicted so far of rows that are there already."""
        if isinstance(X, Source):
            raw = np.concatenate([self._raw_cells(np.ascontiguousarray(host(block.X))) for block in X])
        else:
            raw = self._raw_cells(X)
        return np.asfortranarray(raw if rows is None else raw[rows])

    def _raw_predict(self, X: Any) -> np.ndarray:
        """Sums of trees, (rows, outputs)."""
        check_is_fitted(self)
        if self._raw_given is not None:
            return self._raw_given
        if self._is_streamed(X):
            return self._apply(X, lambda block: self._raw_cells(host(block.X)))
        return self._raw_cells(self._validate(X, reset=False))

    def _explained(self, X: Any) -> tuple:
        """Cells, trees with what each adds to every output, and the constant: what `shap_values` explains."""
        terms = []
        for trees in self.trees_:
            for k, tree in enumerate(trees):
                value = np.zeros((tree.node_count, len(self.baseline_)))
                value[:, k] = tree.flat[:, 0]
                terms.append((tree, value))
        return self._validate(X, reset=False), terms, self.baseline_

    def _staged_raw_predict(self, X: Any) -> Iterator[np.ndarray]:
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        raw = self._from_baseline(len(X))
        for trees in self.trees_:
            for k, tree in enumerate(trees):
                raw[:, k] += tree.flat[tree.apply(X), 0]
            yield raw.copy()


def coded_columns(X: Any) -> np.ndarray | None:
    """Which columns of a data frame hold categories or text; None where none does."""
    if not hasattr(X, "columns"):
        return None
    declared = categorical_columns("from_dtype", X)
    mask = np.array([_is_text(column) for _, column in columns_of(X)], dtype=bool)
    mask = mask if declared is None else mask | declared
    return mask if mask.any() else None


def _is_text(column: Any) -> bool:
    """Whether a column of a data frame holds text; numbers written as text are numbers, as scikit-learn reads them."""
    return as_numbers(column) is None and any(
        isinstance(cell, str) and not is_numeral(cell) for cell in as_objects(column)
    )


def _is_tensor(X: Any) -> bool:
    return type(as_numpy(X)).__module__.partition(".")[0] == "torch" if hasattr(X, "device") else False
