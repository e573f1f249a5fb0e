"""Labels by cuts: exact for two labels that attract, by moves of many nodes at once for more.

In a move every node keeps its label (t = 0) or takes another (t = 1). An edge with the costs A, B, C and D of (0, 0), (0, 1),
(1, 0) and (1, 1) is A + (C − A) t_i + (D − C) t_j + (B + C − A − D) (1 − t_i) t_j: costs of single nodes, and a capacity where
A + D ≤ B + C.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...notes import Note
from .energy import PairwiseEnergy

__all__ = ["expansion", "graph_cut", "swap"]

SLACK = 1e-9


def graph_cut(energy: PairwiseEnergy) -> tuple[np.ndarray, Note, int]:
    """The labelling of least energy, of two labels that attract.

    Parameters
    ----------
    energy : PairwiseEnergy
    """
    if energy.n_labels != 2:
        raise ValueError(
            f"a graph cut chooses between 2 labels, but there are {energy.n_labels}; use method='expansion' or 'swap'."
        )
    v, terminal = energy.distance, energy.unary[:, 1] - energy.unary[:, 0]
    capacity = _checked(energy, energy.weight * (v[0, 1] - 0.5 * (v[0, 0] + v[1, 1])), "max_product")
    if v[0, 0] != v[1, 1]:
        terminal += 0.5 * (v[1, 1] - v[0, 0]) * energy.arcs.sums(energy.weight)
    found = energy.arcs.cut(terminal, capacity, capacity)[1]
    return found.astype(np.int32), Note("exact", "a least cut was found, so no labelling has less energy"), 1


def expansion(energy: PairwiseEnergy, labels: np.ndarray, max_iter: int) -> tuple[np.ndarray, Note, int]:
    """Let each label in turn expand over as many nodes as lowers the energy, until none does.

    Parameters
    ----------
    energy : PairwiseEnergy
    labels : (n,) array
        Where to begin.
    max_iter : int
        Most rounds over the labels.
    """
    if (found := detour(energy.distance)) is not None:
        a, b, c = found
        raise ValueError(
            f"an expansion of label {c} is no cut: the distance of {a} and {b} exceeds what they cost beside {c}; use "
            "method='swap'."
        )

    def move(labels: np.ndarray, alpha: int) -> np.ndarray:
        own = energy.unary[np.arange(len(labels)), labels]
        taken = _move(energy, energy.unary[:, alpha] - own, labels, np.full_like(labels, alpha), "swap")
        return np.where(taken, np.int32(alpha), labels)

    return _rounds(energy, labels, max_iter, [(alpha,) for alpha in range(energy.n_labels)], move)


def detour(distance: np.ndarray) -> tuple[int, int, int] | None:
    """Labels a, b and c with V(a, b) + V(c, c) > V(a, c) + V(c, b); None where distances are a metric.

    Parameters
    ----------
    distance : (L, L) array
    """
    far = distance[:, :, None] + distance.diagonal() - distance[:, None, :] - distance[None, :, :]
    a, b, c = np.unravel_index(int(far.argmax()), far.shape)
    return (int(a), int(b), int(c)) if far[a, b, c] > SLACK else None


def swap(energy: PairwiseEnergy, labels: np.ndarray, max_iter: int) -> tuple[np.ndarray, Note, int]:
    """Let each pair of labels in turn share its nodes anew, until that lowers the energy for none.

    Parameters
    ----------
    energy : PairwiseEnergy
    labels : (n,) array
        Where to begin.
    max_iter : int
        Most rounds over the pairs.
    """

    def move(labels: np.ndarray, alpha: int, beta: int) -> np.ndarray:
        among = (labels == alpha) | (labels == beta)
        zero, one = (np.where(among, np.int32(label), labels) for label in (alpha, beta))
        terminal = np.where(among, energy.unary[:, beta] - energy.unary[:, alpha], 0.0)
        return np.where(_move(energy, terminal, zero, one, "max_product"), one, zero)

    pairs = [(a, b) for a in range(energy.n_labels) for b in range(a)]
    return _rounds(energy, labels, max_iter, pairs, move)


def _rounds(
    energy: PairwiseEnergy, labels: np.ndarray, max_iter: int, moves: Sequence[tuple[int, ...]],
    move: Callable[..., np.ndarray],
) -> tuple[np.ndarray, Note, int]:  # fmt: skip
    """Rounds of moves, each of which is kept where it lowers the energy."""
    least, failed = energy(labels), 0
    for step in range(max_iter * len(moves)):
        found = move(labels, *moves[step % len(moves)])
        value = energy(found)
        if value < least - SLACK * max(1.0, abs(least)):
            labels, least, failed = found, value, 0
        else:
            failed += 1
        if failed == len(moves):
            return labels, Note("no_move", "no move lowers the energy"), step // len(moves) + 1
    return labels, Note("max_iter", "max_iter={max_iter} rounds were made", max_iter=max_iter), max_iter


def _move(energy: PairwiseEnergy, terminal: np.ndarray, zero: np.ndarray, one: np.ndarray, remedy: str) -> np.ndarray:
    """Which nodes take the label `one` instead of `zero`, so that the energy is least; `terminal` is what a node pays for it."""
    (i, j), v, w = energy.arcs.edges.T, energy.distance, energy.weight
    keep, second = v[zero[i], zero[j]], v[zero[i], one[j]]
    first, both = v[one[i], zero[j]], v[one[i], one[j]]
    capacity = _checked(energy, w * (second + first - keep - both), remedy)
    n = len(terminal)
    terminal = terminal + np.bincount(i, w * (first - keep), n) + np.bincount(j, w * (both - first), n)
    return energy.arcs.cut(terminal, capacity, np.zeros(len(w)))[1]


def _checked(energy: PairwiseEnergy, capacity: np.ndarray, remedy: str) -> np.ndarray:
    """Capacities, or an error that names an edge that has none; what is negative by rounding is 0."""
    lowest = capacity.min(initial=0.0)
    if lowest < -SLACK * max(1.0, float(np.abs(capacity).max(initial=0.0))):
        i, j = energy.arcs.edges[capacity.argmin()].tolist()
        raise ValueError(
            f"the edge ({i}, {j}) does not attract: like labels cost {-lowest:g} more than unlike ones, so no cut gives the "
            f"least energy; use method={remedy!r}."
        )
    return np.maximum(capacity, 0.0)
