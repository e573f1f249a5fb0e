"""Gaussian rows with missing cells, on tensors: the observed density and the posterior of what is missing.

With z = x − μ on the observed cells O and 0 on the missing cells M, Λ = Σ⁻¹ and u = Λ z,

    E[x_M | x_O] = μ_M − Λ_MM⁻¹ u_M,    Cov[x_M | x_O] = C = Λ_MM⁻¹,
    (x_O − μ_O)ᵀ Σ_OO⁻¹ (x_O − μ_O) = zᵀu − u_Mᵀ C u_M,    log|Σ_OO| = log|Σ| + log|Λ_MM|.

Rows with equally many missing cells are taken together, all their patterns and all classes in one batch of small matrices:
the number of steps does not grow with the number of patterns.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch

from . import EXPECT, SCORE
from .torch_pass import Pass, Tails, add, budget, fused, give_back, kept, put

__all__ = ["complete", "conditional", "draw"]

LOG_2PI = math.log(2 * math.pi)
LONGEST = 256  # rows that share one factor; longer runs are cut, so that no sum over a run is long
SMALL = 1 << 20  # matrices factored in one call


@dataclass(frozen=True)
class Group:
    """Rows with equally many missing cells, in runs that share a pattern.

    Attributes
    ----------
    rows, run : (rows,)
        Row numbers, and the run that each row belongs to.
    lost : (runs, m)
        The missing cells of each run.
    lengths : (runs,)
        Rows of each run.
    ends : (runs,) NumPy
        Where each run ends in `rows`; on the host, where batches are cut.
    """

    rows: torch.Tensor
    run: torch.Tensor
    lost: torch.Tensor
    lengths: torch.Tensor
    ends: np.ndarray

    def batches(self, n_rows, n_runs):
        """Slices of rows and of runs that hold no more than so many of each, but one run at least."""
        first, start = 0, 0
        while first < len(self.ends):
            last = int(np.searchsorted(self.ends, start + n_rows, side="right"))
            last = max(min(last, first + n_runs), first + 1)
            end = int(self.ends[last - 1])
            yield slice(start, end), slice(first, last)
            first, start = last, end


def plan(rows, starts, missing, device):
    """Groups of rows by the number of missing cells, on the device."""

    def make():
        sizes = np.diff(starts)
        pieces = -(-sizes // LONGEST)
        cells = np.repeat(missing, pieces, axis=0)
        # Piece i of a pattern holds LONGEST rows, the last one what is left.
        order = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        lengths = np.minimum(np.repeat(sizes, pieces) - order * LONGEST, LONGEST)
        n_lost = cells.sum(axis=1)
        return [group(rows, lengths, cells, n_lost == m, device) for m in np.unique(n_lost)]

    return kept(missing, device, make)


def group(rows, lengths, cells, picked, device):
    """The runs that were picked as a group; all have equally many missing cells."""
    chosen, length = rows[np.repeat(picked, lengths)], lengths[picked]
    lost = np.nonzero(cells[picked])[1].reshape(len(length), -1)
    arrays = chosen, np.repeat(np.arange(len(length)), length), lost, length
    on_device, run, cell, sizes = (torch.as_tensor(value.astype(np.int64), device=device) for value in arrays)
    return Group(on_device, run, cell, sizes, np.cumsum(length))


@dataclass(frozen=True)
class Batch:
    """Some rows of a group, conditioned: shapes are (classes, rows, …) and (classes, runs, m, m)."""

    at: torch.Tensor
    local: torch.Tensor
    lengths: torch.Tensor
    cells: torch.Tensor
    lost: torch.Tensor
    deviation: torch.Tensor
    spread: torch.Tensor
    log_det: torch.Tensor
    square: torch.Tensor

    @property
    def n_seen(self):
        """How many cells of every row are observed."""
        return self.cells.shape[1] - self.lost.shape[1]

    def of_rows(self, values):
        """What is held per run, (classes, runs, …), for each row."""
        return values if values.shape[1] == len(self.at) else values[:, self.local]

    def columns(self, values):
        """The missing cells (…, rows, m) of values (…, rows, d)."""
        return values.gather(-1, self.lost[self.local].expand(*values.shape[:-1], self.lost.shape[1]))


class Posterior:
    """Means, precisions and log determinants of the classes on a device; conditions batches of rows on them."""

    def __init__(self, X, rows, starts, missing, mean, precision, log_det):
        self.X, self.groups = X, plan(rows, starts, missing, X.device) if len(rows) else []
        self.mean, self.precision, self.log_det = (put(value, X.device) for value in (mean, precision, log_det))

    def __iter__(self):
        n_classes, d = self.mean.shape
        for group in self.groups:
            m = group.lost.shape[1]
            n_rows = budget(self.X.device) // (8 * n_classes * (4 * d + m * m))
            n_runs = budget(self.X.device) // (8 * n_classes * m * (3 * m + d))
            for rows, runs in group.batches(n_rows, min(n_runs, SMALL // n_classes)):
                yield self.condition(group, rows, runs)

    def condition(self, group, rows, runs):
        """E[x | x_O] − μ, C, log|Σ_OO| and the squared distance of some rows, which are whole runs."""
        device, at, local = self.X.device, group.rows[rows], group.run[rows] - runs.start
        lost, lengths = group.lost[runs], group.lengths[runs]
        x = self.X[at].double()
        z = (x - self.mean[:, None, :]).nan_to_num_(nan=0.0)
        u = z @ self.precision
        block = self.precision[:, lost[:, :, None], lost[:, None, :]]
        lower = torch.linalg.cholesky_ex(block)[0]
        unit = torch.eye(lost.shape[1], dtype=lower.dtype, device=device).expand_as(lower)
        inverse = torch.linalg.solve_triangular(lower, unit, upper=False)
        spread = inverse.mT @ inverse
        log_det = self.log_det[:, None] + 2.0 * lower.diagonal(dim1=-2, dim2=-1).log().sum(dim=-1)
        batch = Batch(at, local, lengths, x, lost, z, spread, log_det, (z * u).sum(dim=2))
        u_lost = batch.columns(u)
        # Elementwise: as matrix products these are too small to be quick.
        t = (batch.of_rows(spread) * u_lost[..., None, :]).sum(dim=-1)
        batch.square.sub_((u_lost * t).sum(dim=2))
        z.scatter_(2, lost[local].expand_as(t), -t)
        return batch


def conditional(
    X, rows, starts, missing, mean, precision, covariance, log_det, mode, log_weight, weight, labels, out, s0, s1, s2
):
    """One pass over rows with missing cells; expected moments are about each class's mean."""
    run = Pass(X, None, mode, log_weight, weight, labels, out)
    quick = fused(X, "triton_conditional") if mode == EXPECT else None
    if quick is not None and len(rows) and quick.suits(rows, starts, X.shape[1]):
        return shared_pass(run, quick, rows, starts, missing, mean, precision, log_det, s0, s1, s2)
    return posterior_pass(run, Posterior(X, rows, starts, missing, mean, precision, log_det), None, s0, s1, s2)


def shared_pass(run, quick, rows, starts, missing, mean, precision, log_det, s0, s1, s2):
    """The pass of `conditional` over rows that share patterns, tile by tile."""
    device, (n_classes, d) = run.device, mean.shape
    mean, precision, log_det = (put(value, device) for value in (mean, precision, log_det))
    width = quick.width_of(d)
    most = max(budget(device) // (8 * n_classes * width * width), 1)
    count, first = mean.new_zeros(n_classes), torch.zeros_like(mean)
    second = torch.zeros_like(precision)
    for tiles in kept(missing, (device, most), lambda: quick.Tiles.of(rows, starts, missing, most, device)):
        swept, base = quick.sweep(tiles, precision, log_det)
        log_prob = quick.score_filled(run.X, tiles, mean, precision, swept, base)
        r = run.settle(log_prob, tiles.rows)
        count += r.sum(dim=0)
        for total, part in zip((first, second), quick.filled_moments(run.X, tiles, mean, swept, r)):
            total += part
    for target, total in ((s0, count), (s1, first), (s2, second)):
        add(target, total)
    return run.finish()


def student_conditional(
    X, rows, starts, missing, mean, precision, covariance, log_det, df, constant, log_scale,
    mode, log_weight, weight, labels, out, count, log_u, s0, s1, s2,
):  # fmt: skip
    """As `conditional` for Student t classes."""
    run, tails = Pass(X, None, mode, log_weight, weight, labels, out), Tails(X.device, df, constant, log_scale)
    loglik = posterior_pass(run, Posterior(X, rows, starts, missing, mean, precision, log_det), tails, s0, s1, s2)
    if mode != SCORE:
        tails.finish(count, log_u)
    return loglik


def posterior_pass(run, posterior, tails, s0, s1, s2):
    """The pass of `conditional`, or of `student_conditional` where `tails` are given."""
    first, second, third = (torch.zeros(s.shape, dtype=torch.float64, device=run.device) for s in (s0, s1, s2))
    for batch in posterior:
        log_det = 0.5 * batch.of_rows(batch.log_det).T
        if tails is None:
            log_prob = -0.5 * (batch.square.T + batch.n_seen * LOG_2PI) - log_det
        else:
            log_prob = tails.score(batch.square.T.clamp_min(0.0), batch.n_seen) - log_det
        r = run.settle(log_prob.contiguous(), batch.at)
        if r is None:
            continue
        r_u = r if tails is None else tails.weigh(r)
        weighted = r_u.T[:, :, None] * batch.deviation
        first += r_u.sum(dim=0)
        second += weighted.sum(dim=1)
        third += weighted.mT @ batch.deviation
        third += spread_moments(batch, r, s2.shape[1])
    s0 += first.cpu().numpy()
    s1 += second.cpu().numpy()
    add(s2, third)
    return run.finish()


def spread_moments(batch, r, d):
    """Σ r C of each class, (classes, d, d).

    Written as a product with the places of the missing cells: adding at an index is not done in a fixed order on a GPU.
    """
    n_classes, n_runs, m, _ = batch.spread.shape
    of_run = r if n_runs == len(r) else torch.segment_reduce(r, "sum", lengths=batch.lengths, axis=0, unsafe=True)
    spread = (batch.spread * of_run.T[:, :, None, None]).permute(1, 2, 0, 3)
    spaced = spread.new_zeros((n_runs, m, n_classes, d))
    spaced.scatter_(3, batch.lost[:, None, None, :].expand(spread.shape), spread)
    place = torch.zeros((n_runs, m, d), dtype=r.dtype, device=r.device).scatter_(2, batch.lost[:, :, None], 1.0)
    return (place.view(-1, d).T @ spaced.view(n_runs * m, -1)).view(d, n_classes, d).transpose(0, 1)


def complete(X, rows, starts, missing, mean, precision, covariance, log_det, resp, filled, cov):
    """Posterior mean of every row in `filled`, and its covariance in `cov` (zero on observed cells)."""
    found, spreads, resp = (torch.as_tensor(value, device=X.device) for value in (filled, cov, resp))
    posterior = Posterior(X, rows, starts, missing, mean, precision, log_det)
    for batch in posterior:
        weight = resp[:, batch.at]
        means = posterior.mean[:, None, :] + batch.deviation
        mixed = (weight[:, :, None] * means).sum(dim=0)
        found[batch.at] = torch.where(torch.isnan(batch.cells), mixed, batch.cells)
        if len(cov):
            apart = batch.columns(means - mixed)
            square = batch.of_rows(batch.spread) + apart[..., :, None] * apart[..., None, :]
            cells = batch.lost[batch.local]
            where = batch.at[:, None, None], cells[:, :, None], cells[:, None, :]
            spreads[where] = (weight[:, :, None, None] * square).sum(dim=0)
    give_back(found, filled)
    give_back(spreads, cov)


def draw(X, rows, starts, missing, mean, precision, covariance, log_det, classes, noise, filled):
    """Draws of the missing cells: filled (draws, all rows, d) given a class per draw and row and standard noise."""
    found, noise = (torch.as_tensor(value, device=X.device) for value in (filled, noise))
    classes = torch.as_tensor(classes, device=X.device)
    posterior = Posterior(X, rows, starts, missing, mean, precision, log_det)
    for batch in posterior:
        root = torch.linalg.cholesky_ex(batch.spread)[0]
        means = batch.columns(posterior.mean[:, None, :] + batch.deviation)
        each = torch.arange(len(batch.at), device=X.device)
        cells = batch.lost[batch.local]
        for t in range(len(found)):
            k = classes[t, batch.at]
            value = means[k, each] + (root[k, batch.local] @ batch.columns(noise[t, batch.at])[..., None])[..., 0]
            found[t, batch.at[:, None], cells] = value
    give_back(found, filled)
