"""`PairwiseEnergy`: labels of nodes that have costs of their own and want to be like their neighbours.

E(x) = Σ_i U_i(x_i) + Σ_(ij) w_ij V(x_i, x_j),        p(x) ∝ exp(−E(x))
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ...checks import check_choice
from .arcs import Arcs

__all__ = ["PairwiseEnergy", "distances"]

DISTANCES = ("potts", "linear", "quadratic")


def distances(name: str, n_labels: int, most: float | None = None) -> np.ndarray:
    """How far labels are apart: 1 where they differ ("potts"), |k − l| or (k − l)², at most `most`.

    Parameters
    ----------
    name : {"potts", "linear", "quadratic"}
    n_labels : int
    most : float, optional
    """
    check_choice("distance", name, DISTANCES)
    gap = np.abs(np.subtract.outer(np.arange(n_labels), np.arange(n_labels))).astype(float)
    found = {"potts": np.minimum(gap, 1.0), "linear": gap, "quadratic": gap**2}[name]
    return found if most is None else np.minimum(found, most)


class PairwiseEnergy:
    """The energy of a pairwise network.

    Parameters
    ----------
    unary : array-like of shape (n, L), or (height, width, L) for a grid
        Costs of the labels of each node.
    edges : array-like of shape (m, 2), optional
        Pairs of neighbours; left out for a grid.
    weight : float or array-like of shape (m,), default=1.0
        What distances of labels are multiplied by.
    distance : {"potts", "linear", "quadratic"} or array-like of shape (L, L), default="potts"
        Symmetric costs of labels beside each other.
    connectivity : {4, 8}, default=4
        Neighbours of a cell of a grid; diagonal ones weigh 1 / √2 of the others.

    Attributes
    ----------
    unary, weight, distance : ndarray
    arcs : Arcs
    shape : tuple of int
        Of labels.

    References
    ----------
    Boykov, Veksler and Zabih (2001), Fast approximate energy minimization via graph cuts.

    Examples
    --------
    >>> from tacit.graph import PairwiseEnergy
    >>> energy = PairwiseEnergy([[0, 2], [1, 0], [0, 2]], [(0, 1), (1, 2)])
    >>> energy([0, 1, 0]), energy([0, 0, 0]), energy.minimise().labels.tolist()
    (2.0, 1.0, [0, 0, 0])
    """

    def __init__(
        self, unary: Any, edges: Any = None, weight: Any = 1.0, distance: Any = "potts", connectivity: int = 4
    ) -> None:
        given = np.asarray(unary, dtype=np.float64)
        if given.ndim not in (2, 3) or not given.size or (given.ndim == 3) != (edges is None):
            raise ValueError(
                f"unary has shape {given.shape}; give (nodes, labels) with edges, or (height, width, labels) without."
            )
        if not np.isfinite(given).all():
            raise ValueError(f"unary holds {given[~np.isfinite(given)][0]}; costs must be finite.")
        if connectivity not in (4, 8):
            raise ValueError(f"connectivity={connectivity!r} is unknown; use 4 or 8.")
        self.shape, n_labels = given.shape[:-1], given.shape[-1]
        self.unary = np.ascontiguousarray(given.reshape(-1, n_labels))
        if edges is None:
            self.arcs = Arcs.grid((self.shape[0], self.shape[1]), connectivity)
        else:
            self.arcs = Arcs.of(len(self.unary), edges)
        self.weight = self._weights(weight, connectivity if edges is None else 4)
        self.distance = distances(distance, n_labels) if isinstance(distance, str) else self._distances(distance)

    def _weights(self, weight: Any, connectivity: int) -> np.ndarray:
        m = len(self.arcs.edges)
        given = np.asarray(weight, dtype=np.float64)
        if given.shape not in ((), (m,)) or not np.isfinite(given).all():
            raise ValueError(f"weight has shape {given.shape}; give a finite number, or {m} of them, one per edge.")
        found = np.broadcast_to(given, m)
        if connectivity == 8 and given.ndim == 0:
            straight = sum((self.shape[0] - d) * (self.shape[1] - r) for d, r in ((0, 1), (1, 0)))
            found = np.where(np.arange(m) < straight, given, given / np.sqrt(2.0))
        return np.ascontiguousarray(found)

    def _distances(self, distance: Any) -> np.ndarray:
        given, n_labels = np.array(distance, dtype=np.float64), self.unary.shape[1]
        if given.shape != (n_labels, n_labels) or not np.isfinite(given).all() or not np.allclose(given, given.T):
            raise ValueError(
                f"distance has shape {given.shape}; give a finite symmetric matrix ({n_labels}, {n_labels})."
            )
        return given

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return self.unary.shape[1]

    @cached_property
    def passes(self) -> tuple[np.ndarray, ...]:
        """What kernels take: where arcs begin, where they lead, their weights, costs and distances."""
        first, heads, _, edge = self.arcs.rows
        return first, heads, self.weight[edge], self.unary, self.distance

    def check_labels(self, labels: Any) -> np.ndarray:
        """Labels as (n,) int32, or an error that tells the fault."""
        given = np.asarray(labels)
        if given.shape not in (self.shape, (len(self.unary),)) or given.dtype.kind not in "iub":
            raise ValueError(f"labels has shape {given.shape} and type {given.dtype}; give whole numbers {self.shape}.")
        bad = given[(given < 0) | (given >= self.n_labels)] if given.dtype.kind != "b" else given[:0]
        if bad.size:
            raise ValueError(f"labels holds {bad[0]}; use 0 to {self.n_labels - 1}.")
        return given.ravel().astype(np.int32)

    def __call__(self, labels: Any) -> float:
        """The energy of a labelling."""
        x = self.check_labels(labels)
        a, b = self.arcs.edges.T
        return float(self.unary[np.arange(len(x)), x].sum() + self.weight @ self.distance[x[a], x[b]])

    @property
    def is_attractive(self) -> bool:
        """Whether two labels can be chosen exactly by a cut: like neighbours never cost more than unlike ones."""
        v = self.distance
        return self.n_labels == 2 and bool((self.weight * (2.0 * v[0, 1] - v[0, 0] - v[1, 1]) >= 0).all())

    def minimise(self, method: str = "auto", **settings: Any) -> Any:
        """Find labels of low energy; see `minimise_energy`."""
        from .minimise import minimise_energy

        return minimise_energy(self, method, **settings)
