"""`Maximum`: where the likelihood of factor analysis is highest, from correlations (complete rows) or by EM (missing cells)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ...engine import Fit, Trace, fit_best
from ...families.factor import FactorGaussian
from ...mixture import GaussianMixture
from ...mixture.model import MixtureModel, MixtureParams
from ...notes import Note
from ...source import Source
from ..estimator import factor_params
from ..principal.rank import RankChoice, least_rank
from .correlation import Correlation, ledermann_bound, n_parameters
from .least_squares import LEARN
from .uniqueness import Uniqueness, best_uniqueness

__all__ = ["SINGULAR", "Maximum", "any_gaussian", "family", "least_bic"]


SINGULAR = 1e-5  # least eigenvalue of correlations at which any Gaussian is on its floor: its likelihood has no maximum


def family(n_factors: int, floor: float) -> FactorGaussian:
    """The family of rows with so many factors; without any, one whose loadings are 0."""
    return FactorGaussian(max(n_factors, 1), "diagonal", floor=floor)


def any_gaussian(source: Source) -> GaussianMixture:
    """The Gaussian of rows with missing cells, with any covariance, by EM."""
    return GaussianMixture(1, tol=1e-8, max_iter=5000, accelerate="anderson", parameter_draws=0).fit(source)


@dataclass(frozen=True)
class Maximum:
    """How a likelihood is maximised, or residual correlations are minimised."""

    method: str  # a name of `LEARN`
    correlation: Correlation  # of the rows, or where EM starts
    rng: np.random.Generator  # draws further starts
    start: np.ndarray | None  # uniquenesses of the columns that vary
    n_init: int
    floor: float
    max_iter: int
    tol: float
    engine: dict[str, Any]  # settings of EM
    named: Callable[[np.ndarray], str]  # columns of a mask in words

    def _solve(self, n_factors: int) -> tuple[Uniqueness, MixtureParams]:
        """The best uniquenesses of the correlations, and the parameters they mean for the columns."""
        known = self.correlation
        found = best_uniqueness(
            known.matrix, n_factors, self.rng, start=self.start, n_init=self.n_init, learn=LEARN[self.method],
            floor=self.floor, max_iter=self.max_iter,
        )  # fmt: skip
        loading, noise = np.zeros((len(known.mean), max(n_factors, 1))), np.full(len(known.mean), self.floor)
        loading[known.varies, :n_factors], noise[known.varies] = found.loadings, found.values
        variance = known.deviation**2
        return found, factor_params(known.mean, loading * known.deviation[:, None], variance * noise, variance)

    def of_correlation(self, n_factors: int) -> Fit:
        """The `Fit` of complete rows, of which correlations say all."""
        found, params = self._solve(n_factors)
        trace = Trace()
        for discrepancy in found.trace:
            trace.record(self.correlation.loglik(discrepancy, self.floor), self.correlation.weight)
        trace.passes = 1
        return Fit(params, trace, found.reason, found.converged, failures=self._failures(found))

    def _failures(self, found: Uniqueness) -> tuple[Note, ...]:
        """What is to be said of a better solution at the floor."""
        if found.rival is None:
            return ()
        at_floor = np.zeros(len(self.correlation.mean), bool)
        at_floor[self.correlation.varies] = found.rival.at_floor
        gain, better = found.value - found.rival.value, "the sum of squared residual correlations is lower"
        if self.method == "ml":
            gain, better = 0.5 * self.correlation.weight * gain, "the log-likelihood is higher"
        text = (
            f"{better} by {{gain:.4g}} where the uniqueness of {{columns}} is at the floor of {{floor:g}} (a Heywood case); "
            "the solution inside is kept, which does not depend on the floor"
        )
        return (Note("heywood", text, gain=float(gain), columns=self.named(at_floor), floor=self.floor),)

    def by_expectation(self, source: Source) -> Maximum:
        """The same with the correlations that maximise the likelihood of rows with missing cells."""
        known, gaussian = self.correlation, any_gaussian(source)
        mean, covariance = (part[0].astype(np.float64) for part in (gaussian.means_, gaussian.covariances_))
        deviation = np.where(known.varies, np.sqrt(np.diagonal(covariance)), 1.0)
        matrix = (covariance / np.outer(deviation, deviation))[np.ix_(known.varies, known.varies)]
        if np.linalg.eigvalsh(matrix)[0] < SINGULAR:
            warnings.warn(
                "the likeliest covariance of the rows with missing cells is singular, so that its correlations tell of how EM is "
                f"regularised; use more rows, fewer columns or method='ml' instead of {self.method!r}.",
                stacklevel=4,
            )
        return replace(self, correlation=replace(known, mean=mean, deviation=deviation, matrix=matrix))

    def of_rows(self, source: Source, n_factors: int) -> Fit:
        """The `Fit` of rows with missing cells, by EM from what pairs of columns tell; least squares have no more to do."""
        found, start = self._solve(n_factors)
        model = MixtureModel(family(n_factors, self.floor), 1)
        if self.method != "ml":
            trace = Trace()
            trace.record(source.sum(partial(model.e_step, start)).loglik, self.correlation.weight)
            return Fit(start, trace, found.reason, found.converged, failures=self._failures(found))
        # Steps of EM are short: a gain far below `tol` still means digits of uniquenesses.
        return fit_best(model, source, [lambda: start], max_iter=self.max_iter, tol=1e-5 * self.tol, **self.engine)


def least_bic(learn: Callable[[int], Fit], correlation: Correlation, scale: np.ndarray) -> RankChoice:
    """The number of factors, from 0 to where degrees of freedom end, whose `Fit` has the least BIC.

    The likelihood is that of columns divided by `scale` (d,).
    """
    d, v = len(correlation.mean), len(correlation.matrix)
    volume = float(correlation.cells @ np.log(scale))

    def criterion(n_factors: int) -> float:
        fit = learn(n_factors)
        if fit.interrupted:
            raise KeyboardInterrupt  # numbers of factors that were learned halfway cannot be compared
        loglik = fit.trace.objectives[-1] + volume
        return n_parameters(d, v, n_factors) * np.log(correlation.weight) - 2.0 * loglik

    return least_rank(criterion, max(ledermann_bound(v), 1), "bic")
