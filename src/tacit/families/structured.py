"""Gaussians whose covariances share volume, shape or orientation: Σ_k = λ_k D_k A_k D_kᵀ, named by three letters.

The floor is kept by a ridge: where the likeliest covariances of a structure fall below it, those of W_k / n_k + t diag(scale) are
taken, with the smallest t that will do and only if they are no worse than the previous ones, which are kept otherwise.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..declared import Text
from ..engine import SingularError
from .dense import DenseStats, FullGaussian, FullParams, class_means
from .diagonal import DiagonalGaussian, DiagonalParams, SphericalGaussian
from .gaussian import SINGULAR, Gaussian
from .structures import STRUCTURES, covariances, deviance, n_covariance_parameters, variances

__all__ = ["StructuredDense", "StructuredDiagonal", "StructuredSpherical", "without_empty"]

SCARCE = 1e-12  # what an empty class counts, relative to the largest: it keeps its own, and moves nothing


def above_floor(
    learn: Callable, sound: Callable, cost: Callable | None, previous: np.ndarray, floor: float
) -> np.ndarray:
    """learn(ridge) with the smallest ridge that makes it sound, or `previous` where there is a cost and that is cheaper.

    It is cheaper where a ridge is needed, and where columns differ so much in scale that axes are found to few digits.

    Raises
    ------
    SingularError
        If there is no floor to keep and the estimate is singular.
    """
    with np.errstate(all="ignore"):
        for ridge in (0.0, *floor * 10.0 ** np.arange(14)):
            try:
                found = learn(ridge)
                if np.isfinite(found).all() and sound(found):
                    return found if cost is None or _no_worse(cost(found), cost(previous)) else previous
            except np.linalg.LinAlgError:
                pass
            if floor == 0.0:
                raise SingularError(SINGULAR)
    return previous


def _no_worse(cost: float, before: float) -> bool:
    """Whether a cost is no higher than before, but for rounding."""
    return cost <= before + 1e-12 * abs(before)


def without_empty(W: np.ndarray, count: np.ndarray, previous: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scatter and counts in which an empty class has a very few rows that look as its previous covariance says."""
    empty = count <= 0
    count = np.where(empty, SCARCE * count.max(), count)
    return np.where(empty[:, None, None], count[:, None, None] * previous, W), count


class Structured(Gaussian):
    """What structured families share; mixed into a Gaussian family that has as many covariances as classes.

    Parameters
    ----------
    structure : str
        One of `tacit.families.STRUCTURES`.
    floor : float
        Smallest variance in any direction, relative to the data's variance.
    prior : NormalInverseWishart or NormalInverseGamma, optional
        Prior of every class, on covariances of the structure; the M-step then gives the posterior mode.
    """

    _saved = Gaussian._saved | {"structure": Text(tuple(STRUCTURES))}

    def __init__(self, structure: str, *, floor: float = 1e-6, prior: Any = None) -> None:
        super().__init__(floor=floor, prior=prior)
        self.structure = structure

    def evidence(self, stats: Any, params: Any) -> tuple:
        raise NotImplementedError(
            "the posterior of covariances that share a part is no conjugate one per class; use map for its mode."
        )

    def coordinates(self, params: Any) -> Any:
        raise NotImplementedError(
            f"covariances of structure {self.structure} have no coordinates that are one to one; "
            "use full, tied, diag or spherical."
        )

    def bound(self, vector: np.ndarray, params: Any) -> Any:
        return self.inside(super().bound(vector, params), params)

    def redraw(self, params: Any, block: Any, resp: Any, rng: np.random.Generator) -> Any:
        return self.inside(super().redraw(params, block, resp, rng), params)

    def n_parameters(self, params: Any) -> int:
        return params.mean.size + n_covariance_parameters(self.structure, *params.mean.shape)


class StructuredDiagonal(Structured, DiagonalGaussian):
    """Independent columns with a common shape or volume: EEI, VEI, EVI. A covariance is its diagonal, (classes, d).

    Parameters
    ----------
    structure : str
        One of these names.
    floor : float, default=1e-6
        Smallest variance in any direction, relative to the data's variance.
    prior : NormalInverseGamma, optional
        The M-step then gives the posterior mode.
    """

    def variances(
        self, squares: np.ndarray, count: np.ndarray, params: DiagonalParams, structured: bool = True
    ) -> np.ndarray:
        seen, before = count > 0, params.variance
        cells = np.where(seen, count, SCARCE * count.max())
        filled = np.where(seen, squares, cells * before)
        return above_floor(
            lambda ridge: variances(self.structure, filled + ridge * cells * params.scale, cells, before),
            lambda found: bool((found >= self.least(params) * (1 - 1e-9)).all() and (found > 0).all()),
            (lambda found: float((cells * np.log(found) + filled / found).sum())) if structured else None,
            before,
            self.floor,
        )

    def inside(self, params: DiagonalParams, fallback: Any = None) -> DiagonalParams:
        count = np.ones(params.mean.shape)
        previous = params if fallback is None else fallback
        covariance = self.variances(params.variance, count, previous, structured=fallback is not None)
        return self.params(params.mean, covariance, params.origin, params.scale)


class StructuredSpherical(Structured, SphericalGaussian):
    """One variance for all classes and columns: EII. It is given for each class, (classes,), as for VII.

    Parameters
    ----------
    structure : str
        One of these names.
    floor : float, default=1e-6
        Smallest variance in any direction, relative to the data's variance.
    prior : NormalInverseGamma, optional
        The M-step then gives the posterior mode.
    """

    def variances(self, squares: np.ndarray, count: np.ndarray, params: DiagonalParams) -> np.ndarray:
        return self.floored(np.full(len(squares), squares.sum() / count.sum()), params)

    def inside(self, params: DiagonalParams, fallback: Any = None) -> DiagonalParams:
        covariance = np.full(len(params.mean), params.covariance.mean())
        return self.params(params.mean, covariance, params.origin, params.scale)


class StructuredDense(Structured, FullGaussian):
    """Full covariances with common parts: VEE, EVE, VVE, EEV, VEV, EVV. Each class has its own matrix, (classes, d, d).

    Parameters
    ----------
    structure : str
        One of these names.
    floor : float, default=1e-6
        Smallest variance in any direction, relative to the data's variance.
    prior : NormalInverseWishart, optional
        The M-step then gives the posterior mode.
    """

    def _likeliest(self, W: np.ndarray, count: np.ndarray, previous: np.ndarray) -> np.ndarray:
        """The covariances of the structure, whatever the floor."""
        return covariances(self.structure, W, count, previous)

    def _learn(
        self, W: np.ndarray, count: np.ndarray, previous: np.ndarray, scale: np.ndarray, structured: bool = True
    ) -> np.ndarray:
        """The likeliest covariances (classes, d, d) above the floor; empty classes count for next to nothing.

        Previous ones that are no worse are kept where they are of the structure.
        """
        W, count = without_empty(W, count, previous)
        unit = np.multiply.outer(np.sqrt(scale), np.sqrt(scale))
        ridges = count[:, None, None] * np.diag(scale)

        def sound(found: np.ndarray) -> bool:
            value = np.linalg.eigvalsh(found / unit)
            least = np.maximum(self.floor, 1e-13 * value[:, -1]) * (1 - 1e-9)
            return bool((value[:, 0] >= least).all() and (value > 1e-13).all())

        return above_floor(
            lambda ridge: self._likeliest(W + ridge * ridges, count, previous),
            # In units of the data, since matrices of columns whose scales are far apart are inverted to few digits.
            sound, (lambda found: deviance(W / unit, count, found / unit)) if structured else None, previous, self.floor,
        )  # fmt: skip

    def m_step(self, stats: DenseStats, params: FullParams) -> FullParams:
        stats, divisor = self.with_prior_rows(stats, params)
        alive, count, shift = class_means(stats, params)
        W = stats.second - count[:, None, None] * shift[:, :, None] * shift[:, None, :]
        covariance = self._learn(W, np.where(alive, divisor, 0.0), params.covariance, params.scale)
        return FullParams(params.origin + shift, covariance, params.origin, params.scale)

    def inside(self, params: FullParams, fallback: Any = None) -> FullParams:
        previous = params if fallback is None else fallback
        count = np.ones(len(params.mean))
        covariance = self._learn(params.covariance, count, previous.covariance, params.scale, fallback is not None)
        return self.params(params.mean, covariance, params.origin, params.scale)
