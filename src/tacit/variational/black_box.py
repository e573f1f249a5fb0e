"""`variational_posterior`: a Gaussian near the posterior of any model with a prior, in coordinates without constraints.

    log p(X) ≥ E_q[log p(X, φ)] + H(q),    q(φ) = N(m, S Sᵀ),   φ = m + S ε,   ε ~ N(0, I)

Gradients go through the draws (reparametrisation) into that of the log density, which costs one E-step. The draws ε are
fixed while m and S are learned, so that the objective is a smooth function, which quasi-Newton steps take to its maximum; what
is reported is the bound at fresh draws, with its standard error.
"""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import norm, qmc

from ..checks import check_choice, check_number
from ..notes import Note
from ..sampling.chains import Chains, require_arviz
from ..sampling.draws import PosteriorSample
from ..sampling.posterior import checked, gathered, opened, posterior_density
from ..sampling.posterior_density import PosteriorDensity

__all__ = ["VariationalPosterior", "variational_posterior"]

LOG_2PI = np.log(2.0 * np.pi)
UNRELIABLE = 0.7
"""Pareto shape of importance weights from which on they tell little (Vehtari et al., 2024)."""
POOR = 0.5
"""Effective share of the draws below which such a shape matters: tails may be thin where they are hardly ever met."""


class VariationalPosterior(PosteriorSample):
    """Draws from a Gaussian near the posterior, and the bound on the evidence that it gives; made by `variational_posterior`.

    Attributes
    ----------
    bound, bound_error : float
        Lower bound of log p(X), and its Monte Carlo standard error.
    log_evidence : float
        Estimate of log p(X) by importance sampling with Pareto-smoothed weights; at most a little above where `khat` is small.
    khat : float
        Pareto shape of these weights: below 0.5 the Gaussian is near the posterior, from 0.7 on its tails are thinner.
    efficiency : float
        Effective share of the draws under these weights; 1 where the Gaussian is the posterior.
    kind : str
    """

    bound: float
    bound_error: float
    log_evidence: float
    khat: float
    efficiency: float
    kind: str


def variational_posterior(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    kind: str = "full_rank",
    n_draws: int = 1000,
    n_fixed: int | None = None,
    prior: str | None = None,
    max_iter: int = 300,
    sample_weight: Any = None,
    random_state: Any = None,
) -> VariationalPosterior:
    """Approximate the posterior of a fitted estimator's parameters by a Gaussian in coordinates without constraints.

    Parameters
    ----------
    estimator, X, y, prior, sample_weight
        As in :func:`tacit.sampling.sample_posterior`.
    kind : {"full_rank", "mean_field"}, default="full_rank"
        A Gaussian of any covariance, or of independent coordinates (as the model has them).
    n_draws : int, default=1000
        Fresh draws, by which the bound is told and which are returned.
    n_fixed : int, optional
        Draws that the objective is averaged over; default 128 for "mean_field"; for "full_rank" 256, or 16 for each
        coordinate where that is more: with few, S fits these draws and the bound at fresh ones is lower.
    max_iter : int, default=300
        Most quasi-Newton steps.
    random_state : int, Generator or None

    Returns
    -------
    VariationalPosterior

    References
    ----------
    Kucukelbir, Tran, Ranganath, Gelman and Blei (2017), Automatic differentiation variational inference.
    Giordano, Ingram and Broderick (2024), Black box variational inference with a deterministic objective.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.mixture import GaussianMixture
    >>> from tacit.variational import variational_posterior
    >>> X = np.random.default_rng(0).normal(5.0, 2.0, size=(50, 1))
    >>> mixture = GaussianMixture(component_prior="default").fit(X)
    >>> found = variational_posterior(mixture, X, random_state=0)
    >>> found.bound < found.log_evidence + 3 * found.bound_error
    True
    """
    checked(estimator, n_draws=n_draws, prior=prior)
    check_choice("kind", kind, ("full_rank", "mean_field"))
    check_number("n_draws", n_draws, numbers.Integral, 10)  # as importance sampling takes
    check_number("max_iter", max_iter, numbers.Integral, 1)
    if n_fixed is not None:
        check_number("n_fixed", n_fixed, numbers.Integral, 2)
    model, params, source = opened(estimator, X, y, sample_weight)
    density = posterior_density(estimator, model, params, source, prior)
    if density.how == "none":
        raise ValueError(
            f"{type(estimator).__name__} has no gradient for its {density.size} parameters; "
            "use sample_posterior(sampler='metropolis')."
        )
    density.centre()
    if kind == "mean_field":
        density.root = np.diag(1.0 / np.sqrt(np.maximum(np.diag(np.linalg.inv(density.root @ density.root.T)), 1e-12)))
    rng = np.random.default_rng(random_state)
    most = n_fixed or (128 if kind == "mean_field" else max(256, 16 * density.size))
    mean, root, note = _learned(density, kind, most, max_iter, rng)
    return _told(estimator, density, source, mean, root, kind, n_draws, rng, note)


def _learned(
    density: PosteriorDensity, kind: str, n_fixed: int, max_iter: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, Note]:
    """M and S of z."""
    d = density.size
    # Points that fill the space evenly, and their mirror images: sums of odd functions are exactly 0.
    half = norm.ppf(np.clip(qmc.Sobol(d, rng=rng).random(1 << int(np.ceil(np.log2(n_fixed / 2.0)))), 1e-6, 1 - 1e-6))
    noise = np.concatenate([half, -half])
    rows, columns = np.tril_indices(d, -1) if kind == "full_rank" else (np.zeros(0, int), np.zeros(0, int))

    def unpacked(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        root = np.diag(np.exp(np.clip(theta[d : 2 * d], -20.0, 20.0)))
        root[rows, columns] = theta[2 * d :]
        return theta[:d], root

    def fall(theta: np.ndarray) -> tuple[float, np.ndarray]:
        mean, root = unpacked(theta)
        found = [density.value_and_gradient(z) for z in mean + noise @ root.T]
        values, slopes = np.array([value for value, _ in found]), np.array([slope for _, slope in found])
        if not np.isfinite(values).all():
            return 1e300, np.zeros_like(theta)
        wide = slopes.T @ noise / len(noise)
        gradient = np.concatenate([slopes.mean(axis=0), wide.diagonal() * root.diagonal() + 1.0, wide[rows, columns]])
        return -float(values.mean() + theta[d : 2 * d].sum()), -gradient

    start = np.zeros(2 * d + len(rows))
    while fall(start)[0] >= 1e300 and start[d] > -5.0:  # a spread so small that there is a density everywhere
        start[d : 2 * d] -= 0.5
    found = minimize(fall, start, jac=True, method="L-BFGS-B", options={"maxiter": max_iter, "ftol": 1e-9})
    told = "the bound settled" if found.success else "max_iter={max_iter} steps were taken"
    return *unpacked(found.x), Note("tol" if found.success else "max_iter", told, max_iter=max_iter)


def _told(
    estimator: Any, density: PosteriorDensity, source: Any, mean: np.ndarray, root: np.ndarray, kind: str, n_draws: int,
    rng: np.random.Generator, note: Note,
) -> VariationalPosterior:  # fmt: skip
    """Fresh draws, and what they tell of the evidence."""
    noise = rng.standard_normal((n_draws, density.size))
    drawn = mean + noise @ root.T
    log_p = np.array([density(z) for z in drawn]) + density.log_stretch
    log_q = -0.5 * (noise**2).sum(axis=1) - 0.5 * density.size * LOG_2PI - np.log(np.abs(root.diagonal())).sum()
    weight, n_chains = log_p - log_q, 4 if n_draws % 4 == 0 else 1  # draws are independent: any cut into chains will do
    told = {"x": drawn.reshape(n_chains, -1, density.size)}, {"lp": log_p.reshape(n_chains, -1)}
    found = gathered(estimator, density, source, Chains(*told, sampler="variational"), [note], VariationalPosterior)
    found.bound, found.bound_error, found.kind = float(weight.mean()), float(weight.std() / np.sqrt(n_draws)), kind
    smooth, shape = require_arviz().psislw(np.where(np.isfinite(weight), weight, weight[np.isfinite(weight)].min()))
    found.khat = float(np.ravel(shape)[0])
    scale = logsumexp(weight) - logsumexp(np.asarray(smooth))
    found.log_evidence = float(logsumexp(np.asarray(smooth)) + scale - np.log(n_draws))
    found.efficiency = float(np.exp(2.0 * logsumexp(weight) - logsumexp(2.0 * weight)) / n_draws)
    if found.khat > UNRELIABLE and found.efficiency < POOR:
        note = Note(
            "khat", "the Pareto shape of importance weights is {khat:.2f}, above {limit}, and draws are worth {share:.0%}: the "
            "posterior is far from Gaussian in these coordinates, so use sample_posterior", khat=found.khat, limit=UNRELIABLE,
            share=found.efficiency,
        )  # fmt: skip
        found.chains = replace(found.chains, notes=(*found.chains.notes, note))
    return found
