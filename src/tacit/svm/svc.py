"""`SVC` and `NuSVC`: the widest margin between two classes, f(x) = Σ_i β_i k(x_i, x) + b.

SVC      min ½‖w‖² + Σ C_i ξ_i          y_i f(x_i) ≥ 1 − ξ_i
NuSVC    min ½‖w‖² − νρ + Σ w_i ξ_i / Σ w    y_i f(x_i) ≥ ρ − ξ_i
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.settings import KW_ONLY, settings
from .classifier import MarginClassifier
from .problem import Problem, Solution

__all__ = ["SVC", "NuSVC"]


@settings
class SVC(MarginClassifier):
    """DOC"""

    _: KW_ONLY
    C: float = 1.0

    def _machine(self, gram: Any, first: np.ndarray, weight: np.ndarray, whose: str) -> tuple:
        n, cost = len(first), self.C * weight
        zero = np.zeros(n)
        problem = Problem(
            np.where(first, 1.0, -1.0), np.where(first, cost, 0.0), np.where(first, 0.0, -cost), zero, zero
        )
        found = self._solve(problem, gram, whose)
        return found, found.level, found.beta

    def _unreachable(self, whose: str) -> str:
        return (
            f"C={self.C} allows no row on the wrong side, but {whose} cannot be separated with kernel={self.kernel!r}; give a "
            "finite C, or a kernel that separates them, such as 'rbf'."
        )


@settings
class NuSVC(MarginClassifier):
    """DOC"""

    _: KW_ONLY
    nu: float = 0.5

    def _check_weights(self, weight: np.ndarray, codes: np.ndarray) -> None:
        totals = np.bincount(codes, weight, minlength=len(self.classes_))
        for a in range(len(totals)):
            for b in range(a + 1, len(totals)):
                least, both = min(totals[a], totals[b]), totals[a] + totals[b]
                if self.nu * both / 2 > least * (1 + 1e-12):
                    raise ValueError(
                        f"specified nu is infeasible: nu={self.nu} asks for more of {self._told_of((a, b))} than the smaller "
                        f"has; use at most {2 * least / both if both else 0:.4g}."
                    )

    def _machine(self, gram: Any, first: np.ndarray, weight: np.ndarray, whose: str) -> tuple:
        sign = np.where(first, 1.0, -1.0)
        near = -sign * gram.product(sign * weight / np.where(first, weight[first].sum(), weight[~first].sum()))
        start = filled(weight * first, near, self.nu * weight.sum() / 2) - filled(
            weight * ~first, near, self.nu * weight.sum() / 2
        )
        problem = Problem(
            np.zeros(len(first)), weight * first, -weight * ~first, np.maximum(start, 0.0), np.minimum(start, 0.0),
            grouped=True,
        )  # fmt: skip
        found = self._solve(problem, gram, whose)
        above, below = found.levels()
        half = (below - above) / 2
        if not half > 1e-10 * max(1.0, float(np.abs(gram.diagonal).max())):
            raise ValueError(
                f"nu={self.nu} leaves {whose} no margin: weighted means of their rows coincide; use a larger nu."
            )
        return found, (above + below) / 2 / half, found.beta / half

    def _margin(self, found: Solution) -> float:
        above, below = found.levels()
        return float((below - above) / 2 / np.sqrt(found.square)) if found.square > 0 else np.inf

    def _unreachable(self, whose: str) -> str:
        raise NotImplementedError


def filled(room: np.ndarray, score: np.ndarray, total: float) -> np.ndarray:
    """`total` given to those of highest score first, to each what it has room for.

    Parameters
    ----------
    room, score : ndarray of shape (n,)
    total : float
    """
    order = np.argsort(-np.where(room > 0, score, -np.inf), kind="stable")
    before = np.cumsum(room[order]) - room[order]
    given = np.empty(len(room))
    given[order] = np.clip(total - before, 0.0, room[order])
    return given
