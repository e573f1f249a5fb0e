"""Centres of k-means, k-medians and soft k-means on tensors; functions do what the compiled kernels of their names do.

    z_i = argmin_k ½‖c_k‖² − x_i·c_k

Distances of k-means are one matrix product per chunk of rows, in the precision of the rows. On a GPU product and minimum are one
kernel, which never writes a distance to memory, and sums run over rows sorted by centre, so that they are added in a fixed order.
Parameters come in and sums go out as NumPy arrays.
"""

import numpy as np
import torch

from .torch_pass import add_parts, chunks, fused, index_of, put, soften

__all__ = ["column_sums", "distances", "lloyd", "lloyd_cells", "medians", "misfit", "soft"]


def lloyd(
    X, rows, weight, origin, center, anchor, shift, near, starts, labels, upper, lower, bounded, counts, sums, totals
):  # fmt: skip
    """As the compiled kernel, without bounds: every distance is computed, and all sums are made again."""
    x = _take(X, rows)
    origin, center = (torch.as_tensor(value, dtype=X.dtype, device=X.device) for value in (origin, center))
    found = _nearest(x, origin, center)
    known = labels >= 0
    n_known, moved = int(known.sum()), int(((found != labels) & known).sum())
    labels.copy_(found)
    mass = _take(weight, rows)
    count, total, square = _cluster_sums(x, mass, found, origin, torch.as_tensor(anchor, device=X.device))
    counts[:], sums[:] = count, total
    totals[:] = square, n_known, moved


def _take(values, rows):
    """The rows with these numbers; nothing is copied where they are all of them, in order."""
    if len(rows) == len(values):
        return values
    return values[index_of(rows, values.device)]


def _nearest(x, origin, center):
    """Nearest centre of every row, int32."""
    quick = fused(x, "triton_lloyd")
    found = quick.nearest(x, origin, center) if quick is not None and quick.can_search(x, center) else None
    if found is not None:
        return found
    half = 0.5 * (center.double() ** 2).sum(dim=1).to(x.dtype)
    found = torch.empty(len(x), dtype=torch.int32, device=x.device)
    for at in chunks(len(x), len(center) + x.shape[1], x.device):
        found[at] = torch.addmm(half, x[at] - origin, center.T, alpha=-1.0).argmin(dim=1)
    return found


def _cluster_sums(x, weight, labels, origin, anchor):
    """Σ w, Σ w (x − anchor) and Σ w ‖x − anchor‖² by centre, the last over all centres."""
    quick = fused(x, "triton_lloyd")
    if quick is not None:
        count, total, square = quick.cluster_sums(x, weight, labels, origin, anchor)
    else:
        count, total = anchor.new_zeros(len(anchor)), torch.zeros_like(anchor)
        square = anchor.new_zeros(())
        for at in chunks(len(x), 2 * x.shape[1], x.device):
            k = labels[at].long()
            step = (x[at] - origin).double() - anchor[k]
            square += (weight[at] * (step**2).sum(dim=1)).sum()
            count.index_add_(0, k, weight[at].contiguous())
            total.index_add_(0, k, step * weight[at][:, None])
    return count.cpu().numpy(), total.cpu().numpy(), float(square)


def lloyd_cells(X, rows, weight, origin, center, labels, counts, cells, sums):
    n_centers, d = center.shape
    origin, center = (torch.as_tensor(value, dtype=X.dtype, device=X.device) for value in (origin, center))
    table, mass = _take(X, rows), _take(weight, rows)
    found = torch.zeros((n_centers, 2 * d + 1), dtype=torch.float64, device=X.device)
    loss = found.new_zeros(())
    half = 0.5 * center**2
    for at in chunks(len(table), 4 * d + n_centers, X.device):
        x = table[at] - origin
        seen = (~x.isnan()).to(x.dtype)
        x = x.nan_to_num()
        k = (seen @ half.T - x @ center.T).argmin(dim=1)
        share = mass[at] * d / seen.sum(dim=1).clamp(min=1.0)
        step = (x.double() - center[k]) * seen
        loss += (share * (step**2).sum(dim=1)).sum()
        found.index_add_(0, k, torch.cat([mass[at][:, None], share[:, None] * seen, share[:, None] * x], dim=1))
        labels[at] = k.int()
    add_parts(found, counts, cells, sums)
    return float(loss)


def distances(X, center, power, out):
    """As the compiled kernel; `out` is an array or a tensor."""
    center = torch.as_tensor(np.asarray(center), dtype=X.dtype, device=X.device)
    d = X.shape[1]
    for at in chunks(len(X), 2 * len(center) * d, X.device):
        step = (X[at][:, None, :] - center).abs()
        scale = d / (~X[at].isnan()).double().sum(dim=1).clamp(min=1.0)
        value = (step if power == 1 else step**2).double().nansum(dim=2) * scale[:, None]
        out[at] = value if isinstance(out, torch.Tensor) else value.cpu().numpy()


def misfit(X, weight, center, labels, power, out):
    center = torch.as_tensor(center, dtype=torch.float64, device=X.device)
    labels = torch.as_tensor(labels, device=X.device).long()
    for at in chunks(len(X), 3 * X.shape[1], X.device):
        x = X[at].double()
        scale = x.shape[1] / (~x.isnan()).double().sum(dim=1).clamp(min=1.0)
        out[at] = (weight[at] * scale * ((x - center[labels[at]]).abs() ** power).nansum(dim=1)).cpu().numpy()


def column_sums(X, weight, origin, count, total, square):
    origin = torch.as_tensor(origin, dtype=X.dtype, device=X.device)
    for at in chunks(len(X), 4 * X.shape[1], X.device):
        x = X[at] - origin
        seen = (~x.isnan()).double()
        x = x.nan_to_num().double()
        for sums, values in ((count, seen), (total, x), (square, x * x)):
            sums += (weight[at] @ values).cpu().numpy()


def medians(X, weight, guide, center, grid, labels, counts, bins):
    d, n_centers, n_points = grid.shape
    guide = torch.as_tensor(guide, dtype=X.dtype, device=X.device)
    center, grid = put(center, X.device), put(grid, X.device)
    column = torch.arange(d, device=X.device)
    found = center.new_zeros((d * n_centers * (n_points + 1), 2))
    count, loss = center.new_zeros(n_centers), center.new_zeros(())
    for at in chunks(len(X), d * (2 * n_points + 8 + n_centers), X.device):
        seen = ~X[at].isnan()
        k = _apart(X[at], guide, 1).argmin(dim=1)
        labels[at] = k.int()
        share = (weight[at] * d / seen.sum(dim=1).clamp(min=1))[:, None] * seen
        x = X[at].nan_to_num().double()
        loss += (share * (x - center[k]).abs()).sum()
        count.index_add_(0, k, weight[at].contiguous())
        if n_points:
            points = grid[column, k[:, None]]
            b = (x[:, :, None] >= points).sum(dim=2)
            lower = points.gather(2, (b - 1).clamp(min=0)[:, :, None])[:, :, 0]
            place = (column * n_centers + k[:, None]) * (n_points + 1) + b
            found.index_add_(0, place.ravel(), torch.stack([share, share * (x - lower)], dim=2).reshape(-1, 2))
    counts += count.cpu().numpy()
    if n_points:
        bins += found.cpu().numpy().reshape(bins.shape)
    return float(loss)


def _apart(x, center, power):
    """Σ_j |x_j − c_j|^power over observed cells (rows, centres), from differences: expanded squares would cancel."""
    if x.isnan().any():
        return ((x[:, None, :] - center).abs() ** power).nansum(dim=2)
    return torch.cdist(x, center, p=power, compute_mode="donot_use_mm_for_euclid_dist") ** power


def soft(X, weight, origin, center, stiffness, resp, evidence, counts, cells, sums):
    """As the compiled kernel; `resp` and `evidence` are arrays."""
    n_centers, d = center.shape
    origin, center = put(origin, X.device), put(center, X.device)
    zero = center.new_zeros(n_centers)
    found = center.new_zeros((n_centers, 2 * d + 1))
    total = center.new_zeros(())
    for at in chunks(len(X), (d + 1) * (n_centers + 4), X.device):
        x = X[at].double() - origin
        seen = (~x.isnan()).double()
        scale = d / seen.sum(dim=1, keepdim=True).clamp(min=1.0)
        apart = _apart(x, center, 2) * scale
        nearest = apart.amin(dim=1)
        joint = (nearest[:, None] - apart) * stiffness
        x = x.nan_to_num()
        mass = weight[at].contiguous()
        value = soften(joint, zero, mass, None) / stiffness - nearest
        total += (mass * value).sum()
        if len(resp):
            resp[at], evidence[at] = joint.cpu().numpy(), value.cpu().numpy()
        found[:, 0] += joint.sum(dim=0)
        joint *= scale
        found[:, 1 : d + 1] += joint.T @ seen
        found[:, d + 1 :] += joint.T @ x
    add_parts(found, counts, cells, sums)
    return float(total)
