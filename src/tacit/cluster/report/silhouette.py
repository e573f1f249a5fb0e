"""Silhouettes: how much nearer a row is to its own cluster than to the nearest other one.

    s_i = (b_i − a_i) / max(a_i, b_i)

with a_i the mean dissimilarity of row i to the other rows of its cluster, b_i the least mean dissimilarity to those of another.
Dissimilarities are made in blocks of rows, so that memory does not grow with the square of their number.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse

from ...checks import check_choice
from ...kernels import lazy
from ...source.threads import all_of, one_blas_thread, thread_count
from ..dissimilarity.blocks import Dissimilarity
from ..dissimilarity.metrics import ALIASES, METRICS, learn_parameters, make, takes_nan
from .labelled import Clusters, Rows

__all__ = ["METHODS", "Measure", "Silhouettes", "measure", "silhouettes"]

kernels = lazy("silhouette")

METHODS = ("auto", "exact", "sample", "simplified")
BLOCK_CELLS = 1 << 20
EUCLIDEAN = ("euclidean", "nan_euclidean", "sqeuclidean")


@dataclass(frozen=True)
class Measure:
    """A dissimilarity between rows: its name, the rows as it takes them, and how it is computed (nothing for a given matrix)."""

    name: str
    rows: np.ndarray
    metric: Dissimilarity | None = None
    categories: np.ndarray | None = None
    names: tuple[str, ...] = ()

    def between(self, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Dissimilarities of some rows to others, all by number."""
        if self.metric is None:
            return self.rows[np.ix_(rows, others)].astype(np.float64)
        return self.metric.checked(self.metric.between(self.rows[rows], self.rows[others]), rows, others)

    def most_whole(self, rows: np.ndarray) -> np.ndarray:
        """Which rows, by number, have the fewest missing cells: a row of few cells is near to all."""
        if self.metric is None:
            return np.ones(len(rows), bool)
        missing = np.isnan(self.rows[rows]).sum(axis=1)
        return missing == missing.min()

    @property
    def is_euclidean(self) -> bool:
        """Whether it is the Euclidean distance of rows without missing cells, for which scatter is defined."""
        return self.name in EUCLIDEAN and not np.isnan(self.rows).any()


@dataclass(frozen=True)
class Silhouettes:
    """Silhouettes of rows, and what the same distances tell of their clusters.

    Of each row its silhouette (NaN outside the sample, and where there is one cluster) and the nearest other cluster (−1 where
    unknown); of each cluster its most central row and the mean dissimilarity to it, or to the centre if "simplified"; how they
    were computed ("exact", "sample" or "simplified"); and how many rows have one.
    """

    values: np.ndarray
    neighbours: np.ndarray
    central: np.ndarray
    radius: np.ndarray
    method: str
    n_rows: int

    def means(self, clusters: Clusters) -> np.ndarray:
        """Weighted mean of each cluster; NaN where no row has a silhouette."""
        seen = ~np.isnan(self.values)
        weight, total = clusters.sums(seen), clusters.sums(np.where(seen, self.values, 0.0))
        return np.divide(total, weight, out=np.full(len(weight), np.nan), where=weight > 0)

    def mean(self, clusters: Clusters) -> float:
        """Mean of the clusters' means, weighted by their sizes."""
        totals = clusters.sums()
        return float(totals @ self.means(clusters) / totals.sum())

    def nearest(self, clusters: Clusters) -> np.ndarray:
        """For each cluster the other one that is the neighbour of most of its rows; −1 where there is none."""
        seen, n = self.neighbours >= 0, len(clusters.names)
        pairs = clusters.codes[seen], self.neighbours[seen]
        votes = sparse.coo_array((clusters.weight[seen], pairs), shape=(n, n)).tocsr()
        return np.where(np.diff(votes.indptr) > 0, votes.argmax(axis=1), -1)


def measure(rows: Rows, weight: np.ndarray, metric: str | Callable = "auto", parameters: dict | None = None) -> Measure:
    """The dissimilarity of a name or function for rows with these columns."""
    if not callable(metric):
        check_choice("metric", metric, ("auto", *METRICS))
    cells, categories = rows.cells, rows.categories
    missing = np.isnan(cells).any(axis=0)
    if metric == "auto":
        metric = "gower" if categories.any() else "euclidean"
    if not callable(metric) and ALIASES.get(metric, metric) == "euclidean" and missing.any():
        metric = "nan_euclidean"
    if metric == "gower":
        cells = cells.astype(np.float64, copy=False)
    elif categories.any():
        column = rows.names[int(np.argmax(categories))]
        raise ValueError(
            f"metric={metric!r} takes numbers, but column {column!r} holds categories; use metric='gower'."
        )
    elif missing.any() and not takes_nan(metric):
        column = rows.names[int(np.argmax(missing))]
        raise ValueError(
            f"column {column!r} has missing cells, which metric={metric!r} cannot handle; use metric='euclidean' or 'gower'."
        )
    parameters = learn_parameters(metric, parameters, cells, weight, rows.names, categories)
    categories = np.isnan(parameters["ranges"]) if metric == "gower" else categories
    name = getattr(metric, "__name__", "function") if callable(metric) else ALIASES.get(metric, metric)
    return Measure(name, cells, make(metric, parameters, cells), categories, tuple(rows.names))


def silhouettes(
    space: Measure, clusters: Clusters, *, method: str = "auto", max_rows: int | None = 10_000, random_state: int = 0,
    n_jobs: int | None = None,
) -> Silhouettes:  # fmt: skip
    """Silhouettes of all rows, of a sample of at most about `max_rows`, or by distances to centres ("simplified").

    A row's weight counts as the row given that many times: it is no neighbour of itself up to a weight of one.
    """
    check_choice("silhouette", method, METHODS)
    n = len(clusters.codes)
    if method == "auto":
        method = "exact" if max_rows is None or n <= max_rows else "sample"
    if method == "simplified":
        return _simplified(space, clusters, thread_count(n_jobs))
    chosen = np.arange(n)
    if method == "sample" and max_rows is not None and n > max_rows:
        chosen = _stratified(clusters, max_rows, np.random.default_rng(random_state))
    return _exact(space, clusters, chosen, "exact" if len(chosen) == n else "sample", thread_count(n_jobs))


def _stratified(clusters: Clusters, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Rows drawn from every cluster, by its size but never few: means over a cluster need rows of it."""
    n, n_clusters = len(clusters.codes), len(clusters.names)
    order = rng.permutation(n)
    order = order[np.argsort(clusters.codes[order], kind="stable")]
    sizes = np.bincount(clusters.codes, minlength=n_clusters)
    least = np.clip(n_rows // (4 * n_clusters), 2, 100)
    quota = np.minimum(sizes, np.maximum(least, sizes * n_rows // n))
    place = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(order[place < np.repeat(quota, sizes)])


def _exact(space: Measure, clusters: Clusters, chosen: np.ndarray, method: str, threads: int) -> Silhouettes:
    chosen = chosen[np.argsort(clusters.codes[chosen], kind="stable")]
    codes, weight, rows = clusters.codes[chosen], clusters.weight[chosen], clusters.rows[chosen]
    starts = np.searchsorted(codes, np.arange(len(clusters.names)))
    totals = np.add.reduceat(weight, starts)
    step = max(16, BLOCK_CELLS // len(chosen))
    by_products = space.name == "euclidean"
    if by_products:
        X = space.rows[rows].astype(np.float64)
        X = np.ascontiguousarray(X - X.mean(axis=0))
        squares, cuts = (X**2).sum(axis=1), np.append(starts, len(rows))

    def part(start: int) -> tuple[np.ndarray, ...]:
        here = slice(start, start + step)
        if by_products:
            sums = np.empty((len(codes[here]), len(starts)))
            kernels.cluster_sums(X[here] @ X.T, X, squares, weight, cuts, start, sums)
        else:
            sums = np.add.reduceat(space.between(rows[here], rows) * weight, starts, axis=1)
        return _scores(sums, codes[here], weight[here], totals)

    with one_blas_thread():
        parts = all_of(part, range(0, len(chosen), step), threads if getattr(space.metric, "threads", True) else 1)
    scores, neighbours, within = (np.concatenate(each) for each in zip(*parts))
    central = _central(space, rows, within, [*starts, len(rows)])
    values, near = np.full(len(clusters.codes), np.nan), np.full(len(clusters.codes), -1)
    values[chosen], near[chosen] = scores, neighbours
    return Silhouettes(values, near, rows[central], within[central] / totals, method, len(chosen))


def _central(space: Measure, rows: np.ndarray, apart: np.ndarray, cuts: Sequence[int] | np.ndarray) -> np.ndarray:
    """Of each stretch of rows the place of the one that is least apart, among those with the fewest missing cells."""
    places = []
    for start, stop in pairwise(cuts):
        whole = space.most_whole(rows[start:stop])
        places.append(start + int(np.where(whole, apart[start:stop], np.inf).argmin()))
    return np.array(places)


def _scores(
    sums: np.ndarray, own: np.ndarray, weight: np.ndarray, totals: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Silhouettes, neighbours and sums within the own cluster, from sums over clusters."""
    each = np.arange(len(own))
    within = sums[each, own]
    others = totals[own] - np.minimum(weight, 1.0)
    alone = others <= 1e-12 * totals[own]
    inside = within / np.where(alone, 1.0, others)
    apart = sums / totals
    apart[each, own] = np.inf
    neighbours = apart.argmin(axis=1)
    outside = apart[each, neighbours]
    if len(totals) == 1:
        return np.full(len(own), np.nan), np.full(len(own), -1), within
    return np.where(alone, 0.0, _ratio(inside, outside)), neighbours, within


def _ratio(inside: np.ndarray, outside: np.ndarray) -> np.ndarray:
    largest = np.maximum(inside, outside)
    return np.divide(outside - inside, largest, out=np.zeros(len(largest)), where=largest > 0)


def _simplified(space: Measure, clusters: Clusters, threads: int) -> Silhouettes:
    """Distances to centres instead of mean distances: one pass over the rows for any number of them."""
    metric = space.metric
    if metric is None:
        raise ValueError(
            "silhouette='simplified' needs rows, but metric='precomputed' has none; use 'exact' or 'sample'."
        )
    centers = _centers(space, clusters)
    step = max(64, BLOCK_CELLS // len(centers))

    def part(start: int) -> tuple[np.ndarray, ...]:
        here = slice(start, start + step)
        rows, own = clusters.rows[here], clusters.codes[here]
        block = metric.checked(metric.between(space.rows[rows], centers), rows, np.arange(len(centers)), "centre")
        inside = block[np.arange(len(own)), own]
        block[np.arange(len(own)), own] = np.inf
        return inside, block.min(axis=1), block.argmin(axis=1)

    parts = metric.all_of(part, range(0, len(clusters.codes), step), threads)
    inside, outside, neighbours = (np.concatenate(each) for each in zip(*parts))
    order = np.argsort(clusters.codes, kind="stable")
    cuts = np.searchsorted(clusters.codes[order], np.arange(len(centers) + 1))
    central = clusters.rows[order[_central(space, clusters.rows[order], inside[order], cuts)]]
    if len(centers) == 1:
        values, neighbours = np.full(len(inside), np.nan), np.full(len(inside), -1)
    else:
        values = _ratio(inside, outside)
    return Silhouettes(values, neighbours, central, clusters.means(inside), "simplified", len(inside))


def _centers(space: Measure, clusters: Clusters) -> np.ndarray:
    """Weighted means of observed cells; of categories the level that is most frequent. NaN where no cell is observed."""
    X, shape = space.rows[clusters.rows], (len(clusters.names), space.rows.shape[1])
    out = np.full(shape, np.nan)
    for j, column in enumerate(X.T.astype(np.float64)):
        seen = ~np.isnan(column)
        codes, weight, cells = clusters.codes[seen], clusters.weight[seen], column[seen]
        if space.categories is not None and space.categories[j]:
            values, places = np.unique(cells, return_inverse=True)
            shares = np.zeros((len(out), len(values)))
            np.add.at(shares, (codes, places), weight)
            out[:, j] = np.where(shares.sum(axis=1) > 0, values[shares.argmax(axis=1)], np.nan)
        else:
            origin = cells[0] if len(cells) else 0.0
            total = np.bincount(codes, weight, minlength=len(out))
            sums = np.bincount(codes, weight * (cells - origin), minlength=len(out))
            out[:, j] = np.where(total > 0, origin + sums / np.where(total > 0, total, 1.0), np.nan)
    return out
