"""The model of content that the engine learns: every user's ratings are regressed on features of items.

    r_uj = w_u·φ_j + c_j + ε,    w_u ~ N(B ψ_u, Σ),    c_j ~ N(0, τ²),    ε ~ N(0, σ²)

φ_j are features of items and ψ_u of users, each with a 1 before. A unit is a user, whose weights w_u are hidden; what an item is
beyond its features, c_j, has a posterior N(c, v) of its own among the parameters. The objective is the lower bound that the
product of both posteriors gives, plus the log priors of B and Σ; every step raises it.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..arrays import Arrays, record
from ..declared import Numbers, Spec
from ..engine import Model
from ..kernels import host, lazy
from ..source import Block

__all__ = ["ContentModel", "ContentParams", "ContentStats"]

content = lazy("content")
LEAST = 1e-9


@record
class ContentParams(Arrays):
    """What is known in general.

    Attributes
    ----------
    effect : (q, s)
        B: mean weights of features of items, by features of users.
    covariance : (q, q)
        Σ: how weights differ between users.
    noise : float
        σ².
    item, item_variance : (d,)
        Means and variances of c.
    item_prior : float
        τ².
    """

    effect: np.ndarray
    covariance: np.ndarray
    noise: float
    item: np.ndarray
    item_variance: np.ndarray
    item_prior: float

    _saved: ClassVar[dict[str, Spec]] = {
        "effect": Numbers("q s"), "covariance": Numbers("q q", form="definite"), "noise": Numbers(above=0), "item": Numbers("d"),
        "item_variance": Numbers("d", low=0), "item_prior": Numbers(above=0),
    }  # fmt: skip


@record
class ContentStats(Arrays):
    """Sums over users of products of weights and features, and over ratings of what regressions leave."""

    loglik: float
    weight: float
    users: float
    cross: np.ndarray
    design: np.ndarray
    second: np.ndarray
    square: float
    total: np.ndarray
    count: np.ndarray


class ContentModel(Model):
    """Rows are [number of item, rating], and units are users.

    Parameters
    ----------
    features : (d, q)
        φ, the first column 1.
    about : (units, s)
        ψ, the first column 1.
    scale : float
        Variance of all ratings, to which priors are relative.
    """

    one_start = True

    def __init__(self, features: np.ndarray, about: np.ndarray, scale: float):
        self.features, self.about, self.scale = features, about, max(float(scale), LEAST)
        q = features.shape[1]
        self.strength, self.guess = float(q + 2), 0.05 * self.scale * np.eye(q)

    def init(self, sample: Block, rng: np.random.Generator) -> ContentParams:
        """The mean of a sample of ratings, and variances by guess."""
        rating = host(sample.X)[:, 1]
        effect = np.zeros((self.features.shape[1], self.about.shape[1]))
        effect[0, 0] = rating[~np.isnan(rating)].mean()
        n_items, guess = len(self.features), 0.2 * self.scale
        items = np.zeros(n_items), np.full(n_items, guess), guess
        return ContentParams(effect, 2.0 * self.guess, 0.7 * self.scale, *items)

    def _weights(self, params: ContentParams, block: Block, about: np.ndarray) -> tuple[Any, Any, Any]:
        """Posterior means and covariances of users' weights, and the log density of each one's ratings."""
        q, n_units = self.features.shape[1], block.n_units
        mean, covariance = np.empty((n_units, q)), np.empty((n_units, q, q))
        cells = np.ascontiguousarray(host(block.X), dtype=np.float64)
        prior, precision = np.ascontiguousarray(about @ params.effect.T), np.linalg.inv(params.covariance)
        along = self.features, params.item, prior, precision, params.noise
        loglik = content.weights(cells, host(block.weight), block.offsets, *along, mean, covariance)
        return mean, covariance, loglik - 0.5 * np.linalg.slogdet(params.covariance)[1]

    def e_step(self, params: ContentParams, block: Block) -> ContentStats:
        about = self.about[block.first : block.first + block.n_units]
        mean, covariance, loglik = self._weights(params, block, about)
        cells, weight = np.ascontiguousarray(host(block.X), dtype=np.float64), host(block.weight)
        total, count = np.zeros(len(self.features)), np.zeros(len(self.features))
        square = content.leftovers(cells, weight, block.offsets, self.features, mean, covariance, total, count)
        counts = np.add.reduceat(np.append(weight, 0.0), block.offsets[:-1]) > 0
        mean, about = mean[counts], about[counts]
        second = mean.T @ mean + covariance[counts].sum(axis=0)
        value = float(loglik[counts].sum()) - 0.5 * float(count @ params.item_variance) / params.noise
        along = float(counts.sum()), mean.T @ about, about.T @ about, second
        return ContentStats(value, float(weight.sum()), *along, float(square), total, count)

    def m_step(self, stats: ContentStats, params: ContentParams) -> ContentParams:
        s = self.about.shape[1]
        design = stats.design + np.eye(s)
        effect = np.linalg.solve(design, stats.cross.T).T
        spread = stats.second - effect @ stats.cross.T - stats.cross @ effect.T + effect @ design @ effect.T
        covariance = (spread + self.strength * self.guess) / (stats.users + s + self.strength)
        noise, prior = params.noise, params.item_prior
        rated = stats.count > 0 if stats.weight > 0 else np.ones(len(stats.count), bool)
        for _ in range(3):
            item, variance = _items(stats, noise, prior)
            left = stats.square - 2.0 * item @ stats.total + stats.count @ (item**2 + variance)
            noise = max(float(left) / max(stats.weight, LEAST), LEAST * self.scale)
            prior = max(float((item[rated] ** 2 + variance[rated]).mean()), LEAST * self.scale)
        item, variance = _items(stats, noise, prior)
        return ContentParams(effect, 0.5 * (covariance + covariance.T), noise, item, variance, prior)

    def log_prior(self, params: ContentParams) -> float:
        """Log priors of B and Σ, and −KL(q(c) ‖ N(0, τ²))."""
        inverse, log_det = np.linalg.inv(params.covariance), np.linalg.slogdet(params.covariance)[1]
        held = params.effect @ params.effect.T + self.strength * self.guess
        value = -0.5 * float((inverse * held).sum()) - 0.5 * (self.about.shape[1] + self.strength) * log_det
        ratio = params.item_variance / params.item_prior
        return float(value - 0.5 * (ratio - 1.0 - np.log(ratio) + params.item**2 / params.item_prior).sum())

    def posterior(self, params: ContentParams, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Mean weights of the users of a block, and the log density of each one's ratings."""
        mean, _, loglik = self._weights(params, block, self.about[block.first : block.first + block.n_units])
        return mean, loglik


def _items(stats: ContentStats, noise: float, prior: float) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances of what items are beyond their features."""
    variance = 1.0 / (stats.count / noise + 1.0 / prior)
    return variance * stats.total / noise, variance
