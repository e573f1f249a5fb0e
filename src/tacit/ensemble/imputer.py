"""`ForestImputer`: missing cells of mixed columns, each column predicted by a forest from the others, in turn until they rest."""

from __future__ import annotations

import numbers
from typing import Any, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from ..base.rows import RowsEstimator
from ..base.settings import KW_ONLY, settings
from ..checks import check_number
from ..declared import Either, Label, Listed, Numbers, Part, Whole
from ..frames import as_numbers, as_objects, assemble, columns_of, is_table, missing_cells, package
from ..tree.estimator import Grown
from ..tree.reading import open_rows
from .classifier import RandomForestClassifier
from .regressor import RandomForestRegressor

__all__ = ["ForestImputer"]


@settings
class ForestImputer(TransformerMixin, Grown):
    """Impute missing cells of numbers and categories by forests (missForest).

    Cells begin at the column's mean or most frequent level; columns are then gone through, those with fewest missing cells first,
    and predicted by a forest of the others, until the fills change more than in the pass before, or `max_iter` passes are done.
    The forests of the last pass that still improved are kept.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees of each forest.
    max_iter : int, default=10
        Most passes.
    min_samples_leaf : int or float, default=1
        Of the trees.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        As in :class:`RandomForestClassifier`.
    n_jobs, random_state
        As in :class:`RandomForestClassifier`.

    Attributes
    ----------
    forests_ : list of forest
        Of the columns with missing cells at fit, in the order in which they are filled.
    filled_ : ndarray of int
        Those columns.
    start_ : ndarray of shape (n_features_in_,)
        What cells begin with.
    n_iter_ : int
        Passes done.
    levels_ : list of list
        Levels of the columns of categories.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Stekhoven and Bühlmann (2012), MissForest: non-parametric missing value imputation for mixed-type data.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.ensemble import ForestImputer
    >>> x = np.arange(100.0)
    >>> X = np.column_stack([x, x**2])
    >>> X[50, 1] = np.nan
    >>> bool(abs(ForestImputer(random_state=0).fit_transform(X)[50, 1] - 2500) < 100)
    True
    """

    n_estimators: int = 100
    _: KW_ONLY
    max_iter: int = 10
    min_samples_leaf: Any = 1
    categorical_features: Any = "from_dtype"
    n_jobs: int | None = None
    random_state: Any = None

    _saved = RowsEstimator._saved | {
        "forests_": Listed(Either(Part(RandomForestClassifier), Part(RandomForestRegressor))),
        "filled_": Numbers("f", low=0, kind="i"),
        "start_": Numbers("d"),
        "n_iter_": Whole(0),
        "levels_": Listed(Listed(Label())),
    }
    _min_rows = 1

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        tags.input_tags.sparse = False
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _check_settings(self) -> None:
        check_number("n_estimators", self.n_estimators, numbers.Integral, 1)
        check_number("max_iter", self.max_iter, numbers.Integral, 1)

    def _check_loaded(self) -> None:
        if len(self.forests_) != len(self.filled_) or self.filled_.max(initial=-1) >= self.n_features_in_:
            raise ValueError(
                f"{len(self.forests_)} forests fill the columns {self.filled_.tolist()}, which do not go together"
            )

    def _is_levels(self, column: int) -> bool:
        return bool(self.levels_) and bool(self.levels_[column])

    def _coded_rows(self, X: Any, reset: bool) -> np.ndarray:
        X = np.array(open_rows(self, X, reset=reset), dtype=np.float64)
        for j, levels in enumerate(self.levels_):
            if levels:
                X[X[:, j] >= len(levels), j] = np.nan
        return X

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn to fill the columns.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            Rows with missing cells.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._check_settings()
        X = self._coded_rows(X, True)
        gone = np.isnan(X)
        if (empty := gone.all(axis=0)).any():
            raise ValueError(
                f"column {self._told(int(np.argmax(empty)))} has no observed value; drop it before fitting."
            )
        self.start_ = np.array([self._begin(X[~gone[:, j], j], j) for j in range(X.shape[1])])
        filled, rng = np.where(gone, self.start_, X), check_random_state(self.random_state)
        order = np.argsort(gone.sum(axis=0), kind="stable")
        self.filled_ = order[gone.any(axis=0)[order]].astype(np.int64)
        self.forests_, self.n_iter_, best = [], 0, (np.inf, np.inf)
        while self.n_iter_ < self.max_iter and len(self.filled_):
            before, forests = filled.copy(), []
            for j in self.filled_:
                forests.append(self._forest_of(filled, gone[:, j], int(j), rng.randint(2**31 - 1)))
                filled[gone[:, j], j] = self._fill(forests[-1], filled[gone[:, j]], int(j))
            change = self._change(before, filled, gone)
            if self.n_iter_ and not any(new < old for new, old in zip(change, best)):
                break
            self.forests_, best, self.n_iter_ = forests, change, self.n_iter_ + 1
        self.n_iter_ = max(self.n_iter_, 1)  # to look for missing cells is a pass
        return self

    def _begin(self, seen: np.ndarray, column: int) -> float:
        if not self._is_levels(column):
            return float(seen.mean())
        return float(np.bincount(seen.astype(int)).argmax())

    def _forest_of(self, rows: np.ndarray, gone: np.ndarray, column: int, seed: int) -> Any:
        """A forest that predicts a column from the others."""
        kind: Any = RandomForestClassifier if self._is_levels(column) else RandomForestRegressor
        others = [j for j in range(rows.shape[1]) if j != column and self._is_levels(j)]
        others = [j - (j > column) for j in others]
        forest = kind(
            self.n_estimators, max_features=1 / 3 if kind is RandomForestRegressor and rows.shape[1] > 3 else "sqrt",
            min_samples_leaf=self.min_samples_leaf, categorical_features=others or None, n_jobs=self.n_jobs, random_state=seed,
        )  # fmt: skip
        if rows.shape[1] == 1:
            forest.set_params(max_depth=0)
        y = rows[~gone, column]
        return forest.fit(self._others(rows[~gone], column), y.astype(int) if self._is_levels(column) else y)

    def _others(self, rows: np.ndarray, column: int) -> np.ndarray:
        return np.delete(rows, column, axis=1) if rows.shape[1] > 1 else np.zeros((len(rows), 1))

    def _fill(self, forest: Any, rows: np.ndarray, column: int) -> np.ndarray:
        return np.asarray(forest.predict(self._others(rows, column)), dtype=np.float64)

    def _change(self, before: np.ndarray, after: np.ndarray, gone: np.ndarray) -> tuple[float, float]:
        """How much fills changed: of numbers in units of their size, of levels as a share."""
        levels = np.array([self._is_levels(j) for j in range(after.shape[1])])
        moved = (after - before) ** 2
        numbers_changed = moved[:, ~levels].sum() / max((after[:, ~levels] ** 2).sum(), 1e-300)
        n_levels = gone[:, levels].sum()
        return float(numbers_changed), float((moved[:, levels] > 0).sum() / n_levels) if n_levels else 0.0

    def transform(self, X: Any) -> Any:
        """Fill missing cells.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            Rows with missing cells.

        Returns
        -------
        table of the kind of X, or ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        rows = self._coded_rows(X, False)
        gone = np.isnan(rows)
        filled = np.where(gone, self.start_, rows)
        for _ in range(self.n_iter_ if gone.any() else 0):
            for j, forest in zip(self.filled_, self.forests_):
                if gone[:, j].any():
                    filled[gone[:, j], j] = self._fill(forest, filled[gone[:, j]], int(j))
        if not is_table(X):
            return self._decoded_array(filled)
        return self._as_table(X, filled)

    def _decoded_array(self, filled: np.ndarray) -> np.ndarray:
        for j, levels in enumerate(self.levels_):
            if levels:
                filled[:, j] = np.asarray(levels, dtype=np.float64)[filled[:, j].astype(int)]
        return filled

    def _as_table(self, X: Any, filled: np.ndarray) -> Any:
        """X with its missing cells filled; the others stay as they were given."""
        X = np.array(X, dtype=object) if isinstance(X, (list, tuple)) else X
        gone = missing_cells(X)
        made: dict[Any, np.ndarray | None] = {}
        for j, (name, column) in enumerate(columns_of(X)):
            made[name] = None
            if not gone[:, j].any():
                continue
            levels, typed = self.levels_[j] if self.levels_ else [], as_numbers(column)
            told = [levels[int(code)] for code in filled[:, j]] if levels else filled[:, j].tolist()
            told = (
                np.round(filled[:, j]).astype(int).tolist() if typed is not None and typed[1] and not levels else told
            )
            cells = np.fromiter(as_objects(column), dtype=object, count=len(gone))
            cells[gone[:, j]] = np.fromiter(told, dtype=object, count=len(gone))[gone[:, j]]
            made[name] = cells
        return assemble(made, package(X), X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the output columns, those of the input.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the input columns; default those seen at fit.
        """
        check_is_fitted(self)
        return _check_feature_names_in(self, input_features)
