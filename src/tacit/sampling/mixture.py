"""`gibbs_mixture`: Gaussian mixtures with conjugate priors.

π ~ Dirichlet(α),   μ_k, Σ_k ~ NIW,   z ~ π,   x | z ~ N(μ_z, Σ_z);     π | z,   μ_k, Σ_k | z, x   and   z | π, μ, Σ, x   in turn
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ..checks import check_number, check_positive
from ..families.gaussian_priors import NormalInverseWishart, default_prior
from ..notes import Note
from .chains import Chains
from .running import Run, Sampler, run_chains

__all__ = ["gibbs_mixture"]


def gibbs_mixture(
    X: Any,
    n_components: int,
    *,
    prior: NormalInverseWishart | None = None,
    concentration: float = 1.0,
    keep_labels: bool = False,
    n_draws: int = 1000,
    n_warmup: int = 500,
    n_chains: int = 4,
    n_thin: int = 1,
    random_state: Any = None,
    n_jobs: int | None = None,
    callback: Callable | None = None,
    checkpoint: Any = None,
) -> Chains:
    """Draw the parameters of a Gaussian mixture from their posterior.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows; missing cells (NaN) are drawn along.
    n_components : int
    prior : NormalInverseWishart, optional
        Of every component's mean and covariance; by default `tacit.families.default_prior`, which is made from the rows.
    concentration : float
        α of every component's weight.
    keep_labels : bool
        Whether the components of rows are kept.
    n_draws, n_warmup, n_chains, n_thin, random_state, n_jobs, callback, checkpoint
        As in `metropolis`.

    Returns
    -------
    Chains
        Of ``weights`` (n_components,), ``means`` (n_components, d), ``covariances`` (n_components, d, d),
        ``log_likelihood`` of the observed
        cells and, where they are kept, ``labels`` (n,). Components have no order, which may change within a chain.

    References
    ----------
    Diebolt and Robert (1994), Estimation of finite mixture distributions through Bayesian sampling.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.sampling import gibbs_mixture
    >>> X = np.random.default_rng(0).normal(size=(60, 1)) + np.repeat([[-4.0], [4.0]], 30, axis=0)
    >>> chains = gibbs_mixture(X, 2, random_state=0)
    >>> np.sort(chains["means"][..., 0], axis=2).mean(axis=(0, 1)).round().astype(int)
    array([-4,  4])
    """
    from sklearn.utils.validation import check_array

    X = check_array(X, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=2)
    check_number("n_components", n_components, numbers.Integral, 1)
    check_number("n_thin", n_thin, numbers.Integral, 1)
    check_positive("concentration", concentration)
    if n_components > len(X):
        raise ValueError(f"n_components={n_components} exceeds the {len(X)} rows of X; use at most {len(X)}.")
    if np.isnan(X).all(axis=0).any():
        raise ValueError(f"Column {int(np.isnan(X).all(axis=0).argmax())} of X has no known cell; leave it out.")
    if prior is None:
        prior = default_prior(X, n_components)  # type: ignore[assignment]
    prior.over(X.shape[1])  # type: ignore[union-attr]
    run = Run(n_draws, n_warmup, n_chains, False, random_state, n_jobs, callback, checkpoint)
    sampler = _Mixture(X, n_components, prior, float(concentration), n_thin, keep_labels)
    streams = run.streams()
    return run_chains(sampler, [sampler.started(rng) for rng in streams], streams, run)


class _Mixture(Sampler):
    name = "gibbs_mixture"

    def __init__(
        self, X: np.ndarray, n_components: int, prior: Any, concentration: float, n_thin: int, keep_labels: bool
    ):
        self.X, self.k, self.prior, self.concentration = X, n_components, prior, concentration
        self.n_thin, self.keep_labels = n_thin, keep_labels
        seen = ~np.isnan(X)
        masks, owner = np.unique(seen, axis=0, return_inverse=True)
        self.patterns = [(mask, np.flatnonzero(owner.ravel() == i)) for i, mask in enumerate(masks)]

    def settings(self) -> dict:
        return {
            "k": self.k, "prior": repr(self.prior), "concentration": self.concentration, "n_thin": self.n_thin,
            "labels": self.keep_labels, "data": float(np.nansum(self.X)),
        }  # fmt: skip

    def started(self, rng: np.random.Generator) -> dict:
        """Labels by the nearest of a few random rows, missing cells at the column's mean."""
        filled = np.where(np.isnan(self.X), np.nanmean(self.X, axis=0), self.X)
        spread = filled.std(axis=0) + 1e-300
        centers = filled[rng.choice(len(filled), self.k, replace=False)]
        gaps = (((filled[:, None] - centers) / spread) ** 2).sum(axis=2)
        return {"labels": gaps.argmin(axis=1), "filled": filled}

    def parameters(self, state: dict, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weights, means and covariances given labels and cells."""
        labels, X, d = state["labels"], state["filled"], self.X.shape[1]
        counts = np.bincount(labels, minlength=self.k)
        means, covariances = np.empty((self.k, d)), np.empty((self.k, d, d))
        for j in range(self.k):
            rows = X[labels == j]
            mean = rows.mean(axis=0) if len(rows) else np.zeros(d)
            drawn = self.prior.observe(float(len(rows)), mean, (rows - mean).T @ (rows - mean)).sample(1, rng)
            means[j], covariances[j] = drawn.mean[0], drawn.covariance[0]
        return rng.dirichlet(counts + self.concentration), means, covariances

    def allot(self, state: dict, parameters: tuple, rng: np.random.Generator) -> float:
        """Labels given parameters and observed cells, then missing cells given both; the log-likelihood of the observed cells."""
        weights, means, covariances = parameters
        total = 0.0
        for seen, rows in self.patterns:
            logs = np.empty((len(rows), self.k))
            for j in range(self.k):
                factor = np.linalg.cholesky(covariances[j][np.ix_(seen, seen)])
                z = solve_triangular(factor, (self.X[np.ix_(rows, seen)] - means[j][seen]).T, lower=True)
                logs[:, j] = (
                    -0.5 * (z**2).sum(axis=0) - np.log(np.diag(factor)).sum() - 0.5 * seen.sum() * np.log(2 * np.pi)
                )
            with np.errstate(divide="ignore"):
                logs += np.log(weights)
            high = logs.max(axis=1, keepdims=True)
            shares = np.exp(logs - high).cumsum(axis=1)
            total += float((np.log(shares[:, -1]) + high[:, 0]).sum())
            labels = (rng.random((len(rows), 1)) * shares[:, -1:] >= shares).sum(axis=1)
            state["labels"][rows] = np.minimum(labels, self.k - 1)
            if not seen.all():
                self._fill(state, means, covariances, seen, rows, rng)
        return total

    def _fill(
        self, state: dict, means: np.ndarray, covariances: np.ndarray, seen: np.ndarray, rows: np.ndarray, rng: Any
    ) -> None:
        """Draw the missing cells of rows of one pattern, given their components."""
        gone = ~seen
        for j in np.unique(state["labels"][rows]):
            mine = rows[state["labels"][rows] == j]
            S, apart = covariances[j], self.X[np.ix_(mine, seen)] - means[j][seen]
            slope = np.linalg.solve(S[np.ix_(seen, seen)], S[np.ix_(seen, gone)])
            left = S[np.ix_(gone, gone)] - S[np.ix_(gone, seen)] @ slope
            noise = rng.standard_normal((len(mine), gone.sum())) @ np.linalg.cholesky(0.5 * (left + left.T)).T
            state["filled"][np.ix_(mine, gone)] = means[j][gone] + apart @ slope + noise

    def run(self, state: dict, n: int, rng: np.random.Generator) -> tuple:
        d = self.X.shape[1]
        draws = {
            "weights": np.empty((n, self.k)), "means": np.empty((n, self.k, d)), "covariances": np.empty((n, self.k, d, d)),
            "log_likelihood": np.empty(n),
        }  # fmt: skip
        if self.keep_labels:
            draws["labels"] = np.empty((n, len(self.X)), np.int32)
        for i in range(n):
            for _ in range(self.n_thin):
                drawn = self.parameters(state, rng)
                value = self.allot(state, drawn, rng)
            for name, each in zip(("weights", "means", "covariances"), drawn):
                draws[name][i] = each
            draws["log_likelihood"][i] = value
            if self.keep_labels:
                draws["labels"][i] = state["labels"]
        return draws, {}

    def notes(self, states: list[dict], statistics: dict) -> list[Note]:
        if self.k == 1:
            return []
        return [
            Note(
                "exchangeable",
                "Components have no order, which may change within a chain: compare chains by log_likelihood.",
            )
        ]
