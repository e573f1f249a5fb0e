"""`Shared`: a family whose parameters several states have in common, p(x | state) = p(x | θ_{g(state)})."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..declared import Numbers, Part, declare
from ..families import Family
from ..families.laws import Law, MappedLaw
from ..kernels import backend
from ..source import Block

__all__ = ["Shared"]


class Shared(Family):
    """A family of fewer classes than states.

    Parameters
    ----------
    family : Family
        What describes rows.
    groups : (states,) int array
        The class of each state, numbered from 0.
    """

    _saved = declare(family=Part(Family), groups=Numbers("S", low=0, kind="i"))

    def __init__(self, family: Family, groups: Any):
        self.family, self.groups = family, np.asarray(groups, dtype=np.int64)
        self.prior, self.exact, self.extrapolates = family.prior, family.exact, family.extrapolates
        self.whole, self.parts = family.whole, getattr(family, "parts", None)

    def __getattr__(self, name: str) -> Any:
        """What has no classes is what the family says."""
        if name.startswith("__") or name == "family":
            raise AttributeError(name)
        return getattr(self.family, name)

    def _added(self, resp: Any) -> Any:
        """Responsibilities of states added up to those of classes."""
        total = resp[:, : int(self.groups.max()) + 1] * 0.0
        for state, group in enumerate(self.groups.tolist()):
            total[:, group] += resp[:, state]
        return total

    def check(self, X: np.ndarray) -> None:
        self.family.check(X)

    def check_params(self, params: Any, n_classes: int, n_columns: int) -> None:
        self.family.check_params(params, int(self.groups.max()) + 1, n_columns)

    def start(self, block: Block, resp: Any) -> Any:
        return self.family.start(block, self._added(resp))

    def log_prob(self, params: Any, block: Block) -> Any:
        found = self.family.log_prob(params, block)
        groups = self.groups if backend(found) == "cpu" else found.new_tensor(self.groups).long()
        return found.T[groups].T

    def stats(self, params: Any, block: Block, resp: Any) -> Any:
        return self.family.stats(params, block, self._added(resp))

    def m_step(self, stats: Any, params: Any) -> Any:
        return self.family.m_step(stats, params)

    def redraw(self, params: Any, block: Block, resp: Any, rng: np.random.Generator) -> Any:
        return self.family.redraw(params, block, self._added(resp), rng)

    def log_prior(self, params: Any) -> float:
        return self.family.log_prior(params)

    def moving(self, params: Any, image: Any) -> bool:
        return self.family.moving(params, image)

    def collapsed(self, params: Any, weight: Any) -> tuple[int, ...]:
        total = np.bincount(self.groups, np.asarray(weight))
        found = self.family.collapsed(params, total)
        return tuple(int(state) for state in np.flatnonzero(np.isin(self.groups, found)))

    def permute(self, params: Any, order: Any) -> Any:
        if (self.groups[order] != self.groups).any():
            raise ValueError("states that share what they look like cannot be put in another order.")
        return params

    def n_columns(self, params: Any) -> int:
        return self.family.n_columns(params)

    def mean(self, params: Any) -> np.ndarray:
        return self.family.mean(params)[self.groups]

    def variance(self, params: Any) -> np.ndarray:
        return self.family.variance(params)[self.groups]

    def sample(self, params: Any, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self.family.sample(params, self.groups[classes], rng)

    def law(self, params: Any, block: Block) -> Law:
        return MappedLaw(self.family.law(params, block), self._added)

    def filled(self, params: Any, block: Block, resp: Any) -> np.ndarray:
        return self.family.filled(params, block, self._added(resp))

    def distance(self, params: Any, block: Block) -> tuple[np.ndarray, np.ndarray]:
        square, n_seen = self.family.distance(params, block)
        return square[:, self.groups] if square.shape[1] > 1 else square, n_seen

    def possible(self, cells: np.ndarray) -> np.ndarray:
        return self.family.possible(cells)

    def draw(self, params: Any, block: Block, resp: Any, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        return self.family.draw(params, block, self._added(resp), n_draws, rng)

    def embed(self, block: Block, rng: np.random.Generator) -> np.ndarray:
        return self.family.embed(block, rng)

    def free(self, params: Any) -> np.ndarray:
        return self.family.free(params)

    def bound(self, vector: np.ndarray, params: Any) -> Any:
        return self.family.bound(vector, params)

    def n_parameters(self, params: Any) -> int:
        return self.family.n_parameters(params)
