"""What targets say of weights of a basis: the posterior given the precisions of the weights, exact or by Laplace's method.

    p(w | t, α) = N(μ, Σ),  Σ⁻¹ = A + Φᵀ B Φ,  A μ = Φᵀ r        r: slope of log p(t | f) at f = Φ μ,  B: minus its curvature

A weight belongs to a column of the basis and to a score: there is one score for numbers and for two classes, and one for each of
several classes, whose curvature links them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri

from ..engine.newton import solve_definite
from ..kernels import lazy

__all__ = ["ClassTargets", "NumberTargets", "Posterior", "Weights"]

softmax = lazy("softmax")

STEPS, SETTLED = 100, 1e-10
LOG_2PI = np.log(2.0 * np.pi)


@dataclass(frozen=True)
class Weights:
    """The weights that are not 0.

    Attributes
    ----------
    column, score : (M,) int
        The column of the basis, and the score, that each belongs to.
    alpha, mean : (M,)
        Their precisions, and where to look for their mean.
    """

    column: np.ndarray
    score: np.ndarray
    alpha: np.ndarray
    mean: np.ndarray

    @classmethod
    def none(cls) -> Weights:
        """No weights."""
        return cls(np.zeros(0, int), np.zeros(0, int), np.zeros(0), np.zeros(0))

    def with_one(self, column: int, score: int, alpha: float) -> Weights:
        """One more weight."""
        return Weights(
            np.append(self.column, column),
            np.append(self.score, score),
            np.append(self.alpha, alpha),
            np.append(self.mean, 0.0),
        )

    def kept(self, keep: np.ndarray) -> Weights:
        """Some of the weights."""
        return Weights(self.column[keep], self.score[keep], self.alpha[keep], self.mean[keep])

    def changed(self, alpha: np.ndarray, mean: np.ndarray | None = None) -> Weights:
        """The same weights with other precisions."""
        return Weights(self.column, self.score, alpha, self.mean if mean is None else mean)


@dataclass(frozen=True)
class Posterior:
    """The distribution of the weights.

    Attributes
    ----------
    mean, covariance : (M,), (M, M)
    rest : (n, scores)
        r.
    bend : (n, scores, scores)
        B.
    evidence : float
        log p(t | α).
    """

    mean: np.ndarray
    covariance: np.ndarray
    rest: np.ndarray
    bend: np.ndarray
    evidence: float


def _inverse(alpha: np.ndarray, gram: np.ndarray) -> tuple[np.ndarray, float]:
    """Σ = (A + G)⁻¹, and log |A Σ|, in units in which the prior is the identity: no eigenvalue is then below 1."""
    unit = 1.0 / np.sqrt(alpha)
    if not len(alpha):
        return np.zeros((0, 0)), 0.0
    inner = gram * np.outer(unit, unit)
    inner.flat[:: len(inner) + 1] += 1.0
    lower, failed = dpotrf(inner, lower=1, clean=1)
    if failed:  # G is not positive definite, by rounding
        values, vectors = np.linalg.eigh(inner)
        values, vectors = np.maximum(values, 1.0), vectors * unit[:, None]
        return (vectors / values) @ vectors.T, -float(np.log(values).sum())
    root = dtrtri(lower, lower=1)[0] * unit
    return root.T @ root, -2.0 * float(np.log(np.diagonal(lower)).sum())


class NumberTargets:
    """Numbers t = f + noise of variance σ².

    Parameters
    ----------
    t, weight : (n,) arrays
    noise : float
        σ².
    """

    n_scores = 1

    def __init__(self, t: np.ndarray, weight: np.ndarray, noise: float, known: Any = None):
        self.t, self.weight, self.noise = t, weight, noise
        self.known: dict[str, np.ndarray] = {} if known is None else known  # products that do not depend on σ²

    def posterior(self, basis: np.ndarray, weights: Weights) -> Posterior:
        """The exact posterior."""
        Phi, beta = basis[:, weights.column], self.weight / self.noise
        gram = self._columns(basis, weights)[weights.column] / self.noise
        covariance, log_share = _inverse(weights.alpha, gram)
        mean = covariance @ (Phi.T @ (beta * self.t))
        apart = self.t - Phi @ mean
        value = -0.5 * float(beta @ apart**2 + weights.alpha @ mean**2)
        value += 0.5 * log_share - 0.5 * float(self.weight.sum()) * (LOG_2PI + np.log(self.noise))
        return Posterior(mean, covariance, (beta * apart)[:, None], beta[:, None, None], value)

    def noises(self, basis: np.ndarray, weights: Weights, found: Posterior) -> list[float]:
        """Better variances of the noise, the quicker fixed point first and the one that cannot fail last."""
        apart = self.t - basis[:, weights.column] @ found.mean
        square, total = float(self.weight @ apart**2), float(self.weight.sum())
        known = float((1.0 - weights.alpha * found.covariance.diagonal()).sum())
        safe = (square + self.noise * known) / total
        return [square / (total - known), safe] if total - known > 0.5 else [safe]

    def with_noise(self, noise: float) -> NumberTargets:
        """The same targets with another noise."""
        return NumberTargets(self.t, self.weight, noise, self.known)

    def told(self, basis: np.ndarray, squares: np.ndarray, found: Posterior) -> np.ndarray:
        """φᵀ B φ of all functions, (m, 1)."""
        if "told" not in self.known:
            self.known["told"] = squares.T @ self.weight
        return self.known["told"][:, None] / self.noise

    def links(self, basis: np.ndarray, weights: Weights, found: Posterior, score: int) -> np.ndarray:
        """Φᵀ B φ of all functions with those that have weights, (m, M)."""
        return self._columns(basis, weights) / self.noise

    def _columns(self, basis: np.ndarray, weights: Weights) -> np.ndarray:
        """The same times σ²: each column is multiplied once."""
        if "at" not in self.known:
            self.known |= {"at": np.full(basis.shape[1], -1), "held": np.zeros((basis.shape[1], 0)), "n": np.array(0)}
        at, n = self.known["at"], int(self.known["n"])
        new = np.unique(weights.column[at[weights.column] < 0])
        if len(new):
            if n + len(new) > self.known["held"].shape[1]:
                more = np.zeros((basis.shape[1], max(32, n, len(new))))
                self.known["held"] = np.hstack([self.known["held"], more])
            self.known["held"][:, n : n + len(new)] = basis.T @ (self.weight[:, None] * basis[:, new])
            at[new], self.known["n"] = np.arange(n, n + len(new)), np.array(n + len(new))
        return self.known["held"][:, at[weights.column]]


class ClassTargets:
    """Classes with the logistic or softmax likelihood, whose posterior is Laplace's.

    Parameters
    ----------
    codes : (n,) int array
    weight : (n,) array
    n_classes : int
    """

    def __init__(self, codes: np.ndarray, weight: np.ndarray, n_classes: int):
        self.codes, self.weight = codes, weight
        self.n_scores = 1 if n_classes == 2 else n_classes

    def told(self, basis: np.ndarray, squares: np.ndarray, found: Posterior) -> np.ndarray:
        """φᵀ B φ of all functions, (m, scores)."""
        return squares.T @ np.diagonal(found.bend, axis1=1, axis2=2)

    def links(self, basis: np.ndarray, weights: Weights, found: Posterior, score: int) -> np.ndarray:
        """Φᵀ B φ of all functions of a score with those that have weights, (m, M)."""
        return basis.T @ (basis[:, weights.column] * found.bend[:, score, weights.score])

    def posterior(self, basis: np.ndarray, weights: Weights) -> Posterior:
        """The posterior about its mode, found by Newton's method from `weights.mean`."""
        Phi, mean = basis[:, weights.column], weights.mean
        value, slope, precision, rest, bend = self._at(Phi, weights, mean)
        for _ in range(STEPS):
            way = solve_definite(precision, slope)
            gain, t = float(slope @ way), 1.0
            if gain <= SETTLED:
                break
            found = self._at(Phi, weights, mean + way)
            while not found[0] > value and t > 1e-8:
                t *= 0.5
                found = self._at(Phi, weights, mean + t * way)
            if not found[0] > value:
                break
            mean, (value, slope, precision, rest, bend) = mean + t * way, found
        covariance, log_share = _inverse(weights.alpha, precision - np.diag(weights.alpha))
        return Posterior(mean, covariance, rest, bend, value + 0.5 * log_share)

    def _at(self, Phi: np.ndarray, weights: Weights, w: np.ndarray) -> tuple[Any, ...]:
        """The log posterior up to a constant, its slope, minus its curvature, r and B."""
        K, score = self.n_scores, np.zeros((self.n_scores, len(Phi)))
        np.add.at(score, weights.score, (Phi * w).T)
        loglik, rest = softmax.settle(score, np.zeros(K), self.codes, self.weight)
        chance = score.T
        bend = self.weight[:, None, None] * chance[:, :, None] * (np.eye(K) - chance[:, None, :])
        linked = bend[:, weights.score[:, None], weights.score]
        precision = np.einsum("na,nab,nb->ab", Phi, linked, Phi, optimize=True) + np.diag(weights.alpha)
        slope = np.einsum("na,na->a", Phi, rest.T[:, weights.score]) - weights.alpha * w
        return loglik - 0.5 * float(weights.alpha @ w**2), slope, precision, rest.T, bend
