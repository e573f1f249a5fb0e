"""Where Gaussian mixtures of rows on a device start: all starts and their short runs at once, in a few large products.

    log p(x | s, k) = T(x)·η_sk,    S_sk = Σ_i r_isk T(x_i),    T(x) = [x, 1, x_j x_h]

Starts s are seeded by k-means of a sample, half of them of whitened rows; each takes the same few steps of EM, and the best goes
on. Small passes over one start at a time would leave a device waiting for the next one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ..engine.restarts import Lead
from ..families.dense import FullGaussian
from ..families.gaussian import location_and_scale
from ..kernels.torch import pair_coefficients, pairs
from ..source import Block
from .model import MixtureModel, MixtureParams

__all__ = ["batched_start", "can_batch"]

LOG_2PI = float(np.log(2 * np.pi))
N_STARTS = 16
HEATS = ((10, 4), (20, 2), (50, 1))
"""Steps of every start, then of the best few."""
N_SEEDINGS = 32
"""K-means of either space, of which the tightest go on."""
N_CANDIDATES = 8
"""Rows among which each seed is chosen."""
ROUNDS = 5
"""Of k-means."""
MOST = 1 << 26
"""Distances of all starts at once."""
DEVICES = ("cuda",)


def can_batch(model: Any, sample: Block, device: Any) -> bool:
    """Whether starts of a model run at once: plain mixtures of full Gaussians, of complete rows of unknown class, on a device."""
    return (
        device is not None
        and device.type in DEVICES
        and type(model) is MixtureModel
        and type(model.family) is FullGaussian
        and model.family.prior is None
        and model.family.floor > 0
        and model.init_method == "kmeans"
        and not model.one_start
        and sample.patterns.is_complete
        and not (sample.labels >= 0).any()
        and len(sample) * model.n_components * N_SEEDINGS <= MOST
        and sample.X.shape[1] <= 96
    )


def batched_start(
    model: Any, sample: Block, rng: np.random.Generator, device: Any
) -> tuple[MixtureParams, Lead] | None:
    """The best of several short runs from seeds of a sample, and what led there; None where all collapsed."""
    runs = _Runs(model, sample, rng, device)
    state = runs.begun(runs.seeded())
    for n_steps, n_kept in HEATS:
        for _ in range(n_steps):
            value, *state = runs.step(*state)
        state = [part[runs.ranked(value, state)[:n_kept]] for part in state]
    share, mean, covariance = (part[0].cpu().numpy() for part in state)
    root = np.sqrt(runs.scale)
    components = model.family.params(
        runs.origin + mean * root,
        model.family.clip(covariance * (root[:, None] * root), runs.scale),
        runs.origin,
        runs.scale,
    )
    params = MixtureParams(share, components)
    return None if model.collapsed(params) else (params, Lead(sum(n_steps for n_steps, _ in HEATS)))


class _Runs:
    """Runs side by side over rows in units of the data's deviations about their mean."""

    def __init__(self, model: Any, sample: Block, rng: np.random.Generator, device: Any):
        self.model, self.k, self.floor = model, model.n_components, model.family.floor
        self.origin, self.scale = location_and_scale(sample)
        put = {"dtype": torch.float64, "device": device}
        self.x = torch.as_tensor((np.asarray(sample.X, np.float64) - self.origin) / np.sqrt(self.scale), **put)
        self.weight = torch.as_tensor(np.array(sample.weight), **put)
        self.total = self.weight.sum()
        self.phi = pairs(self.x.T.contiguous())
        self.generator = torch.Generator(device).manual_seed(int(rng.integers(2**62)))
        d = self.x.shape[1]
        self.unit = torch.eye(d, **put)
        self.j, self.h = torch.tril_indices(d, d, device=device)

    def seeded(self) -> Any:
        """The cluster of every row by k-means of each start, (starts, rows)."""
        cover = (self.x * self.weight[:, None]).T @ self.x / self.total
        lower = torch.linalg.cholesky_ex(cover + 1e-9 * self.unit)[0]
        white = torch.linalg.solve_triangular(lower, self.x.T, upper=False).T
        return torch.cat([self._clusters(Z, N_SEEDINGS, N_STARTS // 2) for Z in (self.x, white)])

    def _clusters(self, Z: Any, n: int, n_kept: int) -> Any:
        square = (Z**2).sum(dim=1)
        center = Z.new_empty((n, self.k, Z.shape[1]))
        near = torch.ones((n, len(Z)), dtype=Z.dtype, device=Z.device)
        for k in range(self.k):
            chance = near * self.weight
            chance = torch.where(chance.sum(dim=1, keepdim=True) > 0, chance, self.weight)
            rows = torch.multinomial(chance, N_CANDIDATES, replacement=True, generator=self.generator)
            points = Z[rows]
            apart = (square - 2.0 * points @ Z.T + (points**2).sum(dim=2)[:, :, None]).clamp_min(0.0)
            apart = apart if k == 0 else torch.minimum(apart, near[:, None, :])
            best = (apart @ self.weight).argmin(dim=1)
            each = torch.arange(n, device=Z.device)
            center[:, k], near = points[each, best], apart[each, best]
        for _ in range(ROUNDS):
            labels = self._apart(Z, center).argmin(dim=2)
            member = torch.nn.functional.one_hot(labels, self.k).to(Z.dtype) * self.weight[:, None]
            count = member.sum(dim=1)[:, :, None]
            center = torch.where(count > 0, member.mT @ Z / count.clamp_min(1e-300), center)
        apart = self._apart(Z, center).amin(dim=2) @ self.weight
        return self._apart(Z, center[apart.argsort()[:n_kept]]).argmin(dim=2)

    def _apart(self, Z: Any, center: Any) -> Any:
        """Squared distances (starts, rows, classes), less what is the same for all classes."""
        return (center**2).sum(dim=2)[:, None, :] - 2.0 * Z @ center.mT

    def begun(self, labels: Any) -> list:
        """Weights, means and covariances of clusters (starts, rows); classes share the covariance within."""
        member = torch.nn.functional.one_hot(labels, self.k).to(self.x.dtype) * self.weight[:, None]
        count = member.sum(dim=1)
        mean = member.mT @ self.x / count.clamp_min(1e-300)[:, :, None]
        share = torch.maximum(count, 0.1 * self.total / self.k**2)
        whole = (self.x * self.weight[:, None]).T @ self.x
        within = (whole - (mean * count[:, :, None]).mT @ mean) / self.total + max(self.floor, 1e-9) * self.unit
        covariance = within[:, None].expand(-1, self.k, -1, -1)
        return [share / share.sum(dim=1, keepdim=True), mean, covariance]

    def step(self, share: Any, mean: Any, covariance: Any) -> list:
        """One step of EM of every run: objectives, and what follows."""
        n, d, n_runs = len(self.x), self.x.shape[1], len(share)
        lower = torch.linalg.cholesky_ex(covariance.reshape(-1, d, d))[0]
        triangle = torch.linalg.solve_triangular(lower, self.unit.expand_as(lower), upper=False).mT
        shift = (mean.reshape(-1, 1, d) @ triangle)[:, 0]
        constant = triangle.diagonal(dim1=1, dim2=2).log().sum(dim=1) - 0.5 * d * LOG_2PI
        eta = pair_coefficients(triangle, shift, constant + share.clamp_min(1e-300).reshape(-1).log())
        joint = (self.phi.T @ eta).view(n, n_runs, self.k)
        evidence = joint.logsumexp(dim=2)
        value = self.weight @ evidence
        r = (joint - evidence[:, :, None]).exp_().mul_(self.weight[:, None, None]).view(n, -1)
        total = (self.phi @ r).view(-1, n_runs, self.k)
        count = total[d]
        alive = count > 1e-10
        size = torch.where(alive, count, 1.0)
        image = torch.where(alive[:, :, None], (total[:d] / size).permute(1, 2, 0), mean)
        second = torch.empty_like(covariance)
        second[:, :, self.j, self.h] = second[:, :, self.h, self.j] = (total[d + 1 :] / size).permute(1, 2, 0)
        second = second - image[..., :, None] * image[..., None, :]
        # A little is added instead of clipping what is below the floor: rounds of eigenvalues would cost more than all else.
        failed = torch.linalg.cholesky_ex(second - self.floor * self.unit)[1] > 0
        second = torch.where((failed | ~alive)[:, :, None, None], covariance + self.floor * self.unit, second)
        return [value, count / count.sum(dim=1, keepdim=True), image, second]

    def ranked(self, value: Any, state: list) -> Any:
        """Runs from the best; those with a class of too few rows for its covariance come last."""
        fewest = (self.x.shape[1] + 1.0) * self.total / len(self.x)
        sound = (state[0].amin(dim=1) * self.total > fewest) & value.isfinite()
        return (value.nan_to_num(nan=-1e300) - 1e200 * ~sound).argsort(descending=True)
