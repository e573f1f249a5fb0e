"""Student t mixtures: p(x) = Σ_k π_k t(x | μ_k, Σ_k, ν_k), whose tails let outliers be outliers."""

import numbers
import warnings
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NoReturn

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..base import Task, like
from ..base.settings import KW_ONLY, settings
from ..checks import check_choice, check_number
from ..declared import SQUARES, Numbers
from ..engine import objective
from ..families import StudentT
from ..families.student import LEAST_DF, n_observed
from ..source import Block, Source
from .estimator import MixtureEstimator
from .gaussian import GaussianMixture

__all__ = ["StudentTMixture"]

NEARLY_GAUSSIAN = 20.0
"""Degrees of freedom from which a Gaussian may be likelier, and steps towards it gain next to nothing."""


@settings
class StudentTMixture(GaussianMixture):
    """Mixture of multivariate Student t components: a Gaussian mixture that outliers do not pull away.

    It takes missing cells, weights and partial labels, and has all methods of :class:`GaussianMixture`.

    Parameters
    ----------
    n_components : int, default=1
        Number of components.
    covariance_type : {"full", "tied", "diag", "spherical"} or three letters, default="full"
        Structure of the scale matrices, as in :class:`GaussianMixture`. With "diag", a component is stretched along the
        columns, but its columns still share their outliers and so are not independent.
    df : {"free", "shared"} or float, default="free"
        Degrees of freedom: learned for each component, learned for all together, or given. The smaller they are, the heavier
        the tails; 1 is the Cauchy distribution.
    df_init : float, default=10
        Where learned degrees of freedom start.
    max_df : float, default=1e6
        The most they may become; a component that reaches it has no heavier tails than a Gaussian, and a warning says so.
        Large ones are compared with it at the end of a fit, so that no fit is below that of Gaussian components.
    noise, weight_prior, tol, reg_covar, max_iter, n_init, init_params, weights_init, means_init
        As in :class:`GaussianMixture`.
    precisions_init : array-like of shape (n_components, n_features, n_features), optional
        Inverses of the scale matrices to start from.
    random_state, warm_start, parameter_draws, verbose, verbose_interval, convergence, accelerate, n_jobs, device, callback
        As in :class:`GaussianMixture`.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
    means_ : ndarray of shape (n_components, n_features)
        Locations; the means where `df_` exceeds 1.
    scales_ : ndarray of shape (n_components, n_features, n_features)
        Scale matrices, of this shape for every structure.
    covariances_ : ndarray of shape (n_components, n_features, n_features)
        ``scales_ * df_ / (df_ - 2)``, infinite where `df_` is 2 or less.
    df_ : ndarray of shape (n_components,)
        Degrees of freedom.
    converged_, n_iter_, lower_bound_, lower_bounds_, fit_, n_features_in_, feature_names_in_
        As in :class:`GaussianMixture`.

    References
    ----------
    Peel and McLachlan (2000), Robust mixture modelling using the t distribution.
    Liu, Rubin and Wu (1998), Parameter expansion to accelerate EM: the PX-EM algorithm.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.mixture import StudentTMixture
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> X[:5] += 50
    >>> mixture = StudentTMixture(df=3.0).fit(X)
    >>> bool(np.abs(mixture.means_).max() < 0.3), np.argsort(mixture.outlier_scores(X))[-5:] < 5
    (True, array([ True,  True,  True,  True,  True]))
    """

    _: KW_ONLY
    df: Any = "free"
    df_init: float = 10.0
    max_df: float = 1e6
    component_prior: ClassVar = None  # type: ignore[misc]

    _saved = MixtureEstimator._saved | {
        "means_": Numbers("K d"),
        "scales_": Numbers("K d d", high=SQUARES),
        "covariances_": Numbers("K d d", form="definite", beside=(np.inf,), high=SQUARES),
        "df_": Numbers("K", low=0),
    }
    _held = ("weights_", "means_", "scales_", "df_")

    def _check_settings(self) -> None:
        super()._check_settings()
        if isinstance(self.df, str):
            check_choice("df", self.df, ("free", "shared"))
            check_number("max_df", self.max_df, numbers.Real, 1)
            check_number("df_init", self.df_init, numbers.Real, LEAST_DF, self.max_df)
        else:
            check_number("df", self.df, numbers.Real, LEAST_DF, 1e9)

    def _family(self) -> StudentT:
        return StudentT(
            self.covariance_type, floor=self.reg_covar, df=self.df, df_init=self.df_init, max_df=self.max_df
        )

    def _learn(self, source: Source, **settings: Any) -> Task:
        task = super()._learn(source, **settings)
        if isinstance(self.df, str) and self.fit_.converged and self.max_iter > 0:
            self._try_gaussians(source)
        return task

    def _try_gaussians(self, source: Source) -> None:
        """Go on with the most degrees of freedom where the rows prefer them: the way there is endless."""
        model: Any = self._model()
        before = self.fit_
        best, value = before.params, before.trace.objectives[-1]
        large = np.flatnonzero((best.components.df > NEARLY_GAUSSIAN) & (best.components.df < self.max_df))
        if self.df == "shared":
            large = large[:1]
        for k in large[np.argsort(-best.components.df[large])]:
            found = best.components
            chosen = (np.arange(len(found.df)) == k) | (self.df == "shared")
            df = np.where(chosen, self.max_df, found.df)
            wider = np.where(chosen, 1.0 + 2.0 / (np.maximum(found.df, NEARLY_GAUSSIAN) - 2.0), 1.0)[:, None, None]
            components = model.family.params(found.mean, wider * found.covariance, found.origin, found.scale, df)
            params = replace(best, components=model.family.inside(components, found))
            reached = objective(model, source.sum(partial(model.e_step, params)), params)
            if reached > value:
                best, value = params, reached
        if best is not before.params:
            super()._learn(source, starts=[best])
            self.fit_.trace.led = before.trace.n_steps
            self._publish_fit(replace(self.fit_, n_runs=before.n_runs, n_reached=before.n_reached), source.dtype)

    def _publish(self, params: Any, dtype: np.dtype) -> None:
        components = params.components
        df = components.df[:, None, None]
        self.weights_ = params.weight.astype(dtype)
        self.means_ = components.mean.astype(dtype)
        self.scales_ = components.covariance.astype(dtype)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.covariances_ = np.where(df > 2, components.covariance * df / (df - 2), np.inf).astype(dtype)
        self.df_ = components.df.astype(dtype)
        learned = components.df if isinstance(self.df, str) else np.empty(0)
        high = np.flatnonzero(learned >= 0.5 * self.max_df)
        if high.size:
            warnings.warn(
                f"component {high[0]} reached max_df={self.max_df:g} degrees of freedom: it has no heavier tails than a "
                "Gaussian. Use GaussianMixture, or fix df.",
                UserWarning,
                stacklevel=4,
            )

    # Some columns given others

    def condition(self, X: Any, given: Any = None, target: Any = None) -> NoReturn:
        """Not defined: given some columns, the others have tails that differ from row to row."""
        raise NotImplementedError(
            "given some columns, a Student t mixture is no mixture of one kind for all rows; use predict_given for means, "
            "impute(X, return_std=True) for spreads and draw_missing for draws."
        )

    def predict_given(self, X: Any, given: Any = None, target: Any = None, return_distribution: bool = False) -> Any:
        """Expectation of some columns given others; see `GaussianMixture.predict_given`."""
        if return_distribution:
            self.condition(X, given, target)
        return self._expected_given(X, given, target)

    def row_weights(self, X: Any, out: Any = None) -> Any:
        """How much each row counted in the fit: E[u] of the E-step, averaged over the components.

        About 1 for a row in the bulk, toward 0 the farther out it lies.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing. A row without any observed cell has weight 1.
        out : path, optional
            A Parquet file to write to, in a stream, instead of returning an array.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        model, params = self._model(), self._params()

        def weigh(block: Block) -> np.ndarray:
            resp = model.posterior(params, block)[0][:, : self.n_components]  # noise counts for no component
            df, square = params.components.df, self._family().distance(params.components, block)[0]
            return like(block, (resp * (df + n_observed(block)) / (df + square)).sum(axis=1))

        return self._apply(X, weigh, out, ["row_weight"])
