"""`ProbabilisticPCA`: x = μ + W z + ε, z ~ N(0, I), ε ~ N(0, σ² I).

Complete rows: W = V_k (Λ_k − σ² I)^½, σ² the mean of the eigenvalues left out (Tipping and Bishop 1999). With missing cells: EM.
"""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ...base.settings import KW_ONLY, LoopSettings, settings
from ...checks import check_choice, check_number
from ...declared import SQUARES, Numbers, Part, Whole
from ...engine import Trace
from ...families import FactorGaussian
from ...families.gaussian import LOG_2PI
from ...mixture.model import MixtureModel, MixtureParams
from ...notes import Note
from ...signs import signs
from ...source import ArraySource, Source
from ..estimator import FactorEstimator, closed_form_fit, factor_params
from ..moments import cell_moments, moments
from .axes import Axes, deviations, from_moments, from_rows
from .hidden import by_hidden_cells
from .rank import METHODS, RankChoice, check_total, rank_of
from .routes import choose_route

__all__ = ["ProbabilisticPCA", "closed_form"]

AT_REST = 1e-4  # how far axes may turn, in radians, in the last step
MOST_COLUMNS = 2000  # of rows that are not in memory, beyond which EM costs less than a matrix of all pairs of columns


def check_rank(name: str, value: Any) -> None:
    """Raise where a number of components is neither a whole number, nor a share, nor a way to choose it."""
    if isinstance(value, str):
        check_choice(name, value, ("auto", *METHODS))
    elif isinstance(value, numbers.Integral):
        check_number(name, value, numbers.Integral, 1)
    elif not isinstance(value, numbers.Real) or not 0.0 < float(value) < 1.0:
        raise ValueError(
            f"{name}={value!r} is neither a whole number of at least 1 nor a share of the variance between 0 and 1."
        )


def closed_form(kept: np.ndarray, total: float, d: int, least: float) -> tuple[np.ndarray, float, float]:
    """Variances along the axes kept, noise variance, and log-likelihood per row, of d columns with `total` variance."""
    n_left, left = d - len(kept), max(total - kept.sum(), 0.0)
    noise = max(left / n_left, least)
    variances = np.maximum(kept, noise)
    log_det = np.log(variances).sum() + n_left * np.log(noise)
    misfit = (kept / variances).sum() + left / noise
    return variances, noise, -0.5 * (d * LOG_2PI + log_det + misfit)


class AxesModel(MixtureModel):
    """One Gaussian of low rank, whose axes are what is asked for."""

    family: FactorGaussian

    def settled(self, trace: Trace, params: MixtureParams, image: MixtureParams, tol: float) -> Note | None:
        """As the objective says, once the axes rest too; where nothing tells them apart, once it gains next to nothing."""
        found = super().settled(trace, params, image, tol)
        if found is None or trace.gain < 1e-3 * tol:
            return found
        unit = np.sqrt(self.family.units(params.components.scale))[:, None]
        before, after = (
            np.linalg.svd(each.components.loading[0] / unit, full_matrices=False)[0] for each in (params, image)
        )
        turned = 1.0 - np.abs((before * after).sum(axis=0)).min()
        return found if turned <= 0.5 * AT_REST**2 else None


@settings
class ProbabilisticPCA(LoopSettings, FactorEstimator):
    """Principal components as a distribution of rows, with missing cells, noise and uncertainty.

    Complete rows are learned in closed form from one pass; rows with missing cells by EM, which maximises the likelihood of the
    observed cells.

    Parameters
    ----------
    n_components : int, float or {"auto", "mle", "bic", "parallel", "cv"}, default=2
        Length of z, less than the number of columns; a share of the variance to explain; or how to choose it. "auto" takes
        the number that fills cells best: some observed cells are hidden and filled by fits of 0, 1, 2 … components; of complete
        rows, "cv" tells as much. The others are those of :func:`choose_rank`; with missing cells, "bic" and "cv" compare fits of
        all ranks, which takes longer. What is chosen is at least 1, and leaves noise.
    scale : bool, default=False
        Learn the axes of standardised columns: noise is then in proportion to the variance of each column. Sensible where
        columns have different units. Loadings, means and filled cells are in the columns' own units either way.
    solver : {"auto", "closed", "em"}, default="auto"
        The closed form where no cell is missing and EM elsewhere, or one of the two.
    tol : float, default=1e-6
        EM stops when the log-likelihood per row gains less than this and the axes rest.
    max_iter : int, default=1000
        Most passes of EM.
    noise_floor : float, default=1e-6
        Smallest noise variance, relative to the mean variance of the columns.
    parameter_draws : int or "auto", default="auto"
        How many draws of the parameters tell what the rows leave uncertain about them; missing cells are then filled under
        all of them. 0 takes the estimates as known; "auto" is 20 where there are fewer than 50 rows for each column, else 0.
    random_state : int, RandomState instance or None, default=None
        Seeds what is drawn.
    verbose, verbose_interval, convergence, accelerate, n_jobs, device, callback
        As in :class:`tacit.mixture.GaussianMixture`; the path of one Gaussian is smooth enough to extrapolate from the first
        step.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
    components_ : ndarray of shape (n_components, n_features)
        Principal axes, orthonormal; of the standardised columns where `scale`.
    explained_variance_ : ndarray of shape (n_components,)
        Variance of rows along the axes, noise included; of maximum likelihood, with divisor n.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The same as shares of the whole variance.
    noise_variance_ : float
        σ²; where `scale`, relative to the variance of each column.
    loadings_ : ndarray of shape (n_features, n_components)
        W, in the units of the columns.
    scale_ : ndarray of shape (n_features,)
        Standard deviations (divisor n) of the observed cells of the columns where `scale`, else ones.
    n_components_ : int
    rank_choice_ : RankChoice or None
        How the number of components was chosen, where it was not given.
    draws_ : list of tacit.mixture.MixtureParams
        Draws of the parameters given the rows, made when they are first needed; empty where estimates are taken as known.
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

    n_components: int = 2
    _: KW_ONLY
    scale: bool = False
    solver: str = "auto"
    tol: float = 1e-6
    max_iter: int = 1000
    noise_floor: float = 1e-6
    parameter_draws: int | str = "auto"
    accelerate: str | None = "anderson"

    _saved = FactorEstimator._saved | {
        "mean_": Numbers("d"),
        "components_": Numbers("k d"),
        "explained_variance_": Numbers("k", low=0, high=SQUARES),
        "explained_variance_ratio_": Numbers("k", low=0),
        "noise_variance_": Numbers(above=0, high=SQUARES),
        "loadings_": Numbers("d k"),
        "scale_": Numbers("d", above=0),
        "n_components_": Whole(1, size="k"),
        "rank_choice_": Part(RankChoice, optional=True),
    }
    _study = "axes"

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("noise_floor", self.noise_floor, numbers.Real, 0, 1)
        check_rank("n_components", self.n_components)
        check_choice("solver", self.solver, ("auto", "closed", "em"))

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, checkpoint: Any = None, checkpoint_every: float = 60
    ) -> Self:
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
        self._check_rank(source.n_features)
        axes = None if self.solver == "em" else self._axes(source)
        if axes is not None:
            self._solve(axes, source.dtype)
            self._keep(source)
        else:
            starts = self._choose(source)
            self._learn(source, starts=starts, checkpoint=checkpoint, checkpoint_every=checkpoint_every)
        self._warn_at_floor()
        return self

    def _check_rank(self, n_features: int) -> None:
        if n_features == 1:
            raise ValueError("X has 1 feature(s), which leave no noise beside a component; give at least 2 columns.")
        if isinstance(self.n_components, numbers.Integral) and self.n_components >= n_features:
            raise ValueError(
                f"n_components={self.n_components} leaves no noise, since X has {n_features} feature(s); use at most "
                f"{n_features - 1}."
            )

    # Complete rows

    def _axes(self, source: Source) -> Axes | None:
        """Principal axes of complete rows; None where a cell is missing or axes are best learned by EM."""
        d, k, complete = source.n_features, self.n_components, None
        if isinstance(source, ArraySource):
            complete = all(block.patterns.is_complete for block in source)
            route = choose_route(source.n_rows, d, k)
            if complete and route != "covariance_eigh":
                n_axes = k if isinstance(k, numbers.Integral) else min(source.n_rows, d)
                settings = {"random_state": self.random_state} if route == "randomized" else {}
                return from_rows(source.X, source.weight, route, n_axes, self.scale, self._told, **settings)
        if complete is not False and (d <= MOST_COLUMNS or self.solver == "closed"):
            known = moments(source)
            if not known.incomplete:
                return from_moments(known, self.scale, self._told)
        if self.solver == "closed":
            raise ValueError("solver='closed' needs complete rows, but X has missing cells; use solver='auto'.")
        return None

    def _solve(self, found: Axes, dtype: np.dtype) -> None:
        """The maximum for complete rows, from their axes."""

        def choose(method: str, **seed: Any) -> RankChoice:
            return rank_of(found.unbiased().spectrum(), "cv" if method == "auto" else method, **seed)

        self._settle_rank(choose)
        d, k, axes = len(found.mean), self.n_components_, found.axes.T.astype(np.float64)
        self.scale_ = np.ones(d) if found.scale is None else found.scale
        kept = np.zeros(k)
        kept[: len(found.variances)] = found.variances[:k]
        least = max(self.noise_floor, 1e-15) * (found.total / d or 1.0)
        kept, noise, loglik = closed_form(kept, found.total, d, least)
        loading = np.zeros((d, k))
        loading[:, : axes.shape[1]] = axes[:, :k] * np.sqrt(kept - noise)[: axes.shape[1]]
        params = factor_params(found.mean, self.scale_[:, None] * loading, noise * self.scale_**2, found.spread)
        self._publish_fit(closed_form_fit(params, loglik - np.log(self.scale_).sum(), found.weight), dtype)

    # Rows with missing cells

    def _choose(self, source: Source) -> list | None:
        """Settle the number of components; where it was chosen by fits, what to start from."""
        if isinstance(self.n_components, numbers.Integral):
            self._settle_rank(None)
            return None
        from .cells import Cells

        shared = ("tol", "max_iter", "noise_floor", "convergence", "accelerate", "n_jobs", "callback")
        tried = Cells(source, self.scale, self._told, **{name: getattr(self, name) for name in shared})
        if self.n_components == "auto":
            check_total(tried.total)
            unit = tried.scale**2 if self.scale else None
            family = partial(FactorGaussian, floor=self.noise_floor, unit=unit)
            choice, start = by_hidden_cells(source, family, tried.most, self._rng())
            self._settle_rank(lambda method, **seed: choice)
            return None if start is None else [start]
        self._settle_rank(tried.choose)
        return [tried.model(self.n_components_).fit_.params]

    def _settle_rank(self, choose: Callable[..., RankChoice] | None) -> None:
        self.rank_choice_ = None
        if choose is None or isinstance(self.n_components, numbers.Integral):
            self.n_components_ = int(self.n_components)
            return
        self.rank_choice_ = choose(self.n_components, random_state=self.random_state)
        self.n_components_ = int(np.clip(self.rank_choice_.rank, 1, self.n_features_in_ - 1))

    def _prepare(self, source: Source) -> None:
        self.scale_ = np.ones(source.n_features)
        if self.scale:
            cells = cell_moments(source)
            self.scale_ = np.asarray(deviations(cells.mean, cells.variance, True, self._told))

    def _family(self) -> FactorGaussian:
        return FactorGaussian(self.n_components_, floor=self.noise_floor, unit=self.scale_**2 if self.scale else None)

    def _model(self) -> MixtureModel:
        return AxesModel(self._family(), 1)

    def _publish(self, params: Any, dtype: np.dtype) -> None:
        loading, noise = params.components.loading[0] / self.scale_[:, None], params.components.noise[0]
        axes, root, _ = np.linalg.svd(loading, full_matrices=False)
        axes = axes * signs(axes)
        noise = float(noise[0] / self.scale_[0] ** 2)
        variance = root**2 + noise
        total = (root**2).sum() + noise * len(axes)
        self.mean_ = params.components.mean[0].astype(dtype)
        self.components_ = np.ascontiguousarray(axes.T).astype(dtype)
        self.explained_variance_ = variance.astype(dtype)
        self.explained_variance_ratio_ = (variance / total).astype(dtype)
        self.noise_variance_ = noise
        self.loadings_ = (self.scale_[:, None] * axes * root).astype(dtype)

    def _loadings(self) -> np.ndarray:
        return self.loadings_

    def column_correlations(self) -> np.ndarray:
        check_is_fitted(self)
        axes, variance = self.components_.T.astype(np.float64), self.explained_variance_.astype(np.float64)
        noise = float(self.noise_variance_)
        own = axes**2 @ (variance - noise) + noise
        # Standardised columns have one variance, all but 1 with missing cells, so that shares add up to what is explained; of a
        # fit that was ended early they may differ, and axes explain no more than all of a column.
        unit = np.maximum(own.mean(), axes**2 @ variance) if self.scale else own
        return np.clip(axes * np.sqrt(variance / unit[:, None]), -1.0, 1.0)

    def variance_shares(self) -> np.ndarray:
        check_is_fitted(self)
        return np.asarray(self.explained_variance_ratio_, dtype=np.float64)

    def _noise(self) -> np.ndarray:
        return self.noise_variance_ * np.asarray(self.scale_, dtype=np.float64) ** 2

    def _warn_at_floor(self) -> None:
        least = self._family().least(self.fit_.params.components.scale)[0] / self.scale_[0] ** 2
        if self.noise_variance_ <= least * (1 + 1e-6):
            warnings.warn(
                f"n_components={self.n_components_} explain all that varies, so that the noise variance fell to its floor, "
                f"{self.noise_variance_:.3g}, and the likelihood tells of the floor; use fewer components.",
                ConvergenceWarning,
                stacklevel=3,
            )
