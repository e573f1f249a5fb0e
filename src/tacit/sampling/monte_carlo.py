"""`rejection_sample` and `importance_sample`: draws of a density π from those of a proposal q.

rejection: keep x ~ q with probability π(x) / (c q(x))        importance: E[f] = Σ w f / Σ w,  w = π(x) / q(x)
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from ..checks import check_number
from ..notes import Note
from .chains import require_arviz
from .density import Density
from .estimate import CELLS, Estimate, RowFunction
from .points import open_proposal
from .positions import Position

__all__ = ["ImportanceSample", "RejectionSample", "importance_sample", "rejection_sample"]

PILOT = 10_000


@dataclass(frozen=True, eq=False)
class RejectionSample:
    """Independent draws by rejection.

    Parameters
    ----------
    draws : ndarray of shape (n, d)
    acceptance_rate : float
    n_proposed : int
    log_bound : float
        What log π − log q was taken to stay below.
    log_evidence, log_evidence_error : float
        Log of ∫ π, from the share that was accepted, and its standard error.
    broken : ndarray of shape (m, d)
        Proposals at which the density was above the bound, the worst first.
    notes : tuple of Note
    """

    draws: np.ndarray
    acceptance_rate: float
    n_proposed: int
    log_bound: float
    log_evidence: float
    log_evidence_error: float
    broken: np.ndarray
    notes: tuple[Note, ...]

    def __repr__(self) -> str:
        n, d = self.draws.shape
        return f"RejectionSample({n} draws of {d} columns, acceptance_rate={self.acceptance_rate:.3g}, notes={list(self.notes)})"


def rejection_sample(
    log_density: Any, proposal: Any, n: int, *, log_bound: float | None = None, max_proposals: int = 10_000_000,
    random_state: Any = None,
) -> RejectionSample:  # fmt: skip
    """Independent draws of a density, from proposals that are kept with the probability π / (c q).

    Parameters
    ----------
    log_density : callable or distribution
        The log density up to a constant, of one point or of rows (which is found out).
    proposal : distribution or pair of functions
        What proposes: a distribution of `tacit.families`, a frozen one of SciPy, a fitted density estimator, or functions
        ``sample(n, rng)`` and ``log_prob(X)``.
    n : int
        Draws to keep.
    log_bound : float, optional
        log c, which log π − log q never exceeds. By default the largest of 10,000 proposals, which a note tells: the true
        one may be larger. Where a proposal breaks the bound a note says where.
    max_proposals : int
        ValueError where so many do not give n draws.
    random_state : int, Generator or None

    Returns
    -------
    RejectionSample

    Examples
    --------
    >>> import math
    >>> from scipy.stats import uniform
    >>> from tacit.sampling import rejection_sample
    >>> kept = rejection_sample(lambda x: math.log(x[0]), uniform(), 1000, log_bound=0.0, random_state=0)
    >>> round(kept.acceptance_rate, 1), kept.draws.shape
    (0.5, (1000, 1))
    """
    check_number("n", n, numbers.Integral, 1)
    check_number("max_proposals", max_proposals, numbers.Integral, 1)
    rng, notes = np.random.default_rng(random_state), list[Note]()
    ratios = _Ratios(log_density, proposal, rng)
    if log_bound is None:
        log_bound = float(ratios.draw(PILOT)[1].max())
        notes.append(Note(
            "bound_estimated", "log_bound={bound:.6g} is the largest of {n} proposals; the true bound may be larger.",
            bound=log_bound, n=PILOT,
        ))  # fmt: skip
    if not math.isfinite(log_bound):
        raise ValueError(f"log_bound={log_bound!r} is not finite; give a number that log π − log q never exceeds.")
    kept, broken, n_kept, n_proposed = [], [], 0, 0
    while n_kept < n:
        share = max(n_kept, 1) / max(n_proposed, 1) if n_proposed else 1.0
        size = int(min(ratios.most, max(1000, 1.1 * (n - n_kept) / share), max_proposals - n_proposed))
        if size <= 0:
            raise ValueError(
                f"{n_kept} of n={n} draws were kept of max_proposals={max_proposals}; propose from a distribution "
                f"that is closer to the "
                "density, or lower log_bound if it is not needed."
            )
        X, log_ratio = ratios.draw(size)
        over = log_ratio > log_bound + 1e-12 * abs(log_bound)
        broken += list(zip(log_ratio[over] - log_bound, X[over]))
        accepted = np.flatnonzero(np.log(rng.random(size)) < log_ratio - log_bound)[: n - n_kept]
        if len(accepted) == n - n_kept:
            size = int(accepted[-1]) + 1  # what comes after the last one that is needed was not looked at
        kept.append(X[accepted])
        n_kept, n_proposed = n_kept + len(accepted), n_proposed + size
    broken.sort(key=lambda each: -each[0])
    if broken:
        notes.append(_broken(broken, n_proposed))
    rate = n / n_proposed
    error = math.sqrt((1 - rate) / n)
    points = np.array([x for _, x in broken]).reshape(-1, ratios.size)
    return RejectionSample(
        np.concatenate(kept), rate, n_proposed, log_bound, math.log(rate) + log_bound, error, points, tuple(notes)
    )  # fmt: skip


def _broken(broken: list, n_proposed: int) -> Note:
    excess, where = broken[0]
    return Note(
        "envelope_broken", "The density exceeded the bound at {n} of {of} proposals, by a factor of up to "
        "{factor:.4g} at {where}: draws there are too "
        "rare; use log_bound={remedy:.6g} more.",
        n=len(broken), of=n_proposed, factor=float(np.exp(excess)), where=np.array2string(where, precision=4),
        remedy=float(excess),
    )  # fmt: skip


class _Ratios:
    """Proposals with log π − log q."""

    def __init__(self, log_density: Any, proposal: Any, rng: np.random.Generator):
        self.proposal, self.rng = open_proposal(proposal), rng
        points = self.proposal.sample(3, rng)
        self.size = points.shape[1]
        self.density = Density(log_density, Position({"x": (self.size,)}, False), list(points))
        self.most = max(1000, CELLS // self.size)

    def draw(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        X = self.proposal.sample(n, self.rng)
        with np.errstate(all="ignore"):
            values, proposed = self.density.rows(X), self.proposal.log_prob(X)
        for name, found in (("log_density", values), ("the proposal's log density", proposed)):
            bad = np.isnan(found) | (found == math.inf)
            if bad.any():
                raise ValueError(
                    f"{name} is {found[bad][0]} at {int(bad.sum())} of {n} proposals, the first at {X[bad][0]}; "
                    f"return -inf where the density is 0."
                )
        return X, np.where(values == -math.inf, -math.inf, values - proposed)


@dataclass(frozen=True, eq=False)
class ImportanceSample:
    """Weighted draws.

    Parameters
    ----------
    draws : ndarray of shape (n, d)
        Of the proposal.
    log_weights : ndarray of shape (n,)
        Normalised, the largest smoothed by a generalised Pareto distribution.
    raw_log_weights : ndarray of shape (n,)
        log π − log q.
    ess : float
        1 / Σ w².
    k_hat : float
        Shape of the weights' tail: above 0.5 their variance is infinite, above 0.7 estimates are unreliable; NaN where
        weights are not smoothed.
    log_evidence, log_evidence_error : float
        Log of ∫ π, and its standard error.
    notes : tuple of Note
    """

    draws: np.ndarray
    log_weights: np.ndarray
    raw_log_weights: np.ndarray
    ess: float
    k_hat: float
    log_evidence: float
    log_evidence_error: float
    notes: tuple[Note, ...]

    def __repr__(self) -> str:
        n, d = self.draws.shape
        told = f"ess={self.ess:.4g}, k_hat={self.k_hat:.2f}, log_evidence={self.log_evidence:.6g}, notes={list(self.notes)}"
        return f"ImportanceSample({n} draws of {d} columns, {told})"

    @property
    def weights(self) -> np.ndarray:
        """Weights, which add up to 1."""
        return np.exp(self.log_weights)

    def expectation(self, f: Callable) -> Estimate:
        """Weighted average of a function of one draw or of rows.

        Parameters
        ----------
        f : callable
        """
        step = max(1, CELLS // self.draws.shape[1])
        function = RowFunction(f)
        values = np.concatenate([function(self.draws[i : i + step]) for i in range(0, len(self.draws), step)])
        mean = np.tensordot(self.weights, values, 1)
        error = np.sqrt(np.tensordot(self.weights**2, (values - mean) ** 2, 1))
        return Estimate(mean, error, self.ess, len(values), self.notes)

    def resample(self, n: int, random_state: Any = None) -> np.ndarray:
        """Draws without weights, (n, d), drawn from these by their weights.

        Parameters
        ----------
        n : int
        random_state : int, Generator or None
        """
        rng = np.random.default_rng(random_state)
        return self.draws[rng.choice(len(self.draws), n, p=self.weights / self.weights.sum())]


def importance_sample(
    log_density: Any, proposal: Any, n: int, *, smooth: bool = True, random_state: Any = None
) -> ImportanceSample:
    """Draws of a proposal with weights that make them stand for a density.

    Parameters
    ----------
    log_density, proposal
        As in `rejection_sample`.
    n : int
        Draws.
    smooth : bool
        Whether the largest weights are smoothed by a generalised Pareto distribution (by ArviZ, the extra ``sampling``).
    random_state : int, Generator or None

    Returns
    -------
    ImportanceSample

    References
    ----------
    Vehtari, Simpson, Gelman, Yao and Gabry (2024), Pareto smoothed importance sampling.

    Examples
    --------
    >>> from scipy.stats import norm, t
    >>> from tacit.sampling import importance_sample
    >>> sample = importance_sample(norm(1, 1), t(5), 10_000, random_state=0)
    >>> mean = sample.expectation(lambda x: x[0])
    >>> abs(mean.value - 1) < 4 * mean.standard_error, sample.k_hat < 0.5, abs(sample.log_evidence) < 0.1
    (np.True_, True, True)
    """
    check_number("n", n, numbers.Integral, 25)  # fewer have no tail to fit
    ratios = _Ratios(log_density, proposal, np.random.default_rng(random_state))
    sizes = [min(ratios.most, n - start) for start in range(0, n, ratios.most)]
    parts = [ratios.draw(size) for size in sizes]
    X, raw = np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    if not (raw > -math.inf).any():
        raise ValueError(f"log_density is -inf at all {n} proposals; propose from where the density is positive.")
    smoothed, k_hat = _smoothed(raw) if smooth else (raw - logsumexp(raw), math.nan)
    total = logsumexp(raw)
    shares = np.exp(raw - total)
    error = math.sqrt(max(float((shares**2).sum()) * n - 1.0, 0.0) / n)
    ess = float(np.exp(-logsumexp(2 * smoothed)))
    return ImportanceSample(X, smoothed, raw, ess, k_hat, float(total - math.log(n)), error, _weighed(k_hat, ess, n))


def _smoothed(raw: np.ndarray) -> tuple[np.ndarray, float]:
    if np.ptp(raw[raw > -math.inf]) < 1e-12:  # equal weights have no tail
        return raw - logsumexp(raw), -math.inf
    with np.errstate(all="ignore"):
        smoothed, k_hat = require_arviz().psislw(np.maximum(raw, raw.max() - 700.0))
    smoothed = np.where(raw > -math.inf, np.asarray(smoothed), -math.inf)
    return smoothed - logsumexp(smoothed), float(k_hat)


def _weighed(k_hat: float, ess: float, n: int) -> tuple[Note, ...]:
    notes = []
    if k_hat > 0.7:
        notes.append(Note(
            "weights_unreliable", "The weights have infinite variance (k-hat = {k:.2f}, above 0.7): estimates and "
            "their standard errors are unreliable; "
            "propose from a distribution with heavier tails, or closer to the density.", k=k_hat,
        ))  # fmt: skip
    elif k_hat > 0.5:
        notes.append(Note(
            "weights_infinite_variance", "The weights have infinite variance (k-hat = {k:.2f}, above 0.5): smoothing "
            "makes estimates usable, but the error of the "
            "evidence is understated.", k=k_hat,
        ))  # fmt: skip
    if ess < 50:
        notes.append(Note("weights_few", "The weights are worth {ess:.1f} of {n} draws.", ess=ess, n=n))
    return tuple(notes)
