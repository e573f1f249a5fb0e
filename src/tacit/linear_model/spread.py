"""What is known of coefficients and features: `Spread`, `Features`, and the `Estimate` that learning makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Arrays, record
from ..declared import SQUARES, Numbers, declare
from .design import Design, Spectrum

__all__ = ["Estimate", "Features", "Spread", "features_of"]

MOST_FEATURES = 4000  # columns whose covariance is kept


@record
class Spread(Arrays):
    """Covariances of coefficients in units of the noise variance, one for every target or one for all.

    In units of the columns' scale C = R Rᵀ or, of fewer rows than columns, C = φ I − R Rᵀ; φ is 0 in the former case.
    """

    free: np.ndarray
    root: np.ndarray
    scale: np.ndarray
    _saved = declare(
        free=Numbers("k", low=0, high=SQUARES), root=Numbers("k d q", high=SQUARES), scale=Numbers("d", above=0)
    )

    @classmethod
    def primal(cls, root: np.ndarray, scale: np.ndarray | None = None) -> Spread:
        """The spread C = R Rᵀ of all targets."""
        return cls(np.zeros(1), root[None], np.ones(len(root)) if scale is None else scale)

    @classmethod
    def along(cls, spectrum: Spectrum, penalty: np.ndarray, scale: np.ndarray | None = None) -> Spread | None:
        """The spread (G + penalty)⁻¹ for a penalty or one for each target; None where it has no bound."""
        (d, r), e = spectrum.axes.shape, spectrum.values
        penalty, scale = np.atleast_1d(penalty).astype(np.float64), np.ones(d) if scale is None else scale
        if r == d:
            return cls(np.zeros(len(penalty)), spectrum.axes / np.sqrt(e + penalty[:, None, None]), scale)
        if not (penalty > 0).all():
            return None
        share = np.sqrt(e / (penalty[:, None] * (e + penalty[:, None])))
        return cls(1.0 / penalty, spectrum.axes * share[:, None], scale)

    def dense(self) -> np.ndarray:
        """C, (k, d, d)."""
        product = self.root @ self.root.transpose(0, 2, 1)
        free = self.free[:, None, None]
        return np.where(free > 0, free * np.eye(len(self.scale)) - product, product) / np.outer(self.scale, self.scale)

    def of(self, X: np.ndarray) -> np.ndarray:
        """xᵀ C x of rows, (n, k)."""
        X = X / self.scale
        found = [
            squares if free == 0 else np.maximum(free * np.einsum("ij,ij->i", X, X) - squares, 0.0)
            for free, squares in zip(self.free, (((X @ root) ** 2).sum(axis=1) for root in self.root))
        ]
        return np.array(found).T

    def draw(self, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        """Draws (n_draws, k, d) of N(0, C)."""
        if not self.free.any():
            noise = rng.standard_normal((n_draws, len(self.root), self.root.shape[2]))
            return np.einsum("kdq,nkq->nkd", self.root, noise) / self.scale
        value, axes = np.linalg.eigh(self.dense())
        noise = rng.standard_normal((n_draws, *value.shape))
        return np.einsum("kdq,nkq->nkd", axes * np.sqrt(np.maximum(value, 0.0))[:, None], noise)


@record
class Features(Arrays):
    """Weight, mean and covariance of the features, by which missing ones are integrated out."""

    weight: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray
    _saved = declare(weight=Numbers(low=0), mean=Numbers("d"), covariance=Numbers("d d", form="scatter", high=SQUARES))


@dataclass(frozen=True)
class Estimate:
    """What was learned of a `Design`.

    Attributes
    ----------
    coef : (m, d)
    noise : (m,)
        Noise variances that rows are expected with: maximum likelihood, or the posterior mode.
    covariance : (m, d, d) or None
        Posterior covariances of the coefficients, where the objective integrates over them.
    objective : float
        What the objective has beside the likelihood of rows: a log prior, less the information that the posterior has on it.
    spread : Spread or None
        Covariances of the coefficients in units of the noise variance.
    freedom : (m,)
        Effective number of coefficients.
    penalty : (m, d) or float
        Precisions of the coefficients' prior times the noise variance, infinite where they are 0.
    start : ndarray or None
        Hyperparameters to go on from in the next step of EM.
    more : dict
        Further fitted attributes.
    """

    coef: np.ndarray
    noise: np.ndarray
    covariance: np.ndarray | None = None
    objective: float = 0.0
    spread: Spread | None = None
    freedom: np.ndarray | None = None
    penalty: Any = 0.0
    start: np.ndarray | None = None
    more: Any = None


def features_of(design: Design) -> Features | None:
    """The features' distribution, where more rows than columns tell of it."""
    d = design.shape[1]
    if design.wide or d > MOST_FEATURES:
        return None
    covariance = design.gram / design.weight
    if not design.x_mean.any() and design.center.any():
        covariance = covariance - np.outer(design.center, design.center)
    return Features(np.array(design.weight), design.center, covariance)
