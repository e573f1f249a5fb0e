"""`Mixed`: a family each of whose classes is a mixture of its own, p(x | k) = Σ_m w_km p(x | θ_km)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax

from ...arrays import Arrays, record
from ...declared import Numbers, Part, declare
from ...families import Family
from ...families.laws import Law, MappedLaw
from ...kernels import host
from ...source import Block

__all__ = ["Mixed", "MixedParams"]


@record
class MixedParams(Arrays):
    """Shares of the parts of each class, (classes, parts), and the parameters of all parts, class by class."""

    weight: np.ndarray
    components: Any
    _saved = declare(weight=Numbers("K M", low=0, high=1, total=1), components=Part(Arrays))

    @property
    def log_weight(self) -> np.ndarray:
        """Logs of the shares; an empty part is as good as impossible."""
        return np.log(np.maximum(self.weight, np.finfo(float).tiny))


@record
class MixedStats(Arrays):
    """Sizes of the parts, and the family's statistics of them."""

    counts: np.ndarray
    components: Any


class Mixed(Family):
    """Mixtures of a family, one for each class.

    Parameters
    ----------
    family : Family
        What describes a part.
    n_parts : int
        Parts of each class.
    prior : array, optional
        α of Dirichlet priors of the shares, (classes, parts).
    held : bool
        Whether shares are not learned.
    """

    extrapolates = False

    def __init__(self, family: Family, n_parts: int, prior: Any = None, held: bool = False):
        self.family, self.n_parts, self.alpha, self.held, self.exact = family, n_parts, prior, held, False

    def check(self, X: np.ndarray) -> None:
        self.family.check(X)

    def check_params(self, params: Any, n_classes: int, n_columns: int) -> None:
        params.check({"K": n_classes, "M": self.n_parts})
        self.family.check_params(params.components, n_classes * self.n_parts, n_columns)

    def start(self, block: Block, resp: Any) -> MixedParams:
        """Parts of a class are cut along the direction in which its rows spread most."""
        n, k = resp.shape
        Z, m = self.family.embed(block, np.random.default_rng(0)), self.n_parts
        parts = np.zeros((n, k, m))
        for c in range(k):
            rows = np.flatnonzero(resp[:, c] > 0.5 / k)
            apart = Z[rows] - Z[rows].mean(axis=0) if len(rows) else Z[rows]
            _, _, axes = np.linalg.svd(apart, full_matrices=False) if len(rows) > 1 else (0, 0, np.eye(Z.shape[1]))
            rank = np.argsort(np.argsort(apart @ axes[0], kind="stable"), kind="stable")
            parts[rows, c, np.minimum(rank * m // max(len(rows), 1), m - 1)] = resp[rows, c]
        weight = host(block.weight) @ parts.reshape(n, k * m)
        share = weight.reshape(k, m) + 0.1
        return MixedParams(share / share.sum(axis=1, keepdims=True), self.family.start(block, parts.reshape(n, k * m)))

    def _joint(self, params: MixedParams, block: Block) -> np.ndarray:
        """Log densities of rows and parts, (rows, classes, parts)."""
        found = host(self.family.log_prob(params.components, block))
        return found.reshape(len(block), *params.weight.shape) + params.log_weight

    def _shares(self, params: MixedParams, block: Block) -> np.ndarray:
        """Shares of the parts of each class given each row, (rows, classes, parts)."""
        with np.errstate(under="ignore"):
            return softmax(self._joint(params, block), axis=2)

    def log_prob(self, params: MixedParams, block: Block) -> np.ndarray:
        with np.errstate(under="ignore"):
            return logsumexp(self._joint(params, block), axis=2)

    def _parts(self, params: MixedParams, block: Block, resp: Any) -> np.ndarray:
        """Responsibilities of parts, (rows, classes · parts)."""
        with np.errstate(under="ignore"):
            return (self._shares(params, block) * host(resp)[:, :, None]).reshape(len(block), -1)

    def stats(self, params: MixedParams, block: Block, resp: Any) -> MixedStats:
        parts = self._parts(params, block, resp)
        return MixedStats(
            parts.sum(axis=0).reshape(params.weight.shape), self.family.stats(params.components, block, parts)
        )

    def m_step(self, stats: MixedStats, params: MixedParams) -> MixedParams:
        weight, counts = params.weight, stats.counts + (0.0 if self.alpha is None else self.alpha - 1.0)
        total = counts.sum(axis=1, keepdims=True)
        if not self.held:
            weight = np.where(total > 0, np.maximum(counts, 0.0) / np.where(total > 0, total, 1.0), weight)
        return MixedParams(weight, self.family.m_step(stats.components, params.components))

    def log_prior(self, params: MixedParams) -> float:
        value = self.family.log_prior(params.components)
        return value if self.alpha is None else value + float(((self.alpha - 1.0) * params.log_weight).sum())

    def redraw(self, params: MixedParams, block: Block, resp: Any, rng: np.random.Generator) -> MixedParams:
        parts = self._parts(params, block, resp)
        counts = rng.standard_gamma(parts.sum(axis=0).reshape(params.weight.shape) + 1.0)
        components = self.family.redraw(params.components, block, parts, rng)
        return MixedParams(counts / counts.sum(axis=1, keepdims=True), components)

    def permute(self, params: MixedParams, order: Any) -> MixedParams:
        each = (np.asarray(order)[:, None] * self.n_parts + np.arange(self.n_parts)).ravel()
        return MixedParams(params.weight[order], self.family.permute(params.components, each))

    def n_columns(self, params: MixedParams) -> int:
        return self.family.n_columns(params.components)

    def mean(self, params: MixedParams) -> np.ndarray:
        each = self.family.mean(params.components).reshape(*params.weight.shape, -1)
        return np.einsum("km,kmd->kd", params.weight, each)

    def variance(self, params: MixedParams) -> np.ndarray:
        mean, variance = (
            part.reshape(*params.weight.shape, -1)
            for part in (self.family.mean(params.components), self.family.variance(params.components))
        )
        return np.einsum("km,kmd->kd", params.weight, variance + mean**2) - self.mean(params) ** 2

    def sample(self, params: MixedParams, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        cumulated = np.cumsum(params.weight, axis=1)[classes]
        part = np.minimum((rng.random((len(classes), 1)) > cumulated).sum(axis=1), self.n_parts - 1)
        return self.family.sample(params.components, classes * self.n_parts + part, rng)

    def law(self, params: MixedParams, block: Block) -> Law:
        parts = self._shares(params, block)[block.missing_cells[0]]
        return MappedLaw(
            self.family.law(params.components, block),
            lambda weight: (weight[:, :, None] * parts).reshape(len(weight), -1),
        )

    def filled(self, params: MixedParams, block: Block, resp: Any) -> np.ndarray:
        return self.family.filled(params.components, block, self._parts(params, block, resp))

    def draw(self, params: MixedParams, block: Block, resp: Any, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        return self.family.draw(params.components, block, self._parts(params, block, resp), n_draws, rng)

    def embed(self, block: Block, rng: np.random.Generator) -> np.ndarray:
        return self.family.embed(block, rng)

    def n_parameters(self, params: MixedParams) -> int:
        return params.weight.size - len(params.weight) + self.family.n_parameters(params.components)
