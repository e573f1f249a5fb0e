"""How a pass over tensors runs: rows in chunks cut to a memory budget, responsibilities made in between.

r_ik = w_i π_k p(x_i|k) / Σ_j π_j p(x_i|j)
"""

import weakref
from importlib import import_module

import numpy as np
import torch

from . import EXPECT, MOMENTS, SCORE

__all__ = [
    "Pass",
    "Tails",
    "add",
    "add_parts",
    "budget",
    "chunks",
    "fused",
    "give_back",
    "index_of",
    "kept",
    "put",
    "soften",
]

CPU_BUDGET = 1 << 25
GPU_BUDGET = 1 << 30


def budget(device):
    """Bytes that one temporary may take: fixed by the machine, so that results do not depend on what else runs."""
    if device.type != "cuda":
        return CPU_BUDGET
    return int(np.clip(torch.cuda.get_device_properties(device).total_memory // 64, 1 << 26, GPU_BUDGET))


def put(values, device):
    """Values as a float64 tensor on the device."""
    if isinstance(values, torch.Tensor):
        return values.to(device, torch.float64)
    return torch.as_tensor(np.ascontiguousarray(values), dtype=torch.float64, device=device)


_KEPT: dict = {}


def kept(array, device, make):
    """make(), remembered for as long as `array` lives: what is derived from row numbers is moved to a device once."""
    key = id(array), device
    if key not in _KEPT:
        _KEPT[key] = make()
        weakref.finalize(array, _KEPT.pop, key, None)
    return _KEPT[key]


def index_of(rows, device):
    """Row numbers as an index on the device."""
    return kept(rows, device, lambda: torch.as_tensor(rows, device=device).long())


def chunks(n_rows, width, device):
    """Slices of rows whose temporaries of `width` numbers per row fit the budget."""
    step = max(budget(device) // (8 * width), 64)
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def add(target, found):
    """Add a tensor to a tensor where it lies, or to a NumPy array."""
    target += found if isinstance(target, torch.Tensor) else found.cpu().numpy()


def add_parts(found, counts, cells, sums):
    """Add the columns of `found` (classes, 1 + 2d) to NumPy arrays (classes,), (classes, d) and (classes, d)."""
    count, *parts = np.split(found.cpu().numpy(), [1, 1 + cells.shape[1]], axis=1)
    for target, part in zip((counts, cells, sums), (count[:, 0], *parts)):
        target += part


def give_back(found, asked):
    """Copy results to where they were asked for, unless that is the same memory."""
    if isinstance(asked, np.ndarray) and found.device.type != "cpu":
        asked[...] = found.cpu().numpy()


def soften(joint, log_weight, weight, labels):
    """Turn log densities (rows, classes) into weighted responsibilities in place; return log evidence per row."""
    if quick := fused(joint):
        return quick.soften(joint, log_weight, weight, labels)
    joint += log_weight
    if labels is not None:
        other = torch.arange(joint.shape[1], device=joint.device) != labels[:, None]
        joint.masked_fill_(other & (labels >= 0)[:, None], -torch.inf)
    top = joint.amax(dim=1)
    joint.sub_(top[:, None]).exp_()
    total = joint.sum(dim=1)
    joint.mul_((weight / total)[:, None])
    return top + total.log()


def fused(x, name="triton"):
    """A module of Triton kernels, or None where Triton is not installed or the tensor is not on a GPU."""
    try:
        return import_module(f".{name}", __package__) if x.is_cuda else None
    except ImportError:
        return None


class Pass:
    """One pass over some rows: cuts them into chunks and does with log densities what the mode asks for."""

    def __init__(self, X, rows, mode, log_weight, weight, labels, out):
        self.X, self.mode, self.device, self.given = X, mode, X.device, out
        # As many rows as there are means all of them, in any order: no index is needed.
        whole = rows is None or len(rows) == len(X)
        self.n_rows = len(X) if whole else len(rows)
        self.index = None if whole else index_of(rows, self.device)
        self.log_weight = put(log_weight, self.device)
        self.weight = torch.as_tensor(weight, device=self.device)
        labels = torch.as_tensor(labels, device=self.device)
        self.labels = labels if mode == EXPECT and bool((labels >= 0).any()) else None
        self.out = torch.as_tensor(out, device=self.device)
        self.loglik = torch.zeros((), dtype=torch.float64, device=self.device)

    def chunks(self, width):
        """Where each chunk's rows lie, for temporaries of `width` numbers per row."""
        for chunk in chunks(self.n_rows, width, self.device):
            yield chunk if self.index is None else self.index[chunk]

    def cells(self, at, origin):
        """Rows less the origin, (d, rows)."""
        rows = self.X[at].T
        return torch.sub(rows, origin[:, None], out=torch.empty(rows.shape, dtype=torch.float64, device=self.device))

    def expected(self, origin, quick, coefficient):
        """As `products` of a single module that makes responsibilities and sums without writing features."""
        d, n_classes = len(origin), coefficient.shape[1]
        total = torch.zeros(coefficient.shape, dtype=torch.float64, device=self.device)
        for at in self.chunks(d + 1 + 2 * n_classes):
            labels, weight = None if self.labels is None else self.labels[at], self.weight[at]
            x = quick.columns(self.X[at], origin)
            r, evidence = quick.expect(x, coefficient, self.log_weight, weight, labels)
            self.loglik += (weight * evidence).sum()
            total += quick.moments(x, r, n_classes)
        return total

    def settle(self, log_prob, at):
        """Responsibilities (rows, classes), or None where the mode wants scores only."""
        if self.mode == SCORE:
            self.out[:, at] = log_prob.T
            return None
        if self.mode == MOMENTS:
            return self.out[:, at].T.contiguous()
        labels = None if self.labels is None else self.labels[at]
        weight = self.weight[at]
        self.loglik += (weight * soften(log_prob, self.log_weight, weight, labels)).sum()
        return log_prob

    def finish(self):
        """The log-likelihood; scores go back to where they were asked for."""
        if self.mode == SCORE:
            give_back(self.out, self.given)
        return float(self.loglik)

    def products(self, origin, features, n_features, coefficient, score=None, tails=None):
        """Σ r T(x) (features, classes) on the device, scoring by T(x)·coefficient or, where given, by score(x, T, rows).

        With `tails`, responsibilities are weighted by what was scored, so rows are scored in every mode.
        """
        coefficient = put(coefficient, self.device)
        n_classes = coefficient.shape[1]
        total = torch.zeros((n_features, n_classes), dtype=torch.float64, device=self.device)
        for at in self.chunks(n_features + n_classes):
            x = self.cells(at, origin)
            phi = features(x)
            log_prob = None
            if self.mode != MOMENTS or tails is not None:
                log_prob = phi.T @ coefficient if score is None else score(x, phi, at)
            r = self.settle(log_prob, at)
            if r is not None:
                total.addmm_(phi, r if tails is None else tails.weigh(r))
        return total


class Tails:
    """Student t rows from squared distances δ: log densities, then weights r E[u] for the moments.

    log t = c(ν, o) − ½ (ν + o) log(1 + δ/ν),    E[u] = (ν + o) / (ν + δ),    E[log u] = ψ((ν + o)/2) − log(ν/2) − log(1 + δ/ν)
    """

    def __init__(self, device, df, constant, log_scale):
        self.df, self.constant, self.log_scale = (put(value, device) for value in (df, constant, log_scale))
        self.count, self.log_u = torch.zeros_like(self.df), torch.zeros_like(self.df)

    def score(self, square, n_cells):
        """Log densities, less ½ log|Σ|, of squared distances (rows, classes) on so many observed cells."""
        power = self.df + n_cells
        log_y = torch.log1p(square / self.df)
        self.pull, self.log_pull = power / (self.df + square), self.log_scale[:, n_cells] - log_y
        return self.constant[:, n_cells] - 0.5 * power * log_y

    def weigh(self, r):
        """R E[u] of the rows scored last, whose Σ r and Σ r E[log u] are added up."""
        self.count += r.sum(dim=0)
        self.log_u += (r * self.log_pull).sum(dim=0)
        return r * self.pull

    def finish(self, count, log_u):
        """Add what was summed to NumPy arrays."""
        count += self.count.cpu().numpy()
        log_u += self.log_u.cpu().numpy()
