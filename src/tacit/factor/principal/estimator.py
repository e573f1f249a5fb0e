"""`PrincipalAxes`: what fitted axes say of rows: scores, approximations, and a distribution.

z = Vᵀ D⁻¹ (x − m),    x ≈ m + D V z,    S = D (V Λ Vᵀ + σ² (I − V Vᵀ)) D
"""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from ...base import DensityEstimator, MissingCells
from ...checks import check_number, check_rows
from ...families.factor import FactorGaussian
from ...kernels import backend, host
from ...mixture.model import MixtureModel
from ...source import Block
from ...source.sparse import canonical
from ..estimator import RowScores, factor_params

__all__ = ["PrincipalAxes"]

LEAST_NOISE = 1e-9
"""Noise variance relative to the mean along the axes, by which missing cells are filled where there is none."""


class PrincipalAxes(RowScores, MissingCells):
    """Base of estimators with `mean_`, `scale_`, orthonormal `components_`, `explained_variance_` and `noise_variance_`."""

    _takes_sparse = True
    mean_: np.ndarray
    scale_: np.ndarray | None
    components_: np.ndarray
    explained_variance_: np.ndarray
    noise_variance_: float
    rank_choice_: Any
    whiten: bool

    def _rows(self, X: Any, weight: Any = None, *, reset: bool = False) -> Any:
        """Rows opened: sparse ones as they are, all others as a source."""
        if issparse(X):
            return canonical(check_rows(self, X, reset=reset).tocsr())
        if backend(X) == "torch" and X.device.type == "cpu":
            X = X.detach().numpy()
        return self._open(X, weight, reset=reset)

    # Scores

    def transform(self, X: Any, out: Any = None) -> Any:
        """Scores of rows: their coordinates along the axes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), tensor, path, Arrow data, Dask collection or source
            Rows; a missing cell counts at its expectation given the others of its row.
        out : path, optional
            A Parquet file to write to, in a stream, instead of returning an array.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        return self._scores(self._rows(X), out)

    def _scores(self, rows: Any, out: Any = None) -> Any:
        axes, _ = self._both_ways()
        if issparse(rows):
            if out is not None:
                raise ValueError("out is for rows that are read in a stream; sparse rows give an array.")
            return rows @ axes.T - self.mean_ @ axes.T

        return self._apply(
            rows, lambda block: (self._filled(block) - self.mean_) @ axes.T, out, self.get_feature_names_out()
        )

    def _both_ways(self) -> tuple[np.ndarray, np.ndarray]:
        """Matrices that make scores of centred rows, and centred rows of scores."""
        there = back = self.components_
        if self.scale_ is not None:
            there, back = there / self.scale_, back * self.scale_
        if self.whiten:
            deviation = np.sqrt(self.explained_variance_)
            there = there / np.maximum(deviation, np.finfo(deviation.dtype).eps)[:, None]
            back = back * deviation[:, None]
        return there, back

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows that have these scores, and nothing outside of the axes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Scores.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        return self._check_scores(X) @ self._both_ways()[1] + self.mean_

    def reconstruct(self, X: Any, k: int | None = None) -> Any:
        """The approximation of rows by their first k components, in the units of the columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), tensor, path, Arrow data, Dask collection or source
            Rows; a missing cell counts at its expectation given the others of its row.
        k : int, optional
            Number of components, at most `n_components_`, the default.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        k = self.n_components_ if k is None else k
        check_number("k", k, numbers.Integral, 0, self.n_components_)
        there, back = self._both_ways()
        rows = self._rows(X)
        if issparse(rows):
            return self._scores(rows)[:, :k] @ back[:k] + self.mean_
        return self._apply(
            rows, lambda block: ((self._filled(block) - self.mean_) @ there[:k].T) @ back[:k] + self.mean_
        )

    def _filled(self, block: Block) -> np.ndarray:
        """Cells of a block, missing ones at their expectation."""
        X = host(block.X)
        if block.patterns.is_complete:
            return X
        return self._family().filled(self._params().components, block, np.ones((len(block), 1))).astype(X.dtype)

    # The distribution of rows

    def _family(self) -> FactorGaussian:
        return FactorGaussian(max(self.n_components_, 1))

    def _model(self) -> MixtureModel:
        return MixtureModel(self._family(), 1)

    def _params(self) -> Any:
        values, noise = self._model_variances()
        noise = max(noise, LEAST_NOISE * (values.mean() if len(values) else 0.0)) or 1.0  # rows all alike have none
        scale = np.ones(len(self.mean_)) if self.scale_ is None else self.scale_.astype(np.float64)
        loading = np.zeros((len(scale), max(len(values), 1)))
        loading[:, : len(values)] = self.components_.T * np.sqrt(np.maximum(values - noise, 0.0))
        return factor_params(self.mean_, loading * scale[:, None], noise * scale**2)

    def _model_variances(self) -> tuple[np.ndarray, float]:
        """Variances along the axes, and in all other directions; with as many axes as columns, the least of theirs."""
        values, noise = self.explained_variance_.astype(np.float64), float(self.noise_variance_)
        if self.n_components_ == len(self.mean_) and self.n_components_:
            noise = float(values[-1])
        return np.maximum(values, noise), noise

    def get_covariance(self) -> np.ndarray:
        """Covariance of rows under the model: variances along the axes, and noise in all other directions.

        Returns
        -------
        ndarray of shape (n_features, n_features)
        """
        check_is_fitted(self)
        return self._matrix(lambda values: values, 1.0)

    def get_precision(self) -> np.ndarray:
        """Inverse of the covariance of rows; where it has none, because there is no noise, the pseudo-inverse.

        Returns
        -------
        ndarray of shape (n_features, n_features)
        """
        check_is_fitted(self)
        return self._matrix(_inverse, -1.0)

    def _matrix(self, function: Callable[[np.ndarray], np.ndarray], power: float) -> np.ndarray:
        """The matrix with the axes of the covariance and a function of its eigenvalues, in units of the columns."""
        values, noise = self._model_variances()
        axes = self.components_.astype(np.float64)
        outside = function(np.array([noise]))[0]
        matrix = (axes.T * (function(values) - outside)) @ axes
        matrix[np.diag_indices_from(matrix)] += outside
        if self.scale_ is not None:
            scale = self.scale_.astype(np.float64) ** power
            matrix *= scale[:, None] * scale
        return matrix.astype(self.components_.dtype)

    def score_samples(self, X: Any) -> Any:
        """Log density of the observed cells of each row under the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), tensor, path, Arrow data, Dask collection or source
            Rows; NaN is missing.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        rows = self._rows(X)
        if issparse(rows):
            rows = self._open(rows.toarray())
        if not self._model_variances()[1] > 0:
            warnings.warn(
                f"the model has no noise outside of its {self.n_components_} axes, so that no row elsewhere has a density; "
                "densities are those of the projections onto the axes. Use fewer components.",
                stacklevel=2,
            )
        return self._apply(rows, lambda block: self._log_density(block).astype(block.dtype))

    def _log_density(self, block: Block) -> np.ndarray:
        if not block.patterns.is_complete:
            return self._family().log_prob(self._params().components, block)[:, 0]
        values, noise = self._model_variances()
        apart = host(block.X) - self.mean_.astype(np.float64)
        log_unit = 0.0
        if self.scale_ is not None:
            apart /= self.scale_
            log_unit = np.log(self.scale_.astype(np.float64)).sum()
        axes = self.components_.astype(np.float64)
        score = apart @ axes.T
        there = values > 0
        misfit = score[:, there] ** 2 @ (1.0 / values[there])
        log_det = 2.0 * log_unit + (np.log(2.0 * np.pi * values[there])).sum()
        outside = len(self.mean_) - len(values)
        if outside and noise > 0:
            misfit += ((apart - score @ axes) ** 2).sum(axis=1) / noise
            log_det += outside * np.log(2.0 * np.pi * noise)
        return -0.5 * (misfit + log_det)

    score = DensityEstimator.score


def _inverse(values: np.ndarray) -> np.ndarray:
    """1 / value, and 0 of 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
