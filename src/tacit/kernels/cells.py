"""Functions of single cells, as the families of counts, waiting times and proportions need them, of arrays and of tensors.

    features:       T(x), functions of the cell side by side
    row_sums:       Σ_j x_j
    log_factorial:  Σ_j log x_j!
    log_choose:     Σ_j log C(n_j, x_j)
    log_rising:     Σ_j log Γ(x_j + a_kj) − log Γ(a_kj), less log x_j! of large cells
    rising_slope:   Σ_i r_ik [ψ(x_ij + a_kj) − ψ(a_kj)]

A missing cell stays missing among the features and drops out of the sums.
"""

from functools import partial

import numpy as np
from scipy.special import digamma, gammaln

from . import backend, host

LARGE = 1e6
SERIES = 16.0  # from here on series keep more digits than differences of log gammas and of their slopes

# log Γ(y) = (y − ½) log y − y + ½ log 2π + Σ_i STIRLING_i y^(−1−2i);   ψ(y) = log y − 1/2y + Σ_i SLOPES_i y^(−2−2i)
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
SLOPES = tuple(-(1 + 2 * i) * term for i, term in enumerate(STIRLING))

__all__ = ["LARGE", "features", "log_choose", "log_factorial", "log_rising", "rising_slope", "row_sums"]


def _library(X):
    """The array library of X, its log gamma and digamma, and what turns values into its arrays, in float64."""
    if backend(X) != "torch":
        return np, gammaln, digamma, partial(np.asarray, dtype=np.float64)
    import torch

    from .torch_pass import put

    return torch, torch.lgamma, torch.digamma, partial(put, device=X.device)


def _zero_filled(X):
    library, _, _, double = _library(X)
    x = double(X)
    return library.where(library.isnan(x), 0.0, x)


def features(X, names, turn=1.0):
    """The named functions of the cells, side by side: (rows, names · d) in float64; cosine and sine of cells times `turn`."""
    library, _, _, double = _library(X)
    functions = {"x": lambda x: x, "log": library.log, "log1m": lambda x: library.log1p(-x)}
    functions |= {"cos": lambda x: library.cos(x * double(turn)), "sin": lambda x: library.sin(x * double(turn))}
    return library.concatenate([functions[name](double(X)) for name in names], axis=1)


def row_sums(X):
    """Σ_j x_j of each row."""
    return _zero_filled(X).sum(axis=1)


def log_factorial(X):
    """Σ_j log x_j! over the observed cells of each row."""
    _, lgamma, _, _ = _library(X)
    return lgamma(_zero_filled(X) + 1.0).sum(axis=1)


def log_choose(X, n):
    """Σ_j log C(n_j, x_j) of each row."""
    _, lgamma, _, double = _library(X)
    x, n = _zero_filled(X), double(n)
    return (lgamma(n + 1.0) - lgamma(x + 1.0) - lgamma(n - x + 1.0)).sum(axis=1)


def log_rising(X, a):
    """Log of the rising factorials of a (classes, d), summed over the cells: (classes, rows).

    From `LARGE` up they are those over x!, of which the difference would be lost in the last digits of both.
    """
    library, lgamma, _, double = _library(X)
    x = _zero_filled(X)
    large = x >= LARGE
    found = [
        library.where(start < SERIES, lgamma(x + start) - lgamma(start), _log_rise(library, x, start))
        for start in double(a)
    ]
    if bool(large.any()):
        series = (_log_share(library, library.where(large, x, LARGE), start) - lgamma(start) for start in double(a))
        found = [library.where(large, more, cells) for more, cells in zip(series, found)]
    return library.stack([cells.sum(axis=1) for cells in found])


def _series(terms, y):
    """Σ_i terms_i y^(−2i)."""
    square, total = y**-2, 0.0
    for term in reversed(terms):
        total = total * square + term
    return total


def _log_rise(library, x, a):
    """Log Γ(x + a) − log Γ(a) of a ≥ SERIES, by Stirling's series."""
    a = library.clip(a, SERIES, None)
    ends = _series(STIRLING, a + x) / (a + x) - _series(STIRLING, a) / a
    return (a + x - 0.5) * library.log1p(x / a) + x * library.log(a) - x + ends


def _slope_rise(library, x, a):
    """ψ(x + a) − ψ(a) of a ≥ SERIES, by its series."""
    a = library.clip(a, SERIES, None)
    ends = _series(SLOPES, a + x) / (a + x) ** 2 - _series(SLOPES, a) / a**2
    return library.log1p(x / a) + 0.5 * x / (a * (a + x)) + ends


def _log_share(library, x, a):
    """Log Γ(x + a) − log x! of large x, by Stirling's series."""
    y, h = x + 1.0, a - 1.0
    ends = (1.0 / (y + h) - 1.0 / y) / 12.0
    return (y + h - 0.5) * library.log1p(h / y) + h * library.log(y) - h + ends


def rising_slope(X, a, resp):
    """Derivative of Σ_i r_ik log_rising in a, (classes, d), as an array; `resp` is (classes, rows)."""
    library, _, psi, double = _library(X)
    x = _zero_filled(X)
    slopes = [
        r @ library.where(start < SERIES, psi(x + start) - psi(start), _slope_rise(library, x, start))
        for start, r in zip(double(a), double(resp))
    ]
    return host(library.stack(slopes))
