"""`hamiltonian`: the no-U-turn sampler, H(x, p) = −log π(x) + ½ pᵀ M⁻¹ p, with multinomial weights along the trajectory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .chains import Chains

__all__ = ["hamiltonian"]


def hamiltonian(
    log_density: Any,
    start: Any,
    *,
    gradient: Callable | None = None,
    n_draws: int = 1000,
    n_warmup: int = 1000,
    n_chains: int = 4,
    metric: str = "diagonal",
    target_acceptance: float = 0.8,
    max_depth: int = 10,
    keep_warmup: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
    callback: Callable | None = None,
    checkpoint: Any = None,
) -> Chains:
    """Draw from a density by Hamiltonian Monte Carlo (no-U-turn).

    Parameters
    ----------
    log_density : callable or object
        The log density up to a constant, of a vector (or of a dict of arrays where `start` is one). An object may have
        ``value_and_gradient(x)``, which returns the value and the gradient (of the same shape as x, or a dict likewise).
    start : array of shape (d,) or (n_chains, d), dict of arrays, list of n_chains of these, or callable
        Where chains start; a callable takes a ``numpy.random.Generator`` and returns one start.
    gradient : callable, optional
        Of the log density, where it is not told by the object.
    n_draws, n_warmup, n_chains : int
        Draws per chain, steps of warm-up, chains.
    metric : {"diagonal", "dense"}
        What of the covariance warm-up adapts to.
    target_acceptance : float
        Mean acceptance that the step size is adapted to.
    max_depth : int
        A trajectory has at most 2 ** max_depth steps.
    keep_warmup : bool
        Whether draws of warm-up are kept in ``Chains.warmup``.
    random_state : int, Generator or None
    n_jobs : int, optional
        Threads; None is all cores.
    callback : callable, optional
        Called with the progress (`tacit.engine.Progress`).
    checkpoint : path, optional
        A file from which an interrupted run goes on.
    """
    raise NotImplementedError("under way on this branch")
