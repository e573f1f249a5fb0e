"""Non-negative parts of rows that are tensors: coordinates of all rows are brought down together, one after the other.

Parameters come in and sums go out as NumPy arrays; everything is computed in float64.
"""

import numpy as np
import torch

from .nonnegative import RESOLVED, ROUNDING, TINY, stepped
from .torch_pass import budget, fused, put

__all__ = ["divergence", "least_squares"]


def _chunks(X, width):
    """Slices of rows such that `width` numbers of each fit the memory that a pass may use."""
    size = max(int(budget(X.device) // (8 * max(width, 1))), 1)
    return [slice(start, min(start + size, len(X))) for start in range(0, len(X), size)]


def least_squares(X, patterns, weight, W, H, columns, penalty, inner, local):
    """As the kernel for arrays; rows rest by themselves, as they do there."""
    k, d = H.shape
    h, v = put(H, X.device), put(columns, X.device)
    whole, complete = (h * v) @ h.T, patterns.is_complete
    gram, cross = h.new_zeros((k, k)), h.new_zeros((d, k))
    own = h.new_zeros((1 if complete else d, k * k))
    loss = violation = h.new_zeros(())
    pairs = h.new_zeros((0, d)) if complete else ((h * v)[:, None] * h[None]).reshape(k * k, d)
    for rows in _chunks(X, 2 * d + (0 if complete else 3 * k * k)):
        x, w, s = X[rows].double(), W[rows], weight[rows]
        seen = torch.ones_like(x, dtype=torch.bool) if complete else ~torch.isnan(x)
        x = x if complete else torch.where(seen, x, 0.0)
        target, square = x @ (h * v).T, (x * x) @ v
        grams = whole if complete else (seen.double() @ pairs.T).reshape(-1, k, k)
        found = _multiplied(w, target, grams, *penalty) if inner[2] else _down(w, target, grams, *penalty, *inner[:2])
        violation = violation + s @ found
        product = w @ grams if complete else (w[:, None] @ grams)[:, 0]
        data = 0.5 * (square + (w * (product - 2.0 * target)).sum(1))
        data = _squares_lost(data, square, x, seen, w, h, v)
        fine = penalty[0] * w.sum(1) + 0.5 * penalty[1] * (w * w).sum(1)
        loss = loss + s @ (data + fine)
        weighted = s[:, None] * w
        gram += weighted.T @ w
        cross += x.T @ weighted
        if not complete:
            own -= (~seen).double().T @ (weighted[:, :, None] * w[:, None]).reshape(-1, k * k)
    host = [each.cpu().numpy() for each in (gram, own.reshape(-1, k, k), cross)]
    return float(loss), float(violation), *host


def _down(w, target, gram, l1, l2, sweeps, rest):
    """Bring the rows of w down in place; the violation of every row at the start."""
    k, whole = w.shape[1], gram.dim() == 2
    slope = (w @ gram if whole else (w[:, None] @ gram)[:, 0]) - target + l1 + l2 * w
    quick = fused(w, "triton_nonnegative")
    if quick and whole and k <= quick.MOST:
        return quick.down(w, slope, gram + l2 * torch.eye(k, dtype=gram.dtype, device=gram.device), sweeps, rest)
    violation, first, active = torch.zeros_like(w[:, 0]), None, torch.ones_like(w[:, 0])
    for sweep in range(sweeps):
        moved = torch.zeros_like(active)
        for a in range(k):
            bend = (gram[a, a] if whole else gram[:, a, a]) + l2
            steep = slope[:, a]
            if sweep == 0:
                violation += torch.where((w[:, a] == 0) & (steep >= 0), 0.0, steep.abs())
            stays = ~(bend > 0)
            new = torch.clamp(w[:, a] - steep / torch.where(stays, 1.0, bend), min=0.0)
            step = torch.where(stays, 0.0, new - w[:, a]) * active
            moved += step * step * bend
            w[:, a] += step
            slope += step[:, None] * (gram[a] if whole else gram[:, a])
            slope[:, a] += l2 * step
        first = moved if first is None else first
        active = active * (moved > rest * rest * first)
        if not bool(active.any()):
            break
    return violation


def _squares_lost(data, square, x, seen, w, h, v):
    """Losses of rows: as they were found from products, or from the cells where products cancel."""
    near = torch.nonzero(data < RESOLVED * square)[:, 0]
    if len(near):
        apart = torch.where(seen[near], x[near] - w[near] @ h, 0.0)
        data[near] = torch.maximum(0.5 * (apart * apart) @ v, ROUNDING * square[near])
    return data


def _multiplied(w, target, gram, l1, l2):
    """One multiplicative step of w in place."""
    product = w @ gram if gram.dim() == 2 else (w[:, None] @ gram)[:, 0]
    below = product + l1 + l2 * w
    w *= target / torch.where(below == 0, TINY, below)
    return torch.zeros_like(w[:, 0])


def divergence(X, patterns, weight, W, H, columns, beta, penalty, steps, local):
    """As the kernel for arrays."""
    k, d = H.shape
    h, v = put(H, X.device), put(columns, X.device)
    shared = beta == 1.0 and patterns.is_complete
    table = (h * v).T
    above, below = h.new_zeros((d, k)), h.new_zeros((1 if shared else d, k))
    loss = h.new_zeros(())
    for rows in _chunks(X, 6 * d):
        x, w, s = X[rows].double(), W[rows], weight[rows]
        seen = None if patterns.is_complete else ~torch.isnan(x)
        x = x if seen is None else torch.where(seen, x, 0.0)
        for _ in range(steps):
            up, down = _ratios(x, w @ h, beta, seen)
            under = (table.sum(0) if shared else down @ table) + penalty[0]
            w *= stepped(up @ table, under, penalty[1] * w, beta, penalty[1] > 0.0)
            if beta < 1.0:
                w[w < np.finfo(np.float64).eps] = 0.0
        product = w @ h
        up, down = _ratios(x, product, beta, seen)
        scaled = s[:, None] * w
        above += up.T @ scaled
        below += scaled.sum(0) if shared else down.T @ scaled
        cells = _cell_losses(x, product, beta)
        cells = cells if seen is None else torch.where(seen, cells, 0.0)
        lost = torch.maximum(cells @ v, ROUNDING * (x @ v)) if beta == 1.0 else cells @ v
        loss = loss + s @ lost + penalty[0] * scaled.sum() + 0.5 * penalty[1] * (scaled * w).sum()
    return float(loss), above.cpu().numpy(), below.cpu().numpy()


def _ratios(x, product, beta, seen):
    """R and q of cells; 0 of missing ones."""
    p = product.clamp(min=TINY)
    down = torch.ones_like(p) if beta == 1.0 else p ** (beta - 1.0)
    up = x * down / p
    return up, down if seen is None else torch.where(seen, down, 0.0)


def _cell_losses(x, product, beta):
    p, some = product.clamp(min=TINY), x > TINY
    safe = torch.where(some, x, 1.0)
    if beta == 1.0:
        apart = (p - x) / safe
        near = some & (apart.abs() < 0.1)
        far = torch.where(some, x * torch.log(safe / p) - x, 0.0) + product
        return torch.where(near, x * (apart - torch.log1p(torch.where(near, apart, 0.0))), far)
    if beta == 0.0:
        return x / p - torch.log(safe / p) - 1.0
    if beta == 2.0:
        return 0.5 * (x - product) ** 2
    power = p ** (beta - 1.0)
    return (torch.where(some, safe**beta, 0.0) + (beta - 1.0) * p * power - beta * x * power) / (beta * (beta - 1.0))
