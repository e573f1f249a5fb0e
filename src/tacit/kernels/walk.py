"""Metropolis chains, compiled with the density called through its address.

A state is a set of arrays that is carried from call to call, so that the same chain comes of any number of calls.
"""

import math

import numpy as np
from numba import types

from .jit import jit, jit_as

__all__ = ["PROPOSAL", "VALUE", "VECTOR", "independent_steps", "proposed_steps", "row_values", "walk_steps"]

VECTOR = types.Array(types.float64, 1, "C", readonly=True)
VALUE = types.float64(VECTOR)
PROPOSAL = types.Tuple((types.float64[::1], types.float64))(VECTOR, types.npy_rng)
_VALUE, _PROPOSAL = types.FunctionType(VALUE), types.FunctionType(PROPOSAL)
_ROW, _ROWS, _FLAGS = types.float64[::1], types.float64[:, ::1], types.boolean[::1]

LOG_DENSITY, LOG_SCALE, N_STEPS, N_ACCEPTED, REST = range(5)
"""Cells of a chain's numbers; the rest are its moments' weight."""


@jit_as(types.void(_VALUE, _ROWS, _ROW))
def row_values(value, X, out):
    """The function of every row."""
    for i in range(len(X)):
        out[i] = value(X[i])


@jit
def _adapt(x, step, mean, scatter, factor, numbers, rate, target):
    """Learn the proposal's scale from its acceptance and its shape from where the chain has been.

    Positions count by how late they came, so that where the chain began is forgotten.
    """
    d, t = len(x), numbers[N_STEPS]
    numbers[LOG_SCALE] += (rate - target) / math.sqrt(1.0 + step) * 2.0
    gain = 2.0 / (t + 2.0)
    for i in range(d):
        x_i = x[i] - mean[i]
        for j in range(i + 1):
            scatter[i, j] += gain * ((1.0 - gain) * x_i * (x[j] - mean[j]) - scatter[i, j])
    for i in range(d):
        mean[i] += gain * (x[i] - mean[i])


@jit
def _refactor(scatter, factor, numbers):
    """The factor of the covariance, correlations being shrunk while draws are few."""
    d, t = len(scatter), numbers[N_STEPS]
    share = t / (t + 20.0 * d)
    shrunk = np.zeros((d, d))
    for i in range(d):
        for j in range(i):
            shrunk[i, j] = shrunk[j, i] = share * scatter[i, j]
        shrunk[i, i] = scatter[i, i] * (1.0 + 1e-9) + 1e-300
    before = np.log(np.diag(factor)).mean()
    for j in range(d):  # Cholesky; a matrix that is singular to rounding keeps the former factor
        left = shrunk[j, j]
        for k in range(j):
            left -= shrunk[j, k] * shrunk[j, k]
        if not left > 0.0:
            return
        shrunk[j, j] = math.sqrt(left)
        for i in range(j + 1, d):
            total = shrunk[i, j]
            for k in range(j):
                total -= shrunk[i, k] * shrunk[j, k]
            shrunk[i, j] = total / shrunk[j, j]
    for i in range(d):
        for j in range(i + 1):
            factor[i, j] = shrunk[i, j]
    # The size of proposals is the scale's to learn: another factor does not change it.
    numbers[LOG_SCALE] += before - np.log(np.diag(factor)).mean()


@jit
def _step(x, factor, scale, rng, out):
    """Put x + scale · factor · z into `out`."""
    d = len(x)
    z = rng.standard_normal(d)
    for i in range(d):
        total = 0.0
        for j in range(i + 1):
            total += factor[i, j] * z[j]
        out[i] = x[i] + scale * total


@jit_as(types.void(_VALUE, _ROW, _ROWS, _ROWS, _ROW, _ROW, types.int64, types.int64, types.npy_rng, _ROWS, _ROW, _ROW))
def walk_steps(value, x, factor, scatter, mean, numbers, n_warmup, n_thin, rng, draws, log_density, rates):
    """Steps of a random walk, y = x + s L z; s and L are learned during warm-up.

    Parameters
    ----------
    value : function
        The log density.
    x : (d,)
        Where the chain is; changed, as are the following.
    factor, scatter : (d, d)
        L, and the covariance that it is made of.
    mean : (d,)
    numbers : (4,)
        Log density, log s, steps taken, steps accepted.
    n_warmup : int
        Steps during which the proposal adapts.
    n_thin : int
        Steps per draw.
    rng : numpy.random.Generator
    draws, log_density, rates : (n, d), (n,), (n,)
        Out: where the chain was after so many steps, and the mean acceptance probability of these.
    """
    target = 0.234 + 0.206 / len(x)  # from the best of one column to that of many (Roberts and Rosenthal)
    y = np.empty(len(x))
    for i in range(len(draws)):
        total = 0.0
        for _ in range(n_thin):
            _step(x, factor, math.exp(numbers[LOG_SCALE]), rng, y)
            new = value(y)
            # A density that is not a number accepts nothing: comparisons with it are false.
            rate = min(1.0, math.exp(min(new - numbers[LOG_DENSITY], 0.0))) if new > -math.inf else 0.0
            if rng.random() < rate:
                x[:] = y
                numbers[LOG_DENSITY] = new
                numbers[N_ACCEPTED] += 1.0
            total += rate
            step = numbers[N_STEPS]
            numbers[N_STEPS] += 1.0
            if step < n_warmup:
                _adapt(x, step, mean, scatter, factor, numbers, rate, target)
                if numbers[N_ACCEPTED] > 10 and (step + 1) % max(50, len(x)) == 0:
                    _refactor(scatter, factor, numbers)
        draws[i] = x
        log_density[i] = numbers[LOG_DENSITY]
        rates[i] = total / n_thin


@jit_as(types.void(_VALUE, _PROPOSAL, _ROW, _ROW, types.int64, types.npy_rng, _ROWS, _ROW, _ROW))
def proposed_steps(value, propose, x, numbers, n_thin, rng, draws, log_density, rates):
    """Steps of a chain whose proposals come from propose(x, rng), with log q(x | y) − log q(y | x); the rest is as in
    `walk_steps`.
    """
    for i in range(len(draws)):
        total = 0.0
        for _ in range(n_thin):
            y, ratio = propose(x, rng)
            new = value(y)
            gain = new - numbers[LOG_DENSITY] + ratio
            rate = math.exp(min(gain, 0.0)) if new > -math.inf and gain > -math.inf else 0.0
            if rng.random() < rate:
                x[:] = y
                numbers[LOG_DENSITY] = new
                numbers[N_ACCEPTED] += 1.0
            total += rate
            numbers[N_STEPS] += 1.0
        draws[i] = x
        log_density[i] = numbers[LOG_DENSITY]
        rates[i] = total / n_thin


@jit
def independent_steps(proposals, values, weights, numbers, x, rng, draws, log_density, rates):
    """One step per proposal that does not depend on where the chain is.

    Parameters
    ----------
    proposals : (n, d)
    values, weights : (n,)
        Log densities of proposals, and these less the log densities of proposing them.
    numbers : (5,)
        As in `walk_steps`; the last is the weight of where the chain is.
    x, rng, draws, log_density, rates
        As in `walk_steps`.
    """
    for i in range(len(proposals)):
        gain = weights[i] - numbers[REST]
        rate = math.exp(min(gain, 0.0)) if gain > -math.inf else 0.0
        if rng.random() < rate:
            x[:] = proposals[i]
            numbers[LOG_DENSITY], numbers[REST] = values[i], weights[i]
            numbers[N_ACCEPTED] += 1.0
        numbers[N_STEPS] += 1.0
        draws[i] = x
        log_density[i] = numbers[LOG_DENSITY]
        rates[i] = rate
