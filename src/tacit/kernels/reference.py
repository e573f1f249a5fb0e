"""Every kernel once more, in plain NumPy, written to be read: the definition the compiled kernels are tested against."""

import numpy as np
from scipy.special import logsumexp

from . import EXPECT, MOMENTS, SCORE
from .layout import unpack_strips

LOG_2PI = np.log(2 * np.pi)


def normalise(joint, weight, labels, evidence):
    known = np.flatnonzero(labels >= 0)
    kept = joint[labels[known], known].copy()
    joint[:, known] = -np.inf
    joint[labels[known], known] = kept
    evidence[:] = logsumexp(joint, axis=0)
    joint[:] = weight * np.exp(joint - evidence)
    return float(weight @ evidence)


def log_prob_full(X, rows, origin, strips, shift, constant, width, out):
    triangles = unpack_strips(strips, len(shift), X.shape[1], width)
    for k, P in enumerate(triangles):
        y = (X[rows] - origin) @ P - shift[k]
        out[k, rows] = constant[k] - 0.5 * (y**2).sum(axis=1)


def log_prob_tied(X, rows, origin, triangle, shift, constant, out):
    y = (X[rows] - origin) @ triangle.T
    for k in range(len(shift)):
        out[k, rows] = constant[k] - 0.5 * ((y - shift[k]) ** 2).sum(axis=1)


def log_prob_diag(X, rows, origin, scale, shift, constant, complete, out):
    x = X[rows] - origin
    for k in range(len(shift)):
        out[k, rows] = np.nansum(constant[k] - 0.5 * (x * scale[k] - shift[k]) ** 2, axis=1)


def moments_full(X, rows, origin, resp, s0, s1, s2):
    x, r = X[rows].astype(np.float64) - origin, resp[:, rows]
    s0 += r.sum(axis=1)
    s1 += r @ x
    s2 += np.einsum("kn,ni,nj->kij", r, x, x)


def moments_diag(X, rows, origin, resp, complete, s0, s1, s2):
    x, r = X[rows].astype(np.float64) - origin, resp[:, rows]
    seen = ~np.isnan(x)
    x = np.where(seen, x, 0.0)
    s0 += r @ seen
    s1 += r @ x
    s2 += r @ x**2


def _condition(x, mean, covariance):
    """Posterior of a row given its observed cells: mean, covariance, log density of what is observed."""
    m, o = np.isnan(x), ~np.isnan(x)
    inverse = np.linalg.inv(covariance[np.ix_(o, o)])
    residual = x[o] - mean[o]
    gain = covariance[np.ix_(m, o)] @ inverse
    filled, spread = x.copy(), np.zeros_like(covariance)
    filled[m] = mean[m] + gain @ residual
    spread[np.ix_(m, m)] = covariance[np.ix_(m, m)] - gain @ covariance[np.ix_(o, m)]
    log_det = np.linalg.slogdet(covariance[np.ix_(o, o)])[1]
    return filled, spread, -0.5 * (residual @ inverse @ residual + log_det + o.sum() * LOG_2PI)


def conditional(
    X, rows, starts, missing, mean, precision, covariance, log_det, mode, log_weight, weight, labels, out, s0, s1, s2
):
    posterior = [[_condition(X[i].astype(np.float64), m, C) for i in rows] for m, C in zip(mean, covariance)]
    log_prob = np.array([[p[2] for p in row] for row in posterior])
    loglik = 0.0
    if mode == SCORE:
        out[:, rows] = log_prob
        return loglik
    if mode == EXPECT:
        joint = log_prob + log_weight[:, None]
        loglik = normalise(joint, weight[rows], labels[rows], np.empty(len(rows)))
        out[:, rows] = joint
    assert mode in (MOMENTS, EXPECT)
    for k, row in enumerate(posterior):
        for i, (filled, spread, _) in zip(rows, row):
            z, r = filled - mean[k], out[k, i]
            s0[k] += r
            s1[k] += r * z
            s2[k] += r * (np.outer(z, z) + spread)
    return loglik


def complete(X, rows, starts, missing, mean, precision, covariance, log_det, resp, filled, cov):
    for i in rows:
        x = X[i].astype(np.float64)
        means, spreads, _ = zip(*[_condition(x, m, C) for m, C in zip(mean, covariance)])
        filled[i] = np.where(np.isnan(x), resp[:, i] @ np.array(means), x)
        if len(cov):
            d = np.array(means) - filled[i]
            cov[i] = np.einsum("k,kij->ij", resp[:, i], np.array(spreads) + d[:, :, None] * d[:, None, :])


def draw(X, rows, starts, missing, mean, precision, covariance, log_det, classes, noise, filled):
    for i in rows:
        x = X[i].astype(np.float64)
        m = np.isnan(x)
        for t, k in enumerate(classes[:, i]):
            means, spread, _ = _condition(x, mean[k], covariance[k])
            filled[t, i, m] = means[m] + np.linalg.cholesky(spread[np.ix_(m, m)]) @ noise[t, i, m]
