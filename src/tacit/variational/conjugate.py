"""Models whose posterior is approximated by message passing: a Gaussian, linear regression and probit regression.

x_i ~ N(μ, 1/τ)                       μ ~ N(m₀, s₀²),  τ ~ Gamma(a, b)           q(μ) q(τ)
y_i ~ N(w·x_i + b, 1/τ)               w_j ~ N(0, 1/α),  α, τ ~ Gamma(a, b)        q(w, b) q(τ) q(α)
y_i = [w·x_i + b + ε_i > 0]           w_j ~ N(0, 1/α),  ε_i ~ N(0, 1)             q(w, b) q(α) Π q(z_i)
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from ..checks import check_number, check_weight
from ..notes import Note
from .messages import Factor, GammaPrior, NormalPrior, Precision, ProbitRows, Rows, Vector, pass_messages

__all__ = ["MessagePassing", "variational_gaussian", "variational_probit", "variational_regression"]

VAGUE = 1e-3
"""Shape and rate of the gamma priors, by default."""
FLAT = 1e-6
"""Precision of the prior of an intercept, in units of the targets' variance."""


@dataclass(frozen=True, eq=False)
class MessagePassing:
    """What messages settled at.

    Attributes
    ----------
    mean, covariance : ndarray
        Of μ, or of the coefficients, of which the last is the intercept where there is one.
    noise : Precision or None
        The distribution of τ: its ``shape``, ``rate`` and ``mean``; None where there is none.
    relevance : Precision or None
        The distribution of α.
    bound : float
        Lower bound of the log evidence; nothing is left out, so that models can be compared.
    bounds : ndarray
        The bound after every round; it never falls.
    reason : Note
        Why rounds stopped.
    intercept : bool
        Whether the last coefficient is one.
    """

    mean: np.ndarray
    covariance: np.ndarray
    noise: Precision | None
    relevance: Precision | None
    bound: float
    bounds: np.ndarray
    reason: Note
    intercept: bool = False

    @property
    def std(self) -> np.ndarray:
        """Standard deviations of the means or coefficients."""
        return np.sqrt(np.diag(self.covariance))

    def _design(self, X: Any) -> np.ndarray:
        X = _rows(X)
        X = np.column_stack([X, np.ones(len(X))]) if self.intercept else X
        if X.shape[1] != len(self.mean):
            raise ValueError(
                f"X has {X.shape[1] - self.intercept} columns, but there are {len(self.mean) - self.intercept} coefficients."
            )
        return X

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Expected targets of rows; of a probit regression the probability of class 1.

        Parameters
        ----------
        X : array-like of shape (n, d)
        return_std : bool
            Also the standard deviation of a target to come, noise included.
        """
        X = self._design(X)
        mean, variance = X @ self.mean, np.einsum("ij,jk,ik->i", X, self.covariance, X)
        if self.noise is None:
            if return_std:
                raise ValueError("return_std=True is of regressions; a probability has no noise.")
            return ndtr(mean / np.sqrt(1.0 + variance))
        return (mean, np.sqrt(variance + 1.0 / self.noise.mean)) if return_std else mean


def variational_gaussian(
    x: Any, *, mean_prior: tuple[float, float] | None = None, precision_prior: tuple[float, float] = (VAGUE, VAGUE),
    sample_weight: Any = None, max_iter: int = 500, tol: float = 1e-10,
) -> MessagePassing:  # fmt: skip
    """The unknown mean and precision of a Gaussian column, under independent priors.

    Parameters
    ----------
    x : array-like of shape (n,)
        Cells; NaN is missing.
    mean_prior : (float, float), optional
        Mean and standard deviation of the prior of μ; default those of x, ten times as wide.
    precision_prior : (float, float), default=(0.001, 0.001)
        Shape and rate of the gamma prior of τ.
    sample_weight : array-like of shape (n,), optional
    max_iter, tol
        Rounds end when the bound gains less than `tol`, relatively.

    Returns
    -------
    MessagePassing

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.variational import variational_gaussian
    >>> found = variational_gaussian([4.1, 5.0, 6.2, 4.7], mean_prior=(0.0, 10.0))
    >>> found.mean.round(2), bool((np.diff(found.bounds) >= -1e-9).all())
    (array([4.99]), True)
    """
    x = np.asarray(x, dtype=np.float64)
    if x.ndim != 1:
        raise ValueError(f"x has shape {x.shape}; give one column, (n,).")
    seen = ~np.isnan(x)
    if not seen.any():
        raise ValueError("x has no observed value; give at least one.")
    count = _weights(sample_weight, len(x))[seen]
    _finite("x", x[seen])
    if mean_prior is None and not np.ptp(x[seen]) > 0:
        raise ValueError(
            f"x holds no value but {x[seen][0]:g}, from which no default prior of the mean follows; give "
            "mean_prior=(mean, standard deviation)."
        )
    center, spread = (x[seen].mean(), 10.0 * x[seen].std()) if mean_prior is None else mean_prior
    if not spread > 0:
        raise ValueError(f"mean_prior has the standard deviation {spread:g}, which must be above 0.")
    mu, tau = (
        Vector(np.array([x[seen].mean()]), np.eye(1) * x[seen].var()),
        _precision("precision_prior", precision_prior),
    )
    tau.rate = tau.shape * max(float(x[seen].var()), 1e-12)
    rows = Rows(mu, tau, np.ones((int(seen.sum()), 1)), x[seen], count)
    prior = NormalPrior(mu, np.array([center]), np.array([spread**-2.0]))
    return _settled([rows, prior, GammaPrior(tau, *precision_prior)], mu, tau, None, False, max_iter, tol)


def variational_regression(
    X: Any, y: Any, *, fit_intercept: bool = True, noise_prior: tuple[float, float] = (VAGUE, VAGUE),
    relevance_prior: tuple[float, float] = (VAGUE, VAGUE), sample_weight: Any = None, max_iter: int = 500, tol: float = 1e-10,
) -> MessagePassing:  # fmt: skip
    """Linear regression with unknown noise and an unknown precision of the coefficients.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
        Targets; NaN is missing.
    fit_intercept : bool, default=True
        Add b, whose prior is all but flat.
    noise_prior, relevance_prior : (float, float), default=(0.001, 0.001)
        Shapes and rates of the gamma priors of τ and α.
    sample_weight, max_iter, tol
        As in `variational_gaussian`.

    Returns
    -------
    MessagePassing

    References
    ----------
    Bishop (2006), Pattern Recognition and Machine Learning, section 10.3.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.variational import variational_regression
    >>> x = np.linspace(0.0, 1.0, 20)
    >>> found = variational_regression(x[:, None], 3.0 * x + 1.0 + 0.01 * np.cos(40 * x))
    >>> found.mean.round(1)
    array([3., 1.])
    """
    X, y = _rows(X), np.asarray(y, dtype=np.float64)
    if y.shape != (len(X),):
        raise ValueError(f"y has shape {y.shape}, but X has {len(X)} rows; give one target for each.")
    seen = ~np.isnan(y)
    if not seen.any():
        raise ValueError("y has no observed value; give at least one.")
    X, y, count = X[seen], y[seen], _weights(sample_weight, len(y))[seen]
    _finite("y", y)
    variance = max(float(y.var()), 1e-12)
    tau = _precision("noise_prior", noise_prior)
    tau.rate = tau.shape * variance
    w, alpha, factors, X = _coefficients(X, fit_intercept, relevance_prior, FLAT / (variance + float(y.mean()) ** 2))
    factors = [Rows(w, tau, X, y, count), *factors, GammaPrior(tau, *noise_prior)]
    return _settled(factors, w, tau, alpha, fit_intercept, max_iter, tol)


def variational_probit(
    X: Any, y: Any, *, fit_intercept: bool = True, relevance_prior: tuple[float, float] | float = 1.0,
    sample_weight: Any = None, max_iter: int = 2000, tol: float = 1e-10,
) -> MessagePassing:  # fmt: skip
    """Probit regression of two classes.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
        0 and 1, or False and True.
    fit_intercept : bool, default=True
        Add b, whose prior is that of a coefficient.
    relevance_prior : float or (float, float), default=1.0
        The precision α of the coefficients, or shape and rate of its gamma prior.
    sample_weight, max_iter, tol
        As in `variational_gaussian`.

    Returns
    -------
    MessagePassing

    References
    ----------
    Albert and Chib (1993), Bayesian analysis of binary and polychotomous response data.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.variational import variational_probit
    >>> x = np.linspace(-3.0, 3.0, 30)[:, None]
    >>> variational_probit(x, x[:, 0] > 0.5).predict([[-3.0], [3.0]]).round(1)
    array([0., 1.])
    """
    X, y = _rows(X), np.asarray(y)
    if y.shape != (len(X),):
        raise ValueError(f"y has shape {y.shape}, but X has {len(X)} rows; give one class for each.")
    bad = y[~np.isin(y, (0, 1))]
    if bad.size:
        raise ValueError(f"y holds {bad.tolist()[0]!r}; classes must be 0 and 1.")
    count = _weights(sample_weight, len(y))
    prior: Any = (1.0, 1.0) if isinstance(relevance_prior, numbers.Real) else relevance_prior
    w, alpha, factors, X = _coefficients(X, fit_intercept, prior, 1.0)
    if isinstance(relevance_prior, numbers.Real):
        check_number("relevance_prior", relevance_prior, numbers.Real, 1e-12)
        alpha, factors = None, [NormalPrior(w, np.zeros(len(w.mean)), np.full(len(w.mean), float(relevance_prior)))]
    return _settled(
        [ProbitRows(w, X, 2.0 * y.astype(float) - 1.0, count), *factors], w, None, alpha, fit_intercept, max_iter, tol
    )


def _coefficients(
    X: np.ndarray, fit_intercept: bool, prior: tuple[float, float], flat: float
) -> tuple[Vector, Precision | None, list[Factor], np.ndarray]:
    """Coefficients and their precision, the priors of both, and the design."""
    d, alpha = X.shape[1], _precision("relevance_prior", prior)
    alpha.shape = alpha.rate = 1.0
    size = d + fit_intercept
    w = Vector(np.zeros(size), np.eye(size))
    factors: list[Factor] = [
        NormalPrior(w, np.zeros(size), (np.arange(size) < d).astype(float), alpha), GammaPrior(alpha, *prior)
    ]  # fmt: skip
    if fit_intercept:
        X = np.column_stack([X, np.ones(len(X))])
        factors.append(NormalPrior(w, np.zeros(size), np.where(np.arange(size) < d, 0.0, flat)))
    return w, alpha, factors, X


def _settled(
    factors: list[Factor], w: Vector, noise: Any, relevance: Any, intercept: bool, max_iter: int, tol: float
) -> MessagePassing:
    check_number("max_iter", max_iter, numbers.Integral, 1)
    check_number("tol", tol, numbers.Real, 0)
    bounds, reason = pass_messages(factors, max_iter, tol)
    return MessagePassing(w.mean, w.covariance, noise, relevance, bounds[-1], np.array(bounds), reason, intercept)


def _precision(name: str, prior: Any) -> Precision:
    if np.shape(prior) != (2,) or not min(prior) > 0:
        raise ValueError(f"{name}={prior!r} must be the shape and the rate of a gamma distribution, both above 0.")
    return Precision(float(prior[0]), float(prior[1]))


def _rows(X: Any) -> np.ndarray:
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or not X.size:
        raise ValueError(f"X has shape {X.shape}; give rows and columns, (n, d).")
    if np.isnan(X).any():
        raise ValueError("X has missing values; fill them in, for example by tacit.impute, or drop the rows.")
    _finite("X", X)
    return X


def _finite(name: str, values: np.ndarray) -> None:
    if not np.isfinite(values).all():
        raise ValueError(f"{name} holds {values[~np.isfinite(values)].flat[0]}; values must be finite.")


def _weights(weight: Any, n: int) -> np.ndarray:
    found = check_weight(weight, n)
    return np.ones(n) if found is None else np.asarray(found, dtype=np.float64)
