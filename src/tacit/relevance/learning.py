"""Precisions of weights that make the targets most probable, most of them infinite: ln p(t | α) → max.

    fast:         what weight a adds to 2 ln p is  log α − log(α + s) + q² / (α + s),  best at α = s² / (q² − s), or at infinity
                  where q² ≤ s; one weight a step is added, changed or taken out, the one that gains most
    fixed point:  α = (1 − α Σ_aa) / μ_a², from all weights on; those whose α leaves all bounds are taken out

With S and Q the same with the weight in the model, s = αS / (α − S) and q = αQ / (α − S). At the mode, Q = φ·r.

References
----------
Tipping (2001), Sparse Bayesian learning and the relevance vector machine.
Tipping and Faul (2003), Fast marginal likelihood maximisation for sparse Bayesian models.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..notes import Note
from .likelihoods import NumberTargets, Posterior, Weights

__all__ = ["learn_fast", "learn_fixed_point"]

GONE = 1e9
"""Precision, in units of what the rows tell of a weight, beyond which it is taken for 0."""
COARSE, FINER = 1.0, 0.1
"""Gain of a step, in nats, below which the noise is learned before any more are taken; how much finer the next round is."""
JOINT, SHORT, FEW = 200, 20, 30
"""Most moves of all precisions together, where no single one gains; of those left where a weight is taken out to see what the
others make of its part; and up to how many weights that is tried."""


def learn_fast(
    basis: np.ndarray, targets: Any, max_iter: int, tol: float, learns_noise: bool
) -> tuple[Any, Weights, Posterior, list[float], Note]:
    """Fast marginal-likelihood maximisation; every step that is taken raises ln p(t | α).

    Parameters
    ----------
    basis : (n, m) array
        Φ: values of all functions at the rows.
    targets : NumberTargets or ClassTargets
    max_iter : int
        Most steps.
    tol : float
        The fit has settled when no step gains more, in nats.
    learns_noise : bool

    Returns
    -------
    targets, weights, posterior
    evidence : list of float
        After every step.
    reason : Note
    """
    weights, squares = Weights.none(), basis**2
    found = targets.posterior(basis, weights)
    trace, refused, least = [found.evidence], set[tuple[int, ...]](), max(tol, COARSE) if learns_noise else tol
    for _ in range(max_iter):
        alpha, gain = _best(basis, squares, targets, weights, found)
        for place in refused:
            gain[place] = -np.inf
        column, score = place = tuple(int(at) for at in np.unravel_index(np.argmax(gain), gain.shape))
        if gain[place] > least:
            tried = _changed(weights.changed(weights.alpha, found.mean), column, score, alpha[place])
            new = targets.posterior(basis, tried)
            if not new.evidence > trace[-1]:  # what is promised is exact only where B does not change
                refused.add(place)
                continue
            weights, found = tried, new
        else:
            # Only now: noise that is learned while weights are few takes for noise what others would explain.
            targets, weights, found = _together(basis, targets, weights, found, least, learns_noise)
            if not found.evidence > trace[-1] + least:
                if least <= tol:
                    trace.append(found.evidence)
                    return (
                        targets, weights, found, trace, Note("tol", "no step gains more than tol={tol:g} nats", tol=tol)
                    )  # fmt: skip
                least = max(tol, FINER * least)
        refused = set()
        trace.append(found.evidence)
    return targets, weights, found, trace, Note("max_iter", "max_iter={max_iter} steps were taken", max_iter=max_iter)


def _together(
    basis: np.ndarray, targets: Any, weights: Weights, found: Posterior, tol: float, learns_noise: bool
) -> tuple[Any, Weights, Posterior]:
    """All precisions, and the noise, moved by their fixed points as long as that raises ln p(t | α).

    Single steps end where weights of much the same functions share what fewer could explain; these go on, and so does
    taking a weight out and moving the others.
    """
    before = -np.inf
    while learns_noise and found.evidence > before + tol:
        before = found.evidence
        targets, found = _noisier(targets, basis, weights, found)
    weights, found = _flowed(basis, targets, weights, found, JOINT)
    for place in np.argsort(found.mean**2 * weights.alpha) if len(weights.alpha) <= FEW else ():
        fewer = weights.changed(weights.alpha, found.mean).kept(np.arange(len(weights.alpha)) != place)
        fewer, without = _flowed(basis, targets, fewer, targets.posterior(basis, fewer), SHORT)
        if without.evidence > found.evidence:
            return targets, fewer, without
    return targets, weights, found


def _flowed(
    basis: np.ndarray, targets: Any, weights: Weights, found: Posterior, most: int
) -> tuple[Weights, Posterior]:
    """All precisions moved together while that raises ln p(t | α)."""
    size = np.maximum((basis**2).mean(axis=0), 1e-300)
    for _ in range(most):
        tried, _ = _moved(weights, found, size)
        new = targets.posterior(basis, tried)
        if not new.evidence > found.evidence:
            break
        weights, found = tried, new
    return weights, found


def _moved(weights: Weights, found: Posterior, size: np.ndarray) -> tuple[Weights, float]:
    """Weights with α = (1 − α Σ_aa) / μ_a², those left out that are gone, and how far log α moved, infinitely if any is gone."""
    told = 1.0 - weights.alpha * found.covariance.diagonal()
    alpha = np.maximum(told, 1e-12) / np.maximum(found.mean**2, 1e-300)
    keep = alpha < GONE / size[weights.column]
    moved = float(np.abs(np.log(alpha / weights.alpha)).max(initial=0.0)) if keep.all() else np.inf
    return weights.changed(alpha, found.mean).kept(keep), moved


def _best(
    basis: np.ndarray, squares: np.ndarray, targets: Any, weights: Weights, found: Posterior
) -> tuple[np.ndarray, np.ndarray]:
    """The best precision of every weight, given all others, and by how much it raises ln p(t | α); both (columns, scores)."""
    Q, bend = basis.T @ found.rest, found.bend
    S = targets.told(basis, squares, found)
    if len(weights.column):
        for k in range(Q.shape[1]):
            cross = targets.links(basis, weights, found, k)
            S[:, k] -= np.einsum("ma,ma->m", cross @ found.covariance, cross)
    S = np.maximum(S, 0.0)
    inside = np.full(S.shape, np.inf)
    inside[weights.column, weights.score] = weights.alpha
    known = np.isfinite(inside)
    share = np.ones(S.shape)
    share[known] = inside[known] / np.maximum(inside[known] - S[known], 1e-12 * inside[known])
    s, q = S * share, Q * share
    size = np.maximum(squares.sum(axis=0), 1e-300)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        theta = q**2 - s
        worth = (theta > 0) & (s > 1e-12 * size * bend.mean())
        alpha = np.where(worth, s**2 / theta, np.inf)
        gain = np.where(worth, _told(alpha, s, q), 0.0) - np.where(known, _told(inside, s, q), 0.0)
    return alpha, np.nan_to_num(gain, nan=-np.inf)


def _told(alpha: np.ndarray, s: np.ndarray, q: np.ndarray) -> np.ndarray:
    """What a weight of precision α adds to ln p(t | α)."""
    return 0.5 * (-np.log1p(s / alpha) + q**2 / (alpha + s))


def _changed(weights: Weights, column: int, score: int, alpha: float) -> Weights:
    """The weights with another precision of one of them."""
    at = np.flatnonzero((weights.column == column) & (weights.score == score))
    if not len(at):
        return weights.with_one(column, score, alpha)
    if not np.isfinite(alpha):
        return weights.kept(np.arange(len(weights.column)) != at[0])
    changed = weights.alpha.copy()
    changed[at[0]] = alpha
    return weights.changed(changed)


def _noisier(
    targets: NumberTargets, basis: np.ndarray, weights: Weights, found: Posterior
) -> tuple[NumberTargets, Posterior]:
    """A variance of the noise that raises ln p(t | α), and the posterior with it."""
    floor = 1e-10 * float(targets.weight @ targets.t**2 / targets.weight.sum())
    for noise in targets.noises(basis, weights, found):
        other = targets.with_noise(max(noise, floor, np.finfo(float).tiny))
        new = other.posterior(basis, weights)
        if new.evidence > found.evidence:
            return other, new
    return targets, found


def learn_fixed_point(
    basis: np.ndarray, targets: Any, max_iter: int, tol: float, learns_noise: bool
) -> tuple[Any, Weights, Posterior, list[float], Note]:
    """Tipping's fixed point of 2001, from all weights on; as `learn_fast` otherwise."""
    n, m = basis.shape
    score, column = (part.ravel() for part in np.indices((targets.n_scores, m)))
    size = np.maximum((basis**2).mean(axis=0), 1e-300)
    weights = Weights(column, score, 1.0 / (n * size)[column], np.zeros(len(column)))
    found = targets.posterior(basis, weights)
    trace = [found.evidence]
    for _ in range(max_iter):
        weights, moved = _moved(weights, found, size)
        found = targets.posterior(basis, weights)
        if learns_noise:
            targets, found = _noisier(targets, basis, weights, found)
        trace.append(found.evidence)
        if moved < tol:
            return (
                targets,
                weights,
                found,
                trace,
                Note("tol", "no log precision moves by more than tol={tol:g}", tol=tol),
            )
    return targets, weights, found, trace, Note("max_iter", "max_iter={max_iter} steps were taken", max_iter=max_iter)
