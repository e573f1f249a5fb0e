"""Where training starts: a linear model of the encoder's features, f = W z + ε, learned by probabilistic principal components."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ....factor import ProbabilisticPCA
from . import torch
from .levels import LevelHead
from .network import Network

__all__ = ["begin_linear", "begin_random", "features_of"]


def features_of(network: Network, x: np.ndarray, seed: int) -> np.ndarray:
    """The encoder's features of coded rows, NaN where missing, with noise of their own where they are of levels.

    The features of a column of levels add up to the same in every row. A linear model would take that for a direction without
    noise, and explain the rest by as many components as there are features.
    """
    seen, rng = ~np.isnan(x), np.random.default_rng(seed)
    cells = torch.as_tensor(np.where(seen, x, network.blanks().numpy()), dtype=torch.float32)
    known, found = torch.as_tensor(seen), []
    with torch.no_grad():
        for head, part in zip(network.heads, network.slices):
            own = head.features(cells[:, part]).double().numpy()
            if isinstance(head, LevelHead):
                own = (own + rng.standard_normal(own.shape)) / np.sqrt(2.0)
            found.append(np.where(head.seen_features(known[:, part]).numpy(), own, np.nan))
    return np.hstack(found)


def linear_model(f: np.ndarray, n_components: Any, seed: int) -> Any:
    """Principal components of features; None where they tell of none."""
    f = f[~np.isnan(f).all(axis=1)]
    most = min(f.shape[1] - 1, len(f) - 1)
    if most < 1:
        return None
    k = min(n_components, most) if not isinstance(n_components, str) else n_components
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            return ProbabilisticPCA(k, max_iter=300, tol=1e-4, parameter_draws=0, random_state=seed).fit(f)
        except (ValueError, np.linalg.LinAlgError):  # columns of next to no variance
            return None


def begin_linear(network: Network, model: Any) -> None:
    """Start at a linear model of the features."""
    W, noise, k = model.loadings_, max(float(model.noise_variance_), 1e-6), model.n_components_
    # Principal axes: the posterior of z is independent along them where no cell is missing.
    _, root, turn = np.linalg.svd(W, full_matrices=False)
    W = W @ turn.T
    weight = W / (root**2 + noise)
    begin_random(network, 1e-2)
    with torch.no_grad():
        network.into.weight[:k] = torch.as_tensor(weight.T, dtype=torch.float32)
        network.into.weight[k : network.k] *= 0.1
        network.into.bias[: network.k] = 0.0
        network.into.bias[:k] = torch.as_tensor(-(model.mean_ @ weight), dtype=torch.float32)
        network.into.bias[network.k : network.k + k] = torch.as_tensor(0.5 * np.log(noise / (root**2 + noise)))
        at = 0
        for head, out in zip(network.heads, network.outputs):
            own = slice(at, at + head.n_features)
            at += head.n_features
            slope = torch.as_tensor(head.slope[:, None] * W[own], dtype=torch.float32)
            network.out.weight[out.start : out.start + head.n_features, :k] = slope
            head.begin(1.0 - (W[own] ** 2).sum(axis=1))


def begin_random(network: Network, scale: float = 0.3) -> None:
    """Start at small random maps, of which the decoder's tell z apart."""
    with torch.no_grad():
        network.into.weight[: network.k] *= scale
        network.into.weight[network.k :] = 0.0
        network.into.bias[:] = 0.0
        network.out.weight *= scale
