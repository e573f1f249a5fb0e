"""Nearest centres and sums by centre on a GPU, each one trip through memory.

nearest:       z_i = argmin_k ½‖c_k‖² − x_i·c_k, without writing a distance
cluster_sums:  S_k = Σ_{z_i = k} w_i (x_i − a_k), over rows sorted by centre, in a fixed order
"""

import torch
import triton
import triton.language as tl

__all__ = ["can_search", "cluster_sums", "nearest"]

CENTERS, WARPS = 64, 4  # the quickest of those tried on an H200
GATHERED = 32  # rows summed at once


def can_search(x, center):
    """Whether `nearest` takes these: single precision, and rows that fit a tile."""
    return x.dtype == torch.float32 and x.shape[1] <= 128 and x.stride(1) == 1


@triton.jit
def _nearest(
    x, origin, center, half, out, n, n_centers, x_stride, d: tl.constexpr,
    WIDTH: tl.constexpr, ROWS: tl.constexpr, CENTERS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    j = tl.arange(0, WIDTH)
    k = tl.arange(0, CENTERS)
    tile = tl.load(x + row[:, None] * x_stride + j[None, :], mask=(row < n)[:, None] & (j < d)[None, :], other=0.0)
    tile -= tl.load(origin + j, mask=j < d, other=0.0)[None, :]
    best = tl.full((ROWS, CENTERS), float("inf"), tl.float32)
    arg = tl.zeros((ROWS, CENTERS), tl.int32)
    for first in range(0, n_centers, CENTERS):
        inside = first + k < n_centers
        part = tl.load(
            center + (first + k)[None, :] * d + j[:, None], mask=inside[None, :] & (j < d)[:, None], other=0.0
        )
        base = tl.load(half + first + k, mask=inside, other=float("inf"))
        # Three products of half the digits each: as exact as single precision, on tensor cores.
        value = base[None, :] - tl.dot(tile, part, input_precision="tf32x3")
        nearer = value < best
        best = tl.where(nearer, value, best)
        arg = tl.where(nearer, first, arg)
    least = tl.min(best, axis=1)
    name = tl.where(best == least[:, None], arg + k[None, :], n_centers)
    tl.store(out + row, tl.min(name, axis=1), mask=row < n)


def nearest(x, origin, center):
    """Nearest centre of every row, int32; the first of several. None where the device has no room for a tile."""
    n, d = x.shape
    half = 0.5 * (center.double() ** 2).sum(dim=1).float()
    out = torch.empty(n, dtype=torch.int32, device=x.device)
    width = max(triton.next_power_of_2(d), 16)
    rows = 128 if width <= 64 else 64
    try:
        _nearest[(triton.cdiv(n, rows),)](
            x, origin, center.contiguous(), half, out, n, len(center), x.stride(0), d, width, rows, CENTERS,
            num_warps=WARPS, num_stages=2,
        )  # fmt: skip
    except triton.runtime.errors.OutOfResources:
        return None
    return out


@triton.jit
def _segment_sums(
    x, weight, order, starts, origin, anchor, total, count, square, x_stride, weight_stride, parts, d: tl.constexpr,
    WIDTH: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    k = tl.program_id(0).to(tl.int64)
    part = tl.program_id(1)
    first = tl.load(starts + k)
    length = tl.load(starts + k + 1) - first
    begin = first + length * part // parts
    end = first + length * (part + 1) // parts
    j = tl.arange(0, WIDTH)
    r = tl.arange(0, ROWS)
    shift = tl.load(origin + j, mask=j < d, other=0.0)
    near = tl.load(anchor + k * d + j, mask=j < d, other=0.0)
    sums = tl.zeros((WIDTH,), tl.float64)
    mass = tl.zeros((ROWS,), tl.float64)
    squares = tl.zeros((ROWS,), tl.float64)
    for at in range(begin, end, ROWS):
        inside = at + r < end
        row = tl.load(order + at + r, mask=inside, other=0).to(tl.int64)
        w = tl.load(weight + row * weight_stride, mask=inside, other=0.0)
        cell = tl.load(x + row[:, None] * x_stride + j[None, :], mask=inside[:, None] & (j < d)[None, :], other=0.0)
        step = tl.where((j < d)[None, :], (cell - shift[None, :]).to(tl.float64) - near[None, :], 0.0)
        sums += tl.sum(step * w[:, None], axis=0)
        squares += w * tl.sum(step * step, axis=1)
        mass += w
    place = k * parts + part
    tl.store(total + place * d + j, sums, mask=j < d)
    tl.store(count + place, tl.sum(mass, axis=0))
    tl.store(square + place, tl.sum(squares, axis=0))


def cluster_sums(x, weight, labels, origin, anchor):
    """Σ w (K,), Σ w (x − anchor) (K, d) and Σ w ‖x − anchor‖² over all rows, in float64."""
    n_centers, d = anchor.shape
    keys = labels.to(torch.int16) if n_centers < 2**15 else labels
    keys, order = torch.sort(keys, stable=True)
    starts = torch.searchsorted(keys, torch.arange(n_centers + 1, device=x.device, dtype=keys.dtype))
    longest = int((starts[1:] - starts[:-1]).max())
    parts = max(triton.cdiv(longest, 2048), 1)
    total = anchor.new_empty((n_centers, parts, d))
    count, square = anchor.new_empty((n_centers, parts)), anchor.new_empty((n_centers, parts))
    _segment_sums[(n_centers, parts)](
        x, weight, order, starts, origin, anchor.contiguous(), total, count, square, x.stride(0), weight.stride(0), parts, d,
        triton.next_power_of_2(d), GATHERED, num_warps=4,
    )  # fmt: skip
    return count.sum(dim=1), total.sum(dim=1), square.sum()
