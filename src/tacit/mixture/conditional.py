"""The distribution of some columns given others, under a Gaussian mixture: itself a mixture, with its own weights for every row.

p(y | x) = Σ_k p(k | x) N(y | μ_k + G_k (x − ν_k), S_k),    G_k = Σ_k,yx Σ_k,xx⁻¹,    S_k = Σ_k,yy − G_k Σ_k,xy
"""

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp, ndtr
from sklearn.utils import check_random_state

from ..checks import check_number
from ..families.gaussian import LOG_2PI
from ..families.laws import NormalLaw
from ..source import Block

__all__ = ["ConditionalMixture", "check_levels"]


@dataclass(frozen=True)
class ConditionalMixture:
    """For every row a Gaussian mixture of the target columns, given what is observed of the others.

    Made by `condition` of Gaussian mixtures. Covariances depend only on which cells of a row are observed, so they are held once
    for each such group of rows.

    Attributes
    ----------
    weights : ndarray of shape (n_samples, n_components)
        Probability of each component; where parameters are uncertain (`draws_`), of the components of every draw.
    means : ndarray of shape (n_samples, n_components, n_targets)
    group_covariances : ndarray of shape (n_groups, n_components, n_targets, n_targets)
    groups : ndarray of shape (n_samples,)
        Which group each row belongs to.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.mixture import GaussianMixture
    >>> x = np.random.default_rng(0).normal(size=500)
    >>> mixture = GaussianMixture().fit(np.column_stack([x, 2 * x + 1]))
    >>> mixture.condition([[3.0]], target=[1]).mean.round(2)
    array([[7.]])
    """

    weights: np.ndarray
    means: np.ndarray
    group_covariances: np.ndarray
    groups: np.ndarray

    @classmethod
    def of(cls, components: Any, resp: np.ndarray, block: Block, target: np.ndarray) -> Self:
        """The distribution of the target columns, missing in the block, for components of known probability `resp`."""
        n, patterns = len(block), block.patterns
        means, groups = np.empty((n, *components.mean[:, target].shape)), np.empty(n, dtype=np.intp)
        covariances = []
        for group, missing in enumerate(patterns.missing):
            rows = patterns.rows[patterns.starts[group] : patterns.starts[group + 1]]
            seen = np.flatnonzero(~missing)
            gain, covariance = _regress(components.dense, seen, target)
            deviation = block.X[rows][:, None, seen] - components.mean[:, seen]
            means[rows] = components.mean[:, target] + np.einsum("nko,kot->nkt", deviation, gain)
            groups[rows] = group
            covariances.append(covariance)
        return cls(resp, means, np.array(covariances), groups)

    @classmethod
    def pooled(cls, parts: Sequence[Self]) -> Self:
        """The mean of several distributions of the same rows: their components side by side."""
        if len(parts) == 1:
            return parts[0]
        means, covariances = (
            np.concatenate([getattr(part, name) for part in parts], axis=1) for name in ("means", "group_covariances")
        )
        return cls(np.hstack([part.weights for part in parts]) / len(parts), means, covariances, parts[0].groups)

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def covariances(self) -> np.ndarray:
        """Covariance of each component for each row, (n_samples, n_components, n_targets, n_targets)."""
        return self.group_covariances[self.groups]

    @cached_property
    def mean(self) -> np.ndarray:
        """Expectation of the targets, (n_samples, n_targets)."""
        return np.einsum("nk,nkt->nt", self.weights, self.means)

    @cached_property
    def covariance(self) -> np.ndarray:
        """Covariance of the targets, (n_samples, n_targets, n_targets)."""
        apart = self.means - self.mean[:, None]
        between = np.einsum("nk,nks,nkt->nst", self.weights, apart, apart)
        return between + np.einsum("nk,nkst->nst", self.weights, self.covariances)

    @cached_property
    def variance(self) -> np.ndarray:
        """Variance of each target, (n_samples, n_targets)."""
        apart = self.means - self.mean[:, None]
        return np.einsum("nk,nkt->nt", self.weights, apart**2 + self._deviations**2)

    @cached_property
    def std(self) -> np.ndarray:
        """Standard deviation of each target, (n_samples, n_targets)."""
        return np.sqrt(self.variance)

    @cached_property
    def _deviations(self) -> np.ndarray:
        """Standard deviation of each target within each component, (n_samples, n_components, n_targets)."""
        return np.sqrt(np.diagonal(self.group_covariances, axis1=2, axis2=3))[self.groups]

    def cdf(self, y: Any) -> np.ndarray:
        """Probability that each target is at most y, (n_samples, n_targets)."""
        return np.einsum("nk,nkt->nt", self.weights, ndtr((self._checked(y)[:, None] - self.means) / self._deviations))

    def quantile(self, p: Any) -> np.ndarray:
        """Quantiles of each target on its own.

        Parameters
        ----------
        p : float or array-like
            Probabilities between 0 and 1, both excluded.

        Returns
        -------
        ndarray of shape (n_samples, n_targets), after the shape of p
        """
        p = check_levels("p", p)
        _, k, t = self.means.shape
        cells = [values.transpose(0, 2, 1).reshape(-1, k) for values in (self.means, self._deviations**2)]
        law, weight = NormalLaw(*cells), np.repeat(self.weights, t, axis=0)
        found = np.array([law.quantile(level, weight) for level in p.ravel()])
        return found.reshape(*p.shape, *self.mean.shape)

    def interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Central interval that holds each target with probability `level`.

        Parameters
        ----------
        level : float, default=0.95
            Probability of the interval.

        Returns
        -------
        low, high : ndarray of shape (n_samples, n_targets)
        """
        if not 0 < level < 1:
            raise ValueError(f"level={level!r} is not a probability between 0 and 1, both excluded.")
        low, high = self.quantile([0.5 * (1 - level), 0.5 * (1 + level)])
        return low, high

    def log_density(self, y: Any) -> np.ndarray:
        """Log density of targets, row by row.

        Parameters
        ----------
        y : array-like of shape (n_samples, n_targets)
            Targets; NaN is missing, and integrated out.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        y = self._checked(y)
        joint = np.log(np.maximum(self.weights, np.finfo(float).tiny))
        kinds, kind = np.unique(np.column_stack([self.groups, ~np.isnan(y)]), axis=0, return_inverse=True)
        for number, (group, *seen) in enumerate(kinds):
            rows, t = np.flatnonzero(kind.ravel() == number), np.flatnonzero(seen)
            root = np.linalg.cholesky(self.group_covariances[group][:, t[:, None], t])
            deviation = (y[rows][:, None, t] - self.means[rows][:, :, t]).transpose(1, 2, 0)
            z = np.linalg.solve(root, deviation)
            log_det = 2.0 * np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
            joint[rows] -= 0.5 * ((z**2).sum(axis=1) + log_det[:, None] + len(t) * LOG_2PI).T
        return logsumexp(joint, axis=1)

    def sample(self, n_draws: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw targets for every row.

        Parameters
        ----------
        n_draws : int, default=1
            Draws for each row.
        random_state : int, RandomState instance or None, default=None
            Seeds the draws.

        Returns
        -------
        ndarray of shape (n_draws, n_samples, n_targets)
        """
        check_number("n_draws", n_draws, numbers.Integral, 1)
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        cumulated = np.cumsum(self.weights, axis=1)
        classes = (rng.random((n_draws, len(self), 1)) * cumulated[:, -1:] > cumulated).sum(axis=2)
        noise = rng.standard_normal((n_draws, *self.mean.shape))
        root = np.linalg.cholesky(self.group_covariances)
        draws = np.empty_like(noise)
        for t in range(n_draws):  # one at a time: the matrices of all draws together would fill the memory
            chosen = root[self.groups, classes[t]]
            draws[t] = self.means[np.arange(len(self)), classes[t]] + np.einsum("nst,nt->ns", chosen, noise[t])
        return draws

    def _checked(self, y: Any) -> np.ndarray:
        """Targets as an array of the right shape."""
        y = np.asarray(y, dtype=np.float64)
        y = y[:, None] if y.ndim == 1 and self.mean.shape[1] == 1 else y
        if y.shape != self.mean.shape:
            raise ValueError(f"y has shape {y.shape}, but the targets of the rows have shape {self.mean.shape}.")
        return y


def check_levels(name: str, value: Any) -> np.ndarray:
    """Levels of quantiles as an array, all of them between 0 and 1."""
    levels = np.asarray(value, dtype=np.float64)
    bad = levels[~((levels > 0) & (levels < 1))]
    if bad.size:
        raise ValueError(f"{name} holds {bad.flat[0]:g}; quantiles are defined for probabilities between 0 and 1.")
    return levels


def _regress(covariance: np.ndarray, seen: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (classes, seen, target) and residual covariances (classes, target, target) of a regression."""
    within = covariance[:, target[:, None], target]
    across = covariance[:, seen[:, None], target]
    gain = np.linalg.solve(covariance[:, seen[:, None], seen], across)
    residual = within - across.transpose(0, 2, 1) @ gain
    return gain, 0.5 * (residual + residual.transpose(0, 2, 1))
