"""What whole numbers that go by are best described as: counts, ordered levels, codes, or measurements on a scale.

Every kind has laws with few parameters, fitted to how often each value occurs:

    count        Poisson, negative binomial
    ordinal      log p a polynomial of the level's place, of at most the third degree
    category     the share of every level
    measurement  a Gaussian, rounded

A law's score is its BIC a cell in nats, −log p + q log n / 2n with q parameters. No law is exact, and of enough cells the shares
of levels would always win: n is at most `MOST_CELLS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import gammaln, log_ndtr, logsumexp, ndtr, ndtri

__all__ = ["MOST_CELLS", "mean_ranks", "normal_scores", "scored", "scored_around", "told"]

MOST_CELLS = 200
"""Cells from which more say no more: a law that is this close, by BIC of so many, is a description."""
TINY = 1e-300


def mean_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1 on; equal values share the mean of theirs."""
    _, place, times = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(times) - 0.5 * (times - 1))[place]


def scored(counts: Mapping[Any, int], n_cells: int, levels: bool) -> dict[str, float]:
    """Scores of laws, the best first.

    Parameters
    ----------
    counts : mapping of number to int
        How often every value occurs.
    n_cells : int
        Cells that the choice is to be made for.
    levels : bool
        Whether the values are few enough to be levels.
    """
    x = np.array(sorted(counts), dtype=np.float64)
    share = np.array([counts[value] for value in x.tolist()], dtype=np.float64)
    share /= share.sum()
    n = min(n_cells, MOST_CELLS)
    mean = float(share @ x)
    found = {"measurement": (_rounded(x, share, mean), 2)}
    if levels:
        found["category"] = -float(share @ np.log(share)), len(x) - 1
        found["uniform"] = float(np.log(len(x))), 0
        for degree in range(1, min(3, len(x) - 2) + 1) if len(x) > 3 else ():  # three shares have no shape
            loss = _smooth(share, np.vander(np.linspace(-1.0, 1.0, len(x)), degree + 1)[:, :-1])
            if degree == 1 or _bic(loss, degree, n) < _bic(*found["ordinal"], n):
                found["ordinal"] = loss, degree
    if x[0] >= 0:
        found["Poisson"] = _poisson(x, share), 1
        found["negative binomial"] = _negative_binomial(x, share, mean), 2
        if not levels:
            found["two Poissons"] = _two_poissons(x, share, mean), 3
    scores = {name: _bic(*law, n) for name, law in found.items()}
    return dict(sorted(scores.items(), key=lambda pair: pair[1]))


def normal_scores(counts: Sequence[int]) -> tuple[float, ...]:
    """Places of levels in order on a normal scale: the mean of a standard normal within the slice that has a level's share.

    What polychoric correlations take levels for, slices of a normal variable, with a place for each instead of its ends.
    """
    share = np.asarray(counts, dtype=np.float64) / sum(counts)
    ends = ndtri(np.clip(np.append(0.0, np.cumsum(share)), 0.0, 1.0))
    height = np.exp(-0.5 * ends**2) / np.sqrt(2.0 * np.pi)
    return tuple(((height[:-1] - height[1:]) / share).tolist())


def told(scores: Mapping[str, float]) -> str:
    """Scores in words."""
    return "nats a cell: " + ", ".join(f"{name} {score:.3f}" for name, score in scores.items() if name != "uniform")


def _bic(loss: float, n_parameters: int, n: int) -> float:
    return loss + 0.5 * n_parameters * float(np.log(n)) / n


def _rounded(x: np.ndarray, share: np.ndarray, mean: float) -> float:
    """A Gaussian seen as the whole number next to it; its variance is that of the numbers less that of rounding."""
    std = max(float(share @ (x - mean) ** 2) - 1 / 12, 0.01) ** 0.5
    below, above = (np.abs(x - mean) - 0.5) / std, (np.abs(x - mean) + 0.5) / std
    p = np.where(below > 5, np.exp(log_ndtr(-below)) - np.exp(log_ndtr(-above)), ndtr(above) - ndtr(below))
    return -float(share @ np.log(np.maximum(p, TINY)))


def scored_around(counts: Mapping[Any, int], steps: int, n: int) -> float:
    """Score of the best law around a cycle of steps from 0 on: of no, one or two waves."""
    share = np.array([counts.get(step, 0) for step in range(steps)], dtype=np.float64)
    share /= share.sum()
    waves = 2.0 * np.pi * np.outer(np.arange(steps) / steps, [1, 1, 2, 2]) - [0, np.pi / 2, 0, np.pi / 2]
    return min(_bic(_smooth(share, np.cos(waves[:, :degree])), degree, n) for degree in (0, 2, 4))


def _smooth(share: np.ndarray, basis: np.ndarray) -> float:
    """Log p a combination of functions of the place among the levels, by Newton's method."""
    degree = basis.shape[1]
    slope = np.zeros(degree)
    for _ in range(50 if degree else 0):
        log_p = basis @ slope
        p = np.exp(log_p - logsumexp(log_p))
        apart = basis - p @ basis
        step = np.linalg.solve((p[:, None] * apart).T @ apart + 1e-9 * np.eye(degree), (share - p) @ basis)
        slope += step / max(1.0, np.abs(step).max())
        if np.abs(step).max() < 1e-9:
            break
    log_p = basis @ slope
    return -float(share @ (log_p - logsumexp(log_p)))


def _log_poisson(x: np.ndarray, rate: np.ndarray | float) -> np.ndarray:
    return x * np.log(rate) - rate - gammaln(x + 1.0)


def _poisson(x: np.ndarray, share: np.ndarray) -> float:
    return -float(share @ _log_poisson(x, max(float(share @ x), TINY)))


def _two_poissons(x: np.ndarray, share: np.ndarray, mean: float) -> float:
    """Two rates and their shares, by EM: what overdispersion comes to where it is that of two groups."""
    std = np.sqrt(share @ (x - mean) ** 2)
    rate, weight = np.maximum([mean - 0.7 * std, mean + 0.7 * std], 0.05 * mean + TINY), np.array([0.5, 0.5])
    loss = np.inf
    for _ in range(200):
        joint = np.log(weight) + _log_poisson(x[:, None], rate)
        total = logsumexp(joint, axis=1)
        before, loss = loss, -float(share @ total)
        if before - loss < 1e-7:
            break
        resp = share[:, None] * np.exp(joint - total[:, None])
        weight = np.maximum(resp.sum(axis=0), TINY)
        rate = np.maximum(x @ resp / weight, TINY)
    return loss


def _negative_binomial(x: np.ndarray, share: np.ndarray, mean: float) -> float:
    """Mean m and size r, by a grid of log r that closes in on the best."""
    if mean == 0:
        return 0.0
    low, high = -6.0, 14.0
    while high - low > 1e-3:
        grid = np.linspace(low, high, 33)
        r = np.exp(grid)[:, None]
        log_p = gammaln(x + r) - gammaln(r) - gammaln(x + 1.0) - r * np.log1p(mean / r) + x * np.log(mean / (r + mean))
        loss = -log_p @ share
        best = int(np.argmin(loss))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, 32)]
    return float(loss[best])
