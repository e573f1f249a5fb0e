"""`ProbabilisticPCA`: x = μ + W z + ε, z ~ N(0, I), ε ~ N(0, σ² I).

Complete rows: W = V_k (Λ_k − σ² I)^½, σ² the mean of the eigenvalues left out (Tipping and Bishop 1999). With missing cells: EM.
"""

import numbers
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..checks import check_choice, check_number
from ..engine import Fit, Trace
from ..families import FactorGaussian
from ..families.factor import FactorParams
from ..mixture.model import MixtureParams
from .base import FactorEstimator
from .moments import cell_moments, moments

__all__ = ["ProbabilisticPCA", "closed_form"]

LOG_2PI = np.log(2 * np.pi)


def closed_form(eigenvalues, n_components, least):
    """Variances along the axes kept, noise variance, and log-likelihood per row, of eigenvalues in decreasing order."""
    kept, left = eigenvalues[:n_components], eigenvalues[n_components:]
    noise = max(left.mean(), least)
    kept_variance = np.maximum(kept, noise)
    log_det = np.log(kept_variance).sum() + len(left) * np.log(noise)
    misfit = (kept / kept_variance).sum() + left.sum() / noise
    return kept_variance, noise, -0.5 * (len(eigenvalues) * LOG_2PI + log_det + misfit)


class ProbabilisticPCA(FactorEstimator):
    """Principal components as a distribution of rows, with missing cells, noise and uncertainty.

    Complete rows are learned in closed form from one pass; rows with missing cells by EM, which maximises the likelihood of the
    observed cells.

    Parameters
    ----------
    n_components : int, default=2
        Length of z, less than the number of columns.
    scale : bool, default=False
        Learn the axes of standardised columns: noise is then in proportion to the variance of each column. Sensible where
        columns have different units. Loadings, means and filled cells are in the columns' own units either way.
    solver : {"auto", "closed", "em"}, default="auto"
        The closed form where no cell is missing and EM elsewhere, or one of the two.
    tol : float, default=1e-6
        EM stops when the log-likelihood per row gains less than this.
    max_iter : int, default=1000
        Most passes of EM.
    noise_floor : float, default=1e-9
        Smallest noise variance, relative to the mean variance of the columns.
    random_state : int, RandomState instance or None, default=None
        Seeds what is drawn.
    verbose, verbose_interval, convergence, accelerate, n_jobs, callback
        As in :class:`tacit.mixture.GaussianMixture`; the path of one Gaussian is smooth enough to extrapolate from the first
        step.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
    components_ : ndarray of shape (n_components, n_features)
        Principal axes, orthonormal; of the standardised columns where `scale`.
    explained_variance_ : ndarray of shape (n_components,)
        Variance of rows along the axes, noise included.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The same as shares of the whole variance.
    noise_variance_ : float
        σ²; where `scale`, relative to the variance of each column.
    loadings_ : ndarray of shape (n_features, n_components)
        W, in the units of the columns.
    scale_ : ndarray of shape (n_features,)
        Standard deviations of the columns where `scale`, else ones.
    n_components_ : int
    converged_, n_iter_, lower_bound_, lower_bounds_, fit_
        As in :class:`tacit.mixture.GaussianMixture`; the closed form takes one step.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Tipping and Bishop (1999), Probabilistic principal component analysis.
    Ilin and Raiko (2010), Practical approaches to principal component analysis in the presence of missing values.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.factor import ProbabilisticPCA
    >>> X = np.random.default_rng(0).normal(size=(200, 1)) * [1.0, 2.0, 3.0] + [5.0, 0.0, 1.0]
    >>> X[0, 2] = np.nan
    >>> model = ProbabilisticPCA(1).fit(X)
    >>> bool(np.isclose(model.impute(X)[0, 2], 3 * (X[0, 0] - 5) + 1))
    True
    """

    def __init__(
        self,
        n_components=2,
        *,
        scale=False,
        solver="auto",
        tol=1e-6,
        max_iter=1000,
        noise_floor=1e-9,
        random_state=None,
        verbose=0,
        verbose_interval=10,
        convergence="relative",
        accelerate="anderson",
        n_jobs=None,
        callback=None,
    ):
        self.n_components = n_components
        self.scale = scale
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.noise_floor = noise_floor
        self.random_state = random_state
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.convergence = convergence
        self.accelerate = accelerate
        self.n_jobs = n_jobs
        self.callback = callback

    def _check_settings(self):
        super()._check_settings()
        check_number("noise_floor", self.noise_floor, numbers.Real, 0, 1)
        check_number("n_components", self.n_components, numbers.Integral, 1)
        check_choice("solver", self.solver, ("auto", "closed", "em"))

    def fit(self, X, y=None, sample_weight=None, *, checkpoint=None, checkpoint_every=60.0):
        """Learn the axes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights: weight 2 counts as the row given twice. For a path or a Dask dataframe the name of a column.
        checkpoint : path, optional
            A file that keeps the state of EM. If it exists, the fit goes on from there; it is removed at the end.
        checkpoint_every : float, default=60
            Seconds between writes of the checkpoint.

        Returns
        -------
        self
        """
        self._check_settings()
        source = self._open(X, sample_weight, reset=True)
        self.n_components_ = self._checked_rank(source.n_features)
        if self.solver != "em":
            known = moments(source)
            if not known.incomplete:
                self._solve(known, source.dtype)
                return self
            if self.solver == "closed":
                raise ValueError("solver='closed' needs complete rows, but X has missing cells; use solver='auto'.")
        self._learn(source, checkpoint=checkpoint, checkpoint_every=checkpoint_every)
        self._warn_at_floor()
        return self

    def _checked_rank(self, n_features):
        if self.n_components >= n_features:
            raise ValueError(
                f"n_components={self.n_components} leaves no noise, since X has {n_features} feature(s); use at most "
                f"{n_features - 1}."
            )
        return int(self.n_components)

    def _prepare(self, source):
        variance = cell_moments(source).variance if self.scale else np.ones(source.n_features)
        self.scale_ = np.sqrt(np.where(variance > 0, variance, 1.0))

    def _family(self):
        return FactorGaussian(self.n_components_, floor=self.noise_floor, unit=self.scale_**2 if self.scale else None)

    def _solve(self, known, dtype):
        """The maximum for complete rows, from their mean and covariance."""
        variance = np.diagonal(known.covariance)
        self.scale_ = np.sqrt(np.where(variance > 0, variance, 1.0)) if self.scale else np.ones(len(variance))
        correlated = known.covariance / np.outer(self.scale_, self.scale_)
        value, axes = np.linalg.eigh(correlated)
        value, axes = np.maximum(value[::-1], 0.0), axes[:, ::-1][:, : self.n_components_]
        least = max(self.noise_floor, 1e-15) * (value.mean() or 1.0)
        kept, noise, loglik = closed_form(value, self.n_components_, least)
        loading = self.scale_[:, None] * axes * np.sqrt(kept - noise)
        trace = Trace()
        trace.record(known.weight * (loglik - np.log(self.scale_).sum()), known.weight)
        params = FactorParams(known.mean[None], loading[None], noise * self.scale_[None] ** 2, known.mean, variance)
        fit = Fit(
            MixtureParams(np.ones(1), params), trace, "no cell is missing, so the maximum is known in closed form", True
        )
        self._publish_fit(fit, dtype)
        self._warn_at_floor(least)

    def _publish(self, params, dtype):
        loading, noise = params.components.loading[0] / self.scale_[:, None], params.components.noise[0]
        axes, root, _ = np.linalg.svd(loading, full_matrices=False)
        axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), range(len(root))] < 0, -1.0, 1.0)
        noise = float(noise[0] / self.scale_[0] ** 2)
        variance = root**2 + noise
        total = (root**2).sum() + noise * len(axes)
        self.mean_ = params.components.mean[0].astype(dtype)
        self.components_ = np.ascontiguousarray(axes.T).astype(dtype)
        self.explained_variance_ = variance.astype(dtype)
        self.explained_variance_ratio_ = (variance / total).astype(dtype)
        self.noise_variance_ = noise
        self.loadings_ = (self.scale_[:, None] * axes * root).astype(dtype)

    def _loadings(self):
        return self.loadings_

    def _noise(self):
        return self.noise_variance_ * np.asarray(self.scale_, dtype=np.float64) ** 2

    def _warn_at_floor(self, least=None):
        if least is None:
            least = self._family().least(self._params().components.scale)[0] / self.scale_[0] ** 2
        if self.noise_variance_ <= least * (1 + 1e-6):
            warnings.warn(
                f"n_components={self.n_components_} explain all that varies, so that the noise variance fell to its floor, "
                f"{self.noise_variance_:.3g}, and the likelihood tells of the floor; use fewer components.",
                ConvergenceWarning,
                stacklevel=3,
            )
