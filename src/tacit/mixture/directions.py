"""The directions in which a mixture's components differ.

    M = 2b M₁Σ⁻¹M₁ + 2(1 − b) M₂,    M v = l Σ v
    M₁ = Σ_k π_k (μ_k − μ)(μ_k − μ)ᵀ,    M₂ = Σ_k π_k (Σ_k − Σ̄) Σ⁻¹ (Σ_k − Σ̄)

with Σ the covariance of the whole mixture and Σ̄ = Σ_k π_k Σ_k. The first term is of components with other means, the second
of those with other covariances. What is orthogonal to the directions v of l > 0 tells nothing of the component.

References
----------
Scrucca (2010), Dimension reduction for model-based clustering.
Scrucca (2014), Graphical tools for model-based mixture discriminant analysis.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.utils.validation import check_is_fitted

from ..base.missing import impute_cells
from ..checks import check_number
from ..signs import signs
from .gaussian_base import BaseGaussianMixture

__all__ = ["Directions", "discriminant_directions"]


class Directions:
    """Directions in which the components of a mixture differ, the most telling first; made by `discriminant_directions`.

    Attributes
    ----------
    vectors : ndarray of shape (n_features, n_directions)
        The directions; rows projected on one have variance 1 under the mixture.
    eigenvalues : ndarray of shape (n_directions,)
        How much each tells.
    mean : ndarray of shape (n_features,)
        Of the mixture.
    means, covariances : ndarray of shape (n_components, n_directions) and (n_components, n_directions, n_directions)
        The components as they lie along the directions.
    mixture : estimator
    """

    def __init__(self, mixture: Any, vectors: np.ndarray, eigenvalues: np.ndarray, mean: np.ndarray) -> None:
        self.mixture, self.vectors, self.eigenvalues, self.mean = mixture, vectors, eigenvalues, mean
        components = mixture._params().components
        self.means = (components.mean - mean) @ vectors
        self.covariances = vectors.T @ components.dense @ vectors

    def transform(self, X: Any) -> np.ndarray:
        """Rows along the directions, (n_samples, n_directions); missing cells are at their expectation."""
        filled = impute_cells(self.mixture, self.mixture._validate(X, reset=False), "mean")[0]
        return (filled - self.mean) @ self.vectors

    def plot(self, X: Any, pair: tuple[int, int] = (0, 1), ax: Any = None) -> Any:
        """Draw rows and components along two directions; returns a :class:`tacit.plot.ClustersDisplay`."""
        from ..plot import ClustersDisplay

        m = len(self.eigenvalues)
        if not all(isinstance(j, numbers.Integral) and 0 <= j < m for j in pair) or len(pair) != 2:
            raise ValueError(f"pair={pair!r} are not two of the directions 0 to {m - 1}.")
        at, classes = list(pair), self.mixture.predict(X)
        points = self.transform(X)[:, at]
        gaps = np.isnan(self.mixture._validate(X, reset=False)).any(axis=1)
        told = [f"direction {j + 1} ({self.eigenvalues[j] / self.eigenvalues.sum():.0%})" for j in at]
        covariances = self.covariances[:, at][:, :, at]
        return ClustersDisplay(
            points, classes, filled=gaps, means=self.means[:, at], covariances=covariances, names=told,
            weights=self.mixture.weights_,
        ).plot(ax)  # fmt: skip


def discriminant_directions(mixture: Any, balance: float = 0.5) -> Directions:
    """The subspace that carries the clustering of a fitted Gaussian or Student t mixture.

    Parameters
    ----------
    mixture : GaussianMixture, StudentTMixture or BayesianGaussianMixture
        Fitted, of two components or more.
    balance : float, default=0.5
        Between 0 and 1, the weight of differences of means against those of covariances; 1 are the directions of linear
        discriminant analysis.

    Returns
    -------
    Directions

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tacit.mixture import GaussianMixture, discriminant_directions
    >>> X = load_iris().data
    >>> found = discriminant_directions(GaussianMixture(3, random_state=0).fit(X), balance=1.0)
    >>> found.transform(X).shape
    (150, 2)
    """
    if not isinstance(mixture, BaseGaussianMixture):
        raise TypeError(
            "discriminant_directions takes a mixture of Gaussians or Student t, such as GaussianMixture(3), but got "
            f"{type(mixture).__name__}."
        )
    check_is_fitted(mixture)
    check_number("balance", balance, numbers.Real, 0, 1)
    k = mixture.n_components
    if k < 2:
        raise ValueError("n_components=1 is a single component, which differs from no other; use two or more.")
    components = mixture._params().components
    weight = np.asarray(mixture.weights_, dtype=np.float64)[:k]
    weight = weight / weight.sum()
    mean = weight @ components.mean
    apart = components.mean - mean
    between = np.einsum("k,ki,kj->ij", weight, apart, apart)
    within = np.einsum("k,kij->ij", weight, components.dense)
    total = between + within
    other = components.dense - within
    kernel = 2.0 * balance * between @ np.linalg.solve(total, between)
    kernel += 2.0 * (1.0 - balance) * np.einsum("k,kij->ij", weight, other @ np.linalg.solve(total, other))
    values, vectors = eigh(0.5 * (kernel + kernel.T), total)
    kept = np.flatnonzero(values > 1e-9 * max(values[-1], np.finfo(float).tiny))[::-1]
    if not kept.size or values[-1] < 1e-12:
        raise ValueError("the components have the same means and covariances, so that no direction tells them apart.")
    vectors = vectors[:, kept] * signs(vectors[:, kept])
    return Directions(mixture, vectors, values[kept], mean)
