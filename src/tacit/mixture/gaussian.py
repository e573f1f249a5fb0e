"""Gaussian mixtures: p(x) = Σ_k π_k N(x | μ_k, Σ_k), learned by EM from rows with missing cells."""

import numpy as np

from ..checks import check_shaped
from ..engine import short_runs
from ..families.gaussian import invert_triangle, location_and_scale
from .base import BaseGaussianMixture
from .model import MixtureModel, MixtureParams, block_weights
from .seeds import assign

__all__ = ["GaussianMixture"]


class GaussianMixture(BaseGaussianMixture):
    """Gaussian mixture that takes missing cells, weights and partial labels.

    A drop-in for :class:`sklearn.mixture.GaussianMixture`: the same arguments, methods and attributes. Missing cells (NaN)
    are integrated out, at fit and at prediction.

    Parameters
    ----------
    n_components : int, default=1
        Number of components.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        Shape of the components: each its own covariance, one shared by all, a variance per column, or a single variance.
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
        (n_components,) for full, tied, diag and spherical.
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

    References
    ----------
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

    def _model(self):
        return MixtureModel(self._family(), self.n_components, self.init_params)

    # Starts

    def _n_starts(self, model):
        return 1 if self.means_init is not None else super()._n_starts(model)

    def _start(self, model, sample, rng):
        weight, mean, covariance = self._given(sample.X.shape[1])
        if weight is not None and mean is not None and covariance is not None:
            return MixtureParams(weight, model.family.params(mean, covariance, *location_and_scale(sample)))

        def given(params):
            """The parameters with what the user gave in their place."""
            found = params.components
            return MixtureParams(
                params.weight if weight is None else weight,
                model.family.params(
                    found.mean if mean is None else mean,
                    found.covariance if covariance is None else covariance,
                    found.origin,
                    found.scale,
                ),
            )

        if mean is not None:
            return given(self._around(model, sample, mean))
        return short_runs(model, sample, lambda: given(model.init(sample, rng)))

    def _around(self, model, sample, mean):
        """A start with rows assigned to the nearest of the given means."""
        origin, scale = location_and_scale(sample)
        X, seeds = ((rows - origin) / np.sqrt(scale) for rows in (model.family.fill(sample), mean))
        resp = np.eye(self.n_components)[assign(X, seeds, sample.labels)]
        return MixtureParams(block_weights(resp, sample), model.family.start(sample, resp))

    def _given(self, d):
        """The user's starting weights, means and covariances, checked; None where not given."""
        k, kind = self.n_components, self.covariance_type
        weight = mean = covariance = None
        if self.weights_init is not None:
            weight = check_shaped("weights", self.weights_init, (k,))
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
            mean = check_shaped("means", self.means_init, (k, d))
        if self.precisions_init is not None:
            shape = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[kind]
            covariance = _inverse(check_shaped(f"{kind} precision", self.precisions_init, shape), kind)
        return weight, mean, covariance

    # Fitted attributes and parameters

    def _publish(self, params, dtype):
        self.weights_ = params.weight.astype(dtype)
        self._publish_components(params.components, dtype)

    def _params(self):
        return MixtureParams(np.asarray(self.weights_, dtype=np.float64), self._components())


def _inverse(precision, kind):
    """Covariances of positive precisions."""
    if kind in ("diag", "spherical"):
        if (precision <= 0).any():
            raise ValueError(f"'{kind} precision' should be positive")
        return 1.0 / precision
    symmetric = np.allclose(precision, np.swapaxes(precision, -1, -2))
    if not symmetric or (np.linalg.eigvalsh(precision) <= 0).any():
        raise ValueError(f"'{kind} precision' should be symmetric, positive-definite")
    triangle = invert_triangle(np.linalg.cholesky(precision))
    return triangle @ np.swapaxes(triangle, -1, -2)
