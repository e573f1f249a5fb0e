"""`Baseline`: a rating before taste, r ≈ μ + b_u + b_i, with b_u ~ N(0, τ_u²), b_i ~ N(0, τ_i²) and noise σ².

Biases are posterior means by alternating ridge regressions, whose ridges σ² / τ² are learned by variational EM.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..arrays import Arrays, record
from ..declared import Numbers, Spec
from ..kernels import lazy
from .ratings import Ratings, Side

__all__ = ["Baseline", "fit_baseline", "weights_of"]

biases = lazy("biases")
N_PASSES, TOL = 50, 1e-4
MOST_RIDGE, LEAST_NOISE = 1e6, 1e-12


@record
class Baseline(Arrays):
    """Biases of users and items.

    Attributes
    ----------
    mean : float
        μ.
    user, item : (n,), (d,)
        Posterior means of biases; 0 of who has no ratings.
    user_variance, item_variance : (n,), (d,)
        Their posterior variances.
    user_prior, item_prior, noise : float
        τ_u², τ_i² and σ².
    """

    mean: float
    user: np.ndarray
    item: np.ndarray
    user_variance: np.ndarray
    item_variance: np.ndarray
    user_prior: float
    item_prior: float
    noise: float

    _saved: ClassVar[dict[str, Spec]] = {
        "mean": Numbers(), "user": Numbers("n"), "item": Numbers("d"), "user_variance": Numbers("n", low=0),
        "item_variance": Numbers("d", low=0), "user_prior": Numbers(low=0), "item_prior": Numbers(low=0), "noise": Numbers(low=0),
    }  # fmt: skip

    def expect(self, user: np.ndarray, item: np.ndarray) -> np.ndarray:
        """Ratings of pairs; a number of −1 has no bias."""
        return self.mean + _known(self.user, user, 0.0) + _known(self.item, item, 0.0)

    def variance(self, user: np.ndarray, item: np.ndarray) -> np.ndarray:
        """How uncertain the biases of pairs are."""
        return _known(self.user_variance, user, self.user_prior) + _known(self.item_variance, item, self.item_prior)

    def newcomer(self, item: np.ndarray, rating: np.ndarray) -> tuple[float, float]:
        """The bias of a user who is known by some ratings alone, and its variance."""
        ridge = ridge_of(self.noise, self.user_prior)
        left = rating - self.mean - self.item[item]
        return float(left.sum() / (len(left) + ridge)), self.noise / (len(left) + ridge) if ridge < MOST_RIDGE else 0.0


def _known(values: np.ndarray, number: np.ndarray, otherwise: float) -> np.ndarray:
    return np.where(number >= 0, values[number], otherwise) if len(values) else np.full(len(number), otherwise)


def ridge_of(noise: float, prior: float) -> float:
    """σ² / τ², within bounds."""
    return float(min(noise / prior, MOST_RIDGE)) if prior > 0 else MOST_RIDGE


def weights_of(side: Side) -> np.ndarray:
    """Weights of ratings by user or by item, 1 where none are given."""
    return np.ones(len(side.rows.data)) if side.weight is None else np.asarray(side.weight, dtype=np.float64)


def fit_baseline(ratings: Ratings) -> Baseline:
    """Biases of users and items, held back as far as the ratings ask for.

    Parameters
    ----------
    ratings : Ratings
    """
    sides = [(side.rows, weights_of(side)) for side in (ratings.by_user, ratings.by_item)]
    weight = sides[0][1]
    whole = float(weight.sum())
    mean = float(weight @ sides[0][0].data / whole)
    noise = max(float(weight @ (sides[0][0].data - mean) ** 2) / whole, LEAST_NOISE)
    bias: Any = [np.zeros(rows.shape[0]) for rows, _ in sides]
    mass: Any = [np.zeros(rows.shape[0]) for rows, _ in sides]
    variance, prior = [np.zeros_like(bias[0]), np.zeros_like(bias[1])], [0.2 * noise, 0.2 * noise]
    for _ in range(N_PASSES):
        before = noise, *prior
        for own in (1, 0):
            rows, along = sides[own]
            ridge = ridge_of(noise, prior[own])
            biases.row_biases(
                rows.indptr, rows.indices, rows.data, along, mean, bias[1 - own], ridge, bias[own], mass[own]
            )
            variance[own] = np.where(mass[own] > 0, noise / (mass[own] + ridge), prior[own])
            rated = mass[own] > 0
            prior[own] = float((bias[own][rated] ** 2 + variance[own][rated]).mean())
        rows = sides[0][0]
        left = biases.squares(rows.indptr, rows.indices, rows.data, weight, mean, *bias, *variance)
        noise = max(float(left) / whole, LEAST_NOISE)
        if np.allclose(before, (noise, *prior), rtol=TOL, atol=0.0):
            break
    return Baseline(mean, bias[0], bias[1], variance[0], variance[1], prior[0], prior[1], noise)


def deviations(rows: Any, baseline: Baseline, by_user: bool) -> np.ndarray:
    """What a baseline leaves of stored ratings, in the order in which they are stored by user or by item."""
    own, other = (baseline.user, baseline.item) if by_user else (baseline.item, baseline.user)
    left = np.empty(len(rows.data))
    biases.deviations(rows.indptr, rows.indices, rows.data, baseline.mean, own, other, left)
    return left
