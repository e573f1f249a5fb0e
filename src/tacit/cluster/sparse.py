"""One pass of Lloyd's algorithm over sparse rows: Σ w ‖x − c‖² = Σ w ‖x‖² − 2 Σ_k c_k · s_k + Σ_k n_k ‖c_k‖².

Counts n_k and sums s_k = Σ w x are those of the rows nearest to centre k, so that the loss needs no distance of a row.
"""

import numpy as np

from ..kernels import kernel

__all__ = ["center_tables", "nearest_sparse", "sum_sparse"]

GROUP = 64  # centres in a table: its columns that occur most stay in the cache


def center_tables(center, square, dtype):
    """Centres in groups, each transposed to (d, size), and half their squared lengths; infinite where a group is not full."""
    n_centers, d = center.shape
    n_groups = -(-n_centers // GROUP)
    size = -(-n_centers // n_groups)
    table, half = np.zeros((n_groups, d, size), dtype), np.full((n_groups, size), np.inf, dtype)
    for g in range(n_groups):
        part = center[g * size : (g + 1) * size]
        table[g, :, : len(part)] = part.T
        half[g, : len(part)] = 0.5 * square[g * size : (g + 1) * size]
    return table, half


def _search(params, block, sums):
    """Labels and the weights of clusters; their sums are added to `sums`, unless that is empty."""
    rows, labels, counts = block.X, np.zeros(len(block), np.int32), np.zeros(len(params.center))
    kernel("sparse_lloyd")(
        rows.data, rows.indices, rows.indptr, block.weight, *params.tables(block.dtype), labels, counts, sums
    )
    return labels, counts


def nearest_sparse(params, block):
    """Labels of a block's rows, and the sum of squares."""
    labels, _ = _search(params, block, np.empty((0, params.center.shape[1])))
    loss = np.empty(len(block))
    kernel("misfit", "sparse")(block.X, block.weight, params.center, labels, 2, loss)
    return labels, float(loss.sum())


def sum_sparse(params, block):
    """Minus the sum of squares, weights of clusters, weights (K, 1) that all their cells share, and sums about the origin."""
    sums = np.zeros(params.center.shape)
    _, counts = _search(params, block, sums)
    loss = block.weight @ block.X.square_lengths - 2.0 * np.vdot(params.center, sums) + counts @ params.square_lengths
    if params.origin.any():
        sums -= counts[:, None] * params.origin
    return -max(float(loss), 0.0), counts, counts[:, None].copy(), sums
