"""Chances averaged over a Gaussian distribution of scores: what uncertain coefficients make of a prediction.

    two classes:  E σ(f) ≈ σ(m / √(1 + π v / 8)),  f ~ N(m, v), as if σ were the normal distribution function
    several:      E softmax_k(f) ∝ 1 / (2 − K + Σ_{j ≠ k} 1 / E σ(f_k − f_j)), which is exact where the differences are certain

Of several classes whose scores are uncertain by much more than 1, chances may be off by some hundredths.

References
----------
MacKay (1992), The evidence framework applied to classification networks.
Daunizeau (2017), Semi-analytical approximations to statistical moments of sigmoid and softmax mappings of normal variables.
"""

import numpy as np
from scipy.special import expit

__all__ = ["averaged"]


def averaged(mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Chances of the classes of every row.

    Parameters
    ----------
    mean : (n, scores) array
        Mean scores; a single one is that of class 1 against 0.
    covariance : (n, scores, scores) array
    """
    if mean.shape[1] == 1:
        damped = mean[:, 0] / np.sqrt(1.0 + np.pi / 8.0 * covariance[:, 0, 0])
        return np.column_stack([expit(-damped), expit(damped)])
    variance = np.diagonal(covariance, axis1=1, axis2=2)
    apart = variance[:, :, None] + variance[:, None, :] - 2.0 * covariance
    damped = (mean[:, :, None] - mean[:, None, :]) / np.sqrt(1.0 + np.pi / 8.0 * np.maximum(apart, 0.0))
    # 1 / σ(d) = 1 + e⁻ᵈ, so that the sum with 2 − K is 1 + Σ e⁻ᵈ over the others, in which the class itself counts as 1.
    top = np.max(-damped, axis=2)
    log_inverse = top + np.log(np.exp(-damped - top[:, :, None]).sum(axis=2))
    chance = np.exp(-(log_inverse - log_inverse.min(axis=1, keepdims=True)))
    return chance / chance.sum(axis=1, keepdims=True)
