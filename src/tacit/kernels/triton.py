"""The two steps between matrix products on a GPU, each fused into one trip through memory.

pairs:   T(x) = [x, 1, x_j x_h for h ≤ j]
soften:  r_ik = w_i π_k p(x_i|k) / Σ_j π_j p(x_i|j),    log evidence = log Σ_j π_j p(x_i|j)
"""

import torch
import triton
import triton.language as tl

__all__ = ["pairs", "soften"]


ROWS, COLUMNS, WARPS = 64, 32, 8  # the quickest of those tried on an H200, at 32 and at 64 columns


@triton.jit
def _pairs(x, out, n, x_stride, out_stride, d: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """A few columns j, held in registers, times every column up to them, for a stretch of rows."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    last = tl.program_id(1) * COLUMNS + COLUMNS
    j = (last - COLUMNS + tl.arange(0, COLUMNS)).to(tl.int64)
    inside = (j < d)[:, None] & (row < n)[None, :]
    left = tl.load(x + j[:, None] * x_stride + row[None, :], mask=inside)
    tl.store(out + j[:, None] * out_stride + row[None, :], left, mask=inside)
    if last == COLUMNS:
        tl.store(out + d * out_stride + row, tl.full((ROWS,), 1.0, tl.float64), mask=row < n)
    target = out + (d + 1 + j * (j + 1) // 2)[:, None] * out_stride + row[None, :]
    source = x + row
    for h in range(min(last, d)):
        right = tl.load(source, mask=row < n)
        tl.store(target, left * right[None, :], mask=inside & (j >= h)[:, None])
        target += out_stride
        source += x_stride


def pairs(x):
    """Features of x (d, rows) as (features, rows)."""
    d, n = x.shape
    # Rows of features start at multiples of 128 bytes, which stores and matrix products are quickest with.
    stride = -(-n // 16) * 16
    out = x.new_empty((d + 1 + d * (d + 1) // 2, stride))[:, :n]
    grid = triton.cdiv(n, ROWS), triton.cdiv(d, COLUMNS)
    _pairs[grid](x, out, n, x.stride(0), stride, d, ROWS, COLUMNS, num_warps=WARPS)
    return out


@triton.jit
def _soften(
    joint, log_weight, weight, labels, evidence, n, n_classes, weight_stride, label_stride,
    LABELLED: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    k = tl.arange(0, WIDTH)
    inside = row < n
    mask = inside[:, None] & (k < n_classes)[None, :]
    place = joint + row[:, None] * n_classes + k[None, :]
    value = tl.load(place, mask=mask, other=float("-inf"))
    value += tl.load(log_weight + k, mask=k < n_classes, other=0.0)[None, :]
    if LABELLED:
        label = tl.load(labels + row * label_stride, mask=inside, other=-1)
        value = tl.where((label >= 0)[:, None] & (k[None, :] != label[:, None]), float("-inf"), value)
    top = tl.max(value, axis=1)
    power = tl.exp(value - top[:, None])
    total = tl.sum(power, axis=1)
    share = tl.load(weight + row * weight_stride, mask=inside, other=0.0) / total
    tl.store(place, power * share[:, None], mask=mask)
    tl.store(evidence + row, top + tl.log(total), mask=inside)


def soften(joint, log_weight, weight, labels):
    """Turn log densities (rows, classes) into weighted responsibilities in place; return log evidence per row."""
    n, n_classes = joint.shape
    width = triton.next_power_of_2(n_classes)
    rows = max(2048 // width, 1)
    evidence = torch.empty(n, dtype=joint.dtype, device=joint.device)
    known = labels if labels is not None else weight
    _soften[(triton.cdiv(n, rows),)](
        joint, log_weight, weight, known, evidence, n, n_classes, weight.stride(0), known.stride(0),
        labels is not None, rows, width, num_warps=4,
    )  # fmt: skip
    return evidence
