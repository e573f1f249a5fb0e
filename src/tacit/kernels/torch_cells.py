"""Functions of single cells, on tensors; see `cells`."""

import torch

from .torch_pass import put

__all__ = ["features", "log_choose", "log_rising", "rising_slope", "row_sums"]

FUNCTIONS = {"x": lambda x: x, "log": torch.log, "log1m": lambda x: torch.log1p(-x)}


def _zero_filled(X):
    return torch.nan_to_num(X.double(), nan=0.0)


def features(X, names):
    """The named functions of the cells, side by side: (rows, names · d) in float64."""
    X = X.double()
    return torch.cat([FUNCTIONS[name](X) for name in names], dim=1)


def row_sums(X):
    """Σ_j x_j of each row."""
    return _zero_filled(X).sum(dim=1)


def log_choose(X, n):
    """Σ_j log C(n_j, x_j) of each row."""
    x, n = _zero_filled(X), put(n, X.device)
    return (torch.lgamma(n + 1.0) - torch.lgamma(x + 1.0) - torch.lgamma(n - x + 1.0)).sum(dim=1)


def log_rising(X, a):
    """Log of the rising factorials of a (classes, d), summed over the cells: (classes, rows)."""
    x = _zero_filled(X)
    return torch.stack([(torch.lgamma(x + start) - torch.lgamma(start)).sum(dim=1) for start in put(a, X.device)])


def rising_slope(X, a, resp):
    """Derivative of Σ_i r_ik log_rising in a, (classes, d); `resp` is (classes, rows)."""
    x, resp = _zero_filled(X), put(resp, X.device)
    slopes = [r @ (torch.digamma(x + start) - torch.digamma(start)) for start, r in zip(put(a, X.device), resp)]
    return torch.stack(slopes).cpu().numpy()
