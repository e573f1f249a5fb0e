"""Gaussian rows with missing cells on a GPU, where many share a pattern: nothing of size rows × classes × d is written.

Sweeping Λ on the missing cells M of a pattern leaves C = Λ_MM⁻¹ in place of Λ_MM and C Λ_MO in place of Λ_MO. With z = x − μ on
the observed cells O and −C Λ_MO z_O on the missing ones,

    log p = −½ (zᵀ Λ z + |O| log 2π + log|Σ_OO|),    Σ r, Σ r z, Σ r (z zᵀ + C)
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
import triton
import triton.language as tl

__all__ = ["Tiles", "filled_moments", "score_filled", "suits", "sweep"]

LOG_2PI = math.log(2 * math.pi)
ROWS = 32  # of a tile
SHARED = 4  # rows of a pattern, on average, from which on matrices of a pattern pay
WIDEST = 32  # columns up to which a tile fits registers
SPLITS = 64  # parts that tiles are summed in


def suits(rows, starts, d):
    """Whether rows share patterns often enough, and are short enough."""
    return d <= WIDEST and len(rows) >= SHARED * (len(starts) - 1)


@dataclass(frozen=True)
class Tiles:
    """Rows of some patterns in tiles: the pattern of each tile, and where it begins in `rows`."""

    rows: torch.Tensor
    missing: torch.Tensor
    pattern: torch.Tensor
    starts: torch.Tensor

    @classmethod
    def of(cls, rows, starts, missing, most, device):
        """All rows, at most so many patterns at a time."""
        found = []
        for first in range(0, len(missing), most):
            ends = starts[first : first + most + 1] - starts[first]
            counts = -(-np.diff(ends) // ROWS)
            pattern = np.repeat(np.arange(len(counts)), counts)
            number = np.arange(len(pattern)) - np.repeat(np.cumsum(counts) - counts, counts)
            begins = np.append(ends[pattern] + number * ROWS, ends[-1])
            values = rows[starts[first] : starts[first] + ends[-1]], missing[first : first + most], pattern, begins
            kinds = np.int64, np.int32, np.int64, np.int64
            found.append(cls(*(torch.as_tensor(v.astype(kind), device=device) for v, kind in zip(values, kinds))))
        return found


@triton.jit
def _sweep(precision, log_det, missing, out, base, d: tl.constexpr, WIDTH: tl.constexpr):
    pattern = tl.program_id(0).to(tl.int64)
    k = tl.program_id(1).to(tl.int64)
    i = tl.arange(0, WIDTH)
    place = i[:, None] * WIDTH + i[None, :]
    matrix = tl.load(precision + k * WIDTH * WIDTH + place)
    value = tl.load(log_det + k)
    for p in range(0, d):
        if tl.load(missing + pattern * d + p) != 0:
            here = i == p
            row = tl.sum(tl.where(here[:, None], matrix, 0.0), axis=0)
            column = tl.sum(tl.where(here[None, :], matrix, 0.0), axis=1)
            pivot = tl.sum(tl.where(here, row, 0.0), axis=0)
            value += tl.log(pivot)
            column = column / pivot
            matrix -= column[:, None] * row[None, :]
            matrix = tl.where(here[None, :], -column[:, None], matrix)
            edge = tl.where(here, 1.0, row) / pivot
            matrix = tl.where(here[:, None], edge[None, :], matrix)
    tl.store(out + (pattern * tl.num_programs(1) + k) * WIDTH * WIDTH + place, matrix)
    tl.store(base + pattern * tl.num_programs(1) + k, -0.5 * value)


@triton.jit
def _filled(X, at, mean, swept, inside, x_stride, d: tl.constexpr, WIDTH: tl.constexpr):
    """Rows less a mean, with their missing cells filled; `mean` and `swept` point to those of a class and a pattern."""
    j = tl.arange(0, WIDTH)
    mask = inside[:, None] & (j < d)[None, :]
    x = tl.load(X + at[:, None] * x_stride + j[None, :], mask=mask, other=0.0).to(tl.float64)
    seen = x == x
    z = tl.where(seen & mask, x - tl.load(mean + j)[None, :], 0.0)
    matrix = tl.load(swept + j[None, :] * WIDTH + j[:, None])
    return tl.where(seen, z, -tl.dot(z, matrix, out_dtype=tl.float64))


@triton.jit
def _score(
    X, rows, starts, patterns, mean, precision, swept, base, out, n_classes, x_stride, d: tl.constexpr, WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    place = tl.load(starts + tile) + tl.arange(0, ROWS)
    inside = place < tl.load(starts + tile + 1)
    pattern = tl.load(patterns + tile)
    at = tl.load(rows + place, mask=inside, other=0)
    j = tl.arange(0, WIDTH)
    for k in range(0, n_classes):
        own = pattern * n_classes + k
        z = _filled(X, at, mean + k * WIDTH, swept + own * WIDTH * WIDTH, inside, x_stride, d, WIDTH)
        part = tl.load(precision + k * WIDTH * WIDTH + j[:, None] * WIDTH + j[None, :])
        square = tl.sum(tl.dot(z, part, out_dtype=tl.float64) * z, axis=1)
        tl.store(out + place * n_classes + k, tl.load(base + own) - 0.5 * square, mask=inside)


@triton.jit
def _moments(
    X, rows, starts, patterns, missing, mean, swept, r, first, second, n_tiles, n_classes, per, x_stride, d: tl.constexpr,
    WIDTH: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    k = tl.program_id(0).to(tl.int64)
    part = tl.program_id(1).to(tl.int64)
    j = tl.arange(0, WIDTH)
    total = tl.zeros((WIDTH, WIDTH), tl.float64)
    sums = tl.zeros((WIDTH,), tl.float64)
    for tile in range(part * per, tl.minimum((part + 1) * per, n_tiles)):
        place = tl.load(starts + tile) + tl.arange(0, ROWS)
        inside = place < tl.load(starts + tile + 1)
        pattern = tl.load(patterns + tile)
        own = swept + (pattern * n_classes + k) * WIDTH * WIDTH
        at = tl.load(rows + place, mask=inside, other=0)
        z = _filled(X, at, mean + k * WIDTH, own, inside, x_stride, d, WIDTH)
        share = tl.load(r + place * n_classes + k, mask=inside, other=0.0)
        weighted = z * share[:, None]
        sums += tl.sum(weighted, axis=0)
        total = tl.dot(tl.trans(weighted), z, total, out_dtype=tl.float64)
        lost = tl.load(missing + pattern * d + j, mask=j < d, other=0) != 0
        spread = tl.load(own + j[:, None] * WIDTH + j[None, :])
        total += tl.where(lost[:, None] & lost[None, :], spread * tl.sum(share, axis=0), 0.0)
    at_part = part * n_classes + k
    tl.store(first + at_part * WIDTH + j, sums)
    tl.store(second + at_part * WIDTH * WIDTH + j[:, None] * WIDTH + j[None, :], total)


def padded(values, width):
    """Matrices or vectors with zeros up to a width."""
    grown = width - values.shape[-1]
    return torch.nn.functional.pad(values, (0, grown, 0, grown) if values.dim() > 2 else (0, grown)).contiguous()


def width_of(d):
    """Columns of a tile."""
    return max(triton.next_power_of_2(d), 16)


def sweep(tiles, precision, log_det):
    """Λ of each class swept on the missing cells of each pattern, (patterns, classes, width, width), and log normalisers."""
    (n_classes, d), width, n_patterns = precision.shape[:2], width_of(precision.shape[1]), len(tiles.missing)
    out = precision.new_empty((n_patterns, n_classes, width, width))
    base = precision.new_empty((n_patterns, n_classes))
    _sweep[(n_patterns, n_classes)](padded(precision, width), log_det, tiles.missing, out, base, d, width, num_warps=1)
    n_seen = d - tiles.missing.sum(dim=1)
    # Added here: Triton takes numbers in single precision.
    return out, base - (0.5 * LOG_2PI * n_seen.double())[:, None]


def score_filled(X, tiles, mean, precision, swept, base):
    """Log densities (rows, classes)."""
    (n_classes, d), width = mean.shape, swept.shape[-1]
    out = mean.new_empty((len(tiles.rows), n_classes))
    _score[(len(tiles.pattern),)](
        X, tiles.rows, tiles.starts, tiles.pattern, padded(mean, width), padded(precision, width), swept, base, out,
        n_classes, X.stride(0), d, width, ROWS, num_warps=2,
    )  # fmt: skip
    return out


def filled_moments(X, tiles, mean, swept, r):
    """Σ r z (classes, d) and Σ r (z zᵀ + C) (classes, d, d), added in a fixed order."""
    (n_classes, d), width = mean.shape, swept.shape[-1]
    per = triton.cdiv(len(tiles.pattern), SPLITS)
    n_parts = triton.cdiv(len(tiles.pattern), per)
    first, second = mean.new_empty((n_parts, n_classes, width)), mean.new_empty((n_parts, n_classes, width, width))
    _moments[(n_classes, n_parts)](
        X, tiles.rows, tiles.starts, tiles.pattern, tiles.missing, padded(mean, width), swept, r, first, second,
        len(tiles.pattern), n_classes, per, X.stride(0), d, width, ROWS, num_warps=2,
    )  # fmt: skip
    return first.sum(dim=0)[:, :d], second.sum(dim=0)[:, :d, :d]
