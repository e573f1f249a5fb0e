"""`Maximum`: where the likelihood of factor analysis is highest, from correlations (complete rows) or by EM (missing cells)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine import Fit, Trace, fit_best
from ...families.factor import FactorGaussian, FactorParams
from ...mixture.model import MixtureModel, MixtureParams
from ...notes import Note
from ..principal.rank import RankChoice
from .correlation import Correlation, degrees_of_freedom, n_parameters
from .uniqueness import best_uniqueness

__all__ = ["Maximum", "family", "least_bic"]

PATIENCE = 3  # numbers of factors without improvement after which BIC has passed its minimum


def family(n_factors, floor):
    """The family of rows with so many factors; without any, one whose loadings are 0."""
    return FactorGaussian(max(n_factors, 1), "diagonal", floor=floor)


@dataclass(frozen=True)
class Maximum:
    """How a likelihood is maximised.

    Attributes
    ----------
    correlation : Correlation
        Of the rows, or where EM starts.
    rng : numpy.random.Generator
        Draws further starts.
    start : (v,) array or None
        Uniquenesses of the columns that vary, to start from.
    n_init, max_iter : int
    floor, tol : float
    engine : dict
        Settings of EM.
    named : callable
        Text for columns given by a mask.
    """

    correlation: Correlation
    rng: Any
    start: Any
    n_init: int
    floor: float
    max_iter: int
    tol: float
    engine: dict
    named: Callable

    def _solve(self, n_factors):
        """The best uniquenesses of the correlations, and the parameters they mean for the columns."""
        known = self.correlation
        found = best_uniqueness(
            known.matrix, n_factors, self.rng, start=self.start, n_init=self.n_init, floor=self.floor, max_iter=self.max_iter
        )  # fmt: skip
        loading, noise = np.zeros((len(known.mean), max(n_factors, 1))), np.full(len(known.mean), self.floor)
        loading[known.varies, :n_factors], noise[known.varies] = found.loadings, found.values
        variance = known.deviation**2
        loading *= known.deviation[:, None]
        params = FactorParams(known.mean[None], loading[None], (variance * noise)[None], known.mean, variance)
        return found, MixtureParams(np.ones(1), params)

    def of_correlation(self, n_factors):
        """The `Fit` of complete rows, of which correlations say all."""
        found, params = self._solve(n_factors)
        trace = Trace()
        for discrepancy in found.trace:
            trace.record(self.correlation.loglik(discrepancy, self.floor), self.correlation.weight)
        trace.passes = 1
        return Fit(params, trace, found.reason, found.converged, failures=self._failures(found))

    def _failures(self, found):
        """What is to be said of a likelier solution at the floor."""
        if found.rival is None:
            return ()
        at_floor = np.zeros(len(self.correlation.mean), bool)
        at_floor[self.correlation.varies] = found.rival.at_floor
        gain = 0.5 * self.correlation.weight * (found.value - found.rival.value)
        text = (
            "the log-likelihood is higher by {gain:.4g} where the uniqueness of {columns} is at the floor of {floor:g} (a "
            "Heywood case); the maximum inside is kept, which does not depend on the floor"
        )
        return (Note("heywood", text, gain=float(gain), columns=self.named(at_floor), floor=self.floor),)

    def of_rows(self, source, n_factors):
        """The `Fit` of rows with missing cells, by EM from what pairs of columns tell."""
        _, start = self._solve(n_factors)
        model = MixtureModel(family(n_factors, self.floor), 1)
        # Steps of EM are short: a gain far below `tol` still means digits of uniquenesses.
        return fit_best(model, source, [lambda: start], max_iter=self.max_iter, tol=1e-5 * self.tol, **self.engine)


def least_bic(learn, correlation, scale):
    """The number of factors, from 0 to where degrees of freedom end, whose `Fit` has the least BIC.

    The likelihood is that of columns divided by `scale` (d,).
    """
    d, v = len(correlation.mean), len(correlation.matrix)
    criteria: list[float] = []
    volume = float(correlation.cells @ np.log(scale))
    while len(criteria) < 2 or (
        degrees_of_freedom(v, len(criteria)) >= 0 and len(criteria) <= np.argmin(criteria) + PATIENCE
    ):
        fit = learn(len(criteria))
        if fit.interrupted:
            raise KeyboardInterrupt  # numbers of factors that were learned halfway cannot be compared
        loglik = fit.trace.objectives[-1] + volume
        criteria.append(n_parameters(d, v, len(criteria)) * np.log(correlation.weight) - 2.0 * loglik)
    return RankChoice(int(np.argmin(criteria)), "bic", np.arange(len(criteria)), np.array(criteria))
