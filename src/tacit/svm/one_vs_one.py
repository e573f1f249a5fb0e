"""Pairs of classes: a machine for each, how their coefficients are laid out, and what they say together.

Coefficients have a column for each support vector, by class, and a row for each other class, as in libsvm: a vector of class a
has its coefficient of the pair (a, b) in row b − 1 if b > a, else in row b.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

__all__ = ["coupled", "decisions", "laid_out", "one_vs_rest", "pairs_of", "primal", "votes"]


def pairs_of(n_classes: int) -> list[tuple[int, int]]:
    """Pairs of classes, in their order."""
    return list(combinations(range(n_classes), 2))


def laid_out(codes: np.ndarray, chosen: list[np.ndarray], betas: list[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Coefficients, the numbers of support vectors by class, and how many a class has.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        The class of each row.
    chosen : list of ndarray
        The rows of each pair's machine.
    betas : list of ndarray
        Their coefficients, positive towards the first class of the pair.
    """
    n_classes = int(codes.max()) + 1
    used = np.zeros(len(codes), dtype=bool)
    for rows, beta in zip(chosen, betas):
        used[rows[beta != 0]] = True
    support = np.flatnonzero(used)
    support = support[np.argsort(codes[support], kind="stable")]
    column = np.full(len(codes), -1)
    column[support] = np.arange(len(support))
    coefficients = np.zeros((n_classes - 1, len(support)))
    for (a, b), rows, beta in zip(pairs_of(n_classes), chosen, betas):
        rows, beta = rows[beta != 0], beta[beta != 0]
        coefficients[np.where(codes[rows] == a, b - 1, a), column[rows]] = beta
    return coefficients, support, np.bincount(codes[support], minlength=n_classes).astype(np.int32)


def _classes(n_support: np.ndarray) -> list[slice]:
    """The columns of each class."""
    ends = np.cumsum(n_support)
    return [slice(int(end - n), int(end)) for end, n in zip(ends, n_support)]


def _summed(values: Any, coefficients: Any, n_support: np.ndarray) -> list:
    """Of each class, what its vectors add to the machines of each other class."""
    return [values[:, part] @ coefficients[:, part].T for part in _classes(n_support)]


def decisions(K: np.ndarray, coefficients: np.ndarray, intercept: np.ndarray, n_support: np.ndarray) -> np.ndarray:
    """Values of all pairs of classes, above 0 for the first of a pair; K are kernel values with all support vectors."""
    added = _summed(K, coefficients, n_support)
    pairs = pairs_of(len(n_support))
    return np.column_stack([added[a][:, b - 1] + added[b][:, a] for a, b in pairs]) + intercept


def primal(vectors: Any, coefficients: Any, n_support: np.ndarray) -> list:
    """Weights of features of all pairs of classes."""
    added = _summed(vectors.T, coefficients, n_support)
    return [added[a][:, [b - 1]] + added[b][:, [a]] for a, b in pairs_of(len(n_support))]


def votes(first: np.ndarray, n_classes: int) -> np.ndarray:
    """How many pairs say each class; `first` tells where it is the first of a pair."""
    found = np.zeros((len(first), n_classes), dtype=int)
    for p, (a, b) in enumerate(pairs_of(n_classes)):
        found[:, a] += first[:, p]
        found[:, b] += ~first[:, p]
    return found


def one_vs_rest(values: np.ndarray, n_classes: int) -> np.ndarray:
    """Votes of pairs, and less than a third of one for how sure they are, as in scikit-learn."""
    sure = np.zeros((len(values), n_classes))
    for p, (a, b) in enumerate(pairs_of(n_classes)):
        sure[:, a] += values[:, p]
        sure[:, b] -= values[:, p]
    return votes(values >= 0, n_classes) + sure / (3 * (np.abs(sure) + 1))


def coupled(first: np.ndarray, n_classes: int) -> np.ndarray:
    """Probabilities of classes from those of the first class of each pair: they minimise Σ (r_ba p_a − r_ab p_b)².

    References
    ----------
    Wu, Lin and Weng (2004), Probability estimates for multi-class classification by pairwise coupling. JMLR 5.
    """
    if n_classes == 2:
        return np.column_stack([first[:, 0], 1.0 - first[:, 0]])
    first = np.clip(first, 1e-7, 1.0 - 1e-7)
    system = np.zeros((len(first), n_classes + 1, n_classes + 1))
    for p, (a, b) in enumerate(pairs_of(n_classes)):
        r = first[:, p]
        system[:, a, a] += (1.0 - r) ** 2
        system[:, b, b] += r**2
        system[:, a, b] = system[:, b, a] = -r * (1.0 - r)
    system[:, :-1, -1] = system[:, -1, :-1] = 1.0
    target = np.zeros((n_classes + 1, 1))
    target[-1] = 1.0
    found = np.clip(np.linalg.solve(system, np.broadcast_to(target, (len(first), *target.shape)))[:, :-1, 0], 0.0, None)
    return found / found.sum(axis=1, keepdims=True)
