"""`PCA`: principal components.

x ≈ m + V z,    z = Vᵀ (x − m),    S = V Λ Vᵀ + σ² (I − V Vᵀ)

Columns of V are the leading eigenvectors of the covariance of the rows, Λ their eigenvalues.
"""

from __future__ import annotations

import numbers
import warnings
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse

from ...base.settings import KW_ONLY, settings
from ...checks import check_choice, check_n_jobs, check_number, check_weight
from ...declared import SQUARES, Numbers, Part, Whole
from ...source import ArraySource
from ..moments import Moments, moments
from .axes import Axes, from_moments, from_rows, sparse_moments
from .cells import from_cells
from .estimator import PrincipalAxes
from .rank import METHODS, RankChoice, rank_of
from .routes import ROUTES, choose_route

__all__ = ["PCA"]

MOST_COLUMNS = 20_000  # of sparse rows, whose products are held as one dense matrix


@settings
class PCA(PrincipalAxes):
    """Principal component analysis of arrays, tables, files, streams and sparse rows, with missing cells.

    Works where scikit-learn's does. Rows with missing cells are taken for rows of the probabilistic model of which principal
    components are the limit (:class:`ProbabilisticPCA`), which is then learned from all observed cells.

    Parameters
    ----------
    n_components : int, float, {"mle", "bic", "parallel", "cv"} or None, default=None
        Number of components; a share of the variance to explain, between 0 and 1; or how to choose: by Minka's evidence,
        by BIC, by parallel analysis, or by generalised cross-validation of cells. None keeps all.
    copy : bool, default=True
        Accepted for compatibility: rows are never overwritten.
    whiten : bool, default=False
        Divide scores by their standard deviations.
    svd_solver : {"auto", "full", "covariance_eigh", "gram", "randomized", "arpack"}, default="auto"
        The route: LAPACK's SVD of the rows; eigenvectors of the covariance matrix, in one pass and from any source; of the
        products of rows, for fewer rows than columns; a randomised block Krylov space; Lanczos. ``"auto"`` goes by shape.
    tol : float, default=0.0
        Tolerance of ``"arpack"``.
    iterated_power : int or "auto", default="auto"
        Steps of ``"randomized"``; each is worth about two of a power method.
    n_oversamples : int, default=10
        Random vectors of ``"randomized"`` beyond the components.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        Accepted for compatibility: blocks of ``"randomized"`` are always orthonormal.
    random_state : int, RandomState or None, default=None
        Seed of ``"arpack"``, ``"randomized"``, ``"parallel"`` and fits to missing cells.
    scale : bool, default=False
        Divide columns by their standard deviations first: components of the correlation matrix.
    n_jobs : int, optional
        Threads; default all cores. Results do not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features_in_)
        Principal axes, by decreasing variance.
    explained_variance_, explained_variance_ratio_, singular_values_ : ndarray of shape (n_components_,)
        Variance along each axis (divisor n − 1), its share, and the norm of the scores.
    mean_ : ndarray of shape (n_features_in_,)
    scale_ : ndarray of shape (n_features_in_,) or None
        Standard deviations that columns were divided by.
    n_components_, n_samples_ : int
    noise_variance_ : float
        Mean variance of what is left out.
    rank_choice_ : RankChoice or None
        The curve by which the number of components was chosen.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Tipping and Bishop (1999), Probabilistic principal component analysis. Minka (2000), Automatic choice of dimensionality for
    PCA. Musco and Musco (2015), Randomized block Krylov methods. Josse and Husson (2012), Selecting the number of components in
    PCA using cross-validation approximations.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.factor import PCA
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [-3.0, -2.0], [1.0, 1.0], [2.0, 1.0], [3.0, 2.0]])
    >>> pca = PCA(1).fit(X)
    >>> pca.explained_variance_ratio_.round(4)
    array([0.9924])
    >>> pca.reconstruct(X[:1]).round(2)
    array([[-1.16, -0.75]])
    """

    n_components: Any = None
    _: KW_ONLY
    copy: bool = True
    whiten: bool = False
    svd_solver: Any = "auto"
    tol: float = 0.0
    iterated_power: Any = "auto"
    n_oversamples: int = 10
    power_iteration_normalizer: str = "auto"
    random_state: Any = None
    scale: bool = False
    n_jobs: int | None = None

    _saved = PrincipalAxes._saved | {
        "components_": Numbers("k d"),
        "explained_variance_": Numbers("k", low=0, high=SQUARES),
        "explained_variance_ratio_": Numbers("k", low=0),
        "singular_values_": Numbers("k", low=0, high=SQUARES),
        "mean_": Numbers("d"),
        "scale_": Numbers("d", above=0, optional=True),
        "n_components_": Whole(0, size="k"),
        "n_samples_": Whole(1),
        "noise_variance_": Numbers(low=0, high=SQUARES),
        "rank_choice_": Part(RankChoice, optional=True),
    }

    def _check_settings(self) -> None:
        k: Any = self.n_components
        whole = isinstance(k, numbers.Integral) and not isinstance(k, bool)
        share = isinstance(k, numbers.Real) and not isinstance(k, numbers.Integral)
        whole, share = whole and k >= 0, share and 0 < k < 1
        if not (k is None or whole or share or (isinstance(k, str) and k in METHODS)):
            raise ValueError(
                f"n_components={k!r} is unknown; use None, a whole number of at least 0, a share of the variance between 0 "
                f"and 1, or one of {', '.join(map(repr, METHODS))}."
            )
        check_choice("svd_solver", self.svd_solver, ("auto", *ROUTES))
        check_choice("power_iteration_normalizer", self.power_iteration_normalizer, ("auto", "QR", "LU", "none"))
        check_number("tol", self.tol, numbers.Real, 0)
        check_number("n_oversamples", self.n_oversamples, numbers.Integral, 1)
        if self.iterated_power != "auto":
            check_number("iterated_power", self.iterated_power, numbers.Integral, 0)
        check_n_jobs(self.n_jobs)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the axes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), tensor, path, Arrow data, Dask collection or source
            Rows; NaN is missing.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights: weight 2 counts as the row given twice. For a path or a Dask dataframe the name of a column.

        Returns
        -------
        self
        """
        self._fit(X, sample_weight)
        self._warn_if_none()
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Find the axes, and the scores of the same rows.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        rows = self._fit(X, sample_weight)
        self._warn_if_none()
        return self._scores(rows)

    def _warn_if_none(self) -> None:
        if self.rank_choice_ is not None and self.n_components_ == 0:
            warnings.warn(
                f"n_components={self.n_components!r} finds no component beyond noise, so that scores have no columns; give a "
                "number to have some.",
                stacklevel=3,
            )

    # Fitting

    def _fit(self, X: Any, weight: Any, **simulations: Any) -> Any:
        """Learn from rows and return them as they were opened; `simulations` are settings of parallel analysis."""
        self._check_settings()
        rows = self._rows(X, weight, reset=True)
        sparse, in_memory = issparse(rows), isinstance(rows, ArraySource)
        n, d = rows.shape if sparse else (rows.n_rows, rows.n_features)
        weight = check_weight(weight, n) if sparse else rows.weight if in_memory else None
        n = n if weight is None else int((weight > 0).sum())
        route = self._route(n, d, in_memory=sparse or in_memory, sparse=sparse)
        k = self._asked(n, d, route)
        found = self._axes(rows, weight, route, _given(k), min(n, d))
        if found is None:
            settings = {"random_state": self.random_state, "n_jobs": self.n_jobs}
            cells, choice = from_cells(rows, self.n_components, self.scale, self._told, simulations, **settings)
            found, k = self._unbiased(cells), len(cells.axes)
        else:
            found, choice = self._unbiased(found), None
            if _given(k) is None:
                choice = rank_of(found.spectrum(n), k, random_state=self.random_state, **simulations)
                k = choice.rank
        self._publish(found, int(k), choice, n, rows.dtype)
        return rows

    def _axes(self, rows: Any, weight: np.ndarray | None, route: str, k: int | None, most: int) -> Axes | None:
        """The first k axes by a route, or at most all; None where a cell is missing."""
        sparse = issparse(rows)
        if isinstance(rows, ArraySource) and not all(block.patterns.is_complete for block in rows):
            return None
        if route == "covariance_eigh":
            known = self._sparse_moments(rows, weight) if sparse else moments(rows)
            return None if known.incomplete else from_moments(known, self.scale, self._told, k)
        table, n_axes = rows if sparse else rows.X, most if k is None else k
        return from_rows(table, weight, route, n_axes, self.scale, self._told, **self._settings(route))

    def _sparse_moments(self, X: Any, weight: np.ndarray | None) -> Moments:
        n, d = X.shape
        if d > MOST_COLUMNS:
            raise ValueError(
                f"n_components={self.n_components!r} of sparse rows takes a matrix of {d} × {d} products of columns; ask for "
                f"fewer components, by a number below {min(n, d) // 6}, or use svd_solver='arpack'."
            )
        return sparse_moments(X, weight)

    def _route(self, n: int, d: int, *, in_memory: bool, sparse: bool) -> str:
        """The route that is taken, which is `svd_solver` unless that is "auto"."""
        solver = self.svd_solver
        if sparse and solver in ("full", "gram"):
            raise TypeError(
                f"svd_solver={solver!r} would make sparse rows dense; use 'auto', 'covariance_eigh', 'randomized' or 'arpack'."
            )
        if not in_memory:
            if solver not in ("auto", "covariance_eigh"):
                raise ValueError(
                    f"svd_solver={solver!r} needs all rows in memory, but X is read in blocks; use 'auto' or "
                    "'covariance_eigh'."
                )
            solver = "covariance_eigh"
        elif solver == "auto":
            k = min(n, d) if self.n_components is None else self.n_components
            solver = choose_route(n, d, k, sparse)
        elif solver == "gram" and n > d:
            raise ValueError(
                f"svd_solver='gram' is for fewer rows than columns, but X has {n} rows and {d} columns; use "
                "'covariance_eigh'."
            )
        self._fit_svd_solver = solver
        return solver

    def _asked(self, n: int, d: int, route: str) -> Any:
        """The number of components, or how to choose it, after checks."""
        k, least, truncated = self.n_components, min(n, d), route in ("arpack", "randomized")
        if k is None:
            return least - 1 if route == "arpack" else least
        if isinstance(k, str) and truncated:
            raise ValueError(f"n_components={k!r} cannot be a string with svd_solver={route!r}")
        if k == "mle" and n < d:
            raise ValueError("n_components='mle' is only supported if n_samples >= n_features")
        if isinstance(k, str):
            return k
        if not truncated <= k <= least:
            raise ValueError(
                f"n_components={k} must be between {int(truncated)} and min(n_samples, n_features)={least} with "
                f"svd_solver={route!r}"
            )
        if route == "arpack" and k == least:
            raise ValueError(
                f"n_components={k} must be strictly less than min(n_samples, n_features)={least} with svd_solver='arpack'"
            )
        return k if isinstance(k, numbers.Integral) else float(k)

    def _settings(self, route: str) -> dict[str, Any]:
        seed = {"random_state": self.random_state}
        if route == "randomized":
            return seed | {"n_oversamples": self.n_oversamples, "n_iter": self.iterated_power}
        return seed | {"tol": self.tol} if route == "arpack" else {}

    def _unbiased(self, found: Axes) -> Axes:
        if found.weight <= 1.0:
            raise ValueError(
                f"the rows weigh {found.weight:g} together, but weights count rows, of which at least two are needed; multiply "
                "sample_weight so that it sums to the number of rows."
            )
        return found.unbiased()

    def _publish(self, found: Axes, k: int, choice: RankChoice | None, n: int, dtype: np.dtype) -> None:
        """Set the fitted attributes."""
        least = min(n, len(found.mean))
        kept = found.variances[:k]
        whole = found.total if found.noise is None else float(found.variances.sum())
        noise = found.noise
        if k >= least:
            noise = 0.0
        elif noise is None:
            known = len(found.variances) >= least
            rest = found.variances[k:least].sum() if known else max(whole - kept.sum(), 0.0)
            noise = float(rest) / (least - k)
        self.mean_ = found.mean.astype(dtype)
        self.scale_ = None if found.scale is None else found.scale.astype(dtype)
        self.components_ = np.ascontiguousarray(found.axes[:k], dtype=dtype)
        self.explained_variance_ = kept.astype(dtype)
        self.explained_variance_ratio_ = (kept / (whole or 1.0)).astype(dtype)
        self.singular_values_ = np.sqrt(kept * (found.weight - 1.0)).astype(dtype)
        self.noise_variance_ = noise
        self.n_components_, self.n_samples_, self.rank_choice_ = k, n, choice


def _given(k: Any) -> int | None:
    """The number of components where it is given, else None."""
    return int(k) if isinstance(k, numbers.Integral) else None
