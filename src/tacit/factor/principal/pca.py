"""`PCA`: principal components.

x ≈ m + V z,    z = Vᵀ (x − m),    S = V Λ Vᵀ + σ² (I − V Vᵀ)

Columns of V are the leading eigenvectors of the covariance of the rows, Λ their eigenvalues.
"""

import numbers
import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse

from ...base.settings import KW_ONLY, settings
from ...checks import check_choice, check_n_jobs, check_number, check_weight
from ...declared import Numbers, Part, Whole
from ...source import ArraySource
from ..moments import moments
from .axes import from_moments, from_rows, sparse_moments
from .cells import from_cells
from .estimator import PrincipalAxes
from .rank import METHODS, RankChoice, Spectrum, rank_of
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
        Taken for compatibility: rows are never overwritten.
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
        Taken for compatibility: blocks of ``"randomized"`` are always orthonormal.
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
        "explained_variance_": Numbers("k", low=0),
        "explained_variance_ratio_": Numbers("k", low=0),
        "singular_values_": Numbers("k", low=0),
        "mean_": Numbers("d"),
        "scale_": Numbers("d", low=0, optional=True),
        "n_components_": Whole(0),
        "n_samples_": Whole(1),
        "noise_variance_": Numbers(low=0),
        "rank_choice_": Part(RankChoice, optional=True),
    }

    _simulations: ClassVar[Mapping] = MappingProxyType({})  # settings of parallel analysis, for `choose_rank`

    def _check_settings(self):
        k: Any = self.n_components
        whole = isinstance(k, numbers.Integral) and not isinstance(k, bool)
        share = isinstance(k, numbers.Real) and not isinstance(k, (numbers.Integral, bool))
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

    def fit(self, X, y=None, sample_weight=None):
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

    def fit_transform(self, X, y=None, sample_weight=None):
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

    def _warn_if_none(self):
        if self.rank_choice_ is not None and self.n_components_ == 0:
            warnings.warn(
                f"n_components={self.n_components!r} finds no component beyond noise, so that scores have no columns; give a "
                "number to have some.",
                UserWarning,
                stacklevel=3,
            )

    def _fit(self, X, weight):
        """Learn from rows and return them as they were opened."""
        self._check_settings()
        rows = self._rows(X, weight, reset=True)
        if issparse(rows):
            weight = check_weight(weight, rows.shape[0])
            self._from_sparse(rows, weight)
        else:
            self._from_source(rows)
        return rows

    # Fitting

    def _from_source(self, source):
        """Learn from rows that are not sparse."""
        array = source.X if isinstance(source, ArraySource) else None
        n, d = source.n_rows, source.n_features
        if array is not None and source.weight is not None:
            n = int((source.weight > 0).sum())
        route = self._route(n, d, in_memory=array is not None)
        k = self._asked(n, d, route)
        names = self._known_names()
        if array is not None and not all(block.patterns.is_complete for block in source):
            self._from_cells(source, n, names)
        elif array is None or route == "covariance_eigh":
            known = moments(source)
            if known.incomplete:
                self._from_cells(source, n, names)
            else:
                found = from_moments(known, self.scale, names, _given(k))
                self._settle(found, k, n, known.weight, source.dtype)
        else:
            total = float(n if source.weight is None else source.weight.sum())
            found = from_rows(
                array, source.weight, route, self._axes_for(k, n, d), self.scale, names, **self._settings(route)
            )
            self._settle(found, k, n, total, source.dtype)

    def _from_cells(self, source, n, names):
        """Learn from rows with missing cells."""
        settings = {"random_state": self.random_state, "n_jobs": self.n_jobs}
        found, choice, total = from_cells(source, self.n_components, self.scale, names, self._simulations, **settings)
        self._publish(found.unbiased(self._checked_total(total)), len(found.axes), choice, n, total, source.dtype)

    def _from_sparse(self, X, weight):
        """Learn from sparse rows, which stay sparse."""
        n, d = X.shape
        n = n if weight is None else int((weight > 0).sum())
        route = self._route(n, d, sparse=True)
        k = self._asked(n, d, route)
        total = float(n if weight is None else weight.sum())
        names = self._known_names()
        if route == "covariance_eigh":
            if d > MOST_COLUMNS:
                raise ValueError(
                    f"n_components={self.n_components!r} of sparse rows takes a matrix of {d} × {d} products of columns; ask for "
                    f"fewer components, by a number below {min(n, d) // 6}, or use svd_solver='arpack'."
                )
            found = from_moments(sparse_moments(X, weight), self.scale, names, _given(k))
        else:
            found = from_rows(X, weight, route, self._axes_for(k, n, d), self.scale, names, **self._settings(route))
        self._settle(found, k, n, total, X.dtype)

    def _route(self, n, d, *, in_memory=True, sparse=False):
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

    def _asked(self, n, d, route):
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

    def _axes_for(self, k, n, d):
        """How many axes a route must find: all where the number is chosen afterwards."""
        return min(n, d) if _given(k) is None else int(k)

    def _settings(self, route):
        if route == "randomized":
            power = {"n_oversamples": self.n_oversamples, "n_iter": self.iterated_power}
            return power | {"random_state": self.random_state}
        return {"tol": self.tol, "random_state": self.random_state} if route == "arpack" else {}

    def _checked_total(self, total):
        if total <= 1.0:
            raise ValueError(
                f"the rows weigh {total:g} together, but weights count rows, of which at least two are needed; multiply "
                "sample_weight so that it sums to the number of rows."
            )
        return total

    def _settle(self, found, k, n, total, dtype):
        """Choose the number of components where it is not given, and publish."""
        found, choice = found.unbiased(self._checked_total(total)), None
        if not isinstance(k, numbers.Integral):
            spread = None if self.scale else found.spread
            spectrum = Spectrum(found.variances[: min(n, len(found.mean))], total, len(found.mean), spread)
            choice = rank_of(spectrum, k, random_state=self.random_state, **self._simulations)
            k = choice.rank
        self._publish(found, int(k), choice, n, total, dtype)

    def _publish(self, found, k, choice, n, total, dtype):
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
        self.singular_values_ = np.sqrt(kept * (total - 1.0)).astype(dtype)
        self.noise_variance_ = noise
        self.n_components_, self.n_samples_, self.rank_choice_ = k, n, choice


def _given(k):
    """The number of components where it is given, else None."""
    return int(k) if isinstance(k, numbers.Integral) else None
