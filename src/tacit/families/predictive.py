"""`Predictive`: what a conjugate posterior says of the next row, p(x) = ∫ p(x | θ) p(θ) dθ."""

from typing import Any

import numpy as np

from ..source.block import Patterns
from .distribution import as_rows

__all__ = ["MultivariatePredictive", "Predictive"]


class Predictive:
    """Independent columns of one of SciPy's distributions.

    Parameters
    ----------
    name : str
        Name in `scipy.stats`.
    **shape : ndarray of shape (d,)
        Its parameters.

    Attributes
    ----------
    mean, variance : ndarray of shape (d,)
        Moments of each column; infinite or NaN where there is none.

    Examples
    --------
    >>> from tacit.families import GammaPrior, Poisson
    >>> Poisson().posterior([3, 1, 2], GammaPrior(1, 1)).predictive().mean
    array([1.75])
    """

    def __init__(self, name: str, **shape: Any) -> None:
        from scipy import stats

        self.n_columns = max(np.size(value) for value in shape.values())
        self.law = getattr(stats, name)(**shape)

    @property
    def mean(self) -> np.ndarray:
        return np.atleast_1d(self.law.mean())

    @property
    def variance(self) -> np.ndarray:
        return np.atleast_1d(self.law.var())

    def log_prob(self, x: Any) -> Any:
        """Log density of the observed cells of each row, (n,)."""
        x = as_rows(x, self.n_columns)
        score = getattr(self.law, "logpmf" if hasattr(self.law.dist, "logpmf") else "logpdf")
        return np.where(np.isnan(x), 0.0, score(np.where(np.isnan(x), 0.0, x))).sum(axis=1)

    def sample(self, n: int = 1, random_state: Any = None) -> np.ndarray:
        """Rows, (n, d)."""
        rng = np.random.default_rng(random_state)
        return self.law.rvs(size=(n, self.n_columns), random_state=rng).astype(float)


class MultivariatePredictive:
    """A multivariate Student t; see `Predictive`.

    Parameters
    ----------
    location : ndarray of shape (d,)
        Centre.
    shape : ndarray of shape (d, d)
        Shape matrix.
    dof : float
        Degrees of freedom.
    """

    def __init__(self, location: np.ndarray, shape: Any, dof: Any) -> None:
        from scipy.stats import multivariate_t

        self.n_columns, self.dof, self.law = len(location), float(dof), multivariate_t(location, shape, df=dof)

    @property
    def mean(self) -> np.ndarray:
        return self.law.loc if self.dof > 1 else np.full(self.n_columns, np.nan)

    @property
    def covariance(self) -> np.ndarray:
        """Covariance of a row, (d, d)."""
        return self.law.shape * (self.dof / (self.dof - 2.0) if self.dof > 2 else np.inf)

    @property
    def variance(self) -> np.ndarray:
        return np.diag(self.covariance)

    def log_prob(self, x: Any) -> Any:
        """Log density of each row, (n,); missing cells are integrated out."""
        from scipy.stats import multivariate_t

        x = as_rows(x, self.n_columns)
        out, patterns = np.zeros(len(x)), Patterns.of(x)
        for rows, missing in zip(np.split(patterns.rows, patterns.starts[1:-1]), patterns.missing):
            seen = np.flatnonzero(~missing)
            if len(seen):
                shape = self.law.shape[np.ix_(seen, seen)]
                out[rows] = multivariate_t.logpdf(x[np.ix_(rows, seen)], self.law.loc[seen], shape, df=self.dof)
        return out

    def sample(self, n: int = 1, random_state: Any = None) -> np.ndarray:
        """Rows, (n, d)."""
        rng = np.random.default_rng(random_state)
        return np.asarray(self.law.rvs(size=n, random_state=rng)).reshape(n, self.n_columns)
