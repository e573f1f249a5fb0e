"""What few rows say of coefficients whose prior is uncertain as well: draws of them, which intervals are averaged over.

One prior variance for all, R² being what of the target's variance the columns may explain:

    w_j ~ N(0, σ² v),    R² = d v / (1 + d v) ~ U(0, 1),    p(σ²) ∝ 1/σ²

One for every coefficient, the horseshoe:

    w_j ~ N(0, σ² τ² ψ_j²),    τ, ψ_j ~ C⁺(0, 1),    p(σ²) ∝ 1/σ²

of columns with standard deviation 1. A maximum of the evidence takes precisions for known, and dropped coefficients for 0: of
few rows, too narrow.

References
----------
Carvalho, Polson and Scott (2010), The horseshoe estimator for sparse signals. Biometrika 97, 465–480.
Makalic and Schmidt (2016), A simple sampler for the horseshoe estimator. IEEE Signal Processing Letters 23, 179–182.
Bhattacharya, Chakraborty and Mallick (2016), Fast sampling with Gaussian scale mixture priors. Biometrika 103, 985–991.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..arrays import Arrays, record
from ..declared import SQUARES, Numbers, declare

__all__ = ["Known", "OnePrior", "OwnPriors", "drawn"]

MOST_CELLS = 1 << 20  # of a design that is kept
MOST_ROWS = 1 << 16  # cells of rows whose triangular factor costs next to nothing
FIRST, APART, N_DRAWS = 60, 2, 200
GRID = np.linspace(-12.0, 12.0, 97)  # log of d v, the ratio of what columns explain to what they leave


@record
class Known(Arrays):
    """Rows that stand for the rows: Z and T with ZᵀZ = Σ w x xᵀ and ZᵀT = Σ w x yᵀ of columns in units of `scale`.

    `residual` is what the targets' sums of squares have beside TᵀT, and `dof` the rows that tell of the noise.
    """

    Z: np.ndarray
    T: np.ndarray
    residual: np.ndarray
    scale: np.ndarray
    dof: float
    _saved = declare(
        Z=Numbers("q d", high=SQUARES), T=Numbers("q m", high=SQUARES), residual=Numbers("m", low=0, high=SQUARES),
        scale=Numbers("d", above=0), dof=Numbers(high=SQUARES),
    )  # fmt: skip

    @classmethod
    def of(cls, design: Any, fit_intercept: bool) -> Known | None:
        """What a design says; None where that is too large to be kept."""
        if min(design.shape) * design.shape[1] > MOST_CELLS:
            return None
        variance, d = design.variances, design.shape[1]
        scale = np.sqrt(np.where(variance > 1e-26 * (variance + design.center**2), variance, 1.0))
        dof = np.float64(design.weight - float(fit_intercept))
        if isinstance(design.X, np.ndarray) and design.X.size <= MOST_ROWS:
            R: np.ndarray = np.linalg.qr(np.hstack([design.X / scale, design.Y]), mode="r")  # type: ignore[assignment]
            return cls(R[:d, :d], R[:d, d:], (R[d:, d:] ** 2).sum(axis=0), scale, dof)
        spectrum = design.scaled(scale).spectrum
        root = np.sqrt(spectrum.values)[:, None]
        return cls(root * spectrum.axes.T, spectrum.scores / root, spectrum.residual, scale, dof)

    def along_axes(self) -> Known:
        """The same with rows of Z that are orthogonal."""
        left, size, right = np.linalg.svd(self.Z, full_matrices=False)
        kept = size > 1e-12 * size.max(initial=0.0)
        T = left[:, kept].T @ self.T
        rest = self.residual + np.maximum((self.T**2).sum(axis=0) - (T**2).sum(axis=0), 0.0)
        return Known(size[kept, None] * right[kept], T, rest, self.scale, self.dof)


class OnePrior:
    """Draws of one target's coefficients under one prior variance."""

    n_idle = 0

    def draw(self, known: Known, target: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
        """Coefficients, and the variance of the noise."""
        Z, t, rest, dof = known.Z, known.T[:, target], known.residual[target], known.dof
        e = np.einsum("ij,ij->i", Z, Z)  # rows of Z are orthogonal
        mean = e.sum() / max(dof, 1.0)
        if not mean > 0:
            return np.zeros(Z.shape[1]), rest / rng.chisquare(dof)
        r = mean / np.exp(GRID)[:, None]
        squares = rest + (t**2 * r / (e + r)).sum(axis=1)
        log_p = -0.5 * np.log1p(e / r).sum(axis=1) - 0.5 * dof * np.log(np.maximum(squares, 1e-300))
        log_p += GRID - 2.0 * np.logaddexp(0.0, GRID)
        p = np.cumsum(np.exp(log_p - log_p.max()))
        at = min(int(np.searchsorted(p, rng.random() * p[-1])), len(p) - 1)
        noise, r = squares[at] / rng.chisquare(dof), r[at, 0]
        return _coefficients(Z, t, np.full(Z.shape[1], 1.0 / r), noise, rng), noise


class OwnPriors:
    """Draws of one target's coefficients under a prior variance of each, by Gibbs' sampler, whose state it keeps."""

    n_idle = FIRST

    def __init__(self) -> None:
        self.shape: Any = None

    def draw(self, known: Known, target: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
        """Coefficients, and the variance of the noise, after one sweep."""
        Z, t, d = known.Z, known.T[:, target], known.Z.shape[1]
        if self.shape is None:
            self.shape, self.size, self.outer, self.inner = np.ones(d), 1.0 / d, 1.0, np.ones(d)
        v = np.clip(self.size * self.shape, 1e-12, 1e12)
        squares = known.residual[target] + _unexplained(Z, t, v)
        noise = squares / rng.chisquare(known.dof)
        w = _coefficients(Z, t, v, noise, rng)
        square = 0.5 * w**2 / max(noise, 1e-300)
        # 1/x of an inverse gamma x is a gamma variable.
        self.shape = (1.0 / self.inner + square / self.size) / rng.standard_exponential(d)
        self.size = (1.0 / self.outer + float((square / self.shape).sum())) / rng.gamma(0.5 * (d + 1))
        self.size = min(max(self.size, 1e-10), 1e10)
        self.inner = (1.0 + 1.0 / self.shape) / rng.standard_exponential(d)
        self.outer = (1.0 + 1.0 / self.size) / rng.standard_exponential()
        return w, noise


def _dual(Z: np.ndarray, v: np.ndarray) -> np.ndarray:
    """I + Z V Zᵀ."""
    return np.eye(len(Z)) + (Z * v) @ Z.T


def _unexplained(Z: np.ndarray, t: np.ndarray, v: np.ndarray) -> float:
    """tᵀ (I + Z V Zᵀ)⁻¹ t."""
    return float(t @ cho_solve(cho_factor(_dual(Z, v)), t)) if len(Z) else 0.0


def _coefficients(Z: np.ndarray, t: np.ndarray, v: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
    """A draw of coefficients given their prior variances in units of the noise."""
    deviation = np.sqrt(noise)
    before = deviation * np.sqrt(v) * rng.standard_normal(len(v))
    if not len(Z):
        return before
    apart = t - Z @ before - deviation * rng.standard_normal(len(t))
    return before + v * (Z.T @ cho_solve(cho_factor(_dual(Z, v)), apart))


def drawn(known: Known, make: Any, n_draws: int = N_DRAWS) -> tuple[np.ndarray, np.ndarray]:
    """Draws of coefficients (n_draws, m, d), of columns as they came, and of variances of the noise (n_draws, m).

    Parameters
    ----------
    known : Known
    make : callable
        `OnePrior` or `OwnPriors`.
    n_draws : int
    """
    rng, m, d = np.random.default_rng(0), known.T.shape[1], len(known.scale)
    known = known.along_axes()
    coef, noise = np.empty((n_draws, m, d)), np.empty((n_draws, m))
    for t in range(m):
        prior = make()
        for _ in range(prior.n_idle):
            prior.draw(known, t, rng)
        for k in range(n_draws):
            for _ in range(APART if prior.n_idle else 1):
                found = prior.draw(known, t, rng)
            coef[k, t], noise[k, t] = found[0] / known.scale, found[1]
    return coef, noise
