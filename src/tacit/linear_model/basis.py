"""`BasisExpansion`: functions of the columns, in which a linear model is a curve.

y = b + Σ_j w_j φ_j(x):    powers, exp(−½ |x − c|²/h²), arctan((x − c)/h), [x > c], B-splines
"""

from __future__ import annotations

import numbers
from itertools import combinations_with_replacement, product
from typing import Any, ClassVar, Self

import numpy as np
from scipy.interpolate import BSpline
from sklearn.base import TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from ..base import RowsEstimator
from ..base.settings import KW_ONLY, settings
from ..checks import check_choice, check_number, check_positive
from ..declared import Numbers
from ..kernels import host
from ..source import Block

__all__ = ["BasisExpansion"]

SAMPLE_ROWS = 10000  # rows that centres are chosen among
MOST_FUNCTIONS = 20000
KINDS = ("polynomial", "rbf", "arctan", "heaviside", "spline")


@settings
class BasisExpansion(TransformerMixin, RowsEstimator):
    """Turn columns into functions of them, of which a linear model makes curves.

    A missing cell makes every function of it missing, which linear models of `tacit.linear_model` integrate out.

    Parameters
    ----------
    kind : {"polynomial", "rbf", "arctan", "heaviside", "spline"}, default="polynomial"
        Products of powers of columns up to a total degree; Gaussian bumps around points; smooth steps, sharp steps and B-splines
        of every column on its own.
    degree : int, default=3
        Of polynomials, and of the pieces of splines.
    n_centers : int, default=10
        Bumps; of other kinds steps or knots per column, and of bumps on a grid points per column.
    centers : {"auto", "kmeans", "quantile", "grid"} or array-like, default="auto"
        Where they lie: at the centres of k-means (bumps by default), at quantiles of each column (the others by default), evenly
        between a column's least and greatest value, or as given: of shape (n_centers, n_features) for bumps, else (n_centers,)
        for every column.
    width : float or None, default=None
        Of bumps and smooth steps, in standard deviations of the columns; default the mean distance between neighbours.
    random_state : int, RandomState instance or None, default=0
        Seeds k-means.
    n_jobs : int or None, default=None
        Threads; None is all cores.

    Attributes
    ----------
    powers_ : ndarray of shape (n_functions, n_features)
        Exponents of a polynomial's terms.
    centers_ : ndarray of shape (n_functions, n_features) or (n_features, n_centers)
        Centres of bumps; steps or knots of every column.
    width_ : float
    scale_ : ndarray of shape (n_features,)
        Standard deviations of the columns.

    References
    ----------
    Bishop (2006), Pattern Recognition and Machine Learning, section 3.1.

    Examples
    --------
    >>> from tacit.linear_model import BasisExpansion
    >>> basis = BasisExpansion(degree=2).fit([[1.0, 2.0], [3.0, 4.0]])
    >>> basis.transform([[2.0, 3.0]])
    array([[2., 3., 4., 6., 9.]])
    >>> list(basis.get_feature_names_out())
    ['x0', 'x1', 'x0^2', 'x0 x1', 'x1^2']
    """

    kind: str = "polynomial"
    _: KW_ONLY
    degree: int = 3
    n_centers: int = 10
    centers: Any = "auto"
    width: float | None = None
    random_state: Any = 0
    n_jobs: int | None = None
    _saved: ClassVar = RowsEstimator._saved | {
        "powers_": Numbers("q d", low=0, kind="i", needed=lambda self: self.kind == "polynomial"),
        "centers_": Numbers("q d | d q", needed=lambda self: self.kind != "polynomial"),
        "width_": Numbers(above=0, needed=lambda self: self.kind in ("rbf", "arctan")),
        "scale_": Numbers("d", above=0),
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_settings(self) -> None:
        check_choice("kind", self.kind, KINDS)
        check_number("degree", self.degree, numbers.Integral, 1)
        check_number("n_centers", self.n_centers, numbers.Integral, 1)
        if self.width is not None:
            check_positive("width", self.width)
        if isinstance(self.centers, str):
            check_choice("centers", self.centers, ("auto", "kmeans", "quantile", "grid"))
            if self.centers == "kmeans" and self.kind != "rbf":
                raise ValueError(f"centers='kmeans' is for kind='rbf', not {self.kind!r}; use 'quantile' or 'grid'.")
            if self.centers == "quantile" and self.kind == "rbf":
                raise ValueError(
                    "centers='quantile' is for functions of one column; use 'kmeans' or 'grid' with kind='rbf'."
                )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the functions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._check_settings()
        source = self._open(X, reset=True)
        rows = source.sample(SAMPLE_ROWS, np.random.default_rng(0))
        cells = host(rows.X).astype(np.float64)
        deviation = np.nanstd(cells, axis=0)
        self.scale_ = np.where(deviation > 0, deviation, 1.0)
        if self.kind == "polynomial":
            self.powers_ = _powers(cells.shape[1], self.degree)
        elif self.kind == "rbf":
            self.centers_ = self._bumps(cells)
            self.width_ = self.width or _apart(self.centers_ / self.scale_)
        else:
            self.centers_ = self._places(cells)
            self.width_ = self.width or float(
                np.mean(np.ptp(self.centers_ / self.scale_[:, None], axis=1)) or 1.0
            ) / max(self.centers_.shape[1] - 1, 1)
        return self

    def _bumps(self, cells: np.ndarray) -> np.ndarray:
        """Centres of bumps."""
        d = cells.shape[1]
        if not isinstance(self.centers, str):
            return self._given(2, d)
        if self.centers == "grid":
            if self.n_centers**d > MOST_FUNCTIONS:
                raise ValueError(
                    f"a grid of n_centers={self.n_centers} points along each of {d} columns has {self.n_centers**d} bumps, more "
                    f"than {MOST_FUNCTIONS}; use centers='kmeans' or fewer."
                )
            lines = np.linspace(np.nanmin(cells, axis=0), np.nanmax(cells, axis=0), self.n_centers).T
            return np.array(list(product(*lines)))
        from ..cluster import KMeans

        distinct = len(np.unique(cells, axis=0))
        if self.n_centers > distinct:
            raise ValueError(
                f"n_centers={self.n_centers} exceeds the {distinct} distinct rows of X; use at most {distinct}."
            )
        means = KMeans(self.n_centers, random_state=self.random_state, n_init=1).fit(cells / self.scale_)
        return np.asarray(means.cluster_centers_, dtype=np.float64) * self.scale_

    def _places(self, cells: np.ndarray) -> np.ndarray:
        """Steps or knots of every column, in their order."""
        if not isinstance(self.centers, str):
            return np.tile(np.sort(self._given(1, cells.shape[1])), (cells.shape[1], 1))
        low, high = np.nanmin(cells, axis=0), np.nanmax(cells, axis=0)
        if self.kind == "spline":
            share = np.linspace(0, 1, max(self.n_centers, 2))
        else:
            share = (np.arange(self.n_centers) + 0.5) / self.n_centers
        if self.centers == "grid":
            found = low[:, None] + share * (high - low)[:, None]
        else:
            found = np.nanquantile(cells, share, axis=0).T
        if self.kind == "spline":  # ties would leave pieces without rows, and a constant column none at all
            even = low[:, None] + share * np.where(high > low, high - low, 1.0)[:, None]
            found = np.where((np.diff(found, axis=1) > 0).all(axis=1)[:, None], found, even)
        return found

    def _given(self, n_dimensions: int, d: int) -> np.ndarray:
        found = np.asarray(self.centers, dtype=np.float64)
        shape = "(n_centers, n_features)" if n_dimensions == 2 else "(n_centers,)"
        if found.ndim != n_dimensions or not found.size or (n_dimensions == 2 and found.shape[1] != d):
            raise ValueError(f"centers has shape {found.shape}; for kind={self.kind!r} of {d} columns give {shape}.")
        if not np.isfinite(found).all():
            raise ValueError("centers holds what is no finite number; give the points themselves.")
        return found

    def transform(self, X: Any, out: Any = None) -> Any:
        """The functions of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing.
        out : path, optional
            A Parquet file to write to, in a stream, instead of returning an array.

        Returns
        -------
        ndarray of shape (n_samples, n_functions)
        """
        check_is_fitted(self)
        names = list(self.get_feature_names_out()) if out is not None else []
        return self._apply(X, self._functions, out, names)

    def _functions(self, block: Block) -> np.ndarray:
        x = host(block.X).astype(np.float64)
        if self.kind == "polynomial":
            columns = [np.prod([x[:, j] ** p for j, p in enumerate(row) if p], axis=0) for row in self.powers_]
            found = np.column_stack(columns)
        elif self.kind == "rbf":
            z, c = x / (self.scale_ * self.width_), self.centers_ / (self.scale_ * self.width_)
            found = np.exp(-0.5 * sum((z[:, j, None] - c[:, j]) ** 2 for j in range(z.shape[1])))
        else:
            found = np.hstack([self._of_column(x[:, j], j) for j in range(x.shape[1])])
        return found.astype(block.dtype)

    def _of_column(self, x: np.ndarray, column: int) -> np.ndarray:
        """Steps or splines of one column."""
        places = self.centers_[column]
        if self.kind == "spline":
            return _splines(x, places, self.degree)
        apart = x[:, None] - places
        if self.kind == "arctan":
            return np.arctan(apart / (self.width_ * self.scale_[column]))
        return np.where(np.isnan(apart), np.nan, (apart > 0).astype(np.float64))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the functions.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns; default those seen at fit.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        if self.kind == "polynomial":
            told = [
                " ".join(name if p == 1 else f"{name}^{p}" for name, p in zip(names, row) if p) for row in self.powers_
            ]
        elif self.kind == "rbf":
            told = [f"rbf({', '.join(f'{name}={_short(c)}' for name, c in zip(names, row))})" for row in self.centers_]
        elif self.kind == "spline":
            count = self.centers_.shape[1] + self.degree - 2
            told = [f"spline {k + 1} of {name}" for name in names for k in range(count)]
        else:
            sign = {"arctan": "arctan({} - {})", "heaviside": "{} > {}"}[self.kind]
            told = [sign.format(name, _short(c)) for name, row in zip(names, self.centers_) for c in row]
        return np.array(told, dtype=object)


def _short(value: float) -> str:
    return f"{value:.4g}"


def _powers(d: int, degree: int) -> np.ndarray:
    """Exponents of all products of columns up to a total degree, but for the constant."""
    terms = [term for size in range(1, degree + 1) for term in combinations_with_replacement(range(d), size)]
    if len(terms) > MOST_FUNCTIONS:
        raise ValueError(
            f"degree={degree} of {d} columns makes {len(terms)} terms, more than {MOST_FUNCTIONS}; use a lower one."
        )
    return np.array([np.bincount(term, minlength=d) for term in terms])


def _apart(centers: np.ndarray) -> float:
    """Mean distance from a centre to the nearest other one."""
    if len(centers) < 2:
        return 1.0
    squares = ((centers[:, None] - centers) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    return float(np.sqrt(squares.min(axis=1)).mean()) or 1.0


def _splines(x: np.ndarray, knots: np.ndarray, degree: int) -> np.ndarray:
    """B-splines of a column but for the first, which the others and the intercept imply; straight beyond the last knots."""
    whole = np.concatenate([np.repeat(knots[0], degree), knots, np.repeat(knots[-1], degree)])
    basis = BSpline(whole, np.eye(len(whole) - degree - 1), degree)
    inside = np.clip(x, knots[0], knots[-1])
    found, beyond = basis(inside), x - inside
    if (beyond != 0).any():
        found = found + basis(inside, nu=1) * np.where(np.isnan(beyond), 0.0, beyond)[:, None]
    return found[:, 1:]
