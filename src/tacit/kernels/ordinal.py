"""Cut points and locations of ordered levels: Newton's method for the counts of levels by class.

    Σ_kl N_kl log p_kl,    p_kl = σ(c_l − μ_k) − σ(c_l−1 − μ_k)

is concave in (c, μ), and does not change when all of them are moved together: the mean of the cuts is held where it is, by adding
its direction to the Hessian.
"""

import numpy as np

from .jit import jit

__all__ = ["cut_points"]


@jit
def _log_expit(x):
    return -np.log1p(np.exp(-x)) if x > 0 else x - np.log1p(np.exp(x))


@jit
def _log_p(cuts, place, level):
    """Log p of a level, to full precision at either end."""
    out = 0.0
    if level < len(cuts):
        out += _log_expit(cuts[level] - place)
    if level > 0:
        out += _log_expit(place - cuts[level - 1])
    if 0 < level < len(cuts):
        gap = cuts[level - 1] - cuts[level]
        out += np.log(-np.expm1(gap)) if gap < 0 else -np.inf
    return out


@jit
def _objective(count, cuts, place):
    total = 0.0
    for k in range(count.shape[0]):
        for level in range(count.shape[1]):
            if count[k, level] > 0:
                total += count[k, level] * _log_p(cuts, place[k], level)
    return total


@jit
def _derivatives(count, cuts, place, score, curve):
    """The gradient, and the negative Hessian, in the cuts and then the locations."""
    n_classes, n_levels = count.shape
    n = n_levels - 1
    score[:], curve[:] = 0.0, 0.0
    r, w, f, df = np.zeros(n_levels + 1), np.zeros(n_levels + 1), np.zeros(n_levels + 1), np.zeros(n_levels + 1)
    for k in range(n_classes):
        for level in range(n_levels):
            p = max(np.exp(_log_p(cuts, place[k], level)), 1e-150)
            r[level], w[level] = count[k, level] / p, count[k, level] / p / p
        for level in range(n):  # density at the cut above a level, f, and its slope; 0 beyond either end
            share = np.exp(_log_expit(cuts[level] - place[k]))
            f[level + 1] = share * np.exp(_log_expit(place[k] - cuts[level]))
            df[level + 1] = f[level + 1] * (1.0 - 2.0 * share)
        f[n_levels] = df[n_levels] = 0.0
        at = n + k
        for level in range(n_levels):
            apart = f[level + 1] - f[level]
            score[at] -= r[level] * apart
            curve[at, at] += w[level] * apart * apart - r[level] * (df[level + 1] - df[level])
        for level in range(n):
            g, d = f[level + 1], df[level + 1]
            below, above = g - f[level], f[level + 2] - g
            score[level] += g * (r[level] - r[level + 1])
            curve[level, level] += g * g * (w[level] + w[level + 1]) - d * (r[level] - r[level + 1])
            curve[level, at] = -g * (w[level] * below - w[level + 1] * above) + d * (r[level] - r[level + 1])
            curve[at, level] = curve[level, at]
            if level + 1 < n:
                curve[level, level + 1] -= g * f[level + 2] * w[level + 1]
                curve[level + 1, level] = curve[level, level + 1]


@jit
def _solve(matrix, right):
    """Solve in place by Cholesky's factor; pivots that rounding has made too small are raised."""
    n, largest = len(right), 1e-300
    for i in range(n):
        largest = max(largest, matrix[i, i])
    for i in range(n):
        for j in range(i + 1):
            total = matrix[i, j]
            for m in range(j):
                total -= matrix[i, m] * matrix[j, m]
            matrix[i, j] = np.sqrt(max(total, 1e-14 * largest)) if i == j else total / matrix[j, j]
    for i in range(n):
        for m in range(i):
            right[i] -= matrix[i, m] * right[m]
        right[i] /= matrix[i, i]
    for i in range(n - 1, -1, -1):
        for m in range(i + 1, n):
            right[i] -= matrix[m, i] * right[m]
        right[i] /= matrix[i, i]


@jit
def _column(count, cuts, place, reach, narrowest, most_steps, settled):
    """Newton's steps for one column, each halved until it does not make matters worse beyond rounding; in place."""
    n_classes, n = count.shape[0], len(cuts)
    size, largest = np.zeros(n_classes), 0.0
    for k in range(n_classes):
        size[k] = count[k].sum()
        largest = max(largest, size[k])
    score, curve = np.zeros(n + n_classes), np.zeros((n + n_classes, n + n_classes))
    ahead_cuts, ahead_place = cuts.copy(), place.copy()
    value = _objective(count, cuts, place)
    for _ in range(most_steps):
        _derivatives(count, cuts, place, score, curve)
        scale = 1e-300
        for i in range(n + n_classes):
            scale = max(scale, curve[i, i])
        for i in range(n + n_classes):
            for j in range(n + n_classes):
                if i < n and j < n:
                    curve[i, j] += scale
            if i >= n and size[i - n] <= 1e-12 * largest:  # nothing to learn from
                score[i], curve[i, i] = 0.0, scale
                curve[i, :i], curve[:i, i] = 0.0, 0.0
        _solve(curve, score)
        length, moved = 1.0, 0.0
        for _ in range(40):
            ahead_cuts[0] = cuts[0] + length * score[0]
            for level in range(1, n):
                ahead_cuts[level] = max(cuts[level] + length * score[level], ahead_cuts[level - 1] + narrowest)
            for k in range(n_classes):
                to = place[k] + length * score[n + k]
                if size[k] > 1e-12 * largest:
                    to = min(max(to, ahead_cuts[0] - reach), ahead_cuts[n - 1] + reach)
                ahead_place[k] = to
            better = _objective(count, ahead_cuts, ahead_place)
            if better >= value - 1e-14 * abs(value):
                moved = max(np.abs(ahead_cuts - cuts).max(), np.abs(ahead_place - place).max())
                cuts[:], place[:], value = ahead_cuts, ahead_place, better
                break
            length *= 0.5
        if moved < settled:
            break


@jit
def cut_points(total, n_levels, location, cuts, reach, narrowest, most_steps, settled):
    """Improve cut points and locations until they settle, column by column, in place.

    Parameters
    ----------
    total : (K, Σ levels) float64
        Counts of all columns' levels, side by side, by class.
    n_levels : (d,) int64
    location : (K, d) float64
    cuts : (Σ levels − d,) float64
        The cut points of all columns, side by side.
    reach : float
        How far a location may be from the nearest cut.
    narrowest : float
        Least distance between cuts.
    most_steps, settled : int, float
        When to stop: after so many steps, or after one that moves nothing by more.
    """
    level, cut = 0, 0
    for j in range(len(n_levels)):
        n = n_levels[j] - 1
        if n > 0:
            count = total[:, level : level + n + 1].copy()
            place = location[:, j].copy()
            _column(count, cuts[cut : cut + n], place, reach, narrowest, most_steps, settled)
            location[:, j] = place
        level, cut = level + n + 1, cut + n
