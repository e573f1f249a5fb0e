"""Half a sweep of a factorisation on a device: sums over cells are sparse products, and systems are solved in batches."""

import numpy as np
import torch

__all__ = ["half_sweep"]

LARGEST = 1 << 28
"""Numbers of the largest array that is made at a time."""


def half_sweep(X, cells, steady, by_row, mean, spread, prior, shift, noise, dense, out, out_spread, device):
    """As `tacit.kernels.factorization.half_sweep`, of the other side's means (1, o, v) and packed covariances of (o, v).

    Parameters
    ----------
    X : rows with a dictionary `local`, where what lies on the device is kept
    cells : callable
        Weights and targets of cells, given their ratings and weights on the device.
    steady : (n,) or (n_other,) or None
        What weights are multiplied with, by row or by column.
    by_row : bool
    prior, shift, noise, out
        As there.
    mean : (n_other, 2 + K)
    spread : (n_other, (1 + K)(2 + K) / 2) or (0, …)
    dense : bool
        Whether cells that are not stored count as 0 with the weight 1.
    out_spread : (n, q (q + 1) / 2) or (0, …)
    device : str
    """
    size, told = mean.shape[1], np.empty((len(out), 3))
    known = _moved(mean, device), _moments(mean, spread, device)
    base = known[1].sum(axis=0, dtype=torch.float64) if dense else None
    P, sigma = torch.as_tensor(prior, device=device), float(noise)
    weight, target = cells(*_kept(X, device, known[1].dtype))
    if steady is not None:
        tau = _moved(steady, device, weight.dtype)
        weight = weight * (tau.repeat_interleave(X.local["indptr"].diff()) if by_row else tau[X.local["indices"]])
    for first, stop in _ranges(X, size):
        part = slice(first, stop)
        h = torch.as_tensor(shift if len(shift) == 1 else shift[part], device=device)
        sums, cross, square = _sums(X, weight, target, *known, first, stop)
        sums = sums if base is None else sums + base
        found = _solved(sums, cross, square, P, h, sigma, size, len(out_spread) > 0)
        for kept, value in zip((out, told, out_spread), found):
            if value is not None:
                torch.from_numpy(kept[part]).copy_(value.to(known[1].dtype) if kept is out_spread else value)
    return told


def _moved(array, device, kind=torch.float64):
    return torch.as_tensor(np.ascontiguousarray(array), device=device).to(kind)


def _ranges(X, size):
    """Ranges of rows whose matrices are not too large."""
    step = max(1, LARGEST // (size * size))
    return [(first, min(first + step, len(X))) for first in range(0, len(X), step)]


def _moments(mean, spread, device):
    """E[y yᵀ] (n_other, D) of y = (1, o, v), packed; in the precision of the covariances."""
    kind = torch.float32 if spread.dtype == np.float32 else torch.float64
    y = _moved(mean, device, kind)
    rows, columns = torch.tril_indices(y.shape[1], y.shape[1], device=device)
    table = y[:, rows] * y[:, columns]
    if len(spread):
        table[:, columns > 0] += _moved(spread, device, kind)
    return table


def _kept(X, device, kind):
    """Ratings and weights of the cells, on the device; where rows begin, and their columns, are put there too."""
    if X.local.get("device") != device:
        indptr, indices = (torch.as_tensor(np.ascontiguousarray(each), device=device) for each in (X.indptr, X.indices))
        X.local.update(device=device, indptr=indptr.long(), indices=indices.long(), data=_moved(X.data, device, kind))
        X.local["weight"] = _moved(X.weight, device, kind) if len(X.weight) else torch.ones_like(X.local["data"])
    return X.local["data"], X.local["weight"]


def _sums(X, weight, target, mean, table, first, stop):
    """Σ w E[y yᵀ], Σ w t E y and Σ w t² of rows."""
    indptr, indices = X.local["indptr"], X.local["indices"]
    begin, end = int(X.indptr[first]), int(X.indptr[stop])
    w, t = weight[begin:end], target[begin:end]
    where, columns, shape = indptr[first : stop + 1] - begin, indices[begin:end], (stop - first, len(table))

    def product(values, right):
        return torch.sparse_csr_tensor(where, columns, values, size=shape, check_invariants=False) @ right

    both = w.double() * t
    square = torch.segment_reduce(both * t, "sum", offsets=where, axis=0, initial=0.0)
    return product(w, table).double(), product(both, mean), square


def _solved(sums, cross, square, P, h, noise, size, uncertain):
    """Vectors, what is told of each, and packed covariances."""
    n, device = len(sums), sums.device
    rows, columns = torch.tril_indices(size, size, device=device)
    whole = torch.zeros((n, size, size), dtype=torch.float64, device=device)
    whole[:, rows, columns] = sums
    whole = whole + torch.tril(whole, -1).mT
    own = torch.tensor([0, *range(2, size)], device=device)
    A, b = whole[:, own][:, :, own], cross[:, own] - whole[:, own, 1]
    L = torch.linalg.cholesky(A / noise + P)
    m = torch.cholesky_solve((b / noise + h)[..., None], L)[..., 0]
    second = m[:, :, None] * m[:, None, :]
    packed = None
    if uncertain:
        S = torch.cholesky_inverse(L)
        second = second + S
        lower = torch.tril_indices(size - 1, size - 1, device=device)
        packed = S[:, lower[0], lower[1]]
    error = square - 2.0 * cross[:, 1] + whole[:, 1, 1] - 2.0 * (m * b).sum(1) + (second * A).sum((1, 2))
    log_det = -2.0 * torch.log(torch.diagonal(L, dim1=1, dim2=2)).sum(1)
    charge = (second * P).sum((1, 2)) - 2.0 * (m * h).sum(1)
    return m, torch.stack([error, log_det, charge], dim=1), packed
