"""Functions of single cells, as the families of counts, waiting times and proportions need them.

    features:      T(x), functions of the cell side by side
    row_sums:      Σ_j x_j
    log_choose:    Σ_j log C(n_j, x_j)
    log_rising:    Σ_j log Γ(x_j + a_kj) − log Γ(a_kj)
    rising_slope:  Σ_i r_ik [ψ(x_ij + a_kj) − ψ(a_kj)]

A missing cell stays missing among the features and drops out of the sums.
"""

import numpy as np
from scipy.special import digamma, gammaln

__all__ = ["features", "log_choose", "log_rising", "rising_slope", "row_sums"]

FUNCTIONS: dict = {"x": lambda x: x, "log": np.log, "log1m": lambda x: np.log1p(-x)}


def _zero_filled(X):
    return np.where(np.isnan(X), 0.0, X).astype(np.float64)


def features(X, names):
    """The named functions of the cells, side by side: (rows, names · d) in float64."""
    X = X.astype(np.float64)
    return np.concatenate([FUNCTIONS[name](X) for name in names], axis=1)


def row_sums(X):
    """Σ_j x_j of each row."""
    return _zero_filled(X).sum(axis=1)


def log_choose(X, n):
    """Σ_j log C(n_j, x_j) of each row."""
    x = _zero_filled(X)
    return (gammaln(n + 1.0) - gammaln(x + 1.0) - gammaln(n - x + 1.0)).sum(axis=1)


def log_rising(X, a):
    """Log of the rising factorials of a (classes, d), summed over the cells: (classes, rows)."""
    x = _zero_filled(X)
    return np.array([(gammaln(x + start) - gammaln(start)).sum(axis=1) for start in a])


def rising_slope(X, a, resp):
    """Derivative of Σ_i r_ik log_rising in a, (classes, d); `resp` is (classes, rows)."""
    x = _zero_filled(X)
    return np.array([r @ (digamma(x + start) - digamma(start)) for start, r in zip(a, resp)])
