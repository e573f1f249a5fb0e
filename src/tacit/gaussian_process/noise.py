"""Variances of the noise of rows: given, the same in groups of rows and learned, or those of heavy tails.

v_i = alpha_i + s_g(i) / w_i
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..checks import as_numpy

__all__ = ["RowNoise", "checked_alpha"]


@dataclass(frozen=True)
class RowNoise:
    """Noise variances of rows.

    Attributes
    ----------
    alpha : float or (n,) array
        What is given.
    group : (n,) int array
        Number of the group of each row.
    scale : (G,) array
        s of every group; without any, there is no more than `alpha`.
    weight : float or (n,) array
        w, 1 but for heavy tails.
    spread : float
        Variance of the targets, about which s is sought.
    """

    alpha: Any
    group: np.ndarray
    scale: np.ndarray
    weight: Any = 1.0
    spread: float = 1.0

    @property
    def theta(self) -> np.ndarray:
        """Logarithms of s."""
        return np.log(self.scale)

    @property
    def bounds(self) -> np.ndarray:
        """Where they are sought."""
        return np.tile(np.log(self.spread * np.array([1e-8, 1e3])), (len(self.scale), 1))

    def at(self, theta: np.ndarray) -> RowNoise:
        """The same with other logarithms of s."""
        return replace(self, scale=np.exp(theta)) if len(theta) else self

    def taken(self, rows: np.ndarray) -> RowNoise:
        """That of some of the rows."""
        alpha, weight = (each[rows] if np.ndim(each) else each for each in (self.alpha, self.weight))
        return replace(self, alpha=alpha, weight=weight, group=self.group[rows] if len(self.scale) else self.group)

    @property
    def variance(self) -> Any:
        """V."""
        return self.alpha + self.scale[self.group] / self.weight if len(self.scale) else self.alpha

    def pull(self, slopes: np.ndarray) -> np.ndarray:
        """Slopes with respect to v as slopes with respect to logarithms of s."""
        if not len(self.scale):
            return np.zeros(0)
        own = slopes * self.scale[self.group] / self.weight
        return np.bincount(self.group, own, len(self.scale))


def checked_alpha(alpha: Any, n_rows: int) -> Any:
    """Given noise variances: a number, or one a row."""
    alpha = np.asarray(as_numpy(alpha), dtype=np.float64)
    bad = alpha[~(np.isfinite(alpha) & (alpha >= 0))]
    if bad.size:
        raise ValueError(f"alpha holds {bad.flat[0]:g}; variances of noise must be finite and not negative.")
    if alpha.ndim == 0 or alpha.shape == (1,):
        return float(alpha.ravel()[0])
    if alpha.shape != (n_rows,):
        raise ValueError(
            f"alpha must be a scalar or an array with same number of entries as y. ({alpha.shape[0]} != {n_rows})"
        )
    return alpha
