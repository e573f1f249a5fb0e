"""Slopes of losses at what is predicted, and cells as bins: what boosting asks of every row."""

import numpy as np

from .jit import jit
from .mixture import exp

__all__ = [
    "ABSOLUTE", "GAMMA", "HUBER", "LOGISTIC", "POISSON", "QUANTILE", "SQUARED", "bin_cells", "fixed", "slopes", "softmax_slopes",
]  # fmt: skip

SQUARED, ABSOLUTE, HUBER, QUANTILE, POISSON, GAMMA, LOGISTIC = range(7)
STEEPEST = 600.0
"""Logarithms beyond which means are neither 0 nor infinite."""


@jit
def _clipped_exp(x):
    return exp(min(max(x, -STEEPEST), STEEPEST))


@jit
def slopes(kind, setting, y, raw, weight, first, second):
    """First and second derivatives of a loss by the prediction, times the weight; the greatest |first| and second.

    Parameters
    ----------
    kind : int
        Of the loss.
    setting : float
        δ of Huber's loss, or the quantile.
    y, raw : (n,) arrays
        Targets and predictions.
    weight : (n,) or (0,) array
        Weights; none are 1.
    first, second : (n,) arrays of float64
        Written.
    """
    steepest = curved = 0.0
    for i in range(len(y)):
        f, curvature = raw[i], 1.0
        if kind == SQUARED:
            slope = f - y[i]
        elif kind == ABSOLUTE:
            slope = 1.0 if f > y[i] else -1.0
        elif kind == HUBER:
            slope = min(max(f - y[i], -setting), setting)
        elif kind == QUANTILE:
            slope = 1.0 - setting if f > y[i] else -setting
        elif kind == POISSON:
            curvature = _clipped_exp(f)
            slope = curvature - y[i]
        elif kind == GAMMA:
            curvature = y[i] * _clipped_exp(-f)
            slope = 1.0 - curvature
        else:
            share = 1.0 / (1.0 + _clipped_exp(-f))
            slope, curvature = share - y[i], share * (1.0 - share)
        if len(weight):
            slope, curvature = slope * weight[i], curvature * weight[i]
        first[i], second[i] = slope, curvature
        steepest, curved = max(steepest, abs(slope)), max(curved, curvature)
    return steepest, curved


@jit
def softmax_slopes(k, y, share, weight, first, second):
    """As `slopes`, of class k of several, whose probabilities are in share (n, K)."""
    steepest = curved = 0.0
    for i in range(len(y)):
        p = share[i, k]
        slope, curvature = p - (1.0 if y[i] == k else 0.0), p * (1.0 - p)
        if len(weight):
            slope, curvature = slope * weight[i], curvature * weight[i]
        first[i], second[i] = slope, curvature
        steepest, curved = max(steepest, abs(slope)), max(curved, curvature)
    return steepest, curved


@jit
def fixed(first, second, first_scale, second_scale, count_bits, gradients):
    """Derivatives as whole numbers, with a one that counts rows, as `histogram` takes them."""
    for i in range(len(first)):
        g = np.int64(np.rint(first[i] * first_scale))
        if gradients.shape[1] == 1:
            gradients[i, 0] = (g << count_bits) + 1
        elif gradients.shape[1] == 3:
            gradients[i, 0], gradients[i, 1], gradients[i, 2] = g, np.int64(np.rint(second[i] * second_scale)), 1
        else:
            gradients[i, 0] = g
            gradients[i, 1] = (np.int64(np.rint(second[i] * second_scale)) << count_bits) + 1


@jit
def bin_cells(X, cuts, starts, n_levels, missing, codes, columns):
    """The bin of every cell: how many cuts are below it, its level, or `missing`.

    Parameters
    ----------
    X : (n, d) array
        NaN is missing; levels are numbers from 0.
    cuts, starts : arrays
        Those of column j, which rise, are cuts[starts[j] : starts[j + 1]].
    n_levels : (d,) array
        Levels of columns that have them, 0 of numbers.
    missing : int
    codes : (n, w) array of uint8
    columns : (d, n) array of uint8
        The same, column by column.
    """
    n, d = X.shape
    for s in range(0, n, 512):
        e = min(s + 512, n)
        for j in range(d):
            own = cuts[starts[j] : starts[j + 1]]
            for i in range(s, e):
                x, code = X[i, j], missing
                if x == x:
                    if n_levels[j]:
                        code = int(x) if x >= 0 and x < n_levels[j] else missing
                    else:
                        base, size = 0, len(own)
                        while size > 0:
                            half = (size + 1) >> 1
                            base += half if own[base + half - 1] < x else 0
                            size -= half
                        code = base
                codes[i, j] = code
                columns[j, i] = code
