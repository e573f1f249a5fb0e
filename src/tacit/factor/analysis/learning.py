"""`FactorAnalysisBase`: how factor analysis is learned and what is published of it.

Complete rows are read once: max_{Λ, Ψ} p(X) depends on their covariance alone. Missing cells are integrated out by EM.
"""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import cache, partial
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_feature_names, check_array

from ...checks import check_choice, check_number
from ...engine import Fit, Trace
from ...source import Source
from ...source.threads import one_blas_thread
from ...words import count
from ..estimator import FactorEstimator
from ..principal.rank import RankChoice, Spectrum, parallel
from ..scores import canonical
from .adequacy import FitTest, fit_test
from .correlation import Correlation, correlation_of, degrees_of_freedom, ledermann_bound
from .least_squares import LEARN
from .maximum import Maximum, least_bic
from .rotation import ROTATIONS, Rotation, rotate

__all__ = ["FactorAnalysisBase", "HeywoodWarning"]

SMALL = 400  # columns
PROJECTED = ("oblimin", "geomin", "bifactor", "target")  # rotations with random starts
LEAST_FLOOR = 1e-9  # below, rounding leaves nothing of the likelihood


class HeywoodWarning(UserWarning):
    """Columns that the factors explain entirely, up to the floor: the likelihood has no maximum inside."""


class FactorAnalysisBase(FactorEstimator):
    """Learning of `FactorAnalysis`."""

    verbose, verbose_interval, convergence = 0, 10, "relative"
    noise_variance_init: Any
    method: str
    svd_method: str
    iterated_power: int
    rotation: Any
    rotation_params: Any
    scale: bool
    uniqueness_floor: float
    test_: FitTest | None
    rank_choice_: RankChoice | None

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("n_init", self.n_init, numbers.Integral, 1)
        if isinstance(self.n_components, str):
            check_choice("n_components", self.n_components, ("bic", "parallel", "parallel_factors"))
        elif self.n_components is not None:
            check_number("n_components", self.n_components, numbers.Integral, 0)
        check_choice("method", self.method, tuple(LEARN))
        check_choice("svd_method", self.svd_method, ("lapack", "randomized"))
        check_number("iterated_power", self.iterated_power, numbers.Integral, 0)
        check_choice("rotation", self.rotation, (*ROTATIONS, None))
        if not isinstance(self.rotation_params, (dict, type(None))):
            raise ValueError(
                f"rotation_params={self.rotation_params!r} must be a dictionary of arguments of the rotation."
            )
        if not isinstance(self.scale, (bool, np.bool_)):
            raise ValueError(f"scale={self.scale!r} must be True or False.")
        floor = self.uniqueness_floor
        if not isinstance(floor, (int, float, np.floating)) or not LEAST_FLOOR <= floor < 1.0:
            raise ValueError(
                f"uniqueness_floor={floor!r} must be a share of the variance, from {LEAST_FLOOR:g} to below 1."
            )

    # Learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
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
        correlation, complete = correlation_of(source)
        self._check_columns_vary(correlation)
        # Threads gain nothing on small matrices, and lose tenfold where other processes want the cores too.
        with one_blas_thread() if source.n_features <= SMALL else nullcontext():
            self._learn_factors(correlation, None if complete else source, source.dtype)
        self._keep(source if self.n_components_ else None)
        self._warn(correlation)
        return self

    def fit_covariance(self, covariance: Any, n_samples: float, mean: Any = None) -> Self:
        """Learn the factors from a covariance or correlation matrix of complete rows.

        Parameters
        ----------
        covariance : array-like of shape (n_features, n_features)
            Symmetric and positive; a data frame names the columns.
        n_samples : float
            The number of rows that it is of.
        mean : array-like of shape (n_features,), optional
            Means of the columns, default 0.

        Returns
        -------
        self
        """
        self._check_settings()
        check_number("n_samples", n_samples, numbers.Real, 2)
        _check_feature_names(self, covariance, reset=True)
        matrix = check_array(covariance, dtype=np.float64, ensure_min_features=2, input_name="covariance")
        root = np.sqrt(np.abs(np.diagonal(matrix)))
        if matrix.shape[0] != matrix.shape[1] or np.abs(matrix - matrix.T).max() > 1e-6 * np.outer(root, root).max():
            raise ValueError(f"covariance of shape {matrix.shape} is not symmetric; give one of all pairs of columns.")
        least = float(np.linalg.eigvalsh(matrix / np.outer(root, root)).min()) if root.all() else 0.0
        if least < -1e-8 or not root.all() or (np.diagonal(matrix) < 0).any():
            raise ValueError(
                f"covariance is not positive: the least eigenvalue of its correlations is {least:.3g}; use one of complete rows."
            )
        self.n_features_in_ = len(matrix)
        mean = np.zeros(len(matrix)) if mean is None else check_array(mean, ensure_2d=False, dtype=np.float64)
        if mean.shape != (len(matrix),):
            raise ValueError(f"mean has shape {mean.shape}, but covariance has {len(matrix)} columns; give one each.")
        correlation = Correlation.of(n_samples, mean, matrix)
        self._learn_factors(correlation, None, matrix.dtype)
        self._keep(None)
        self._warn(correlation)
        return self

    def _learn_factors(self, correlation: Correlation, source: Source | None, dtype: np.dtype) -> None:
        """Maximise the likelihood, or minimise residual correlations, of the rows of a source where these have missing cells."""
        maximum = self._maximum(correlation)
        if source is not None and self.method != "ml":
            maximum = maximum.by_expectation(source)
        # Whatever number is chosen was learned while choosing.
        learn = cache(maximum.of_correlation if source is None else partial(maximum.of_rows, source))
        self.scale_ = correlation.deviation if self.scale else np.ones(len(correlation.mean))
        self._choose(correlation, learn)
        fit = learn(self.n_components_)
        self._publish_solution(fit, correlation, dtype)
        self.test_ = None
        if source is None:
            discrepancy = correlation.discrepancy(fit.trace.objectives[-1], self.uniqueness_floor)
            self.test_ = fit_test(correlation, self.n_components_, discrepancy)

    def _check_columns_vary(self, correlation: Correlation) -> None:
        constant = ~correlation.varies
        if constant.all():
            raise ValueError("every column of X is constant; there is nothing to analyse.")
        if constant.any():
            warnings.warn(f"constant columns have no loadings: {self._named(constant)}; drop them.", stacklevel=3)

    def _named(self, columns: np.ndarray) -> str:
        """Columns, given by a mask, by name or number."""
        names = getattr(self, "feature_names_in_", [f"column {j}" for j in range(self.n_features_in_)])
        return ", ".join(map(str, np.asarray(names)[columns]))

    def _maximum(self, correlation: Correlation) -> Maximum:
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
            self.method, correlation, self._rng(), start, self.n_init, self.uniqueness_floor, self.max_iter, self.tol, engine,
            self._named,
        )  # fmt: skip

    def _choose(self, correlation: Correlation, learn: Callable[[int], Fit]) -> None:
        """Set the number of factors, and how it was chosen."""
        d, wanted = len(correlation.mean), self.n_components
        self.rank_choice_ = None
        if wanted == "bic":
            self.rank_choice_ = least_bic(learn, correlation, self.scale_)
        elif wanted in ("parallel", "parallel_factors"):
            # As many rows as observe both of two columns, were cells missing at random: eigenvalues spread accordingly.
            pairs = correlation.weight * (correlation.cells / correlation.weight).mean() ** 2
            spectrum = Spectrum.of_correlation(correlation.matrix, pairs, reduced=wanted == "parallel_factors")
            self.rank_choice_ = parallel(spectrum, random_state=self.random_state)
        elif wanted is not None and wanted > d:
            raise ValueError(f"n_components={wanted} exceeds the {d} columns of X; use at most {d}.")
        chosen = wanted if self.rank_choice_ is None else max(self.rank_choice_.rank, 1)
        self.n_components_ = d if chosen is None else int(chosen)
        self.dof_ = degrees_of_freedom(len(correlation.matrix), self.n_components_)

    # What was learned

    def _publish_solution(self, fit: Fit, correlation: Correlation, dtype: np.dtype) -> None:
        """Set the fitted attributes."""
        params, k = fit.params.components, self.n_components_
        self.heywood_ = correlation.varies & (params.noise[0] <= self.uniqueness_floor * params.scale * (1.0 + 1e-9))
        # The floor is a share of the variance of observed cells; columns there, and constant ones, are told in the same unit.
        held = self.heywood_ | ~correlation.varies
        variance = np.where(held, params.scale, (params.loading[0] ** 2).sum(axis=1) + params.noise[0])
        self.uniqueness_ = (params.noise[0] / variance).astype(dtype)
        noise = params.noise[0] / self.scale_**2
        # Factors of least squares are principal axes of what they explain of the correlations.
        metric = noise if self.method == "ml" else params.scale / self.scale_**2
        turned = self._rotated(canonical(params.loading[0] / self.scale_[:, None], metric)[:, :k])
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

    def _rotated(self, loadings: np.ndarray) -> Rotation:
        if self.rotation is None:
            return Rotation(loadings, *[np.eye(loadings.shape[1])] * 2)
        seed = {"random_state": self.random_state} if self.rotation in PROJECTED else {}
        return rotate(loadings, self.rotation, **(seed | (self.rotation_params or {})))

    def _warn(self, correlation: Correlation) -> None:
        d, k = len(correlation.matrix), self.n_components_
        found: list[tuple[str, type[Warning]]] = []
        if self.rank_choice_ is not None and self.rank_choice_.rank == 0:
            found.append((f"{_unsupported(self.rank_choice_)}.", UserWarning))
        if self.fit_.interrupted:
            found.append((f"{self.fit_.reason}; what was learned so far is kept.", UserWarning))
        elif not self.converged_:
            text = f"FactorAnalysis did not converge: {self.fit_.reason}. Increase max_iter or tol."
            found.append((text, ConvergenceWarning))
        found += [(f"{text}.", HeywoodWarning) for text in self.fit_.failures]
        if self.dof_ < 0:
            text = (
                f"{count(k, 'factor')} {'is' if k == 1 else 'are'} more than the covariance of {count(d, 'column')} can "
                f"tell apart: {self.dof_} degrees of freedom, so that loadings are not unique and there is no test of fit; "
                f"use at most {ledermann_bound(d)}."
            )
            found.append((text, UserWarning))
        if self.heywood_.any():
            text = (
                f"Heywood case: the uniqueness of {self._named(self.heywood_)} is at the floor of "
                f"{self.uniqueness_floor:g}, where the "
                f"{'likelihood' if self.method == 'ml' else 'fit'} tells of the floor; use fewer factors or drop columns that "
                "nearly repeat others."
            )
            found.append((text, HeywoodWarning))
        for text, category in found:
            warnings.warn(text, category, stacklevel=3)


def _unsupported(choice: RankChoice) -> str:
    """What is to be said where no factor is better than one."""
    if choice.method == "bic":
        why = f"BIC is lowest without any factor ({choice.values[0]:.6g} against {choice.values[1]:.6g} with one)"
    else:
        why = (
            f"no eigenvalue exceeds those of independent columns (the largest is {choice.values[0]:.4g}, where chance gives up "
            f"to {choice.threshold[0]:.4g})"
        )
    return f"{why}: no factor is supported; one is kept, which may be chance"
