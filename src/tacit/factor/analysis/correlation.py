"""`Correlation`: what factor analysis learns from, S = D R D with D the deviations of the columns.

Maximum-likelihood factor analysis does not depend on the units of the columns, so that R says all of complete rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...arrays import Arrays, record
from ...families.gaussian import LOG_2PI
from ...kernels import host
from ...source import Block, Source
from ..moments import moments

__all__ = [
    "Correlation", "correlation_of", "degrees_of_freedom", "ledermann_bound", "n_parameters", "variance_spectrum",
]  # fmt: skip

PRIOR_ROWS = 10.0  # as if rows of this weight more had shown no covariance: pairs that few rows observe say little


@dataclass(frozen=True)
class Correlation:
    """Weight, means, deviations and correlations of columns."""

    weight: float  # of all rows together
    cells: np.ndarray  # (d,), weight of the rows that observe each column
    mean: np.ndarray
    deviation: np.ndarray  # 1 of a constant column
    varies: np.ndarray  # (d,) bool, columns that are not constant
    matrix: np.ndarray  # (v, v), of the columns that vary

    @classmethod
    def of(
        cls, weight: float, mean: np.ndarray, covariance: np.ndarray, cells: np.ndarray | None = None
    ) -> Correlation:
        """From a mean and a covariance."""
        variance = np.diagonal(covariance)
        varies = variance > (1e-12 * np.abs(mean)) ** 2
        deviation = np.sqrt(np.where(varies, variance, 1.0))
        matrix = (covariance / np.outer(deviation, deviation))[np.ix_(varies, varies)]
        matrix = 0.5 * (matrix + matrix.T)
        np.fill_diagonal(matrix, 1.0)
        cells = np.full(len(mean), float(weight)) if cells is None else cells
        return cls(float(weight), cells, mean, deviation, varies, matrix)

    def _volume(self, floor: float) -> float:
        """What units and constant columns, which have `floor` for a variance, add to log|Σ|."""
        constant = len(self.mean) - len(self.matrix)
        return len(self.mean) * LOG_2PI + 2.0 * np.log(self.deviation).sum() + constant * np.log(floor)

    def loglik(self, discrepancy: float, floor: float) -> float:
        """Log-likelihood of complete rows where log|Σ| + tr Σ⁻¹R has this value."""
        return -0.5 * self.weight * (discrepancy + self._volume(floor))

    def discrepancy(self, loglik: float, floor: float) -> float:
        """The value of log|Σ| + tr Σ⁻¹R at a log-likelihood."""
        return -2.0 * loglik / self.weight - self._volume(floor)

    @property
    def log_det(self) -> float:
        """log|R|; −∞ where columns are collinear, as they are where there are no more rows than columns."""
        values = np.linalg.eigvalsh(self.matrix)
        return float(np.log(values).sum()) if values[0] > 1e-12 * values[-1] else -np.inf


@record
class PairSums(Arrays):
    """Sums over the rows that observe both of two columns: weight, the first column, and the product of the two."""

    weight: float
    both: np.ndarray
    first: np.ndarray
    product: np.ndarray


def correlation_of(source: Source) -> tuple[Correlation, bool]:
    """The `Correlation` of rows, and whether no cell is missing."""
    found = moments(source)
    if found.incomplete:
        return _pairwise(source, found.mean), False
    return Correlation.of(found.weight, found.mean, found.covariance), True


def _pairwise(source: Source, origin: np.ndarray) -> Correlation:
    """The `Correlation` of rows with missing cells: covariances from the rows that observe both columns, made positive."""
    sums = source.sum(partial(_pair_sums, origin))
    cells = np.diagonal(sums.both).copy()
    if not cells.all():
        raise ValueError(f"column {int(np.argmin(cells))} has no observed value; drop it before fitting.")
    shift = np.diagonal(sums.first) / cells
    moved = sums.first * shift
    product = sums.product - moved - moved.T + sums.both * np.outer(shift, shift)
    prior = np.full_like(product, PRIOR_ROWS)
    np.fill_diagonal(prior, 0.0)
    found = Correlation.of(sums.weight, origin + shift, product / (sums.both + prior), cells)
    return replace(found, matrix=_positive(found.matrix))


def _pair_sums(origin: np.ndarray, block: Block) -> PairSums:
    X, weight = host(block.X), host(block.weight)
    seen = ~np.isnan(X)
    x = np.where(seen, X - origin, 0.0)
    seen = seen.astype(np.float64)
    weighted = x * weight[:, None]
    return PairSums(float(weight.sum()), (seen.T * weight) @ seen, weighted.T @ seen, weighted.T @ x)


def _positive(matrix: np.ndarray) -> np.ndarray:
    """The correlation matrix next to a symmetric one that may have negative eigenvalues."""
    values, vectors = np.linalg.eigh(matrix)
    matrix = (vectors * np.maximum(values, 1e-3)) @ vectors.T
    root = np.sqrt(np.diagonal(matrix))
    return matrix / np.outer(root, root)


def degrees_of_freedom(n_features: int, n_factors: int) -> int:
    """((d − k)² − d − k) / 2: by how many numbers a covariance of d columns is more than k factors of it."""
    return ((n_features - n_factors) ** 2 - n_features - n_factors) // 2


def n_parameters(n_features: int, n_varying: int, n_factors: int) -> int:
    """Free parameters: means, noise variances, and loadings up to a rotation of the columns that vary.

    The covariance of these has no more than any covariance of them.
    """
    v, k = n_varying, n_factors
    return 2 * n_features - v + min(v + v * k - k * (k - 1) // 2, v * (v + 1) // 2)


def ledermann_bound(n_features: int) -> int:
    """The greatest number of factors with which degrees of freedom are not negative."""
    return max(k for k in range(n_features + 1) if degrees_of_freedom(n_features, k) >= 0)


def variance_spectrum(source: Source) -> np.ndarray:
    """Shares of the variance of the standardised columns of a source along all their principal axes, falling."""
    found, _ = correlation_of(source)
    values = np.maximum(np.linalg.eigvalsh(found.matrix)[::-1], 0.0)
    return values / values.sum()
