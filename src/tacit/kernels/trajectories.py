"""No-U-turn chains, H(x, p) = −log π(x) + ½ pᵀp in coordinates in which x = L z, so that momenta are standard normal.

The density and its gradient are called through one address. A trajectory is doubled forward or backward in time until
it turns; whether subtrees
turn is told from momenta kept at log₂ many leaves, without recursion.
"""

import math

import numpy as np
from numba import types

from .jit import jit, jit_as
from .walk import VECTOR

__all__ = ["SLOPE", "difference_slope", "nuts_steps", "stated_slope"]

SLOPE = types.float64(VECTOR, types.float64[::1])
"""The log density, its gradient being written into the second argument."""
_SLOPE = types.FunctionType(SLOPE)
_ROW, _ROWS = types.float64[::1], types.float64[:, ::1]

LOG_DENSITY, LOG_STEP, LOG_MEAN_STEP, MISFIT, SHRINKAGE, COUNT, WEIGHT, TAKEN = range(8)
"""Cells of a chain's numbers: the last four are of the dual averaging (target, count), of the window's moments, and
steps so far.
"""
MOST_ERROR = 1000.0


def difference_slope(value):
    """The function that finds a value and its gradient by central differences; of compiled functions it can be compiled."""

    def slope(x, out):
        y = x.copy()
        for i in range(len(x)):
            h = 6e-6 * max(1.0, abs(x[i]))
            y[i] = x[i] + h
            above = value(y)
            y[i] = x[i] - h
            out[i] = (above - value(y)) / (2.0 * h)
            y[i] = x[i]
        return float(value(x))

    return slope


def stated_slope(value, gradient):
    """The function that finds a value and its gradient by two functions."""

    def slope(x, out):
        out[:] = gradient(x)
        return float(value(x))

    return slope


@jit
def _turned(factor, v, back, out):
    """L v, or Lᵀ v; a factor of one row is a diagonal."""
    d = len(v)
    if len(factor) == 1:
        for i in range(d):
            out[i] = factor[0, i] * v[i]
        return
    out[:] = 0.0
    for i in range(d):
        for j in range(i + 1):
            if back:
                out[j] += factor[i, j] * v[i]
            else:
                out[i] += factor[i, j] * v[j]


@jit_as(types.float64(_SLOPE, _ROWS, types.float64, _ROW, _ROW, _ROW, _ROW, _ROW))
def _leap(slope, factor, step, x, p, g, change, gradient):
    """One leapfrog step in place; g is the gradient in whitened coordinates. Returns the log density there."""
    for i in range(len(p)):
        p[i] += 0.5 * step * g[i]
    _turned(factor, p, False, change)
    for i in range(len(x)):
        x[i] += step * change[i]
    value = slope(x, gradient)
    _turned(factor, gradient, True, g)
    for i in range(len(p)):
        p[i] += 0.5 * step * g[i]
    return value


@jit
def _u_turn(first, last, total):
    """Whether the ends of a stretch move apart no more, by the sum of its momenta less half of its ends'."""
    a = b = 0.0
    for i in range(len(first)):
        middle = total[i] - 0.5 * (first[i] + last[i])
        a += first[i] * middle
        b += last[i] * middle
    return a <= 0.0 or b <= 0.0


@jit
def _bits(n):
    count = 0
    while n:
        count += n & 1
        n >>= 1
    return count


@jit
def _subtree_turns(leaf, p, total, kept, sums):
    """Whether a subtree that ends with this leaf turns; what even leaves find is kept for those that end with a later one."""
    at = _bits(leaf >> 1)
    if leaf % 2 == 0:
        kept[at] = p
        sums[at] = total - p
        return False
    ends, n = 0, leaf
    while n & 1:
        ends += 1
        n >>= 1
    for k in range(at, at - ends, -1):  # noqa: SIM110 — numba knows no generators
        if _u_turn(kept[k], p, total - sums[k]):
            return True
    return False


@jit
def _log_sum(a, b):
    if a == -math.inf:
        return b
    high = max(a, b)
    return high + math.log(math.exp(a - high) + math.exp(b - high))


@jit_as(
    types.UniTuple(types.float64, 5)(
        _SLOPE, _ROW, _ROW, _ROWS, types.float64, types.float64, types.int64, types.npy_rng
    )
)
def _transition(slope, x, g, factor, value, step, max_depth, rng):
    """Replace x and g by a draw from a trajectory: log density, mean acceptance, leaves, depth and whether it
    diverged, and energy by sign.
    """
    d = len(x)
    p = rng.standard_normal(d)
    start = value - 0.5 * np.dot(p, p)  # minus the energy
    ends_x, ends_p, ends_g = np.empty((2, d)), np.empty((2, d)), np.empty((2, d))
    for side in range(2):
        ends_x[side], ends_p[side], ends_g[side] = x, p, g
    total, part = p.copy(), np.empty(d)
    kept, sums = np.empty((max_depth + 1, d)), np.empty((max_depth + 1, d))
    chosen_x, chosen_g, chosen_value = np.empty(d), np.empty(d), value
    change, gradient = np.empty(d), np.empty(d)
    log_weight, rates, n_leaves, depth, diverged = 0.0, 0.0, 0, 0, 0.0
    while depth < max_depth:
        side = 1 if rng.random() < 0.5 else 0
        sign = 1.0 if side == 1 else -1.0
        log_part, turns = -math.inf, False
        part[:] = 0.0
        for leaf in range(1 << depth):
            here = _leap(slope, factor, sign * step, ends_x[side], ends_p[side], ends_g[side], change, gradient)
            gain = here - 0.5 * np.dot(ends_p[side], ends_p[side]) - start
            if not gain > -math.inf:  # not a number, too
                gain = -math.inf
            n_leaves += 1
            rates += math.exp(min(gain, 0.0))
            if gain < -MOST_ERROR:
                diverged = 1.0
                break
            log_part = _log_sum(log_part, gain)
            if math.log(rng.random()) < gain - log_part:
                chosen_x[:] = ends_x[side]
                chosen_g[:] = ends_g[side]
                chosen_value = here
            part += ends_p[side]
            turns = _subtree_turns(leaf, ends_p[side], part, kept, sums)
            if turns:
                break
        if diverged > 0.0 or turns:
            break
        if math.log(rng.random()) < log_part - log_weight:
            x[:] = chosen_x
            g[:] = chosen_g
            value = chosen_value
        log_weight = _log_sum(log_weight, log_part)
        total += part
        depth += 1
        if _u_turn(ends_p[0], ends_p[1], total):
            break
    return value, rates / max(n_leaves, 1), float(n_leaves), depth + 0.5 * diverged, -start


@jit_as(types.float64(_SLOPE, _ROW, _ROW, _ROWS, types.float64, types.float64, types.npy_rng))
def _first_step(slope, x, g, factor, value, step, rng):
    """A step whose acceptance is about a half to 0.8, by doubling or halving."""
    d = len(x)
    change, gradient = np.empty(d), np.empty(d)
    way = 0.0
    for _ in range(100):
        y, p, slope_there = x.copy(), rng.standard_normal(d), g.copy()
        before = value - 0.5 * np.dot(p, p)
        there = _leap(slope, factor, step, y, p, slope_there, change, gradient)
        gain = there - 0.5 * np.dot(p, p) - before
        good = gain > math.log(0.8)
        if way == 0.0:
            way = 1.0 if good else -1.0
        if good != (way > 0.0):
            break
        step *= 2.0**way
        if not 1e-300 < step < 1e300:
            break
    return step


@jit
def _average(rate, target, numbers):
    """Dual averaging of the log step size (Nesterov; Hoffman and Gelman)."""
    numbers[COUNT] += 1.0
    t = numbers[COUNT]
    share = 1.0 / (t + 10.0)
    numbers[MISFIT] += share * (target - rate - numbers[MISFIT])
    numbers[LOG_STEP] = numbers[SHRINKAGE] - math.sqrt(t) / 0.05 * numbers[MISFIT]
    weight = t**-0.75
    numbers[LOG_MEAN_STEP] += weight * (numbers[LOG_STEP] - numbers[LOG_MEAN_STEP])


@jit
def _restart(step, numbers):
    numbers[LOG_STEP] = math.log(step)
    numbers[SHRINKAGE] = math.log(10.0 * step)
    numbers[LOG_MEAN_STEP] = numbers[MISFIT] = numbers[COUNT] = 0.0


@jit
def _observe(x, mean, scatter, numbers):
    """Add a position to the window's moments; a scatter of one row holds sums of squares."""
    numbers[WEIGHT] += 1.0
    d = len(x)
    change = x - mean
    mean += change / numbers[WEIGHT]
    if len(scatter) == 1:
        for i in range(d):
            scatter[0, i] += change[i] * (x[i] - mean[i])
        return
    for i in range(d):
        for j in range(d):
            scatter[i, j] += change[i] * (x[j] - mean[j])


@jit
def _close_window(mean, scatter, factor, numbers):
    """Take the factor from the window's covariance, shrunk to a small multiple of the identity, and begin another window."""
    n = numbers[WEIGHT]
    share = n / (n + 5.0) / max(n - 1.0, 1.0)
    small = 1e-3 * 5.0 / (n + 5.0)
    if len(scatter) == 1:
        factor[0] = np.sqrt(share * scatter[0] + small)
    else:
        covariance = share * scatter
        for i in range(len(scatter)):
            covariance[i, i] += small
        factor[:] = np.linalg.cholesky(covariance)
    mean[:] = 0.0
    scatter[:] = 0.0
    numbers[WEIGHT] = 0.0


@jit_as(types.void(
    _SLOPE, _ROW, _ROW, _ROWS, _ROWS, _ROW, _ROW, types.uint8[::1], types.float64, types.int64, types.npy_rng, _ROWS, _ROWS
))  # fmt: skip
def nuts_steps(slope, x, g, factor, scatter, mean, numbers, plan, target, max_depth, rng, draws, told):
    """Draws of a no-U-turn chain.

    Parameters
    ----------
    slope : function
        The log density; writes its gradient into its second argument.
    x, g : (d,)
        Where the chain is, and the gradient in whitened coordinates Lᵀ∇; changed, as are the following.
    factor, scatter : (1, d) or (d, d)
        L, and the sums of squares of the window, of the diagonal or of all.
    mean : (d,)
    numbers : (8,)
    plan : (n_warmup,)
        Of every step of warm-up: 0 only the step size adapts; 1 positions are taken into a window; 2 and the window ends.
    target : float
        Mean acceptance.
    max_depth : int
    rng : numpy.random.Generator
    draws, told : (n, d), (n, 7)
        Out: positions; log density, acceptance, step size, leaves, depth, divergence and energy.
    """
    for i in range(len(draws)):
        t = int(numbers[TAKEN])
        warm = t < len(plan)
        if t == 0 and warm:
            _restart(_first_step(slope, x, g, factor, numbers[LOG_DENSITY], math.exp(numbers[LOG_STEP]), rng), numbers)
        if t == len(plan) and t > 0:
            numbers[LOG_STEP] = numbers[LOG_MEAN_STEP]
        step = math.exp(numbers[LOG_STEP])
        value, rate, n_leaves, depth, energy = _transition(
            slope, x, g, factor, numbers[LOG_DENSITY], step, max_depth, rng
        )
        numbers[LOG_DENSITY] = value
        numbers[TAKEN] += 1.0
        draws[i] = x
        told[i, 0], told[i, 1], told[i, 2], told[i, 3] = value, rate, step, n_leaves
        told[i, 4], told[i, 5], told[i, 6] = math.floor(depth), 1.0 if depth % 1.0 > 0.0 else 0.0, energy
        if not warm:
            continue
        _average(rate, target, numbers)
        if plan[t] > 0:
            _observe(x, mean, scatter, numbers)
        if plan[t] == 2:
            _close_window(mean, scatter, factor, numbers)
            gradient = np.empty(len(x))
            slope(x, gradient)
            _turned(factor, gradient, True, g)
            step = _first_step(slope, x, g, factor, value, math.exp(numbers[LOG_STEP]), rng)
            _restart(step, numbers)
