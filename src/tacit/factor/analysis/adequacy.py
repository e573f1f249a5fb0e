"""Whether factors suffice: the likelihood-ratio test of Σ = ΛΛᵀ + Ψ against any covariance.

χ² = (n − 1 − (2d + 5)/6 − 2k/3) (log|Σ| + tr Σ⁻¹R − log|R| − d)    (Bartlett's correction)

With missing cells χ² = 2 (ℓ of any Gaussian − ℓ of the factors), both of the observed cells (full information). Of χ² and that of
columns without factors, χ₀², with f and f₀ degrees of freedom:

RMSEA = √(max(χ² − f, 0) / (f (n − 1)))    TLI = (χ₀²/f₀ − χ²/f) / (χ₀²/f₀ − 1)    CFI = 1 − (χ² − f) / (χ₀² − f₀)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2, ncx2

from ...arrays import Arrays, record
from ...declared import Numbers, Whole, declare
from .correlation import Correlation, degrees_of_freedom

__all__ = ["Adequacy", "FitTest", "adequacy", "fit_test", "kmo", "sphericity"]


@record
class FitTest(Arrays):
    """A test of fit.

    Attributes
    ----------
    statistic : float
        χ², with Bartlett's correction.
    dof : int
        Degrees of freedom.
    p_value : float
        Probability of a greater statistic if the factors sufficed; a small one says that they do not.
    """

    statistic: float
    dof: int
    p_value: float
    _saved = declare(statistic=Numbers(low=0), dof=Whole(1), p_value=Numbers(low=0, high=1))

    def __str__(self) -> str:
        return f"chi² = {self.statistic:.2f} on {self.dof} degrees of freedom, p = {self.p_value:.3g}"


def fit_test(correlation: Correlation, n_factors: int, discrepancy: float) -> FitTest | None:
    """The test; None where there is none: no degrees of freedom, too few rows, or columns that are collinear."""
    d = len(correlation.matrix)
    dof = degrees_of_freedom(d, n_factors)
    factor = correlation.weight - 1.0 - (2.0 * d + 5.0) / 6.0 - 2.0 * n_factors / 3.0
    excess = discrepancy - correlation.log_det - d
    if dof <= 0 or factor <= 0.0 or not np.isfinite(excess):
        return None
    statistic = factor * max(excess, 0.0)
    return FitTest(float(statistic), int(dof), float(chi2.sf(statistic, dof)))


@dataclass(frozen=True)
class Adequacy:
    """Whether columns have common factors, and whether those of a model suffice.

    Attributes
    ----------
    kmo : float
        Kaiser–Meyer–Olkin measure of sampling adequacy: squared correlations over these and squared partial correlations.
    kmo_columns : ndarray of shape (n_features,)
        The same of each column.
    sphericity : FitTest
        Bartlett's test that no columns correlate, which is the model without factors.
    fit : FitTest or None
        The test of the model; None without degrees of freedom.
    rmsea : float
        Root mean square error of approximation; below 0.05 is close.
    rmsea_interval : tuple of float
        Its 90 % interval.
    tli, cfi : float
        Tucker–Lewis index and comparative fit index; above 0.95 is good.
    srmr : float
        Root mean square of the correlations that the model leaves unexplained.
    """

    kmo: float
    kmo_columns: np.ndarray
    sphericity: FitTest | None
    fit: FitTest | None
    rmsea: float
    rmsea_interval: tuple[float, float]
    tli: float
    cfi: float
    srmr: float


def kmo(correlation: np.ndarray) -> tuple[float, np.ndarray]:
    """The Kaiser–Meyer–Olkin measure of a correlation matrix, of all columns and of each; NaN where it is singular."""
    values = np.linalg.eigvalsh(correlation)
    if values[0] <= 1e-10 * values[-1]:
        return np.nan, np.full(len(correlation), np.nan)
    inverse = np.linalg.inv(correlation)
    root = np.sqrt(np.diagonal(inverse))
    off = ~np.eye(len(correlation), dtype=bool)
    simple, partial = (np.where(off, matrix**2, 0.0) for matrix in (correlation, inverse / np.outer(root, root)))
    columns = simple.sum(axis=0) / (simple + partial).sum(axis=0)
    return float(simple.sum() / (simple + partial).sum()), columns


def sphericity(correlation: Correlation) -> FitTest | None:
    """Bartlett's test of complete rows: the fit of no factors."""
    return fit_test(correlation, 0, float(len(correlation.matrix)))


def adequacy(
    saturated: np.ndarray, model: np.ndarray, n_rows: float, fit: FitTest | None, none: FitTest | None
) -> Adequacy:
    """Indices from the correlations of any Gaussian and of the model, and the tests of the model and of no factors."""
    of_all, of_columns = kmo(saturated)
    pairs = np.tril_indices(len(model))
    srmr = float(np.sqrt(((saturated - model)[pairs] ** 2).mean()))
    rmsea = tli = cfi = np.nan
    interval = np.nan, np.nan
    if fit is not None:
        size = fit.dof * (n_rows - 1.0)
        rmsea = float(np.sqrt(max(fit.statistic - fit.dof, 0.0) / size))
        low, high = (float(np.sqrt(_noncentrality(fit, level) / size)) for level in (0.95, 0.05))
        interval = low, high
    if fit is not None and none is not None:
        ratio, excess, first = none.statistic / none.dof, fit.statistic - fit.dof, none.statistic - none.dof
        tli = float((ratio - fit.statistic / fit.dof) / (ratio - 1.0))
        cfi = float(1.0 - max(excess, 0.0) / max(excess, first, np.finfo(float).tiny))
    return Adequacy(of_all, of_columns, none, fit, rmsea, interval, tli, cfi, srmr)


def _noncentrality(test: FitTest, level: float) -> float:
    """The noncentrality at which a statistic as small as this has a probability."""

    def apart(value: float) -> float:
        return float(ncx2.cdf(test.statistic, test.dof, value)) - level

    if chi2.cdf(test.statistic, test.dof) <= level:
        return 0.0
    return float(brentq(apart, 1e-12, 10.0 * test.statistic + 100.0))


def likelihood_ratio(gain: float, dof: int) -> FitTest | None:
    """The test of two log-likelihoods that differ by so much; None without degrees of freedom."""
    statistic = 2.0 * max(gain, 0.0)
    return FitTest(statistic, int(dof), float(chi2.sf(statistic, dof))) if dof > 0 else None
