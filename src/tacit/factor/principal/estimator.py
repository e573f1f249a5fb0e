"""`PrincipalAxes`: what fitted axes say of rows: scores, approximations, and a distribution.

z = Vᵀ D⁻¹ (x − m),    x ≈ m + D V z,    S = D (V Λ Vᵀ + σ² (I − V Vᵀ)) D
"""

import numbers
import warnings

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from ...base import DensityEstimator, MissingCells
from ...checks import check_number, check_rows
from ...families.factor import FactorGaussian, FactorParams
from ...kernels import backend, host
from ...mixture.model import MixtureModel, MixtureParams
from ...source.sparse import canonical

__all__ = ["PrincipalAxes"]

LEAST_NOISE = 1e-9
"""Noise variance relative to the mean along the axes, by which missing cells are filled where there is none."""


class PrincipalAxes(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MissingCells):
    """Base of estimators with `mean_`, `scale_`, orthonormal `components_`, `explained_variance_` and `noise_variance_`."""

    _takes_sparse = True
    mean_: np.ndarray
    scale_: np.ndarray | None
    components_: np.ndarray
    explained_variance_: np.ndarray
    noise_variance_: float
    n_components_: int

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self):
        return self.n_components_

    def _rows(self, X, weight=None, *, reset=False):
        """Rows opened: sparse ones as they are, all others as a source."""
        if issparse(X):
            X = check_rows(self, X, reset=reset)
            return canonical(X.tocsr())
        if backend(X) == "torch" and X.device.type == "cpu":
            X = X.detach().numpy()
        return self._open(X, weight, reset=reset)

    # Scores

    def transform(self, X, out=None):
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

    def _scores(self, rows, out=None):
        axes, _ = self._both_ways()
        if issparse(rows):
            if out is not None:
                raise ValueError("out is for rows that are read in a stream; sparse rows give an array.")
            return rows @ axes.T - self.mean_ @ axes.T

        def scores(block):
            return (self._filled(block) - self.mean_) @ axes.T

        return self._apply(rows, scores, out, self.get_feature_names_out())

    def _both_ways(self):
        """Matrices that make scores of centred rows, and centred rows of scores."""
        there = back = self.components_
        if self.scale_ is not None:
            there, back = there / self.scale_, back * self.scale_
        if self.whiten:
            deviation = np.sqrt(self.explained_variance_)
            there = there / np.maximum(deviation, np.finfo(deviation.dtype).eps)[:, None]
            back = back * deviation[:, None]
        return there, back

    def inverse_transform(self, X):
        """Rows that have these scores, and nothing outside of the axes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Scores.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        X = check_array(X, input_name="X", dtype=[np.float64, np.float32])
        if X.shape[1] != self.n_components_:
            raise ValueError(f"X has {X.shape[1]} columns, but there are {self.n_components_} scores per row.")
        return X @ self._both_ways()[1] + self.mean_

    def reconstruct(self, X, k=None):
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

    def _filled(self, block):
        """Cells of a block, missing ones at their expectation."""
        X = host(block.X)
        if block.patterns.is_complete:
            return X
        return self._family().filled(self._latent(), block, np.ones((len(block), 1))).astype(X.dtype)

    # The distribution of rows

    def _family(self):
        return FactorGaussian(max(self.n_components_, 1))

    def _model(self):
        return MixtureModel(self._family(), 1)

    def _params(self):
        return MixtureParams(np.ones(1), self._latent())

    def _latent(self):
        """Parameters of the family with the model's covariance."""
        values, noise = self._model_variances()
        noise = max(noise, LEAST_NOISE * (values.mean() if len(values) else 0.0)) or 1.0  # rows all alike have none
        scale = np.ones(len(self.mean_)) if self.scale_ is None else self.scale_.astype(np.float64)
        loading = np.zeros((len(scale), max(len(values), 1)))
        loading[:, : len(values)] = self.components_.T * np.sqrt(np.maximum(values - noise, 0.0))
        loading *= scale[:, None]
        mean, noise = self.mean_.astype(np.float64), noise * scale**2
        return FactorParams(mean[None], loading[None], noise[None], mean, (loading**2).sum(axis=1) + noise)

    def _model_variances(self):
        """Variances along the axes, and in all other directions; with as many axes as columns, the least of theirs."""
        values, noise = self.explained_variance_.astype(np.float64), float(self.noise_variance_)
        if self.n_components_ == len(self.mean_) and self.n_components_:
            noise = float(values[-1])
        return np.maximum(values, noise), noise

    def get_covariance(self):
        """Covariance of rows under the model: variances along the axes, and noise in all other directions.

        Returns
        -------
        ndarray of shape (n_features, n_features)
        """
        check_is_fitted(self)
        return self._matrix(lambda values: values, 1.0)

    def get_precision(self):
        """Inverse of the covariance of rows; where it has none, because there is no noise, the pseudo-inverse.

        Returns
        -------
        ndarray of shape (n_features, n_features)
        """
        check_is_fitted(self)
        return self._matrix(_inverse, -1.0)

    def _matrix(self, function, power):
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

    def score_samples(self, X):
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
                UserWarning,
                stacklevel=2,
            )
        return self._apply(rows, lambda block: self._log_density(block).astype(block.dtype))

    def _log_density(self, block):
        if not block.patterns.is_complete:
            return self._family().log_prob(self._latent(), block)[:, 0]
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


def _inverse(values):
    """1 / value, and 0 of 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
