"""Gaussian mixtures: p(x) = Σ_k π_k N(x | μ_k, Σ_k), learned by EM from rows with missing cells."""

import numbers

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted

from ..checks import check_choice, check_number
from ..engine import ACCELERATORS, short_runs
from ..engine.trace import CRITERIA
from ..families import GAUSSIANS
from ..families.gaussian import invert_triangle, location_and_scale
from ..latent_class import LatentClassEstimator
from ..source import Block, is_streamed
from .model import MixtureModel, MixtureParams
from .seeds import INITS, assign

__all__ = ["GaussianMixture"]


class GaussianMixture(LatentClassEstimator):
    """Gaussian mixture that takes missing cells, weights and partial labels.

    A drop-in for :class:`sklearn.mixture.GaussianMixture`: the same arguments, methods and attributes. Missing cells (NaN)
    are integrated out, at fit and at prediction.

    Parameters
    ----------
    n_components : int, default=1
        Number of components.
    covariance_type : {"full", "tied", "diag", "spherical"} or three letters, default="full"
        Shape of the components: each its own covariance, one shared by all, a variance per column, or a single variance;
        or one of the fourteen structures of the Notes.
    tol : float, default=1e-3
        The fit has converged when the log-likelihood gains less than this per row.
    reg_covar : float, default=1e-6
        Smallest variance of a component in any direction, relative to the data's variance in each column. A floor, not
        an addition: where it is not reached, estimates are exactly maximum likelihood, and the likelihood never falls.
    max_iter : int, default=100
        Most EM steps of a start.
    n_init : int, default=1
        Number of starts; the best is kept. Each is already the best of several short runs on a sample of the rows.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
        How the short runs are seeded.
    weights_init, means_init, precisions_init : array-like, optional
        Where to start. With `means_init` there is a single start, and no short runs.
    random_state : int, RandomState instance or None, default=None
        Seeds the starts and `sample`. Results do not depend on the number of threads.
    warm_start : bool, default=False
        Continue from the last fit.
    verbose : int, default=0
        Print progress lines.
    verbose_interval : int, default=10
        Steps between lines.
    convergence : {"relative", "aitken"}, default="relative"
        Stop when a step gains less than `tol` per row, or when the limit extrapolated from the last steps is closer.
    accelerate : {"auto", "anderson", "squarem", None}, default="auto"
        Take fewer steps by extrapolating them; ``auto`` does so only where steps gain little each.
    n_jobs : int, optional
        Threads; default all cores.
    callback : callable, optional
        Called with a :class:`tacit.engine.Progress` after every step, for example :class:`tacit.engine.ProgressBar`.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
    means_ : ndarray of shape (n_components, n_features)
    covariances_, precisions_, precisions_cholesky_ : ndarray
        Of shape (n_components, n_features, n_features), (n_features, n_features), (n_components, n_features) or
        (n_components,) for full, tied, diag and spherical. The Notes give the shape for each structure.
    converged_ : bool
    n_iter_ : int
        Steps of the best start.
    lower_bound_ : float
        Log-likelihood per row at the last step.
    lower_bounds_ : list of float
        The same after every step.
    fit_ : tacit.engine.Fit
        Parameters, trace, the reason the fit stopped, and what became of failed starts.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Three letters say whether volume λ, shape A and orientation D of the covariances Σ_k = λ_k D_k A_k D_kᵀ are equal (E),
    varying (V) or those of the identity (I):

    ===================== ======================== =========================================
    covariance_type       components are           shape of ``covariances_``
    ===================== ======================== =========================================
    EII, VII (spherical)  round                    (n_components,)
    EEI, VEI, EVI, VVI    along the columns        (n_components, n_features); VVI is diag
    EEE (tied)            all alike                (n_features, n_features)
    VEE, EVE, VVE         turned alike             (n_components, n_features, n_features)
    EEV, VEV, EVV, VVV    turned each its own way  the same; VVV is full
    ===================== ======================== =========================================

    `precisions_init` has the same shape, and is brought into the structure where it does not have it. Where covariances fall
    below the floor of `reg_covar`, a structure other than scikit-learn's four is learned with a ridge instead, if that
    does not lose likelihood.

    References
    ----------
    Celeux and Govaert (1995), Gaussian parsimonious clustering models.
    Dempster, Laird and Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm.
    Ghahramani and Jordan (1994), Supervised learning from incomplete data via an EM approach.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.mixture import GaussianMixture
    >>> X = np.array([[1, 2], [1, 4], [1, np.nan], [10, 2], [10, 4], [np.nan, 0]])
    >>> mixture = GaussianMixture(2, covariance_type="tied", random_state=0).fit(X)
    >>> np.sort(mixture.means_[:, 0]).round()
    array([ 1., 10.])
    """

    def __init__(
        self,
        n_components=1,
        *,
        covariance_type="full",
        tol=1e-3,
        reg_covar=1e-6,
        max_iter=100,
        n_init=1,
        init_params="kmeans",
        weights_init=None,
        means_init=None,
        precisions_init=None,
        random_state=None,
        warm_start=False,
        verbose=0,
        verbose_interval=10,
        convergence="relative",
        accelerate="auto",
        n_jobs=None,
        callback=None,
    ):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.convergence = convergence
        self.accelerate = accelerate
        self.n_jobs = n_jobs
        self.callback = callback

    def _check_settings(self):
        super()._check_settings()
        check_number("n_components", self.n_components, numbers.Integral, 1)
        check_number("reg_covar", self.reg_covar, numbers.Real, 0, 1e6)
        check_choice("covariance_type", self.covariance_type, GAUSSIANS)
        check_choice("init_params", self.init_params, INITS)
        check_choice("convergence", self.convergence, CRITERIA)
        check_choice("accelerate", self.accelerate, ("auto", *ACCELERATORS, "off", None))

    def _model(self):
        family = GAUSSIANS[self.covariance_type](floor=self.reg_covar)
        return MixtureModel(family, self.n_components, self.init_params)

    # Starts

    def _start_is_given(self):
        return any(value is not None for value in (self.weights_init, self.means_init, self.precisions_init))

    def _n_starts(self, model):
        return 1 if self.means_init is not None else super()._n_starts(model)

    def _start(self, model, sample, rng):
        family = model.family
        weight, mean, covariance = self._given(family, sample.X.shape[1])
        if weight is not None and mean is not None and covariance is not None:
            return MixtureParams(weight, family.inside(family.params(mean, covariance, *location_and_scale(sample))))

        def given(params):
            """The parameters with what the user gave in their place."""
            found = params.components
            components = family.params(
                found.mean if mean is None else mean,
                found.covariance if covariance is None else covariance,
                found.origin,
                found.scale,
            )
            return MixtureParams(params.weight if weight is None else weight, family.inside(components))

        if mean is not None:
            return given(self._around(model, sample, mean))
        return short_runs(model, sample, lambda: given(model.init(sample, rng)))

    def _around(self, model, sample, mean):
        """A start with rows assigned to the nearest of the given means."""
        origin, scale = location_and_scale(sample)
        X, seeds = ((rows - origin) / np.sqrt(scale) for rows in (model.family.fill(sample), mean))
        resp = np.eye(self.n_components)[assign(X, seeds, sample.labels)]
        return model.start(sample, resp)

    def _given(self, family, d):
        """The user's starting weights, means and covariances, checked; None where not given."""
        k, kind = self.n_components, self.covariance_type
        weight = mean = covariance = None
        if self.weights_init is not None:
            weight = _checked("weights", self.weights_init, (k,))
            if (weight < 0).any() or (weight > 1).any():
                raise ValueError(
                    "The parameter 'weights' should be in the range [0, 1], but got "
                    f"max value {weight.max():.5f}, min value {weight.min():.5f}"
                )
            if abs(weight.sum() - 1) > 1e-6:
                raise ValueError(
                    f"The parameter 'weights' should be normalized, but got sum(weights) = {weight.sum():.5f}"
                )
        if self.means_init is not None:
            mean = _checked("means", self.means_init, (k, d))
        if self.precisions_init is not None:
            precision = _checked(f"{kind} precision", self.precisions_init, family.shape(k, d))
            covariance = _inverse(precision, kind, family.matrices)
        return weight, mean, covariance

    # Fitted attributes and parameters

    def _publish(self, params, dtype):
        components = params.components
        self.weights_ = params.weight.astype(dtype)
        self.means_ = components.mean.astype(dtype)
        self.covariances_ = components.covariance.astype(dtype)
        if self._model().family.matrices:
            triangle = components.triangle
            precision = triangle @ np.swapaxes(triangle, -1, -2)
        else:
            triangle = 1.0 / np.sqrt(components.covariance)
            precision = triangle**2
        self.precisions_cholesky_ = triangle.astype(dtype)
        self.precisions_ = precision.astype(dtype)

    def _params(self):
        weight, mean, covariance = (
            np.asarray(value, dtype=np.float64) for value in (self.weights_, self.means_, self.covariances_)
        )
        family = self._model().family
        scale = family.params(mean, covariance, mean[0], mean[0]).dense
        variance = np.einsum("k,kjj->j", weight, scale) + weight @ (mean - weight @ mean) ** 2
        return MixtureParams(weight, family.params(mean, covariance, weight @ mean, variance))

    # Missing cells

    def impute(self, X, return_std=False, out=None):
        """Fill missing cells with their expectation given the observed ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing.
        return_std : bool, default=False
            Also return the standard deviation of each cell, 0 where observed.
        out : path, optional
            A Parquet file to write the filled columns to, in a stream, instead of returning an array.

        Returns
        -------
        filled : ndarray of shape (n_samples, n_features)
        std : ndarray of shape (n_samples, n_features)
            Only if `return_std`.
        """
        if return_std and out is not None:
            raise ValueError("return_std=True gives arrays, so it does not go with out; call impute once for each.")
        if return_std:
            mean, covariance = self.conditional(X)
            return mean, np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return self._complete(X, out, names)

    def conditional(self, X):
        """Mean and covariance of each row given its observed cells.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing.

        Returns
        -------
        mean : ndarray of shape (n_samples, n_features)
            Observed cells as they are, missing ones at their expectation.
        covariance : ndarray of shape (n_samples, n_features, n_features)
            Zero in the rows and columns of observed cells.
        """
        result = self._complete(X, return_cov=True)
        return result[:, 0], result[:, 1:]

    def draw_missing(self, X, n_draws=1, random_state=None):
        """Draw missing cells given the observed ones, for multiple imputation.

        The fitted parameters are held fixed: with few rows, refit to bootstrap samples to add their uncertainty.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; NaN is missing.
        n_draws : int, default=1
            Number of completed tables.
        random_state : int, RandomState instance or None, default=None
            Seeds the draws.

        Returns
        -------
        ndarray of shape (n_draws, n_samples, n_features)
        """
        check_number("n_draws", n_draws, numbers.Integral, 1)
        check_is_fitted(self)
        if is_streamed(X):
            raise ValueError("draw_missing takes rows in memory; read the part you need first.")
        block = Block.of(self._validate(X, reset=False))
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        model, params = self._model(), self._params()
        resp = model.posterior(params, block)[0]
        return model.family.draw(params.components, block, resp, n_draws, rng).astype(block.X.dtype)

    def _complete(self, X, out=None, names=None, **settings):
        """The posterior of each row of X, as `family.complete` gives it, mean and covariance stacked."""
        check_is_fitted(self)
        model, params = self._model(), self._params()

        def fill(block):
            one = self.n_components == 1
            resp = np.ones((len(block), 1)) if one else model.posterior(params, block)[0]
            filled, cov = model.family.complete(params.components, block, resp, **settings)
            both = np.concatenate([filled[:, None], cov], axis=1) if len(cov) else filled
            return both.astype(block.dtype)

        return self._apply(X, fill, out, names)


def _checked(name, value, shape):
    """A starting value as float64, of the right shape."""
    value = check_array(value, dtype=np.float64, ensure_2d=False, allow_nd=True)
    if value.shape != shape:
        raise ValueError(f"The parameter '{name}' should have the shape of {shape}, but got {value.shape}")
    return value


def _inverse(precision, kind, matrices):
    """Covariances of positive precisions."""
    if not matrices:
        if (precision <= 0).any():
            raise ValueError(f"'{kind} precision' should be positive")
        return 1.0 / precision
    symmetric = np.allclose(precision, np.swapaxes(precision, -1, -2))
    if not symmetric or (np.linalg.eigvalsh(precision) <= 0).any():
        raise ValueError(f"'{kind} precision' should be symmetric, positive-definite")
    triangle = invert_triangle(np.linalg.cholesky(precision))
    return triangle @ np.swapaxes(triangle, -1, -2)
