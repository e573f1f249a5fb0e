"""How many components: choices of the rank k from the eigenvalues λ_1 ≥ … ≥ λ_d of a covariance or correlation matrix.

share:     the least k with Σ_{i≤k} λ_i / Σ λ_i above a share
mle:       the greatest evidence p(X | k), by Minka's approximation
bic:       the least −2 log p(X | μ, W, σ²) + log(n) (d + dk − k(k−1)/2 + 1) of probabilistic PCA
parallel:  λ_1 … λ_k above what independent columns would give (Horn)
cv:        the least generalised cross-validation error of a cell left out
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln
from sklearn.utils import check_random_state

from ...checks import check_number
from ...declared import SQUARES, Numbers, Text, Whole, declare, savable
from ...families.factor import n_parameters
from ...source.threads import one_blas_thread

__all__ = [
    "METHODS", "RankChoice", "Spectrum", "bic", "check_total", "choose_rank", "cross_validation", "least_rank", "minka",
    "parallel", "rank_of", "share",
]  # fmt: skip

METHODS = ("mle", "bic", "parallel", "cv")
"""Ways to choose a rank that have a name; a number between 0 and 1 is a share of the variance."""

TINY = 1e-15
PATIENCE = 3  # ranks without improvement after which a search ends


@savable
@dataclass(frozen=True)
class RankChoice:
    """A rank, and the curve it was chosen by.

    Attributes
    ----------
    rank : int
        The number of components chosen.
    method : str
        How: "share", "mle", "bic", "parallel", "parallel_factors", "cv" or, of cells that were hidden, "cells".
    ranks : (m,) int array
        The ranks that were compared.
    values : (m,) array
        For every one of them: the share explained ("share"), the log evidence ("mle", most is best), the BIC or the squared
        error per cell ("bic", "cv", "cells", least is best), or the eigenvalue (of parallel analysis).
    threshold : float, (m,) array or None
        What values must exceed: the share asked for, or the quantiles of eigenvalues of independent columns (parallel analysis).
    """

    rank: int
    method: str
    ranks: np.ndarray
    values: np.ndarray
    threshold: Any = None
    _saved = declare(
        rank=Whole(0), method=Text(("share", "cells", "parallel_factors", *METHODS)), ranks=Numbers("m", low=0, kind="i"),
        values=Numbers("m", high=SQUARES, beside=(np.inf, -np.inf)), threshold=Numbers("| m", optional=True),
    )  # fmt: skip


@dataclass(frozen=True)
class Spectrum:
    """What the choices need to know of a covariance or correlation matrix, with divisor n − 1."""

    eigenvalues: np.ndarray  # in decreasing order; those not listed are 0
    n_rows: float  # or their total weight
    n_features: int
    variances: np.ndarray | None = None  # of the columns of a covariance matrix
    reduced: bool = False  # with squared multiple correlations on the diagonal

    @classmethod
    def of_correlation(cls, matrix: np.ndarray, n_rows: float, reduced: bool = False) -> Spectrum:
        """Of a correlation matrix; `reduced`, only of what columns share."""
        if reduced and (n_rows <= len(matrix) or np.linalg.eigvalsh(matrix)[0] < 1e-10):
            raise ValueError(
                f"n_components='parallel_factors' regresses every column on the others, but the {len(matrix)} columns are "
                f"collinear or not fewer than the {n_rows:g} rows; use 'parallel' or drop columns."
            )
        values = common_eigenvalues(matrix) if reduced else np.maximum(np.linalg.eigvalsh(matrix)[::-1], 0.0)
        return cls(values, n_rows, len(matrix), reduced=reduced)

    @property
    def most(self) -> int:
        """The greatest rank that leaves some variance to noise."""
        positive = int((self.eigenvalues > TINY * max(self.eigenvalues[0], 0.0)).sum()) if len(self.eigenvalues) else 0
        return max(min(positive, self.n_features) - 1, 0)


def rank_of(spectrum: Spectrum, method: str | float, **simulations: Any) -> RankChoice:
    """The `RankChoice` of a method, or of the share of the variance to explain; `simulations` are settings of `parallel`."""
    check_total(spectrum.n_rows)
    if not isinstance(method, str):
        return share(spectrum, method)
    if method == "parallel":
        return parallel(spectrum, **simulations)
    return {"mle": minka, "bic": bic, "cv": cross_validation}[method](spectrum)


def least_rank(criterion: Callable[[int], float], most: int, method: str) -> RankChoice:
    """The rank with the least criterion, from 0 on, until none has improved on it for a while."""
    values: list[float] = []
    for rank in range(most + 1):
        values.append(criterion(rank))
        if rank - int(np.argmin(values)) >= PATIENCE:
            break
    return RankChoice(int(np.argmin(values)), method, np.arange(len(values)), np.array(values))


def check_total(weight: float) -> None:
    """Raise where rows weigh too little for a number of components to be chosen."""
    if weight <= 1.0:
        raise ValueError(
            f"the rows weigh {weight:g} together, but weights count rows where a number of components is chosen; "
            "multiply sample_weight so that it sums to the number of rows, or give n_components as a number."
        )


def share(spectrum: Spectrum, level: float) -> RankChoice:
    """The least rank that explains more than a share of the variance."""
    values = spectrum.eigenvalues
    total = values.sum()
    explained = np.cumsum(values) / total if total > 0 else np.ones(len(values))
    ranks = np.arange(1, len(values) + 1)
    # A share that is met to rounding is not exceeded.
    rank = int(np.searchsorted(explained, level * (1.0 + 1e-12), side="right")) + 1
    return RankChoice(min(rank, len(values)), "share", ranks, explained, float(level))


def minka(spectrum: Spectrum) -> RankChoice:
    """The rank of the greatest evidence, between 1 and d − 1, by Laplace's approximation.

    References
    ----------
    Minka (2000), Automatic choice of dimensionality for PCA.
    """
    d, n = spectrum.n_features, spectrum.n_rows
    if n < d:
        raise ValueError("n_components='mle' is only supported if n_samples >= n_features")
    values = np.zeros(d)
    values[: len(spectrum.eigenvalues)] = spectrum.eigenvalues
    # In units of the greatest: the evidences of all ranks shift alike, and what is tiny is so in any units.
    values /= values[0] if values[0] > 0 else 1.0
    ranks = np.arange(1, d)
    # A rank between equal eigenvalues has no axes of its own.
    apart = values[:-1] > values[1:] * (1.0 + 1e-10)
    evidence = np.array([_evidence(values, int(k), n) if apart[k - 1] else -np.inf for k in ranks])
    rank = int(ranks[np.argmax(evidence)]) if d > 1 else min(d, 1)
    return RankChoice(rank, "mle", ranks, evidence)


def _evidence(values: np.ndarray, k: int, n: float) -> float:
    """Minka's log evidence of rank k, up to what is the same for all ranks."""
    d = len(values)
    if values[k - 1] < TINY:
        return -np.inf
    # Equation numbers of the paper in its notation: p(U), the likelihood, and Laplace's determinant |A_z|.
    left = (d - np.arange(k)) / 2.0
    log_axes = -k * np.log(2.0) + (gammaln(left) - left * np.log(np.pi)).sum()
    noise = max(TINY, values[k:].sum() / (d - k))
    loglik = -0.5 * n * (np.log(values[:k]).sum() + (d - k) * np.log(noise))
    size = d * k - k * (k + 1) / 2.0
    fitted = np.append(values[:k], np.full(d - k, noise))
    apart = values[:k, None] - values
    inverse = 1.0 / fitted - 1.0 / fitted[:k, None]
    pairs = np.triu(np.ones((k, d), bool), 1)
    # Equal eigenvalues among those kept leave their axes undetermined; a floor keeps the approximation finite.
    curvature = np.maximum(apart[pairs] * inverse[pairs], np.finfo(float).tiny)
    determinant = (np.log(curvature) + np.log(n)).sum()
    return log_axes + loglik + np.log(2.0 * np.pi) * (size + k) / 2.0 - determinant / 2.0 - k * np.log(n) / 2.0


def bic(spectrum: Spectrum) -> RankChoice:
    """The rank with the least BIC of probabilistic PCA, from 0 to the greatest that leaves noise."""
    n, d = spectrum.n_rows, spectrum.n_features
    values = spectrum.eigenvalues * (n - 1.0) / n
    # Beyond half of the number of rows, likelihoods of fits to few rows run away.
    ranks = np.arange(min(spectrum.most, max(int(n) // 2, 1)) + 1)
    kept = np.append(0.0, np.cumsum(np.log(np.maximum(values[: len(ranks) - 1], np.finfo(float).tiny))))
    noise = (values.sum() - np.append(0.0, np.cumsum(values[: len(ranks) - 1]))) / (d - ranks)
    deviance = n * (d * np.log(2.0 * np.pi) + kept + (d - ranks) * np.log(np.maximum(noise, np.finfo(float).tiny)) + d)
    criterion = deviance + np.log(n) * n_parameters(ranks, d)
    return RankChoice(int(np.argmin(criterion)), "bic", ranks, criterion)


def cross_validation(spectrum: Spectrum) -> RankChoice:
    """The rank with the least error of cells predicted without themselves, by generalised cross-validation.

    GCV(k) = np Σ (x − x̂)² / ((n − 1)p − k(n + p − k − 1))² for n rows and p columns: what is left unexplained over the
    square of the degrees of freedom that are left.

    References
    ----------
    Josse and Husson (2012), Selecting the number of components in principal component analysis using cross-validation
    approximations.
    """
    n, d = spectrum.n_rows, spectrum.n_features
    values = spectrum.eigenvalues * (n - 1.0)
    ranks = np.arange(min(spectrum.most, len(values)) + 1)
    rest = values.sum() - np.append(0.0, np.cumsum(values[: len(ranks) - 1]))
    free = degrees_left(ranks, n, d)
    ranks, rest, free = ranks[free > 0], rest[free > 0], free[free > 0]
    if not len(ranks):
        return RankChoice(0, "cv", np.zeros(1, int), np.array([np.inf]))
    errors = n * d * np.maximum(rest, 0.0) / free**2
    return RankChoice(int(ranks[np.argmin(errors)]), "cv", ranks, errors)


def degrees_left(rank: Any, n: float, d: int, n_missing: float = 0) -> Any:
    """Cells that remain after the means and `rank` components are paid for."""
    return (n - 1.0) * d - n_missing - rank * (n + d - rank - 1.0)


def parallel(
    spectrum: Spectrum, *, n_simulations: int = 100, quantile: float = 0.95, random_state: Any = None
) -> RankChoice:
    """The number of leading eigenvalues above those of independent normal columns of the same variances and size.

    What must be exceeded is a quantile of the eigenvalues of simulated tables, and 0.

    References
    ----------
    Horn (1965), A rationale and test for the number of factors in factor analysis. Glorfeld (1995), An improvement on Horn's
    parallel analysis. Humphreys and Montanelli (1975), An investigation of the parallel analysis criterion (common factors).
    """
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    # Threads of BLAS cost more than they save on matrices of this size.
    with one_blas_thread() if spectrum.n_features <= 500 else nullcontext():
        simulated = np.array([_simulated(spectrum, rng) for _ in range(n_simulations)])
    threshold = np.quantile(simulated, quantile, axis=0)
    values = spectrum.eigenvalues
    m = min(len(values), len(threshold))
    above = values[:m] > np.maximum(threshold[:m], 0.0)
    rank = m if above.all() else int(np.argmin(above))
    return RankChoice(
        rank, "parallel_factors" if spectrum.reduced else "parallel", np.arange(1, m + 1), values[:m], threshold[:m]
    )


def _simulated(spectrum: Spectrum, rng: np.random.Generator) -> np.ndarray:
    """Eigenvalues of the covariance, or correlation matrix, of independent normal columns."""
    n, d = spectrum.n_rows, spectrum.n_features
    many = n > d
    if many:
        # A root of the matrix, whose law is Wishart's: drawn by Bartlett at no cost per row.
        root = np.tril(rng.normal(size=(d, d)), -1)
        root[np.diag_indices(d)] = np.sqrt(rng.chisquare(n - 1.0 - np.arange(d)))
    else:
        n = max(round(n), 2)
        rows = rng.normal(size=(n, d))
        root = (rows - rows.mean(axis=0)).T
    if spectrum.variances is None:
        root /= np.linalg.norm(root, axis=1)[:, None]
    else:
        root *= np.sqrt(spectrum.variances / (n - 1.0))[:, None]
    if spectrum.reduced:
        return common_eigenvalues(root @ root.T)
    return np.maximum(np.linalg.eigvalsh(root @ root.T if many else root.T @ root)[::-1], 0.0)


def common_eigenvalues(correlation: np.ndarray) -> np.ndarray:
    """Eigenvalues of R with squared multiple correlations, 1 − 1/(R⁻¹)_jj, on the diagonal, the largest first."""
    return np.linalg.eigvalsh(correlation - np.diag(1.0 / np.diagonal(np.linalg.inv(correlation))))[::-1]


def choose_rank(
    X: Any,
    method: str | float = "parallel",
    *,
    scale: bool = False,
    sample_weight: Any = None,
    n_simulations: int = 100,
    quantile: float = 0.95,
    random_state: Any = None,
) -> RankChoice:
    """How many principal components rows have.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), tensor, path, Arrow data, Dask collection or source
        Rows; NaN is missing.
    method : {"parallel", "mle", "bic", "cv"} or float, default="parallel"
        Horn's parallel analysis, Minka's evidence, BIC of probabilistic PCA, generalised cross-validation of cells, or a share
        of the variance between 0 and 1.
    scale : bool, default=False
        Whether columns are divided by their standard deviations first.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights.
    n_simulations, quantile, random_state
        Of parallel analysis: number of simulated tables, the quantile of their eigenvalues to exceed, and the seed.

    Returns
    -------
    RankChoice

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.factor import choose_rank
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 6)) + 0.3 * rng.normal(size=(200, 6))
    >>> [choose_rank(X, method).rank for method in ("mle", "bic", "cv")]
    [2, 2, 2]
    """
    from .pca import PCA

    check_number("n_simulations", n_simulations, numbers.Integral, 1)
    check_number("quantile", quantile, numbers.Real, 0, 1)
    if method is None or isinstance(method, numbers.Integral):
        raise ValueError(f"method={method!r} does not choose; use a share between 0 and 1 or one of {METHODS}.")
    model = PCA(method, scale=scale, random_state=random_state)
    model._fit(X, sample_weight, n_simulations=n_simulations, quantile=quantile)
    return model.rank_choice_
