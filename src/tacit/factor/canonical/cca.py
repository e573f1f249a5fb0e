"""Canonical correlation analysis: ρ = max over a, b of corr(X a, Y b), then again among what is uncorrelated with it."""

from __future__ import annotations

import numbers
import warnings
from contextlib import nullcontext
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ...base.settings import KW_ONLY, settings
from ...checks import check_choice, check_number
from ...declared import Listed, Numbers, Text, Whole
from ...source import ArraySource
from ...source.threads import one_blas_thread
from ...table import Table
from ..moments import moments
from .pairs import Canonical, View, canonical_pairs, correlation_tests, views_of_covariance, views_of_rows
from .views import TwoViews, check_ridge, project

__all__ = ["CCA"]

MANY = 20  # rows per column from which on their covariance is factored: QR of the rows costs several times as much
BLOCK = 10_000  # rows up to which both views are centred at once; sums over more are taken block by block
NARROW = 256  # columns up to which matrices are too small for the threads of BLAS, which cost more than they give
CONSTANT = 1e-12  # a deviation below this share of the mean is rounding


@settings
class CCA(RegressorMixin, TwoViews):
    """Canonical correlation analysis of two views of the same rows.

    A drop-in for :class:`sklearn.cross_decomposition.CCA`: the same arguments, methods and attributes, in the same
    lengths and signs. The solution is exact, from a singular value decomposition, where NIPALS iterates.

    Parameters
    ----------
    n_components : int, default=2
        Number of canonical pairs.
    scale : bool, default=True
        Divide columns by their standard deviations. Without a ridge this changes weights and loadings, not correlations.
    max_iter, tol : int, default=500, and float, default=1e-6
        Accepted for compatibility with scikit-learn and ignored: nothing is iterated.
    copy : bool, default=True
        If False, X and y may be overwritten with their centred and scaled values.
    ridge : float or pair of floats, default=0
        Added to the variances of each view, in units of their mean: for more columns than rows, where correlations are
        otherwise 1 whatever the data, and for columns that nearly repeat each other.

    Attributes
    ----------
    canonical_correlations_ : ndarray of shape (n_components,)
        Correlations of the pairs of scores; with a ridge, what it leaves of them.
    all_canonical_correlations_ : ndarray of shape (min of the views' ranks,)
        The same for all pairs there are.
    x_weights_, y_weights_ : ndarray of shape (n_features, n_components) and (n_targets, n_components)
        Orthonormal directions that scikit-learn's algorithm passes through.
    x_loadings_, y_loadings_ : ndarray of the same shapes
        Regressions of the scaled columns on the scores.
    x_rotations_, y_rotations_ : ndarray of the same shapes
        What scaled columns are multiplied by to give scores.
    coef_ : ndarray of shape (n_targets, n_features)
    intercept_ : ndarray of shape (n_targets,)
        The prediction of y is ``(X - X.mean(axis=0)) @ coef_.T + intercept_``.
    ranks_ : tuple of int
        Dimensions in which each view varies.
    route_ : {"rows", "covariance"}
        Whether the rows were factored (QR), or their covariance, summed in one pass: with many rows per column and a
        condition that leaves ten digits, that is as exact and several times as fast.
    n_samples_ : int
    n_iter_ : list of int
        A one for every pair.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
    target_names_in_ : ndarray
        Names of the columns of the second view, where they have any.

    Notes
    -----
    Scores of different pairs are uncorrelated; their lengths are those that NIPALS gives them. `predict` is
    scikit-learn's, which takes the score of X for that of y, as long as the pair's correlation is 1; for expectations with
    standard deviations, and for missing cells, use :class:`ProbabilisticCCA`.

    References
    ----------
    Hotelling (1936), Relations between two sets of variates, Biometrika 28. Björck and Golub (1973), Numerical methods for
    computing angles between linear subspaces, Mathematics of Computation 27. Bartlett (1941), The statistical
    significance of canonical correlations, Biometrika 32.

    Examples
    --------
    >>> from sklearn.datasets import load_linnerud
    >>> from tacit.factor import CCA
    >>> X, y = load_linnerud(return_X_y=True)
    >>> cca = CCA(n_components=3).fit(X, y)
    >>> cca.canonical_correlations_.round(4)
    array([0.7956, 0.2006, 0.0726])
    >>> [round(p, 3) for p in cca.test()["p_value"]]
    [0.062, 0.949, 0.775]
    """

    n_components: int = 2
    _: KW_ONLY
    scale: bool = True
    max_iter: int = 500
    tol: float = 1e-06
    copy: bool = True
    ridge: float = 0.0

    _saved = TwoViews._saved | {
        "all_canonical_correlations_": Numbers("a", low=0, high=1),
        "x_weights_": Numbers("d k"),
        "y_weights_": Numbers("t k"),
        "coef_": Numbers("t d"),
        "intercept_": Numbers("t"),
        "ranks_": Listed((Whole(0), Whole(0)), kind=tuple),
        "route_": Text(),
        "n_samples_": Whole(1),
        "n_iter_": Listed(Whole(0)),
        "_x_mean": Numbers("d"),
        "_y_mean": Numbers("t"),
        "_x_std": Numbers("d", above=0),
        "_y_std": Numbers("t", above=0),
    }
    _takes_missing = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.x_rotations_.shape[1]

    def fit(self, X: Any, y: Any) -> Self:
        """Find the canonical pairs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            First view.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Second view of the same rows.

        Returns
        -------
        self
        """
        self._check_settings()
        X, y = self._check_views(X, y, reset=True)
        most = min(len(X), X.shape[1], y.shape[1])
        if self.n_components > most:
            raise ValueError(
                f"`n_components` upper bound is {most}. Got {self.n_components} instead. Reduce `n_components`."
            )
        self.n_samples_ = len(X)
        ridge = check_ridge(self.ridge)
        with one_blas_thread() if X.shape[1] + y.shape[1] <= NARROW else nullcontext():
            first, second, overlap = self._views(X, y, ridge)
            self._check_ranks(first, second, ridge)
            self._publish(canonical_pairs(first, second, overlap, self.n_components, ridge))
        return self

    def _check_loaded(self) -> None:
        if len(self.all_canonical_correlations_) > min(self.ranks_):
            raise ValueError(
                f"views of ranks {self.ranks_} have no {len(self.all_canonical_correlations_)} correlations"
            )

    def _check_settings(self) -> None:
        check_number("n_components", self.n_components, numbers.Integral, 1)
        check_number("max_iter", self.max_iter, numbers.Integral, 1)
        check_number("tol", self.tol, numbers.Real, 0)
        for name in ("scale", "copy"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise ValueError(f"{name}={getattr(self, name)!r} must be True or False.")

    # Two routes to the views

    def _views(self, X: np.ndarray, y: np.ndarray, ridge: tuple[float, float]) -> tuple[View, View, np.ndarray]:
        """The views from the covariance of many rows, unless that would cost digits; else from the rows themselves."""
        n, p = X.shape
        many = n >= MANY * (p + y.shape[1])
        found = views_of_covariance(self._covariance(X, y), p, ridge) if many and n > BLOCK else None
        if found is None:
            rows = self._centred(X, y)
            if many and n <= BLOCK:
                found = views_of_covariance(rows.T @ rows / (n - 1.0), p, ridge)
        self.route_ = "rows" if found is None else "covariance"
        return found or views_of_rows(rows, p)

    def _covariance(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The covariance of both views, scaled if they are to be, in one pass by blocks."""
        n, found = len(X), moments(ArraySource(X, targets=y.astype(np.float64, copy=False)))
        covariance = found.covariance * (n / (n - 1.0))
        self._locate(found.mean, covariance.diagonal(), X.shape[1])
        deviation = np.concatenate([self._x_std, self._y_std])
        return covariance / np.outer(deviation, deviation)

    def _centred(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Rows [x, y] about their means, and over their deviations if they are to be scaled."""
        n, p = X.shape
        rows = np.hstack([X, y], dtype=np.float64)
        mean = rows.mean(axis=0)
        rows -= mean
        constant = self._locate(mean, np.einsum("ij,ij->j", rows, rows) / (n - 1.0), p)
        if constant.any():
            rows[:, constant] = 0.0
        if self.scale:
            rows /= np.concatenate([self._x_std, self._y_std])
        if not self.copy:
            for view, part in zip((X, y), np.split(rows, [p], axis=1)):
                if view.flags.writeable:
                    view[:] = part
        return rows

    def _locate(self, mean: np.ndarray, variance: np.ndarray, p: int) -> np.ndarray:
        """Set what rows are centred and scaled by, and say which columns are constant; these are not scaled."""
        variance = np.maximum(variance, 0.0)
        constant = np.sqrt(variance) <= CONSTANT * np.abs(mean)
        deviation = np.where(constant | (not self.scale), 1.0, np.sqrt(variance))
        self._x_mean, self._y_mean = np.split(mean, [p])
        self._x_std, self._y_std = np.split(deviation, [p])
        return constant

    def _check_ranks(self, first: View, second: View, ridge: tuple[float, float]) -> None:
        self.ranks_ = ranks = first.rank, second.rank
        for name, rank in zip("Xy", ranks):
            if rank == 0:
                raise ValueError(f"every column of {name} is constant, so that nothing correlates with it.")
        if min(ranks) < self.n_components:
            warnings.warn(
                f"X varies in {ranks[0]} dimensions and y in {ranks[1]}, so that there are {min(ranks)} canonical pairs; the "
                f"others of n_components={self.n_components} are zero.",
                stacklevel=3,
            )
        perfect = sum(ranks) - (self.n_samples_ - 1)
        if perfect > 0 and not any(ridge):
            warnings.warn(
                f"{self.n_samples_} rows are too few for views of rank {ranks[0]} and {ranks[1]}: {min(perfect, *ranks)} "
                "correlations are 1 whatever the data. Set ridge, for example ridge=0.1, or use fewer columns.",
                stacklevel=3,
            )

    def _publish(self, found: Canonical) -> None:
        self.all_canonical_correlations_ = found.correlations
        missing = max(self.n_components - len(found.correlations), 0)
        self.canonical_correlations_ = np.pad(found.correlations[: self.n_components], (0, missing))
        self.x_weights_, self.y_weights_ = found.weights
        self.x_loadings_, self.y_loadings_ = found.loadings
        self.x_rotations_, self.y_rotations_ = found.rotations
        self.coef_ = (self.y_loadings_ * self._y_std[:, None]) @ (self.x_rotations_ / self._x_std[:, None]).T
        self.intercept_ = self._y_mean
        self.n_iter_ = [1] * self.n_components

    # Scores and back

    def transform(self, X: Any, y: Any = None, copy: bool = True) -> Any:
        """Canonical scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            First view.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            Second view.
        copy : bool, default=True
            If False, X and y may be overwritten.

        Returns
        -------
        x_scores, y_scores : ndarray of shape (n_samples, n_components)
            Both if y is given, else those of X alone.
        """
        check_is_fitted(self)
        X, y = (self._check_first(X), None) if y is None else self._check_views(X, y)
        scores = project(X, self._x_mean, self._x_std, self.x_rotations_, copy)
        return scores if y is None else (scores, project(y, self._y_mean, self._y_std, self.y_rotations_, copy))

    def fit_transform(self, X: Any, y: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Find the canonical pairs and return the scores of both views; see `fit` and `transform`."""
        return self.fit(X, y).transform(X, y)

    def inverse_transform(self, X: Any, y: Any = None) -> Any:
        """Rows that scores stand for; exact where there are as many pairs as columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Scores of the first view.
        y : array-like of shape (n_samples, n_components), optional
            Scores of the second view.

        Returns
        -------
        X_original, y_original : ndarray of shape (n_samples, n_features) and (n_samples, n_targets)
            Both if y is given, else the first view alone.
        """

        def back(scores: np.ndarray, loadings: np.ndarray, deviation: np.ndarray, mean: np.ndarray) -> np.ndarray:
            return (scores @ (loadings * deviation[:, None]).T + mean).astype(scores.dtype)

        first = back(self._check_scores(X), self.x_loadings_, self._x_std, self._x_mean)
        if y is None:
            return first
        return first, back(self._check_scores(y, "y"), self.y_loadings_, self._y_std, self._y_mean)

    def predict(self, X: Any, copy: bool = True) -> np.ndarray:
        """The second view from the first, by scikit-learn's rule; see the Notes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            First view.
        copy : bool, default=True
            If False, X may be overwritten.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        check_is_fitted(self)
        X = self._check_first(X)
        predicted = project(X, self._x_mean, 1.0, self.coef_.T, copy) + self.intercept_.astype(X.dtype)
        return predicted[:, 0] if self._y_is_flat else predicted

    # Inference

    def test(self, method: str = "bartlett") -> Table:
        """How many correlations differ from zero: tests that all from the i-th on are zero, for Gaussian rows.

        Parameters
        ----------
        method : {"bartlett", "rao"}, default="bartlett"
            Bartlett's χ² approximation to Wilks' likelihood ratio, or Rao's F, which is closer where rows are few.

        Returns
        -------
        Table
            With the columns ``from pair``, ``correlation``, ``wilks``, ``chi_square`` or ``f``, ``df``, ``p_value``.
        """
        check_is_fitted(self)
        check_choice("method", method, ("bartlett", "rao"))
        if any(check_ridge(self.ridge)):
            raise ValueError(
                f"ridge={self.ridge!r} shrinks correlations, for which no test is known; fit with ridge=0."
            )
        if sum(self.ranks_) >= self.n_samples_:
            raise ValueError(
                f"{self.n_samples_} rows are too few to test views of rank {self.ranks_[0]} and {self.ranks_[1]}; there must "
                "be more rows than the sum of ranks."
            )
        # A correlation of 1 to the last digit is certain beyond what logarithms can tell.
        correlations = np.minimum(self.all_canonical_correlations_, 1.0 - 1e-15)
        return correlation_tests(correlations, self.n_samples_, self.ranks_, method)
