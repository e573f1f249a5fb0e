"""`gibbs_probit`: Bayesian probit regression, P(y = 1) = Φ(xᵀβ), β ~ N(0, τ² I).

z_i | β ~ N(x_iᵀβ, 1) cut to z_i > 0 where y_i = 1 and z_i < 0 where y_i = 0;     β | z ~ N(V Xᵀz, V),  V = (XᵀX + I/τ²)⁻¹
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.special import log_ndtr, ndtri_exp

from ..checks import check_number, check_positive
from .chains import Chains
from .running import Run, Sampler, run_chains

__all__ = ["gibbs_probit"]


def gibbs_probit(
    X: Any,
    y: Any,
    *,
    prior_scale: float = 10.0,
    fit_intercept: bool = True,
    n_draws: int = 2000,
    n_warmup: int = 500,
    n_chains: int = 4,
    n_thin: int = 1,
    random_state: Any = None,
    n_jobs: int | None = None,
    callback: Callable | None = None,
    checkpoint: Any = None,
) -> Chains:
    """Draw coefficients of a probit regression from their posterior.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
        Two classes; the second in their order is what is modelled.
    prior_scale : float
        Standard deviation of the prior of every coefficient, the intercept included.
    fit_intercept : bool
    n_draws, n_warmup, n_chains, n_thin, random_state, n_jobs, callback, checkpoint
        As in `metropolis`.

    Returns
    -------
    Chains
        Of ``coef`` (d,) and, where there is one, ``intercept``.

    References
    ----------
    Albert and Chib (1993), Bayesian analysis of binary and polychotomous response data.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.sampling import gibbs_probit
    >>> X = np.random.default_rng(0).normal(size=(500, 1))
    >>> y = X[:, 0] + np.random.default_rng(1).normal(size=500) > 0
    >>> round(float(gibbs_probit(X, y, random_state=0)["coef"].mean()))
    1
    """
    from sklearn.utils.validation import check_X_y

    X, y = check_X_y(X, y, dtype=np.float64)
    check_positive("prior_scale", prior_scale)
    check_number("n_thin", n_thin, numbers.Integral, 1)
    classes = np.unique(y)
    if len(classes) != 2:
        raise ValueError(f"y holds {len(classes)} classes; probit regression takes 2.")
    run = Run(n_draws, n_warmup, n_chains, False, random_state, n_jobs, callback, checkpoint)
    design = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    sampler = _Probit(design, y == classes[1], float(prior_scale), fit_intercept, n_thin)
    streams = run.streams()
    return run_chains(sampler, [sampler.started(rng) for rng in streams], streams, run)


class _Probit(Sampler):
    name = "gibbs_probit"

    def __init__(self, design: np.ndarray, y: np.ndarray, scale: float, intercept: bool, n_thin: int):
        self.design, self.sign, self.intercept, self.n_thin = design, np.where(y, 1.0, -1.0), intercept, n_thin
        self.scale = scale
        precision = design.T @ design + np.eye(design.shape[1]) / scale**2
        self.factor = cholesky(precision, lower=True)

    def settings(self) -> dict:
        return {"n_thin": self.n_thin, "scale": self.scale, "data": float(self.sign @ self.design.sum(axis=1))}

    def started(self, rng: np.random.Generator) -> dict:
        # Near where data say nothing, but apart.
        return {"beta": rng.normal(size=self.design.shape[1]) / np.sqrt(1.0 + np.square(self.design).mean(axis=0))}

    def step(self, beta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw latent values given coefficients, then coefficients given these."""
        mean = self.design @ beta
        # −|z| in units of the sign, by the inverse of the distribution's log, which keeps its digits far out in the tail.
        log_u = log_ndtr(self.sign * mean) + np.log1p(-rng.random(len(mean)))
        latent = mean - self.sign * ndtri_exp(log_u)
        center = cho_solve((self.factor, True), self.design.T @ latent)
        return center + solve_triangular(self.factor, rng.standard_normal(len(beta)), lower=True, trans="T")

    def run(self, state: dict, n: int, rng: np.random.Generator) -> tuple:
        found = np.empty((n, len(state["beta"])))
        for i in range(n):
            for _ in range(self.n_thin):
                state["beta"] = self.step(state["beta"], rng)
            found[i] = state["beta"]
        if not self.intercept:
            return {"coef": found}, {}
        return {"coef": found[:, :-1], "intercept": found[:, -1]}, {}
