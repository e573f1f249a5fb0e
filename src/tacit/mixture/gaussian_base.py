"""`BaseGaussianMixture`: what estimators of Gaussian mixtures share, whether learned by likelihood or by Bayes.

x̂_M = Σ_k p(k | x_O) E_k[x_M | x_O],   the expectation of a row's missing cells M given the observed ones O
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

from ..declared import SQUARES, Numbers
from ..families import GAUSSIANS, Gaussian
from ..families.gaussian import GaussianParams
from ..frames import beside
from ..source import Block, is_streamed
from .conditional import ConditionalMixture
from .estimator import MixtureEstimator

__all__ = ["BaseGaussianMixture"]


def _covariance_shape(estimator: BaseGaussianMixture) -> str:
    """The shape of a mixture's covariances, as declarations tell shapes."""
    kind = GAUSSIANS.get(estimator.covariance_type)
    if kind is None:
        raise ValueError(f"covariance_type is {estimator.covariance_type!r}, which is unknown")
    return " ".join({2: "K", 3: "d"}[size] for size in kind().shape(2, 3))


class BaseGaussianMixture(MixtureEstimator):
    """Base of Gaussian mixtures: settings, fitted Gaussians, and the distribution of missing cells."""

    _saved = MixtureEstimator._saved | {
        "means_": Numbers("K d"),
        "covariances_": Numbers(_covariance_shape, high=SQUARES),
        "precisions_": Numbers(_covariance_shape, form="definite", high=SQUARES),
        "precisions_cholesky_": Numbers(_covariance_shape, form="factor"),
    }

    _held: tuple[str, ...] = ("weights_", "means_", "covariances_")  # what parameters are made from

    def _family(self) -> Gaussian:
        return GAUSSIANS[self.covariance_type](floor=self.reg_covar)

    # Fitted Gaussians

    def _publish_components(self, components: Any, dtype: np.dtype) -> None:
        """Set the attributes that describe the Gaussians."""
        self.means_ = components.mean.astype(dtype)
        self.covariances_ = components.covariance.astype(dtype)
        if self._family().matrices:
            triangle = components.triangle
            precision = triangle @ np.swapaxes(triangle, -1, -2)
        else:
            triangle = 1.0 / np.sqrt(components.covariance)
            precision = triangle**2
        self.precisions_cholesky_ = triangle.astype(dtype)
        self.precisions_ = precision.astype(dtype)

    def _components(self) -> GaussianParams:
        """The Gaussians that the attributes describe, about their common mean."""
        weight, mean, covariance, *more = (np.asarray(getattr(self, name), dtype=np.float64) for name in self._held)
        family: Any = self._family()
        weight = weight[: len(mean)] / weight[: len(mean)].sum()
        dense = family.params(mean, covariance, mean[0], mean[0], *more).dense
        variance = np.einsum("k,kjj->j", weight, dense) + weight @ (mean - weight @ mean) ** 2
        return family.params(mean, covariance, weight @ mean, variance, *more)

    # Missing cells

    def conditional(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of each row given its observed cells.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing.

        Returns
        -------
        mean : ndarray of shape (n_samples, n_features)
            Observed cells as they are, missing ones at their expectation.
        covariance : ndarray of shape (n_samples, n_features, n_features)
            Zero in the rows and columns of observed cells.
        """
        check_is_fitted(self)
        self._check_gaussian()
        model, uncertain = self._model(), self._uncertain()
        family: Any = model.family

        def fill(block: Block) -> np.ndarray:
            parts = [
                family.complete(params.components, block, model.posterior(params, block)[0], return_cov=True)
                for params in uncertain
            ]
            filled, cov = (sum(part) / len(parts) for part in zip(*parts))
            for apart in (mean - filled for mean, _ in parts if len(parts) > 1):
                cov += apart[:, :, None] * apart[:, None, :] / len(parts)
            return np.concatenate([filled[:, None], cov], axis=1).astype(block.dtype)

        result = self._apply(X, fill)
        return result[:, 0], result[:, 1:]

    # Some columns given others

    def condition(self, X: Any, given: Any = None, target: Any = None) -> ConditionalMixture:
        """The distribution of some columns given others, for every row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_given) or (n_samples, n_features)
            The given columns alone, in the order of `given`, or all columns. Missing cells (NaN) are integrated out.
        given, target : column or list of columns, optional
            What is known and what is asked for, by number or name. One of the two may be left out and is then all other
            columns; a column in neither is integrated out.

        Returns
        -------
        ConditionalMixture
            With `mean`, `covariance`, `std`, `quantile`, `interval`, `log_density` and `sample`.
        """
        self._check_gaussian()
        rows, target = self._known(X, given, target)
        block, model = Block.of(rows), self._model()
        return ConditionalMixture.pooled(
            [
                ConditionalMixture.of(params.components, model.posterior(params, block)[0], block, target)
                for params in self._uncertain()
            ]
        )

    def _known(self, X: Any, given: Any, target: Any) -> tuple[np.ndarray, np.ndarray]:
        """Rows of all columns with only the given cells in them, and the numbers of the target columns."""
        if is_streamed(X):
            raise ValueError("this method takes rows in memory; read the part you need first.")
        given, target = self._given_and_target(given, target)
        known = self._given_columns(X, given)
        rows = np.full((len(known), self.n_features_in_), np.nan)
        rows[:, given] = known
        return rows, target

    def predict_given(self, X: Any, given: Any = None, target: Any = None, return_distribution: bool = False) -> Any:
        """Expectation of some columns given others: regression with any columns as inputs and any as outputs.

        Parameters
        ----------
        X, given, target
            As in `condition`.
        return_distribution : bool, default=False
            Also return the distribution, a `ConditionalMixture`.

        Returns
        -------
        mean : ndarray of shape (n_samples, n_targets), or table of the kind of X
            A single column where `target` is one and not a list.
        distribution : ConditionalMixture
            Only if `return_distribution`.
        """
        if not return_distribution and self.noise:
            return self._expected_given(X, given, target)
        found = self.condition(X, given, target)
        mean = self._of_targets(found.mean, X, given, target)
        return (mean, found) if return_distribution else mean

    def _check_gaussian(self) -> None:
        if self.noise:
            raise NotImplementedError(
                "given some cells, a mixture with noise is no mixture of Gaussians; use predict_given for means, "
                "impute(X, interval=0.9) for intervals and draw_missing for draws."
            )

    def _expected_given(self, X: Any, given: Any, target: Any) -> Any:
        """Expectation of some columns given others, whatever the distribution."""
        rows, columns = self._known(X, given, target)
        model, block = self._model(), Block.of(rows)
        each = [
            model.family.filled(params.components, block, model.posterior(params, block)[0])[:, columns]
            for params in self._uncertain()
        ]
        return self._of_targets(np.mean(each, axis=0), X, given, target)

    def _of_targets(self, values: np.ndarray, X: Any, given: Any, target: Any) -> Any:
        """Columns of the targets as a table of the kind of X; a single one where the target is not a list."""
        names = [self._column_names()[j] for j in self._given_and_target(given, target)[1]]
        made = beside(values, names, X)
        if not isinstance(target, (str, numbers.Integral)):
            return made
        return made[:, 0] if made is values else made[names[0]]

    def _given_columns(self, X: Any, given: np.ndarray) -> np.ndarray:
        """The given columns of X, which holds them alone or among all columns."""
        names = self._known_names()
        if hasattr(X, "columns") and names is not None:
            wanted = [str(names[j]) for j in given]
            absent = [name for name in wanted if name not in list(X.columns)]
            if absent:
                raise ValueError(
                    f"X has no column {absent[0]!r}, which is given; it has {', '.join(map(str, X.columns))}."
                )
            X = X[wanted]
        X = check_array(X, dtype=np.float64, ensure_all_finite="allow-nan")
        if X.shape[1] == len(given):
            return X
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} columns; give it the {len(given)} given ones, or all {self.n_features_in_}."
            )
        return X[:, given]
