"""Dirichlet priors of topics: given or learned, alike for all or not, and seed words.

    F(α) = Σ_d log Γ(Σα) − Σ_k log Γ(α_k) + (α_k − 1) E log θ_dk           α_k ← ψ⁻¹(ψ(Σα) + mean E log θ_dk)
    counts:  α_k ← α_k Σ_d [ψ(n_dk + α_k) − ψ(α_k)] / Σ_d [ψ(n_d + Σα) − ψ(Σα)]

Both are fixed points of Minka, of which every step raises what it maximises.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import polygamma, psi

__all__ = ["LEARNED", "PriorRule", "from_counts", "from_logs", "seeded"]

LEARNED = ("learn", "learn-symmetric", "learn-asymmetric")
LEAST, MOST = 1e-6, 1e6


class PriorRule:
    """What a setting says of a Dirichlet prior.

    Parameters
    ----------
    name : str
        Of the setting.
    value : None, number, array or one of `LEARNED`
        None is 1/K, as in scikit-learn.
    size : int
        Dimension of the Dirichlet.
    n_topics : int
    symmetric : bool
        Whether ``"learn"`` keeps all numbers alike.
    """

    def __init__(self, name: str, value: Any, size: int, n_topics: int, symmetric: bool):
        self.learns = isinstance(value, str)
        if self.learns and value not in LEARNED:
            raise ValueError(f"{name}={value!r} is unknown; give a number, an array, or one of {', '.join(LEARNED)}.")
        self.symmetric = symmetric if value == "learn" else value == "learn-symmetric"
        self.start = self._start(name, 1.0 / n_topics if value is None or self.learns else value, size)

    def _start(self, name: str, value: Any, size: int) -> np.ndarray:
        if not isinstance(value, numbers.Real) and np.ndim(value) != 1:
            raise ValueError(f"{name}={value!r} is neither a number, a list of {size} numbers, nor {LEARNED[0]!r}.")
        given = np.atleast_1d(np.asarray(value, dtype=np.float64))
        if len(given) not in (1, size) or (np.ndim(value) == 1 and len(given) != size):
            raise ValueError(f"{name} has {len(given)} numbers, but {size} are needed; give one number or {size}.")
        bad = given[~((given > 0) & np.isfinite(given))]
        if len(bad):
            raise ValueError(f"{name} holds {bad[0]:g}; numbers of a Dirichlet prior are finite and above 0.")
        return np.full(size, given[0]) if self.learns and not self.symmetric else given


def _inverse_psi(value: np.ndarray) -> np.ndarray:
    """The x with ψ(x) = value."""
    x = np.where(value >= -2.22, np.exp(np.minimum(value, 700.0)) + 0.5, -1.0 / (np.minimum(value, -2.22) - psi(1.0)))
    for _ in range(5):
        x = x - (psi(x) - value) / polygamma(1, x)
    return x


def from_logs(prior: np.ndarray, mean_log: np.ndarray, symmetric: bool, n_steps: int = 20) -> np.ndarray:
    """A prior nearer to the most probable one, given the mean of E log θ_k over draws.

    Parameters
    ----------
    prior : (size,) or (1,)
        The prior before; one number stands for all.
    mean_log : (size,)
    symmetric : bool
        Whether all numbers are alike.
    n_steps : int
    """
    size, prior = len(mean_log), np.array(prior, dtype=np.float64)
    target = mean_log.mean(keepdims=True) if symmetric else mean_log
    for _ in range(n_steps):
        whole = size * prior[0] if symmetric else prior.sum()
        prior = np.clip(_inverse_psi(psi(whole) + target), LEAST, MOST)
    return prior


def from_counts(prior: np.ndarray, spread: np.ndarray, whole: float, symmetric: bool) -> np.ndarray:
    """A prior nearer to the most probable one, given sums over draws of their counts.

    Parameters
    ----------
    prior : (size,) or (1,)
    spread : (size,)
        Σ_d ψ(n_dk + α_k) − ψ(α_k).
    whole : float
        Σ_d ψ(n_d + Σα) − ψ(Σα).
    symmetric : bool
        Whether all numbers are alike.
    """
    if whole <= 0.0:
        return prior
    share = spread.mean(keepdims=True) if symmetric else spread
    return np.clip(prior * share / whole, LEAST, MOST)


def seeded(
    prior: np.ndarray, seeds: Mapping[int, Sequence], strength: float, n_topics: int, words: list | None, size: int
) -> np.ndarray:
    """The prior (n_words, n_topics) in which seed words have `strength` more in their topics.

    Parameters
    ----------
    prior : (n_words,) or (1,)
    seeds : dict of int to list
        Words, or numbers of columns, by topic.
    strength : float
        Counts that each of them is worth.
    n_topics : int
    words : list or None
        Names of the columns.
    size : int
        How many there are.
    """
    if not isinstance(seeds, Mapping):
        raise TypeError(
            f"seeds must be a dict of topics to words, such as {{0: ['goal', 'match']}}, not {type(seeds).__name__}."
        )
    place = {} if words is None else {word: column for column, word in enumerate(words)}
    found, missing = np.repeat(np.broadcast_to(prior, size)[:, None], n_topics, axis=1), list[str]()
    for topic, chosen in seeds.items():
        if not isinstance(topic, numbers.Integral) or not 0 <= topic < n_topics:
            raise ValueError(f"seeds name topic {topic!r}; topics are numbered 0 to {n_topics - 1}.")
        for word in [chosen] if isinstance(chosen, str) else chosen:
            column = place.get(word, word if isinstance(word, numbers.Integral) else None)
            if column is None or not 0 <= column < size:
                missing.append(repr(word))
            else:
                found[column, topic] += strength
    if missing:
        remedy = "check their spelling" if words is not None else "columns have no names, so give their numbers"
        raise ValueError(f"seed words that do not occur: {', '.join(missing)}; {remedy}.")
    return found
