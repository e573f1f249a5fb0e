"""Ends of bootstrap intervals, from replicates θ*₁ … θ*_B of an estimate θ̂.

    percentile:   θ*₍α₎ to θ*₍₁₋α₎                  basic:  2θ̂ − θ*₍₁₋α₎ to 2θ̂ − θ*₍α₎
    studentised:  θ̂ − t*₍₁₋α₎ s to θ̂ − t*₍α₎ s,   t* = (θ* − θ̂)/s*
    BCa:          θ*₍a₁₎ to θ*₍a₂₎,   a = Φ(z₀ + (z₀ + z_α) / (1 − c (z₀ + z_α)))

z₀ = Φ⁻¹(share of θ* below θ̂) corrects for bias, and c = Σ d³ / 6 (Σ d²)^{3/2}, d being how far the jackknife's values lie
below their mean, for a spread that changes with θ.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

__all__ = ["METHODS", "ends_of"]

METHODS = ("bca", "percentile", "basic", "studentised")


def ends_of(
    method: str, estimate: np.ndarray, replicates: np.ndarray, level: float, jackknife: np.ndarray | None = None,
    spread: np.ndarray | None = None, spreads: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Both ends for every value: `estimate` (k,), `replicates` (B, k), `jackknife` (n, k), standard errors (k,) and (B, k)."""
    alpha = (1 - level) / 2
    if method == "bca":
        assert jackknife is not None
        return _bca(estimate, replicates, alpha, jackknife)
    if method == "studentised":
        assert spread is not None
        assert spreads is not None
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(spreads > 0, (replicates - estimate) / spreads, 0.0)
        low, high = np.quantile(t, [alpha, 1 - alpha], axis=0)
        return estimate - high * spread, estimate - low * spread
    low, high = np.quantile(replicates, [alpha, 1 - alpha], axis=0)
    return (low, high) if method == "percentile" else (2 * estimate - high, 2 * estimate - low)


def _bca(
    estimate: np.ndarray, replicates: np.ndarray, alpha: float, jackknife: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    below = 0.5 * ((replicates < estimate).mean(axis=0) + (replicates <= estimate).mean(axis=0))
    gaps = jackknife.mean(axis=0) - jackknife
    with np.errstate(divide="ignore", invalid="ignore"):
        z0, scale = stats.norm.ppf(below), 6 * (gaps**2).sum(axis=0) ** 1.5
        c = np.where(scale > 0, (gaps**3).sum(axis=0) / scale, 0.0)
        ends = []
        for z in (stats.norm.ppf(alpha), stats.norm.isf(alpha)):
            shares = stats.norm.cdf(z0 + (z0 + z) / (1 - c * (z0 + z)))
            # Where all replicates lie on one side, the outermost is all that is known.
            shares = np.where(np.isfinite(shares), shares, below)
            ends.append(_quantiles(replicates, shares))
    return ends[0], ends[1]


def _quantiles(replicates: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """A quantile of each column, of its own."""
    ordered = np.sort(replicates, axis=0)
    place = shares * (len(ordered) - 1)
    low = np.floor(place).astype(int)
    high, columns = np.minimum(low + 1, len(ordered) - 1), np.arange(ordered.shape[1])
    part = place - low
    return ordered[low, columns] * (1 - part) + ordered[high, columns] * part
