"""Scores of families, of which the score of a network is the sum: S(G) = Σ_j s(x_j | parents of x_j).

    loglik  Σ N_pa,x log (N_pa,x / N_pa)                BIC  loglik − ½ log n · q (r − 1)        AIC  loglik − q (r − 1)
    BDeu, K2  Σ_pa log Γ(r a) / Γ(N_pa + r a) + Σ_pa,x log Γ(N_pa,x + a) / Γ(a),   a = ess / (q r), or 1

for a child of r states whose parents have q configurations. A gain is the difference that a parent makes, taken over the rows
that observe the family: where cells are missing, scores over different rows cannot be compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy

from ...checks import check_choice, check_positive
from ...kernels import kernel
from ...source.threads import over_ranges, thread_count
from .codes import Codes, check_edges
from .knowledge import cycle_of

__all__ = ["SCORES", "Gains", "score_structure", "scoring"]

SCORES = ("bic", "aic", "bdeu", "k2", "loglik")
LEAST_WORK = 1 << 20
"""Cells of candidates to count from which threads are worth their start."""


def scoring(score: str, equivalent_sample_size: float) -> tuple[bool, float]:
    """Whether a score is the evidence of a Dirichlet prior, and its number, as the kernel takes them."""
    check_choice("score", score, SCORES)
    check_positive("equivalent_sample_size", equivalent_sample_size)
    numbers = {"bic": -1.0, "aic": 1.0, "loglik": 0.0, "k2": -1.0, "bdeu": float(equivalent_sample_size)}
    return score in ("k2", "bdeu"), numbers[score]


class Gains:
    """What parents add to the scores of families, kept once they are counted.

    Parameters
    ----------
    codes : Codes
    score, equivalent_sample_size
        As in `learn_structure`.
    n_jobs : int, optional
        Threads; results do not depend on it.
    """

    def __init__(self, codes: Codes, score: str, equivalent_sample_size: float = 10.0, n_jobs: int | None = None):
        self.codes, self.rule, self.threads = codes, scoring(score, equivalent_sample_size), thread_count(n_jobs)
        self.known: dict[tuple[int, tuple[int, ...]], np.ndarray] = {}
        self.n_counted = 0

    def of(self, child: int, parents: Sequence[int], candidates: np.ndarray) -> np.ndarray:
        """s(child | parents, z) − s(child | parents) for each candidate z."""
        parents = tuple(sorted(parents))
        found = self.known.setdefault((child, parents), np.full(self.codes.n_variables, np.nan))
        new = candidates[np.isnan(found[candidates])]
        if len(new):
            scores = self.scores(child, parents, new)
            found[new] = np.where(scores[:, 2] > 0, scores[:, 0] - scores[:, 1], -np.inf)
        return found[candidates]

    def scores(self, child: int, parents: Sequence[int], candidates: np.ndarray) -> np.ndarray:
        """Scores with and without each candidate, and the number of rows that observe the family, (candidates, 3)."""
        codes, out = self.codes, np.empty((len(candidates), 3))
        base, n_base = codes.family(child, parents)
        n_configurations = codes.n_configurations(parents)

        def count(start: int, stop: int) -> None:
            kernel("family_scores")(
                base, n_base, int(codes.sizes[child]), n_configurations, codes.columns, codes.sizes, candidates[start:stop],
                *self.rule, out[start:stop],
            )  # fmt: skip

        over_ranges(count, len(candidates), self.threads if len(candidates) * codes.n_rows > LEAST_WORK else 1)
        self.n_counted += len(candidates)
        return out


def score_structure(
    X: Any, cardinalities: Any, edges: Iterable, *, score: str = "bic", equivalent_sample_size: float = 10.0
) -> float:
    """The score of a network, the larger the better.

    Parameters
    ----------
    X : array-like of int, (n, d)
        States of the variables; −1 is missing. A family is scored over the rows that observe it.
    cardinalities : array-like of int, (d,)
        Numbers of states.
    edges : iterable of (parent, child)
        The network.
    score : {"bic", "aic", "bdeu", "k2", "loglik"}, default="bic"
    equivalent_sample_size : float, default=10.0
        Of BDeu.

    Returns
    -------
    float
        The same for all networks of an equivalence class, unless the score is "k2" or cells are missing.

    Examples
    --------
    >>> from tacit.graph import score_structure
    >>> rows = [[0, 0], [1, 1], [0, 0], [1, 0]]
    >>> round(score_structure(rows, [2, 2], [(0, 1)]), 4), round(score_structure(rows, [2, 2], [(1, 0)]), 4)
    (-6.2383, -6.2383)
    """
    table, (bayesian, value) = Codes.of(X, cardinalities), scoring(score, equivalent_sample_size)
    matrix = check_edges("edges", edges, table.n_variables)
    if (cycle := cycle_of(matrix)) is not None:
        raise ValueError(f"the edges form the cycle {' → '.join(map(str, cycle))}; a network has none.")
    return sum(_family(table, child, np.flatnonzero(matrix[:, child]), bayesian, value) for child in range(len(matrix)))


def _family(table: Codes, child: int, parents: np.ndarray, bayesian: bool, value: float) -> float:
    base, n_base = table.family(child, parents.tolist())
    r, q = int(table.sizes[child]), table.n_configurations(parents.tolist())
    counts = np.bincount(base, minlength=n_base)[:n_base].reshape(-1, r).astype(float)
    rows = counts.sum(axis=1)
    if bayesian:
        a = 1.0 if value < 0 else value / (q * r)
        return float((gammaln(r * a) - gammaln(rows + r * a)).sum() + (gammaln(counts + a) - gammaln(a)).sum())
    penalty = 0.5 * np.log(max(rows.sum(), 1.0)) if value < 0 else value
    return float(xlogy(counts, counts).sum() - xlogy(rows, rows).sum() - penalty * q * (r - 1))
