"""`Predictive`: what a linear model says of the targets of rows, as a distribution.

y* | x* ~ t_ν(b + wᵀx*, s² (1 + 1/n + (x* − x̄)ᵀ C (x* − x̄)))    of complete rows; else a mixture over draws
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..families.laws import QuantileLaw
from ..mixture.conditional import check_levels

__all__ = ["Predictive"]


@dataclass(frozen=True)
class Predictive:
    """The distribution of each row's targets given its features, observed or not.

    Made by `predictive` of linear models. Targets are taken one by one.

    Attributes
    ----------
    law : QuantileLaw
        A component or more for every row and target.
    shape : tuple of int
        (n_samples,), or (n_samples, n_targets) where targets are several.
    expected : ndarray
        What `predict` gives.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.linear_model import LinearRegression
    >>> x = np.arange(20.0)
    >>> model = LinearRegression().fit(x[:, None], 2.0 * x + np.sin(x))
    >>> low, high = model.predictive([[10.0]]).interval(0.95)
    >>> low.round(1), high.round(1)
    (array([18.5]), array([21.5]))
    """

    law: QuantileLaw
    shape: tuple[int, ...]
    expected: np.ndarray

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def _weight(self) -> np.ndarray:
        n, k = self.law.means.shape
        return np.full((n, k), 1.0 / k)

    @cached_property
    def mean(self) -> np.ndarray:
        """Expectations of the targets, as `predict` gives them."""
        return self.expected.reshape(self.shape)

    @cached_property
    def std(self) -> np.ndarray:
        """Standard deviations of the targets; infinite where two or fewer degrees of freedom tell of the noise."""
        return self.law.std(self._weight).reshape(self.shape)

    def quantile(self, p: Any) -> np.ndarray:
        """Quantiles of each target.

        Parameters
        ----------
        p : float or array-like
            Probabilities between 0 and 1, both excluded.

        Returns
        -------
        ndarray of the shape of p and then that of `mean`
        """
        p = check_levels("p", p)
        found = np.array([self.law.quantile(level, self._weight) for level in p.ravel()])
        return found.reshape(*p.shape, *self.shape)

    def interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Central intervals that hold each target with probability `level`.

        Parameters
        ----------
        level : float, default=0.95
            Probability of the interval.

        Returns
        -------
        low, high : ndarrays of the shape of `mean`
        """
        if not 0 < level < 1:
            raise ValueError(f"level={level!r} is not a probability between 0 and 1, both excluded.")
        low, high = self.quantile([0.5 * (1 - level), 0.5 * (1 + level)])
        return low, high

    def cdf(self, y: Any) -> np.ndarray:
        """Probability that each target is at most y."""
        return self._of(y, "cdf")

    def log_density(self, y: Any) -> np.ndarray:
        """Log density of each target at y."""
        return np.log(np.maximum(self._of(y, "density"), np.finfo(float).tiny))

    def _of(self, y: Any, function: str) -> np.ndarray:
        y = np.asarray(y, dtype=np.float64)
        if y.shape != self.shape:
            raise ValueError(f"y has shape {y.shape}, but the targets of the rows have shape {self.shape}.")
        found = getattr(self.law, function)(y.ravel(), np.arange(y.size))
        return found.mean(axis=1).reshape(self.shape)
