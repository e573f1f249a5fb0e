"""p-values of several tests, corrected together.

Holm:  p̃₍ᵢ₎ = max_{j ≤ i} (m − j + 1) p₍ⱼ₎          Benjamini and Hochberg:  p̃₍ᵢ₎ = min_{j ≥ i} m p₍ⱼ₎ / j
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

__all__ = ["CORRECTIONS", "adjust"]

CORRECTIONS = ("holm", "bh")


def adjust(p_values: Any, method: str = "holm") -> np.ndarray:
    """p-values corrected for their number.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
    method : {"holm", "bh"}
        Holm's method keeps the probability of any false finding below the level, Benjamini and Hochberg's the share of false ones
        among the findings.

    Returns
    -------
    ndarray of shape (n_tests,)
        In the order given; what is at most the level is found.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6.
    Benjamini and Hochberg (1995), Controlling the false discovery rate, Journal of the Royal Statistical Society B 57.

    Examples
    --------
    >>> from tacit.assess import adjust
    >>> adjust([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    if method not in CORRECTIONS:
        raise ValueError(f"method={method!r} is unknown; use one of {', '.join(map(repr, CORRECTIONS))}.")
    p = np.asarray(p_values, dtype=float)
    bad = p[~((p >= 0) & (p <= 1))]
    if bad.size:
        raise ValueError(f"p_values holds {bad[0]:g}, which is no probability; leave out tests without one.")
    if not p.size:
        return p
    if method == "bh":
        return stats.false_discovery_control(p)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p)))), 1.0)
    return adjusted
