"""Passes of k-medians and of soft k-means on tensors, in chunks of rows; parameters come in and sums go out as NumPy arrays."""

import torch

from .torch_lloyd import _chunks
from .torch_pass import put, soften

__all__ = ["medians", "soft"]


def medians(X, weight, guide, center, grid, labels, counts, bins):
    """As the compiled kernel."""
    d, n_centers, n_points = grid.shape
    guide = torch.as_tensor(guide, dtype=X.dtype, device=X.device)
    center, grid = put(center, X.device), put(grid, X.device)
    column = torch.arange(d, device=X.device)
    found = center.new_zeros((d * n_centers * (n_points + 1), 2))
    count, loss = center.new_zeros(n_centers), center.new_zeros(())
    for at in _chunks(len(X), d * (2 * n_points + 8 + n_centers), X.device):
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
    for at in _chunks(len(X), (d + 1) * (n_centers + 4), X.device):
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
    found = found.cpu().numpy()
    counts += found[:, 0]
    cells += found[:, 1 : d + 1]
    sums += found[:, d + 1 :]
    return float(total)
