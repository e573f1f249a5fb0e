"""`KNeighborsRegressor` and `RadiusNeighborsRegressor`: ŷ(q) = Σ_i w_i y_i / Σ_i w_i over the neighbours i of q."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_array

from ..base.settings import settings
from ..base.targets import refuse_text
from ..checks import as_numpy, check_range
from ..declared import Flag, Numbers
from ..source.threads import slices
from .classes import check_lengths
from .estimator import NeighborsEstimator
from .queries import KNeighbors, RadiusNeighbors
from .votes import check_weights, weights_of, weights_within

__all__ = ["KNeighborsRegressor", "RadiusNeighborsRegressor"]


class MeanNeighbors(RegressorMixin, NeighborsEstimator):
    """Base of regressors by neighbours, of one target or several."""

    weights: Any
    _needs = ("metric", "weights")
    _saved = NeighborsEstimator._saved | {"_y": Numbers("n o"), "_one_target": Flag()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _check_settings(self) -> None:
        super()._check_settings()
        check_weights(self.weights)

    def _learn(self, X: Any, y: Any) -> Self:
        """Keep the rows and their targets."""
        self._check_settings()
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        refuse_text(self, y)
        y = check_array(as_numpy(y), ensure_2d=False, dtype=np.float64, ensure_all_finite=False, input_name="y")
        gone = np.isnan(y.reshape(len(y), -1)).any(axis=1)
        if gone.any():
            raise ValueError(
                f"Input y contains NaN (row {int(np.argmax(gone))}); leave out rows whose target is missing ({int(gone.sum())})."
            )
        check_array(y, ensure_2d=False, input_name="y")  # refuses infinity
        check_range(y.reshape(len(y), -1), told=lambda column: f"{column} of y")
        self._one_target, self._y = y.ndim == 1, y.reshape(len(y), -1)
        self._fit(X)
        check_lengths(self, len(y))
        return self

    def _like(self, found: np.ndarray) -> np.ndarray:
        return found[:, 0] if self._one_target else found


@settings
class KNeighborsRegressor(MeanNeighbors, KNeighbors):
    """Predict numbers by the mean of the nearest rows.

    Takes the place of :class:`sklearn.neighbors.KNeighborsRegressor`; see :class:`NearestNeighbors` for metrics and searches.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many rows the mean is of.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        What a row counts: the same for all, 1 / distance, or what a function of an array of distances gives.
    algorithm, leaf_size, metric, p, metric_params, n_buoys, n_jobs
        As in :class:`NearestNeighbors`.

    Attributes
    ----------
    effective_metric_, effective_metric_params_, n_samples_fit_, n_distances_, n_distances_fit_, n_features_in_, feature_names_in_
        As in :class:`NearestNeighbors`.

    References
    ----------
    T. Hastie, R. Tibshirani and J. Friedman, *The Elements of Statistical Learning*, 2nd edition (2009), section 13.3.

    Examples
    --------
    >>> from tacit.neighbors import KNeighborsRegressor
    >>> model = KNeighborsRegressor(2).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 1.0, 1.0])
    >>> model.predict([[1.5]]).tolist()
    [0.5]
    """

    weights: Any = "uniform"

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the rows and their targets.

        Parameters
        ----------
        X
            As in :meth:`NearestNeighbors.fit`.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Numbers.

        Returns
        -------
        self
        """
        return self._learn(X, y)

    def predict(self, X: Any) -> np.ndarray:
        """The mean of the nearest rows.

        Parameters
        ----------
        X
            As in :meth:`NearestNeighbors.fit`; None predicts the rows of the fit, each from the others.

        Returns
        -------
        ndarray of shape (n_queries,) or (n_queries, n_outputs)
        """
        distances, indices, everyone = self._givers(X)
        weight, found = weights_of(distances, self.weights), np.empty((len(indices), self._y.shape[1]))
        for here in slices(len(indices), indices.shape[1] * self._y.shape[1]):
            total = np.einsum("qk,qko->qo", weight[here], self._y[indices[here]])
            found[here] = total / weight[here].sum(axis=1, keepdims=True)
        for query, rows in everyone.items():
            found[query] = self._y[rows].mean(axis=0)
        return self._like(found)


@settings
class RadiusNeighborsRegressor(MeanNeighbors, RadiusNeighbors):
    """Predict numbers by the mean of all rows within a radius.

    Takes the place of :class:`sklearn.neighbors.RadiusNeighborsRegressor`.

    Parameters
    ----------
    radius : float, default=1.0
        Up to which distance rows count.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        As in :class:`KNeighborsRegressor`; a function is given an array of arrays.
    algorithm, leaf_size, metric, p, metric_params, n_buoys, n_jobs
        As in :class:`NearestNeighbors`.

    Attributes
    ----------
    effective_metric_, effective_metric_params_, n_samples_fit_, n_distances_, n_distances_fit_, n_features_in_, feature_names_in_
        As in :class:`NearestNeighbors`.

    Examples
    --------
    >>> from tacit.neighbors import RadiusNeighborsRegressor
    >>> model = RadiusNeighborsRegressor(1.0).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 1.0, 1.0])
    >>> model.predict([[1.5]]).tolist()
    [0.5]
    """

    weights: Any = "uniform"

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the rows and their targets.

        Parameters
        ----------
        X
            As in :meth:`NearestNeighbors.fit`.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Numbers.

        Returns
        -------
        self
        """
        return self._learn(X, y)

    def predict(self, X: Any) -> np.ndarray:
        """As in :meth:`KNeighborsRegressor.predict`; NaN where there are no neighbours."""
        count, indices, distances = self._within(X)
        owner, weight = np.repeat(np.arange(len(count)), count), weights_within(count, distances, self.weights)
        if not count.all():
            warnings.warn(
                f"One or more samples have no neighbors within specified radius; predicting NaN. The first is row "
                f"{int(np.argmin(count))}; use a larger radius.",
                UserWarning,
                stacklevel=2,
            )
        total = np.bincount(owner, weight, minlength=len(count))
        with np.errstate(invalid="ignore"):
            found = [np.bincount(owner, weight * y[indices], minlength=len(count)) / total for y in self._y.T]
        return self._like(np.column_stack(found))
