"""Factor analysis: x = μ + Λ f + ε,   f ~ N(0, Φ),   ε ~ N(0, Ψ) with Ψ diagonal, by maximum likelihood.

Complete rows are read once: their covariance says all there is to learn. Missing cells are integrated out by EM.
"""

import numbers
import warnings
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array, check_is_fitted

from ..base import like
from ..checks import check_choice, check_number
from ..engine import Trace
from ..families.factor import groups_of
from ..kernels import host
from ..source.base import one_blas_thread
from .adequacy import fit_test
from .base import FactorEstimator
from .correlation import Correlation, degrees_of_freedom, ledermann_bound, pairwise
from .maximum import Maximum, family, least_bic
from .moments import moments
from .rotation import ROTATIONS, Rotation, rotate
from .scores import METHODS, canonical

__all__ = ["FactorAnalysis", "HeywoodWarning"]

SMALL = 400  # columns
LEAST_FLOOR = 1e-9  # below, rounding leaves nothing of the likelihood


class HeywoodWarning(UserWarning):
    """Columns that the factors explain entirely, up to the floor: the likelihood has no maximum inside."""


class FactorAnalysis(FactorEstimator):
    """Factor analysis that takes missing cells, rotates, tests its fit and says how sure scores are.

    A drop-in for :class:`sklearn.decomposition.FactorAnalysis`: the same arguments, methods and attributes. Rows are read
    once, from any source, and the likelihood is brought to its maximum at a cost that does not depend on their number.

    Parameters
    ----------
    n_components : int, "bic", "parallel" or None, default=None
        Number of factors; None is as many as columns. ``"bic"`` chooses the least Bayesian information criterion, and
        ``"parallel"`` counts the eigenvalues of the correlation matrix above those of independent columns (Horn).
    tol : float, default=1e-2
        With missing cells, EM stops when a step gains less than this in log-likelihood. Complete rows are always
        brought to the maximum, which Newton's method reaches in a few steps.
    copy : bool, default=True
        Ignored: X is never written to.
    max_iter : int, default=1000
        Most steps, of Newton's method or of EM.
    noise_variance_init : array-like of shape (n_features,), optional
        Noise variances to start from; default those of a regression of each column on the others, and more starts
        where that leads to the floor.
    svd_method : {"lapack", "randomized"}, default="randomized"
        Checked and ignored: eigenvectors of the covariance are always exact.
    iterated_power : int, default=3
        Checked and ignored.
    rotation : {"varimax", "quartimax", "promax", "oblimin"}, optional
        Turn the factors towards simple structure. With the last two they correlate.
    random_state : int, RandomState instance or None, default=0
        Seeds further starts, those of oblimin, and `sample`.
    scale : bool, default=False
        Divide columns by their standard deviations: components, noise variances, covariances and densities are then of
        the standardised columns, so that loadings are correlations of factors with columns. Without a rotation the factors
        are the same either way. Rows, filled in or drawn, are in the columns' own units.
    uniqueness_floor : float, default=0.005
        Least noise variance, as a share of the column's variance. Without it the likelihood of some tables has no maximum
        (Heywood cases). scikit-learn's is 1e-12, whatever the unit.
    rotation_params : dict, optional
        Arguments of the rotation in :mod:`tacit.factor`, such as ``{"normalize": True}`` or ``{"gamma": -0.5}``.
    n_init : int, default=1
        Number of starts; the best is kept. A start at the floor is followed by others in any case.
    accelerate : {"auto", "anderson", "squarem", None}, default="anderson"
        Take fewer EM steps by extrapolating them.
    n_jobs : int, optional
        Threads; default all cores.
    callback : callable, optional
        Called with a :class:`tacit.engine.Progress` after every EM step.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Loadings; of the pattern where factors correlate.
    noise_variance_ : ndarray of shape (n_features,)
    mean_ : ndarray of shape (n_features,)
    scale_ : ndarray of shape (n_features,) or None
        Standard deviations that columns were divided by; None without `scale`.
    uniqueness_ : ndarray of shape (n_features,)
        Noise variances as shares of the columns' variances.
    heywood_ : ndarray of shape (n_features,)
        Columns whose uniqueness is at the floor.
    factor_correlation_ : ndarray of shape (n_components, n_components)
        Φ; the identity unless the rotation is oblique.
    structure_ : ndarray of shape (n_components, n_features)
        Covariances of factors and columns, ΦΛᵀ.
    rotation_ : ndarray of shape (n_components, n_components)
        M, such that ``components_.T`` is the unrotated loadings times M.
    test_ : FitTest or None
        χ² test of the number of factors, with Bartlett's correction: statistic, dof and p_value. None with missing
        cells, without degrees of freedom, or where columns are collinear.
    dof_ : int
        Degrees of freedom, negative where the factors are more than a covariance can tell apart.
    loglike_ : list of float
        Log-likelihood of the rows after every step.
    n_components_ : int
        The number of factors.
    n_iter_ : int
        Steps taken.
    converged_ : bool
    fit_ : tacit.engine.Fit
        Parameters, trace and the reason the fit stopped.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    A likelihood of factor analysis may have several maxima. Of those that the starts found, one with all uniquenesses above
    the floor is kept if there is any, because a maximum at the floor tells of the floor; then the highest.

    References
    ----------
    Jöreskog (1967), Some contributions to maximum likelihood factor analysis.
    Lawley and Maxwell (1971), Factor Analysis as a Statistical Method.
    Rubin and Thayer (1982), EM algorithms for ML factor analysis.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.factor import FactorAnalysis
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2)) @ rng.normal(size=(2, 8)) + rng.normal(size=(500, 8))
    >>> analysis = FactorAnalysis(2, rotation="varimax").fit(X)
    >>> analysis.test_.dof, bool(analysis.test_.p_value > 0.05)
    (13, True)
    """

    warm_start, verbose, verbose_interval, convergence = False, 0, 10, "relative"

    def __init__(
        self,
        n_components=None,
        *,
        tol=1e-2,
        copy=True,
        max_iter=1000,
        noise_variance_init=None,
        svd_method="randomized",
        iterated_power=3,
        rotation=None,
        random_state=0,
        scale=False,
        uniqueness_floor=0.005,
        rotation_params=None,
        n_init=1,
        accelerate="anderson",
        n_jobs=None,
        callback=None,
    ):
        self.n_components = n_components
        self.tol = tol
        self.copy = copy
        self.max_iter = max_iter
        self.noise_variance_init = noise_variance_init
        self.svd_method = svd_method
        self.iterated_power = iterated_power
        self.rotation = rotation
        self.random_state = random_state
        self.scale = scale
        self.uniqueness_floor = uniqueness_floor
        self.rotation_params = rotation_params
        self.n_init = n_init
        self.accelerate = accelerate
        self.n_jobs = n_jobs
        self.callback = callback

    def _check_settings(self):
        super()._check_settings()
        check_number("n_init", self.n_init, numbers.Integral, 1)
        if isinstance(self.n_components, str):
            check_choice("n_components", self.n_components, ("bic", "parallel"))
        elif self.n_components is not None:
            check_number("n_components", self.n_components, numbers.Integral, 0)
        check_choice("svd_method", self.svd_method, ("lapack", "randomized"))
        check_number("iterated_power", self.iterated_power, numbers.Integral, 0)
        check_choice("rotation", self.rotation, (*ROTATIONS, None))
        if not isinstance(self.rotation_params, (dict, type(None))):
            raise ValueError(f"rotation_params={self.rotation_params!r} is no dictionary of arguments of the rotation.")
        if not isinstance(self.scale, (bool, np.bool_)):
            raise ValueError(f"scale={self.scale!r} is neither True nor False.")
        floor = self.uniqueness_floor
        if not isinstance(floor, numbers.Real) or not LEAST_FLOOR <= floor < 1.0:
            raise ValueError(
                f"uniqueness_floor={floor!r} is no share of variance; use a number from {LEAST_FLOOR:g} to below 1."
            )

    # Learning

    def fit(self, X, y=None, sample_weight=None):
        """Learn the factors.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights: weight 2 counts as the row given twice. For a path or a Dask dataframe, the name of a column.

        Returns
        -------
        self
        """
        self._check_settings()
        source = self._open(X, sample_weight, reset=True)
        found = moments(source)
        complete = found.incomplete == 0.0
        if complete:
            correlation = Correlation.of(found.weight, found.mean, found.covariance)
        else:
            correlation = pairwise(source, found.mean)
        self._check_columns_vary(correlation)
        # Threads gain nothing on small matrices, and lose tenfold where other processes want the cores too.
        with one_blas_thread() if len(found.mean) <= SMALL else nullcontext():
            self._learn_factors(correlation, None if complete else source, source.dtype)
        self._warn(correlation)
        return self

    def _learn_factors(self, correlation, source, dtype):
        """Maximise the likelihood, of the rows of a source where these have missing cells."""
        maximum = self._maximum(correlation)
        learn = maximum.of_correlation if source is None else partial(maximum.of_rows, source)
        self.n_components_ = self._n_factors(correlation, learn)
        self.dof_ = degrees_of_freedom(len(correlation.matrix), self.n_components_)
        fit = learn(self.n_components_)
        self._publish_solution(fit, correlation, dtype)
        self.test_ = None
        if source is None:
            discrepancy = correlation.discrepancy(fit.trace.objectives[-1], self.uniqueness_floor)
            self.test_ = fit_test(correlation, self.n_components_, discrepancy)

    def _check_columns_vary(self, correlation):
        constant = ~correlation.varies
        if constant.all():
            raise ValueError("every column of X is constant; there is nothing to analyse.")
        if constant.any():
            warnings.warn(
                f"constant columns have no loadings: {self._named(constant)}; drop them.", UserWarning, stacklevel=3
            )

    def _named(self, columns):
        """Columns, given by a mask, by name or number."""
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
        return ", ".join(map(str, np.asarray(names)[columns]))

    def _maximum(self, correlation):
        """How the likelihood is maximised."""
        start = None
        if self.noise_variance_init is not None:
            start = check_array(self.noise_variance_init, ensure_2d=False, dtype=np.float64)
            if start.shape != correlation.mean.shape:
                raise ValueError(
                    f"noise_variance_init has shape {start.shape}, but X has {len(correlation.mean)} columns; give one each."
                )
            if not (start > 0.0).all():
                raise ValueError(f"noise_variance_init holds {start.min():g}; noise variances must be above 0.")
            start = (start if self.scale else start / correlation.deviation**2)[correlation.varies]
        engine = {"criterion": self.convergence, "accelerate": self.accelerate, "callback": self._callback()}
        return Maximum(
            correlation, self._rng(), start, self.n_init, self.uniqueness_floor, self.max_iter, self.tol, engine
        )

    def _n_factors(self, correlation, learn):
        d, wanted = len(correlation.mean), self.n_components
        if wanted == "bic":
            return least_bic(learn, correlation)
        if wanted == "parallel":
            from .rank import Spectrum, parallel

            values = np.maximum(np.linalg.eigvalsh(correlation.matrix)[::-1], 0.0)
            return parallel(Spectrum(values, correlation.weight, len(values)), random_state=self.random_state).rank
        if wanted is not None and wanted > d:
            raise ValueError(f"n_components={wanted} exceeds the {d} columns of X; use at most {d}.")
        return d if wanted is None else int(wanted)

    # What was learned

    def _publish_solution(self, fit, correlation, dtype):
        """Set the fitted attributes."""
        params, k = fit.params.components, self.n_components_
        self.scale_ = correlation.deviation if self.scale else np.ones(len(correlation.mean))
        self.heywood_ = correlation.varies & (params.noise[0] <= self.uniqueness_floor * params.scale * (1.0 + 1e-9))
        self.uniqueness_ = (params.noise[0] / params.scale).astype(dtype)
        noise = params.noise[0] / self.scale_**2
        turned = self._rotated(canonical(params.loading[0] / self.scale_[:, None], noise)[:, :k])
        self.mean_ = params.mean[0].astype(dtype)
        self.noise_variance_ = noise.astype(dtype)
        self.components_ = np.ascontiguousarray(turned.loadings.T).astype(dtype)
        self.structure_ = np.ascontiguousarray(turned.structure.T).astype(dtype)
        self.rotation_, self.factor_correlation_ = turned.matrix, turned.correlation
        # Likelihoods are of the columns as they are modelled: standardised where `scale`.
        trace = Trace(fit.trace.criterion)
        for value in fit.trace.objectives:
            trace.record(value + float(correlation.cells @ np.log(self.scale_)), fit.trace.weight)
        trace.passes = fit.trace.passes
        self.fit_ = replace(fit, trace=trace, stats=None)
        self.converged_, self.n_iter_, self.loglike_ = fit.converged, len(trace), list(trace.objectives)

    def _rotated(self, loadings):
        if self.rotation is None:
            return Rotation(loadings, *[np.eye(loadings.shape[1])] * 2)
        return rotate(loadings, self.rotation, **(self.rotation_params or {}))

    def _warn(self, correlation):
        d, k = len(correlation.matrix), self.n_components_
        if self.fit_.interrupted:
            warnings.warn(f"{self.fit_.reason}; what was learned so far is kept.", UserWarning, stacklevel=3)
        elif not self.converged_:
            warnings.warn(
                f"FactorAnalysis did not converge: {self.fit_.reason}. Increase max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        if self.dof_ < 0:
            warnings.warn(
                f"{k} factors are more than the covariance of {d} columns can tell apart: {self.dof_} degrees of freedom, so "
                f"that loadings are not unique and there is no test of fit; use at most {ledermann_bound(d)}.",
                UserWarning,
                stacklevel=3,
            )
        if self.heywood_.any():
            warnings.warn(
                f"Heywood case: the uniqueness of {self._named(self.heywood_)} is at the floor of "
                f"{self.uniqueness_floor:g}, where the likelihood tells of the floor; use fewer factors or drop columns that "
                "nearly repeat others.",
                HeywoodWarning,
                stacklevel=3,
            )

    @property
    def n_parameters(self):
        """Free parameters: means, noise variances and loadings up to a rotation; at most those of any covariance."""
        check_is_fitted(self)
        d, k = self.n_features_in_, self.n_components_
        return d + min(d + d * k - k * (k - 1) // 2, d * (d + 1) // 2)

    def _n_parameters(self):
        return self.n_parameters

    def _family(self):
        return family(self.n_components_, self.uniqueness_floor)

    def _root(self):
        """L with Φ = LLᵀ: the factors are L z."""
        return np.linalg.cholesky(self.factor_correlation_)

    def _loadings(self):
        """W of x = μ + W z + ε in the columns' own units; without factors, one that does nothing."""
        if self.n_components_ == 0:
            return np.zeros((self.n_features_in_, 1))
        return self.scale_[:, None] * (np.asarray(self.components_, np.float64).T @ self._root())

    def _noise(self):
        return np.asarray(self.noise_variance_, np.float64) * self.scale_**2

    # Rows

    def score_samples(self, X, out=None):
        """Log density of the observed cells of each row; of the standardised ones where `scale`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing.
        out : path, optional
            A Parquet file to write to, in a stream, instead of returning an array.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        model, params, volume = self._model(), self._params(), np.log(self.scale_)

        def log_density(block):
            observed = (~block.patterns.missing @ volume)[groups_of(block.patterns)]
            return like(block, model.posterior(params, block)[1] + observed)

        return self._apply(X, log_density, out, ["log_density"])

    def transform(self, X, return_cov=False, out=None):
        """Expectation of the factors of each row given its observed cells (regression scores).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing.
        return_cov : bool, default=False
            Also return the covariance of the factors, which depends on which cells are observed.
        out : path, optional
            A Parquet file to write to, in a stream, instead of returning an array.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_components)
        covariance : ndarray of shape (n_samples, n_components, n_components)
            Only if `return_cov`.
        """
        if return_cov and out is not None:
            raise ValueError("return_cov=True gives arrays, so it does not go with out; call transform once for each.")
        found = self._factors(X, "regression", return_cov, out)
        return (found[:, 0], found[:, 1:]) if return_cov else found

    def scores(self, X, method="regression", return_std=False):
        """Factor scores of each row, with standard errors.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing.
        method : {"regression", "bartlett"}, default="regression"
            Expectation given the row, shrunk towards 0, or the unbiased estimate by weighted least squares. The latter does
            not exist for rows with fewer observed cells than factors: NaN, with infinite errors.
        return_std : bool, default=False
            Also return the standard errors.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_components)
        std : ndarray of shape (n_samples, n_components)
            Only if `return_std`.
        """
        check_choice("method", method, METHODS)
        if not return_std:
            return self._factors(X, method)
        found = self._factors(X, method, return_cov=True)
        return found[:, 0], np.sqrt(np.diagonal(found[:, 1:], axis1=1, axis2=2))

    def _factors(self, X, method, return_cov=False, out=None):
        """Scores by a method, stacked on their covariances where these are asked for."""
        check_is_fitted(self)
        hidden, params, root = self._family(), self._params().components, self._root()
        k, estimate = self.n_components_, METHODS[method]

        def factors(block):
            score, packed = hidden.scores(params, block)
            group = groups_of(block.patterns)
            score, spread = estimate(host(score)[0][:, :k], host(packed)[0], group, root)
            both = np.concatenate([score[:, None], spread[group]], axis=1) if return_cov else score
            return like(block, both)

        return self._apply(X, factors, out, self.get_feature_names_out())

    def inverse_transform(self, Z):
        """Rows that factors expect: μ + Λ f, in the columns' own units.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components)
            Factor scores.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        Z = check_array(Z, dtype=[np.float64, np.float32], ensure_min_features=0)
        if Z.shape[1] != self.n_components_:
            raise ValueError(f"Z has {Z.shape[1]} columns, but there are {self.n_components_} factors.")
        return (Z @ self.components_ * self.scale_ + self.mean_).astype(Z.dtype, copy=False)

    def get_covariance(self):
        """Covariance of rows under the model, ΛΦΛᵀ + Ψ; of the standardised columns where `scale`.

        Returns
        -------
        ndarray of shape (n_features, n_features)
        """
        return super().get_covariance() / np.outer(self.scale_, self.scale_)

    def get_precision(self):
        """Inverse of `get_covariance`.

        Returns
        -------
        ndarray of shape (n_features, n_features)
        """
        check_is_fitted(self)
        if 2 * self.n_components_ > self.n_features_in_:
            return np.linalg.inv(self.get_covariance())
        return super().get_precision() * np.outer(self.scale_, self.scale_)
