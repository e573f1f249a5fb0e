"""Sweeps of coordinates over rows of scores on a GPU: scores and slopes of a stretch of rows stay in registers.

w_a ← max(w_a − s_a / G_aa, 0),    s ← s + step G_a
"""

import triton
import triton.language as tl

__all__ = ["MOST", "down"]

MOST = 128  # parts of which scores and slopes fit the registers
CELLS = 2048  # of a stretch of rows


@triton.jit
def _down(
    scores, slopes, gram, violation, n, k, sweeps, rest, scores_stride, slopes_stride,
    ROWS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, WIDTH)
    mask = (row < n)[:, None] & (column < k)[None, :]
    place = scores + row[:, None] * scores_stride + column[None, :]
    w = tl.load(place, mask=mask, other=0.0)
    s = tl.load(slopes + row[:, None] * slopes_stride + column[None, :], mask=mask, other=0.0)
    first = tl.zeros((ROWS,), tl.float64)
    active = tl.where(row < n, 1.0, 0.0).to(tl.float64)
    begun = tl.zeros((ROWS,), tl.float64)
    sweep = 0
    while (sweep < sweeps) & (tl.sum(active) > 0.0):
        moved = tl.zeros((ROWS,), tl.float64)
        for a in range(k):
            own = (column == a)[None, :]
            here, slope = tl.sum(tl.where(own, w, 0.0), 1), tl.sum(tl.where(own, s, 0.0), 1)
            bend = tl.load(gram + a * k + a)
            along = tl.load(gram + a * k + column, mask=column < k, other=0.0)
            # Slopes met in the first sweep are those that are left after the coordinates before.
            begun += tl.where((sweep == 0) & ((here > 0.0) | (slope < 0.0)), tl.abs(slope), 0.0)
            fresh = tl.maximum(here - slope / tl.where(bend > 0.0, bend, 1.0), 0.0)
            step = tl.where(bend > 0.0, fresh - here, 0.0) * active
            moved += step * step * bend
            w += tl.where(own, step[:, None], 0.0)
            s += step[:, None] * along[None, :]
        first = tl.where(sweep == 0, moved, first)
        active = tl.where(moved > rest * rest * first, active, 0.0)
        sweep += 1
    tl.store(place, w, mask=mask)
    tl.store(violation + row, begun, mask=row < n)


def down(scores, slopes, gram, sweeps, rest):
    """Bring rows of scores (n, k) down in place from their slopes; the violation of every row in the first sweep."""
    n, k = scores.shape
    width = triton.next_power_of_2(max(k, 2))
    rows = max(CELLS // width, 4)
    violation = scores.new_zeros(n)
    _down[(triton.cdiv(n, rows),)](
        scores, slopes, gram.contiguous(), violation, n, k, sweeps, float(rest), scores.stride(0), slopes.stride(0),
        rows, width, num_warps=4,
    )  # fmt: skip
    return violation
