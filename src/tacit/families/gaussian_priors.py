"""Conjugate priors of Gaussian families.

    NormalInverseGamma:    σ² ~ InvGamma(shape, scale),   μ | σ² ~ N(mean, σ²/κ)          of every column
    NormalInverseWishart:  Σ ~ InvWishart(dof, scale),     μ | Σ ~ N(mean, Σ/κ)

Either is worth κ rows at `mean`, so that an M-step under a prior is one with rows added and another divisor.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, multigammaln

from ..declared import SQUARES, Numbers
from .distribution import as_rows
from .gaussian import LOG_2PI
from .priors import Prior, positive

__all__ = ["NormalInverseGamma", "NormalInverseWishart", "default_prior"]


class MeanAndVariance(NamedTuple):
    """Of the columns."""

    mean: np.ndarray
    variance: np.ndarray


class MeanAndCovariance(NamedTuple):
    """Of the rows."""

    mean: np.ndarray
    covariance: np.ndarray


class GaussianPrior(Prior):
    """What priors of a mean and a variance or covariance share: there always is a mode."""

    @property
    def mode(self) -> tuple:
        """The most probable mean, and variance or covariance."""
        raise NotImplementedError

    @property
    def interior(self) -> tuple:
        return tuple(value[None] for value in self.mode)


class NormalInverseGamma(GaussianPrior):
    """Prior of the mean and variance of each Gaussian column.

    Parameters
    ----------
    mean : float or sequence of float
        Expectation of μ, of all columns or of each; so for the others.
    kappa : float or sequence of float
        Rows that the prior of the mean is worth.
    shape, scale : float or sequence of float
        Parameters of the inverse gamma: the prior of the variance is worth 2·shape rows of squared deviation scale/shape.
    likelihood : Family, optional
        The family it is a prior of, which a posterior knows by itself.

    Attributes
    ----------
    expectation, mode, variance : MeanAndVariance
        Of μ and σ²; infinite where they do not exist.

    References
    ----------
    K. P. Murphy, "Conjugate Bayesian analysis of the Gaussian distribution", 2007.

    Examples
    --------
    >>> from tacit.families import Normal, NormalInverseGamma
    >>> posterior = Normal().posterior([1.0, 2.0, 6.0], NormalInverseGamma(0, 1, 2, 2))
    >>> posterior.mean, posterior.predictive().mean
    (array([2.25]), array([2.25]))
    """

    names = ("mean", "kappa", "shape", "scale")
    _saved = Prior._saved | {"mean": Numbers("d")} | dict.fromkeys(names[1:], Numbers("d", above=0, high=SQUARES))

    def __init__(self, mean: np.ndarray, kappa: Any, shape: Any, scale: np.ndarray, likelihood: Any = None) -> None:
        mean = np.atleast_1d(np.asarray(mean, dtype=np.float64))
        numbers = positive("kappa", kappa), positive("shape", shape), positive("scale", scale)
        self.mean, self.kappa, self.shape, self.scale = np.broadcast_arrays(mean, *numbers)
        self.likelihood = likelihood

    def observe(self, count: np.ndarray, mean: np.ndarray, squares: np.ndarray, likelihood: Any = None) -> Any:
        """The posterior, from the number, mean and summed squared deviations of the cells of each column."""
        kappa = self.kappa + count
        spread_of_means = self.kappa * count / kappa * (mean - self.mean) ** 2
        return NormalInverseGamma(
            (self.kappa * self.mean + count * mean) / kappa, kappa, self.shape + 0.5 * count,
            self.scale + 0.5 * (squares + spread_of_means), likelihood or self.likelihood,
        )  # fmt: skip

    @property
    def mode(self) -> MeanAndVariance:
        return MeanAndVariance(self.mean, self.scale / (self.shape + 1.5))

    @property
    def expectation(self) -> MeanAndVariance:
        return MeanAndVariance(self.mean, _ratio_or_infinity(self.scale, self.shape - 1.0))

    @property
    def variance(self) -> MeanAndVariance:
        expected = self.expectation.variance
        return MeanAndVariance(expected / self.kappa, expected**2 * _ratio_or_infinity(1.0, self.shape - 2.0))

    def log_prob(self, mean: np.ndarray, variance: np.ndarray) -> Any:
        """Log density of rows of means and variances, (n,)."""
        mean, variance = (as_rows(np.atleast_2d(value), len(self.mean)) for value in (mean, variance))
        return self.log_prob_mean(mean, variance) + self.log_prob_variance(variance).sum(axis=1)

    def log_prob_mean(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """Log density of rows of means given their variances, (n,)."""
        squares = self.kappa * (mean - self.mean) ** 2 / variance
        return -0.5 * (LOG_2PI + np.log(variance / self.kappa) + squares).sum(axis=1)

    def log_prob_variance(self, variance: np.ndarray) -> np.ndarray:
        """Log density of each variance."""
        constant = self.shape * np.log(self.scale) - gammaln(self.shape)
        return constant - (self.shape + 1.0) * np.log(variance) - self.scale / variance

    def sample(self, n: int = 1, random_state: Any = None) -> MeanAndVariance:
        """Means and variances, each (n, d)."""
        rng = np.random.default_rng(random_state)
        variance = self.scale / rng.standard_gamma(self.shape, size=(n, len(self.mean)))
        return MeanAndVariance(rng.normal(self.mean, np.sqrt(variance / self.kappa)), variance)


class NormalInverseWishart(GaussianPrior):
    """Prior of the mean and covariance of Gaussian rows.

    Parameters
    ----------
    mean : sequence of float
        Expectation of μ.
    kappa : float
        Rows that the prior of the mean is worth.
    dof : float
        Rows that the prior of the covariance is worth; more than d − 1.
    scale : ndarray of shape (d, d)
        Their scatter, about dof times the covariance expected.
    likelihood : Family, optional
        The family it is a prior of, which a posterior knows by itself.

    Attributes
    ----------
    expectation, mode, variance : MeanAndCovariance
        Of μ and Σ, cell by cell; infinite where they do not exist.

    References
    ----------
    C. Fraley and A. E. Raftery, "Bayesian regularization for normal mixture estimation and model-based clustering",
    Journal of Classification 24, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.families import MultivariateNormal, NormalInverseWishart
    >>> prior = NormalInverseWishart([0, 0], 1, 4, np.eye(2))
    >>> MultivariateNormal().posterior([[1, 2], [3, 4], [2, 0]], prior).mean
    array([1.5, 1.5])
    """

    names = ("mean", "kappa", "dof", "scale")
    _saved = Prior._saved | {
        "mean": Numbers("d"), "kappa": Numbers(above=0), "dof": Numbers(above=0),
        "scale": Numbers("d d", form="definite", high=SQUARES),
    }  # fmt: skip

    def __init__(self, mean: np.ndarray, kappa: Any, dof: Any, scale: np.ndarray, likelihood: Any = None) -> None:
        self.mean, self.scale = np.atleast_1d(np.asarray(mean, float)), np.atleast_2d(np.asarray(scale, float))
        self.kappa, self.dof, self.likelihood = float(positive("kappa", kappa)[0]), float(np.asarray(dof)), likelihood
        d = len(self.mean)
        if self.scale.shape != (d, d):
            raise ValueError(f"scale has shape {self.scale.shape}, but mean has {d} entries; give a ({d}, {d}) matrix.")
        if self.dof <= d - 1:
            raise ValueError(f"dof={self.dof:g} must be greater than {d - 1}, one less than the columns.")
        try:
            self._log_det = 2.0 * np.log(np.diag(np.linalg.cholesky(self.scale))).sum()
        except np.linalg.LinAlgError:
            raise ValueError("scale must be a positive definite matrix.") from None

    def __repr__(self) -> str:
        return f"NormalInverseWishart(mean={np.array2string(self.mean, precision=4)}, kappa={self.kappa:g}, dof={self.dof:g})"

    def over(self, n_columns: int) -> Any:
        """The prior itself, if it is one of so many columns."""
        if len(self.mean) != n_columns:
            raise ValueError(f"mean has {len(self.mean)} entries, but there are {n_columns} columns.")
        return self

    def observe(self, count: np.ndarray, mean: np.ndarray, scatter: np.ndarray, likelihood: Any = None) -> Any:
        """The posterior, from the number, mean and scatter of rows."""
        kappa, apart = self.kappa + count, mean - self.mean
        return NormalInverseWishart(
            (self.kappa * self.mean + count * mean) / kappa, kappa, self.dof + count,
            self.scale + scatter + self.kappa * count / kappa * np.outer(apart, apart), likelihood or self.likelihood,
        )  # fmt: skip

    @property
    def mode(self) -> MeanAndCovariance:
        return MeanAndCovariance(self.mean, self.scale / (self.dof + len(self.mean) + 2.0))

    @property
    def expectation(self) -> MeanAndCovariance:
        return MeanAndCovariance(self.mean, _ratio_or_infinity(self.scale, self.dof - len(self.mean) - 1.0))

    @property
    def variance(self) -> MeanAndCovariance:
        free = self.dof - len(self.mean)
        diagonal = np.diag(self.scale)
        squares = (free + 1.0) * self.scale**2 + (free - 1.0) * np.multiply.outer(diagonal, diagonal)
        of_covariance = _ratio_or_infinity(squares, free * (free - 1.0) ** 2 * (free - 3.0) if free > 3 else 0.0)
        return MeanAndCovariance(np.diag(self.expectation.covariance) / self.kappa, of_covariance)

    def log_prob(self, mean: np.ndarray, covariance: np.ndarray) -> Any:
        """Log density of means (n, d) and covariances (n, d, d), (n,)."""
        d = len(self.mean)
        mean, covariance = np.reshape(mean, (-1, d)), np.reshape(covariance, (-1, d, d))
        return self.log_prob_mean(mean, covariance) + self.log_prob_covariance(covariance)

    def log_prob_mean(self, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
        """Log density of means given their covariances, (n,)."""
        apart = mean - self.mean
        squares = self.kappa * (apart * np.linalg.solve(covariance, apart[..., None])[..., 0]).sum(axis=-1)
        return -0.5 * (squares + len(self.mean) * (LOG_2PI - np.log(self.kappa)) + np.linalg.slogdet(covariance)[1])

    def log_prob_covariance(self, covariance: np.ndarray) -> np.ndarray:
        """Log density of covariances, (n,)."""
        d, nu = len(self.mean), self.dof
        constant = 0.5 * nu * (self._log_det - d * np.log(2.0)) - multigammaln(0.5 * nu, d)
        trace = np.trace(np.linalg.solve(covariance, self.scale[None]), axis1=-2, axis2=-1)
        return constant - 0.5 * ((nu + d + 1.0) * np.linalg.slogdet(covariance)[1] + trace)

    def sample(self, n: int = 1, random_state: Any = None) -> MeanAndCovariance:
        """Means (n, d) and covariances (n, d, d)."""
        from scipy.stats import invwishart

        rng, d = np.random.default_rng(random_state), len(self.mean)
        covariance = invwishart.rvs(self.dof, self.scale, size=n, random_state=rng).reshape(n, d, d)
        root = np.linalg.cholesky(covariance / self.kappa)
        return MeanAndCovariance(self.mean + np.einsum("nij,nj->ni", root, rng.standard_normal((n, d))), covariance)


def _ratio_or_infinity(numerator: Any, denominator: Any) -> np.ndarray:
    positive = np.asarray(denominator) > 0
    return np.where(positive, numerator / np.where(positive, denominator, 1.0), np.inf)


def default_prior(X: np.ndarray, n_components: int = 1, covariance_type: str = "full") -> GaussianPrior:
    """A weak prior for Gaussian mixtures, scaled to the data, with the numbers of mclust's ``defaultPrior``.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows; missing cells are integrated out.
    n_components : int
        Number of classes that share the spread of the data.
    covariance_type : {"full", "tied", "diag", "spherical"}
        The structure it is for.

    Returns
    -------
    NormalInverseWishart or NormalInverseGamma
        κ = 0.01, d + 2 degrees of freedom, and the data's covariance over K^(2/d); for "spherical" its mean variance, and
        for "diag" each column's own, where mclust takes the mean: columns need not have one scale.

    References
    ----------
    C. Fraley and A. E. Raftery, "Bayesian regularization for normal mixture estimation and model-based clustering",
    Journal of Classification 24, 2007.
    """
    from .dense import FullGaussian

    X = as_rows(X)
    n, d = X.shape
    rows = FullGaussian().fit(X).params
    covariance = rows.covariance[0] * n / max(n - 1, 1) / n_components ** (2.0 / d)
    if covariance_type in ("full", "tied"):
        return NormalInverseWishart(rows.mean[0], 0.01, d + 2, covariance)
    if covariance_type not in ("diag", "spherical"):
        raise ValueError(f"covariance_type={covariance_type!r} is unknown; use full, tied, diag or spherical.")
    variance = np.diag(covariance) if covariance_type == "diag" else np.trace(covariance) / d
    return NormalInverseGamma(rows.mean[0], 0.01, 0.5 * (d + 2), 0.5 * variance)
