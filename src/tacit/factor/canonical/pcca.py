"""Probabilistic CCA: x = μ₁ + W₁ z + ε₁, y = μ₂ + W₂ z + ε₂, z ~ N(0, I), ε_m ~ N(0, Ψ_m), with missing cells and views.

Complete rows have a closed form (Bach and Jordan 2005): W_m = Σ_mm U_m P^½ and Ψ_m = Σ_mm − W_m W_mᵀ, from the canonical
directions U_m and correlations P. Otherwise EM integrates missing cells out; its M-step is the closed form on expected moments.
"""

from __future__ import annotations

import numbers
import warnings
from typing import Any, Self

import numpy as np

from ...base.settings import KW_ONLY, LoopSettings, settings
from ...checks import check_number, check_weight
from ...declared import SQUARES, Numbers, Part, Whole
from ...engine import Fit, SingularError
from ...families.canonical import CanonicalGaussian, canonical_form
from ...families.dense import DenseStats, FullParams
from ...families.gaussian import LOG_2PI
from ...mixture.model import MixtureModel, MixtureParams
from ...signs import signs
from ...source import ArraySource, Source
from ...table import Table
from ..estimator import closed_form_fit
from ..moments import Moments, moments
from .two_views import TwoViewEstimator

__all__ = ["ProbabilisticCCA"]

PATIENCE = 2  # ranks in a row by which BIC must rise before no further rank is tried


@settings
class ProbabilisticCCA(LoopSettings, TwoViewEstimator):
    """Canonical correlation analysis as a distribution: missing cells, missing views, predictions with their uncertainty.

    Hidden variables z link two views, each of which also varies in its own ways. Rows that lack cells or a whole view (NaN)
    count for what they show.

    Parameters
    ----------
    n_components : int or "bic", default=2
        Hidden variables, at most the columns of the smaller view; ``"bic"`` takes the number with the lowest BIC.
    reg_covar : float, default=1e-6
        Smallest variance in any direction, relative to the data's. With fewer rows than columns raise it, to 0.1 or so.
    tol : float, default=1e-6
        With missing cells: the fit has converged when the log-likelihood gains less than this per row.
    max_iter : int, default=1000
        With missing cells: most EM steps.
    random_state : int, RandomState instance or None, default=None
        Seeds `sample` where it is given no seed of its own.
    convergence : {"relative", "aitken"}, default="relative"
        As in :class:`tacit.mixture.GaussianMixture`.
    accelerate : {"anderson", "auto", "squarem", None}, default="anderson"
        Take fewer EM steps by extrapolating them.
    verbose, verbose_interval : int, default=0 and 10
        Print progress lines, and how many steps apart.
    n_jobs : int, optional
        Threads; default all cores.
    device : {"auto", "cpu", "cuda", "cuda:0", …}, optional
        Where to compute; by default where the rows are. "auto" is a GPU where there is one and the rows are many.
    callback : callable, optional
        Called with a :class:`tacit.engine.Progress` after every EM step.

    Attributes
    ----------
    canonical_correlations_ : ndarray of shape (n_components_,)
    x_mean_, y_mean_ : ndarray of shape (n_features,) and (n_targets,)
    x_loadings_, y_loadings_ : ndarray of shape (n_features, n_components_) and (n_targets, n_components_)
        W₁ and W₂.
    x_noise_covariance_, y_noise_covariance_ : ndarray of shape (n_features, n_features) and (n_targets, n_targets)
        Ψ₁ and Ψ₂.
    x_rotations_, y_rotations_ : ndarray shaped as the loadings
        U₁ and U₂: canonical directions, whose scores have variance 1.
    n_components_ : int
    selection_ : Table or None
        With ``n_components="bic"``: log-likelihood, free parameters and BIC by number of hidden variables.
    converged_ : bool
    n_iter_ : int
        EM steps; 1 for complete rows.
    lower_bound_ : float
        Log-likelihood per row.
    lower_bounds_ : list of float
        The same after every step.
    fit_ : tacit.engine.Fit
        Parameters, trace and the reason the fit stopped.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
    target_names_in_ : ndarray
        Names of the columns of the second view, where they have any.

    References
    ----------
    Bach and Jordan (2005), A probabilistic interpretation of canonical correlation analysis, technical report 688,
    University of California, Berkeley.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_linnerud
    >>> from tacit.factor import ProbabilisticCCA
    >>> X, y = load_linnerud(return_X_y=True)
    >>> y[:3] = np.nan  # three rows without the second view
    >>> model = ProbabilisticCCA(n_components=1).fit(X, y)
    >>> mean, std = model.predict(X[:3], return_std=True)
    >>> mean.shape, bool((std > 0).all())
    ((3, 3), True)
    """

    n_components: int = 2
    _: KW_ONLY
    reg_covar: float = 1e-6
    tol: float = 1e-6
    max_iter: int = 1000
    accelerate: str | None = "anderson"

    # One start, and one measure of convergence, are all that one Gaussian needs.
    n_init, convergence, warm_start = 1, "relative", False

    _saved = TwoViewEstimator._saved | {
        "x_mean_": Numbers("d"),
        "y_mean_": Numbers("t"),
        "x_noise_covariance_": Numbers("d d", form="scatter", high=SQUARES),
        "y_noise_covariance_": Numbers("t t", form="scatter", high=SQUARES),
        "n_components_": Whole(0, size="k"),
        "selection_": Part(Table, optional=True),
    }

    # Learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn how the views are linked.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            First view; NaN is missing, a row of NaN a row without this view.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Second view, likewise.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights: weight 2 counts as the row given twice.

        Returns
        -------
        self
        """
        self._check_settings()
        X, y = self._check_views(X, y, reset=True)
        most, weight = self._most(y), check_weight(sample_weight, len(X))
        self._check_cells(X, y, weight)
        source = ArraySource(np.hstack([X, y]), weight, n_jobs=self.n_jobs)
        found = moments(source)
        self.selection_: Table | None = None
        try:
            if self.n_components == "bic":
                self._select(source, found, most)
            else:
                self._learn_rank(source, found, self.n_components)
        except SingularError:
            raise SingularError(
                f"columns that are constant or repeat others leave the covariance singular with reg_covar={self.reg_covar:g}; "
                "raise reg_covar, or drop columns that repeat others."
            ) from None
        self._online = None  # rows come once
        return self

    def _check_settings(self) -> None:
        self._check_engine(fewest_steps=1)
        check_number("reg_covar", self.reg_covar, numbers.Real, 0, 1e6)
        if isinstance(self.n_components, str) and self.n_components != "bic":
            raise ValueError(f"n_components={self.n_components!r} is neither a number nor 'bic'.")
        if self.n_components != "bic":
            check_number("n_components", self.n_components, numbers.Integral, 1)

    def _most(self, y: np.ndarray) -> int:
        """Hidden variables at most, to which a given number is held."""
        most = min(self.n_features_in_, y.shape[1])
        if self.n_components != "bic" and self.n_components > most:
            raise ValueError(
                f"n_components={self.n_components} exceeds the {most} columns of the smaller view; use at most {most}."
            )
        return most

    def _check_cells(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> None:
        """Raise where a column or a view has nothing to learn from, or no row links the views."""
        counts = np.ones(len(X), bool) if weight is None else weight > 0
        seen = [~np.isnan(view[counts]) for view in (X, y)]
        for name, cells in zip("Xy", seen):
            empty = np.flatnonzero(~cells.any(axis=0))
            if len(empty) == cells.shape[1]:
                raise ValueError(
                    f"{name} has no observed value in any row: there is no second view to link the other with."
                )
            if len(empty):
                column = self._told(empty[0]) if name == "X" else empty[0]
                raise ValueError(f"column {column} of {name} has no observed value; drop it before fitting.")
        linked = int((seen[0].any(axis=1) & seen[1].any(axis=1)).sum())
        if linked == 0:
            raise ValueError("no row has observed cells in both views, so that nothing tells how they are linked.")
        if linked <= X.shape[1] + y.shape[1] and self.reg_covar < 1e-3:
            warnings.warn(
                f"{linked} rows with both views are too few for {X.shape[1]} and {y.shape[1]} columns: correlations come out "
                "near 1 whatever the data. Raise reg_covar, for example to 0.1, or use fewer columns.",
                stacklevel=3,
            )

    def _model(self) -> MixtureModel:
        return MixtureModel(CanonicalGaussian(self.n_features_in_, self.n_components_, floor=self.reg_covar), 1)

    def _learn_rank(self, source: Source, found: Moments, n_components: int, start: Any = None) -> Fit:
        """Fit so many hidden variables: in closed form if no cell is missing, else by EM."""
        self.n_components_ = n_components
        if found.incomplete == 0.0:
            self._publish_fit(self._closed_form(found), source.dtype)
        else:
            self._learn(source, starts=None if start is None else [start])
        return self.fit_

    def _closed_form(self, found: Moments) -> Fit:
        """The likeliest parameters of complete rows."""
        model, d = self._model(), len(found.mean)
        scale = found.covariance.diagonal()
        scale = np.where(scale <= (1e-12 * np.abs(found.mean)) ** 2, 1.0, scale)
        apart = FullParams(found.mean[None], np.diag(scale)[None], found.mean, scale)
        stats = DenseStats(np.array([found.weight]), np.zeros((1, d)), found.weight * found.covariance[None])
        components = model.family.m_step(stats, apart)
        _, precision, _, log_det = components.posterior
        deviance = d * LOG_2PI + log_det[0] + np.sum(precision[0] * found.covariance)
        return closed_form_fit(MixtureParams(np.ones(1), components), -0.5 * deviance, found.weight)

    def _select(self, source: Source, found: Moments, most: int) -> None:
        """Fit growing numbers of hidden variables and keep that of the lowest BIC."""
        rows: list[dict[str, Any]] = []
        fits, start = [], None
        for k in range(most + 1):
            fit = self._learn_rank(source, found, k, start)
            start, loglik = fit.params, fit.trace.objectives[-1]
            free = self._n_parameters()
            fits.append(fit)
            rows.append({
                "n_components": k, "log_likelihood": loglik, "n_parameters": free,
                "bic": float(-2.0 * loglik + free * np.log(fit.trace.weight)),
            })  # fmt: skip
            # Complete rows cost nothing more; with missing cells every further rank is another run of EM.
            values = [row["bic"] for row in rows[-PATIENCE - 1 :]]
            if found.incomplete and k > PATIENCE and values == sorted(values):
                break
        best = min(rows[1:], key=lambda row: row["bic"])
        if rows[0]["bic"] <= best["bic"]:
            warnings.warn(
                f"BIC is lowest for views that nothing links ({rows[0]['bic']:.6g} against {best['bic']:.6g} with one hidden "
                "variable); what is found may be chance.",
                stacklevel=3,
            )
        self.selection_, self.n_components_ = Table(rows), best["n_components"]
        self._publish_fit(fits[self.n_components_], source.dtype)

    def _publish(self, params: Any, dtype: np.dtype) -> None:
        p, k = self.n_features_in_, self.n_components_
        mean, covariance = params.components.mean[0], params.components.covariance[0]
        first, second, left, correlation, right = canonical_form(covariance, p)
        left, correlation, right = left[:, :k], correlation[:k], right[:k].T
        self.x_rotations_, self.y_rotations_ = np.linalg.solve(first.T, left), np.linalg.solve(second.T, right)
        root = np.sqrt(correlation)
        loadings = first @ left * root
        sign = signs(loadings)
        self.x_rotations_, self.y_rotations_ = self.x_rotations_ * sign, self.y_rotations_ * sign
        self.x_loadings_, self.y_loadings_ = loadings * sign, second @ right * root * sign
        self.x_mean_, self.y_mean_ = mean[:p], mean[p:]
        self.x_noise_covariance_ = covariance[:p, :p] - self.x_loadings_ @ self.x_loadings_.T
        self.y_noise_covariance_ = covariance[p:, p:] - self.y_loadings_ @ self.y_loadings_.T
        self.canonical_correlations_ = correlation

    def _params(self) -> MixtureParams:
        loadings, mean = self._loadings, np.concatenate([self.x_mean_, self.y_mean_])
        covariance, p = loadings @ loadings.T, len(self.x_mean_)
        covariance[:p, :p] += self.x_noise_covariance_
        covariance[p:, p:] += self.y_noise_covariance_
        components = FullParams(mean[None], covariance[None], mean, np.diagonal(covariance))
        return MixtureParams(np.ones(1), components)
