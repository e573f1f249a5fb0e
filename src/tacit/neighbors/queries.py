"""`KNeighbors` and `RadiusNeighbors`: the rows of a fit that are nearest to queries, or within a radius, and their graphs."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import numpy as np
from scipy import sparse

from ..base.settings import settings
from ..checks import check_number
from .estimator import NeighborsEstimator
from .search import Found
from .votes import ragged

__all__ = ["KNeighbors", "RadiusNeighbors"]


def _check_mode(mode: Any) -> None:
    if mode not in ("connectivity", "distance"):
        raise ValueError(f'Unsupported mode, must be one of "connectivity", or "distance" but got "{mode}" instead')


def _blank_told(blank: np.ndarray) -> str:
    more = int(blank.sum()) - 1
    return f"row {int(np.argmax(blank))} of X{f' and {more} more have' if more else ' has'} no observed cell"


@settings
class KNeighbors(NeighborsEstimator):
    """Base of those that look for the nearest rows."""

    n_neighbors: int = 5

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("n_neighbors", self.n_neighbors, numbers.Integral, 1)

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """Find the nearest rows of the fit, of equally near ones those that come first.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_indexed), table, or None
            Queries; distances to all rows of the fit where these are given. None asks about the rows of the fit, which are not
            their own neighbours.
        n_neighbors : int, optional
            How many; default the setting.
        return_distance : bool, default=True
            Whether to return distances too.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors)
            Rising; only if `return_distance`.
        indices : ndarray of shape (n_queries, n_neighbors)
            Rows of the fit.
        """
        distances, indices, _, blank = self._nearest(X, self.n_neighbors if n_neighbors is None else n_neighbors)
        if blank.any():
            warnings.warn(
                f"{_blank_told(blank)}: all rows of the fit are equally near, of which the first are given.",
                UserWarning,
                stacklevel=2,
            )
        return (distances, indices) if return_distance else indices

    def _nearest(self, X: Any, k: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Distances and numbers of the nearest rows; which row of the fit each query is; whether no cell of it is observed."""
        if not isinstance(k, numbers.Integral):
            raise TypeError(f"n_neighbors does not take {type(k)} value, enter integer value")
        if k <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {k}; use at least 1.")
        Q, own, search = self._queries(X)
        most = self.n_samples_fit_ - (X is None)
        if k > most:
            raise ValueError(
                f"Expected n_neighbors {'<' if X is None else '<='} n_samples_fit, but n_neighbors = {k}, n_samples_fit = "
                f"{self.n_samples_fit_}, n_samples = {Q.shape[0]}; "
                f"{f'use at most {most}' if most else 'fit at least 2 rows, or give queries'}."
            )
        return (*search.nearest(Q, int(k), own), own, self._blank(Q))

    def _givers(self, X: Any) -> tuple[np.ndarray, np.ndarray, dict[int, np.ndarray]]:
        """Distances and numbers of the nearest rows; of queries without any observed cell, instead all rows, by query."""
        distances, indices, own, blank = self._nearest(X, self.n_neighbors)
        if blank.any():
            warnings.warn(
                f"{_blank_told(blank)}: all rows of the fit are equally near, and it is predicted from all of them.",
                UserWarning,
                stacklevel=4,
            )
        rows = np.arange(self.n_samples_fit_)
        return distances, indices, {int(q): rows[rows != own[q]] for q in np.flatnonzero(blank)}

    def kneighbors_graph(self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity") -> Any:
        """The graph of queries and their nearest rows.

        Parameters
        ----------
        X, n_neighbors
            As in :meth:`kneighbors`.
        mode : {"connectivity", "distance"}, default="connectivity"
            What is stored: ones, or distances.

        Returns
        -------
        sparse matrix of shape (n_queries, n_samples_fit), in CSR format
        """
        _check_mode(mode)
        distances, indices = self.kneighbors(X, n_neighbors)
        n, k = indices.shape
        data = distances.ravel() if mode == "distance" else np.ones(n * k)
        pointer = np.arange(0, n * k + 1, k)
        return sparse.csr_matrix((data, indices.ravel(), pointer), shape=(n, self.n_samples_fit_))


@settings
class RadiusNeighbors(NeighborsEstimator):
    """Base of those that look for all rows within a radius."""

    radius: float = 1.0

    def _check_settings(self) -> None:
        super()._check_settings()
        if self.radius is not None:
            check_number("radius", self.radius, numbers.Real, 0)

    def _within(self, X: Any, radius: Any = None) -> Found:
        """How many neighbours queries have, their numbers and distances."""
        radius = self.radius if radius is None else radius
        Q, own, search = self._queries(X)
        radii = np.asarray(radius, dtype=np.float64)
        if radii.ndim and radii.shape != (Q.shape[0],):
            raise ValueError(
                f"radius has shape {radii.shape}, but X has {Q.shape[0]} rows; give one number, or one for each row."
            )
        if np.isnan(radii).any() or (radii < 0).any():
            raise ValueError(f"radius={radius!r} must not be negative.")
        return search.within(Q, np.broadcast_to(radii, Q.shape[:1]).copy(), own)

    def radius_neighbors(
        self, X: Any = None, radius: Any = None, return_distance: bool = True, sort_results: bool = False
    ) -> Any:
        """Find all rows of the fit within a radius, those at that distance too.

        Parameters
        ----------
        X
            As in :meth:`KNeighborsClassifier.kneighbors`.
        radius : float or array-like of shape (n_queries,), optional
            The distance up to which rows are neighbours; default the setting.
        return_distance : bool, default=True
            Whether to return distances too.
        sort_results : bool, default=False
            Whether neighbours come by rising distance; else by number.

        Returns
        -------
        distances : ndarray of shape (n_queries,) of arrays
            Only if `return_distance`.
        indices : ndarray of shape (n_queries,) of arrays
            Rows of the fit.
        """
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        count, indices, distances = self._within(X, radius)
        if sort_results:
            order = np.lexsort((indices, distances, np.repeat(np.arange(len(count)), count)))
            indices, distances = indices[order], distances[order]
        found = ragged(count, indices)
        return (ragged(count, distances), found) if return_distance else found

    def radius_neighbors_graph(
        self, X: Any = None, radius: Any = None, mode: str = "connectivity", sort_results: bool = False
    ) -> Any:
        """The graph of queries and the rows within a radius.

        Parameters
        ----------
        X, radius
            As in :meth:`radius_neighbors`.
        mode : {"connectivity", "distance"}, default="connectivity"
            What is stored: ones, or distances.
        sort_results : bool, default=False
            Whether the cells of a row come by rising distance, which needs ``mode="distance"``.

        Returns
        -------
        sparse matrix of shape (n_queries, n_samples_fit), in CSR format
        """
        _check_mode(mode)
        distances, indices = self.radius_neighbors(X, radius, sort_results=sort_results and mode == "distance")
        pointer = np.concatenate([[0], np.cumsum([len(each) for each in indices])])
        columns = np.concatenate([np.empty(0, np.int64), *indices])
        data = np.concatenate([np.empty(0), *distances]) if mode == "distance" else np.ones(len(columns))
        return sparse.csr_matrix((data, columns, pointer), shape=(len(indices), self.n_samples_fit_))
