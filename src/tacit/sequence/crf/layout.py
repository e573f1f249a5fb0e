"""`Layout`: which features have weights, pairs of an attribute and a label or of two labels, and where these lie in a vector.

θ = (weights of attributes with many labels, a row each; of the others, one after the other; of transitions)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

__all__ = ["Layout", "observed_moves", "observed_states"]

MANY = 1 / 3
"""The share of the labels from which on an attribute has a row of the table: adding rows costs less than looking up labels."""


def observed_states(rows: Any, labels: np.ndarray, n_labels: int, weight: np.ndarray, least: float, every: bool) -> Any:
    """Pairs of attributes and labels that occur together, as the cells of a matrix (attributes, labels).

    Parameters
    ----------
    rows : csr_matrix of shape (steps, attributes)
    labels : (steps,) int array
        −1 where a label is not known, with which every label may occur.
    n_labels : int
    weight : (steps,) array
    least : float
        The least sum of weighted values that counts.
    every : bool
        Whether every attribute that occurs goes with every label.
    """
    n_steps = len(labels)
    hidden = np.full(n_steps, True) if every else labels < 0
    steps = np.concatenate([np.flatnonzero(labels >= 0), np.repeat(np.flatnonzero(hidden), n_labels)])
    with_label = np.concatenate([labels[labels >= 0], np.tile(np.arange(n_labels), int(hidden.sum()))])
    occurs = csr_matrix((np.ones(len(rows.data)), rows.indices, rows.indptr), rows.shape)
    pairs = (occurs.T @ csr_matrix((np.ones(len(steps)), (steps, with_label)), (n_steps, n_labels))).tocsr()
    if least > 0:
        known = labels >= 0
        sums = csr_matrix((weight[known], (np.flatnonzero(known), labels[known])), (n_steps, n_labels))
        frequent = (rows.T @ sums).tocsr()
        frequent.data = (frequent.data >= least).astype(float)
        pairs = pairs.multiply(frequent).tocsr()
        pairs.eliminate_zeros()
    pairs.sort_indices()
    return pairs


def observed_moves(
    labels: np.ndarray, offsets: np.ndarray, n_labels: int, weight: np.ndarray, least: float, every: bool
) -> np.ndarray:
    """Which labels follow each other, (labels, labels); a label that is not known may be any."""
    inside = np.ones(len(labels), dtype=bool)
    inside[offsets[:-1]] = False
    at = np.flatnonzero(inside)
    before, after = labels[at - 1], labels[at]
    both = (before >= 0) & (after >= 0)
    sums, found = np.zeros((n_labels, n_labels)), np.full((n_labels, n_labels), every)
    np.add.at(sums, (before[both], after[both]), weight[at][both])
    seen = np.zeros_like(found)
    seen[before[both], after[both]] = True
    found[before[(before >= 0) & (after < 0)]] = True
    found[:, after[(before < 0) & (after >= 0)]] = True
    found |= bool(((before < 0) & (after < 0)).any())
    return (found | seen) & (sums >= least) if least > 0 else found | seen


@dataclass(frozen=True)
class Layout:
    """Where weights lie in a vector.

    Attributes
    ----------
    order : (attributes,) int array
        Attributes in the order of their weights.
    n_many, width : int
        How many of them have a row of the table, and how long these are.
    pointer, label : (other attributes + 1,), (other features,) uint32 arrays
        Where weights of the others begin, and their labels.
    exists : (size,) bool array
        Which entries of the vector are weights of features; the others stay 0.
    n_labels : int
    """

    order: np.ndarray
    n_many: int
    width: int
    pointer: np.ndarray
    label: np.ndarray
    exists: np.ndarray
    n_labels: int

    @classmethod
    def of(cls, states: Any, moves: np.ndarray, table: bool = True) -> Layout:
        """The layout for pairs (attributes, labels) and transitions that exist.

        Parameters
        ----------
        states : csr_matrix of shape (attributes, labels)
        moves : (labels, labels) bool array
        table : bool
            Whether attributes with many labels have rows of a table.
        """
        n_labels, counts = len(moves), np.diff(states.indptr)
        many = counts >= max(1.0, MANY * n_labels) if table else np.zeros(len(counts), dtype=bool)
        # Of others, those with equally many features lie together, so that loops over them are alike.
        order = np.concatenate([np.flatnonzero(many), np.flatnonzero(~many)[np.argsort(-counts[~many], kind="stable")]])
        n_many, width = int(many.sum()), n_labels if n_labels <= 4 else -(-n_labels // 8) * 8
        first, rest = states[order[:n_many]], states[order[n_many:]]
        rows = np.zeros((n_many, width), dtype=bool)
        rows[np.repeat(np.arange(n_many), np.diff(first.indptr)), first.indices] = True
        exists = np.concatenate([rows.ravel(), np.ones(len(rest.indices), dtype=bool), moves.ravel()])
        return cls(
            order, n_many, width, rest.indptr.astype(np.uint32), rest.indices.astype(np.uint32), exists, n_labels
        )

    @classmethod
    def plain(cls, states: Any) -> Layout:
        """The layout for weights that are the cells of a matrix (attributes, labels), in its order, and all transitions."""
        (n_attributes, n_labels), n_cells = states.shape, len(states.indices)
        exists = np.ones(n_cells + n_labels**2, dtype=bool)
        pointer, label = states.indptr.astype(np.uint32), states.indices.astype(np.uint32)
        return cls(np.arange(n_attributes), 0, n_labels, pointer, label, exists, n_labels)

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return int(self.exists.sum())

    def parts(self, vector: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Views of a vector: the table, weights of the other attributes, transitions (labels, labels)."""
        a, z = self.n_many * self.width, len(vector) - self.n_labels**2
        return vector[:a].reshape(self.n_many, self.width), vector[a:z], vector[z:].reshape(self.n_labels, -1)

    def arranged(self, rows: Any) -> Any:
        """Rows of steps with attributes in the order of their weights, their cells sorted."""
        rank = np.empty(len(self.order), dtype=np.int32)
        rank[self.order] = np.arange(len(self.order))
        found = csr_matrix((rows.data, rank[rows.indices], rows.indptr), rows.shape)
        found.sum_duplicates()
        return found

    @cached_property
    def places(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of the features of attributes: where their weights lie, and their attributes and labels."""
        a = self.n_many * self.width
        inside = np.flatnonzero(self.exists[:a])
        counts: np.ndarray = np.diff(self.pointer.astype(np.int64))
        attribute = np.concatenate(
            [inside // max(self.width, 1), self.n_many + np.repeat(np.arange(len(counts)), counts)]
        )
        label = np.concatenate([inside % max(self.width, 1), self.label.astype(np.int64)])
        return np.concatenate([inside, a + np.arange(len(self.label))]), self.order[attribute], label

    def states(self, vector: np.ndarray) -> Any:
        """Weights of attributes that are not 0, as a matrix (attributes, labels)."""
        place, attribute, label = self.places
        found = csr_matrix((vector[place], (attribute, label)), (len(self.order), self.n_labels))
        found.eliminate_zeros()
        found.sort_indices()
        return found

    def vector(self, states: Any, moves: np.ndarray) -> np.ndarray:
        """Weights of these matrices as a vector; those of features that do not exist are left out."""
        place, attribute, label = self.places
        found = np.zeros(len(self.exists))
        found[place] = np.asarray(states[attribute, label]).ravel()
        self.parts(found)[2][:] = moves
        return found * self.exists
