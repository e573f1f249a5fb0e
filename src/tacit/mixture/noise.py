"""A mixture with a class of noise: p(x) = Σ_k π_k p(x | θ_k) + π_0 p(x | noise), uniform over the box of the data.

Half of the starts take for noise what has no near neighbours: the volume D^d of the ball that reaches the m-th neighbour is
Gamma(m, λ) with one λ among the classes and a smaller one in the noise. The others start with a small share of every row.

References
----------
Fraley and Raftery (1998), How many clusters? Which clustering method? Answers via model-based cluster analysis.
Byers and Raftery (1998), Nearest-neighbor clutter removal for estimating features in spatial point processes.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import expit

from ..families.noise import with_noise
from ..kernels import host
from ..source import Block, Source
from .model import MixtureModel, MixtureParams
from .seeds import seed_responsibilities

__all__ = ["NoiseModel", "box_of"]

NEIGHBOURS = 12
MOST_ROWS = 2000
"""Rows among which neighbours are sought."""
SHARE = 0.05
"""Of every row that is noise at the start, where neighbours do not tell."""


def box_of(source: Source) -> np.ndarray:
    """Least and largest observed cell of every column among rows of positive weight, (2, d)."""

    def bounds(block: Block) -> np.ndarray:
        X = host(block.X)[host(block.weight) > 0]
        low, high = (np.where(np.isnan(X), end, X) for end in (np.inf, -np.inf))
        return np.array([low.min(axis=0, initial=np.inf), -high.max(axis=0, initial=-np.inf)], dtype=np.float64)

    low, high = np.min(list(source.map(bounds)), axis=0)
    return np.array([low, -high])


def scattered(Z: np.ndarray, weight: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Probability of each place to be noise, by how far from it its nearest neighbours of a certain weight lie."""
    n, d = Z.shape
    among = np.arange(n) if n <= MOST_ROWS else np.sort(rng.choice(n, MOST_ROWS, replace=False))
    m = min(float(NEIGHBOURS), 0.2 * weight[among].sum())
    reach = np.concatenate([_reach(part, Z[among], weight[among], m) for part in np.array_split(Z, -(-n // 500))])
    log_reach = np.log(np.maximum(reach, 1e-12))
    volume = np.exp(np.clip(d * (log_reach - np.average(log_reach, weights=weight)), -50.0, 50.0))
    noise = (volume > np.average(volume, weights=weight)).astype(float)
    for _ in range(50):
        total = np.array([weight @ (1.0 - noise), weight @ noise]) + 1e-9
        rate = m * total / (np.array([weight @ ((1.0 - noise) * volume), weight @ (noise * volume)]) + 1e-300)
        noise = expit(np.log(total[1] / total[0]) + m * np.log(rate[1] / rate[0]) - (rate[1] - rate[0]) * volume)
    return noise


def _reach(Z: np.ndarray, among: np.ndarray, weight: np.ndarray, m: float) -> np.ndarray:
    """How far from each place one has to go to meet rows of weight m."""
    apart = cdist(Z, among)
    order = np.argsort(apart, axis=1)
    met = np.argmax(np.cumsum(weight[order], axis=1) > m, axis=1)
    rows = np.arange(len(Z))
    return apart[rows, order[rows, met]]


class NoiseModel(MixtureModel):
    """A mixture of `n_components` classes of one family and a last class of noise over a box; see `MixtureModel`.

    Assignments (rows, n_components) leave to noise what they lack of 1.
    """

    def __init__(self, family: Any, n_components: int, box: np.ndarray, init: str, weight_prior: float | None):
        super().__init__(with_noise(family, box), n_components, init, weight_prior)
        self.n_classes, self.one_start = n_components + 1, False

    def init(self, sample: Block, rng: np.random.Generator) -> Any:
        return self.start(sample, self.seed(sample, rng))

    def seed(self, sample: Block, rng: np.random.Generator) -> np.ndarray:
        Z = self.family.embed(sample, rng)
        if "scattered" not in sample.local:
            sample.local["scattered"] = scattered(Z, sample.weight, np.random.default_rng(0))
        noise = sample.local["scattered"] if rng.random() < 0.5 else SHARE
        rest = 1.0 - np.where(sample.labels >= 0, 0.0, noise)
        dense = replace(sample, weight=sample.weight * np.maximum(rest, 1e-9))
        return rest[:, None] * seed_responsibilities(Z, dense, self.n_components, rng, self.init_method)

    def _whole(self, resp: np.ndarray) -> np.ndarray:
        """Assignments to all classes; noise has a small share of every row at least."""
        if resp.shape[1] == self.n_classes:
            return resp
        own = np.maximum(resp.sum(axis=1, keepdims=True), 1e-12)
        noise = np.maximum(1.0 - own, 0.1 * SHARE)
        return np.hstack([resp * ((1.0 - noise) / own), noise])

    def start(self, sample: Block, resp: np.ndarray) -> Any:
        return super().start(sample, self._whole(resp))

    def follow(self, sample: Block, resp: np.ndarray) -> Any:
        return super().follow(sample, self._whole(resp))

    def permute(self, params: Any, order: np.ndarray) -> Any:
        own = order[order < self.n_components]
        weight = params.weight[np.append(own, self.n_components)]
        return MixtureParams(weight, self.family.permute(params.components, own))

    def sample(self, params: Any, n_rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Rows and their classes, ordered by class; noise is −1."""
        counts = rng.multinomial(n_rows, params.weight / params.weight.sum())
        classes = np.repeat(np.append(np.arange(self.n_components), -1), counts)
        return self.family.sample(params.components, classes, rng), classes
