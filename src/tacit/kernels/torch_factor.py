"""Passes of low-rank Gaussians on tensors: as the compiled ones, with the small matrices of all patterns in one batch."""

import math
from itertools import pairwise

import numpy as np
import torch

from .torch_pass import Pass, budget, index_of, kept, put

__all__ = ["factor", "factor_scores"]


class _Chunk:
    """Some patterns of missing cells and the rows that have them, about an origin."""

    def __init__(self, X, rows, starts, missing, origin):
        self.rows = rows
        self.x = X[rows].double() - origin
        self.filled, self.seen = self.x.nan_to_num(), (~missing).double()
        self.group = torch.repeat_interleave(torch.arange(len(missing), device=X.device), starts.diff())

    def posterior(self, shift, loading, noise):
        """E[z] (rows, k), M⁻¹ (groups, k, k) and log densities (rows,)."""
        k = loading.shape[1]
        weighted = loading / noise[:, None]
        products = (weighted[:, :, None] * loading[:, None, :]).reshape(len(loading), -1)
        M = (self.seen @ products).reshape(-1, k, k) + torch.eye(k, dtype=torch.float64, device=noise.device)
        lower = torch.linalg.cholesky(M)
        inverse = torch.cholesky_inverse(lower)
        slope = self.filled @ weighted - (self.seen @ (shift[:, None] * weighted))[self.group]
        score = torch.einsum("nij,nj->ni", inverse[self.group], slope)
        apart = self.x - (score @ loading.T + shift)
        misfit = (apart**2 / noise).nansum(dim=1) + (score**2).sum(dim=1)
        log_unit = self.seen @ (2.0 * math.pi * noise).log() + 2.0 * lower.diagonal(dim1=1, dim2=2).log().sum(dim=1)
        return score, inverse, -0.5 * (log_unit[self.group] + misfit)

    def add(self, resp, score, inverse, gram, cross, square):
        """Add the statistics of one class, (…, k + 1, k + 1) instead of packed."""
        one = torch.cat([torch.ones_like(score[:, :1]), score], dim=1)
        outer = (resp[:, None] * one)[:, :, None] * one[:, None, :]
        outer[:, 1:, 1:] += resp[:, None, None] * inverse[self.group]
        per_group = outer.new_zeros((len(self.seen), outer[0].numel()))
        per_group.index_add_(0, self.group, outer.reshape(len(outer), -1))
        gram[:-1] += self.seen.T @ per_group
        gram[-1] += per_group.sum(dim=0)
        cross += self.filled.T @ (resp[:, None] * one)
        square += resp @ self.filled**2


def _chunks(X, rows, starts, missing, origin, width):
    """Patterns in runs whose rows take no more than the memory budget, but one pattern at least."""
    device = X.device
    order = index_of(rows, device)
    absent = kept(missing, device, lambda: torch.as_tensor(missing, device=device))
    most = max(budget(device) // (8 * width), 64)
    cuts = [0]
    while cuts[-1] < len(starts) - 1:
        fits = int(np.searchsorted(starts, starts[cuts[-1]] + most, side="right")) - 1
        cuts.append(max(fits, cuts[-1] + 1))
    for low, high in pairwise(cuts):
        part = order[int(starts[low]) : int(starts[high])]
        yield low, _Chunk(X, part, torch.as_tensor(starts[low : high + 1], device=device), absent[low:high], origin)


def _triangle(k, device):
    i, j = torch.tril_indices(k, k, device=device)
    return i * k + j


def factor(
    X, rows, starts, missing, origin, shift, loading, noise, mode, log_weight, weight, labels, out, gram, cross, square
):  # fmt: skip
    device, (n_classes, d, k) = X.device, loading.shape
    run = Pass(X, None, mode, log_weight, weight, labels, out)
    origin, shift, loading, noise = (put(value, device) for value in (origin, shift, loading, noise))
    shapes = (n_classes, d + 1, (k + 1) ** 2), (n_classes, d, k + 1), (n_classes, d)
    sums = [noise.new_zeros(shape) for shape in shapes]
    for _, chunk in _chunks(X, rows, starts, missing, origin, n_classes * (k * k + k) + 4 * d + (k + 1) ** 2):
        found = [chunk.posterior(*each) for each in zip(shift, loading, noise)]
        resp = run.settle(torch.stack([log_prob for _, _, log_prob in found], dim=1), chunk.rows)
        if resp is None:
            continue
        for c, (score, inverse, _) in enumerate(found):
            chunk.add(resp[:, c], score, inverse, *(total[c] for total in sums))
    gram += sums[0][..., _triangle(k + 1, device)].cpu().numpy()
    cross += sums[1].cpu().numpy()
    square += sums[2].cpu().numpy()
    return run.finish()


def factor_scores(X, rows, starts, missing, origin, shift, loading, noise, score, inverse):
    """As the compiled kernel; results are NumPy arrays."""
    device, k = X.device, loading.shape[2]
    origin, shift, loading, noise = (put(value, device) for value in (origin, shift, loading, noise))
    for low, chunk in _chunks(X, rows, starts, missing, origin, 2 * k * k + 4 * len(origin)):
        for c, each in enumerate(zip(shift, loading, noise)):
            found, spread, _ = chunk.posterior(*each)
            score[c, chunk.rows.cpu().numpy()] = found.cpu().numpy()
            packed = spread.reshape(len(spread), -1)[:, _triangle(k, device)]
            inverse[c, low : low + len(packed)] = packed.cpu().numpy()
