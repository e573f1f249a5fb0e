"""Variational message passing: a product of factors over conjugate variables, each of which has a distribution of its own.

    q_v ∝ exp Σ_f E_{q without v}[log f],    log p(data) ≥ Σ_f E_q[log f] + Σ_v H(q_v)

Every factor sends each of its variables the expectation of its log as natural parameters; a variable adds them up. Variables
are Gaussian vectors and precisions with gamma distributions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import digamma, gammaln, log_ndtr

from ..notes import Note

__all__ = ["Factor", "GammaPrior", "NormalPrior", "Precision", "ProbitRows", "Rows", "Vector", "pass_messages"]

LOG_2PI = np.log(2.0 * np.pi)


@dataclass
class Vector:
    """A Gaussian vector, N(mean, covariance)."""

    mean: np.ndarray
    covariance: np.ndarray

    def take(self, messages: list[tuple[np.ndarray, np.ndarray]]) -> None:
        """Set the distribution from messages Λ and Λμ."""
        precision = sum(message[0] for message in messages)
        self.covariance = np.linalg.inv(precision)
        self.covariance = 0.5 * (self.covariance + self.covariance.T)
        self.mean = self.covariance @ sum(message[1] for message in messages)

    @property
    def entropy(self) -> float:
        """−E[log q]."""
        return 0.5 * float(len(self.mean) * (1.0 + LOG_2PI) + np.linalg.slogdet(self.covariance)[1])


@dataclass
class Precision:
    """A precision, Gamma(shape, rate)."""

    shape: float
    rate: float

    @property
    def mean(self) -> float:
        """E[τ]."""
        return self.shape / self.rate

    @property
    def log(self) -> float:
        """E[log τ]."""
        return float(digamma(self.shape) - np.log(self.rate))

    def take(self, messages: list[tuple[float, float]]) -> None:
        """Set the distribution from messages: what they add to shape − 1 and to the rate."""
        self.shape = 1.0 + sum(message[0] for message in messages)
        self.rate = float(sum(message[1] for message in messages))

    @property
    def entropy(self) -> float:
        """−E[log q]."""
        a = self.shape
        return float(a - np.log(self.rate) + gammaln(a) + (1.0 - a) * digamma(a))


class Factor:
    """A factor of the joint density."""

    variables: tuple[Any, ...]

    def message(self, variable: Any) -> tuple:
        """Natural parameters of E[log f] as a function of the variable."""
        raise NotImplementedError

    def expected(self) -> float:
        """E[log f], what the factor adds to the bound."""
        raise NotImplementedError


@dataclass
class GammaPrior(Factor):
    """τ ~ Gamma(shape, rate)."""

    precision: Precision
    shape: float
    rate: float

    def __post_init__(self) -> None:
        self.variables = (self.precision,)

    def message(self, variable: Any) -> tuple[float, float]:
        return self.shape - 1.0, self.rate

    def expected(self) -> float:
        constant = self.shape * np.log(self.rate) - gammaln(self.shape)
        return float(constant + (self.shape - 1.0) * self.precision.log - self.rate * self.precision.mean)


@dataclass
class NormalPrior(Factor):
    """w ~ N(m, (τ Λ)⁻¹), with τ a variable, or 1 where there is none; Λ is diagonal, and 0 where the prior is flat."""

    vector: Vector
    center: np.ndarray
    weight: np.ndarray
    precision: Precision | None = None

    def __post_init__(self) -> None:
        self.variables = (self.vector,) if self.precision is None else (self.vector, self.precision)
        self.rank = int((self.weight > 0).sum())

    def _square(self) -> float:
        apart = self.vector.mean - self.center
        return float(self.weight @ (apart**2 + np.diag(self.vector.covariance)))

    def message(self, variable: Any) -> tuple:
        if variable is not self.vector:
            return 0.5 * self.rank, 0.5 * self._square()
        tau = 1.0 if self.precision is None else self.precision.mean
        return np.diag(tau * self.weight), tau * self.weight * self.center

    def expected(self) -> float:
        log, mean = (0.0, 1.0) if self.precision is None else (self.precision.log, self.precision.mean)
        constant = np.log(self.weight[self.weight > 0]).sum() - self.rank * LOG_2PI
        return 0.5 * float(constant + self.rank * log - mean * self._square())


@dataclass
class Rows(Factor):
    """y_i ~ N(x_i·w, 1/(c_i τ)) for rows of weight c_i, which count c_i times."""

    vector: Vector
    precision: Precision
    X: np.ndarray
    y: np.ndarray
    count: np.ndarray

    def __post_init__(self) -> None:
        self.variables = (self.vector, self.precision)
        weighted = self.X * self.count[:, None]
        self.gram, self.cross = weighted.T @ self.X, weighted.T @ self.y
        self.n = float(self.count.sum())

    def _square(self) -> float:
        rest = self.y - self.X @ self.vector.mean
        return float(self.count @ rest**2 + np.sum(self.gram * self.vector.covariance))

    def message(self, variable: Any) -> tuple:
        if variable is not self.vector:
            return 0.5 * self.n, 0.5 * self._square()
        return self.precision.mean * self.gram, self.precision.mean * self.cross

    def expected(self) -> float:
        return 0.5 * (self.n * (self.precision.log - LOG_2PI) - self.precision.mean * self._square())


@dataclass
class ProbitRows(Factor):
    """y_i = [z_i > 0], z_i ~ N(x_i·w, 1); q(z_i) is the normal cut at 0, which is part of the factor."""

    vector: Vector
    X: np.ndarray
    sign: np.ndarray  # of y: −1 and 1
    count: np.ndarray
    latent: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        self.variables = (self.vector,)
        self.gram = (self.X * self.count[:, None]).T @ self.X

    def message(self, variable: Any) -> tuple:
        reach = self.sign * (self.X @ self.vector.mean)
        # φ(s) / Φ(s), in logs: far out both underflow.
        ratio = np.exp(-0.5 * (reach**2 + LOG_2PI) - log_ndtr(reach))
        latent = self.sign * (reach + ratio)
        return self.gram, self.X.T @ (self.count * latent)

    def expected(self) -> float:
        """With the entropy of z: Σ log Φ(±x·m) − ½ tr(XᵀX S), at the best q(z)."""
        reach = self.sign * (self.X @ self.vector.mean)
        return float(self.count @ log_ndtr(reach) - 0.5 * np.sum(self.gram * self.vector.covariance))


def pass_messages(factors: list[Factor], max_iter: int, tol: float) -> tuple[list[float], Note]:
    """Update every variable in turn until the bound settles: the bound after every round, and why rounds stopped."""
    variables = list({id(v): v for factor in factors for v in factor.variables}.values())
    bounds: list[float] = []
    for _ in range(max_iter):
        for variable in variables:
            variable.take(
                [factor.message(variable) for factor in factors if any(v is variable for v in factor.variables)]
            )
        bounds.append(sum(factor.expected() for factor in factors) + sum(variable.entropy for variable in variables))
        if len(bounds) > 1 and bounds[-1] - bounds[-2] <= tol * max(1.0, abs(bounds[-1])):
            return bounds, Note("tol", "a round raised the bound by less than tol")
    return bounds, Note("max_iter", "max_iter={max_iter} rounds were made", max_iter=max_iter)
