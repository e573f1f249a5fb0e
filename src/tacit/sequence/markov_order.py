"""How far back? Markov chains of several orders, ranked.

    BIC = −2 log L + p log n        AIC = −2 log L + 2 p        p = (contexts that occur) · (S − 1)

with n observed symbols; lower is better. Cross-validation scores sequences that were left out by their average log probability
per symbol; higher is better. Every order tells of all symbols, the first ones included, so that likelihoods are comparable.
"""

from __future__ import annotations

import numbers
import time
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import clone

from ..assess.splits import deal
from ..checks import check_choice, check_number
from ..mixture.selection import Selection
from ..table import Table
from .markov import MarkovChain
from .symbols import Symbols

__all__ = ["select_order"]

CRITERIA = ("bic", "aic", "cv")


def select_order(
    chain: MarkovChain, X: Any, orders: Iterable[int] = range(6), *, criterion: str = "bic", sample_weight: Any = None,
    lengths: Any = None, cv: int = 5,
) -> Selection:  # fmt: skip
    """Fit Markov chains of several orders and rank them.

    Parameters
    ----------
    chain : MarkovChain
        Its other settings hold for all orders; not changed.
    X, sample_weight, lengths
        As in :meth:`MarkovChain.fit`.
    orders : iterable of int, default=range(6)
        Orders to try; those that no sequence is long enough for are ranked last.
    criterion : {"bic", "aic", "cv"}, default="bic"
        What to rank by. "cv" leaves out sequences; it needs `prior` or `backoff`, without which a move that is new among them
        makes them impossible.
    cv : int, default=5
        Folds.

    Returns
    -------
    tacit.mixture.Selection
        ``best`` is the fitted chain, ``table`` tells of all of them.

    References
    ----------
    Katz (1981), On some criteria for estimating the order of a Markov chain.

    Examples
    --------
    >>> from tacit.sequence import MarkovChain, select_order
    >>> select_order(MarkovChain(), ["a", "a", "b", "b"] * 50, range(4)).best_settings
    {'order': 2}
    """
    if not isinstance(chain, MarkovChain):
        raise TypeError(f"select_order takes a MarkovChain, but got {type(chain).__name__}.")
    check_choice("criterion", criterion, CRITERIA)
    check_number("cv", cv, numbers.Integral, 2)
    orders = list(orders)
    if not orders:
        raise ValueError("orders is empty; give at least one to try.")
    started, given = time.monotonic(), chain._read(X, lengths)
    weight = given.weights(sample_weight)
    weight = np.ones(len(given.offsets) - 1) if weight is None else weight
    rows, models = [], {}
    for order in orders:
        row, fitted = _attempt(clone(chain).set_params(order=order), given, weight)
        if fitted is not None:
            models[(order,)] = fitted
            row["cv"] = _left_out(chain, order, given, weight, cv) if criterion == "cv" else None
        rows.append(row)
    if not models:
        raise ValueError(f"none of the {len(rows)} fits succeeded; the first failed because: {rows[0]['failed']}")
    rows.sort(key=lambda row: _rank(row, criterion))
    return Selection(Table(rows), models, ("order",), criterion, seconds=time.monotonic() - started)


def _rank(row: dict[str, Any], criterion: str) -> tuple[float, int]:
    value = row[criterion]
    return (np.inf if value is None else -value if criterion == "cv" else value), row["order"]


def _attempt(chain: MarkovChain, given: Symbols, weight: np.ndarray) -> tuple[dict[str, Any], MarkovChain | None]:
    """What the table says of a chain, and the chain where it could be fitted."""
    started = time.perf_counter()
    row: dict[str, Any] = dict.fromkeys(
        ("order", "log_likelihood", "n_parameters", "bic", "aic", "cv", "seconds", "failed")
    )
    row["order"] = chain.order
    try:
        chain.fit(given, sample_weight=weight)
    except ValueError as error:
        return row | {"failed": str(error)}, None
    (loglik, n), p = chain._totals(given, weight), chain.contexts_.n_parameters
    told = {
        "log_likelihood": loglik,
        "n_parameters": p,
        "bic": -2.0 * loglik + p * float(np.log(n)),
        "aic": -2.0 * loglik + 2 * p,
    }
    return row | told | {"seconds": time.perf_counter() - started}, chain


def _left_out(chain: MarkovChain, order: int, given: Symbols, weight: np.ndarray, n_folds: int) -> float:
    """Log probability per symbol of sequences left out, by chains that never saw them but know all symbols."""
    n = len(weight)
    if n_folds > n:
        raise ValueError(
            f"cv={n_folds} exceeds the {n} sequences of X; use at most {n}, or cut X into more by lengths."
        )
    fold, sums = deal(n, n_folds, chain._rng(0)), np.zeros(2)
    for number in range(n_folds):
        fitted = clone(chain).set_params(order=order, unknown="missing")
        fitted.fit(given, sample_weight=np.where(fold == number, 0.0, weight))
        sums += fitted._totals(given, np.where(fold == number, weight, 0.0))
    return float(sums[0] / sums[1])
