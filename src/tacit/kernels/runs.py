"""Short runs of EM for Gaussian mixtures, all starts and steps in one call: over few rows, Python costs more than a step does.

    r_ik ∝ (π_k p(x_i | θ_k))^β,   β rising to 1: at first every row belongs a little to every class (annealing)

Each run is at π (classes,), μ − o (classes, d) and Σ (classes, d, d), which are overwritten by where it leads; families with
fewer parameters are held to their form after every M-step.
"""

import math

import numpy as np

from . import EXPECT
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
def clip(covariance, scale, floor, lower, upper):
    """Raise eigenvalues, in units of scale, to the floor; whether there was nothing to raise."""
    d = covariance.shape[0]
    unit = np.empty((d, d))
    for i in range(d):
        for j in range(d):
            unit[i, j] = covariance[i, j]
        unit[i, i] -= floor * scale[i]
    if factor(unit, lower, upper):
        return True
    for i in range(d):
        for j in range(d):
            unit[i, j] = covariance[i, j] / math.sqrt(scale[i] * scale[j])
    value, vector = np.linalg.eigh(unit)
    least = max(floor, 1e-13 * value[d - 1])
    for i in range(d):
        for j in range(d):
            total = 0.0
            for h in range(d):
                total += max(value[h], least) * vector[i, h] * vector[j, h]
            covariance[i, j] = total * math.sqrt(scale[i] * scale[j])
    return False


@jit
def restrict(kind, count, covariance, scale, floor, lower, upper):
    """Hold covariances to the form of a family and above the floor; how many of them had to be raised to it."""
    n_classes, d = covariance.shape[:2]
    raised = 0
    if kind == TIED:
        for i in range(d):
            for j in range(d):
                common = 0.0
                for k in range(n_classes):
                    common += count[k] * covariance[k, i, j]
                covariance[0, i, j] = common / count.sum()
        raised += not clip(covariance[0], scale, floor, lower, upper)
        for k in range(1, n_classes):
            covariance[k] = covariance[0]
        return raised
    for k in range(n_classes):
        if kind == FULL:
            raised += not clip(covariance[k], scale, floor, lower, upper)
            continue
        mean, least = 0.0, 0.0
        for i in range(d):
            mean += covariance[k, i, i] / d
            least += floor * scale[i] / d
        low = False
        for i in range(d):
            variance = mean if kind == SPHERICAL else covariance[k, i, i]
            least = least if kind == SPHERICAL else floor * scale[i]
            low = low or variance <= least
            covariance[k, i] = 0.0
            covariance[k, i, i] = max(variance, least)
        raised += low
    return raised


@jit
def maximise(kind, alpha, s0, s1, s2, scale, floor, share, mean, covariance, lower, upper):
    """The M-step from moments about the origin; an empty class keeps its own. How many classes lie on the floor."""
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
    return restrict(kind, s0, covariance, scale, floor, lower, upper)


@jit
def runs(
    X, rows, origin, scale, floor, kind, alpha, width, weights, n_steps, tol, heat, n_warm, shares, means, covariances,
    values, steps, raised,
):  # fmt: skip
    """Run EM from every start, at most so many steps or until a step gains less than `tol` per unit of weight.

    Start i weighs rows by row i of `weights`, or by the only one. The first `n_warm` steps are annealed, β rising from `heat`.
    `values` are log-likelihoods at the last E-step, −∞ where a start turned out singular; `steps` counts E-steps, and `raised`
    the classes that lie on the floor in the end.
    """
    n_starts, n_classes, d = means.shape
    lower, upper = np.zeros((d, d)), np.zeros((n_classes, d, d))
    size = 0
    for s in range(0, d, width):
        e = min(s + width, d)
        size += (e - s) * e * n_classes
    strips, shift, constant = np.empty(size), np.empty((n_classes, d)), np.empty(n_classes)
    s0, s1, s2 = np.empty(n_classes), np.empty((n_classes, d)), np.empty((n_classes, d, d))
    log_share, nothing, unknown = np.empty(n_classes), np.empty((1, 1)), np.full(X.shape[0], -1)
    for start in range(n_starts):
        share, mean, covariance = shares[start], means[start], covariances[start]
        weight = weights[min(start, weights.shape[0] - 1)]
        total = weight.sum()
        before, gain = -np.inf, np.inf
        for step in range(n_steps):
            beta = heat + (1.0 - heat) * step / n_warm if step < n_warm else 1.0
            ready = prepare(share, mean, covariance, beta, width, lower, upper, strips, log_share, shift, constant)
            s0[:] = 0.0
            s1[:] = 0.0
            s2[:] = 0.0
            value = -np.inf
            if ready:
                value = full(
                    X, rows, origin, strips, shift, constant, width, EXPECT, log_share, weight, unknown, nothing, s0, s1, s2
                )
            steps[start] += 1
            if not math.isfinite(value):
                before = -np.inf
                break
            raised[start] = maximise(kind, alpha, s0, s1, s2, scale, floor, share, mean, covariance, lower, upper[0])
            last, gain = gain, (value - before) / total
            before = value
            if step > n_warm and gain < tol and gain <= last:
                break
        values[start] = before
