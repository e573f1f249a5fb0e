"""Full Gaussians on a GPU: products with all pairs of columns as features, which are made in registers and never written.

expect:   r_ik = w_i π_k exp(T(x_i)·η_k) / Σ_j …        moments:  Σ_i T(x_i) r_ik        T(x)_f = x_left(f) x_right(f)

Products run on the tensor cores in double precision. Rows come as columns (d + 1, rows), the last of which is 1.
"""

from functools import cache

import torch
import triton
import triton.language as tl

__all__ = ["MOST_CLASSES", "columns", "expect", "feature_table", "moments"]

MOST_CLASSES = 128
ROWS, STEP = 64, 16  # of a tile of columns, and features or rows multiplied at once
TILES = {
    64: (128, 4),
    128: (32, 2),
}  # rows and warps of a tile of scores, by classes: the quickest of those tried on an H200
FEATURES = 64  # of a tile of moments
SPLITS = 256  # parts that rows are summed in, whatever their number


@cache
def feature_table(d, device):
    """The factors of every feature, padded to whole tiles; in the order x, 1, x_j x_h for h ≤ j."""
    j, h = torch.tril_indices(d, d)
    one = torch.full((1,), d)
    left = torch.cat([torch.arange(d), one, j])
    right = torch.cat([one.expand(d), one, h])
    pad = one.expand(-len(left) % FEATURES)
    return tuple(torch.cat([side, pad]).int().to(device) for side in (left, right))


@triton.jit
def _columns(X, origin, x, n, x_stride, out_stride, d: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    j = tl.arange(0, WIDTH)
    inside = (row < n)[:, None] & (j < d)[None, :]
    cell = tl.load(X + row[:, None] * x_stride + j[None, :], mask=inside, other=0.0).to(tl.float64)
    cell -= tl.load(origin + j, mask=j < d, other=0.0)[None, :]
    tl.store(x + j[:, None] * out_stride + row[None, :], tl.trans(cell), mask=tl.trans(inside))
    tl.store(x + d * out_stride + row, tl.full((ROWS,), 1.0, tl.float64), mask=row < n)


def columns(X, origin):
    """Rows less the origin as columns (d + 1, rows), the last of which is 1."""
    n, d = X.shape
    x = torch.empty((d + 1, n), dtype=torch.float64, device=X.device)
    _columns[(triton.cdiv(n, ROWS),)](
        X, origin, x, n, X.stride(0), x.stride(0), d, triton.next_power_of_2(d), ROWS, num_warps=4
    )
    return x


@triton.jit
def _expect(
    x, left, right, eta, log_weight, weight, labels, r, evidence, n, n_classes, n_features, x_stride, weight_stride,
    label_stride, LABELLED: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = row < n
    k = tl.arange(0, WIDTH)
    f = tl.arange(0, STEP)
    value = tl.zeros((WIDTH, ROWS), tl.float64)
    for first in range(0, n_features, STEP):
        i = tl.load(left + first + f).to(tl.int64)
        j = tl.load(right + first + f).to(tl.int64)
        a = tl.load(x + i[:, None] * x_stride + row[None, :], mask=inside[None, :], other=0.0)
        b = tl.load(x + j[:, None] * x_stride + row[None, :], mask=inside[None, :], other=0.0)
        c = tl.load(eta + k[:, None] * n_features + (first + f)[None, :])
        value = tl.dot(c, a * b, value, out_dtype=tl.float64)
    value += tl.load(log_weight + k, mask=k < n_classes, other=float("-inf"))[:, None]
    if LABELLED:
        label = tl.load(labels + row * label_stride, mask=inside, other=-1)
        value = tl.where((label >= 0)[None, :] & (k[:, None] != label[None, :]), float("-inf"), value)
    top = tl.max(value, axis=0)
    power = tl.exp(value - top[None, :])
    total = tl.sum(power, axis=0)
    share = tl.load(weight + row * weight_stride, mask=inside, other=0.0) / total
    tl.store(r + row[:, None] * WIDTH + k[None, :], tl.trans(power * share[None, :]), mask=inside[:, None])
    tl.store(evidence + row, top + tl.log(total), mask=inside)


def expect(x, eta, log_weight, weight, labels, shape=None):
    """Weighted responsibilities (rows, width), 0 beyond the classes, and log evidence of rows x (d + 1, rows)."""
    d, n, n_classes = len(x) - 1, x.shape[1], eta.shape[1]
    left, right = feature_table(d, x.device)
    width = max(triton.next_power_of_2(n_classes), 16)
    padded = eta.new_zeros((width, len(left)))
    padded[:n_classes, : len(eta)] = eta.T
    r, evidence = x.new_empty((n, width)), x.new_empty(n)
    known = weight if labels is None else labels
    rows, warps = TILES[max(width, 64)]
    rows, step, warps = shape or (rows, STEP, warps)
    _expect[(triton.cdiv(n, rows),)](
        x, left, right, padded, log_weight, weight, known, r, evidence, n, n_classes, len(left), x.stride(0), weight.stride(0),
        known.stride(0), labels is not None, rows, width, step, num_warps=warps,
    )  # fmt: skip
    return r, evidence


@triton.jit
def _moments(
    x, left, right, r, out, n, part_rows, n_features, x_stride, FEATURES: tl.constexpr, WIDTH: tl.constexpr,
    STEP: tl.constexpr,
):  # fmt: skip
    f = tl.program_id(0) * FEATURES + tl.arange(0, FEATURES)
    part = tl.program_id(1).to(tl.int64)
    k = tl.arange(0, WIDTH)
    i = x + tl.load(left + f).to(tl.int64) * x_stride
    j = x + tl.load(right + f).to(tl.int64) * x_stride
    total = tl.zeros((FEATURES, WIDTH), tl.float64)
    begin = part * part_rows
    for at in range(begin, tl.minimum(begin + part_rows, n), STEP):
        row = at + tl.arange(0, STEP)
        inside = row < n
        a = tl.load(i[:, None] + row[None, :], mask=inside[None, :], other=0.0)
        b = tl.load(j[:, None] + row[None, :], mask=inside[None, :], other=0.0)
        c = tl.load(r + row[:, None] * WIDTH + k[None, :], mask=inside[:, None], other=0.0)
        total = tl.dot(a * b, c, total, out_dtype=tl.float64)
    tl.store(out + (part * n_features + f)[:, None] * WIDTH + k[None, :], total)


def moments(x, r, n_classes, shape=(FEATURES, STEP, 4, SPLITS)):
    """Sums T(x)ᵀ r (features, classes) of rows x (d + 1, rows), added in a fixed order."""
    d, n, width = len(x) - 1, x.shape[1], r.shape[1]
    left, right = feature_table(d, x.device)
    features, step, warps, splits = shape
    part_rows = triton.cdiv(triton.cdiv(n, splits), step) * step
    n_parts = triton.cdiv(n, part_rows)
    out = x.new_empty((n_parts, len(left), width))
    _moments[(len(left) // features, n_parts)](
        x, left, right, r, out, n, part_rows, len(left), x.stride(0), features, width, step, num_warps=warps,
    )  # fmt: skip
    return out.sum(dim=0)[: (d + 1) * (d + 2) // 2, :n_classes]
