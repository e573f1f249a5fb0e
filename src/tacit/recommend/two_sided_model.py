"""The model of two-sided mixtures that the engine learns.

    P(r | i, j) = Σ_kl P(k | i) P(l | j) P(r | k, l)

A unit is a user, whose memberships P(k | i) are its memory; those of items, P(l | j), and the tables P(r | k, l) are parameters.
All have Dirichlet priors, so that a pass raises the posterior: the E-step spreads each rating over pairs of types, and every
membership and table is then its share of these counts and of the prior's.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..arrays import Arrays, record
from ..declared import Numbers, Spec
from ..engine import Model
from ..kernels import host, lazy
from ..source import Block

__all__ = ["TwoSidedModel", "TypeParams", "TypeStats"]

two_sided = lazy("two_sided")
SHARES: dict[str, Any] = {"low": 0, "high": 1}


@record
class TypeParams(Arrays):
    """What is known of items and of types.

    Attributes
    ----------
    item : (d, L)
        P(type | item).
    table : (levels, K, L)
        P(level | types of user and item).
    """

    item: np.ndarray
    table: np.ndarray

    _saved: ClassVar[dict[str, Spec]] = {
        "item": Numbers("d L", total=1.0, **SHARES),
        "table": Numbers("R K L", **SHARES),
    }


@record
class TypeStats(Arrays):
    """Expected ratings by item and its type (d, L), and by level and both types (levels, K, L)."""

    loglik: float
    weight: float
    item: np.ndarray
    table: np.ndarray


@record
class UserTypes(Arrays):
    """What a user remembers: P(type | user)."""

    types: np.ndarray


class TwoSidedModel(Model):
    """Users and items are of several types each; rows are [number of item, number of level], and units are users.

    Parameters
    ----------
    n_user_types, n_item_types, n_items, n_levels : int
    user_prior, item_prior : float
        Ratings that each type of a user, or of an item, is given beforehand.
    table_prior : (levels,)
        Ratings at each level that every pair of types is given beforehand.
    n_updates : int
        Updates of users whose memberships are found from scratch.
    """

    remembers = True

    def __init__(
        self, n_user_types: int, n_item_types: int, n_items: int, n_levels: int, user_prior: float = 0.3,
        item_prior: float = 0.1, table_prior: Any = 1.0, n_updates: int = 30,
    ):  # fmt: skip
        self.n_user_types, self.n_item_types = n_user_types, n_item_types
        self.n_items, self.n_levels = n_items, n_levels
        self.user_prior, self.item_prior, self.n_updates = float(user_prior), float(item_prior), n_updates
        self.table_prior = np.broadcast_to(np.asarray(table_prior, dtype=np.float64), n_levels).copy()

    def init(self, sample: Block, rng: np.random.Generator) -> TypeParams:
        """Items of random types, and tables about the shares of levels in a sample."""
        level = host(sample.X)[:, 1]
        level = level[~np.isnan(level)].astype(int)
        share = (np.bincount(level, minlength=self.n_levels) + 1.0) / (len(level) + self.n_levels)
        item = np.maximum(rng.dirichlet(np.full(self.n_item_types, 0.5), self.n_items), 1e-6)
        table = share[:, None, None] * rng.gamma(2.0, 0.5, (self.n_levels, self.n_user_types, self.n_item_types))
        return TypeParams(item / item.sum(axis=1, keepdims=True), table / table.sum(axis=0))

    def check_params(self, params: TypeParams, n_columns: int) -> None:
        params.check({"K": self.n_user_types, "L": self.n_item_types, "d": self.n_items, "R": self.n_levels})

    def memory(self, block: Block) -> UserTypes:
        return UserTypes(np.full((block.n_units, self.n_user_types), 1.0 / self.n_user_types))

    def e_step(self, params: TypeParams, block: Block) -> TypeStats:
        kept: Any = self.memory(block) if block.memory is None else block.memory
        counts = np.zeros_like(params.item), np.zeros_like(params.table)
        loglik = self._update(params, block, kept.types, *counts)
        return TypeStats(float(loglik.sum()), float(host(block.weight).sum()), *counts)

    def _update(self, params: TypeParams, block: Block, types: np.ndarray, *counts: np.ndarray) -> np.ndarray:
        cells = np.ascontiguousarray(host(block.X), dtype=np.float64)
        along = types, params.item, params.table, self.user_prior
        return two_sided.memberships(cells, host(block.weight), block.offsets, *along, *counts)

    def m_step(self, stats: TypeStats, params: TypeParams) -> TypeParams:
        item = stats.item + self.item_prior
        whole = item.sum(axis=1, keepdims=True)
        item = np.where(whole > 0, item / np.where(whole > 0, whole, 1.0), params.item)
        table = stats.table + self.table_prior[:, None, None]
        whole = table.sum(axis=0)
        return TypeParams(item, np.where(whole > 0, table / np.where(whole > 0, whole, 1.0), params.table))

    def log_prior(self, params: TypeParams) -> float:
        value = self.item_prior * np.log(params.item).sum() if self.item_prior > 0 else 0.0
        held = self.table_prior > 0
        return float(value + (self.table_prior[held, None, None] * np.log(params.table[held])).sum())

    def posterior(self, params: TypeParams, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """P(type | user) of the users of a block, found from scratch, and the log probability of each one's ratings."""
        types = self.memory(block).types
        nothing = np.zeros((0, self.n_item_types)), np.zeros((0, self.n_user_types, self.n_item_types))
        for _ in range(self.n_updates):
            loglik = self._update(params, block, types, *nothing)
        return types, loglik

    def n_parameters(self, params: TypeParams) -> int:
        return params.item.size - len(params.item) + params.table.size - params.table[0].size
