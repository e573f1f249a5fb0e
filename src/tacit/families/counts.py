"""Columns of counts, independent given the class: log p(x | k) = Σ_j x_j log λ_kj − λ_kj − log x_j!"""

from functools import cached_property

import numpy as np

from ..arrays import Arrays, record
from ..kernels import backend, kernel
from .discrete import LinearFamily, _ratio

__all__ = ["Poisson"]


@record
class PoissonParams(Arrays):
    """Rates, (classes, d)."""

    rate: np.ndarray

    @cached_property
    def log_rate(self):
        return np.log(self.rate)


class Poisson(LinearFamily):
    """Columns of counts.

    Parameters
    ----------
    floor : float
        Smallest rate.
    """

    def __init__(self, floor=1e-10):
        self.floor = floor

    def check(self, X):
        bad = X[~np.isnan(X) & ((X < 0) | (np.floor(X) != X))]
        if bad.size:
            raise ValueError(f"Poisson columns hold whole numbers from 0, but X holds {bad.flat[0]:g}.")

    def start(self, block, resp):
        shape = resp.shape[1], block.X.shape[1]
        weighted = resp * block.weight[:, None]
        params = PoissonParams(np.ones(shape))
        pooled = self.m_step(self.stats(params, block, np.repeat(weighted.sum(axis=1)[:, None], shape[0], 1)), params)
        learned = self.m_step(self.stats(params, block, weighted), pooled)
        # A class that starts without any count could never gain one.
        return PoissonParams(0.9 * learned.rate + 0.1 * pooled.rate)

    def form(self, params):
        return params.log_rate, -params.rate

    def base(self, block):
        if "log_base" not in block.local:
            block.local["log_base"] = -kernel("log_factorial", backend(block.X))(block.X)
        return block.local["log_base"]

    def m_step(self, stats, params):
        return PoissonParams(np.maximum(_ratio(stats.total, stats.count, params.rate), self.floor))

    def sample(self, params, classes, rng):
        return rng.poisson(params.rate[classes]).astype(float)

    def embed(self, block, rng):
        """Square roots, which make the spread of counts even."""
        X = np.sqrt(block.X)
        return super().embed(type(block).of(X, block.weight, block.labels, block.patterns), rng)

    def free(self, params):
        """Log rates."""
        return params.log_rate.ravel()

    def bound(self, vector, params):
        return PoissonParams(np.maximum(np.exp(vector).reshape(params.rate.shape), self.floor))

    def n_parameters(self, params):
        return params.rate.size
