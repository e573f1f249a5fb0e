"""A class of noise beside those of a family: rows spread evenly over the box of the data.

    p(x | noise) = Π_j 1 / w_j,    w_j = max_j − min_j of a measurement, max_j − min_j + 1 of whole numbers and levels

over the observed cells j. Rows beyond the box have the same density, so that rows far out are noise too.

References
----------
Banfield and Raftery (1993), Model-based Gaussian and non-Gaussian clustering.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..kernels import backend, empty, host
from ..source.block import Block
from .family import Family, draw_classes, recalled
from .laws import Law, LevelLaw, QuantileLaw
from .product import Product

__all__ = ["Noise", "with_noise"]


def with_noise(family: Any, box: np.ndarray) -> Any:
    """A family with a class of noise after its own; of a product, every part with its part of that class.

    Parameters
    ----------
    family : Family
        What the other classes are.
    box : ndarray of shape (2, d)
        Least and largest cell of every column.
    """
    if not isinstance(family, Product):
        return Noise(family, box)
    return Product([(Noise(part, box[:, list(columns)]), columns) for part, columns in family.parts])


class Noise:
    """A family of K classes and one more, the last, of noise, which has no parameters; the rest is as in the family."""

    e_step, expect, filled = Family.e_step, Family.expect, Family.filled

    def __init__(self, family: Any, box: np.ndarray) -> None:
        self.family = family
        levels = getattr(family, "n_levels", None)
        low, high = box if levels is None else (np.zeros(len(levels)), np.array(levels) - 1.0)
        self.low, self.high, self.is_whole = low, high, family.whole or levels is not None
        width = high - low + float(self.is_whole)
        self.width = np.where(width > 0, width, 1.0)  # a column without spread tells nothing of noise

    def __getattr__(self, name: str) -> Any:
        if name == "family":
            raise AttributeError(name)
        return getattr(self.family, name)

    def start(self, block: Block, resp: Any) -> Any:
        return self.family.start(block, resp[:, :-1])

    def log_prob(self, params: Any, block: Block) -> Any:
        found = self.family.log_prob(params, block)
        out = empty((len(block), found.shape[1] + 1), found)
        out[:, :-1] = found
        out[:, -1] = recalled(block, ("noise", *self.width.tolist()), lambda: self._log_density(block, out))
        return out

    def _log_density(self, block: Block, like: Any) -> Any:
        seen = ~np.isnan(host(block.X))
        value = -(seen @ np.log(self.width))
        return value if backend(like) != "torch" else like.new_tensor(value)

    def stats(self, params: Any, block: Block, resp: Any) -> Any:
        return self.family.stats(params, block, resp[:, :-1])

    def redraw(self, params: Any, block: Block, resp: Any, rng: np.random.Generator) -> Any:
        return self.family.redraw(params, block, resp[:, :-1], rng)

    def coordinates(self, params: Any) -> Any:
        return self.family.coordinates(params)

    def score(self, stats: Any, params: Any) -> Any:
        return self.family.score(stats, params)

    def prior_score(self, params: Any) -> Any:
        return self.family.prior_score(params)

    def collapsed(self, params: Any, weight: np.ndarray) -> tuple[int, ...]:
        return self.family.collapsed(params, weight[:-1])

    def n_parameters(self, params: Any) -> int:
        """As of the family, and the volume of the box."""
        return self.family.n_parameters(params) + 1

    def distance(self, params: Any, block: Block) -> tuple[np.ndarray, np.ndarray]:
        square, n_seen = self.family.distance(params, block)
        if not n_seen.any():
            return square, n_seen
        return np.column_stack([square, np.full(len(block), np.inf)]), n_seen

    def sample(self, params: Any, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One row for every entry of `classes`, in which noise is −1."""
        own = self.family.sample(params, np.maximum(classes, 0), rng)
        return np.where(classes[:, None] < 0, self._uniform(own.shape, rng), own)

    def _uniform(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        place = rng.random(shape) * (self.high - self.low + float(self.is_whole))
        return self.low + (np.floor(place) if self.is_whole else place)

    def draw(self, params: Any, block: Block, resp: Any, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        X, classes = host(block.X).astype(np.float64), draw_classes(host(resp), n_draws, rng)
        n_own = resp.shape[1] - 1
        out = self._uniform((n_draws, *X.shape), rng)
        for t, known in enumerate(classes):
            own = self.family.draw(params, block, np.eye(n_own)[np.minimum(known, n_own - 1)], 1, rng)[0]
            out[t] = np.where((known == n_own)[:, None], np.where(np.isnan(X), out[t], X), own)
        return out

    def law(self, params: Any, block: Block) -> Law:
        law, columns = self.family.law(params, block), block.missing_cells[1]
        if isinstance(law, LevelLaw):
            return law.with_uniform()
        n_own = law.means.shape[1]
        return NoiseLaw(law, self.low[columns], self.high[columns], np.arange(n_own + 1) == n_own)


class NoiseLaw(QuantileLaw):
    """The law of other classes, and between them classes that are uniform from `low` to `high`.

    Parameters
    ----------
    law : Law
        Of the other classes.
    low, high : (m,) arrays
        Bounds of each cell, whole numbers included.
    noise : (K,) bool array
        Which classes are uniform.
    """

    def __init__(self, law: Any, low: np.ndarray, high: np.ndarray, noise: np.ndarray) -> None:
        self.law, self.low, self.high, self.noise = law, low, high, noise
        self.discrete = getattr(law, "discrete", False)
        self.size = np.maximum(high - low + float(self.discrete), np.finfo(float).tiny)
        variance = (self.size**2 - float(self.discrete)) / 12.0
        super().__init__(self._beside(law.means, 0.5 * (low + high)), self._beside(law.variances, variance))

    def _beside(self, own: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        """Values under the other classes with those under the uniform ones where these stand, (m, K)."""
        out = np.empty((len(own), len(self.noise)))
        out[:, ~self.noise], out[:, self.noise] = own, uniform[:, None]
        return out

    @classmethod
    def pooled(cls, laws: Sequence[Any]) -> Any:
        law = type(laws[0].law).pooled([each.law for each in laws])
        return cls(law, laws[0].low, laws[0].high, np.concatenate([each.noise for each in laws]))

    def parts(self, q: float) -> np.ndarray:
        place = np.ceil(q * self.size) - 1.0 if self.discrete else q * self.size
        return self._beside(self.law.parts(q), self.low + place)

    def cdf(self, y: np.ndarray, rows: Any) -> np.ndarray:
        below = (y - self.low[rows] + float(self.discrete)) / self.size[rows]
        return self._beside(self.law.cdf(y, rows), np.clip(below, 0.0, 1.0))

    def density(self, y: np.ndarray, rows: Any) -> np.ndarray:
        inside = (y >= self.low[rows]) & (y <= self.high[rows])
        return self._beside(self.law.density(y, rows), inside / self.size[rows])

    def quantile(self, q: float, weight: np.ndarray) -> np.ndarray:
        return (QuantileLaw if isinstance(self.law, QuantileLaw) else Law).quantile(self, q, weight)
