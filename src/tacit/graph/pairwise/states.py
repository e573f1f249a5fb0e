"""All states of a few binary units, and what networks of them sum to."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import logsumexp

__all__ = ["MOST_UNITS", "all_states", "check_units", "expected"]

MOST_UNITS = 20
"""Units whose states are gone over one by one: a million of them."""
CHUNK = 1 << 14


def check_units(n_units: int, what: str, remedy: str) -> None:
    """Raise where states are too many to be gone over.

    Parameters
    ----------
    n_units : int
    what, remedy : str
        Of the error.
    """
    if n_units > MOST_UNITS:
        raise ValueError(f"{what} sums over 2 ** {n_units} states, more than 2 ** {MOST_UNITS}; {remedy}.")


def all_states(n_units: int, values: tuple[float, float]) -> Iterator[np.ndarray]:
    """All states, (states, n_units), in parts.

    Parameters
    ----------
    n_units : int
    values : pair of float
        Of a unit.
    """
    low, high = values
    for start in range(0, 1 << n_units, CHUNK):
        number = np.arange(start, min(start + CHUNK, 1 << n_units))
        yield np.where(number[:, None] >> np.arange(n_units) & 1, high, low)


def expected(
    n_units: int, values: tuple[float, float], score: Callable[[np.ndarray], np.ndarray],
    moments: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, ...]],
) -> tuple[float, tuple[np.ndarray, ...]]:  # fmt: skip
    """Log of the sum of exp(score) over all states, and the expectations of moments.

    Parameters
    ----------
    n_units, values
        As in `all_states`.
    score : callable
        Of states (states, n_units), numbers (states,).
    moments : callable
        Of states and their probabilities, sums that are added up.
    """
    parts = [(states, score(states)) for states in all_states(n_units, values)]
    log_total = float(logsumexp([logsumexp(part) for _, part in parts]))
    sums = [moments(states, np.exp(part - log_total)) for states, part in parts]
    return log_total, tuple(np.sum(each, axis=0) for each in zip(*sums))
