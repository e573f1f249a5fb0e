"""Label switching undone: the classes of every draw are numbered as those of the fit, by whom they have in common.

order = argmax over permutations of Σ_k Σ_i p(k | x_i, θ̂) p(order(k) | x_i, θ)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..kernels import host
from ..source import Source

__all__ = ["Relabel"]

MOST_ROWS = 1000


class Relabel:
    """Numbers the classes of parameters as those of a fit.

    Parameters
    ----------
    model : Model
    params : Arrays
        Of the fit.
    source : Source
        Rows, of which some are enough to tell which classes are which.
    n_classes : int
        Classes that may be put in another order.
    """

    def __init__(self, model: Any, params: Any, source: Source, n_classes: int) -> None:
        self.model, self.n_classes, self.n_switched = model, n_classes, 0
        if n_classes > 1:
            self.block = source.sample(min(source.n_rows, MOST_ROWS), np.random.default_rng(0))
            self.reference = self._memberships(params)

    def _memberships(self, params: Any) -> np.ndarray:
        found = host(self.model.posterior(params, self.block)[0]) * host(self.block.weight)[:, None]
        return found[:, : self.n_classes]

    def __call__(self, params: Any) -> Any:
        if self.n_classes < 2:
            return params
        order = linear_sum_assignment(-self.reference.T @ self._memberships(params))[1]
        if (order == np.arange(self.n_classes)).all():
            return params
        self.n_switched += 1
        return self.model.permute(params, order)
