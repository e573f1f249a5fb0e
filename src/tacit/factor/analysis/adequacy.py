"""Whether factors suffice: the likelihood-ratio test of Σ = ΛΛᵀ + Ψ against any covariance.

χ² = (n − 1 − (2d + 5)/6 − 2k/3) (log|Σ| + tr Σ⁻¹R − log|R| − d)    (Bartlett's correction)
"""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

from ...arrays import Arrays, record
from ...declared import Numbers, Whole, declare
from .correlation import Correlation, degrees_of_freedom

__all__ = ["FitTest", "fit_test"]


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
