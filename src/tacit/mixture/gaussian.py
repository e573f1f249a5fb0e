"""Gaussian mixtures: p(x) = Σ_k π_k N(x | μ_k, Σ_k), learned by EM from rows with missing cells."""

from typing import Any

import numpy as np

from ..base import Task
from ..base.settings import KW_ONLY, settings
from ..checks import check_shaped
from ..declared import Part
from ..engine import Model, short_runs
from ..engine.restarts import SAMPLE_ROWS
from ..families import GAUSSIANS, Gaussian, Prior, Product, default_prior
from ..families.gaussian import invert_triangle, location_and_scale
from ..families.product import Parts
from ..source import Block, Source
from ..source.threads import one_blas_thread
from .columns import plain_schema
from .gaussian_base import BaseGaussianMixture
from .model import MixtureParams
from .search import can_search, search
from .seeds import assign

__all__ = ["GaussianMixture"]

SEARCHED = 50


@settings
class GaussianMixture(BaseGaussianMixture):
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
        The fit has converged when the log-likelihood gains less than this per row and, where rows are few (1,000), is within
        0.001 of its limit for all rows together.
    reg_covar : float, default=1e-6
        Smallest variance of a component in any direction, relative to the data's variance in each column. A floor, not
        an addition: where it is not reached, estimates are exactly maximum likelihood, and the likelihood never falls.
    max_iter : int, default=100
        Most EM steps of a start.
    n_init : int, default=1
        Number of starts; the best is kept, and those in which no component collapsed go first. Each is already the best of
        many short runs on a sample of the rows.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
        How the short runs are seeded. By default they begin with partitions by k-means, by Ward's hierarchy and at random, some
        annealed, and the best is disturbed in search of better ones; rows with missing cells or labels begin with k-means only.
    weights_init, means_init, precisions_init : array-like, optional
        Where to start. With `means_init` there is a single start, and no short runs.
    weight_prior : float, optional
        α ≥ 1 of a Dirichlet prior on the weights; the fit then maximises the posterior density.
    component_prior : NormalInverseWishart, NormalInverseGamma or "default", optional
        Prior of every component's mean and covariance (:mod:`tacit.families`): the latter for structures along the columns
        (diag, spherical, EII, EEI, VEI, EVI), the former for all others, on covariances of the structure. ``"default"`` is a weak
        one made from the data, for components of few rows.
    noise : bool, default=False
        Add a class of noise after the components: rows spread evenly over the box of the data, for rows that belong to no
        component.
    random_state : int, RandomState instance or None, default=None
        Seeds the starts and `sample`. Results do not depend on the number of threads.
    warm_start : bool, default=False
        Continue from the last fit.
    parameter_draws : int or "auto", default="auto"
        How many draws of the parameters tell what the rows leave uncertain about them; missing cells are then filled and
        predicted under all of them. 0 takes the estimates as known; "auto" is 20 where there are fewer than 50 rows for
        each column and component, else 0.
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
    device : {"auto", "cpu", "cuda", "cuda:0", …}, optional
        Where to compute; by default where the rows are. "auto" is a GPU where there is one and the rows are many.
    callback : callable, optional
        Called with a :class:`tacit.engine.Progress` after every step, for example :class:`tacit.engine.ProgressBar`.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        With noise one more, the last, which is its share.
    noise_box_ : ndarray of shape (2, n_features)
        With noise, the least and the largest observed cell of every column.
    means_ : ndarray of shape (n_components, n_features)
    covariances_, precisions_, precisions_cholesky_ : ndarray
        Of shape (n_components, n_features, n_features), (n_features, n_features), (n_components, n_features) or
        (n_components,) for full, tied, diag and spherical. The Notes give the shape for each structure.
    component_prior_ : NormalInverseWishart, NormalInverseGamma or None
        The prior that was used.
    converged_ : bool
    n_iter_ : int
        EM steps of the best run, those of the short run that found its start included, but no more than `max_iter`;
        ``fit_.trace`` has the objectives of the steps over all rows.
    lower_bound_ : float
        Log-likelihood per row at the last step.
    lower_bounds_ : list of float
        The same after every step.
    draws_ : list of tacit.mixture.MixtureParams
        Draws of the parameters given the rows, made when they are first needed; empty where estimates are taken as known.
    fit_ : tacit.engine.Fit
        Parameters, trace, the reason the fit stopped, what became of failed starts, and how many of the runs that were followed
        to their end (``fit_.n_runs``) came to this maximum (``fit_.n_reached``).
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

    _: KW_ONLY
    weights_init: Any = None
    means_init: Any = None
    precisions_init: Any = None
    weight_prior: Any = None
    component_prior: Any = None
    noise: bool = False

    _saved = BaseGaussianMixture._saved | {"component_prior_": Part((Prior, str), optional=True)}
    _study = "groups"
    _prior_setting = "component_prior='default'"

    def _for_study(self) -> Any:
        """The same as a `Mixture` of one block of columns."""
        from .generic import Mixture

        params = self._params()
        mixture = Mixture(
            self.n_components, covariance_type=self.covariance_type, parameter_draws=self.parameter_draws, n_jobs=self.n_jobs,
            noise=self.noise,
        )  # fmt: skip
        mixture.schema_ = plain_schema(self.n_features_in_, self._known_names())
        mixture.family_ = Product([(self._family(), range(self.n_features_in_))])
        for name in ("n_features_in_", "fit_", "converged_", "n_iter_", "lower_bound_", "lower_bounds_", "noise_box_"):
            if hasattr(self, name):
                setattr(mixture, name, getattr(self, name))
        mixture._publish(MixtureParams(params.weight, Parts((params.components,))), np.dtype(np.float64))
        mixture.draws_ = [MixtureParams(each.weight, Parts((each.components,))) for each in self.draws_]
        return mixture._for_study()

    def _check_settings(self) -> None:
        super()._check_settings()
        if not (self.component_prior in (None, "default") or isinstance(self.component_prior, Prior)):
            raise ValueError(
                f"component_prior={self.component_prior!r} is invalid; use 'default', NormalInverseWishart(...) or "
                "NormalInverseGamma(...) of tacit.families."
            )

    def _family(self) -> Gaussian:
        if self.component_prior is None:
            return super()._family()
        return GAUSSIANS[self.covariance_type](floor=self.reg_covar, prior=self.component_prior_)

    def _prepare(self, source: Source) -> None:
        self.component_prior_ = self.component_prior
        if isinstance(self.component_prior, str):
            rows = source.sample(SAMPLE_ROWS, np.random.default_rng(0)).X
            family = GAUSSIANS[self.covariance_type]
            kind = next(name for name, known in GAUSSIANS.items() if known is family)  # scikit-learn's names come first
            if kind not in ("full", "tied", "diag", "spherical"):
                kind = {"EII": "spherical"}.get(kind, "diag" if kind[2] == "I" else "full")
            self.component_prior_ = default_prior(rows, self.n_components, kind)
        super()._prepare(source)  # which asks for the family, and so for its prior

    # Starts

    def _start_is_given(self) -> bool:
        return any(value is not None for value in (self.weights_init, self.means_init, self.precisions_init))

    def _n_starts(self, model: Model) -> int:
        return 1 if self.means_init is not None else super()._n_starts(model)

    def _start(self, model: Any, task: Task) -> Any:
        family, sample, rng = model.family, task.sample, task.rng
        asked = self._given(family, sample.X.shape[1])
        weight, mean, covariance = asked
        if weight is not None and mean is not None and covariance is not None:
            return MixtureParams(weight, family.inside(family.params(mean, covariance, *location_and_scale(sample))))

        def given(params: Any) -> MixtureParams:
            """The parameters with what the user gave in their place."""
            found = params.components
            have = params.weight, found.mean, found.covariance
            weight, mean, covariance = (old if new is None else new for old, new in zip(have, asked))
            return MixtureParams(weight, family.inside(family.params(mean, covariance, found.origin, found.scale)))

        if mean is not None:
            with one_blas_thread():  # others would go on spinning beside the passes
                return given(self._around(model, sample, mean))
        if task.source.device is not None and self.max_iter >= SEARCHED:
            from .batched import batched_start, can_batch

            if can_batch(model, sample, task.source.device):
                best = batched_start(model, sample, rng, task.source.device)
                if best is not None:
                    task.taken.append(best[1])
                    return given(best[0])
        # Who allows few steps does not ask for a search that takes many.
        if self.max_iter >= SEARCHED and can_search(model, sample):
            found = search(model, sample, rng)
            if found is not None:
                task.taken.append(found.lead)
                return given(found.params)
        return short_runs(
            model, sample, lambda: given(model.init(sample, rng)), taken=task.taken, device=task.source.device
        )

    def _around(self, model: Any, sample: Block, mean: np.ndarray) -> MixtureParams:
        """A start with rows assigned to the nearest of the given means."""
        origin, scale = location_and_scale(sample)
        X, seeds = ((rows - origin) / np.sqrt(scale) for rows in (model.family.fill(sample), mean))
        resp = np.eye(self.n_components)[assign(X, seeds, sample.labels)]
        return model.start(sample, resp)

    def _given(self, family: Any, d: int) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None]:
        """The user's starting weights, means and covariances, checked; None where not given."""
        k, kind = self.n_components, self.covariance_type
        weight = mean = covariance = None
        if self.weights_init is not None:
            weight = check_shaped("weights", self.weights_init, (k + bool(self.noise),))
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
            precision = check_shaped(f"{kind} precision", self.precisions_init, family.shape(k, d))
            covariance = _inverse(precision, kind, family.matrices)
        return weight, mean, covariance

    # Fitted attributes and parameters

    def _publish(self, params: Any, dtype: np.dtype) -> None:
        self.weights_ = params.weight.astype(dtype)
        self._publish_components(params.components, dtype)

    def _params(self) -> MixtureParams:
        return MixtureParams(np.asarray(self.weights_, dtype=np.float64), self._components())


def _inverse(precision: np.ndarray, kind: str, matrices: bool) -> np.ndarray:
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
