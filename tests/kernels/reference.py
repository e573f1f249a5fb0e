"""Every kernel once more, in plain NumPy, written to be read: the definition the compiled kernels are tested against."""

from itertools import pairwise

import numpy as np
from scipy.special import binom, digamma, gammaln, logsumexp, poch, xlogy

from tacit.kernels import EXPECT, MOMENTS, SCORE
from tacit.kernels.layout import unpack_strips

LOG_2PI = np.log(2 * np.pi)


def reference_of(name):
    """The plain definition of a kernel, by its name."""
    return globals()[name]


def normalise(joint, log_weight, weight, labels, evidence):
    joint += log_weight[:, None]
    known = np.flatnonzero(labels >= 0)
    kept = joint[labels[known], known].copy()
    joint[:, known] = -np.inf
    joint[labels[known], known] = kept
    evidence[:] = logsumexp(joint, axis=0)
    joint[:] = weight * np.exp(joint - evidence)
    return float(weight @ evidence)


def softmax(X, slope, offset, codes, weight, gradient, curvature):
    Z = np.column_stack([X.astype(np.float64), np.ones(len(X))])
    score = Z @ np.column_stack([slope, offset]).T
    if len(slope) == 1:
        score = np.column_stack([np.zeros(len(X)), score])
    log_prob = score - logsumexp(score, axis=1, keepdims=True)
    chance, known = np.exp(log_prob)[:, -len(slope) :], np.eye(score.shape[1])[codes][:, -len(slope) :]
    gradient += np.einsum("n,nk,nj->kj", weight, known - chance, Z)
    if curvature.size:
        bend = np.einsum("nk,kl->nkl", chance, np.eye(len(slope))) - np.einsum("nk,nl->nkl", chance, chance)
        curvature -= np.einsum("n,nkl,ni,nj->kilj", weight, bend, Z, Z, optimize=True)
    return float(weight @ log_prob[np.arange(len(X)), codes])


def _settle(log_prob, rows, mode, log_weight, weight, labels, out):
    """Responsibilities (classes, rows) for the modes that need them, and the log-likelihood."""
    if mode == SCORE:
        out[:, rows] = log_prob
        return None, 0.0
    if mode == MOMENTS:
        return out[:, rows], 0.0
    assert mode == EXPECT
    loglik = normalise(log_prob, log_weight, weight[rows], labels[rows], np.empty(len(rows)))
    return log_prob, loglik


def full(X, rows, origin, strips, shift, constant, width, mode, log_weight, weight, labels, out, s0, s1, s2):
    x = X[rows].astype(np.float64) - origin
    triangles = unpack_strips(strips, len(shift), X.shape[1], width)
    log_prob = np.array([c - 0.5 * ((x @ P - b) ** 2).sum(axis=1) for P, b, c in zip(triangles, shift, constant)])
    r, loglik = _settle(log_prob, rows, mode, log_weight, weight, labels, out)
    if r is not None:
        s0 += r.sum(axis=1)
        s1 += r @ x
        s2 += np.einsum("kn,ni,nj->kij", r, x, x)
    return loglik


def tied(X, rows, origin, triangle, shift, constant, mode, log_weight, weight, labels, out, s0, s1):
    x = X[rows].astype(np.float64) - origin
    log_prob = np.array([c - ((x @ triangle.T - b) ** 2).sum(axis=1) for b, c in zip(shift, constant)])
    r, loglik = _settle(log_prob, rows, mode, log_weight, weight, labels, out)
    if r is not None:
        s0 += r.sum(axis=1)
        s1 += r @ x
    return loglik


def diag(X, rows, origin, scale, shift, constant, complete, mode, log_weight, weight, labels, out, count, s0, s1, s2):
    x = X[rows].astype(np.float64) - origin
    seen = ~np.isnan(x)
    cells = (c - (x * s - b) ** 2 for s, b, c in zip(scale, shift, constant))
    log_prob = np.array([np.nansum(cell, axis=1) for cell in cells])
    r, loglik = _settle(log_prob, rows, mode, log_weight, weight, labels, out)
    if r is not None:
        x = np.where(seen, x, 0.0)
        count += r.sum(axis=1)
        s0 += r @ seen
        s1 += r @ x
        s2 += r @ x**2
    return loglik


def _condition(x, mean, covariance):
    """Posterior of a row given its observed cells: mean, covariance, their squared distance and log determinant."""
    m, o = np.isnan(x), ~np.isnan(x)
    inverse = np.linalg.inv(covariance[np.ix_(o, o)])
    residual = x[o] - mean[o]
    gain = covariance[np.ix_(m, o)] @ inverse
    filled, spread = x.copy(), np.zeros_like(covariance)
    filled[m] = mean[m] + gain @ residual
    spread[np.ix_(m, m)] = covariance[np.ix_(m, m)] - gain @ covariance[np.ix_(o, m)]
    return filled, spread, residual @ inverse @ residual, np.linalg.slogdet(covariance[np.ix_(o, o)])[1]


def conditional(
    X, rows, starts, missing, mean, precision, covariance, log_det, mode, log_weight, weight, labels, out, s0, s1, s2
):
    posterior = [[_condition(X[i].astype(np.float64), m, C) for i in rows] for m, C in zip(mean, covariance)]
    n_seen = (~np.isnan(X[rows])).sum(axis=1)
    log_prob = np.array([[-0.5 * (p[2] + p[3] + o * LOG_2PI) for p, o in zip(row, n_seen)] for row in posterior])
    r, loglik = _settle(log_prob, rows, mode, log_weight, weight, labels, out)
    if r is not None:
        for k, row in enumerate(posterior):
            for i, (filled, spread, *_) in enumerate(row):
                z = filled - mean[k]
                s0[k] += r[k, i]
                s1[k] += r[k, i] * z
                s2[k] += r[k, i] * (np.outer(z, z) + spread)
    return loglik


def _tails(square, df, n_cells, constant, log_scale):
    """Log density up to a determinant, E[u] and E[log u] of squared distances (classes, rows) on so many cells."""
    power = df[:, None] + n_cells
    log_y = np.log1p(square / df[:, None])
    return constant[:, n_cells] - 0.5 * power * log_y, power / (df[:, None] + square), log_scale[:, n_cells] - log_y


def student(
    X, rows, origin, strips, shift, log_root, width, df, constant, log_scale,
    mode, log_weight, weight, labels, out, count, log_u, s0, s1, s2,
):  # fmt: skip
    x = X[rows].astype(np.float64) - origin
    triangles = unpack_strips(strips, len(shift), X.shape[1], width)
    square = np.array([((x @ P - b) ** 2).sum(axis=1) for P, b in zip(triangles, shift)])
    log_prob, u, logs = _tails(square, df, np.full(len(rows), X.shape[1]), constant, log_scale)
    r, loglik = _settle(log_prob + log_root[:, None], rows, mode, log_weight, weight, labels, out)
    if r is not None:
        count += r.sum(axis=1)
        log_u += (r * logs).sum(axis=1)
        s0 += (r * u).sum(axis=1)
        s1 += (r * u) @ x
        s2 += np.einsum("kn,ni,nj->kij", r * u, x, x)
    return loglik


def student_conditional(
    X, rows, starts, missing, mean, precision, covariance, log_det, df, constant, log_scale,
    mode, log_weight, weight, labels, out, count, log_u, s0, s1, s2,
):  # fmt: skip
    posterior = [[_condition(X[i].astype(np.float64), m, C) for i in rows] for m, C in zip(mean, covariance)]
    square, dets = (np.array([[p[j] for p in row] for row in posterior]).reshape(len(mean), len(rows)) for j in (2, 3))
    log_prob, u, logs = _tails(square, df, (~np.isnan(X[rows])).sum(axis=1), constant, log_scale)
    r, loglik = _settle(log_prob - 0.5 * dets, rows, mode, log_weight, weight, labels, out)
    if r is not None:
        count += r.sum(axis=1)
        log_u += (r * logs).sum(axis=1)
        s0 += (r * u).sum(axis=1)
        for k, row in enumerate(posterior):
            for i, (filled, spread, *_) in enumerate(row):
                z = filled - mean[k]
                s1[k] += r[k, i] * u[k, i] * z
                s2[k] += r[k, i] * (u[k, i] * np.outer(z, z) + spread)
    return loglik


def complete(X, rows, starts, missing, mean, precision, covariance, log_det, resp, filled, cov):
    for i in rows:
        x = X[i].astype(np.float64)
        means, spreads, *_ = zip(*[_condition(x, m, C) for m, C in zip(mean, covariance)])
        filled[i] = np.where(np.isnan(x), resp[:, i] @ np.array(means), x)
        if len(cov):
            d = np.array(means) - filled[i]
            cov[i] = np.einsum("k,kij->ij", resp[:, i], np.array(spreads) + d[:, :, None] * d[:, None, :])


def draw(X, rows, starts, missing, mean, precision, covariance, log_det, classes, noise, filled):
    for i in rows:
        x = X[i].astype(np.float64)
        m = np.isnan(x)
        for t, k in enumerate(classes[:, i]):
            means, spread, *_ = _condition(x, mean[k], covariance[k])
            filled[t, i, m] = means[m] + np.linalg.cholesky(spread[np.ix_(m, m)]) @ noise[t, i, m]


def linear(X, slope, offset, base, mode, log_weight, weight, labels, out, count, s0, s1):
    seen = ~np.isnan(X)
    x = np.where(seen, X, 0.0).astype(np.float64)
    log_prob = slope @ x.T + offset @ seen.T + (base if len(base) else 0.0)
    r, loglik = _settle(log_prob, np.arange(len(X)), mode, log_weight, weight, labels, out)
    if r is not None:
        count += r.sum(axis=1)
        s0 += r @ seen
        s1 += r @ x
    return loglik


def levels(X, n_levels, log_probability, mode, log_weight, weight, labels, out, count, total):
    level = np.concatenate([np.arange(n) for n in n_levels])
    hot = (X[:, np.repeat(np.arange(len(n_levels)), n_levels)] == level).astype(np.float64)
    r, loglik = _settle(log_probability @ hot.T, np.arange(len(X)), mode, log_weight, weight, labels, out)
    if r is not None:
        count += r.sum(axis=1)
        total += r @ hot
    return loglik


def log_factorial(X):
    return np.nansum(gammaln(X.astype(np.float64) + 1.0), axis=1)


def features(X, names):
    functions: dict = {"x": lambda x: x, "log": np.log, "log1m": lambda x: np.log(1.0 - x)}
    return np.hstack([functions[name](X.astype(np.float64)) for name in names])


def row_sums(X):
    return np.nansum(X.astype(np.float64), axis=1)


def log_choose(X, n):
    return np.nansum(np.log(binom(n, X)), axis=1)


def log_rising(X, a):
    return np.nansum(np.log(poch(a[:, None], X)), axis=2)


def rising_slope(X, a, resp):
    slope = digamma(X + a[:, None]) - digamma(a[:, None])
    return np.einsum("kn,knd->kd", resp, np.where(np.isnan(slope), 0.0, slope))


def within(second, count, shift):
    return np.array([S / n - np.outer(m, m) for S, n, m in zip(second, count, shift)])


def centre_moments(shift, s0, s1, s2):
    spread = [S + np.outer(m, s) + np.outer(s, m) + n * np.outer(m, m) for m, n, s, S in zip(shift, s0, s1, s2)]
    return s0, s1 + s0[:, None] * shift, np.array(spread)


def clip(covariance, scale, floor):
    root = np.sqrt(scale)
    found = []
    for S in covariance:
        value, vector = np.linalg.eigh(S / np.outer(root, root))
        if floor == 0.0 and value.min() <= 1e-13:
            return None
        found.append((vector * np.maximum(value, floor)) @ vector.T * np.outer(root, root))
    return np.array(found)


def roots(covariance):
    found = np.array([np.linalg.inv(np.linalg.cholesky(S)).T for S in covariance])
    return found, np.array([-0.5 * np.linalg.slogdet(S)[1] for S in covariance])


def project(shift, triangle):
    return np.array([m @ P for m, P in zip(shift, triangle)])


def scatter(X, rows, origin, weight):
    x = X[rows].astype(np.float64) - origin
    return weight[rows] @ x, np.einsum("n,ni,nj->ij", weight[rows], x, x)


def lloyd(
    X, rows, weight, origin, center, anchor, shift, near, starts, labels, upper, lower, bounded, counts, sums, totals
):  # fmt: skip
    x = X[rows].astype(np.float64) - origin
    apart = np.sqrt(((x[:, None] - center) ** 2).sum(axis=2))
    found = apart.argmin(axis=1)
    totals[1:] = (labels >= 0).sum(), ((found != labels) & (labels >= 0)).sum()
    labels[:] = found
    for k in range(len(center)):
        w, step = weight[rows][found == k], x[found == k] - anchor[k]
        counts[k], sums[k] = w.sum(), w @ step
    totals[0] = weight[rows] @ ((x - anchor[found]) ** 2).sum(axis=1)
    if bounded:
        upper[:] = apart[np.arange(len(rows)), found]
        apart[np.arange(len(rows)), found] = np.inf
        for g in range(len(starts) - 1):
            lower[:, g] = apart[:, starts[g] : starts[g + 1]].min(axis=1)


def lloyd_cells(X, rows, weight, origin, center, labels, counts, cells, sums):
    x, total = X[rows].astype(np.float64) - origin, 0.0
    seen = ~np.isnan(x)
    apart = np.nansum((x[:, None] - center) ** 2, axis=2)
    labels[:] = apart.argmin(axis=1)
    for i, k in enumerate(labels):
        share = weight[rows[i]] * x.shape[1] / max(seen[i].sum(), 1)
        counts[k] += weight[rows[i]]
        cells[k] += share * seen[i]
        sums[k] += share * np.nan_to_num(x[i])
        total += share * apart[i, k]
    return total


def square_gaps(A, flipped, out):
    out[:] = ((A[:, :, None] - flipped) ** 2).sum(axis=1)


def decay(values, factor, out):
    out[:] = np.exp(-factor * values)


def weigh_gaps(weights, A, flipped, out):
    out += np.einsum("ij,ifj->f", weights, (A[:, :, None] - flipped) ** 2)


def distances(X, center, power, out):
    X = X.astype(np.float64)
    scale = X.shape[1] / np.maximum((~np.isnan(X)).sum(axis=1), 1)
    out[:] = np.nansum(np.abs(X[:, None] - center) ** power, axis=2) * scale[:, None]


def misfit(X, weight, center, labels, power, out):
    seen = ~np.isnan(X)
    apart = np.nansum(np.abs(X.astype(np.float64) - center[labels]) ** power, axis=1)
    out[:] = weight * apart * X.shape[1] / np.maximum(seen.sum(axis=1), 1)


def column_sums(X, weight, origin, count, total, square):
    x = X.astype(np.float64) - origin
    count += weight @ ~np.isnan(x)
    total += np.nansum(weight[:, None] * x, axis=0)
    square += np.nansum(weight[:, None] * x**2, axis=0)


def medians(X, weight, guide, center, grid, labels, counts, bins):
    X, total = X.astype(np.float64), 0.0
    seen = ~np.isnan(X)
    labels[:] = np.nansum(np.abs(X[:, None] - guide), axis=2).argmin(axis=1)
    for i, k in enumerate(labels):
        share = weight[i] * X.shape[1] / max(seen[i].sum(), 1)
        counts[k] += weight[i]
        total += share * np.nansum(np.abs(X[i] - center[k]))
        for j in np.flatnonzero(seen[i]) if grid.size else ():
            b = np.searchsorted(grid[j, k], X[i, j], side="right")
            bins[j, k, b] += share, share * (X[i, j] - grid[j, k, max(b - 1, 0)])
    return total


def soft(X, weight, origin, center, stiffness, resp, evidence, counts, cells, sums):
    x = X.astype(np.float64) - origin
    seen = ~np.isnan(x)
    scale = x.shape[1] / np.maximum(seen.sum(axis=1), 1)
    joint = -stiffness * scale[:, None] * np.nansum((x[:, None] - center) ** 2, axis=2)
    log_sum = logsumexp(joint, axis=1)
    r = weight[:, None] * np.exp(joint - log_sum[:, None])
    if len(resp):
        resp[:], evidence[:] = r, log_sum / stiffness
    counts += r.sum(axis=0)
    cells += (r * scale[:, None]).T @ seen
    sums += (r * scale[:, None]).T @ np.where(seen, x, 0.0)
    return float(weight @ log_sum) / stiffness


def row_order(X):
    return np.array(sorted(range(len(X)), key=lambda i: X[i][::-1].tolist()))


def about_means(X, means):
    return np.nan_to_num(X.astype(np.float64) - means)


def square_lengths(X):
    return np.array([row @ row for row in X.astype(np.float64)])


def means(X, patterns, weight, centers, algorithm, local):
    labels, loss = nearest(X, patterns, weight, centers, algorithm, local)
    seen, (n_clusters, d) = ~np.isnan(X), centers.center.shape
    share = np.where(seen, (weight * d / np.maximum(seen.sum(axis=1), 1))[:, None], 0.0)
    counts, cells, sums = np.zeros(n_clusters), np.zeros((n_clusters, d)), np.zeros((n_clusters, d))
    np.add.at(counts, labels, weight)
    np.add.at(cells, labels, share)
    np.add.at(sums, labels, np.nan_to_num(share * (X - centers.origin)))
    return counts, cells, sums, loss


def nearest(X, patterns, weight, centers, algorithm, local):
    apart = np.empty((len(X), len(centers.center)))
    distances(X, centers.center, 2, apart)
    labels = apart.argmin(axis=1)
    return labels, float(weight @ apart[np.arange(len(X)), labels])


def _factor_row(x, shift, loading, noise):
    """E[z], Var[z] and log p of one row, by the dense Gaussian of its observed cells."""
    seen = ~np.isnan(x)
    W, apart = loading[seen], x[seen] - shift[seen]
    covariance = W @ W.T + np.diag(noise[seen])
    gain = np.linalg.solve(covariance, W).T
    log_det = np.linalg.slogdet(covariance)[1]
    log_prob = -0.5 * (seen.sum() * LOG_2PI + log_det + apart @ np.linalg.solve(covariance, apart))
    return gain @ apart, np.eye(loading.shape[1]) - gain @ W, log_prob


def _factor_rows(X, origin, shift, loading, noise):
    """The same of all rows and classes."""
    x = X.astype(np.float64) - origin
    found = [[_factor_row(row, *each) for row in x] for each in zip(shift, loading, noise)]
    return x, *(np.array([[row[part] for row in rows] for rows in found]) for part in range(3))


def factor(
    X, rows, starts, missing, origin, shift, loading, noise, mode, log_weight, weight, labels, out, gram, cross, square
):  # fmt: skip
    x, score, spread, log_prob = _factor_rows(X, origin, shift, loading, noise)
    r, loglik = _settle(log_prob, np.arange(len(X)), mode, log_weight, weight, labels, out)
    if r is None:
        return loglik
    one = np.concatenate([np.ones((*score.shape[:2], 1)), score], axis=2)
    outer = one[..., :, None] * one[..., None, :]
    outer[..., 1:, 1:] += spread
    i, j = np.tril_indices(outer.shape[-1])
    seen, filled = (~np.isnan(x)).astype(float), np.nan_to_num(x)
    gram[:, :-1] += np.einsum("kn,nd,knp->kdp", r, seen, outer[..., i, j])
    gram[:, -1] += np.einsum("kn,knp->kp", r, outer[..., i, j])
    cross += np.einsum("kn,nd,kna->kda", r, filled, one)
    square += r @ filled**2
    return loglik


def factor_scores(X, rows, starts, missing, origin, shift, loading, noise, score, inverse):
    _, found, spread, _ = _factor_rows(X, origin, shift, loading, noise)
    score[:] = found
    i, j = np.tril_indices(loading.shape[2])
    inverse[:] = spread[:, rows[starts[:-1]]][..., i, j]


def least_squares(X, patterns, weight, W, H, columns, penalty, inner, local):
    (l1, l2), (sweeps, _, multiplicative) = penalty, inner
    loss = violation = 0.0
    own, cross = np.zeros((X.shape[1], W.shape[1], W.shape[1])), np.zeros((X.shape[1], W.shape[1]))
    for x, w, s in zip(X.astype(np.float64), W, weight):
        seen = ~np.isnan(x)
        x, v, h = x[seen], columns[seen], H[:, seen]
        gram, target = (h * v) @ h.T, (h * v) @ x
        if multiplicative:
            w *= target / (gram @ w + l1 + l2 * w)
        for sweep in range(0 if multiplicative else sweeps):
            for a in range(len(w)):
                slope = gram[a] @ w - target[a] + l1 + l2 * w[a]
                violation += s * abs(slope) if sweep == 0 and (w[a] > 0 or slope < 0) else 0.0
                bend = gram[a, a] + l2
                w[a] = max(w[a] - slope / bend, 0.0) if bend > 0 else w[a]
        data = max(0.5 * v @ (x - w @ h) ** 2, 1e-13 * v @ x**2)  # less cannot be resolved by products
        loss += s * (data + l1 * w.sum() + 0.5 * l2 * w @ w)
        own[~seen] -= s * np.outer(w, w)
        cross[seen] += s * np.outer(x, w)
    return loss, violation, (weight * W.T) @ W, own if np.isnan(X).any() else own[:1], cross


def divergence(X, patterns, weight, W, H, columns, beta, penalty, steps, local):
    gamma = 1 / (2 - beta) if beta < 1 else 1 / (beta - 1) if beta > 2 else 1.0
    seen, x = ~np.isnan(X), np.nan_to_num(X.astype(np.float64))
    for _ in range(steps):
        p = W @ H
        up, down = (np.where(seen, part, 0.0) * columns for part in (x * p ** (beta - 2), p ** (beta - 1)))
        above, below, fine = up @ H.T, down @ H.T + penalty[0], penalty[1] * W
        order = max(3 - beta, 1 / gamma) if beta < 2 else 1 / gamma
        low, high = np.full(W.shape, -50.0), np.full(W.shape, 50.0)
        for _ in range(100):  # the root of above = below t^(1/γ) + fine t^order, by halving the logarithm
            t = np.exp(0.5 * (low + high))
            less = below * t ** (1 / gamma) + fine * t**order < above
            low, high = np.where(less, np.log(t), low), np.where(less, high, np.log(t))
        W *= t
    p, s = W @ H, weight[:, None]
    up, down = (np.where(seen, part, 0.0) for part in (x * p ** (beta - 2), p ** (beta - 1)))
    if beta == 1:
        cells = x * np.log(np.where(x > 0, x, 1.0) / p) - x + p
    elif beta == 0:
        cells = x / p - np.log(np.where(seen, x, p) / p) - 1
    else:
        cells = (x**beta + (beta - 1) * p**beta - beta * x * p ** (beta - 1)) / (beta * (beta - 1))
    loss = (s * np.where(seen, cells, 0.0) * columns).sum() + (s * (penalty[0] * W + 0.5 * penalty[1] * W**2)).sum()
    below = down.T @ (s * W)
    return loss, up.T @ (s * W), below[:1] if beta == 1 and seen.all() else below


def variational(X, local, weight, gamma, word, alpha, n_iter, tol, counts):
    from scipy.special import gammaln, psi

    X, log_theta = np.nan_to_num(X).astype(float), None
    for _ in range(n_iter):  # cases settle no document before the last update
        theta = np.exp(psi(gamma) - psi(gamma.sum(axis=1, keepdims=True)))
        gamma[:] = alpha + theta * ((X / (theta @ word.T)) @ word)
    log_theta = psi(gamma) - psi(gamma.sum(axis=1, keepdims=True))
    theta = np.exp(log_theta)
    norm = theta @ word.T
    if len(counts):
        counts += word * ((weight[:, None] * X / norm).T @ theta)
    prior = gammaln(alpha.sum()) - gammaln(alpha).sum() - gammaln(gamma.sum(axis=1))
    return (X * np.log(norm)).sum(axis=1) + prior + ((alpha - gamma) * log_theta + gammaln(gamma)).sum(axis=1)


def collapsed(X, local, weight, owner, counts, word, alpha, out):
    X, rate, loglik = np.nan_to_num(X).astype(float), 1.0 / word.sum(axis=0), np.zeros(len(X))
    for d in range(len(X)):
        theta, here, seen = alpha + counts[d], np.zeros(len(alpha)), counts[d].any()
        for w in np.flatnonzero(X[d]):
            own = theta * word[w] * rate * seen
            own = own / max(own.sum(), 1e-300)
            value = np.maximum(theta - own, 1e-10) * np.maximum(word[w] - own, 1e-10) * rate
            loglik[d] += X[d, w] * np.log(value.sum() / max(X[d].sum() + alpha.sum() - 1.0, 1e-6))
            value /= value.sum()
            theta = theta if seen else theta + X[d, w] * value
            here += X[d, w] * value
            out[w] += weight[d] * X[d, w] * value
        counts[d] = here
    return loglik


def fold_in(X, local, weight, word, alpha, n_iter, tol, out):
    X, loglik, counts = np.nan_to_num(X).astype(float), np.zeros(len(X)), np.zeros((len(X), len(alpha)))
    for d in range(len(X)):
        theta, gamma = alpha.copy(), np.zeros_like(word)
        for _ in range(n_iter):
            for w in np.flatnonzero(X[d]):
                value = np.maximum(theta - gamma[w], 1e-300) * word[w]
                value /= value.sum()
                theta += X[d, w] * (value - gamma[w])
                gamma[w] = value
        counts[d] = theta - alpha
        loglik[d] = X[d] @ np.log(word @ theta / theta.sum())
        if len(out):
            out += weight[d] * X[d][:, None] * gamma
    return counts, loglik


def topic_assignments(X, local, theta, word):
    document, column = np.nonzero(np.nan_to_num(X))
    found = theta[document] * word[column]
    return found / found.sum(axis=1, keepdims=True)


def _log(x):
    with np.errstate(divide="ignore"):
        return np.log(x.astype(np.longdouble))


def _add_logs(x, axis=None):
    """Logarithms of sums, in extended precision."""
    top = np.max(x, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    return np.squeeze(_log(np.exp(x - top).sum(axis=axis, keepdims=True)) + top, axis=axis)


def _chains(joint, offsets, labels, start, move, which):
    """For every sequence its rows, log densities, matrices, and logs of α and of the sums that scale it."""
    known = np.flatnonzero(labels >= 0)
    kept = joint[labels[known], known].copy()
    joint[:, known] = -np.inf
    joint[labels[known], known] = kept
    for a, z in pairwise(offsets):
        log_b, at = joint[:, a:z].T.astype(np.longdouble), which[a:z] if len(which) else np.zeros(z - a, int)
        alpha, scale = np.full(log_b.shape, -np.inf, np.longdouble), np.full(z - a, -np.inf, np.longdouble)
        for t in range(z - a):
            before = _log(start) if t == 0 else _add_logs(alpha[t - 1][:, None] + _log(move[at[t]]), axis=0)
            scale[t] = _add_logs(before + log_b[t])
            if np.isinf(scale[t]):
                break
            alpha[t] = before + log_b[t] - scale[t]
        yield slice(a, z), log_b, at, alpha, scale


def smooth(joint, offsets, weight, labels, start, move, which, first, moves, evidence):
    for u, (rows, log_b, at, alpha, scale) in enumerate(_chains(joint, offsets, labels, start, move, which)):
        beta, w = np.zeros_like(alpha), weight[rows.start]
        evidence[u] = scale.sum()
        if np.isinf(evidence[u]):
            joint[:, rows] = 0.0
            continue
        for t in range(len(alpha) - 2, -1, -1):
            both = _log(move[at[t + 1]]) + log_b[t + 1] + beta[t + 1]
            norm = _add_logs(alpha[t][:, None] + both)
            beta[t] = _add_logs(both, axis=1) - norm
            moves[at[t + 1]] += w * np.exp(alpha[t][:, None] + both - norm).astype(float)
        joint[:, rows] = w * np.exp(alpha + beta).T
        first += joint[:, rows.start]
    weighs = weight[offsets[:-1]] > 0
    return float(weight[offsets[:-1]][weighs] @ evidence[weighs])


def filter_states(joint, offsets, labels, start, move, which, predictive):
    for rows, _, _, alpha, scale in _chains(joint, offsets, labels, start, move, which):
        joint[:, rows], predictive[rows] = np.exp(alpha).T, scale


def weigh_sequences(joint, offsets, labels, start, move, which, evidence):
    evidence[:] = [scale.sum() for *_, scale in _chains(joint, offsets, labels, start, move, which)]


def decode(joint, offsets, labels, log_start, log_move, which, path, score):
    for u, (rows, log_b, at, _, _) in enumerate(
        _chains(joint, offsets, labels, np.exp(log_start), np.exp(log_move), which)
    ):
        value, origin = log_start + log_b[0], []
        for t in range(1, len(log_b)):
            origin.append(np.argmax(value[:, None] + log_move[at[t]], axis=0))
            value = np.max(value[:, None] + log_move[at[t]], axis=0) + log_b[t]
        states = [int(np.argmax(value))]
        for back in origin[::-1]:
            states.append(int(back[states[-1]]))
        path[rows], score[u] = states[::-1], value.max()


def draw_states(share, offsets, move, which, chance, path):
    for a, z in pairwise(offsets):
        for t in range(z - 1, a - 1, -1):
            arrive = 1.0 if t == z - 1 else move[which[t + 1] if len(which) else 0][:, path[t + 1]]
            total = np.cumsum(share[:, t] * arrive)
            path[t] = min(np.searchsorted(total, chance[t] * total[-1], side="right"), len(total) - 1)


def _cells(codes, order, n_symbols):
    """The cell of each step of a sequence, −1 where something in it is missing."""
    padded = np.concatenate([np.full(order, n_symbols), codes])
    windows = np.lib.stride_tricks.sliding_window_view(padded, order + 1)
    context = windows[:, :order] @ (n_symbols + 1) ** np.arange(order)[::-1]
    return np.where((windows >= 0).all(axis=1), context * n_symbols + windows[:, -1], -1)


def count_moves(codes, low, offsets, weight, order, n_symbols, counts):
    for u, (a, z) in enumerate(pairwise(offsets)):
        cells = _cells(codes[a:z].astype(np.int64) - low, order, n_symbols)
        np.add.at(counts, cells[cells >= 0], weight[u])


def score_moves(codes, offsets, order, n_symbols, table, out):
    for u, (a, z) in enumerate(pairwise(offsets)):
        cells = _cells(codes[a:z].astype(np.int64), order, n_symbols)
        out[u] += table[cells[cells >= 0]].sum(axis=0)


def hidden_moves(codes, offsets, order, n_symbols, table, weight, counts, out):
    """By a chain whose states are all contexts, of which the steps that see their cell are taken off."""
    radix, n_contexts = n_symbols + 1, (n_symbols + 1) ** order
    context, symbol = np.divmod(np.arange(n_contexts * n_symbols), n_symbols)
    after = (context * radix + symbol) % n_contexts
    for u, (a, z) in enumerate(pairwise(offsets)):
        x = codes[a:z].astype(np.int64)
        x = x[: np.max(np.flatnonzero(x >= 0), initial=-1) + 1]
        hidden = _cells(x, order, n_symbols) < 0 if len(x) else np.zeros(0, bool)
        for k in range(table.shape[1]):
            moves, first = [np.where((y < 0) | (symbol == y), table[:, k], 0.0) for y in x], np.zeros(n_contexts)
            first[-1], forward, scale = 1.0, [], []
            for move in moves:
                flow = first[context] * move
                forward.append(first)
                scale.append(flow.sum())
                first = np.bincount(after, flow / scale[-1], n_contexts)
            ahead = np.ones(n_contexts)
            for t in range(len(x))[::-1]:
                share = moves[t] * ahead[after] / scale[t]
                if hidden[t] and order and len(counts):
                    counts[:, k] += weight[u, k] * forward[t][context] * share
                ahead = np.bincount(context, share, n_contexts)
            out[u, k] += sum(np.log(each) for each, lost in zip(scale, hidden) if lost and order)


def _features(n_attributes, table, pointer, label):
    """Whether an attribute has a row of the table, and the places and labels of its weights."""
    for a in range(n_attributes):
        if a < len(table):
            yield table[a], np.arange(table.shape[1]), True
        else:
            own = slice(pointer[a - len(table)], pointer[a - len(table) + 1])
            yield own, label[own].astype(int), False


def label_scores(data, indices, indptr, table, pointer, label, w, scores):
    features = list(_features(len(table) + len(pointer) - 1, table, pointer, label))
    for t in range(scores.shape[1]):
        row = np.zeros(max(len(scores), table.shape[1]))
        for c in range(indptr[t], indptr[t + 1]):
            own, labels, in_table = features[indices[c]]
            np.add.at(row, labels, data[c] * (own if in_table else w[own]))
        scores[:, t] = row[: len(scores)]


def label_slopes(data, indices, indptr, pointer, label, residual, table, w):
    features = list(_features(len(table) + len(pointer) - 1, table, pointer, label))
    for t in range(residual.shape[1]):
        row = np.append(residual[:, t], np.zeros(max(table.shape[1] - len(residual), 0)))
        for c in range(indptr[t], indptr[t + 1]):
            own, labels, in_table = features[indices[c]]
            if in_table:
                own += data[c] * row[labels]
            else:
                w[own] += data[c] * row[labels]


def _paths(scores, moves, start, end, labels):
    """Every labelling that is possible, and its score."""
    for path in np.ndindex(*(len(scores),) * scores.shape[1]):
        path = np.array(path)
        if ((labels < 0) | (labels == path)).all():
            value = start[path[0]] + end[path[-1]] + scores[path, np.arange(len(path))].sum()
            yield path, value + moves[path[:-1], path[1:]].sum()


def _counts(path, data, indices, indptr, a, pointer, label, n_labels, exists):
    """The features of a labelling of the steps from a on, as a vector."""
    found = np.zeros(len(label) + n_labels**2)
    for t, y in enumerate(path):
        for c in range(indptr[a + t], indptr[a + t + 1]):
            own = np.arange(pointer[indices[c]], pointer[indices[c] + 1])
            found[own[label[own] == y]] += data[c]
        if t:
            found[len(label) + path[t - 1] * n_labels + y] += 1.0
    found[len(label) :] *= exists
    return found


def _labellings(u, data, indices, indptr, offsets, labels, pointer, label, n_labels, w, start, moves, end):
    """Labellings of a sequence with their scores: all, and those that go with what is known."""
    a, z = offsets[u], offsets[u + 1]
    scores = np.empty((n_labels, z - a))
    states = w[: len(label)]
    label_scores(data, indices, indptr[a : z + 1], np.empty((0, 0)), pointer, label, states, scores)
    moves = moves + w[len(label) :].reshape(n_labels, n_labels)
    unknown = np.full(z - a, -1)
    return [list(_paths(scores, moves, start, end, known)) for known in (unknown, labels[a:z])]


def gradient_pass(
    order,
    data,
    indices,
    indptr,
    offsets,
    labels,
    weight,
    pointer,
    label,
    n_labels,
    exists,
    start,
    allowed,
    end,
    rate,
    w,
):
    loss = 0.0
    for u in order:
        eta = 1.0 / (rate[0] * (rate[1] + rate[2]))
        told = (data, indices, indptr, offsets, labels, pointer, label, n_labels)
        w *= 1.0 - eta * rate[0]
        every, held = _labellings(u, *told, w, _log(start), _log(allowed), end)
        slope = np.zeros_like(w)
        for paths, sign in ((held, 1.0), (every, -1.0)):
            values = np.array([value for _, value in paths])
            loss -= sign * weight[u] * logsumexp(values)
            for (path, _), p in zip(paths, np.exp(values - logsumexp(values))):
                counts = _counts(path, data, indices, indptr, offsets[u], pointer, label, n_labels, exists)
                slope += eta * sign * weight[u] * p * counts
        w += slope
        rate[2] += 1.0
    return loss


def mistake_pass(
    order, data, indices, indptr, offsets, labels, weight, pointer, label, n_labels, exists, log_start, log_allowed, end, rule,
    rate, w, other,
):  # fmt: skip
    loss = 0.0
    for u in order:
        told = (data, indices, indptr, offsets, labels, pointer, label, n_labels)
        every, held = (
            max(paths, key=lambda pair: pair[1]) for paths in _labellings(u, *told, w, log_start, log_allowed, end)
        )
        wrong = int((every[0] != held[0]).sum())
        if wrong:
            counts = [
                _counts(path, data, indices, indptr, offsets[u], pointer, label, n_labels, exists)
                for path in (held[0], every[0])
            ]
            delta, gap = counts[0] - counts[1], every[1] - held[1]
            if rule == 2:
                cost, gamma = gap + wrong, rate[2]
                delta = weight[u] * delta
                w += cost / (gamma + delta**2 @ other) * other * delta
                other[:] = 1.0 / (1.0 / other + delta**2 / gamma)
            else:
                cost, step = wrong / len(held[0]), 1.0
                if rule == 1:
                    cost = gap + (np.sqrt(wrong) if rate[3] else 1.0)
                    square, c = delta @ delta, rate[2]
                    step = {0: cost / square, 1: min(c, cost / square), 2: cost / (square + 0.5 / c)}[int(rate[1])]
                w += weight[u] * step * delta
                other += rate[0] * weight[u] * step * delta
            loss += weight[u] * cost
        rate[0] += 1.0
    return loss


def _product(schedule, codes, theta, soft):
    """The product of all factors of a schedule over what a row leaves open, with an axis for each variable."""
    shape = [1 if code >= 0 else card for card, code in zip(schedule.cards, codes)]
    product = np.ones(shape)
    for f, base in enumerate(schedule.factor_base):
        scope = slice(schedule.factor_start[f], schedule.factor_start[f + 1])
        place = np.full(shape, base)
        for v, step in zip(schedule.factor_vars[scope], schedule.factor_steps[scope]):
            states = np.arange(shape[v]) if codes[v] < 0 else codes[v : v + 1]
            place = place + step * states.reshape([-1 if u == v else 1 for u in range(len(shape))])
        product = product * (soft if schedule.factor_soft[f] else theta)[place]
    return product


def propagate(schedule, plan, codes, rows, theta, soft, weight, loglik, marginals, counts):
    """By the table over all variables at once."""
    for r in rows:
        product = _product(schedule, codes[r], theta, soft[r] if len(soft) else soft)
        total = product.sum()
        loglik[r] = np.log(total) if total > 0 else -np.inf
        seen = np.maximum(codes[r], 0).reshape(-1, *[1] * product.ndim)
        states = np.where((codes[r] >= 0).reshape(seen.shape), seen, np.indices(product.shape))
        for t, base in enumerate(schedule.target_base if total > 0 else ()):
            scope = slice(schedule.target_start[t], schedule.target_start[t + 1])
            place = base + np.tensordot(schedule.target_steps[scope], states[schedule.target_vars[scope]], 1)
            if len(marginals):
                np.add.at(marginals[r], place, product / total)
            if len(counts):
                np.add.at(counts, place, weight[r] * product / total)


def maximise(schedule, plan, codes, rows, theta, soft, loglik, states):
    """By the table over all variables at once; those of cliques that are summed are left as they are."""
    first, last = schedule.clique_start[:-1] + schedule.n_shared, schedule.clique_start[1:]
    late = {v for a, z, by_max in zip(first, last, schedule.by_max) if by_max for v in schedule.clique_vars[a:z]}
    for r in rows:
        product = _product(schedule, codes[r], theta, soft[r] if len(soft) else soft)
        product = product.sum(axis=tuple(v for v in range(product.ndim) if v not in late), keepdims=True)
        loglik[r] = np.log(product.max()) if product.max() > 0 else -np.inf
        if product.max() > 0:
            best = np.unravel_index(product.argmax(), product.shape)
            states[r] = [c if c >= 0 else k if v in late else -1 for v, (c, k) in enumerate(zip(codes[r], best))]


def tally(codes, step, cell, last, weight, counts):
    if last:
        np.add.at(counts, cell + step * codes, weight if len(weight) else 1.0)
    else:
        cell += (step * codes).astype(np.int32)


def pack(packed, n_packed, column, size, out):
    known = (packed < n_packed) & (column < size)
    out[:] = np.where(known, packed * size + column.astype(np.int64), n_packed * size)


def _joint(base, n_base, n_states, column, size):
    """Counts (configurations, states, levels of the column)."""
    known = (base < n_base) & (column < size)
    counts = np.zeros((n_base, size))
    np.add.at(counts, (base[known], column[known]), 1.0)
    return counts.reshape(-1, n_states, size)


def _family(counts, n_configurations, bayesian, value):
    """The score of counts (configurations, states)."""
    rows, n_states = counts.sum(axis=1), counts.shape[1]
    if bayesian:
        a = 1.0 if value < 0 else value / (n_configurations * n_states)
        return (gammaln(n_states * a) - gammaln(rows + n_states * a)).sum() + (gammaln(counts + a) - gammaln(a)).sum()
    penalty = 0.5 * np.log(max(rows.sum(), 1.0)) if value < 0 else value
    return xlogy(counts, counts).sum() - xlogy(rows, rows).sum() - penalty * n_configurations * (n_states - 1)


def family_scores(base, n_base, n_states, n_configurations, columns, sizes, candidates, bayesian, value, out):
    for c, z in enumerate(candidates):
        joint = _joint(base, n_base, n_states, columns[z], sizes[z])
        wider = joint.transpose(0, 2, 1).reshape(-1, n_states)
        out[c] = (
            _family(wider, n_configurations * sizes[z], bayesian, value),
            _family(joint.sum(axis=2), n_configurations, bayesian, value),
            joint.sum(),
        )


def independence(base, n_base, n_states, column, size, pearson, out):
    out[:] = 0.0
    for counts in _joint(base, n_base, n_states, column, size):
        counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
        if min(counts.shape) < 2:
            continue
        expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
        out[1] += (counts.shape[0] - 1) * (counts.shape[1] - 1)
        out[0] += ((counts - expected) ** 2 / expected if pearson else 2 * xlogy(counts, counts / expected)).sum()


def _residual(first, heads, sisters, steps, bits, capacity, terminal):
    """All arcs of a flow as a matrix of capacities (n + 2, n + 2), source and sink being the last two nodes."""
    n = len(terminal)
    matrix = np.zeros((n + 2, n + 2))
    if len(heads):
        np.add.at(matrix, (np.repeat(np.arange(n), np.diff(first)), heads), capacity)
    else:
        for a in np.flatnonzero(capacity):
            matrix[a >> bits, (a >> bits) + steps[a % (1 << bits)]] += capacity[a]
    matrix[n, :n], matrix[:n, n + 1] = np.maximum(terminal, 0.0), np.maximum(-terminal, 0.0)
    return matrix


def max_flow(first, heads, sisters, steps, bits, capacity, terminal, side):
    """Along shortest paths."""
    rest, flow = _residual(first, heads, sisters, steps, bits, capacity, terminal), 0.0
    n = len(terminal)
    while True:
        before, ahead = {n: None}, [n]
        for p in ahead:
            new = [q for q in np.flatnonzero(rest[p] > 1e-12).tolist() if q not in before]
            before.update(dict.fromkeys(new, p))
            ahead.extend(new)
        if n + 1 not in before:
            break
        path = [n + 1]
        while path[-1] != n:
            path.append(before[path[-1]])
        ends = tuple(np.array(list(pairwise(path[::-1]))).T)
        least = rest[ends].min()
        rest[ends] -= least
        rest[ends[::-1]] += least
        flow += least
    side[:] = [p in before for p in range(n)]
    return flow


def _local(p, first, heads, weight, unary, distance, labels):
    arcs = slice(first[p], first[p + 1])
    return unary[p] + weight[arcs] @ distance[labels[heads[arcs]]]


def conditional_modes(first, heads, weight, unary, distance, labels):
    changed = 0
    for p in range(len(labels)):
        energy = _local(p, first, heads, weight, unary, distance, labels)
        best = labels[p] if energy[labels[p]] <= energy.min() else energy.argmin()
        changed += best != labels[p]
        labels[p] = best
    return changed


def gibbs_sweep(first, heads, weight, unary, distance, temperature, chance, labels):
    for p in range(len(labels)):
        energy = _local(p, first, heads, weight, unary, distance, labels)
        total = np.cumsum(np.exp((energy.min() - energy) / temperature))
        labels[p] = min(np.searchsorted(total, chance[p] * total[-1], side="right"), len(total) - 1)


def mean_field_sweep(first, heads, weight, unary, distance, shares):
    most = 0.0
    for p in range(len(shares)):
        arcs = slice(first[p], first[p + 1])
        energy = unary[p] + weight[arcs] @ shares[heads[arcs]] @ distance
        new = np.exp(-energy - logsumexp(-energy))
        most = max(most, np.abs(new - shares[p]).max())
        shares[p] = new
    return most


def max_product_sweep(first, heads, sisters, weight, unary, distance, damping, backward, messages):
    most = 0.0
    for p in range(len(unary))[:: -1 if backward else 1]:
        arcs = np.arange(first[p], first[p + 1])
        energy = unary[p] + messages[sisters[arcs]].sum(axis=0)
        for a in arcs[(heads[arcs] < p) == backward]:
            new = ((energy - messages[sisters[a]])[:, None] + weight[a] * distance).min(axis=0)
            new = damping * messages[a] + (1.0 - damping) * (new - new.min())
            most = max(most, np.abs(new - messages[a]).max())
            messages[a] = new
    return most


def bin_cells(X, cuts, starts, n_levels, missing, codes, columns):
    for j, n in enumerate(n_levels):
        x = X[:, j].astype(float)
        seen = ~np.isnan(x) & ((n == 0) | ((x >= 0) & (x < n)))
        own = cuts[starts[j] : starts[j + 1]]
        codes[:, j] = missing
        codes[seen, j] = x[seen].astype(int) if n else (own[None, :] < x[seen, None]).sum(axis=1)
        columns[j] = codes[:, j]


def slopes(kind, setting, y, raw, weight, first, second):
    apart, mean = raw - y, np.exp(raw)
    second[:] = (1.0, 1.0, 1.0, 1.0, mean, y / mean, mean / (1 + mean) ** 2)[kind]
    first[:] = (
        apart, np.where(apart > 0, 1.0, -1.0), np.clip(apart, -setting, setting), np.where(apart > 0, 1.0, 0.0) - setting,
        mean - y, 1 - y / mean, mean / (1 + mean) - y,
    )[kind]  # fmt: skip
    if len(weight):
        first *= weight
        second *= weight
    return np.abs(first).max(), max(second.max(), 0.0)


def histogram(words, gradients, rows, start, stop, packed, out):
    codes, rows = words.view(np.uint8), rows[start:stop].astype(int)
    g, h, one = {
        1: lambda w: (w[:, 0] >> 17, np.ones(len(w), int), w[:, 0] & (2**17 - 1)),
        2: lambda w: (w[:, 0], w[:, 1] >> 17, w[:, 1] & (2**17 - 1)),
        3: lambda w: (w[:, 0], w[:, 1], w[:, 2]),
    }[gradients.shape[1]](gradients)
    out[:] = 0
    for j in range(out.shape[0]):
        for k, part in enumerate((g, h, one)):
            np.add.at(out[j, :, k], codes[rows, j], part[rows])


def shrunken_step(A, g, x, c):
    d, first = np.zeros(len(g)), np.inf
    for _ in range(1000):
        before = d.copy()
        for j in range(len(g)):
            aim = g[j] - A[j] @ d + A[j, j] * (x[j] + d[j])
            d[j] = np.sign(aim) * max(abs(aim) - c[j], 0.0) / A[j, j] - x[j]
        moved = (np.diag(A) * (d - before) ** 2).max()
        first = moved if first == np.inf else first
        if moved <= 1e-12 * first:
            break
    return d


def primal_pass(order, data, indices, indptr, sign, step, shrink, truncate, constant, average, w, total, spent, clock):
    loss, mistakes = 0.0, 0
    for i in order[step[order] != 0]:
        x = np.zeros(len(w))
        x[indices[indptr[i] : indptr[i + 1]]] = data[indptr[i] : indptr[i + 1]]
        x[-1] = constant
        score = w @ x
        w[:-1] *= max(0.0, 1.0 - shrink)
        if sign[i] * score <= 0:
            loss, mistakes = loss - sign[i] * score * step[i], mistakes + 1
            w += step[i] * sign[i] * x
            total += average * clock[0] * step[i] * sign[i] * x
        clock[1] += truncate
        for j in indices[indptr[i] : indptr[i + 1]] if truncate else ():
            before, due = w[j], clock[1] + np.sign(w[j]) * spent[j]
            w[j] = np.sign(before) * max(abs(before) - due, 0.0)
            spent[j] += w[j] - before
        clock[0] += 1
    return loss, mistakes


def dual_pass(order, K, sign, step, constant, average, c, total, score, clock):
    loss, mistakes = 0.0, 0
    for i in order[step[order] != 0]:
        if sign[i] * score[i] <= 0:
            loss, mistakes = loss - sign[i] * score[i] * step[i], mistakes + 1
            move = step[i] * sign[i]
            c[[i, -1]] += move * np.array([1.0, constant])
            total[[i, -1]] += average * clock[0] * move * np.array([1.0, constant])
            score += move * (K[i] + constant)
        clock[0] += 1
    return loss, mistakes


def _kernel_values(X, Y, kind, settings):
    gamma, coef0, degree = settings
    product = X.astype(np.float64) @ Y.astype(np.float64).T
    if kind == 2:
        return np.exp(-gamma * np.maximum((X**2).sum(axis=1)[:, None] + (Y**2).sum(axis=1) - 2 * product, 0.0))
    return (product, (gamma * product + coef0) ** degree, None, np.tanh(gamma * product + coef0))[kind]


def all_rows(flipped, squares, kind, settings, out):
    out[:] = _kernel_values(flipped.T, flipped.T, kind, settings)


def expansion(flipped, squares, centers, center_squares, weights, kind, settings, out):
    out[:] = _kernel_values(flipped.T, centers, kind, settings) @ weights
