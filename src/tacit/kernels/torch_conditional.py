"""Gaussian rows with missing cells, on tensors: the observed density and the posterior of what is missing.

With z = x − μ on the observed cells O and 0 on the missing cells M, Λ = Σ⁻¹ and u = Λ z,

    E[x_M | x_O] = μ_M − Λ_MM⁻¹ u_M,    Cov[x_M | x_O] = C = Λ_MM⁻¹,
    (x_O − μ_O)ᵀ Σ_OO⁻¹ (x_O − μ_O) = zᵀu − u_Mᵀ C u_M,    log|Σ_OO| = log|Σ| + log|Λ_MM|.

Patterns with equally many missing cells are taken together, all classes and patterns in one batch of small matrices: the
number of steps does not grow with the number of patterns.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch

from . import SCORE
from .torch_pass import Pass, budget, kept, put

__all__ = ["complete", "conditional", "draw"]

LOG_2PI = math.log(2 * math.pi)
LONGEST = 256  # rows that share one factor; longer runs are cut, so that no sum over a run is long
SMALL = 1 << 15  # matrices factored in one call


@dataclass(frozen=True)
class Group:
    """Rows with equally many missing cells: row numbers, the pattern of each, and the missing cells of each pattern."""

    rows: torch.Tensor
    pattern: np.ndarray
    lost: torch.Tensor


def plan(rows, starts, missing, device):
    """Groups of rows by the number of missing cells, on the device."""

    def make():
        sizes = np.diff(starts)
        pieces = -(-sizes // LONGEST)
        cells = np.repeat(missing, pieces, axis=0)
        # Piece i of a run holds LONGEST rows, the last one what is left.
        order = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        lengths = np.minimum(np.repeat(sizes, pieces) - order * LONGEST, LONGEST)
        n_lost = cells.sum(axis=1)
        of_row = np.repeat(np.arange(len(cells)), lengths)
        groups = []
        for m in np.unique(n_lost):
            picked = np.flatnonzero(n_lost == m)
            number = np.full(len(cells), -1)
            number[picked] = np.arange(len(picked))
            chosen = number[of_row] >= 0
            lost = np.nonzero(cells[picked])[1].reshape(len(picked), m)
            numbers = torch.as_tensor(rows[chosen].astype(np.int64), device=device)
            groups.append(Group(numbers, number[of_row[chosen]], torch.as_tensor(lost, device=device)))
        return groups

    return kept(missing, device, make)


@dataclass(frozen=True)
class Batch:
    """Some rows of a group, conditioned: shapes are (classes, rows, …) and (classes, patterns, m, m)."""

    at: torch.Tensor
    local: torch.Tensor
    lengths: torch.Tensor
    cells: torch.Tensor
    lost: torch.Tensor
    deviation: torch.Tensor
    spread: torch.Tensor
    log_prob: torch.Tensor

    def of_rows(self, values):
        """What is held per pattern, (classes, patterns, …), for each row."""
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
            width = n_classes * (4 * d + 3 * m * m + m * d)
            step = max(min(budget(self.X.device) // (8 * width), max(SMALL // n_classes, LONGEST)), 1)
            for start in range(0, len(group.rows), step):
                yield self.condition(group, slice(start, min(start + step, len(group.rows))))

    def condition(self, group, chunk):
        """E[x | x_O] − μ, C and the observed log density of a chunk of rows."""
        device, at, pattern = self.X.device, group.rows[chunk], group.pattern[chunk]
        first = pattern[0]
        lengths = torch.as_tensor(np.bincount(pattern - first), device=device)
        local = torch.as_tensor(pattern - first, device=device)
        lost = group.lost[first : pattern[-1] + 1]
        x = self.X[at].double()
        z = (x - self.mean[:, None, :]).nan_to_num_(nan=0.0)
        u = z @ self.precision
        block = self.precision[:, lost[:, :, None], lost[:, None, :]]
        lower = torch.linalg.cholesky_ex(block)[0]
        unit = torch.eye(lost.shape[1], dtype=lower.dtype, device=device).expand_as(lower)
        inverse = torch.linalg.solve_triangular(lower, unit, upper=False)
        spread = inverse.mT @ inverse
        log_det = self.log_det[:, None] + 2.0 * lower.diagonal(dim1=-2, dim2=-1).log().sum(dim=-1)
        batch = Batch(at, local, lengths, x, lost, z, spread, log_det)
        u_lost = batch.columns(u)
        t = (batch.of_rows(spread) @ u_lost[..., None])[..., 0]
        square = (z * u).sum(dim=2) - (u_lost * t).sum(dim=2)
        log_prob = -0.5 * (square + batch.of_rows(log_det) + (x.shape[1] - lost.shape[1]) * LOG_2PI)
        z.scatter_(2, lost[local].expand_as(t), -t)
        return Batch(at, local, lengths, x, lost, z, spread, log_prob)


def conditional(
    X, rows, starts, missing, mean, precision, covariance, log_det, mode, log_weight, weight, labels, out, s0, s1, s2
):
    """One pass over rows with missing cells; expected moments are about each class's mean."""
    run = Pass(X, None, mode, log_weight, weight, labels, out)
    first, second, third = (torch.as_tensor(np.zeros_like(s), device=X.device) for s in (s0, s1, s2))
    for batch in Posterior(X, rows, starts, missing, mean, precision, log_det):
        r = run.settle(batch.log_prob.T.contiguous(), batch.at)
        if mode == SCORE:
            continue
        weighted = r.T[:, :, None] * batch.deviation
        first += r.sum(dim=0)
        second += weighted.sum(dim=1)
        third += weighted.mT @ batch.deviation
        third += spread_moments(batch, r, X.shape[1])
    s0 += first.cpu().numpy()
    s1 += second.cpu().numpy()
    s2 += third.cpu().numpy()
    return run.finish()


def spread_moments(batch, r, d):
    """Σ r C of each class, (classes, d, d).

    Written as a product with the places of the missing cells: adding at an index is not done in a fixed order on a GPU.
    """
    n_classes, n_patterns, m, _ = batch.spread.shape
    of_pattern = r if n_patterns == len(r) else torch.segment_reduce(r, "sum", lengths=batch.lengths, axis=0)
    spread = (batch.spread * of_pattern.T[:, :, None, None]).permute(1, 2, 0, 3)
    spaced = spread.new_zeros((n_patterns, m, n_classes, d))
    spaced.scatter_(3, batch.lost[:, None, None, :].expand(spread.shape), spread)
    place = torch.zeros((n_patterns, m, d), dtype=r.dtype, device=r.device).scatter_(2, batch.lost[:, :, None], 1.0)
    return (place.view(-1, d).T @ spaced.view(n_patterns * m, -1)).view(d, n_classes, d).transpose(0, 1)


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


def give_back(found, asked):
    """Copy results to where they were asked for, unless that is the same memory."""
    if isinstance(asked, np.ndarray) and found.device.type != "cpu":
        asked[...] = found.cpu().numpy()
