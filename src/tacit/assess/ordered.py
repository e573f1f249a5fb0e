"""Laws of rank statistics of several samples: of normal populations that differ in their means, which stand in even steps.

An effect of ranks says how far apart mean ranks are, as a share of what ranks vary at all: ε² = Var(E R_i) / Var(R). Steps of
the means are found at which the populations have it. Where there are few rows, the law of the statistic is simulated, with a
seed of its own; where there are many it is a noncentral χ² one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from .design import Design
from .laws import Frozen, Law, Simulated
from .noncentral import chi_squared

__all__ = ["DRAWS", "Blocks", "Groups", "friedman_statistic", "kruskal_statistic", "mean_ranks", "steps_for"]

DRAWS, SEED, MANY = 4000, 20, 100
BLOCK = 4_000_000
"""Cells that are simulated at a time."""


def mean_ranks(means: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """P(a row of sample i lies above a row of all samples), for normal samples of standard deviation 1."""
    return stats.norm.cdf((means[:, None] - means[None, :]) / np.sqrt(2)) @ weights


@cache
def steps_for(effect: float, weights: tuple[float, ...]) -> np.ndarray:
    """Means in even steps at which the spread of the mean ranks is this share of the variance of ranks, 1/12."""
    shares = np.array(weights) / sum(weights)
    line = np.linspace(-0.5, 0.5, len(shares))

    def spread(width: float) -> float:
        return float(12 * shares @ (mean_ranks(width * line, shares) - 0.5) ** 2)

    most = spread(60.0)
    if effect >= most - 1e-9:
        return 60.0 * line
    return line * (brentq(lambda width: spread(width) - effect, 0.0, 60.0) if effect > 0 else 0.0)


def kruskal_statistic(ranks: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """H of ranks of all rows, laid out sample by sample along the last axis; ties are counted."""
    n = sum(sizes)
    ends = np.cumsum((0, *sizes))[:-1]
    sums = np.add.reduceat(ranks, ends, axis=-1) - np.array(sizes) * (n + 1) / 2
    total = ((ranks - (n + 1) / 2) ** 2).sum(axis=-1)
    return (n - 1) * (sums**2 / np.array(sizes)).sum(axis=-1) / np.where(total > 0, total, 1.0)


def friedman_statistic(ranks: np.ndarray) -> np.ndarray:
    """χ² of ranks within blocks: blocks along the last axis but one, treatments along the last; ties are counted."""
    k = ranks.shape[-1]
    sums = (ranks - (k + 1) / 2).sum(axis=-2)
    total = ((ranks - (k + 1) / 2) ** 2).sum(axis=(-2, -1))
    return (k - 1) * (sums**2).sum(axis=-1) / np.where(total > 0, total, 1.0)


def parts(n_draws: int, cells: int) -> list[int]:
    """Draws at a time, so that no more cells than a block has are there at once."""
    step = max(1, BLOCK // max(cells, 1))
    return [min(step, n_draws - start) for start in range(0, n_draws, step)]


@dataclass(frozen=True)
class Groups(Design):
    """Kruskal and Wallis's H of independent samples."""

    effects = (0.0, 1.0)
    ties: tuple[float, ...] = ()  # ranks at hand, where the null law permutes them

    def null(self, sizes: tuple[int, ...]) -> Law:
        if self.ties and sizes == self.sizes:
            return _permuted_groups(self.ties, sizes)
        return Frozen(stats.chi2(len(sizes) - 1))

    def alternative(self, effect: float, sizes: tuple[int, ...]) -> Law:
        n = sum(sizes)
        if n > MANY:
            return Frozen(chi_squared(len(sizes) - 1, (n - 1) * effect))
        return _simulated_groups(effect, sizes)


@cache
def _permuted_groups(ranks: tuple[float, ...], sizes: tuple[int, ...], draws: int = 9999) -> Law:
    rng = np.random.default_rng(SEED)
    rows = np.array(ranks)
    drawn = [kruskal_statistic(rng.permuted(np.tile(rows, (n, 1)), axis=1), sizes) for n in parts(draws, len(rows))]
    return Simulated(np.concatenate(drawn), observed=1)


@cache
def _simulated_groups(effect: float, sizes: tuple[int, ...]) -> Law:
    rng, n = np.random.default_rng(SEED), sum(sizes)
    means = np.repeat(steps_for(effect, tuple(map(float, sizes))), sizes)
    drawn = []
    for count in parts(DRAWS, n):
        ranks = rng.normal(means, size=(count, n)).argsort(axis=1).argsort(axis=1) + 1.0
        drawn.append(kruskal_statistic(ranks, sizes))
    return Simulated(np.concatenate(drawn))


@dataclass(frozen=True)
class Blocks(Design):
    """Friedman's χ² of k treatments in blocks; sizes are the number of blocks."""

    effects = (0.0, 1.0)
    treatments: int = 2
    ties: tuple[tuple[float, ...], ...] = ()

    def null(self, sizes: tuple[int, ...]) -> Law:
        if self.ties and sizes == self.sizes:
            return _permuted_blocks(self.ties)
        return Frozen(stats.chi2(self.treatments - 1))

    def alternative(self, effect: float, sizes: tuple[int, ...]) -> Law:
        n, k = sizes[0], self.treatments
        if n * k > MANY:
            return Frozen(chi_squared(k - 1, n * (k - 1) * effect))
        return _simulated_blocks(effect, n, k)


@cache
def _permuted_blocks(ranks: tuple[tuple[float, ...], ...], draws: int = 9999) -> Law:
    rng, rows = np.random.default_rng(SEED), np.array(ranks)
    drawn = [
        friedman_statistic(rng.permuted(np.broadcast_to(rows, (n, *rows.shape)).copy(), axis=2))
        for n in parts(draws, rows.size)
    ]
    return Simulated(np.concatenate(drawn), observed=1)


@cache
def _simulated_blocks(effect: float, n: int, k: int) -> Law:
    rng = np.random.default_rng(SEED)
    # Ranks within a block of k vary by (k² − 1)/12, and are 1/2 + k times the share of the treatments below.
    means = steps_for(effect * (k * k - 1) / (k * k), (1.0,) * k)
    drawn = []
    for count in parts(DRAWS, n * k):
        ranks = rng.normal(means, size=(count, n, k)).argsort(axis=2).argsort(axis=2) + 1.0
        drawn.append(friedman_statistic(ranks))
    return Simulated(np.concatenate(drawn))
