"""The two forms of a perceptron's weights: of the columns, w, or of the rows, w = Σ_i c_i φ(x_i)."""

from typing import Any

import numpy as np
from scipy import sparse

from ..factor.kernel.basis import Basis, kernel_of
from ..kernels import lazy

__all__ = ["KernelForm", "LinearForm"]

passes = lazy("mistakes")

LEAST_MARGIN = 1e-12  # share of the longest row


class LinearForm:
    """Weights of the columns."""

    def __init__(self, model: Any, rows: Any):
        self.rows, self.model = sparse.csr_array(rows.astype(np.float64)), model
        self.dtype = rows.dtype
        strength = model.eta0 * model.alpha
        share = {None: None, "l2": 0.0, "l1": 1.0, "elasticnet": model.l1_ratio}[model.penalty]
        self.penalty = (0.0, 0.0) if share is None else ((1.0 - share) * strength, share * strength)

    def state(self, start: Any) -> list[np.ndarray]:
        d = self.rows.shape[1]
        w = np.zeros(d + 1) if start is None else np.array(start, dtype=np.float64)
        return [w, np.zeros(d + 1), np.zeros(d + 1), np.array([1.0, 0.0])]

    def go_over(self, order: np.ndarray, sign: np.ndarray, step: np.ndarray, state: list) -> tuple[float, int]:
        rows, constant = self.rows, float(self.model.fit_intercept)
        return passes.primal_pass(
            order, rows.data, rows.indices, rows.indptr, sign, step, *self.penalty, constant, self.model.average, *state
        )

    def scores(self, state: list) -> np.ndarray:
        return self.rows @ state[0][:-1] + state[0][-1]

    def bound(self, sign: np.ndarray, step: np.ndarray, taken: np.ndarray, state: list) -> float:
        taken = taken[step[taken] > 0]
        square = np.asarray(self.rows.multiply(self.rows).sum(axis=1)).ravel() + bool(self.model.fit_intercept)
        return _bound(sign, self.scores(state), float(state[0] @ state[0]), square, taken)

    def final(self, state: list) -> np.ndarray:
        return state[0] - state[1] / state[3][0] if self.model.average else state[0]

    def publish(self, model: Any, weights: np.ndarray) -> None:
        weights = weights.astype(self.dtype)
        model.coef_, model.intercept_ = np.ascontiguousarray(weights[:, :-1]), weights[:, -1].copy()


class KernelForm:
    """Weights of the rows."""

    def __init__(self, model: Any, rows: np.ndarray):
        self.rows, self.model = np.ascontiguousarray(rows, dtype=np.float64), model
        kernel, self.gamma = kernel_of(model, self.rows)
        self.K = np.ascontiguousarray(Basis(kernel, self.rows, False).values(self.rows))

    def state(self, start: Any) -> list[np.ndarray]:
        n = len(self.K)
        return [np.zeros(n + 1), np.zeros(n + 1), np.zeros(n), np.array([1.0, 0.0])]

    def go_over(self, order: np.ndarray, sign: np.ndarray, step: np.ndarray, state: list) -> tuple[float, int]:
        return passes.dual_pass(order, self.K, sign, step, float(self.model.fit_intercept), self.model.average, *state)

    def scores(self, state: list) -> np.ndarray:
        return state[2]

    def bound(self, sign: np.ndarray, step: np.ndarray, taken: np.ndarray, state: list) -> float:
        c = state[0][:-1]
        length = float(c @ self.K @ c) + state[0][-1] ** 2
        return _bound(
            sign, state[2], length, self.K.diagonal() + bool(self.model.fit_intercept), taken[step[taken] > 0]
        )

    def final(self, state: list) -> np.ndarray:
        return state[0] - state[1] / state[3][0] if self.model.average else state[0]

    def publish(self, model: Any, weights: np.ndarray) -> None:
        used = np.flatnonzero(weights[:, :-1].any(axis=0))
        model.coef_, model.intercept_ = weights[:, used], weights[:, -1].copy()
        model.support_vectors_, model.gamma_ = self.rows[used], self.gamma


def _bound(sign: np.ndarray, score: np.ndarray, length: float, square: np.ndarray, taken: np.ndarray) -> float:
    """(R / γ)² with the margin of weights of this squared length."""
    if not length > 0.0 or not len(taken):
        return np.inf
    margin, longest = float((sign * score)[taken].min()) / np.sqrt(length), float(square[taken].max())
    return longest / margin**2 if margin > LEAST_MARGIN * np.sqrt(longest) else np.inf
