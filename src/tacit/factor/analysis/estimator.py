"""Factor analysis: x = μ + Λ f + ε,   f ~ N(0, Φ),   ε ~ N(0, Ψ) with Ψ diagonal, by maximum likelihood or least squares."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ...base.settings import KW_ONLY, settings
from ...checks import check_choice, check_number
from ...declared import SQUARES, Listed, Numbers, Part, Whole
from ...engine import Model
from ...families.factor import FactorGaussian, groups_of
from ...families.gaussian import LOG_2PI
from ...source import Block, is_streamed
from ..principal.rank import RankChoice
from ..scores import METHODS
from .adequacy import Adequacy, FitTest, adequacy, fit_test, likelihood_ratio, sphericity
from .correlation import Correlation, correlation_of, n_parameters
from .learning import FactorAnalysisBase
from .maximum import SINGULAR, any_gaussian, family

__all__ = ["FactorAnalysis", "FactorErrors"]


@dataclass(frozen=True)
class FactorErrors:
    """Standard errors of a factor analysis.

    Attributes
    ----------
    components : ndarray of shape (n_components, n_features)
        Of the loadings.
    uniqueness : ndarray of shape (n_features,)
    factor_correlation : ndarray of shape (n_components, n_components)
    """

    components: np.ndarray
    uniqueness: np.ndarray
    factor_correlation: np.ndarray


def _matched(model: FactorAnalysis, target: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Loadings, uniquenesses and factor correlations of a fit, with factors in the order and of the sign of a target's."""
    found = np.asarray(model.components_, np.float64)
    products = target @ found.T
    order = linear_sum_assignment(-np.abs(products))[1]
    sign = np.where(products[np.arange(len(order)), order] < 0.0, -1.0, 1.0)
    correlation = model.factor_correlation_[np.ix_(order, order)] * np.outer(sign, sign)
    return found[order] * sign[:, None], np.asarray(model.uniqueness_, np.float64), correlation


@settings
class FactorAnalysis(FactorAnalysisBase):
    """Factor analysis that takes missing cells, rotates, tests its fit and says how sure scores are.

    A drop-in for :class:`sklearn.decomposition.FactorAnalysis`: the same arguments, methods and attributes. Rows are read
    once, from any source, and the likelihood is brought to its maximum at a cost that does not depend on their number.

    Parameters
    ----------
    n_components : int, "bic", "parallel", "parallel_factors" or None, default=None
        Number of factors; None is as many as columns. ``"bic"`` chooses the least Bayesian information criterion, and
        ``"parallel"`` counts the eigenvalues of the correlation matrix above those of independent columns (Horn);
        ``"parallel_factors"`` does so with squared multiple correlations on the diagonal, which leaves the variance that
        columns share. Where that is none, a warning says so, and one factor is kept.
    tol : float, default=1e-2
        With missing cells, EM stops when a step gains less than 1e-5 of this in log-likelihood per row. Complete rows are always
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
    rotation : {"varimax", "quartimax", "promax", "oblimin", "geomin", "bifactor", "target"}, optional
        Turn the factors towards simple structure. With promax, oblimin, geomin and target they correlate; the last takes
        ``rotation_params={"target": …}``.
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
    method : {"ml", "minres", "principal_axis"}, default="ml"
        Maximum likelihood; minimum residual, which is unweighted least squares of the correlations and assumes no distribution;
        or principal axis, which repeats communalities until none changes by more than 1e-6 and comes to the solution of
        minimum residual in more steps. With missing cells the last two take the correlations of greatest likelihood (EM).
    n_init : int, default=1
        Number of starts; the best is kept. A start at the floor is followed by others in any case.
    parameter_draws : int or "auto", default="auto"
        How many draws of the parameters tell what the rows leave uncertain about them; missing cells are then filled under
        all of them, whatever the `method`. 0 takes the estimates as known; "auto" is 20 where there are fewer than 50 rows for
        each column, else 0.
    accelerate : {"auto", "anderson", "squarem", None}, default="anderson"
        Take fewer EM steps by extrapolating them.
    n_jobs : int, optional
        Threads; default all cores.
    device : {"auto", "cpu", "cuda", "cuda:0", …}, optional
        Where to compute; by default where the rows are. "auto" is a GPU where there is one and the rows are many.
    callback : callable, optional
        Called with a :class:`tacit.engine.Progress` after every EM step.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Loadings; of the pattern where factors correlate.
    noise_variance_ : ndarray of shape (n_features,)
    mean_ : ndarray of shape (n_features,)
    scale_ : ndarray of shape (n_features,)
        What columns are divided by: with `scale` their standard deviations (divisor n, over observed cells; 1 for constant
        columns), else ones.
    uniqueness_ : ndarray of shape (n_features,)
        Noise variances as shares of the columns' variances under the model: what is left to 1 is the communality, the
        share of the factors. Of Heywood cases and constant columns, `uniqueness_floor`.
    heywood_ : ndarray of shape (n_features,)
        Columns whose uniqueness is at the floor.
    factor_correlation_ : ndarray of shape (n_components, n_components)
        Φ; the identity unless the rotation is oblique.
    structure_ : ndarray of shape (n_components, n_features)
        Covariances of factors and columns, ΦΛᵀ.
    rotation_ : ndarray of shape (n_components, n_components)
        M, such that ``components_.T`` is the unrotated loadings times M.
    test_ : FitTest or None
        χ² test of the number of factors, with Bartlett's correction: statistic, dof and p_value, at the solution of any
        `method` (only that of "ml" makes χ² least). None with missing
        cells, without degrees of freedom, or where columns are collinear.
    dof_ : int
        Degrees of freedom, negative where the factors are more than a covariance can tell apart.
    loglike_ : list of float
        Log-likelihood of the rows after every step; of the solution alone where `method` is not "ml" and cells are missing.
    n_components_ : int
        The number of factors.
    rank_choice_ : RankChoice or None
        How the number was chosen, where it was not given; its rank is 0 where no factor is supported. Values of ``"bic"``
        are those of `bic`.
    n_iter_ : int
        Steps taken.
    draws_ : list of tacit.mixture.MixtureParams
        Draws of the parameters given the rows, made when they are first needed; empty where estimates are taken as known.
    converged_ : bool
    fit_ : tacit.engine.Fit
        Parameters, trace and the reason the fit stopped.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    A likelihood of factor analysis may have several maxima. Of those that the starts found, one with all uniquenesses above
    the floor is kept if there is any, because a maximum at the floor tells of the floor; then the highest. A warning says
    so where the other is higher.

    References
    ----------
    Jöreskog (1967), Some contributions to maximum likelihood factor analysis.
    Lawley and Maxwell (1971), Factor Analysis as a Statistical Method.
    Harman and Jones (1966), Factor analysis by minimizing residuals (minres).
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

    n_components: Any = None
    _: KW_ONLY
    tol: float = 1e-2
    copy: bool = True
    max_iter: int = 1000
    noise_variance_init: Any = None
    svd_method: str = "randomized"
    iterated_power: int = 3
    rotation: Any = None
    random_state: Any = 0
    scale: bool = False
    uniqueness_floor: float = 0.005
    rotation_params: Any = None
    method: str = "ml"
    n_init: int = 1
    parameter_draws: int | str = "auto"
    accelerate: str | None = "anderson"
    n_jobs: int | None = None
    callback: Callable | None = None

    _saved = {name: spec for name, spec in FactorAnalysisBase._saved.items() if not name.startswith("lower_")} | {
        "components_": Numbers("k d"),
        "noise_variance_": Numbers("d", above=0, high=SQUARES),
        "mean_": Numbers("d"),
        "scale_": Numbers("d", above=0),
        "uniqueness_": Numbers("d", low=0, high=1),
        "heywood_": Numbers("d", kind="b"),
        "factor_correlation_": Numbers("k k", form="definite"),
        "structure_": Numbers("k d"),
        "rotation_": Numbers("k k"),
        "test_": Part(FitTest, optional=True),
        "dof_": Whole(),
        "loglike_": Listed(Numbers()),
        "n_components_": Whole(0, size="k"),
        "rank_choice_": Part(RankChoice, optional=True),
    }
    _study = "axes"
    _axis = "factor", "factors"

    @property
    def n_parameters(self) -> int:
        """Free parameters: means, noise variances and loadings up to a rotation; at most those of any covariance."""
        check_is_fitted(self)
        varying = int(self.components_.any(axis=0).sum())  # constant columns have no loadings
        return n_parameters(self.n_features_in_, varying, self.n_components_)

    def _n_parameters(self) -> int:
        return self.n_parameters

    def _family(self) -> FactorGaussian:
        return family(self.n_components_, self.uniqueness_floor)

    def _root(self) -> np.ndarray:
        """L with Φ = LLᵀ: the factors are L z."""
        return np.linalg.cholesky(self.factor_correlation_)

    def _loadings(self) -> np.ndarray:
        """W of x = μ + W z + ε in the columns' own units; without factors, one that does nothing."""
        if self.n_components_ == 0:
            return np.zeros((self.n_features_in_, 1))
        return self.scale_[:, None] * (np.asarray(self.components_, np.float64).T @ self._root())

    def _noise(self) -> np.ndarray:
        return np.asarray(self.noise_variance_, np.float64) * self.scale_**2

    def _unit(self) -> np.ndarray:
        return self.scale_

    def _expected(self) -> np.ndarray:
        return self.components_ * self.scale_

    def _publish(self, params: Any, dtype: np.dtype) -> None:
        """Take drawn parameters, whose factors are turned to be nearest to those of the fit: the rows do not tell how."""
        drawn = params.components
        loading, before = drawn.loading[0] / self.scale_[:, None], self._loadings() / self.scale_[:, None]
        left, _, right = np.linalg.svd(loading.T @ before)
        turned = np.linalg.solve(self._root().T, (loading @ (left @ right)).T)
        self.mean_, self.components_ = drawn.mean[0].astype(dtype), turned.astype(dtype)
        self.noise_variance_ = (drawn.noise[0] / self.scale_**2).astype(dtype)

    # Rows

    def _log_density(self, model: Model, params: Any, block: Block) -> np.ndarray:
        """Of the standardised cells where `scale`."""
        volume = ~block.patterns.missing @ np.log(self.scale_)
        return super()._log_density(model, params, block) + volume[groups_of(block.patterns)]

    def scores(self, X: Any, method: str = "regression", return_std: bool = False) -> Any:
        """Factor scores of each row, with standard errors.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing.
        method : {"regression", "bartlett", "tenberge"}, default="regression"
            Expectation given the row, shrunk towards 0 (Thomson); the unbiased estimate by weighted least squares; or the best
            scores that correlate as the factors do (ten Berge). The last two do not exist for rows with fewer observed cells
            than factors: NaN, with infinite errors.
        return_std : bool, default=False
            Also return the standard errors.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_components)
        std : ndarray of shape (n_samples, n_components)
            Only if `return_std`.
        """
        check_choice("method", method, METHODS)
        return self._scored(X, method) if return_std else self._posterior(X, return_cov=False, method=method)

    # Whether the factors suffice, and how sure they are

    def adequacy(self, X: Any) -> Adequacy:
        """KMO and Bartlett's test of the columns; χ² test, RMSEA with interval, TLI, CFI and SRMR of the model.

        With missing cells tests compare likelihoods of the observed cells (full information), with any Gaussian learned by EM.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            The rows of the fit.

        Returns
        -------
        Adequacy
        """
        check_is_fitted(self)
        source = self._open(X)
        found, complete = correlation_of(source)
        if not found.varies.all():
            raise ValueError(f"constant columns have no correlations: {self._named(~found.varies)}; drop them.")
        covariance = self._params().components.dense[0]
        d, k, root = len(covariance), self.n_components_, np.sqrt(np.diagonal(covariance))
        matrix = covariance / np.outer(root, root)
        if complete:
            misfit = np.linalg.slogdet(matrix)[1] + np.trace(np.linalg.solve(matrix, found.matrix))
            return adequacy(found.matrix, matrix, found.weight, fit_test(found, k, misfit), sphericity(found))
        free = any_gaussian(source)
        saturated = Correlation.of(found.weight, found.mean, free.covariances_[0].astype(np.float64))
        if saturated.matrix.shape != matrix.shape or np.linalg.eigvalsh(saturated.matrix)[0] < SINGULAR:
            # On its floor: the likelihood of any Gaussian has no maximum.
            return adequacy(saturated.matrix, matrix, found.weight, None, None)
        best = float(free.score_samples(source).sum())
        model = float(self.score_samples(source).sum()) - float(found.cells @ np.log(self.scale_))
        alone = -0.5 * float(found.cells @ (LOG_2PI + 2.0 * np.log(found.deviation) + 1.0))
        tests = likelihood_ratio(best - model, self.dof_), likelihood_ratio(best - alone, d * (d - 1) // 2)
        return adequacy(saturated.matrix, matrix, found.weight, *tests)

    def standard_errors(self, X: Any, *, n_bootstrap: int = 100, random_state: Any = None) -> FactorErrors:
        """Standard errors of loadings, uniquenesses and factor correlations, by the bootstrap of rows.

        Every sample is fitted and rotated anew, and its factors matched with those of this fit, so that the errors hold for
        any rotation and with missing cells.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows of the fit.
        n_bootstrap : int, default=100
            Samples of rows.
        random_state : int, RandomState instance or None, default=None
            Seeds the samples; by default the estimator's own does.

        Returns
        -------
        FactorErrors
        """
        check_is_fitted(self)
        check_number("n_bootstrap", n_bootstrap, numbers.Integral, 2)
        if is_streamed(X):
            raise ValueError("standard_errors takes rows in memory; read them first.")
        rows, rng = self._validate(X, reset=False), self._rng(random_state)
        settings = {"n_components": self.n_components_, "parameter_draws": 0, "callback": None, "n_jobs": 1}
        model, found = clone(self).set_params(**settings), []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(n_bootstrap):
                model.fit(rows[rng.integers(len(rows), size=len(rows))])
                found.append(_matched(model, np.asarray(self.components_, np.float64)))
        errors = (np.std(part, axis=0, ddof=1) for part in zip(*found))
        return FactorErrors(*errors)

    def _column_variances(self) -> np.ndarray:
        """Variances of the standardised columns under the model: 1 unless cells are missing."""
        common = (self.components_ * self.structure_).sum(axis=0)
        return np.where(common > 0, common / np.maximum(1.0 - self.uniqueness_, np.finfo(float).eps), 1.0)

    def column_correlations(self) -> np.ndarray:
        check_is_fitted(self)
        return np.asarray(self.components_, dtype=np.float64).T / np.sqrt(self._column_variances())[:, None]

    def variance_shares(self) -> np.ndarray:
        check_is_fitted(self)
        return (self.components_ * self.structure_ / self._column_variances()).mean(axis=1)
