"""`Ellipse`: {x : (x − c)ᵀ S⁻¹ (x − c) ≤ 1}, the one that holds 90 % of a group's rows.

c and S are the mean and covariance of the rows that are not far out by those of the three quarters that lie closest together,
found by steps of concentration from the medians; the size is that of a Gaussian with the rows' median distance, such that 82 to
97 % of them are held. So rows far out neither pull the ellipse nor blow it up, as they would by the covariance of all.
"""

from dataclasses import dataclass

import numpy as np

__all__ = ["Ellipse", "ellipse_of"]

CENTRAL = 0.75
LEAST, MOST = 0.82, 0.97
STRETCH = 3.321928094887362
"""Quantile 0.9 of χ² with two degrees of freedom, divided by its median."""
FEWEST = 3
N_STEPS = 10
FAR = 5.32
"""Quantile 0.975 of χ² with two degrees of freedom, divided by its median."""


@dataclass(frozen=True)
class Ellipse:
    """An ellipse on a plane.

    Attributes
    ----------
    centre : (2,) array
    shape : (2, 2) array
        S; square roots of its diagonal are how far the ellipse reaches along the axes.
    """

    centre: np.ndarray
    shape: np.ndarray

    @property
    def reach(self) -> np.ndarray:
        """How far it extends from its centre along each axis."""
        return np.sqrt(np.diag(self.shape))


def ellipse_of(places: np.ndarray) -> Ellipse | None:
    """The ellipse that holds about 90 % of rows at (n, 2) places; None where they are fewer than three."""
    n = len(places)
    if n < FEWEST:
        return None
    unit = np.maximum(places.std(axis=0), 1e-12 * max(np.abs(places).max(), 1e-300))
    Z = places / unit
    n_central = max(FEWEST, int(np.ceil(CENTRAL * n)))
    distance = ((Z - np.median(Z, axis=0)) ** 2).sum(axis=1)
    for step in range(N_STEPS):
        if step < N_STEPS - 2:
            chosen = np.argsort(distance, kind="stable")[:n_central]
        else:  # all but those far out: directions of three quarters alone would be rather uncertain
            chosen = distance <= max(FAR * np.median(distance), np.quantile(distance, LEAST, method="higher"))
        centre, shape, distance = _measured(Z, Z[chosen])
    return Ellipse(centre * unit, shape * _squared_size(distance) * np.outer(unit, unit))


def _measured(Z: np.ndarray, central: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and covariance of central rows, and squared distances of all by them."""
    # A trace of noise: rows on a line or at one place have an ellipse that is all but flat.
    centre, shape = central.mean(axis=0), np.cov(central.T) + 1e-9 * np.eye(2)
    gap = Z - centre
    return centre, shape, (gap @ np.linalg.inv(shape) * gap).sum(axis=1)


def _squared_size(distance: np.ndarray) -> float:
    """Squared distance up to which rows are held."""
    least, most = np.quantile(distance, LEAST, method="higher"), np.quantile(distance, MOST, method="lower")
    # A little more, so that rounding leaves out no row that lies on the ellipse.
    return 1.0001 * max(least, min(most, STRETCH * np.median(distance)))
