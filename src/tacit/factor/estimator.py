"""`FactorEstimator`: what estimators of x = μ + W z + ε share, where z is a vector per row: its posterior, and what it says of x.

z | x_O ~ N(M⁻¹ W_Oᵀ Ψ_O⁻¹ (x_O − μ_O), M⁻¹),    M = I + W_Oᵀ Ψ_O⁻¹ W_O,    O the observed cells of the row
"""

import numbers

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from ..base import DensityEstimator, MissingCells, like
from ..checks import check_number
from ..families.factor import FactorParams, groups_of, unpack
from ..mixture.model import MixtureModel, MixtureParams

__all__ = ["FactorEstimator"]


class FactorEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MissingCells, DensityEstimator):
    """Base of estimators with a Gaussian vector behind every row.

    A subclass defines ``_family()``, the `FactorGaussian` its settings describe, ``_loadings()`` (d, k) and ``_noise()`` (d,),
    made from fitted attributes, and ``_publish``. Besides `mean_` it has what `_learn` asks of settings.
    """

    warm_start, n_init = False, 1
    _axis = "axis", "axes"  # what one and several are called
    n_components_: int
    mean_: np.ndarray

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_settings(self):
        self._check_engine(fewest_steps=1)

    _n_classes = 1

    @property
    def _n_features_out(self):
        return self.n_components_

    def _family(self):
        raise NotImplementedError

    def _loadings(self):
        raise NotImplementedError

    def _noise(self):
        raise NotImplementedError

    def _model(self):
        return MixtureModel(self._family(), 1)

    def _params(self):
        mean, loading, noise = (
            np.asarray(value, dtype=np.float64) for value in (self.mean_, self._loadings(), self._noise())
        )
        variance = (loading**2).sum(axis=1) + noise
        return MixtureParams(np.ones(1), FactorParams(mean[None], loading[None], noise[None], mean, variance))

    def _sample_rows(self):
        # One start, which need not be chosen among many: enough rows for a good one.
        return 5000

    # The vector behind a row

    def transform(self, X, return_cov=False, out=None):
        """Expectation of the scores z of each row given its observed cells.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing.
        return_cov : bool, default=False
            Also return the covariance of the scores, which depends on which cells are observed.
        out : path, optional
            A Parquet file to write to, in a stream, instead of returning an array.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_components)
        covariance : ndarray of shape (n_samples, n_components, n_components)
            Only if `return_cov`.
        """
        check_is_fitted(self)
        if return_cov and out is not None:
            raise ValueError("return_cov=True gives arrays, so it does not go with out; call transform once for each.")
        found = self._posterior(X, return_cov, out)
        return (found[:, 0], found[:, 1:]) if return_cov else found

    def _posterior(self, X, return_cov, out):
        """Expectations (n, k); with `return_cov` each stacked on its covariance, (n, 1 + k, k)."""
        family, params = self._family(), self._params().components

        def posterior(block):
            score, inverse = family.scores(params, block)
            if not return_cov:
                return like(block, score[0])
            spread = unpack(inverse[0])[groups_of(block.patterns)]
            return like(block, np.concatenate([score[0][:, None], spread], axis=1))

        return self._apply(X, posterior, out, self.get_feature_names_out())

    def _results(self, X):
        names, (scores, std) = [f"{self._axis[0]}_{k}" for k in range(1, self.n_components_ + 1)], self._scored(X)
        return dict(zip(names, scores.T)) | {f"se_{name}": part for name, part in zip(names, std.T)}

    def _scored(self, X):
        """Scores of rows and their standard errors, (n, k) each."""
        scores, covariance = self.transform(X, return_cov=True)
        return scores, np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))

    def inverse_transform(self, Z):
        """Rows that scores expect: μ + W z.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components)
            Scores.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        Z = check_array(Z, dtype=[np.float64, np.float32])
        if Z.shape[1] != self.n_components_:
            raise ValueError(f"Z has {Z.shape[1]} columns, but there are {self.n_components_} scores per row.")
        return (Z @ self._loadings().T + self.mean_).astype(Z.dtype, copy=False)

    def reconstruct(self, X):
        """Rows without their noise: μ + W E[z | x], in observed cells too.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        family, params = self._family(), self._params().components

        def expected(block):
            return like(block, family.scores(params, block)[0][0] @ params.loading[0].T + params.mean[0])

        return self._apply(X, expected)

    # What the scores say of the columns

    def column_correlations(self):
        """Correlations of the columns with the scores; of factors that correlate, the pattern.

        Returns
        -------
        ndarray of shape (n_features, n_components)
            A square is the share of a column's variance that an axis explains.
        """
        raise NotImplementedError

    def variance_shares(self):
        """Share of the variance of the standardised columns that each axis explains.

        Returns
        -------
        ndarray of shape (n_components,)
        """
        raise NotImplementedError

    # The distribution of rows

    def sample(self, n_samples=1, random_state=None):
        """Draw rows from the fitted distribution.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows.
        random_state : int, RandomState instance or None, default=None
            Seeds the draws; by default the estimator's own does.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        check_number("n_samples", n_samples, numbers.Integral, 1)
        return self._family().sample(self._params().components, np.zeros(n_samples, np.intp), self._rng(random_state))

    def get_covariance(self):
        """Covariance of rows under the model, W Wᵀ + Ψ.

        Returns
        -------
        ndarray of shape (n_features, n_features)
        """
        check_is_fitted(self)
        return self._params().components.dense[0]

    def get_precision(self):
        """Inverse of the covariance of rows, made without inverting anything larger than n_components.

        Returns
        -------
        ndarray of shape (n_features, n_features)
        """
        check_is_fitted(self)
        loading, noise = np.asarray(self._loadings(), np.float64), np.asarray(self._noise(), np.float64)
        weighted = loading / noise[:, None]
        inner = np.eye(loading.shape[1]) + loading.T @ weighted
        return np.diag(1.0 / noise) - weighted @ np.linalg.solve(inner, weighted.T)
