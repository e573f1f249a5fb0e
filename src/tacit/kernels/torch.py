"""Kernels on tensors, on whatever device they lie.

    log p(x | k) = T(x)·η_k,    S_k = Σ_i r_ik T(x_i)

is two matrix products per chunk of rows for every exponential family; with features T(x) = [x, 1, x_i x_j …] for full Gaussians.
Features are laid out (feature, row), so that making them writes memory in order. Everything is computed in float64, also
from float32 rows: expanding the square costs digits that float32 does not have. Chunks are cut to a memory budget. Parameters
come in and moments go out as NumPy arrays.
"""

import numpy as np
import torch

from . import EXPECT, MOMENTS, SCORE
from .cells import features, log_choose, log_factorial, log_rising, rising_slope, row_sums
from .layout import unpack_strips
from .means import means, nearest
from .torch_chain import decode, draw_states, filter_states, smooth, weigh_sequences
from .torch_conditional import complete, conditional, draw, student_conditional
from .torch_dense import centre_moments, clip, project, roots, within
from .torch_factor import factor, factor_scores
from .torch_gaps import decay, square_gaps, weigh_gaps
from .torch_lloyd import column_sums, distances, lloyd, lloyd_cells, medians, misfit, soft
from .torch_nonnegative import divergence, least_squares
from .torch_pass import Pass, Tails, add, budget, fused, put, soften
from .torch_softmax import softmax
from .torch_topics import collapsed, fold_in, topic_assignments, variational

__all__ = [
    "centre_moments", "clip", "collapsed", "column_sums", "complete", "conditional", "decay", "decode", "diag",
    "distances", "divergence", "draw", "draw_states", "factor", "factor_scores", "features", "filter_states", "fold_in",
    "full", "least_squares", "levels", "linear", "lloyd", "lloyd_cells", "log_choose", "log_factorial", "log_rising",
    "means", "medians", "misfit", "nearest", "normalise", "project", "rising_slope", "roots", "row_sums", "scatter",
    "smooth", "soft", "softmax", "square_gaps", "student", "student_conditional", "tied", "topic_assignments",
    "variational", "weigh_gaps", "weigh_sequences", "within",
]  # fmt: skip

PACKED = 96  # up to this many columns, second moments are one product with all pairs x_i x_j as features
CANCELLED = 1e6  # largest squared distance from the origin, in deviations, that expanding the square may cancel


def normalise(joint, log_weight, weight, labels, evidence):
    """Turn log densities (classes, rows) into weighted responsibilities in place; fill log evidence per row."""
    weight = torch.as_tensor(weight, device=joint.device)
    rows = joint.T.contiguous()
    found = soften(rows, put(log_weight, joint.device), weight, torch.as_tensor(labels, device=joint.device))
    joint.copy_(rows.T)
    evidence.copy_(found)
    return float((weight * found).sum())


def pairs(x):
    """Features [x, 1, x_j x_h for h ≤ j] of x (d, rows), as (features, rows)."""
    if quick := fused(x):
        return quick.pairs(x)
    d, n = x.shape
    phi = x.new_empty((d + 1 + d * (d + 1) // 2, n))
    phi[:d], phi[d], at = x, 1.0, d + 1
    for j in range(d):
        torch.mul(x[: j + 1], x[j], out=phi[at : at + j + 1])
        at += j + 1
    return phi


def pair_coefficients(triangles, shift, constant):
    """Coefficients η (features, classes) of `pairs` in constant − ½ ‖xP − shift‖²."""
    j, h = torch.tril_indices(shift.shape[1], shift.shape[1], device=shift.device)
    square = (triangles @ triangles.mT)[:, j, h]
    square *= torch.where(j == h, -0.5, -1.0)
    first = (triangles @ shift[:, :, None])[:, :, 0]
    return torch.cat([first.T, (constant - 0.5 * (shift**2).sum(dim=1))[None], square.T])


def full(X, rows, origin, strips, shift, constant, width, mode, log_weight, weight, labels, out, s0, s1, s2):
    """Classes with their own covariances; `shift` is (μ − o)P, `constant` the log normaliser."""
    run = Pass(X, rows, mode, log_weight, weight, labels, out)
    return dense(run, origin, strips, shift, constant, width, None, s0, s1, s2)


def student(
    X, rows, origin, strips, shift, log_root, width, df, constant, log_scale,
    mode, log_weight, weight, labels, out, count, log_u, s0, s1, s2,
):  # fmt: skip
    """As `full` for Student t classes; `log_root` is log|P|."""
    run, tails = Pass(X, rows, mode, log_weight, weight, labels, out), Tails(X.device, df, constant, log_scale)
    loglik = dense(run, origin, strips, shift, log_root, width, tails, s0, s1, s2)
    if mode != SCORE:
        tails.finish(count, log_u)
    return loglik


def dense(run, origin, strips, shift, constant, width, tails, s0, s1, s2):
    """The pass of `full`, or of `student` where `tails` are given; `strips` may be the triangles themselves."""
    n_classes, d = shift.shape
    # Where expanding the square would cancel too many digits, the classes concerned are whitened.
    narrow = np.flatnonzero((shift**2).sum(axis=1) > CANCELLED)
    origin, strips, shift, constant = (put(value, run.device) for value in (origin, strips, shift, constant))
    triangles = strips if strips.ndim == 3 else unpack_strips(strips, n_classes, d, width, strips.new_zeros)
    base = constant if tails is None else torch.zeros_like(constant)
    eta = None if d > PACKED else pair_coefficients(triangles, shift, base)
    score = None if eta is not None and not len(narrow) else with_care(eta, narrow, triangles, shift, base)
    quick = fused(run.X, "triton_gaussian") if run.mode == EXPECT and tails is None and score is None else None
    if tails is not None:
        score = heavier(score or (lambda x, phi, at: phi.T @ eta), tails, d, constant)
    if eta is None:
        total, square = wide(run, origin, n_classes, score, tails)
    else:
        if quick is not None and n_classes <= quick.MOST_CLASSES:
            total = run.expected(origin, quick, eta)
        else:
            total = run.products(origin, pairs, len(eta), eta, score, tails)
        j, h = torch.tril_indices(d, d, device=run.device)
        square = torch.empty_like(triangles)
        square[:, j, h] = square[:, h, j] = total[d + 1 :].T
    if run.mode != SCORE:
        s0 += total[d].cpu().numpy()
        s1 += total[:d].T.cpu().numpy()
        add(s2, square)
    return run.finish()


def with_care(eta, narrow, triangles, shift, base):
    """A scorer that whitens rows for the `narrow` classes, or for all where there are no coefficients."""
    if eta is None:
        return whitened(triangles, shift, base)
    which = torch.as_tensor(narrow, device=eta.device)
    few = whitened(triangles[which], shift[which], base[which])

    def score(x, phi, at):
        out = phi.T @ eta
        out[:, which] = few(x, phi, at)
        return out

    return score


def heavier(score, tails, d, constant):
    """A scorer of Student t rows from one that gives −½ δ."""
    return lambda x, phi, at: tails.score(score(x, phi, at).mul_(-2.0).clamp_min_(0.0), d) + constant


def whitened(P, b, c):
    """A scorer that whitens rows before it squares: slower than the expanded form, and loses no digits."""
    n_classes, d = b.shape

    def score(x, phi, at):
        out = x.new_empty((x.shape[1], n_classes))
        group = max(budget(x.device) // (8 * d * x.shape[1]), 1)
        for k in range(0, n_classes, group):
            y = x.T @ P[k : k + group] - b[k : k + group, None, :]
            out[:, k : k + group] = c[k : k + group] - 0.5 * y.square_().sum(dim=2).T
        return out

    return score


def wide(run, origin, n_classes, score, tails):
    """Σ r [x, 1] and Σ r x xᵀ of rows of many columns, class by class: all pairs at once would not fit."""
    d = len(origin)
    second = torch.zeros((n_classes, d, d), dtype=torch.float64, device=run.device)
    first = torch.zeros((d + 1, n_classes), dtype=torch.float64, device=run.device)
    for at in run.chunks(2 * d + n_classes):
        x = run.cells(at, origin)
        r = run.settle(None if run.mode == MOMENTS and tails is None else score(x, None, at), at)
        if r is None:
            continue
        r = r if tails is None else tails.weigh(r)
        first.addmm_(with_one(x), r)
        for k in range(n_classes):
            second[k].addmm_(x * r[:, k], x.T)
    return first, second


def with_one(x):
    """Features [x, 1]."""
    return torch.cat([x, torch.ones_like(x[:1])])


def tied(X, rows, origin, triangle, shift, constant, mode, log_weight, weight, labels, out, s0, s1):
    """Classes that share P, where `triangle` is Pᵀ/√2 and `shift` (μ − o)P/√2: rows are whitened once."""
    run = Pass(X, rows, mode, log_weight, weight, labels, out)
    P, b, c = (put(value, X.device) for value in (triangle, shift, constant))
    d = len(triangle)

    exact = (shift**2).sum(axis=1).max() > CANCELLED

    def score(x, phi, at):
        y = P @ x
        if exact:
            return c - torch.cdist(y.T, b, compute_mode="donot_use_mm_for_euclid_dist").square_()
        return torch.addmm(c - b.square().sum(dim=1), y.T, b.T, alpha=2.0).sub_(y.square_().sum(dim=0)[:, None])

    total = run.products(put(origin, X.device), with_one, d + 1, np.zeros((0, len(shift))), score).cpu().numpy()
    s0 += total[d]
    s1 += total[:d].T
    return run.finish()


def zero_filled(x):
    """`x` with 0 in missing cells, and a float mask of observed cells."""
    missing = torch.isnan(x)
    return x.masked_fill(missing, 0.0), (~missing).to(x.dtype)


def diag(X, rows, origin, scale, shift, constant, complete, mode, log_weight, weight, labels, out, count, s0, s1, s2):
    """Classes with independent columns: log p = Σ_j constant_j − (x_j scale_j − shift_j)² over observed cells.

    `count` is the weight of each class; s0, s1 and s2 (classes, d) are moments over observed cells.
    """
    run = Pass(X, rows, mode, log_weight, weight, labels, out)
    n_classes, d = shift.shape
    cell = constant - shift**2
    last = [cell.sum(axis=1)[None]] if complete else [np.zeros((1, n_classes)), cell.T]
    eta = np.concatenate([2.0 * (scale * shift).T, -(scale**2).T, *last])

    def features(x):
        one = torch.ones_like(x[:1])
        if complete:
            return torch.cat([x, x * x, one])
        x, seen = zero_filled(x)
        return torch.cat([x, x * x, one, seen])

    exact = (shift**2).sum(axis=1).max() > CANCELLED
    score = squared_cells(scale, shift, constant, X.device) if exact else None
    total = run.products(put(origin, X.device), features, len(eta), eta, score).cpu().numpy()
    count += total[2 * d]
    s0 += total[2 * d][:, None] if complete else total[2 * d + 1 :].T
    s1 += total[:d].T
    s2 += total[d : 2 * d].T
    return run.finish()


def squared_cells(scale, shift, constant, device):
    """A scorer of independent columns that squares differences, and so loses no digits."""
    s, b, c = (put(value, device)[:, :, None] for value in (scale, shift, constant))

    def score(x, phi, at):
        return torch.stack([(c[k] - (x * s[k] - b[k]).square_()).nansum(dim=0) for k in range(len(s))], dim=1)

    return score


def linear(X, slope, offset, base, mode, log_weight, weight, labels, out, count, s0, s1):
    """Log p = x·slope + seen·offset + base; `base` (rows,) may be empty. s0 and s1 are Σ r seen and Σ r x."""
    run = Pass(X, None, mode, log_weight, weight, labels, out)
    n_classes, d = slope.shape
    eta = np.concatenate([slope.T, np.zeros((1, n_classes)), offset.T])
    coefficient, base = put(eta, X.device), torch.as_tensor(base, device=X.device)

    def features(x):
        x, seen = zero_filled(x)
        return torch.cat([x, torch.ones_like(x[:1]), seen])

    def score(x, phi, at):
        return (phi.T @ coefficient).add_(base[at][:, None])

    total = run.products(put(np.zeros(d), X.device), features, len(eta), eta, score if len(base) else None)
    total = total.cpu().numpy()
    count += total[d]
    s0 += total[d + 1 :].T
    s1 += total[:d].T
    return run.finish()


def levels(X, n_levels, log_probability, mode, log_weight, weight, labels, out, count, total):
    """Categorical columns: the features are one row per level, 1 where the cell is at that level."""
    run = Pass(X, None, mode, log_weight, weight, labels, out)
    column = torch.as_tensor(np.repeat(np.arange(len(n_levels)), n_levels), device=X.device)
    level = put(np.concatenate([np.arange(n) for n in n_levels]), X.device)

    def features(x):
        return torch.cat([(x[column] == level[:, None]).to(x.dtype), torch.ones_like(x[:1])])

    eta = np.vstack([log_probability.T, np.zeros((1, len(log_probability)))])
    found = run.products(put(np.zeros(len(n_levels)), X.device), features, len(eta), eta).cpu().numpy()
    total += found[:-1].T
    count += found[-1]
    return run.finish()


def scatter(X, rows, origin, weight):
    """Σ_i w_i (x_i − o) and Σ_i w_i (x_i − o)(x_i − o)ᵀ over `rows`; `weight` has an entry for every row of X."""
    run = Pass(X, rows, SCORE, np.zeros(0), weight, np.zeros(0), np.zeros(0))
    origin = put(origin, X.device)
    first = torch.zeros(len(origin), dtype=torch.float64, device=X.device)
    second = torch.zeros((len(origin), len(origin)), dtype=torch.float64, device=X.device)
    for at in run.chunks(2 * len(origin)):
        x = run.cells(at, origin)
        weighted = x * run.weight[at]
        first += weighted.sum(dim=1)
        second.addmm_(weighted, x.T)
    return first.cpu().numpy(), second.cpu().numpy()
