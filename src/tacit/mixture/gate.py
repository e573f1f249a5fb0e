"""Softmax regression inside EM: g_c(z) = exp(v_c·z) / Σ_b exp(v_b·z), climbed by one safe Newton step at a time.

For rows with (fractional) counts n_ic of the classes, n_i = Σ_c n_ic, and a Gaussian prior of precision α on V,

    gradient  Σ_i (n_i· − n_i g_i) z_iᵀ − α V        curvature  Σ_i n_i (diag g_i − g_i g_iᵀ) ⊗ z_i z_iᵀ + α I

Along a direction h the log-likelihood's third derivative is at most m times its second, m = max_i range_c h_c·z_i, because the
third cumulant of a variable is at most its range times its variance. So a Newton step of length log(1 + m) / m always climbs,
without a search, and becomes a full step where m vanishes.

References
----------
Jordan and Jacobs (1994), Hierarchical mixtures of experts and the EM algorithm.
Bach (2010), Self-concordant analysis for logistic regression.
"""

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import pdist
from scipy.special import log_softmax, softmax

from ..arrays import Arrays, record
from ..kernels import lazy

__all__ = ["GATES", "ConstantGate", "EqualGate", "SoftmaxGate", "SoftmaxStats", "grams", "newton_step", "softmax_stats"]

kernels = lazy("softmax")


@record
class SoftmaxStats(Arrays):
    """Gradient (classes, q) and curvature (classes, q, classes, q) of a softmax log-likelihood."""

    gradient: np.ndarray
    curvature: np.ndarray


def grams(Z: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Σ_i w_ij z_i z_iᵀ for every column j of `weights`, (columns, q, q)."""
    return np.stack([(Z * weight[:, None]).T @ Z for weight in weights.T])


def softmax_stats(coef: np.ndarray, Z: np.ndarray, counts: np.ndarray) -> SoftmaxStats:
    """Gradient and curvature at `coef` (classes, q) for rows Z (rows, q) with class counts (rows, classes)."""
    chance, total = softmax(Z @ coef.T, axis=1), counts.sum(axis=1, keepdims=True)
    curvature = np.zeros(coef.shape * 2)
    kernels.add_curvature(Z, chance.T, total[:, 0], curvature)
    return SoftmaxStats((counts - total * chance).T @ Z, -curvature)


def newton_step(coef: np.ndarray, stats: SoftmaxStats, alpha: float, reach: np.ndarray) -> np.ndarray:
    """Coefficients one safe Newton step on; `reach` is a matrix R with |z·h| ≤ ‖R h‖ for every row and any h."""
    curvature = stats.curvature.reshape(coef.size, coef.size) + alpha * np.eye(coef.size)
    gradient = (stats.gradient - alpha * coef).ravel()
    if alpha > 1e-10 * curvature.diagonal().max():
        direction = cho_solve(cho_factor(curvature), gradient)
    else:  # coefficients that no row can tell apart stay where they are
        direction = np.linalg.lstsq(curvature, gradient, rcond=1e-12)[0]
    direction = direction.reshape(coef.shape)
    m = float(pdist(direction @ reach.T).max(initial=0.0))
    return coef + (np.log1p(m) / m if m > 0 else 1.0) * direction


class SoftmaxGate:
    """Probability of each expert as a softmax of linear scores, with a Gaussian prior of precision `alpha`."""

    def __init__(self, alpha: float):
        self.alpha = alpha

    def log_prob(self, coef: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Log probabilities of the experts, (rows, experts)."""
        return log_softmax(Z @ coef.T, axis=1)

    def start(self, Z: np.ndarray, counts: np.ndarray, reach: np.ndarray) -> np.ndarray:
        """Coefficients near the best for (fractional) counts of the classes of a sample of rows."""
        coef = np.zeros((counts.shape[1], Z.shape[1]))
        for _ in range(5):
            coef = self.m_step(self.stats(coef, Z, counts), coef, reach)
        return coef

    def stats(self, coef: np.ndarray, Z: np.ndarray, counts: np.ndarray) -> Any:
        """What a block adds."""
        return softmax_stats(coef, Z, counts)

    def m_step(self, stats: Any, coef: np.ndarray, reach: np.ndarray) -> np.ndarray:
        """Better coefficients."""
        return newton_step(coef, stats, self.alpha, reach)

    def log_prior(self, coef: np.ndarray) -> float:
        """Log density of the coefficients, up to a constant."""
        return -0.5 * self.alpha * float((coef**2).sum())

    def free(self, coef: np.ndarray) -> np.ndarray:
        """Coefficients as a vector."""
        return coef.ravel()

    def bound(self, vector: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """Coefficients from a vector."""
        return vector.reshape(coef.shape)

    def n_parameters(self, coef: np.ndarray) -> int:
        """Free parameters: one class is the yardstick of the others."""
        return (coef.shape[0] - 1) * coef.shape[1]


class ConstantGate(SoftmaxGate):
    """The same probabilities for every row, by maximum likelihood: a softmax whose slopes are zero."""

    def stats(self, coef: np.ndarray, Z: np.ndarray, counts: np.ndarray) -> Any:
        return counts.sum(axis=0)

    def m_step(self, stats: Any, coef: np.ndarray, reach: np.ndarray) -> np.ndarray:
        return self._of(np.log(np.maximum(stats / stats.sum(), np.finfo(float).tiny)), coef)

    def _of(self, log_share: np.ndarray, coef: np.ndarray) -> np.ndarray:
        return np.column_stack([log_share, np.zeros_like(coef[:, 1:])])

    def log_prior(self, coef: np.ndarray) -> float:
        return 0.0

    def free(self, coef: np.ndarray) -> np.ndarray:
        return coef[:, 0]

    def bound(self, vector: np.ndarray, coef: np.ndarray) -> np.ndarray:
        return self._of(log_softmax(vector), coef)

    def n_parameters(self, coef: np.ndarray) -> int:
        return len(coef) - 1


class EqualGate(ConstantGate):
    """The same probability for every expert: nothing to learn."""

    def start(self, Z: np.ndarray, counts: np.ndarray, reach: np.ndarray) -> np.ndarray:
        return np.zeros((counts.shape[1], Z.shape[1]))

    def m_step(self, stats: Any, coef: np.ndarray, reach: np.ndarray) -> np.ndarray:
        return coef

    def free(self, coef: np.ndarray) -> np.ndarray:
        return np.zeros(0)

    def bound(self, vector: np.ndarray, coef: np.ndarray) -> np.ndarray:
        return coef

    def n_parameters(self, coef: np.ndarray) -> int:
        return 0


GATES = {"softmax": SoftmaxGate, "constant": ConstantGate, "equal": EqualGate}
