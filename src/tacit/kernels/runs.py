"""Short runs of EM for Gaussian mixtures, all starts and steps in one call: over few rows, Python costs more than a step does.

    r_ik ∝ (π_k p(x_i | θ_k))^β,   β rising to 1: at first every row belongs a little to every class (annealing)

Each run is at π (classes,), μ − o (classes, d) and Σ (classes, d, d), which are overwritten by where it leads; families with
fewer parameters are held to their form after every M-step.
"""

import math

import numpy as np

from .gaussian import full
from .jit import jit

FULL, TIED, DIAG, SPHERICAL = range(4)
LOG_2PI = math.log(2.0 * math.pi)
TINY = 2.2250738585072014e-308


@jit
def factor(matrix, lower, upper):
    """Upper triangle P with Σ⁻¹ = P Pᵀ, by way of the lower triangle of Cholesky; whether the matrix is definite."""
    d = matrix.shape[0]
    for j in range(d):
        for i in range(j, d):
            total = matrix[i, j]
            for h in range(j):
                total -= lower[i, h] * lower[j, h]
            if i > j:
                lower[i, j] = total / lower[j, j]
            elif total > 0.0:
                lower[j, j] = math.sqrt(total)
            else:
                return False
    for j in range(d):
        upper[j, j] = 1.0 / lower[j, j]
        for i in range(j + 1, d):
            total = 0.0
            for h in range(j, i):
                total += lower[i, h] * upper[j, h]
            upper[j, i] = -total / lower[i, i]
    return True


@jit
def prepare(share, mean, covariance, beta, width, lower, upper, strips, log_share, shift, constant):
    """The arguments of `full` for the densities to the power β; whether the covariances are definite."""
    n_classes, d = mean.shape
    for k in range(n_classes):
        if not factor(covariance[k], lower, upper[k]):
            return False
        log_share[k] = beta * math.log(max(share[k], TINY))
        constant[k] = -0.5 * d * LOG_2PI
        for j in range(d):
            constant[k] += math.log(upper[k, j, j])
        constant[k] *= beta
        for j in range(d):
            shift[k, j] = 0.0
            for i in range(j + 1):
                upper[k, i, j] *= math.sqrt(beta)
            for i in range(j + 1):
                shift[k, j] += mean[k, i] * upper[k, i, j]
    at = 0
    for s in range(0, d, width):
        e = min(s + width, d)
        for k in range(n_classes):
            for j in range(s, e):
                for i in range(e):
                    strips[at] = upper[k, i, j] if i <= j else 0.0
                    at += 1
    return True


@jit
def is_low(covariance, scale, floor, lower, upper):
    """Whether a covariance is below the floor in any direction."""
    d = covariance.shape[0]
    rest = np.empty((d, d))
    for i in range(d):
        for j in range(d):
            rest[i, j] = covariance[i, j]
        rest[i, i] -= floor * scale[i]
    return not factor(rest, lower, upper)


@jit
def restrict(kind, count, covariance):
    """Hold covariances to the form of a family."""
    n_classes, d = covariance.shape[:2]
    if kind == TIED:
        total = count.sum()
        for i in range(d):
            for j in range(d):
                common = 0.0
                for k in range(n_classes):
                    common += count[k] * covariance[k, i, j]
                for k in range(n_classes):
                    covariance[k, i, j] = common / total
    elif kind != FULL:
        for k in range(n_classes):
            mean = 0.0
            for i in range(d):
                mean += covariance[k, i, i] / d
            for i in range(d):
                for j in range(d):
                    if i != j:
                        covariance[k, i, j] = 0.0
                    elif kind == SPHERICAL:
                        covariance[k, i, i] = mean


@jit
def maximise(kind, alpha, s0, s1, s2, scale, floor, share, mean, covariance, lower, upper):
    """The M-step from moments about the origin; an empty class keeps its own. How many classes fell below the floor."""
    n_classes, d = mean.shape
    most, total = s0.max(), s0.sum() + n_classes * (alpha - 1.0)
    for k in range(n_classes):
        share[k] = (s0[k] + alpha - 1.0) / total
        if s0[k] <= 1e-12 * most:
            continue
        for i in range(d):
            mean[k, i] = s1[k, i] / s0[k]
        for i in range(d):
            for j in range(d):
                covariance[k, i, j] = s2[k, i, j] / s0[k] - mean[k, i] * mean[k, j]
    restrict(kind, s0, covariance)
    n_low = 0
    for k in range(n_classes):
        n_low += is_low(covariance[k], scale, floor, lower, upper)
    return n_low


@jit
def runs(
    X, rows, origin, scale, floor, kind, alpha, width, mode, weights, labels, n_steps, tol, heat, n_warm,
    shares, means, covariances, values, steps, low,
):  # fmt: skip
    """Run EM from every start, at most so many steps or until a step gains less than `tol` per unit of weight.

    Start i weighs rows by row i of `weights`, or by the only one. The first `n_warm` steps are annealed, β rising from `heat`.
    The `mode` is EXPECT: as an argument it lets this share the compiled pass with all others. `values` are log-likelihoods at
    the last E-step, −∞ where a start turned out singular; `steps` counts E-steps, and `low` the classes below the floor, where
    a run ends.
    """
    n_starts, n_classes, d = means.shape
    lower, upper = np.zeros((d, d)), np.zeros((n_classes, d, d))
    size = 0
    for s in range(0, d, width):
        size += (min(s + width, d) - s) * min(s + width, d) * n_classes
    strips, shift, constant = np.empty(size), np.empty((n_classes, d)), np.empty(n_classes)
    log_share, nothing = np.empty(n_classes), np.empty((1, 1))
    for start in range(n_starts):
        share, mean, covariance = shares[start], means[start], covariances[start]
        weight = weights[min(start, weights.shape[0] - 1)]
        total, before, gain = weight.sum(), -np.inf, np.inf
        for step in range(n_steps):
            beta = heat + (1.0 - heat) * step / n_warm if step < n_warm else 1.0
            value = -np.inf
            s0, s1, s2 = np.zeros(n_classes), np.zeros((n_classes, d)), np.zeros((n_classes, d, d))
            if prepare(share, mean, covariance, beta, width, lower, upper, strips, log_share, shift, constant):
                value = full(
                    X,
                    rows,
                    origin,
                    strips,
                    shift,
                    constant,
                    width,
                    mode,
                    log_share,
                    weight,
                    labels,
                    nothing,
                    s0,
                    s1,
                    s2,
                )
            steps[start] += 1
            last, gain = gain, (value - before) / total
            before = value
            if not math.isfinite(value):
                break
            low[start] = maximise(kind, alpha, s0, s1, s2, scale, floor, share, mean, covariance, lower, upper[0])
            if low[start] > 0 or (step > n_warm and gain < tol and gain <= last):
                break
        values[start] = before
