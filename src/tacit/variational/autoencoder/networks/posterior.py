"""What a row says of z: importance sampling from proposals that are made for the row.

    p(x_O) = E_q [ p(x_O | z) p(z) / q(z) ],    q = ½ N(m, A⁻¹) + ½ encoder,    A = I + Jᵀ F J

m is the mode of p(z | x_O), found by damped Gauss-Newton steps from the encoder's mean; J are the slopes of the decoder's outputs
there and F their information. Of linear decoders with Gaussian noise, N(m, A⁻¹) is the posterior, whatever cells are missing.
Points are the same for all rows: what is said of a row does not depend on others.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from . import torch
from .network import Network

__all__ = ["chunks", "moments", "normal_points", "proposals", "weigh"]

MOST_CELLS = 3_000_000
"""Numbers of an intermediate array."""


@lru_cache(maxsize=8)
def normal_points(n: int, k: int, seed: int = 0) -> np.ndarray:
    """Points (n, k) that fill the standard normal distribution evenly."""
    points = qmc.Sobol(k, rng=np.random.default_rng(seed)).random(n) if k <= 1000 else None
    if points is None:
        return np.random.default_rng(seed).normal(size=(n, k))
    return ndtri(np.clip(points, 1e-9, 1.0 - 1e-9))


def chunks(network: Network, n_draws: int, n: int) -> list[slice]:
    """Rows that are asked about at a time."""
    each = max(MOST_CELLS // (network.n_out * max(n_draws, network.k)), 1)
    return [slice(i, min(i + each, n)) for i in range(0, n, each)]


def _curvature(network: Network, z: Any, eta: Any, x: Any, seen: Any) -> tuple[Any, Any]:
    """A, and the gradient of log p(x_O, z)."""
    with torch.enable_grad():
        leaf = eta.detach().requires_grad_()
        (pull,) = torch.autograd.grad(network.log_prob(leaf, x, seen).sum(), leaf)
    unit = torch.eye(network.k, dtype=z.dtype, device=z.device)
    slopes = network.slopes(z)
    gradient = torch.einsum("nok,no->nk", slopes, pull) - z
    parts, known = [], []
    for head, own, out in zip(network.heads, network.slices, network.outputs):
        told = head.information(eta[..., out])
        known.append(told if seen is None else told * head.seen_outputs(seen[..., own]))
        parts.append(head.centred(slopes[:, out], eta[..., out]))
    slopes = torch.cat(parts, 1)
    return unit + torch.einsum("nok,no,nol->nkl", slopes, torch.cat(known, -1), slopes), gradient


def proposals(network: Network, x: Any, seen: Any, steps: int) -> tuple[Any, Any, Any, Any]:
    """Means m, Cholesky factors of A (None where no step is taken), and the encoder's means and log deviations."""
    with torch.no_grad():
        mean, log_std = network.encode(x, seen)
        if steps == 0:
            return mean, None, mean, log_std

        def value(z: Any) -> tuple[Any, Any]:
            eta = network.decode(z)
            return eta, network.log_prob(eta, x, seen) - 0.5 * z.square().sum(-1)

        z, damping = mean, torch.full((len(x), 1), 1e-3, dtype=mean.dtype, device=mean.device)
        eta, now = value(z)
        for _ in range(steps):
            A, gradient = _curvature(network, z, eta, x, seen)
            damped = A + torch.diag_embed(damping * torch.diagonal(A, dim1=1, dim2=2))
            step = torch.linalg.solve(damped, gradient[..., None])[..., 0]
            tried_eta, tried = value(z + step)
            better = (tried >= now)[:, None]
            z, eta = torch.where(better, z + step, z), torch.where(better, tried_eta, eta)
            now = torch.where(better[:, 0], tried, now)
            damping = torch.where(better, 0.1 * damping, 10.0 * damping)
            if bool(((step.abs() < 1e-8) | (~better & (damping > 1e4))).all()):
                break
        A, _ = _curvature(network, z, eta, x, seen)
        return z, torch.linalg.cholesky(A), mean, log_std


def moments(network: Network, x: Any, seen: Any, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Means and deviations of the Gaussian that z is drawn from."""
    m, L, _, log_std = proposals(network, x, seen, steps)
    std = torch.exp(log_std) if L is None else torch.diagonal(torch.cholesky_inverse(L), dim1=1, dim2=2).sqrt()
    return m.detach().cpu().numpy(), std.detach().cpu().numpy()


def weigh(network: Network, x: Any, seen: Any, n_draws: int, steps: int) -> tuple[Any, Any]:
    """Outputs of the decoder at draws of z, (draws, rows, n_out), and log weights (draws, rows), of which e^ estimates p(x_O)."""
    m, L, mean, log_std = proposals(network, x, seen, steps)
    points = torch.as_tensor(
        normal_points(n_draws // (1 if L is None else 2), network.k), dtype=m.dtype, device=m.device
    )
    with torch.no_grad():
        std = torch.exp(log_std)
        z = mean + std * points[:, None]
        if L is not None:
            from_mode = m + torch.linalg.solve_triangular(L.mT, points.T.expand(len(m), -1, -1), upper=True).permute(
                2, 0, 1
            )
            z = torch.cat([from_mode, z])
        log_q = -0.5 * ((z - mean) / std).square().sum(-1) - log_std.sum(-1)
        if L is not None:
            apart = torch.einsum("nkl,snk->snl", L, z - m)
            volume = torch.log(torch.diagonal(L, dim1=1, dim2=2)).sum(-1)
            log_q = torch.logaddexp(log_q, volume - 0.5 * apart.square().sum(-1)) - math.log(2.0)
        eta = network.decode(z)
        return eta, network.log_prob(eta, x, seen) - 0.5 * z.square().sum(-1) - log_q
