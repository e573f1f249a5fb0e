"""`Prepared`: how cells of a table become the columns of numbers that models take, learned from some rows.

A number further from those seen than half their range is taken to be at that distance: few rows say nothing of what is beyond,
where straight lines would go on, and one such row can be more wrong than thousands of others together.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..impute import GaussianImputer
from ..schema import Schema
from .design import design, moments_of

__all__ = ["Prepared"]

BEYOND = 0.5  # of the range of the numbers seen


class Prepared:
    """A function of encoded cells that gives columns of numbers, imputed by a joint Gaussian where it has one."""

    def __init__(
        self, schema: Schema, center: np.ndarray, scale: np.ndarray, imputer: Any, reach: np.ndarray | None = None
    ):
        self.schema, self.center, self.scale, self.imputer, self.reach = schema, center, scale, imputer, reach

    @classmethod
    def of(cls, schema: Schema, cells: np.ndarray, complete: bool) -> Self:
        """What some rows teach; `complete` where missing cells are to be imputed."""
        made = cls(schema, *moments_of(schema, cells), None)
        Z = made(cells)
        made.reach = _reach(Z)
        if complete:
            known = ~np.isnan(Z).all(axis=0)
            if np.isnan(Z).any():
                # A column of which nothing is known has its mean, which is 0.
                Z[:, ~known] = 0.0
            made.imputer = GaussianImputer(reg_covar=1e-4, parameter_draws=0, n_jobs=1).fit(Z).mixture_
        return made

    def __call__(self, cells: np.ndarray) -> np.ndarray:
        Z = design(self.schema, cells, self.center, self.scale)
        Z = Z if self.reach is None else np.clip(Z, *self.reach)
        gone = np.isnan(Z)
        if self.imputer is None or not gone.any():
            return Z
        return self.imputer.impute(Z)


def _reach(Z: np.ndarray) -> np.ndarray:
    """The least and the largest number that columns are taken to have, (2, p)."""
    low, high = np.fmin.reduce(Z, axis=0, initial=np.inf), np.fmax.reduce(Z, axis=0, initial=-np.inf)
    known = low <= high
    low, high = np.where(known, low, 0.0), np.where(known, high, 0.0)
    return np.stack([low - BEYOND * (high - low), high + BEYOND * (high - low)])
