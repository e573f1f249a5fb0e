"""Chains of hidden states on a GPU: some stretches of steps side by side, whose states stay in registers.

forward:   α_t = p_t ∘ b_t / s_t,   p_{t+1} = α_t A
backward:  ρ_t = γ_t / p_t,   γ_{t−1} = α_{t−1} ∘ ρ_t Aᵀ,   Σ w α_{t−1} ρ_tᵀ, with p_t from α_{t−1} again instead of from memory
"""

import torch
import triton
import triton.language as tl

from .chain_lanes import LEAST_SHARE, LOST

__all__ = ["backward", "forward"]

ROWS = 16  # stretches side by side: the least that a product takes
WARPS = 1
GROUPS = 4096  # programs at most whose sums of moves are held apart


@triton.jit
def _forward(
    b, top, begin, length, entry, move, alpha, line, evidence, n, k: tl.constexpr,
    lost: tl.constexpr, FRAGILE: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    run = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    i, j = tl.arange(0, WIDTH), tl.arange(0, WIDTH)
    first = tl.load(begin + run, mask=run < n, other=0)
    steps = tl.load(length + run, mask=run < n, other=0)
    A = tl.load(move + i[:, None] * k + j[None, :], mask=(i < k)[:, None] & (j < k)[None, :], other=0.0)
    real = (j < k)[None, :]
    p = tl.load(entry + run[:, None] * k + j[None, :], mask=(run < n)[:, None] & real, other=0.0)
    total = tl.zeros((ROWS,), tl.float64)
    for t in range(tl.max(steps)):
        here = t < steps
        mask = here[:, None] & real
        place = (first + t)[:, None] * k + j[None, :]
        density = tl.load(b + place, mask=mask, other=0.0)
        x = p * density
        s = tl.sum(x, axis=1)
        if FRAGILE:
            gone = ((x < lost) & (p > 0.0) & (density > 0.0)).to(tl.int32)
            s = tl.where(tl.max(gone, axis=1) > 0, float("nan"), s)
        s = tl.where(s > lost, s, float("nan"))
        share = x / s[:, None]
        tl.store(alpha + place, share, mask=mask)
        logs = tl.log(s) + tl.load(top + first + t, mask=here, other=0.0)
        tl.store(line + first + t, logs, mask=here)
        total += tl.where(here, logs, 0.0)
        p = tl.dot(share, A, input_precision="ieee", out_dtype=tl.float64)
    tl.store(evidence + run, total, mask=run < n)


@triton.jit
def _backward(
    alpha, begin, length, last, move, weight, gamma, sums, n, k: tl.constexpr,
    least: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    i, j = tl.arange(0, WIDTH), tl.arange(0, WIDTH)
    square = (i < k)[:, None] & (j < k)[None, :]
    real = (j < k)[None, :]
    A = tl.load(move + i[:, None] * k + j[None, :], mask=square, other=0.0)
    turned = tl.load(move + j[None, :] * k + i[:, None], mask=square, other=0.0)
    counted = tl.zeros((WIDTH, WIDTH), tl.float64)
    group = tl.program_id(0)
    while group * ROWS < n:
        run = group * ROWS + tl.arange(0, ROWS)
        steps = tl.load(length + run, mask=run < n, other=0)
        end = tl.load(begin + run, mask=run < n, other=0) + steps - 1
        w = tl.load(weight + run, mask=run < n, other=0.0)
        now = tl.load(last + run[:, None] * k + j[None, :], mask=(run < n)[:, None] & real, other=0.0)
        tl.store(gamma + end[:, None] * k + j[None, :], now, mask=(steps > 0)[:, None] & real)
        for t in range(1, tl.max(steps)):
            mask = (t < steps)[:, None] & real
            place = (end - t)[:, None] * k + j[None, :]
            share = tl.load(alpha + place, mask=mask, other=0.0)
            p = tl.dot(share, A, input_precision="ieee", out_dtype=tl.float64)
            ratio = tl.where(mask, now / tl.maximum(p, least), 0.0)
            counted = tl.dot(tl.trans(share * w[:, None]), ratio, counted, input_precision="ieee", out_dtype=tl.float64)
            now = share * tl.dot(ratio, turned, input_precision="ieee", out_dtype=tl.float64)
            tl.store(gamma + place, now, mask=mask)
        group += tl.num_programs(0)
    to = sums + tl.program_id(0).to(tl.int64) * k * k + i[:, None] * k + j[None, :]
    tl.store(to, counted, mask=square)


def _width(k):
    return max(triton.next_power_of_2(k), 16)


def forward(b, top, runs, entry, move, fragile, alpha, line):
    """Fill α and logs of sums of stretches, given p at their first steps; return the sums of these logs."""
    n, k = len(runs.begin), b.shape[1]
    evidence = torch.empty(n, dtype=torch.float64, device=b.device)
    _forward[(triton.cdiv(n, ROWS),)](
        b, top, runs.first, runs.last - runs.first + 1, entry.contiguous(), move.contiguous(), alpha, line, evidence,
        n, k, LOST, fragile, ROWS, _width(k), num_warps=WARPS,
    )  # fmt: skip
    return evidence


def backward(alpha, runs, last, move, weight, gamma):
    """Fill γ of stretches, given γ at their last steps; return Σ w α ρᵀ over steps inside of them."""
    n, k = len(runs.begin), alpha.shape[1]
    programs = min(triton.cdiv(n, ROWS), GROUPS)
    sums = torch.empty((programs, k, k), dtype=torch.float64, device=alpha.device)
    _backward[(programs,)](
        alpha, runs.first, runs.last - runs.first + 1, last.contiguous(), move.contiguous(), weight.contiguous(), gamma,
        sums, n, k, LEAST_SHARE, ROWS, _width(k), num_warps=WARPS,
    )  # fmt: skip
    return sums.sum(dim=0)
