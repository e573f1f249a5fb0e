"""What each group of a mixture was learned from: a group that has seen no cell of a column cannot say what one is.

n_kj = Σ_i P(group k | row i) [cell j of row i is observed],    group k knows column j where n_kj ≥ 2

Below two there is no spread to learn, and the group's parameters are where the fit's start or its regularisation left them. A
missing cell is left empty where such groups have more than a tenth of its row; below, the other groups share their part.
"""

from typing import Any

import numpy as np

from ..kernels import host
from ..source import Block, Source

__all__ = ["Knowledge", "count_observed"]

FEWEST = 2.0
"""Observed cells from which a group knows a column: the least that have a spread."""
MOST_IGNORANT = 0.1
"""Probability of groups that do not know a column up to which a cell is filled: no more than a 90 % interval leaves out."""


def count_observed(model: Any, params: Any, source: Source) -> np.ndarray | None:
    """Observed cells of every column in every group, (K, d), rows counted by how probable the group is; None where all are."""
    if all(source.map(lambda block: block.patterns.is_complete)):
        return None

    def count(block: Block) -> np.ndarray:
        return host(model.posterior(params, block)[0]).T @ ~np.isnan(host(block.X))

    found = source.sum(count)
    found[model.n_components :] = np.maximum(
        found[model.n_components :], FEWEST
    )  # noise needs no rows to know its range
    return found


class Knowledge:
    """Which groups know which columns, from the cells that `count_observed` counted."""

    def __init__(self, observed: np.ndarray):
        self.knows = np.asarray(observed) >= FEWEST

    @property
    def is_whole(self) -> bool:
        """Whether every group knows every column."""
        return bool(self.knows.all())

    def empty(self, cells: Any, resp: np.ndarray) -> np.ndarray:
        """Which missing cells are left empty, (rows, d) bool; `resp` are the probabilities of the groups, (rows, K)."""
        return np.isnan(host(cells)) & (resp @ ~self.knows > MOST_IGNORANT)

    def shared(self, resp: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Probabilities of the groups for cells of these columns, without groups that do not know them."""
        return _normalised(resp * self.knows[:, column].T, resp)

    def shared_rows(self, resp: np.ndarray, cells: np.ndarray, empty: np.ndarray) -> np.ndarray:
        """Probabilities of the groups for whole rows, without those that do not know a cell to be filled."""
        ignorant = (np.isnan(cells) & ~empty) @ ~self.knows.T
        return _normalised(np.where(ignorant, 0.0, resp), resp)


def _normalised(weight: np.ndarray, resp: np.ndarray) -> np.ndarray:
    total = weight.sum(axis=1, keepdims=True)
    return np.where(total > 0, weight / np.where(total > 0, total, 1.0), resp)
