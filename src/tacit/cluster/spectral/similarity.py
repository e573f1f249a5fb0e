"""`Similarity`: how alike two rows are, the same rule for fitted rows among themselves and for new rows against them."""

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils.sparsefuncs import mean_variance_axis

from .graphs import (
    all_distances,
    both,
    either,
    gaussian_weight,
    links_nearest,
    links_of_distances,
    links_within,
    nearest,
    ones,
)

__all__ = ["AFFINITIES", "PAIRWISE", "Similarity", "check_similarities", "symmetric"]

PAIRWISE = ("precomputed", "precomputed_nearest_neighbors")
SPARSE = ("nearest_neighbors", "mutual_nearest_neighbors", "epsilon")
AFFINITIES = (*SPARSE, *PAIRWISE, *sorted(PAIRWISE_KERNEL_FUNCTIONS))
N_TRIED_PAIRS = 20


@dataclass(frozen=True)
class Similarity:
    """A rule that turns rows into similarities; its attributes are settings of `SpectralClustering`, learned where left open.

    `widths` are the bandwidths of the fitted rows, and `gamma` is None where there are any. `kernel` has further arguments.
    """

    affinity: Any
    n_neighbors: int
    edge_weights: str
    n_jobs: int | None
    kernel: dict
    gamma: float | None
    widths: np.ndarray | None
    epsilon: float | None

    @classmethod
    def of(cls, settings: Any, gamma: float | None, widths: np.ndarray | None, epsilon: float | None) -> Self:
        """The rule of an estimator's settings, with a bandwidth or bandwidths and a radius that were learned."""
        kernel = dict(settings.kernel_params or {})
        if not callable(settings.affinity):
            kernel |= {"degree": settings.degree, "coef0": settings.coef0}
        asked = settings.affinity, settings.n_neighbors, settings.edge_weights, settings.n_jobs
        return cls(*asked, kernel, gamma, widths, epsilon)

    @classmethod
    def learned(cls, settings: Any, X: Any) -> Self:
        """The rule of an estimator's settings, with bandwidths and radius from X where they are left open."""
        affinity, gamma, widths, radius = settings.affinity, settings.gamma, None, settings.epsilon
        if isinstance(gamma, str) and not callable(affinity) and affinity not in PAIRWISE:
            if gamma == "local":
                gamma, widths = None, _widths(X, X, settings.n_neighbors, settings.n_jobs)
            else:
                spread = _total_variance(X)
                gamma = 1 / spread if spread > 0 else 1.0
        if affinity == "epsilon" and radius is None:
            distances, _ = nearest(X, X, min(settings.n_neighbors, X.shape[0]), settings.n_jobs)
            radius = float(np.median(distances[:, -1]))
        return cls.of(settings, gamma, widths, radius)

    def graph(self, X: Any) -> Any:
        """The symmetric similarities of rows among themselves: CSR, or dense for kernels and callables."""
        if callable(self.affinity):
            self._check_callable(X)
        links = self.between(X, X)
        if self.affinity == "precomputed":
            return symmetric(links)
        if self.affinity == "mutual_nearest_neighbors":
            return both(links)
        return either(links) if self.affinity in (*SPARSE, "precomputed_nearest_neighbors") else links

    def between(self, rows: Any, fitted: Any) -> Any:
        """Similarities of rows (first axis) to fitted rows; `fitted` is not used where they are given."""
        if self.affinity == "precomputed_nearest_neighbors":
            return ones(links_of_distances(rows, self.n_neighbors))
        if self.affinity == "epsilon" and self.epsilon is not None:
            return self._weighed(links_within(fitted, rows, self.epsilon), rows, fitted)
        if self.affinity in SPARSE:
            return self._weighed(links_nearest(fitted, rows, self.n_neighbors, self.n_jobs), rows, fitted)
        if self.affinity == "rbf":
            widths = None if self.widths is None else self._widths(rows, fitted)
            finest = 1.0 / max(self.gamma or 0.0, 1e-300) if self.widths is None else float(self.widths.min()) ** 2
            return gaussian_weight(all_distances(fitted, rows, finest), self.gamma, widths, self.widths)
        weights = rows
        if self.affinity != "precomputed":
            others = None if rows is fitted else fitted  # pairs of rows among themselves are computed once
            weights = pairwise_kernels(rows, others, metric=self.affinity, filter_params=True, **self._arguments())
            weights = weights.toarray() if sparse.issparse(weights) else weights
        check_similarities(weights)
        return weights

    def _weighed(self, links: sparse.csr_matrix, rows: Any, fitted: Any) -> sparse.csr_matrix:
        if self.edge_weights == "binary":
            return ones(links)
        widths = None if self.widths is None else self._widths(rows, fitted)
        return gaussian_weight(links, self.gamma, widths, self.widths)

    def _widths(self, rows: Any, fitted: Any) -> np.ndarray | None:
        return self.widths if rows is fitted else _widths(fitted, rows, self.n_neighbors, self.n_jobs)

    def _arguments(self) -> dict:
        return self.kernel if callable(self.affinity) else self.kernel | {"gamma": self.gamma}

    def _check_callable(self, X: Any) -> None:
        """Try a few pairs both ways round: scikit-learn evaluates each pair only once."""
        if sparse.issparse(X):
            return
        for i, j in np.random.default_rng(0).integers(X.shape[0], size=(N_TRIED_PAIRS, 2)):
            there, back = (float(self.affinity(X[a], X[b], **self.kernel)) for a, b in ((i, j), (j, i)))
            if not np.isclose(there, back, rtol=1e-6, equal_nan=True):
                raise ValueError(
                    f"affinity gives {there:g} for rows {i} and {j}, but {back:g} for rows {j} and {i}; "
                    "similarity must not depend on the order: return the mean of both."
                )


def _total_variance(X: Any) -> float:
    """The sum of the columns' variances, whatever their means."""
    return float(mean_variance_axis(X, axis=0)[1].sum() if sparse.issparse(X) else X.var(axis=0).sum())


def _widths(fitted: Any, rows: Any, n_neighbors: int, n_jobs: int | None) -> np.ndarray:
    """The distance from each row to the last of its nearest fitted rows; never 0, or copies would be alike to nothing else."""
    widths = nearest(fitted, rows, min(n_neighbors, fitted.shape[0]), n_jobs)[0][:, -1]
    positive = widths[widths > 0]
    return np.maximum(widths, 1e-3 * positive.mean() if positive.size else 1.0)


def check_similarities(weights: Any) -> None:
    """Raise where a similarity is negative or not finite, with its value."""
    values = weights.data if sparse.issparse(weights) else weights
    if values.size == 0:
        return
    least, greatest = float(values.min()), float(values.max())
    if not np.isfinite(least) or not np.isfinite(greatest):
        raise ValueError(
            f"a similarity is {least if not np.isfinite(least) else greatest}; similarities must be finite numbers: "
            "give 0 where two rows cannot be compared."
        )
    if least < 0:
        raise ValueError(
            f"a similarity is {least:g}; similarities must not be negative: use a kernel that gives none, such as 'rbf', "
            "or turn distances d into exp(-d**2 / (2 * width**2))."
        )


def symmetric(affinity: Any) -> Any:
    """A given affinity matrix, averaged with its transpose where it differs, with a warning."""
    if affinity.shape[0] != affinity.shape[1]:
        raise ValueError(
            f"a precomputed affinity must be square, but X has shape {affinity.shape}; "
            "for rows of features use affinity='rbf' or 'nearest_neighbors'."
        )
    if sparse.issparse(affinity):
        difference = affinity - affinity.T
        gap = np.abs(difference.data).max(initial=0.0)
    else:
        # By strips: no second matrix of this size.
        strips = range(0, len(affinity), 256)
        gap = max(np.abs(affinity[i : i + 256] - affinity[:, i : i + 256].T).max() for i in strips)
    if gap <= 1e-10 * max(1.0, float(affinity.max())):
        return affinity
    warnings.warn(
        f"the affinity matrix is not symmetric (entries differ by up to {gap:g}); it is averaged with its transpose.",
        stacklevel=2,
    )
    return 0.5 * (affinity + affinity.T)
