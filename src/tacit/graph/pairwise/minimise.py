"""Labels of low energy: by passes over nodes, by messages, by draws, and by cuts."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import check_choice, check_number
from ...kernels import kernel
from ...notes import Note
from .cut import detour, expansion, graph_cut, swap
from .energy import PairwiseEnergy

__all__ = ["METHODS", "Labelling", "minimise_energy"]

METHODS = ("auto", "graph_cut", "expansion", "swap", "icm", "mean_field", "gibbs", "max_product")


@dataclass(frozen=True)
class Labelling:
    """Labels of the nodes of a network.

    Attributes
    ----------
    labels : ndarray
        Of the shape of the nodes.
    energy : float
    method : str
    reason : Note
        Why the method ended; its code is "exact" where no labelling has less energy.
    n_iter : int
        Passes or rounds.
    shares : ndarray or None
        Probabilities of the labels, of mean field and Gibbs sampling.
    """

    labels: np.ndarray
    energy: float
    method: str
    reason: Note
    n_iter: int
    shares: np.ndarray | None = None

    @property
    def exact(self) -> bool:
        """Whether no labelling has less energy."""
        return self.reason.code == "exact"


def minimise_energy(
    energy: PairwiseEnergy, method: str = "auto", *, start: Any = None, max_iter: int = 100, tol: float = 1e-4,
    damping: float = 0.5, burn_in: int = 20, random_state: int | None = None,
) -> Labelling:  # fmt: skip
    """Find labels of low energy.

    Parameters
    ----------
    energy : PairwiseEnergy
    method : str, default="auto"
        "graph_cut" is exact, for two labels that attract. "expansion" and "swap" take more labels: no move of one label, or
        between two, lowers their energy. "icm" (iterated conditional modes) changes single nodes, "max_product" passes messages,
        "mean_field" and "gibbs" give each node its most probable label. "auto" is the cut where it is exact, else "expansion"
        where distances allow it, else "swap" or "max_product".
    start : array-like of int, optional
        Labels to begin with; by default the cheapest of each node.
    max_iter : int, default=100
        Most passes or rounds.
    tol : float, default=1e-4
        Mean field and max-product end when no share or message changes by more.
    damping : float, default=0.5
        Share of the old messages that max-product keeps.
    burn_in : int, default=20
        Passes of Gibbs sampling before those that count.
    random_state : int, optional
        Seeds Gibbs sampling.

    Returns
    -------
    Labelling

    References
    ----------
    Besag (1986), On the statistical analysis of dirty pictures.
    Boykov and Kolmogorov (2004), An experimental comparison of min-cut/max-flow algorithms for energy minimization in vision.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.graph import PairwiseEnergy, minimise_energy
    >>> noisy = np.array([[0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, 0]])
    >>> found = minimise_energy(PairwiseEnergy(np.stack([noisy, 1 - noisy], axis=2), weight=0.6))
    >>> print(found.labels.tolist(), found.energy, found.reason)
    [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 1]] 3.8 a least cut was found, so no labelling has less energy
    """
    check_choice("method", method, METHODS)
    check_number("max_iter", max_iter, numbers.Integral, 1)
    check_number("tol", tol, numbers.Real, 0)
    check_number("damping", damping, numbers.Real, 0, 0.999)
    check_number("burn_in", burn_in, numbers.Integral, 0)
    labels = energy.unary.argmin(axis=1).astype(np.int32) if start is None else energy.check_labels(start)
    method = _chosen(energy) if method == "auto" else method
    shares = None
    if method == "graph_cut":
        labels, reason, n_iter = graph_cut(energy)
    elif method in ("expansion", "swap"):
        labels, reason, n_iter = (expansion if method == "expansion" else swap)(energy, labels, max_iter)
    elif method == "icm":
        reason, n_iter = _icm(energy, labels, max_iter)
    elif method == "max_product":
        labels, reason, n_iter = _max_product(energy, max_iter, tol, damping)
    elif method == "mean_field":
        shares, reason, n_iter = _mean_field(energy, max_iter, tol)
    else:
        shares, reason, n_iter = _gibbs(energy, labels, max_iter, burn_in, np.random.default_rng(random_state))
    if shares is not None:
        labels, shares = shares.argmax(axis=1), shares.reshape(*energy.shape, -1)
    return Labelling(labels.reshape(energy.shape), energy(labels), method, reason, n_iter, shares)


def _chosen(energy: PairwiseEnergy) -> str:
    """The best method that takes the energy."""
    v = energy.distance
    if energy.is_attractive:
        return "graph_cut"
    if (energy.weight < 0).any() or energy.n_labels == 2:
        return "max_product"
    diagonal = v.diagonal()
    regular = (diagonal[:, None] + diagonal <= 2.0 * v + 1e-12).all()
    return "expansion" if detour(v) is None else "swap" if regular else "max_product"


def _settled(n_iter: int, max_iter: int, change: float, tol: float) -> Note:
    if change <= tol:
        return Note("tol", "changes fell below tol={tol:g} after {n_iter} passes", tol=tol, n_iter=n_iter)
    told = "max_iter={max_iter} passes did not settle: the last one changed by {change:.3g}"
    return Note("max_iter", told, max_iter=max_iter, change=change)


def _icm(energy: PairwiseEnergy, labels: np.ndarray, max_iter: int) -> tuple[Note, int]:
    changed, n_iter = 1, 0
    while changed and n_iter < max_iter:
        changed, n_iter = kernel("conditional_modes")(*energy.passes, labels), n_iter + 1
    if changed:
        return _settled(n_iter, max_iter, float(changed), 0.0), n_iter
    return Note("mode", "no change of a single label lowers the energy"), n_iter


def _mean_field(energy: PairwiseEnergy, max_iter: int, tol: float) -> tuple[np.ndarray, Note, int]:
    shares = np.exp(energy.unary.min(axis=1, keepdims=True) - energy.unary)
    shares /= shares.sum(axis=1, keepdims=True)
    change, n_iter = np.inf, 0
    while change > tol and n_iter < max_iter:
        change, n_iter = kernel("mean_field_sweep")(*energy.passes, shares), n_iter + 1
    return shares, _settled(n_iter, max_iter, change, tol), n_iter


def _gibbs(
    energy: PairwiseEnergy, labels: np.ndarray, max_iter: int, burn_in: int, rng: np.random.Generator
) -> tuple[np.ndarray, Note, int]:
    """Shares of labels in the passes after the burn-in."""
    counts, every = np.zeros_like(energy.unary), np.arange(len(labels))
    for step in range(burn_in + max_iter):
        kernel("gibbs_sweep")(*energy.passes, 1.0, rng.random(len(labels)), labels)
        if step >= burn_in:
            counts[every, labels] += 1.0
    told = "max_iter={max_iter} passes were drawn after {burn_in}"
    return counts / max_iter, Note("drawn", told, max_iter=max_iter, burn_in=burn_in), burn_in + max_iter


def _max_product(energy: PairwiseEnergy, max_iter: int, tol: float, damping: float) -> tuple[np.ndarray, Note, int]:
    first, heads, weight, unary, distance = energy.passes
    sisters = energy.arcs.rows[2]
    messages, change, n_iter = np.zeros((len(heads), energy.n_labels)), np.inf, 0
    while change > tol and n_iter < max_iter:
        settings = first, heads, sisters, weight, unary, distance, damping
        change = max(kernel("max_product_sweep")(*settings, backward, messages) for backward in (False, True))
        n_iter += 1
    belief = unary.copy()
    np.add.at(belief, heads, messages)
    labels = belief.argmin(axis=1).astype(np.int32)
    kernel("conditional_modes")(*energy.passes, labels)  # nodes whose labels tie agree with their neighbours
    return labels, _settled(n_iter, max_iter, change, tol), n_iter
