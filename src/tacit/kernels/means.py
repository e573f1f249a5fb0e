"""One pass of Lloyd's algorithm over a block: sums over the rows of each cluster, with the help of what the block remembers.

    n_k = Σ w,    s_k = Σ w (x − origin),    loss = Σ_i w_i ‖x_i − c_{z_i}‖²,    z_i = argmin_k ‖x_i − c_k‖

What is remembered of complete rows are their centres, bounds of distances, and sums about anchors: the centres as they were when
the memory began. Bounds rest where they cost more than they save.
"""

from dataclasses import dataclass

import numpy as np

from . import backend, host, integers, kernel, lazy, renamed

__all__ = ["means", "nearest"]

STATE = "nearest centres"
compiled = lazy("lloyd")


@dataclass
class Bounds:
    """What a block remembers of its complete rows between passes; only ever a cache."""

    order: np.ndarray
    starts: np.ndarray
    center: np.ndarray
    anchor: np.ndarray
    labels: np.ndarray
    upper: np.ndarray
    lower: np.ndarray
    counts: np.ndarray
    sums: np.ndarray
    totals: np.ndarray
    bounded: bool
    patience: int = 2  # passes that the next rest of the bounds takes
    wait: int = 0  # passes until the bounds are tried again

    @classmethod
    def of(cls, centers, algorithm, n_rows, like, patience=2):
        """An empty memory: sums are taken about the centres as they are now."""
        groups = _groups(centers, algorithm)
        bounded = algorithm != "lloyd" and backend(like) == "cpu"
        order, n_bounds = np.concatenate(groups), n_rows if bounded else 0
        c = centers.about_origin[order]
        return cls(
            order=order, starts=np.append(0, np.cumsum([len(group) for group in groups])), center=c, anchor=c.copy(),
            labels=integers(n_rows, -1, like), upper=np.zeros(n_bounds, np.float32),
            lower=np.zeros((n_bounds, len(groups)), np.float32), counts=np.zeros(len(c)), sums=np.zeros(c.shape),
            totals=np.zeros(3), bounded=bounded, patience=patience,
        )  # fmt: skip


def _groups(centers, algorithm):
    """Numbers of the centres that share a lower bound."""
    n_clusters = len(centers.center)
    if algorithm in ("lloyd", "hamerly"):
        return [np.arange(n_clusters)]
    if algorithm == "elkan":
        return list(np.arange(n_clusters)[:, None])
    return centers.groups


def means(X, patterns, weight, centers, algorithm, local):
    """Sums over the rows of each cluster.

    Parameters
    ----------
    X : (n, d) array or tensor
        Cells; NaN is missing.
    patterns : Patterns
        Rows grouped by their missing cells.
    weight : (n,)
        Weights of the rows.
    centers : tacit.cluster.centers.Centers
    algorithm : {"auto", "lloyd", "hamerly", "yinyang", "elkan"}
        Which bounds save distances.
    local : dict
        What the block remembers.

    Returns
    -------
    counts : (K,)
        Weights of the clusters.
    cells : (K, d), or (K, 1) where all cells of a cluster share theirs
        Weights per cell.
    sums : (K, d)
        Sums of cells about the origin.
    loss : float
    """
    return _pass(X, patterns, weight, centers, algorithm, local)[:4]


def nearest(X, patterns, weight, centers, algorithm, local):
    """Labels (n,) of the rows, in NumPy, and the loss; see `means`."""
    *_, loss, missing = _pass(X, patterns, weight, centers, algorithm, local)
    memory = local[STATE]
    labels = renamed(memory.order, memory.labels)
    if len(missing):
        whole = integers(len(X), -1, X)
        whole[patterns.complete], whole[patterns.incomplete.rows] = labels, missing
        labels = whole
    return host(labels), loss


def _pass(X, patterns, weight, centers, algorithm, local):
    """As `means`, and the labels of rows with missing cells; the block keeps the others."""
    complete, incomplete = patterns.complete, patterns.incomplete.rows
    memory = _recall(X, len(complete), centers, algorithm, local)
    make = _complete if backend(X) == "cpu" else _complete_there
    counts, cells, sums, loss = make(X, complete, weight, centers, memory)
    missing = integers(len(incomplete), -1, X)
    if len(incomplete):
        loss += kernel("lloyd_cells", backend(X))(
            X, incomplete, weight, *_cast(X, centers.origin, centers.about_origin), missing, counts, cells, sums
        )
    return counts, cells, sums, loss, missing


def _complete(X, rows, weight, centers, memory):
    """The pass over complete rows: weights, weights per cell, sums and loss."""
    shape = centers.about_origin.shape
    counts, cells, sums = np.empty(shape[0]), np.empty(shape), np.empty(shape)
    loss = compiled.block_pass(
        X, rows, weight, centers.origin, centers.about_origin, centers.near if memory.bounded else counts, memory.order,
        memory.starts, memory.center, memory.anchor, memory.labels, memory.upper, memory.lower, memory.bounded, memory.counts,
        memory.sums, memory.totals, counts, cells, sums,
    )  # fmt: skip
    return counts, cells, sums, loss


def _complete_there(X, rows, weight, centers, memory):
    """As `_complete`, on tensors, without bounds."""
    center = centers.about_origin[memory.order]
    shift = near = np.zeros(len(center), np.float32)
    kernel("lloyd", backend(X))(
        X, rows, weight, *_cast(X, centers.origin, center), memory.anchor, shift, near, memory.starts,
        memory.labels, memory.upper, memory.lower, memory.bounded, memory.counts, memory.sums, memory.totals,
    )  # fmt: skip
    memory.center = center
    step = center - memory.anchor
    loss = memory.totals[0] - 2.0 * (step * memory.sums).sum() + memory.counts @ (step**2).sum(axis=1)
    counts, sums = np.empty_like(memory.counts), np.empty_like(memory.sums)
    counts[memory.order] = memory.counts
    sums[memory.order] = memory.sums + memory.counts[:, None] * memory.anchor
    return counts, np.repeat(counts[:, None], sums.shape[1], axis=1), sums, max(loss, 0.0)


def _recall(X, n_rows, centers, algorithm, local):
    """The block's memory, begun anew where bounds may help again or most rows have left the anchors of their sums."""
    memory = local.get(STATE)
    if memory is None or memory.center.shape != centers.center.shape or len(memory.labels) != n_rows:
        memory = local[STATE] = Bounds.of(centers, algorithm, n_rows, X)
        return memory
    memory.wait -= 1
    if memory.wait == 0 or memory.totals[2] > 0.5 * n_rows:
        memory = local[STATE] = Bounds.of(centers, algorithm, n_rows, X, memory.patience)
    elif memory.bounded and memory.totals[1] > 0.7 * n_rows:
        # Bounds cost more than they save: rest, each time for longer.
        memory.bounded, memory.wait, memory.patience = False, memory.patience, 2 * memory.patience
    return memory


def _cast(X, *values):
    """Arrays in the precision of the rows."""
    dtype = X.dtype if isinstance(X, np.ndarray) else np.dtype(str(X.dtype).removeprefix("torch."))
    return [value.astype(dtype) for value in values]
