"""Intervals from the likelihood, and the delta method.

    likelihood ratio:  {θ : 2 (l(θ̂) − l(θ)) ≤ χ²₁}        profile:  the range of g over {θ : 2 (l(θ̂) − l(θ)) ≤ χ²₁}
    delta:  g(θ̂) ± z √(∇gᵀ Σ ∇g)

The least and largest value of g where the likelihood is high enough are the ends of the profile interval, so that no likelihood
is maximised for every value of g: two optimisations with a constraint do. They run in coordinates in which the likelihood is
round.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats
from scipy.optimize import brentq, minimize

from ..checks import as_numpy
from .intervals import Interval
from .samples import check_alpha

__all__ = ["delta_interval", "likelihood_ends", "profile_interval"]


def likelihood_ends(
    loglik: Callable[[float], float], estimate: float, bounds: tuple[float, float], level: float
) -> tuple[float, float]:
    """Where a log-likelihood of one number has fallen by χ²₁/2 on either side of its maximum; a bound where it has not "
    "by then.
    """
    floor = loglik(estimate) - stats.chi2.ppf(level, 1) / 2
    ends = []
    for bound in bounds:
        step = np.sign(bound - estimate) * max(abs(estimate) * 0.1, 1e-3)
        far = estimate
        while far != bound and loglik(far) > floor:
            far = float(np.clip(far + step, min(bounds), max(bounds)))
            step *= 2
        if far == estimate or loglik(far) > floor:
            ends.append(float(far))
        else:
            inner = far + (estimate - far) * 1e-12  # a bound may have no likelihood at all
            low = loglik(inner) - floor
            ends.append(
                float(brentq(lambda v: max(loglik(v), -1e300) - floor, estimate, inner)) if low < 0 else float(far)
            )
    return ends[0], ends[1]


def profile_interval(fitted: Any, X: Any = None, *, of: Callable[[Any], float], level: float = 0.95) -> Interval:
    """The interval of a function of the parameters by the profile of the likelihood.

    Parameters
    ----------
    fitted : Distribution, estimator, or (callable, array)
        What was fitted to X by maximum likelihood: a family's distribution, a mixture, or a function that returns the
        log-likelihood of a vector together with the vector at its maximum.
    X : array-like, optional
        The rows; not for a function.
    of : callable
        The number that the interval is of, from a distribution, an estimator or a vector.
    level : float

    Returns
    -------
    Interval

    References
    ----------
    Venzon and Moolgavkar (1988), A method for computing profile-likelihood-based confidence intervals, Applied Statistics 37.

    Examples
    --------
    >>> from tacit.assess import profile_interval
    >>> from tacit.families import Poisson
    >>> counts = [2, 0, 3, 1, 4, 2, 2, 1, 0, 3]
    >>> print(profile_interval(Poisson().fit(counts), counts, of=lambda found: found.mean[0]))
    1.8 (95 % interval 1.091 to 2.764, profile likelihood)
    """
    level = check_alpha(level, "level")
    loglik, center, value = _parts(fitted, X, of)
    root = _root(loglik, center)

    def fall(u: np.ndarray) -> float:
        return loglik(center + root @ u) - best + bound

    best, bound = loglik(center), stats.chi2.ppf(level, 1) / 2
    ends = []
    for sign in (-1.0, 1.0):
        slope = _gradient(lambda u: value(center + root @ u), np.zeros(root.shape[1]))
        length = np.linalg.norm(slope)
        if not length > 0:
            raise ValueError("of does not change with the parameters; there is no interval of it.")
        start = sign * slope / length * np.sqrt(2 * bound)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            found = minimize(
                lambda u, sign=sign, length=length: -sign * value(center + root @ u) / length, start, method="SLSQP",
                constraints={"type": "ineq", "fun": fall}, options={"maxiter": 300, "ftol": 1e-10},
            )  # fmt: skip
        if not np.isfinite(found.fun) or fall(found.x) < -1e-3:
            raise ValueError("the likelihood falls too slowly for an interval of this; use the bootstrap.")
        ends.append(float(value(center + root @ found.x)))
    return Interval(float(value(center)), min(ends), max(ends), level, "profile likelihood")


def _parts(fitted: Any, X: Any, of: Callable) -> tuple[Callable, np.ndarray, Callable]:
    """The log-likelihood of a vector, the vector at its maximum, and the number that is wanted of a vector."""
    if isinstance(fitted, tuple):
        loglik, center = fitted
        return lambda v: float(loglik(v)), np.atleast_1d(np.asarray(center, dtype=float)), lambda v: float(of(v))
    from ..families.distribution import Distribution, as_rows
    from ..source import Block

    if isinstance(fitted, Distribution):
        family, params = fitted.family, fitted.params
        block = Block.of(as_rows(as_numpy(X), fitted.n_columns))
        return (
            lambda v: float(family.log_prob(family.bound(v, params), block).sum()),
            np.asarray(family.free(params), dtype=float),
            lambda v: float(of(Distribution(family, family.bound(v, params)))),
        )
    from ..kernels import host
    from ..mixture.estimator import check_mixture
    from ..mixture.uncertainty import shadow

    check_mixture(
        "profile_interval", fitted, "a distribution, a mixture or a function with its maximum", by_likelihood=True
    )
    source = fitted._open(X, None, None, reset=False)
    model, start = fitted._resumed(source)

    def of_rows(v: np.ndarray) -> float:
        params = model.bound(v, start)
        return float(source.sum(lambda block: host(model.posterior(params, block)[1]) @ host(block.unit_weight)))

    return of_rows, model.free(start), lambda v: float(of(shadow(fitted, model.bound(v, start))))


def _gradient(function: Callable, at: np.ndarray, step: float = 1e-4) -> np.ndarray:
    moves = step * np.eye(len(at))
    return np.array([(function(at + move) - function(at - move)) / (2 * step) for move in moves])


def _root(loglik: Callable, center: np.ndarray) -> np.ndarray:
    """R with R Rᵀ the inverse of minus the second derivatives of a log-likelihood, without directions in which it is flat."""
    k, step = len(center), 1e-3
    moves = step * np.maximum(np.abs(center), 0.1)
    best = loglik(center)
    matrix = np.empty((k, k))
    axes = np.diag(moves)
    single = [(loglik(center + axis), loglik(center - axis)) for axis in axes]
    for i in range(k):
        matrix[i, i] = -(single[i][0] + single[i][1] - 2 * best) / moves[i] ** 2
        for j in range(i):
            both = loglik(center + axes[i] + axes[j]) + loglik(center - axes[i] - axes[j])
            cross = both - sum(single[i]) - sum(single[j]) + 2 * best
            matrix[i, j] = matrix[j, i] = -cross / (2 * moves[i] * moves[j])
    scale = np.sqrt(np.maximum(np.diag(matrix), 1e-12))
    values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
    told = values > 1e-8
    if not told.any():
        raise ValueError("the likelihood is flat at the estimate; there is no interval.")
    return vectors[:, told] / np.sqrt(values[told]) / scale[:, None]


def delta_interval(function: Callable, estimate: Any, covariance: Any, *, level: float = 0.95) -> Interval:
    """The interval of a function of estimates that are normal about the truth, by the delta method.

    Parameters
    ----------
    function : callable
        Of a vector, returns a number; it must be smooth.
    estimate : array-like of shape (k,)
    covariance : array-like of shape (k, k)
        Of the estimate; a variance, of a single one.
    level : float

    Returns
    -------
    Interval

    Examples
    --------
    >>> import math
    >>> from tacit.assess import delta_interval
    >>> print(delta_interval(lambda p: math.log(p[0] / (1 - p[0])), [0.375], 0.375 * 0.625 / 40))
    -0.5108 (95 % interval -1.151 to 0.1293, delta)
    """
    level = check_alpha(level, "level")
    center = np.atleast_1d(np.asarray(estimate, dtype=float))
    spread = np.asarray(covariance, dtype=float).reshape(-1)
    if spread.size != center.size**2:
        raise ValueError(f"covariance has {spread.size} entries, but {center.size} estimates need {center.size**2}.")
    matrix = spread.reshape(center.size, center.size)
    if not np.isfinite(matrix).all() or (np.diag(matrix) < 0).any():
        raise ValueError(f"covariance holds {np.diag(matrix).min():g} on its diagonal; variances must not be negative.")
    units = np.where(np.diag(matrix) > 0, np.sqrt(np.diag(matrix)), 1.0)
    slope = _gradient(lambda u: float(function(center + units * u)), np.zeros(center.size)) / units
    value, reach = float(function(center)), float(stats.norm.isf((1 - level) / 2) * np.sqrt(slope @ matrix @ slope))
    return Interval(value, value - reach, value + reach, level, "delta")
