"""`Beliefs` and `Solution`: what messages tell of a factor graph."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from ..notes import Note
from .messages import ImpossibleError

__all__ = ["Beliefs", "Solution", "is_tied", "names_of", "shares_of"]

TIED = 1e-12


@dataclass(frozen=True)
class Beliefs:
    """What sum-product found; made by `FactorGraph.sum_product`.

    Attributes
    ----------
    marginals : dict of variable to Potential
        Probabilities of the states.
    factors : list of Potential
        Probabilities of the states of the variables of each factor.
    log_partition : float
        Log of the sum of the product over all states that evidence allows; with loops Bethe's approximation.
    exact : bool
    reason : Note
        Why messages ended.
    """

    marginals: dict
    factors: list
    log_partition: float
    exact: bool
    reason: Note


@dataclass(frozen=True)
class Solution:
    """States of all variables; made by `FactorGraph.most_probable`.

    Attributes
    ----------
    states : dict of variable to state
    log_value : float
        Log of the product of the factors.
    exact : bool
        Whether no states have a larger one.
    reason : Note
        Why messages ended.
    notes : list of Note
        What else a reader should know: that other states are as probable.
    """

    states: dict
    log_value: float
    exact: bool
    reason: Note
    notes: list


def names_of(told: Any, variables: Any) -> list:
    """Variables that a user names: one, or several in a list; an error where one is none.

    Parameters
    ----------
    told : variable or iterable of variables
    variables : dict of variable to object
    """
    try:
        single = told in variables
    except TypeError:  # a list can be no variable
        single = False
    several = not single and isinstance(told, Iterable) and (not isinstance(told, str) or set(told) <= set(variables))
    names = list(told) if several else [told]
    for v in names:
        if v not in variables:
            raise ValueError(f"{v!r} is no variable; there are {', '.join(map(str, variables))}.")
    return names


def shares_of(log: np.ndarray) -> np.ndarray:
    """Probabilities of which logs are known up to a constant.

    Parameters
    ----------
    log : ndarray
    """
    total = logsumexp(log)
    if total == -np.inf:
        raise ImpossibleError
    return np.exp(log - total)


def is_tied(log: np.ndarray) -> bool:
    """Whether two states are as good as the best.

    Parameters
    ----------
    log : (states,) array
    """
    best = np.sort(log)[::-1][:2]
    return len(best) == 2 and bool(best[0] - best[1] <= TIED * max(1.0, abs(best[0])))
