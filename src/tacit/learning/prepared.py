"""`Prepared`: how cells of a table become the columns of numbers that models take, learned from some rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..impute import GaussianImputer
from ..schema import Schema
from .design import design, moments_of

__all__ = ["Prepared"]


class Prepared:
    """A function of encoded cells that gives columns of numbers, imputed by a joint Gaussian where it has one."""

    def __init__(self, schema: Schema, center: np.ndarray, scale: np.ndarray, imputer: Any):
        self.schema, self.center, self.scale, self.imputer = schema, center, scale, imputer

    @classmethod
    def of(cls, schema: Schema, cells: np.ndarray, complete: bool) -> Self:
        """What some rows teach; `complete` where missing cells are to be imputed."""
        made = cls(schema, *moments_of(schema, cells), None)
        if complete:
            Z = made(cells)
            known = ~np.isnan(Z).all(axis=0)
            if np.isnan(Z).any():
                # A column of which nothing is known has its mean, which is 0.
                Z[:, ~known] = 0.0
            made.imputer = GaussianImputer(reg_covar=1e-4, parameter_draws=0, n_jobs=1).fit(Z).mixture_
        return made

    def __call__(self, cells: np.ndarray) -> np.ndarray:
        Z = design(self.schema, cells, self.center, self.scale)
        gone = np.isnan(Z)
        if self.imputer is None or not gone.any():
            return Z
        return self.imputer.impute(Z)
