"""`MixtureImputer`: missing cells of tables of any columns, by groups of rows that are alike.

x̂_M = Σ_k p(k | x_O) E_k[x_M | x_O], or the most probable level:    p(x) = Σ_k π_k Π_f p_f(x_f | θ_kf)
"""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import _check_feature_names, _check_feature_names_in, _check_n_features, check_is_fitted

from ..base import RowsEstimator
from ..base.settings import KW_ONLY, settings
from ..declared import Numbers, Part
from ..frames import as_numbers, check_names, columns_of, is_table, missing_cells, only, package, with_columns
from ..mixture import Mixture
from ..mixture.finding import SMOOTHING, asked_groups, default_groups
from ..source import Source
from ..survey.column import ROLES
from ..survey.roles import MANY_LEVELS

__all__ = ["MixtureImputer"]

MOST_GROUPS = 6
PATIENCE = 2
"""Numbers of groups in turn without a better BIC after which no more are tried."""
STRUCTURES = ["full", "tied"]
UNUSED = ("code", "id", "text", "date", "empty")
"""Roles of columns that have nothing to fill, or nothing to fill them by."""


@settings
class MixtureImputer(TransformerMixin, RowsEstimator):
    """Impute missing cells of tables with measurements, counts, categories and yes/no columns.

    For pipelines, where scikit-learn's imputers take one type of column at a time. Rows are described by a mixture: groups of
    rows, each with its own levels, rates and jointly Gaussian measurements. A missing cell gets its expectation, or its most
    probable level, given the observed cells of its row. A table comes back as the kind it is, with the types its columns have.
    Every cell is filled, as later steps of a pipeline need; :func:`choose_imputer` leaves those empty that are not applicable.

    Parameters
    ----------
    n_components : int, iterable of int or "auto", default="auto"
        Number of groups, or numbers to choose among by BIC; "auto" tries 1 to 6, or fewer where rows are few.
    covariance_type : str or "auto", default="auto"
        Structure of measurements within groups, as in :class:`tacit.mixture.GaussianMixture`; "auto" is "full" or "tied", by
        BIC.
    by_column : dict, optional
        Families of columns, as in :class:`tacit.mixture.Mixture`; default by what they hold.
    unknown : {"missing", "error"}, default="missing"
        What to do about levels that did not occur at fit: take them as missing (they stay as they are), or refuse the rows.
    sample_posterior : bool, default=False
        Draw missing cells instead of filling in what is expected, for multiple imputation.
    add_indicator : bool, default=False
        Append one column per column with missing cells at fit that says where they are.
    parameter_draws, random_state, n_jobs
        As in :class:`tacit.mixture.GaussianMixture`.

    Attributes
    ----------
    mixture_ : tacit.mixture.Mixture
        The learned distribution; its methods give intervals, draws and groups.
    fallback_ : tacit.mixture.Mixture or None
        The distribution of all rows as one group, for cells likely in a group that has seen next to none of their column.
    used_ : ndarray of shape (n_features_in_,)
        Which columns the mixture describes. Identifiers, free text, dates and columns without any value pass through unchanged.
    indicated_ : ndarray of shape (n_features_in_,)
        Which columns had missing cells.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Hunt and Jorgensen (2003), Mixture model clustering for mixed data with missing information.

    Examples
    --------
    >>> import pandas as pd
    >>> from tacit.impute import MixtureImputer
    >>> table = pd.DataFrame({"size": [1.0, 1.3, None, 5.2, 5.1, 4.8] * 50, "sort": ["a", "a", "a", "b", None, "b"] * 50})
    >>> MixtureImputer(2, random_state=0).fit_transform(table).iloc[[2, 4]].round(1)
       size sort
    2   1.2    a
    4   5.1    b
    """

    n_components: Any = "auto"
    _: KW_ONLY
    covariance_type: str = "auto"
    by_column: Any = None
    unknown: str = "missing"
    sample_posterior: bool = False
    add_indicator: bool = False
    parameter_draws: int | str = "auto"
    random_state: Any = None
    n_jobs: int | None = None

    _saved = RowsEstimator._saved | {
        "mixture_": Part(Mixture), "fallback_": Part(Mixture, optional=True), "used_": Numbers("d", kind="b"),
        "indicated_": Numbers("d", kind="b"),
    }  # fmt: skip
    _reads_tables = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _mixture(self, n_components: int = 1, covariance_type: str = "full") -> Mixture:
        return Mixture(
            n_components, covariance_type=covariance_type, by_column=self.by_column, unknown=self.unknown, smoothing=SMOOTHING,
            tol=1e-5, max_iter=500, parameter_draws=self.parameter_draws, random_state=self.random_state, n_jobs=self.n_jobs,
        )  # fmt: skip

    def _groups(self, n_rows: int) -> list[int]:
        if isinstance(self.n_components, str) and self.n_components == "auto":
            return list(default_groups(n_rows, MOST_GROUPS))
        if not isinstance(self.n_components, (numbers.Integral, Iterable)) or isinstance(self.n_components, str):
            raise ValueError(f"n_components={self.n_components!r} must be a number of groups, some numbers, or 'auto'.")
        return list(asked_groups(self.n_components))

    def _check_settings(self) -> None:
        self._groups(2)
        self._mixture(
            covariance_type="full" if self.covariance_type == "auto" else self.covariance_type
        )._check_settings()

    def _check_loaded(self) -> None:
        if self.mixture_.n_features_in_ != self.used_.sum():
            raise ValueError(f"'mixture_' has {self.mixture_.n_features_in_} columns, but {self.used_.sum()} are used")

    def _validate(self, X: Any, *, reset: bool) -> Any:
        """X, with its columns counted and named; lists become arrays."""
        if not is_table(X):
            return super()._validate(X, reset=reset)
        X = np.array(X, dtype=object) if isinstance(X, (list, tuple)) else X
        if package(X) != "pyarrow":
            if hasattr(X, "columns"):
                check_names(X.columns)
            _check_feature_names(self, X, reset=reset)
        _check_n_features(self, X, reset=reset)
        return X

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the distribution of the columns.

        Parameters
        ----------
        X : table or array-like of shape (n_samples, n_features)
            Rows with missing cells: pandas, polars, Arrow, or an array.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights.

        Returns
        -------
        self
        """
        self._check_settings()
        X = self._validate(X, reset=True)
        self.indicated_ = missing_cells(X).any(axis=0)
        self.used_ = self._usable(X)
        if not self.used_.any():
            raise ValueError("X has no column to learn from: identifiers, free text and dates pass through unchanged.")
        groups = self._groups(len(X))
        rows = self._mixture()._open(only(X, self.used_), sample_weight, reset=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of fits that are not kept
            self.mixture_ = min(self._tried(rows, groups), key=lambda tried: tried[0])[1]
            # Of cells that a group has hardly seen, all rows tell more.
            alone = self.mixture_._knowledge() is None
            self.fallback_ = None if alone else self._mixture(1, self.mixture_.covariance_type).fit(rows)
        self.mixture_._warn_if_collapsed()
        return self

    def _tried(self, rows: Source, groups: list[int]) -> Iterator[tuple[tuple[bool, float], Mixture]]:
        """Scores and mixtures of every structure, with more and more groups until two numbers in turn are no better.

        Where no component collapsed, the score is BIC; mixtures in which one did are worse than any other.
        """
        for kind in STRUCTURES if self.covariance_type == "auto" else [self.covariance_type]:
            least, worse = (True, np.inf), 0
            for k in groups:
                mixture = self._mixture(k, kind).fit(rows)
                score = bool(mixture._model().collapsed(mixture.fit_.params)), mixture.bic(rows)
                yield score, mixture
                least, worse = min(least, score), 0 if score < least else worse + 1
                if worse == PATIENCE:
                    break

    def _usable(self, X: Any) -> np.ndarray:
        """Which columns can be filled and filled by."""
        if not is_table(X):
            return np.logical_not(missing_cells(X).all(axis=0))
        from ..tables import open_table

        asked = {name for key in self.by_column or () for name in (key if isinstance(key, tuple) else (key,))}
        infos = open_table(X).columns
        return np.array([name in asked or _has_use(column, info) for (name, column), info in zip(columns_of(X), infos)])

    def transform(self, X: Any) -> Any:
        """Fill missing cells.

        Parameters
        ----------
        X : table or array-like of shape (n_samples, n_features)
            Rows with missing cells.

        Returns
        -------
        table of the kind of X, or ndarray of shape (n_samples, n_features_out)
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        rows = only(X, self.used_)
        filled = self._filled(self.mixture_, rows)
        if self.fallback_ is not None and missing_cells(filled).any():
            filled = self._filled(self.fallback_, filled)
        missing = missing_cells(X)[:, self.indicated_] if self.add_indicator else np.zeros((len(X), 0), dtype=bool)
        if not is_table(X):
            whole = np.array(X)
            whole[:, self.used_] = filled
            return np.hstack([whole, missing.astype(whole.dtype)])
        names = [name for name, _ in columns_of(X)]
        made = zip(np.array(names, dtype=object)[self.used_], (column for _, column in columns_of(filled)))
        more = zip(self.get_feature_names_out(list(map(str, names)))[len(names) :], missing.T)
        return with_columns(X, dict(made) | dict(more))

    def _filled(self, mixture: Mixture, rows: Any) -> Any:
        return mixture.draw_missing(rows, 1, self.random_state)[0] if self.sample_posterior else mixture.impute(rows)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the output columns.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the input columns; default those seen at fit.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        if not self.add_indicator:
            return names
        return np.concatenate([names, [f"missingindicator_{name}" for name in names[self.indicated_]]]).astype(object)


def _has_use(column: Any, info: Any) -> bool:
    """Whether a column can be filled, and others by it; numbers that are written as text are levels where they are few."""
    values = as_numbers(column)
    if values is not None and np.isinf(values[0]).any():
        return True  # the mixture names the column
    if values is not None:
        return info.role not in UNUSED
    return info.role not in UNUSED and (
        ROLES[info.role] not in ("continuous", "count") or info.n_distinct <= MANY_LEVELS
    )
