"""Beliefs about class weights, which learn from class sizes N_k.

Dirichlet: π ~ Dir(α), α_k ← α_k + N_k        sticks: π_k = v_k Π_{j<k} (1 − v_j), v_k ~ Beta(a_k, b_k),
                                                       a_k ← a_k + N_k, b_k ← b_k + Σ_{j>k} N_j
"""

from typing import Any, Self

import numpy as np
from scipy.special import betaln, digamma, gammaln

from ..arrays import Arrays, record
from ..declared import Numbers, declare

__all__ = ["Dirichlet", "Sticks"]


@record
class Dirichlet(Arrays):
    """Weights of a finite mixture: π ~ Dir(α)."""

    concentration: np.ndarray
    _saved = declare(concentration=Numbers("K", above=0))

    def after(self, counts: np.ndarray) -> Self:
        """The belief after seeing classes of these sizes."""
        return type(self)(self.concentration + counts)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """A draw of π."""
        return rng.dirichlet(self.concentration)

    @property
    def expected(self) -> np.ndarray:
        """E π."""
        return self.concentration / self.concentration.sum()

    @property
    def expected_log(self) -> np.ndarray:
        """E log π."""
        return digamma(self.concentration) - digamma(self.concentration.sum())

    def divergence(self, prior: Any) -> float:
        """KL from the prior to this belief."""
        new, old = self.concentration, prior.concentration
        normalisers = gammaln(new.sum()) - gammaln(new).sum() - gammaln(old.sum()) + gammaln(old).sum()
        return float(normalisers + (new - old) @ self.expected_log)


@record
class Sticks(Arrays):
    """Weights of a truncated Dirichlet process: class k takes a share of what the classes before it left.

    What the last class leaves belongs to classes beyond the truncation, so the weights sum to less than 1 by a little.
    """

    taken: np.ndarray
    left: np.ndarray
    _saved = declare(taken=Numbers("K", above=0), left=Numbers("K", above=0))

    def after(self, counts: np.ndarray) -> Self:
        """The belief after seeing classes of these sizes."""
        beyond = np.append(np.cumsum(counts[:0:-1])[::-1], 0.0)
        return type(self)(self.taken + counts, self.left + beyond)

    @property
    def expected(self) -> np.ndarray:
        """E π, scaled to sum to 1."""
        return _broken(self.taken / (self.taken + self.left))

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """A draw of π, scaled to sum to 1."""
        return _broken(rng.beta(self.taken, self.left))

    @property
    def expected_log(self) -> np.ndarray:
        """E log π."""
        taken, left = self._logs
        return taken + np.append(0.0, np.cumsum(left)[:-1])

    @property
    def _logs(self) -> tuple[np.ndarray, np.ndarray]:
        """E log v and E log (1 − v)."""
        both = digamma(self.taken + self.left)
        return digamma(self.taken) - both, digamma(self.left) - both

    def divergence(self, prior: Any) -> float:
        """KL from the prior to this belief."""
        taken, left = self._logs
        normalisers = betaln(prior.taken, prior.left) - betaln(self.taken, self.left)
        return float((normalisers + (self.taken - prior.taken) * taken + (self.left - prior.left) * left).sum())


def _broken(share: np.ndarray) -> np.ndarray:
    """Pieces of a stick of which each class takes a share of what is left."""
    weight = share * np.cumprod(np.append(1.0, 1.0 - share[:-1]))
    return weight / weight.sum()
