"""Scores of labels, s_t(y) = Σ_a x_ta w_ay over the attributes a of step t, and their slopes ∂/∂w_ay = Σ_t x_ta r_t(y).

Weights are those of features, which are pairs of an attribute and a label. Attributes come in two kinds: the first ones have a
row of `table`, a weight for every label, and the others, from number len(table) on, have weights w[pointer[a]:pointer[a + 1]] of
the labels that `label` tells. Cells of a step are in the order of their attributes. Arrays of labels by steps have a row a label,
as those of states in `chain`.
"""

import numpy as np

from .jit import jit


@jit
def label_scores(data, indices, indptr, table, pointer, label, w, scores):
    """Fill `scores` (labels, steps) with sums of weights.

    Parameters
    ----------
    data, indices, indptr : (cells,), (cells,) uint32, (steps + 1,)
        Attributes of the steps, by the cells that are stored.
    table : (first attributes, at least labels)
        Weights of attributes that have many.
    pointer, label, w : (other attributes + 1,) uint32, (features,) uint32, (features,)
        Weights of attributes that have few. Indices are unsigned, so that no index is looked at for its sign.
    scores : (labels, steps)
        Is filled.
    """
    n_labels, n_steps = scores.shape
    row = np.empty(max(n_labels, table.shape[1]))
    for t in range(n_steps):
        add_scores(data, indices, indptr[t], indptr[t + 1], table, pointer, label, w, row)
        for j in range(n_labels):
            scores[j, t] = row[j]


@jit
def label_slopes(data, indices, indptr, pointer, label, residual, table, w):
    """Add to `table` and `w`, laid out as in `label_scores`, Σ_t x_ta r_t(y) for residuals r (labels, steps)."""
    n_labels, n_steps = residual.shape
    row = np.zeros(max(n_labels, table.shape[1]))
    for t in range(n_steps):
        for j in range(n_labels):
            row[j] = residual[j, t]
        add_slopes(data, indices, indptr[t], indptr[t + 1], table, pointer, label, w, row)


@jit
def add_scores(data, indices, c, stop, table, pointer, label, w, row):
    """Scores of one step, whose cells are from c to before stop, into `row`."""
    n_many, width = table.shape
    row[:] = 0.0
    while c < stop and indices[c] < n_many:
        x, own = data[c], table[indices[c]]
        for j in range(width):
            row[j] += x * own[j]
        c += 1
    while c < stop:
        a, x = indices[c] - np.uint32(n_many), data[c]
        for k in range(pointer[a], pointer[a + np.uint32(1)]):
            row[label[k]] += x * w[k]
        c += 1


@jit
def add_slopes(data, indices, c, stop, table, pointer, label, w, row):
    """Add to the weights of one step's features the residuals of their labels, which are in `row`."""
    n_many, width = table.shape
    while c < stop and indices[c] < n_many:
        x, own = data[c], table[indices[c]]
        for j in range(width):
            own[j] += x * row[j]
        c += 1
    while c < stop:
        a, x = indices[c] - np.uint32(n_many), data[c]
        for k in range(pointer[a], pointer[a + np.uint32(1)]):
            w[k] += x * row[label[k]]
        c += 1
