"""Probabilities of decision values: p(first class | f) = 1 / (1 + exp(A f + B)) with A ≤ 0.

A and B are learned from decision values of rows that the machine did not see, which cross-validation gives.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from ..assess.splits import divide

__all__ = ["fit_sigmoid", "held_out", "sigmoid"]

FOLDS = 5


def sigmoid(values: np.ndarray, slope: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """Probability of the first class."""
    return expit(-(slope * values + offset))


def fit_sigmoid(values: np.ndarray, first: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """A and B by weighted maximum likelihood with Platt's targets, which leave some doubt even where classes do not overlap.

    References
    ----------
    Platt (1999), Probabilistic outputs for support vector machines.
    Lin, Lin and Weng (2007), A note on Platt's probabilistic outputs for support vector machines. Machine Learning 68.
    """
    above, below = float(weight[first].sum()), float(weight[~first].sum())
    target = np.where(first, (above + 1.0) / (above + 2.0), 1.0 / (below + 2.0))
    scale = max(float(np.abs(values).max(initial=0.0)), 1e-300)
    x = values / scale

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        z = point[0] * x + point[1]
        pull = weight * (target - expit(-z))
        return float(weight @ (np.logaddexp(0.0, z) - (1.0 - target) * z)), np.array([pull @ x, pull.sum()])

    start = np.array([0.0, np.log((below + 1.0) / (above + 1.0))])
    # Larger values never speak against the class: where rows held out say so, they tell nothing.
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(None, 0.0), (None, None)], tol=1e-12)
    return float(found.x[0]) / scale, float(found.x[1])


def held_out(
    first: np.ndarray, learn: Callable[[np.ndarray, np.ndarray], np.ndarray], rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Decision values of rows by machines that did not see them, and which rows have one.

    Parameters
    ----------
    first : ndarray of bool
        Whether a row is of the first class.
    learn : callable
        Of the rows to learn from and those to tell: values of the latter.
    rng : RandomState
        Draws the folds.
    """
    values, known = np.zeros(len(first)), np.zeros(len(first), dtype=bool)
    n_folds = min(FOLDS, int(first.sum()), int((~first).sum()))
    if n_folds < 2:  # a class of one row: what the machine says of its own rows is all there is
        everything = np.arange(len(first))
        return learn(everything, everything), ~known
    for seen, hidden in divide(n_folds, len(first), y=first, random_state=rng.randint(2**31 - 1)):
        values[hidden], known[hidden] = learn(seen, hidden), True
    return values, known
