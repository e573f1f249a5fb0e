"""The evidence of a linear model with one prior variance, along the axes on which its design is diagonal.

log p(y | α, λ) = ½ (d log λ + n log α − α RSS − λ |w|² − Σ_j log(λ + α e_j) − n log 2π),    w = (λ/α + e)⁻¹ scores

α is the precision of the noise and λ that of the coefficients. Every step costs as much as there are axes.

References
----------
MacKay (1992), Bayesian interpolation.
Tipping (2001), Sparse Bayesian learning and the relevance vector machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .design import Spectrum

__all__ = ["UPDATES", "Evidence", "Hyper"]

UPDATES = ("fixed_point", "em", "given")


@dataclass(frozen=True)
class Hyper:
    """Shapes and rates of the gamma priors of α and λ."""

    alpha_1: float
    alpha_2: float
    lambda_1: float
    lambda_2: float

    def of(self, unit: float) -> Hyper:
        """The priors of targets that were not divided by the root of `unit`."""
        return Hyper(self.alpha_1, self.alpha_2 * unit, self.lambda_1, self.lambda_2 * unit)


class Evidence:
    """The evidence of one target.

    Parameters
    ----------
    spectrum : Spectrum
        The design.
    target : int
        Which target.
    weight : float
        Total weight of the rows.
    hyper : Hyper
        Priors of α and λ.
    """

    def __init__(self, spectrum: Spectrum, target: int, weight: float, hyper: Hyper) -> None:
        self.e, self.axes = spectrum.values, spectrum.axes
        self.scores, self.residual = spectrum.scores[:, target], float(spectrum.residual[target])
        self.d, self.n, self.hyper = spectrum.axes.shape[0], weight, hyper
        self.best = self.scores**2 / self.e

    def coef(self, alpha: float, lambda_: float) -> np.ndarray:
        """Coefficients along the axes."""
        return self.scores / (self.e + lambda_ / alpha)

    def squares(self, alpha: float, lambda_: float) -> float:
        """Residual sum of squares; what the axes leave is added to what they cannot explain, so that nothing cancels."""
        ratio = lambda_ / alpha
        return self.residual + float(self.best @ (ratio / (self.e + ratio)) ** 2) if ratio else self.residual

    def freedom(self, alpha: float, lambda_: float) -> float:
        """Effective number of coefficients, γ."""
        return float((self.e / (self.e + lambda_ / alpha)).sum())

    def log_det(self, alpha: float, lambda_: float) -> float:
        """Log determinant of the posterior precision."""
        return float(np.log(lambda_ + alpha * self.e).sum()) + (self.d - len(self.e)) * np.log(lambda_)

    def prior(self, alpha: float, lambda_: float) -> float:
        """Log density of the hyperparameters, without its constant."""
        h = self.hyper
        return h.lambda_1 * np.log(lambda_) - h.lambda_2 * lambda_ + h.alpha_1 * np.log(alpha) - h.alpha_2 * alpha

    def value(self, alpha: float, lambda_: float) -> float:
        """The log evidence, with the log density of the hyperparameters."""
        length = float(self.coef(alpha, lambda_) @ self.coef(alpha, lambda_))
        fit = self.d * np.log(lambda_) + self.n * np.log(alpha) - alpha * self.squares(alpha, lambda_)
        rest = lambda_ * length + self.log_det(alpha, lambda_) + self.n * np.log(2 * np.pi)
        return self.prior(alpha, lambda_) + 0.5 * (fit - rest)

    def information(self, alpha: float, lambda_: float) -> float:
        """Log density of the hyperparameters, less what the posterior of the coefficients knows beyond their prior."""
        coef = self.coef(alpha, lambda_)
        trace = float((1.0 / (lambda_ + alpha * self.e)).sum()) + (self.d - len(self.e)) / lambda_
        length = self.d - lambda_ * (float(coef @ coef) + trace)
        return 0.5 * (self.d * np.log(lambda_) - self.log_det(alpha, lambda_) + length) + self.prior(alpha, lambda_)

    def updated(self, alpha: float, lambda_: float, how: str) -> tuple[float, float]:
        """One step of MacKay's fixed point, or of EM, which never lowers the evidence."""
        h, gamma = self.hyper, self.freedom(alpha, lambda_)
        length = float(self.coef(alpha, lambda_) @ self.coef(alpha, lambda_))
        squares = self.squares(alpha, lambda_)
        if how == "fixed_point":
            count, rows = gamma, self.n - gamma
        else:
            count, rows, squares = float(self.d), self.n, squares + gamma / alpha
            length += float((1.0 / (lambda_ + alpha * self.e)).sum()) + (self.d - len(self.e)) / lambda_
        tiny = np.finfo(float).tiny
        lambda_ = (count + 2 * h.lambda_1) / max(length + 2 * h.lambda_2, tiny)
        return (rows + 2 * h.alpha_1) / max(squares + 2 * h.alpha_2, tiny), min(max(lambda_, 1e-150), 1e150)

    def maximum(
        self, alpha: float, lambda_: float, how: str, max_iter: int, tol: float, scored: bool
    ) -> tuple[float, float, list[float], int]:
        """α, λ, the evidence after every step where it is `scored`, and the number of steps.

        It has settled when the coefficients together move by less than `tol`.
        """
        scores, before, step = [], None, 0
        while step < max_iter:
            step += 1
            coef = self.coef(alpha, lambda_)
            if scored:
                scores.append(self.value(alpha, lambda_))
            if how == "given":
                break
            alpha, lambda_ = self.updated(alpha, lambda_, how)
            if before is not None and np.abs(self.axes @ (coef - before)).sum() < tol:
                break
            before = coef
        if scored:
            scores.append(self.value(alpha, lambda_))
        return alpha, lambda_, scores, step
